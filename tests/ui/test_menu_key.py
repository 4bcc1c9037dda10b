"""Shift+F10 asks for the menu of what has the keyboard."""

import sys

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QLineEdit, QListView, QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from llama_gui.ui.menu_key import MenuKey

pytestmark = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="The system has it, or has none.")


class Listener(QObject):
    """Takes what asks for a menu, so that none is shown."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.asked: list[QContextMenuEvent.Reason] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QContextMenuEvent):
            self.asked.append(event.reason())
            return True
        return False


@pytest.mark.parametrize("kind", [QLineEdit, QTextEdit, QPlainTextEdit, QListView])
def test_the_menu_opens_where_the_keyboard_is(qtbot: QtBot, kind: type[QWidget]):
    window = QWidget()
    place, other = kind(), QLineEdit()
    layout = QVBoxLayout(window)
    layout.addWidget(other)
    layout.addWidget(place)
    MenuKey(window)
    qtbot.addWidget(window)
    listener = Listener(place)
    place.installEventFilter(listener)
    window.show()
    qtbot.waitActive(window)
    place.setFocus()
    qtbot.waitUntil(place.hasFocus)
    qtbot.keyClick(place, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    assert listener.asked == [QContextMenuEvent.Reason.Keyboard]
