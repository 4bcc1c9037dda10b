"""The keyboard goes back to who had it, or to somebody else when they are gone."""

import shiboken6
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from llama_gui.ui.former_focus import FormerFocus


def test_it_goes_back_or_elsewhere(qtbot: QtBot):
    window, first, second, third = QWidget(), QLineEdit(), QLineEdit(), QLineEdit()
    layout = QHBoxLayout(window)
    for field in (first, second, third):
        layout.addWidget(field)
    qtbot.addWidget(window)
    window.show()
    first.setFocus()
    before = FormerFocus(window.focusWidget())
    second.setFocus()
    before.give_back(otherwise=third)
    assert window.focusWidget() is first
    second.setFocus()
    shiboken6.delete(first)
    before.give_back()
    assert window.focusWidget() is second
    before.give_back(otherwise=third)
    assert window.focusWidget() is third
    FormerFocus(None).give_back()
    assert window.focusWidget() is third
