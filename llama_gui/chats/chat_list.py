"""The list of chats: titles, order, folders, which path is shown."""

import sqlite3
import time
from typing import Literal

from llama_gui.chats.chat_settings import settings_to_json
from llama_gui.chats.store_file import StoreFile
from llama_gui.chats.tree import DEFAULT_TITLE, ChatSummary, clean_text
from llama_gui.vocabulary import ChatSettings

TitleSource = Literal["default", "first", "model", "user"]
"""Who gave a title: nobody yet, the first message, the model, the user."""

MAX_NAME = 200
"""Characters of a folder's or preset's name."""

_CHATS = """
    SELECT id, title, created, updated, last_status, pinned, folder, archived, deleted
    FROM chats WHERE last_seq IS NOT NULL AND {}
    ORDER BY updated DESC, last_seq DESC
"""
_REFRESH = """
    UPDATE chats SET (last_seq, updated, last_status) = (
        SELECT seq, created, status FROM nodes
        WHERE chat_id = chats.id AND deleted IS NULL ORDER BY seq DESC LIMIT 1)
    WHERE id = ?
"""


def refresh_summary(db: sqlite3.Connection, chat_id: str) -> None:
    """Set what the chat repeats of its newest message right, after messages came or went in another way than adding."""
    db.execute(_REFRESH, (chat_id,))


def clean_name(name: str) -> str:
    """The name of a folder or preset: clean text on one line, of bounded length."""
    return " ".join(clean_text(name).split())[:MAX_NAME]


class ChatList(StoreFile):
    """The part of the store that is about chats as a whole."""

    def create_chat(self, chat_id: str, title: str = DEFAULT_TITLE) -> None:
        """Make a chat; one that exists is left as it is, but for a title that was never given."""
        source: TitleSource = "default" if title == DEFAULT_TITLE else "first"
        with self._transaction() as db:
            db.execute(
                "INSERT INTO chats (id, title, title_source, created) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE"
                " SET title = excluded.title, title_source = excluded.title_source WHERE title_source = 'default'",
                (chat_id, clean_text(title), source, time.time()),
            )

    def rename_chat(self, chat_id: str, title: str) -> None:
        """Give a chat the title that the user wants; a chat that has nothing yet is made by it."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO chats (id, title, title_source, created) VALUES (?, ?, 'user', ?)"
                " ON CONFLICT (id) DO UPDATE SET title = excluded.title, title_source = 'user'",
                (chat_id, clean_text(title), time.time()),
            )

    def set_model_title(self, chat_id: str, title: str) -> bool:
        """Give a chat the title that a model found. False: the user has named it, which counts."""
        with self._transaction() as db:
            changed = db.execute(
                "UPDATE chats SET title = ?, title_source = 'model' WHERE id = ? AND title_source <> 'user'",
                (clean_name(title) or DEFAULT_TITLE, chat_id),
            )
            return changed.rowcount > 0

    def untitled_chats(self, limit: int = 20) -> list[str]:
        """Chats that still have the title of their first message, newest first: work for an idle model."""
        query = (
            "SELECT id FROM chats WHERE title_source IN ('default', 'first') AND last_seq IS NOT NULL"
            " AND deleted IS NULL AND NOT archived ORDER BY updated DESC LIMIT ?"
        )
        return [chat_id for (chat_id,) in self._read(query, (limit,))]

    def chats(self, *, archived: bool = False, deleted: bool = False) -> list[ChatSummary]:
        """The chats with at least one message, the one with the newest message first.

        `archived`: those in the archive instead. `deleted`: those in the bin instead, archived or not.
        """
        which = "deleted IS NOT NULL" if deleted else f"deleted IS NULL AND archived = {int(archived)}"
        return [
            ChatSummary(chat_id, title, created, updated, status, pinned == 1, folder, in_archive == 1, in_bin)
            for chat_id, title, created, updated, status, pinned, folder, in_archive, in_bin in self._read(
                _CHATS.format(which)
            )
        ]

    def pin_chat(self, chat_id: str, pinned: bool = True) -> None:
        """Keep a chat at the top of the list, or no longer."""
        self._set("pinned", int(pinned), chat_id)

    def archive_chat(self, chat_id: str, archived: bool = True) -> None:
        """Put a chat away where it does not disturb, or back."""
        self._set("archived", int(archived), chat_id)

    def move_chat(self, chat_id: str, folder: str) -> None:
        """Put a chat into a folder, which is made by it; '' takes it out."""
        self._set("folder", clean_name(folder), chat_id)

    def folder_of(self, chat_id: str) -> str:
        """The folder that a chat is in; '' for none, or where there is no such chat."""
        return next((folder for (folder,) in self._read("SELECT folder FROM chats WHERE id = ?", (chat_id,))), "")

    def rename_folder(self, folder: str, name: str) -> None:
        """Give a folder another name; '' dissolves it, and one that exists takes the chats in."""
        with self._transaction() as db:
            db.execute("UPDATE chats SET folder = ? WHERE folder = ?", (clean_name(name), folder))

    def folders(self) -> list[str]:
        """The folders that hold a chat outside the bin, by name."""
        query = "SELECT DISTINCT folder FROM chats WHERE folder <> '' AND deleted IS NULL"
        return sorted((folder for (folder,) in self._read(query)), key=str.casefold)

    def set_leaf(self, chat_id: str, node_id: str | None) -> None:
        """Remember which path of the chat is shown; None: the newest."""
        self._set("leaf_id", node_id, chat_id)

    def save_settings(self, chat_id: str, settings: ChatSettings) -> None:
        """Keep what a chat asks of the model. The chat must exist."""
        self._set("settings", settings_to_json(settings), chat_id)

    def _set(self, column: str, value: object, chat_id: str) -> None:
        with self._transaction() as db:
            db.execute(f"UPDATE chats SET {column} = ? WHERE id = ?", (value, chat_id))
