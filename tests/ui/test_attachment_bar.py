"""Chips in lines."""

from dataclasses import replace

import pytest
from PIL import Image as Pillow
from PySide6.QtCore import Qt

from llama_gui.chats.attachments import Attachment
from llama_gui.ui.attachment_bar import MOST_FILES, AttachmentBar
from tests.fakes.tiny_pixtral import encoded


@pytest.fixture
def bar(qtbot, icons) -> AttachmentBar:
    bar = AttachmentBar(icons)
    qtbot.addWidget(bar)
    bar.resize(400, 30)
    return bar


def file(number: int) -> Attachment:
    return Attachment(f"file {number}.txt", "text", 4)


def test_it_is_there_while_there_are_files(bar, qtbot):
    assert bar.isHidden()
    with qtbot.waitSignal(bar.changed):
        bar.add(file(1))
    assert not bar.isHidden()
    with qtbot.waitSignal(bar.changed):
        bar.set_files(())
    assert bar.isHidden()


def test_the_same_file_goes_along_once_and_not_too_many_do(bar):
    for number in range(MOST_FILES + 5):
        bar.add(file(number))
        bar.add(file(number))
    assert bar.files() == tuple(file(number) for number in range(MOST_FILES))


def test_an_image_stands_small_on_its_chip(bar):
    red = Attachment("red.png", "", 9, image=encoded(Pillow.new("RGB", (40, 40), "red")))
    bar.add(red)
    bar.add(replace(red, name="broken.png", image=red.image[:40]))
    shown, broken = bar.chips()
    for chip in (shown, broken):
        chip.resize(chip.sizeHint())
    assert shown.grab().toImage().pixelColor(16, 15).name() == "#ff0000"
    assert broken.grab().toImage().pixelColor(16, 15).name() != "#ff0000"
    assert shown.accessibleName() == "red.png, 9 B"


def test_many_files_take_three_lines_at_most(bar, qtbot):
    bar.add(file(1))
    bar.show()
    one = bar.height()
    for number in range(MOST_FILES):
        bar.add(file(number))
    qtbot.waitUntil(lambda: bar.verticalScrollBar().maximum() > 0)
    assert bar.height() < 4 * one
    places = {chip.y() for chip in bar.chips()}
    assert len(places) > 3
    for chip in bar.chips():
        assert chip.geometry().right() <= bar.viewport().width()


def test_lines_begin_on_the_right_where_the_language_does(bar, qtbot):
    bar.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    bar.add(file(1))
    bar.add(file(2))
    bar.show()
    qtbot.waitUntil(lambda: bar.chips()[0].x() > bar.chips()[1].x())
    chip = bar.chips()[0]
    assert chip.close_button.x() < 30
    assert bar.viewport().width() - chip.geometry().right() <= 2


def test_tokens_are_shown_when_they_are_known(bar):
    bar.add(file(1))
    chip = bar.chips()[0]
    assert chip.accessibleName() == "file 1.txt, 4 B"
    bar.set_tokens(file(1), 1234)
    assert chip.accessibleName() == "file 1.txt, 4 B · 1,234 tokens"
