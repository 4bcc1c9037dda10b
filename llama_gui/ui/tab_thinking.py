"""Whether the model of one chat thinks before it answers, or how much: shown and chosen in the composer."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QPoint, Qt, Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.ui.think_button import ThinkButton
from llama_gui.vocabulary import Effort


class TabThinking(QObject):
    """Keeps the button and the chat's settings the same."""

    def __init__(self, session: ChatSession, button: ThinkButton, tab: QWidget) -> None:
        super().__init__(tab)
        self._session = session
        self._button = button
        self._by_itself: bool | None = None
        self._efforts: Sequence[Effort] = ()
        button.clicked.connect(self.turn)
        session.settings_changed.connect(self._show)

    def set_model(self, thinks: bool | None, efforts: Sequence[Effort] = ()) -> None:
        """See `ModelInfo.thinking` and `ModelInfo.efforts`."""
        self._by_itself = thinks
        self._efforts = efforts
        self._show()

    @Slot()
    def turn(self) -> bool:
        """Let the model think from the next answer on, or no longer, or ask how much; False: that cannot be chosen."""
        if self._by_itself is None:
            return False
        if self._efforts:
            menu = self.make_menu()
            menu.popup(self._button.mapToGlobal(QPoint(0, -menu.sizeHint().height())))
            if chosen := next((action for action in menu.actions() if action.isChecked()), None):
                menu.setActiveAction(chosen)
            self._show()  # the click has turned the button
            return True
        wanted = not self._is_on()
        self._choose(None if wanted == self._by_itself else wanted)  # what it does by itself is not asked for
        return True

    def make_menu(self) -> QMenu:
        """How much it may think."""
        menu = QMenu(self._button)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        group = QActionGroup(menu)
        self._add_way(group, self.tr("Answer at once"), False)
        for effort in self._efforts:
            self._add_way(group, self._name_of(effort), self._asked(effort))
        menu.addActions(group.actions())
        return menu

    def _add_way(self, group: QActionGroup, name: str, thinking: bool | Effort | None) -> None:
        action = group.addAction(name)
        action.setCheckable(True)
        action.setChecked(thinking == self._chosen())
        action.triggered.connect(lambda: self._choose(thinking))

    def _choose(self, thinking: bool | Effort | None) -> None:
        self._session.set_settings(replace(self._session.settings, thinking=thinking))
        self._show()

    def _chosen(self) -> bool | Effort | None:
        """As `_asked` has it, whatever another model of this chat was asked."""
        chosen = self._session.settings.thinking
        return chosen if chosen is False or chosen in self._efforts else None

    def _asked(self, effort: Effort) -> Effort | None:
        """None for its own, the one in the middle."""
        return None if effort == self._efforts[len(self._efforts) // 2] else effort

    def _name_of(self, effort: Effort) -> str:
        names = {"low": self.tr("Think a little"), "medium": self.tr("Think"), "high": self.tr("Think much")}
        return names[effort]

    def _is_on(self) -> bool:
        chosen = self._session.settings.thinking
        return bool(self._by_itself if chosen is None else chosen)

    @Slot()
    def _show(self) -> None:
        chosen = self._chosen()
        self._button.set_effort(self._name_of(chosen) if isinstance(chosen, str) else "")
        self._button.setChecked(self._is_on())
        self._button.setVisible(self._by_itself is not None)
