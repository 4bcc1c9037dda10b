"""The dialog that asks for a name."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QDialogButtonBox, QLineEdit, QWidget

from llama_gui.ui.name_question import ask_name
from llama_gui.ui.theme import apply_theme

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def parent(qapp, qtbot):
    apply_theme(qapp, "light")
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


@pytest.fixture
def asked(parent):
    names: list[str] = []
    dialog = ask_name(parent, "Rename folder", "Name of the folder", "Work", "Rename", names.append, most=6)
    return dialog, names


def test_the_button_says_what_it_does_and_stands_last_as_in_other_forms(asked):
    dialog, _names = asked
    box = dialog.findChild(QDialogButtonBox)
    accept, cancel = (box.button(kind) for kind in (box.StandardButton.Ok, box.StandardButton.Cancel))
    assert accept.text() == "Rename"
    assert cancel.mapTo(dialog, QPoint()).x() < accept.mapTo(dialog, QPoint()).x()
    assert dialog.width() - accept.mapTo(dialog, QPoint(accept.width(), 0)).x() == 28


def test_what_is_typed_is_handed_on_and_not_longer_than_allowed(asked, qtbot):
    dialog, names = asked
    field = dialog.findChild(QLineEdit)
    assert field.text() == "Work"
    field.selectAll()
    qtbot.keyClicks(field, "Holidays")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert names == ["Holida"]
