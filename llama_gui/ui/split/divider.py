"""The line between two chats: dragged or moved by keys, and double-clicked for halves."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QWidget

from llama_gui.ui.theme import theme_of

GRAB_WIDTH = 7
"""A hairline, and room for the mouse on both sides of it, over what is there."""
_STEP = 24
_STEPS = {Qt.Key.Key_Left: -_STEP, Qt.Key.Key_Right: _STEP}


class Divider(QFrame):  # which screen readers know for a border
    """Tells where it is wanted; its parent moves it."""

    dragged = Signal(int)
    """Where its middle is wanted, in the parent."""
    rested = Signal()
    halves_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setCursor(Qt.CursorShape.SplitHCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(self.tr("Line between the chats: the arrow keys move it, Enter makes halves"))
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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if step := _STEPS.get(Qt.Key(event.key()), 0):
            self.dragged.emit(self.mapToParent(self.rect().center()).x() + step)
            self.rested.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.halves_wanted.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        role, width = ("accent", 3) if self.hasFocus() else ("line", 1)
        QPainter(self).fillRect(self.width() // 2 - width // 2, 0, width, self.height(), theme_of(self).color(role))
