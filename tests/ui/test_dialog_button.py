"""Enter presses the button that has the keyboard, also where another is the dialog's own."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QPushButton, QVBoxLayout

from llama_gui.ui.dialog_button import DialogButton
from llama_gui.ui.widgets import form_foot


@pytest.fixture
def dialog(qtbot):
    made = QDialog()
    layout = QVBoxLayout(made)
    layout.addWidget(QLineEdit())
    layout.addLayout(form_foot(made, QPushButton("Save")))
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.open()
    return made


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_a_form_is_cancelled_by_its_cancel(dialog, qtbot, key):
    cancel = dialog.findChild(DialogButton)
    cancel.setFocus()
    with qtbot.waitSignal(dialog.finished) as end:
        qtbot.keyClick(cancel, key)
    assert end.args == [QDialog.DialogCode.Rejected]


def test_enter_in_a_field_is_for_the_button_of_the_form(dialog, qtbot):
    with qtbot.waitSignal(dialog.finished) as end:
        qtbot.keyClick(dialog.findChild(QLineEdit), Qt.Key.Key_Return)
    assert end.args == [QDialog.DialogCode.Accepted]


def test_an_enter_that_is_held_presses_nothing(qtbot):
    pressed = []
    button = DialogButton("Empty", lambda: pressed.append(True))
    qtbot.addWidget(button)
    held = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", autorep=True)
    QApplication.sendEvent(button, held)
    assert pressed == []
