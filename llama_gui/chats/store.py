"""The chats on disk: one SQLite file, one writer. What a method has returned from survives a kill of the process."""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from llama_gui.chats.backups import backup_at_closing
from llama_gui.chats.bin import Bin
from llama_gui.chats.chat_list import ChatList
from llama_gui.chats.chat_settings import settings_from_json, settings_to_json
from llama_gui.chats.draft_files import DraftFiles
from llama_gui.chats.intake import Intake
from llama_gui.chats.messages import Messages
from llama_gui.chats.open_tabs import OpenTabs
from llama_gui.chats.opening import open_file
from llama_gui.chats.plain_words import plain_words
from llama_gui.chats.presets import Presets
from llama_gui.chats.record import ChatRecord
from llama_gui.chats.restoring import Restoring
from llama_gui.chats.search import SearchHit, search
from llama_gui.chats.tree import DEFAULT_TITLE, Node
from llama_gui.vocabulary import ChatSettings

_RECORD = "SELECT created, title_source, folder, pinned, archived FROM chats WHERE id = ?"


@dataclass(frozen=True, slots=True)
class StoredChat:
    """All that the store knows of one chat; of one that it does not know, an empty one.

    `leaf_id` is the end of the path that was shown last, if it is still there.
    """

    title: str
    settings: ChatSettings
    nodes: tuple[Node, ...]
    leaf_id: str | None = None


class ChatStore(ChatList, Bin, Messages, OpenTabs, Presets, Intake, DraftFiles, Restoring):
    """The one writer of a chat store file. Used from the thread that opened it, and from no other.

    Every method raises `StoreError`, in plain words, when the file cannot be read or written; then nothing of that
    call was saved.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, notice: str = "") -> None:
        super().__init__(connection, path)
        self.notice = notice
        """What the user should know about the opening: a damaged file was set aside, a backup could not be made."""
        self._changes_at_opening = connection.total_changes
        self._closed = False

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or make the file, bring it to the newest schema, and mark answers that a crash broke off.

        A damaged file is set aside under another name, never erased, and what can be read of it comes into a new one.
        Once a day a backup is made.

        Raises:
            StoreError: the file cannot be opened, or a newer version has written it.
        """
        with plain_words(path):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            connection, notice = open_file(path)
            return cls(connection, path, notice)

    def close(self) -> None:
        """Bring today's backup up to date if something has changed, and close the file. Twice is as good as once."""
        if self._closed:
            return
        self._closed = True
        with plain_words(self._path):
            try:
                if self._connection.total_changes > self._changes_at_opening:
                    backup_at_closing(self._connection, self._path)
            finally:
                self._connection.close()

    # --- one chat

    def chat(self, chat_id: str) -> StoredChat:
        """Title, settings and messages of one chat."""
        rows = self._read("SELECT title, settings, leaf_id FROM chats WHERE id = ?", (chat_id,))
        title, settings, leaf_id = rows[0] if rows else (DEFAULT_TITLE, "", None)
        nodes = tuple(self.nodes(chat_id))
        shown = leaf_id if any(node.id == leaf_id for node in nodes) else None
        return StoredChat(title, settings_from_json(settings), nodes, shown)

    def rename_tool_server(self, former: str, name: str) -> None:
        """Let all chats, also those in the bin, use a server of tools by its new name."""
        with self._transaction() as db:
            for chat_id, text in db.execute("SELECT id, settings FROM chats WHERE settings != ''").fetchall():
                settings = settings_from_json(text)
                renamed = settings.with_tool_server_renamed(former, name)
                if renamed != settings:
                    db.execute("UPDATE chats SET settings = ? WHERE id = ?", (settings_to_json(renamed), chat_id))

    def record(self, chat_id: str) -> ChatRecord | None:
        """One chat whole, to export it; None if there is none."""
        rows = self._read(_RECORD, (chat_id,))
        if not rows:
            return None
        chat, (created, source, folder, pinned, archived) = self.chat(chat_id), rows[0]
        return ChatRecord(
            id=chat_id,
            title=chat.title,
            created=created,
            nodes=chat.nodes,
            settings=chat.settings,
            leaf_id=chat.leaf_id,
            title_source=source,
            folder=folder,
            pinned=pinned == 1,
            archived=archived == 1,
        )

    def records(self, chat_ids: Iterable[str] | None = None) -> Iterator[ChatRecord]:
        """These chats whole, one after the other; without ids all but those in the bin, as they are in the lists."""
        listed = (chat.id for archived in (False, True) for chat in self.chats(archived=archived))
        for chat_id in listed if chat_ids is None else chat_ids:
            if found := self.record(chat_id):
                yield found

    # --- all of them

    def search(self, query: str, limit: int = 50) -> list[SearchHit]:
        """Chats and messages with these words, see `search.search`."""
        with plain_words(self._path):
            return search(self._connection, query, limit)
