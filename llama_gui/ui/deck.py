"""The open tabs: which chats are open, in what order, which are seen, in front, or have something new."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.search import SearchHit
from llama_gui.chats.tree import DEFAULT_TITLE, LEFT, OpenTab
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.icons import Icons
from llama_gui.ui.split.panes import ChatPanes
from llama_gui.ui.split.shown_chats import ShownChats
from llama_gui.ui.tabs import TabBar

_MOST_CLOSED = 25


class TabDeck(QObject):
    """Keeps the tab bar, the pages and the sessions together."""

    current_changed = Signal(object)
    """The `ChatTab` that is in front now."""
    tab_added = Signal(object)
    tabs_changed = Signal()
    """Something is different that is kept until the next start."""
    seen_changed = Signal()
    """One chat is seen, or two, or others than before."""
    room_wanted = Signal(int)
    """Two chats are wanted side by side, and it takes so many pixels more."""
    has_no_room = Signal()
    """Two chats are wanted side by side, and the window is too narrow for that."""

    def __init__(self, book: ChatBook, bar: TabBar, icons: Icons, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.panes = ChatPanes()
        self.bar = bar
        self._book = book
        self._icons = icons
        self._tabs: dict[str, ChatTab] = {}
        self._closed: list[OpenTab] = []
        self._left: dict[str, OpenTab] = {}  # closed with something written, which nobody has seen again yet
        self._unread: set[str] = set()
        self._shown = ShownChats()
        self._last_two = ShownChats()  # when one of them was shown alone by the key
        self._recent: list[str] = []  # chats that were in front, the last one first
        bar.currentChanged.connect(self._show_current)
        bar.close_requested.connect(self.close_at)
        bar.tabMoved.connect(self.tabs_changed)
        book.answering_changed.connect(self._on_answering)
        self.panes.chosen.connect(self._on_chosen)
        self.panes.seen_changed.connect(self._on_seen)

    # What is open

    def current(self) -> ChatTab | None:
        """The tab in front: the one that is shown, or of two the one that has the keyboard."""
        return self._tabs.get(self.bar.chat_id(self.bar.currentIndex()))

    def tabs(self) -> list[ChatTab]:
        """All tabs in the order of the strip."""
        return [self._tabs[self.bar.chat_id(index)] for index in range(self.bar.count())]

    def answering_count(self) -> int:
        """How many chats answer, tab or not."""
        return sum(session.answering for session in self._book.sessions())

    def open_tabs(self) -> list[OpenTab]:
        """The tabs as they are kept until the next start, and those that were closed with something written."""
        closed = {kept.chat_id for kept in self._closed}
        left = [replace(kept, position=LEFT) for chat_id, kept in self._left.items() if chat_id in closed]
        return [*left, *(self._snapshot(tab, position) for position, tab in enumerate(self.tabs()))]

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
            return self._open(chat_id, show=True)
        self.bar.setCurrentIndex(self.bar.index_of(chat_id))
        return tab

    @Slot(object)
    def restore(self, kept: Sequence[OpenTab]) -> None:
        """Open the tabs of the last time; without any, a new one."""
        for open_tab in sorted(kept, key=lambda tab: tab.position):
            if open_tab.chat_id in self._tabs:
                continue
            if open_tab.position == LEFT:
                self._left.setdefault(open_tab.chat_id, open_tab)
                self._closed.append(open_tab)
            else:
                self._open(open_tab.chat_id, open_tab, show=False)
        current = next((tab.chat_id for tab in kept if tab.is_current), "")
        if not self.bar.count():
            self.new_tab()
        elif current:
            self.bar.setCurrentIndex(self.bar.index_of(current))

    @Slot(int)
    def close_at(self, index: int) -> None:
        """Close a tab; its answer stops, its chat stays in the list. There is always one tab."""
        chat_id = self.bar.chat_id(index)
        tab = self._tabs.get(chat_id)
        if tab is None:
            return
        kept = self._snapshot(tab, index)
        if not tab.draft().is_empty:
            self._left[chat_id] = replace(kept, is_current=False)
        if tab.session.path() or chat_id in self._left:
            self._closed.append(kept)
            self._forget_oldest()
        if self._shown.beside and chat_id in self._shown.chats:
            self.show_without(chat_id)
        del self._tabs[chat_id]
        self._unread.discard(chat_id)
        self._recent = [other for other in self._recent if other != chat_id]
        self.bar.set_dot(chat_id, False)
        self.bar.removeTab(index)
        self.panes.remove(tab)
        tab.deleteLater()
        self._book.close_chat(chat_id)
        if not self.bar.count():
            self.new_tab()
        self.tabs_changed.emit()

    def _forget_oldest(self) -> None:
        """Of too many closed tabs forget first those in which nothing was written."""
        if len(self._closed) > _MOST_CLOSED:
            empty = (kept for kept in self._closed if kept.chat_id not in self._left)
            self._closed.remove(next(empty, self._closed[0]))

    def close_others(self, chat_id: str) -> None:
        """Close all tabs but that of one chat."""
        self._go_to(chat_id)  # else each of the others would be in front once
        for index in reversed(range(self.bar.count())):
            if self.bar.chat_id(index) != chat_id:
                self.close_at(index)

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
        """Close the tab in front."""
        self.close_at(self.bar.currentIndex())

    @Slot()
    def reopen(self) -> None:
        """Bring back the tab that was closed last, with its draft."""
        while self._closed:
            kept = self._closed.pop()
            if kept.chat_id not in self._tabs:
                self.put_back(kept)
                self.bar.setCurrentIndex(self.bar.index_of(kept.chat_id))
                return

    def can_reopen(self) -> bool:
        """Whether there is a closed tab to bring back."""
        return any(kept.chat_id not in self._tabs for kept in self._closed)

    def is_unread(self, chat_id: str) -> bool:
        """Whether an answer has come in this tab that nobody has seen."""
        return chat_id in self._unread

    def put_back(self, kept: OpenTab, *, is_unread: bool = False) -> None:
        """Open a tab as and where it was, behind the one in front; nothing, when the chat has one."""
        if kept.chat_id not in self._tabs:
            self._open(kept.chat_id, kept, show=False)
            last = self.bar.count() - 1
            self.bar.moveTab(last, last if kept.position == LEFT else min(kept.position, last))
            if is_unread:
                self._unread.add(kept.chat_id)
                self._show_dot(kept.chat_id)

    def step(self, by: int) -> None:
        """Go to the next or previous tab, around the end."""
        if self.bar.count():
            self.bar.setCurrentIndex((self.bar.currentIndex() + by) % self.bar.count())

    def go_to(self, number: int) -> None:
        """Go to a tab by its place from 1; 9 is the last."""
        index = self.bar.count() - 1 if number == 9 else number - 1
        if 0 <= index < self.bar.count():
            self.bar.setCurrentIndex(index)

    # Two side by side

    def _finds_room(self) -> bool:
        """Whether there is room for two, once what stands beside them had the chance to make some."""
        if not self.panes.has_room():
            self.room_wanted.emit(self.panes.missing_width())
        return self.panes.has_room()

    def shown(self) -> tuple[str, ...]:
        """The chats that are shown, also where the window has no room for both."""
        return self._shown.chats

    @Slot()
    def toggle_split(self) -> None:
        """Show the chat in front alone, and then with the other one again, each on its side; or else beside the chat
        that was in front before.
        """
        front, last = self._shown.front, self._last_two
        if len(self.panes.seen()) > 1:
            self._last_two = self._shown
            self.show_without(self._shown.beside)
        elif front in last.chats and all(chat in self._tabs for chat in last.chats):
            self._finds_room()
            self._show_two(last.choose(front))
        elif self.bar.count() == 1 and not self._finds_room():
            self.has_no_room.emit()  # nor would a new chat be seen
        elif front:
            self.show_beside(self._shown.beside or self._former())

    @Slot()
    def go_beside(self) -> None:
        """Give the keyboard to the other one of two."""
        if self._shown.beside:
            self._go_to(self._shown.beside)

    def show_beside(self, chat_id: str) -> None:
        """Show a chat beside the one in front, and let it be in front; that one itself, beside the one before. Where
        there is no room for two, the one in front stays there.
        """
        if chat_id not in self._tabs:
            self._open(chat_id, show=False)
        shown, front, has_room = self._shown, self._shown.front, self._finds_room()
        if chat_id not in shown.chats:
            shown = shown.add(chat_id, front)
        elif not shown.beside:
            shown = shown.add(chat_id, self._former())
        self._show_two(shown.choose(chat_id if has_room else front))

    def _show_two(self, shown: ShownChats) -> None:
        self._shown = shown
        self._go_to(shown.front)
        if not self.panes.has_room():
            self.has_no_room.emit()

    def put(self, chat_id: str, former: str, *, first: bool) -> None:
        """Show a chat on a side, as its tab was dragged there. `former`: who was in front when the tab was taken."""
        shown = self._shown
        if former in self._tabs and former not in shown.chats:  # taking it has put it in the place of that one
            shown = shown.choose(former)
        is_there = former in self._tabs and former != chat_id
        partner = former if is_there else self._shown.beside or self._former()
        self._shown = shown.put(chat_id, partner, first=first)
        self._go_to(chat_id)

    def show_pair(self, chats: Sequence[str]) -> None:
        """Show these two as they were at the last end, where both are open and one is in front."""
        current = self.bar.chat_id(self.bar.currentIndex())
        if len(chats) == 2 and current in chats and all(chat in self._tabs for chat in chats):
            self._shown = ShownChats(tuple(chats), current)
            self._finds_room()
            self._show_current()

    def show_without(self, chat_id: str, _checked: bool = False) -> None:
        """Of two chats show the other one alone. The tab of this one stays."""
        self._shown = self._shown.leave(chat_id)
        self._go_to(self._shown.front)

    def _go_to(self, chat_id: str) -> None:
        index = self.bar.index_of(chat_id)
        if index == self.bar.currentIndex():
            self._show_current()
        else:
            self.bar.setCurrentIndex(index)

    def _former(self) -> str:
        """The chat that was in front before, or else a neighbour, or else a new one."""
        current = self._shown.front
        for chat_id in self._recent:
            if chat_id != current:
                return chat_id
        index = self.bar.index_of(current)
        neighbour = self.bar.chat_id(index + 1) or self.bar.chat_id(index - 1)
        return neighbour or self._add(self._book.new_chat(), show=False).session.chat_id

    def _open(self, chat_id: str, kept: OpenTab | None = None, *, show: bool) -> ChatTab:
        """A tab for a chat, with what was written in the last one that it had, or else as it was kept."""
        tab = self._add(self._book.open_chat(chat_id), show=show)
        kept = self._left.pop(chat_id, kept)
        if kept is not None:
            tab.restore(kept.draft, kept.scroll)
        return tab

    def _add(self, session: ChatSession, *, show: bool) -> ChatTab:
        tab = ChatTab(session, self._book.reader, self._icons, self.panes)
        self._tabs[session.chat_id] = tab
        self.panes.add(tab)
        tab.set_title(self._shown_title(session.title))
        tab.header.close_requested.connect(partial(self.show_without, session.chat_id))
        session.title_changed.connect(self._on_title)
        session.tool_asked.connect(self._on_tool_asked)
        tab.draft_changed.connect(self.tabs_changed)
        tab.transcript.scrolled.connect(self.tabs_changed)
        self.tab_added.emit(tab)
        index = self.bar.add(session.chat_id, self._shown_title(session.title))
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
        chat_id = tab.session.chat_id
        self._shown = self._shown.choose(chat_id)
        self._recent = [chat_id, *(other for other in self._recent if other != chat_id)]
        self._see([tab])
        self.panes.arrange([self._tabs[shown] for shown in self._shown.chats], tab)
        self._mark()
        if len(self.panes.seen()) > 1:  # both fields to write in have the same name
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(tab, tab.accessibleName()))
        self.current_changed.emit(tab)
        self.tabs_changed.emit()

    @Slot(object)
    def _on_chosen(self, tab: ChatTab) -> None:
        self._go_to(tab.session.chat_id)

    @Slot()
    def _on_seen(self) -> None:
        self._see(self.panes.seen())
        self._mark()
        self.seen_changed.emit()

    def _mark(self) -> None:
        self.bar.set_beside(self._shown.beside if len(self.panes.seen()) > 1 else "")

    def _see(self, tabs: Sequence[ChatTab]) -> None:
        """What is new in them is no longer unread."""
        for tab in tabs:
            self._unread.discard(tab.session.chat_id)
            self._show_dot(tab.session.chat_id)

    @Slot(str)
    def _on_title(self, title: str) -> None:
        session = self.sender()
        if isinstance(session, ChatSession):
            self.bar.set_title(session.chat_id, self._shown_title(title))
            if tab := self._tabs.get(session.chat_id):
                tab.set_title(self._shown_title(title))

    def _shown_title(self, title: str) -> str:
        """The name that every chat is kept under at first is in English."""
        return self.tr("New chat") if title == DEFAULT_TITLE else title

    @Slot(str, bool)
    def _on_answering(self, chat_id: str, answering: bool) -> None:
        tab = self._tabs.get(chat_id)
        if not answering and tab is not None and tab not in self.panes.seen():
            self._unread.add(chat_id)
        self._show_dot(chat_id)

    @Slot()
    def _on_tool_asked(self) -> None:
        session = self.sender()
        if isinstance(session, ChatSession):
            self._show_dot(session.chat_id)

    def _show_dot(self, chat_id: str) -> None:
        tab = self._tabs.get(chat_id)
        asks = tab is not None and tab.session.tool_question is not None
        self.bar.set_dot(chat_id, asks or chat_id in self._unread or self._book.is_answering(chat_id), asks=asks)
