"""Text and caret stand where the text begins."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit

from llama_gui.ui.composer import Composer
from llama_gui.ui.growing_text import GrowingText

RIGHT, LEFT = Qt.LayoutDirection.RightToLeft, Qt.LayoutDirection.LeftToRight


@pytest.fixture(params=["composer", "growing text"])
def field(request, qtbot, icons) -> Iterator[QPlainTextEdit]:
    if request.param == "composer":
        widget = Composer(icons)
        field = widget.edit
    else:
        widget = field = GrowingText(60)
    qtbot.addWidget(widget)
    widget.resize(500, 100)
    widget.show()
    yield field
    widget.hide()


@pytest.mark.parametrize(
    ("window", "text", "is_right"),
    [
        (LEFT, "", False),
        (RIGHT, "", True),
        (RIGHT, "2 × 3\n(4)", True),
        (RIGHT, "Hello", False),
        (LEFT, "مرحبا كيف حالك", True),
        (LEFT, "1.\n\nשלום", True),
        (RIGHT, "שלום", True),
    ],
)
def test_the_text_begins_on_its_side(field, window, text, is_right):
    field.setLayoutDirection(window)
    field.setPlainText(text)
    start = field.cursorRect()
    assert (start.center().x() > field.viewport().width() / 2) == is_right
    assert field.viewport().rect().contains(start)  # else the caret is cut off


def test_it_changes_sides_with_window_and_text(field, qtbot):
    field.setLayoutDirection(RIGHT)
    qtbot.keyClicks(field, "Hi")
    assert field.cursorRect().x() < 100
    field.undo()
    assert field.toPlainText() == ""
    assert field.cursorRect().x() > field.viewport().width() - 10
    field.setLayoutDirection(LEFT)
    assert field.cursorRect().x() < 10
