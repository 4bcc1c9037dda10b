"""Shift+F10 opens the menu of what has the keyboard, as the menu key does, which many keyboards lack."""

import sys

from PySide6.QtCore import QRectF, Qt, Slot
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QWidget


class MenuKey(QShortcut):
    """The key, in all windows of the application that no dialog blocks.

    Windows has it by itself, and macOS has none. Qt does nothing for it elsewhere.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        if sys.platform not in ("win32", "darwin"):
            self.setKey(QKeySequence("Shift+F10"))
        self.setContext(Qt.ShortcutContext.ApplicationShortcut)
        self.activated.connect(self._ask_for_menu)

    @Slot()
    def _ask_for_menu(self) -> None:
        """As Qt does it for the menu key."""
        place = QApplication.focusWidget()
        if place is None:
            return
        cursor = place.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle)  # a QRect, of texts a QRectF
        at = QRectF(cursor).center().toPoint()
        by_key = QContextMenuEvent.Reason.Keyboard
        event = QContextMenuEvent(by_key, at, place.mapToGlobal(at), QGuiApplication.keyboardModifiers())
        QApplication.sendEvent(place, event)
