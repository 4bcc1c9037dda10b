"""The open tabs: which chats are open, in what order, which one is shown, which have something new."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QStackedWidget

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.search import SearchHit
from llama_gui.chats.tree import DEFAULT_TITLE, OpenTab
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.icons import Icons
from llama_gui.ui.tabs import TabBar

_MOST_CLOSED = 25


class TabDeck(QObject):
    """Keeps the tab bar, the pages and the sessions together."""

    current_changed = Signal(object)
    """The `ChatTab` that is shown now."""
    tab_added = Signal(object)
    tabs_changed = Signal()
    """Something is different that is kept until the next start."""

    def __init__(self, book: ChatBook, bar: TabBar, icons: Icons, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.stack = QStackedWidget()
        self.bar = bar
        self._book = book
        self._icons = icons
        self._tabs: dict[str, ChatTab] = {}
        self._closed: list[OpenTab] = []
        self._unread: set[str] = set()
        bar.currentChanged.connect(self._show_current)
        bar.close_requested.connect(self.close_at)
        bar.tabMoved.connect(self.tabs_changed)
        book.answering_changed.connect(self._on_answering)

    # What is open

    def current(self) -> ChatTab | None:
        """The tab that is shown."""
        return self._tabs.get(self.bar.chat_id(self.bar.currentIndex()))

    def tabs(self) -> list[ChatTab]:
        """All tabs in the order of the strip."""
        return [self._tabs[self.bar.chat_id(index)] for index in range(self.bar.count())]

    def answering_count(self) -> int:
        """How many chats answer, tab or not."""
        return sum(session.answering for session in self._book.sessions())

    def open_tabs(self) -> list[OpenTab]:
        """The tabs as they are kept until the next start."""
        return [self._snapshot(tab, position) for position, tab in enumerate(self.tabs())]

    def _snapshot(self, tab: ChatTab, position: int) -> OpenTab:
        scroll = tab.transcript.scroll_place()
        return OpenTab(tab.session.chat_id, position, tab.draft().text, scroll, tab is self.current())

    # Opening and closing

    @Slot()
    def new_tab(self) -> ChatTab:
        """A tab with an empty chat."""
        return self._add(self._book.new_chat(), show=True)

    @Slot(str)
    def open_chat(self, chat_id: str) -> ChatTab:
        """Show a chat; in its tab when it has one."""
        tab = self._tabs.get(chat_id)
        if tab is None:
            return self._add(self._book.open_chat(chat_id), show=True)
        self.bar.setCurrentIndex(self.bar.index_of(chat_id))
        return tab

    @Slot(object)
    def restore(self, kept: Sequence[OpenTab]) -> None:
        """Open the tabs of the last time; without any, a new one."""
        for open_tab in sorted(kept, key=lambda tab: tab.position):
            if open_tab.chat_id not in self._tabs:
                tab = self._add(self._book.open_chat(open_tab.chat_id), show=False)
                tab.restore(open_tab.draft, open_tab.scroll)
        current = next((tab.chat_id for tab in kept if tab.is_current), "")
        if not self.bar.count():
            self.new_tab()
        elif current:
            self.bar.setCurrentIndex(self.bar.index_of(current))

    @Slot(int)
    def close_at(self, index: int) -> None:
        """Close a tab; its answer stops, its chat stays in the list. There is always one tab."""
        chat_id = self.bar.chat_id(index)
        tab = self._tabs.pop(chat_id, None)
        if tab is None:
            return
        if tab.session.path() or not tab.draft().is_empty:
            self._closed.append(self._snapshot(tab, index))
            del self._closed[:-_MOST_CLOSED]
        self._unread.discard(chat_id)
        self.bar.set_dot(chat_id, False)
        self.bar.removeTab(index)
        self.stack.removeWidget(tab)
        tab.deleteLater()
        self._book.close_chat(chat_id)
        if not self.bar.count():
            self.new_tab()
        self.tabs_changed.emit()

    def close_chat(self, chat_id: str) -> bool:
        """Close the tab of a chat, not to be reopened by key; False when it has none."""
        is_open = chat_id in self._tabs
        if is_open:
            self.close_at(self.bar.index_of(chat_id))
        self._closed = [kept for kept in self._closed if kept.chat_id != chat_id]
        return is_open

    @Slot(object)
    def open_hit(self, hit: SearchHit) -> None:
        """Show a chat, and in it the words that a search has found."""
        tab = self.open_chat(hit.chat_id)
        if hit.node_id is not None:
            tab.want_hit(hit, hit.node_id)

    @Slot()
    def close_current(self) -> None:
        """Close the tab that is shown."""
        self.close_at(self.bar.currentIndex())

    @Slot()
    def reopen(self) -> None:
        """Bring back the tab that was closed last, with its draft."""
        while self._closed:
            kept = self._closed.pop()
            if kept.chat_id not in self._tabs:
                tab = self._add(self._book.open_chat(kept.chat_id), show=False)
                tab.restore(kept.draft, kept.scroll)
                self.bar.moveTab(self.bar.count() - 1, min(kept.position, self.bar.count() - 1))
                self.bar.setCurrentIndex(self.bar.index_of(kept.chat_id))
                return

    def step(self, by: int) -> None:
        """Go to the next or previous tab, around the end."""
        if self.bar.count():
            self.bar.setCurrentIndex((self.bar.currentIndex() + by) % self.bar.count())

    def go_to(self, number: int) -> None:
        """Go to a tab by its place from 1; 9 is the last."""
        index = self.bar.count() - 1 if number == 9 else number - 1
        if 0 <= index < self.bar.count():
            self.bar.setCurrentIndex(index)

    def _add(self, session: ChatSession, *, show: bool) -> ChatTab:
        tab = ChatTab(session, self._book.reader, self._icons)
        self._tabs[session.chat_id] = tab
        self.stack.addWidget(tab)
        session.title_changed.connect(self._on_title)
        tab.draft_changed.connect(self.tabs_changed)
        tab.transcript.scrolled.connect(self.tabs_changed)
        self.tab_added.emit(tab)
        index = self.bar.add(session.chat_id, self._shown(session.title))
        self._show_dot(session.chat_id)
        if show:
            self.bar.setCurrentIndex(index)
        self.tabs_changed.emit()
        return tab

    # What changes

    @Slot()
    def _show_current(self) -> None:
        tab = self.current()
        if tab is None:
            return
        self._unread.discard(tab.session.chat_id)
        self._show_dot(tab.session.chat_id)
        self.stack.setCurrentWidget(tab)
        tab.composer.edit.setFocus(Qt.FocusReason.OtherFocusReason)
        self.current_changed.emit(tab)
        self.tabs_changed.emit()

    @Slot(str)
    def _on_title(self, title: str) -> None:
        session = self.sender()
        if isinstance(session, ChatSession):
            self.bar.set_title(session.chat_id, self._shown(title))

    def _shown(self, title: str) -> str:
        """The name that every chat is kept under at first is in English."""
        return self.tr("New chat") if title == DEFAULT_TITLE else title

    @Slot(str, bool)
    def _on_answering(self, chat_id: str, answering: bool) -> None:
        current = self.current()
        is_shown = current is not None and current.session.chat_id == chat_id
        if not answering and not is_shown and chat_id in self._tabs:
            self._unread.add(chat_id)
        self._show_dot(chat_id)

    def _show_dot(self, chat_id: str) -> None:
        self.bar.set_dot(chat_id, chat_id in self._unread or self._book.is_answering(chat_id))
