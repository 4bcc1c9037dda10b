"""Whether the model of one chat thinks before it answers: shown and chosen in the composer."""

from dataclasses import replace

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.ui.think_button import ThinkButton


class TabThinking(QObject):
    """Keeps the button and the chat's settings the same."""

    def __init__(self, session: ChatSession, button: ThinkButton, tab: QWidget) -> None:
        super().__init__(tab)
        self._session = session
        self._button = button
        self._by_itself: bool | None = None
        button.clicked.connect(self.turn)
        session.settings_changed.connect(self._show)

    def set_model(self, thinks: bool | None) -> None:
        """`thinks`: see `ModelInfo.thinking`."""
        self._by_itself = thinks
        self._show()

    @Slot()
    def turn(self) -> bool:
        """Let the model think from the next answer on, or no longer; False where that cannot be chosen."""
        if self._by_itself is None:
            return False
        wanted = not self._is_on()
        thinking = None if wanted == self._by_itself else wanted  # what it does by itself is not asked for
        self._session.set_settings(replace(self._session.settings, thinking=thinking))
        self._show()
        return True

    def _is_on(self) -> bool:
        chosen = self._session.settings.thinking
        return bool(self._by_itself if chosen is None else chosen)

    @Slot()
    def _show(self) -> None:
        self._button.setChecked(self._is_on())
        self._button.setVisible(self._by_itself is not None)
