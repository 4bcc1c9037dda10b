"""The chat list as a Qt item model."""

import time
from collections.abc import Callable
from datetime import date, timedelta
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Slot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.chats.tree import ChatSummary

_ROOT = QModelIndex()


class ChatRole(IntEnum):
    """What a row of the chat list can be asked for beside its title (DisplayRole)."""

    CHAT_ID = Qt.ItemDataRole.UserRole + 1
    ANSWERING = Qt.ItemDataRole.UserRole + 2
    GROUP = Qt.ItemDataRole.UserRole + 3
    UPDATED = Qt.ItemDataRole.UserRole + 4


def group_label(updated: float, today: date) -> str:
    """Under which heading a chat of that time stands."""
    day = date.fromtimestamp(updated)
    if day >= today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    return "Last 7 days" if day > today - timedelta(days=7) else "Older"


class ChatListItemModel(QAbstractListModel):
    """The chats of a book, newest first."""

    def __init__(
        self, book: ChatBook, parent: QObject | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(parent)
        self._book = book
        self._clock = clock
        self._rows: list[ChatSummary] = book.summaries()
        book.chats_changed.connect(self._on_chats_changed)
        book.answering_changed.connect(self._on_answering_changed)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _ROOT) -> int:
        """How many chats there are."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The title, or what a `ChatRole` asks for."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return row.title
            case ChatRole.CHAT_ID:
                return row.id
            case ChatRole.ANSWERING:
                return self._book.is_answering(row.id)
            case ChatRole.GROUP:
                return group_label(row.updated, date.fromtimestamp(self._clock()))
            case ChatRole.UPDATED:
                return row.updated
            case _:
                return None

    def index_of(self, chat_id: str) -> QModelIndex:
        """The row of a chat; invalid when it is not in the list."""
        row = next((number for number, summary in enumerate(self._rows) if summary.id == chat_id), None)
        return QModelIndex() if row is None else self.index(row)

    @Slot()
    def _on_chats_changed(self) -> None:
        rows = self._book.summaries()
        if [row.id for row in rows] == [row.id for row in self._rows]:  # a reset would lose the selection
            self._rows = rows
            self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    @Slot(str, bool)
    def _on_answering_changed(self, chat_id: str, _answering: bool) -> None:
        index = self.index_of(chat_id)
        if index.isValid():
            self.dataChanged.emit(index, index, [ChatRole.ANSWERING])
