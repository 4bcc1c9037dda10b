"""The line between two chats: dragged, and double-clicked for halves."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from llama_gui.ui.theme import theme_of

GRAB_WIDTH = 7
"""A hairline, and room for the mouse on both sides of it, over what is there."""


class Divider(QWidget):
    """Tells where it is wanted; its parent moves it."""

    dragged = Signal(int)
    """Where its middle is wanted, in the parent."""
    rested = Signal()
    halves_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setCursor(Qt.CursorShape.SplitHCursor)
        self.hide()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.dragged.emit(self.mapToParent(event.position().toPoint()).x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.rested.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.halves_wanted.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.width() // 2, 0, 1, self.height(), theme_of(self).color("line"))
