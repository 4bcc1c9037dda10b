"""Two chats side by side, as the window has them: found again at the next start, and in the menu of a tab."""

from functools import partial

from PySide6.QtCore import QObject, QPoint, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.kept_settings import KeptSettings


class WindowSplit(QObject):
    """Remembers which two, and how they share the width. `go_beside` is enabled while there is another to go to."""

    said = Signal(str)
    rename_wanted = Signal(str)
    """The chat of a tab."""
    left = Signal()
    """One chat is shown alone again."""

    def __init__(self, book: ChatBook, deck: TabDeck, go_beside: QAction, kept: KeptSettings, window: QWidget) -> None:
        super().__init__(window)
        self._deck = deck
        self._go_beside = go_beside
        self._kept = kept
        self._window = window
        self._is_restored = False
        go_beside.setEnabled(False)
        deck.panes.divide(kept.now().split_share)
        deck.panes.divided.connect(self._on_divided)
        deck.current_changed.connect(self._on_shown)
        deck.seen_changed.connect(self._on_shown)
        deck.has_no_room.connect(self._on_no_room)
        deck.bar.menu_wanted.connect(self.show_menu)
        deck.bar.carried.connect(deck.panes.show_hint)
        deck.bar.drag_ended.connect(deck.panes.hide_hint)
        deck.bar.dropped.connect(self._on_dropped)
        book.restored.connect(self._on_restored)  # after the deck, which opens the tabs

    @Slot()
    def _on_restored(self) -> None:
        """The first time; a backup that is brought back later changes nothing of what is seen."""
        if not self._is_restored:
            self._is_restored = True
            self._deck.show_pair(self._kept.now().split_chats)
            self._on_shown()

    @Slot()
    def _on_shown(self) -> None:
        shown = self._deck.shown()
        if self._go_beside.isEnabled() and len(shown) < 2:
            self.left.emit()
        self._go_beside.setEnabled(len(shown) > 1)
        if self._is_restored:
            self._kept.keep(split_chats=shown if len(shown) > 1 else ())

    @Slot(float)
    def _on_divided(self, share: float) -> None:
        self._kept.keep(split_share=share)

    @Slot(str, str, QPoint)
    def _on_dropped(self, chat_id: str, former: str, place: QPoint) -> None:
        is_first = self._deck.panes.is_first_half(place)
        if is_first is not None:
            self._deck.put(chat_id, former, first=is_first)

    @Slot()
    def _on_no_room(self) -> None:
        self.said.emit(self.tr("There is no room for two chats side by side."))

    @Slot(str, QPoint)
    def show_menu(self, chat_id: str, place: QPoint) -> QMenu:
        """What can be done with a tab."""
        menu, deck = QMenu(self._window), self._deck
        menu.aboutToHide.connect(menu.deleteLater)
        shown = deck.shown()
        if len(shown) > 1 and chat_id in shown:
            alone = menu.addAction(self.tr("Show alone"))
            alone.triggered.connect(partial(deck.show_without, next(other for other in shown if other != chat_id)))
        else:
            menu.addAction(self.tr("Show beside")).triggered.connect(lambda: deck.show_beside(chat_id))
        rename = menu.addAction(self.tr("Rename"))
        rename.triggered.connect(lambda: self.rename_wanted.emit(chat_id))
        rename.setEnabled(any(tab.session.chat_id == chat_id and tab.session.path() for tab in deck.tabs()))
        menu.addSeparator()
        menu.addAction(self.tr("Close tab")).triggered.connect(lambda: deck.close_at(deck.bar.index_of(chat_id)))
        others = menu.addAction(self.tr("Close the other tabs"))
        others.triggered.connect(lambda: deck.close_others(chat_id))
        others.setEnabled(deck.bar.count() > 1)
        reopen = menu.addAction(self.tr("Reopen closed tab"))
        reopen.triggered.connect(deck.reopen)
        reopen.setEnabled(deck.can_reopen())
        menu.popup(place)
        return menu
