"""Small widgets: what a notice says, offers, and takes back."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from llama_gui.bridge.endpoint_desk import RemoteServer
from llama_gui.ui.endpoints_dialog import ServerFormDialog
from llama_gui.ui.notice import Notice
from llama_gui.ui.theme import theme_of
from llama_gui.ui.widgets import Button, Surface, plain_label


@pytest.fixture
def notice(qtbot, icons):
    made = Notice(icons)
    qtbot.addWidget(made)
    return made


def test_a_notice_offers_what_can_be_done_as_long_as_it_says_why(notice, qtbot):
    button = notice.findChildren(Button)[0]
    notice.say("The disk is full.")
    assert button.isHidden()
    notice.add("The model is gone.", "Try again")
    notice.add("The model is gone.", "Try again")
    assert notice.text() == "The disk is full.\nThe model is gone."
    assert (button.text(), button.isHidden()) == ("Try again", False)
    with qtbot.waitSignal(notice.accepted):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    notice.drop("The model is gone.")
    assert notice.text() == "The disk is full."
    assert button.isHidden()
    notice.drop("The disk is full.")
    assert notice.isHidden()


def test_a_label_of_a_mirrored_window_begins_on_the_right_wherever_its_lines_stand(qapp, qtbot):
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    try:
        label = plain_label("English words")
        qtbot.addWidget(label)
        label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading)
        kept = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
        assert label.alignment() == kept
    finally:
        qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    left = plain_label("English words")
    qtbot.addWidget(left)
    assert left.alignment() == Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter


def test_hairlines_are_mirrored(qapp, qtbot):
    surface = Surface("side", "left")
    qtbot.addWidget(surface)
    surface.resize(20, 20)
    line = theme_of(surface).color("line")
    for direction, x in ((Qt.LayoutDirection.LeftToRight, 0), (Qt.LayoutDirection.RightToLeft, 19)):
        surface.setLayoutDirection(direction)
        picture = surface.grab().toImage()
        assert [column for column in range(20) if picture.pixelColor(column, 10) == line] == [x]


def test_the_names_of_fields_stand_at_their_height(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = ServerFormDialog(None, parent)
    dialog.show()
    dialog.refuse("taken")
    qtbot.waitUntil(dialog.problems["name"].isVisible)
    labels = [label for label in dialog.findChildren(QLabel) if label.buddy() is not None]
    assert [label.buddy() for label in labels] == [dialog.address, dialog.name, dialog.key]
    for label in labels:
        field = label.buddy().geometry()
        assert abs(label.geometry().center().y() - field.center().y()) <= 1


def test_a_form_says_what_it_puts_behind_an_address(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = ServerFormDialog(None, parent)
    dialog.show()
    dialog.address.setText("127.0.0.1:8000")
    qtbot.waitUntil(dialog.meant.isVisible)
    assert "http://127.0.0.1:8000/v1." in dialog.meant.text()
    dialog.layout().activate()
    assert dialog.meant.height() >= dialog.meant.heightForWidth(dialog.meant.width())
    assert dialog.address.height() >= dialog.address.sizeHint().height()
    for whole in ("127.0.0.1:8000/", "https://api.perplexity.ai"):
        dialog.address.setText("127.0.0.1:8000")
        qtbot.waitUntil(dialog.meant.isVisible)
        dialog.address.setText(whole)
        assert not dialog.meant.isVisible()


def test_a_form_says_nothing_of_the_address_that_a_server_has(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = ServerFormDialog(RemoteServer("a", "http://127.0.0.1:8000", has_key=True), parent)
    dialog.show()
    assert not dialog._pause.isActive()
    dialog.address.setText("http://127.0.0.1:8001")
    assert dialog._pause.isActive()


@pytest.mark.parametrize("look", ["quiet", "outlined", "filled"])
def test_a_button_that_cannot_be_pressed_looks_so(qtbot, icons, look):
    button = Button(icons, text="Delete…", look=look)
    qtbot.addWidget(button)
    enabled = button.grab().toImage()
    button.setEnabled(False)
    assert button.grab().toImage() != enabled
