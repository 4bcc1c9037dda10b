"""The chat list and the finds of a search as Qt item models."""

import time
from collections.abc import Callable, Collection, Sequence
from datetime import date
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QLocale, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal, Slot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.chat_rows import ARCHIVE, FOLDER, PINNED, ListRow, can_fold, chat_rows, hiding_group
from llama_gui.chats.search import SearchHit
from llama_gui.chats.tree import ChatSummary

_ROOT = QModelIndex()
Index = QModelIndex | QPersistentModelIndex


class ChatRole(IntEnum):
    """What a row can be asked for beside its words (DisplayRole)."""

    CHAT_ID = Qt.ItemDataRole.UserRole + 1
    ANSWERING = Qt.ItemDataRole.UserRole + 2
    GROUP = Qt.ItemDataRole.UserRole + 3
    """The key of the group, of a heading too."""
    UPDATED = Qt.ItemDataRole.UserRole + 4
    HEADING = Qt.ItemDataRole.UserRole + 5
    """Whether the row is a heading."""
    FOLDED = Qt.ItemDataRole.UserRole + 6
    COUNT = Qt.ItemDataRole.UserRole + 7
    SUMMARY = Qt.ItemDataRole.UserRole + 8
    HIT = Qt.ItemDataRole.UserRole + 9


class ChatListItemModel(QAbstractListModel):
    """The chats of a book in groups, each below its heading."""

    renamed = Signal(str, str)
    """A chat's id, and the name that the user gave it in its row."""
    folded_changed = Signal(object)
    """tuple[str]: the keys of the groups that show their heading only."""

    def __init__(
        self, book: ChatBook, parent: QObject | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(parent)
        self._book = book
        self._clock = clock
        self._folded: set[str] = {ARCHIVE}
        self._rows: list[ListRow] = self._make_rows()
        self._places: dict[str, int] = {row.key: number for number, row in enumerate(self._rows)}
        book.chats_changed.connect(self.refresh)
        book.answering_changed.connect(self._on_answering_changed)

    def _make_rows(self) -> list[ListRow]:
        today = date.fromtimestamp(self._clock())
        return chat_rows(self._book.summaries(), self._book.archived(), today, self._folded)

    # --- as Qt asks

    def rowCount(self, parent: Index = _ROOT) -> int:
        """How many rows there are, headings among them."""
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """A heading can be chosen where it can be folded; a chat's name can be edited."""
        if not index.isValid() or index.row() >= len(self._rows):
            return Qt.ItemFlag.NoItemFlags
        row = self._rows[index.row()]
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
        if row.chat is not None:
            return flags | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsDragEnabled
        return flags | Qt.ItemFlag.ItemIsSelectable if can_fold(row.group) else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The words, or what a `ChatRole` asks for."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole | Qt.ItemDataRole.EditRole:
                return row.chat.title if row.chat is not None else self._heading(row.group)
            case ChatRole.GROUP:
                return row.group
            case ChatRole.HEADING:
                return row.chat is None
            case ChatRole.FOLDED:
                return row.is_folded
            case ChatRole.COUNT:
                return row.count
            case _:
                return self._chat_data(row.chat, role) if row.chat is not None else None

    def _chat_data(self, chat: ChatSummary, role: int) -> Any:
        match role:
            case ChatRole.CHAT_ID:
                return chat.id
            case ChatRole.ANSWERING:
                return self._book.is_answering(chat.id)
            case ChatRole.UPDATED:
                return chat.updated
            case ChatRole.SUMMARY:
                return chat
            case _:
                return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """The user has given a chat another name."""
        title = " ".join(str(value).split())
        if role != Qt.ItemDataRole.EditRole or not title or title == self.data(index):
            return False
        self.renamed.emit(self.data(index, ChatRole.CHAT_ID), title)
        return True

    def _heading(self, group: str) -> str:
        if group.startswith(FOLDER):
            return group.removeprefix(FOLDER)
        names = {
            PINNED: self.tr("Pinned"),
            ARCHIVE: self.tr("Archive"),
            "today": self.tr("Today"),
            "yesterday": self.tr("Yesterday"),
            "week": self.tr("Last 7 days"),
            "month": self.tr("Last 30 days"),
        }
        return names.get(group) or _month_name(group)

    # --- what the window asks

    def index_of(self, chat_id: str) -> QModelIndex:
        """The row of a chat; invalid when it is not in the list."""
        row = self._places.get(chat_id)
        return QModelIndex() if row is None else self.index(row)

    def chat_at(self, index: Index) -> ChatSummary | None:
        """The chat in a row; None for a heading."""
        return self.data(index, ChatRole.SUMMARY)

    def members(self, group: str) -> list[str]:
        """The chats of a group, also while only its heading is shown."""
        today = date.fromtimestamp(self._clock())
        rows = chat_rows(self._book.summaries(), self._book.archived(), today)
        return [row.chat.id for row in rows if row.group == group and row.chat is not None]

    def reveal(self, chat_id: str) -> QModelIndex:
        """The row of a chat, for which its group is unfolded; invalid when nothing was said in it yet."""
        chats = (*self._book.summaries(), *self._book.archived())
        if not self.index_of(chat_id).isValid() and (chat := next((c for c in chats if c.id == chat_id), None)):
            self.fold(hiding_group(chat), False)
        return self.index_of(chat_id)

    def set_folded(self, groups: Collection[str]) -> None:
        """Show only the headings of these groups."""
        if set(groups) != self._folded:
            self._folded = set(groups)
            self.refresh()

    def fold(self, group: str, folded: bool) -> None:
        """Hide or show the chats of a group."""
        if can_fold(group) and (group in self._folded) != folded:
            self._folded ^= {group}
            self.refresh()
            self.folded_changed.emit(tuple(sorted(self._folded)))

    # --- what changes

    @Slot()
    def refresh(self) -> None:
        """Read the book again. Without a reset where rows are the same in number and order: so the selection stays."""
        rows = self._make_rows()
        if [row.key for row in rows] == [row.key for row in self._rows]:
            self._rows = rows
            if rows:
                self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self._rows = rows
        self._places = {row.key: number for number, row in enumerate(rows)}
        self.endResetModel()

    @Slot(str, bool)
    def _on_answering_changed(self, chat_id: str, _answering: bool) -> None:
        index = self.index_of(chat_id)
        if index.isValid():
            self.dataChanged.emit(index, index, [ChatRole.ANSWERING])


def _month_name(group: str) -> str:
    """The heading of a month: March 2026."""
    year, _, month = group.partition("-")
    name = QLocale().standaloneMonthName(int(month))
    return f"{name[:1].upper()}{name[1:]} {int(year)}"


class HitItemModel(QAbstractListModel):
    """What a search has found."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hits: list[SearchHit] = []

    def show(self, hits: Sequence[SearchHit]) -> None:
        """Have these finds, and no others."""
        self.beginResetModel()
        self._hits = list(hits)
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        """How many finds there are."""
        return 0 if parent.isValid() else len(self._hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The chat's title; all of the find as `ChatRole.HIT`."""
        if not index.isValid() or index.row() >= len(self._hits):
            return None
        hit = self._hits[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return hit.title
            case Qt.ItemDataRole.AccessibleTextRole:
                return hit.title if hit.node_id is None else f"{hit.title}: {hit.snippet}"
            case ChatRole.HIT:
                return hit
            case _:
                return None
