"""What is typed before the first chat is there is not lost: it goes into that chat."""

from PySide6.QtCore import QCoreApplication, Qt, Slot
from PySide6.QtGui import QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QWidget

from llama_gui.ui.composer import WRITING
from llama_gui.ui.deck import TabDeck


class TypedAhead(QWidget):
    """Has the keyboard from the window's first moment on, and keeps what is typed.

    The window shows while the chats are still being read. Without this some button had the keyboard until they are
    there, which letters mean nothing to, and which a space presses.
    """

    def __init__(self, deck: TabDeck, parent: QWidget) -> None:
        super().__init__(parent)
        self._deck = deck
        self._typed: list[QKeyEvent] = []
        self.setGeometry(0, 0, 0, 0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled)
        self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keep it, but for what is no writing."""
        if event.modifiers() & ~WRITING or event.key() == Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        else:
            self._keep(event.key(), event.modifiers(), event.text())

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Keep what an input method has put together."""
        if event.commitString():
            self._keep(Qt.Key.Key_unknown, Qt.KeyboardModifier.NoModifier, event.commitString())
        event.accept()

    def _keep(self, key: int, modifiers: Qt.KeyboardModifier, text: str) -> None:
        self._typed.append(QKeyEvent(QKeyEvent.Type.KeyPress, key, modifiers, text))

    @Slot()
    def hand_over(self) -> None:
        """Give the keyboard, and what was typed, to the chat in front; to be called when the tabs are there."""
        tab = self._deck.current()
        if tab is None:
            return
        if self.window().focusWidget() is self:
            tab.take_keyboard()
        for event in self._typed:
            QCoreApplication.sendEvent(tab.composer.edit, event)
        self._typed.clear()
        self.hide()
        self.deleteLater()
