"""The chats on disk: one SQLite file, one writer. What a method has returned from survives a kill of the process."""

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any, Self

from llama_gui.chats.migrations import APPLICATION_ID, check_version, migrate
from llama_gui.chats.tree import DEFAULT_TITLE, ChatSummary, Node, OpenTab, clean_settings, clean_text
from llama_gui.errors import StoreError, UserError
from llama_gui.vocabulary import ChatSettings, sampling_from_json

BUSY_TIMEOUT_S = 2.0

_SAVE_NODE = """
    INSERT INTO nodes (id, chat_id, parent_id, role, content, status, created, model, recipe, error)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET content = excluded.content, status = excluded.status, model = excluded.model,
        recipe = excluded.recipe, error = excluded.error
"""
_CHATS = """
    SELECT chats.id, chats.title, chats.created, last.created, last.status
    FROM chats JOIN nodes AS last ON last.seq = (SELECT MAX(seq) FROM nodes WHERE chat_id = chats.id)
    ORDER BY last.created DESC, last.seq DESC
"""
_NODES = """
    SELECT id, chat_id, parent_id, role, content, status, created, model, recipe, error
    FROM nodes WHERE chat_id = ? ORDER BY seq
"""


@dataclass(frozen=True, slots=True)
class StoredChat:
    """All that the store knows of one chat; of one that it does not know, an empty one."""

    title: str
    settings: ChatSettings
    nodes: tuple[Node, ...]


class _DamagedError(Exception):
    """The file is not a chat store that can be read."""


class ChatStore:
    """The one writer of a chat store file. Used from the thread that opened it, and from no other.

    Every method raises `StoreError`, in plain words, when the file cannot be read or written; then nothing of that
    call was saved.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, notice: str = "") -> None:
        self._connection = connection
        self._path = path
        self.notice = notice
        """What the user should know about the opening: a damaged file was set aside."""

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or make the file, bring it to the newest schema, and mark answers that a crash broke off.

        A damaged file is set aside under another name, never erased, and a new one is begun.

        Raises:
            StoreError: the file cannot be opened, or a newer version has written it.
        """
        with _plain_words(path):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            notice = ""
            try:
                connection = _connect(path)
            except _DamagedError as error:
                aside = _set_aside(path)
                notice = (
                    f"The chat store was damaged ({error}). It was set aside as {aside}, and an empty one was begun."
                )
                connection = _connect(path)
            return cls(connection, path, notice)

    def close(self) -> None:
        """Close the file."""
        with _plain_words(self._path):
            self._connection.close()

    # --- chats

    def create_chat(self, chat_id: str, title: str = DEFAULT_TITLE) -> None:
        """Make a chat; one that exists is left as it is, but for a title that was never given."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO chats (id, title, created) VALUES (?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET title = excluded.title WHERE title = ?",
                (chat_id, clean_text(title), time.time(), DEFAULT_TITLE),
            )

    def rename_chat(self, chat_id: str, title: str) -> None:
        """Give a chat another title; a chat that has nothing yet is made by it."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO chats (id, title, created) VALUES (?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET title = excluded.title",
                (chat_id, clean_text(title), time.time()),
            )

    def chats(self) -> list[ChatSummary]:
        """The chats with at least one message, the one with the newest message first."""
        with _plain_words(self._path):
            return [ChatSummary(*row) for row in self._connection.execute(_CHATS)]

    def chat(self, chat_id: str) -> StoredChat:
        """Title, settings and messages of one chat."""
        with _plain_words(self._path):
            query = "SELECT title, settings FROM chats WHERE id = ?"
            title, settings = self._connection.execute(query, (chat_id,)).fetchone() or (DEFAULT_TITLE, "")
            return StoredChat(title, _settings_from_json(settings), tuple(self.nodes(chat_id)))

    def save_settings(self, chat_id: str, settings: ChatSettings) -> None:
        """Keep what a chat asks of the model. The chat must exist."""
        text = json.dumps(asdict(clean_settings(settings)))
        with self._transaction() as db:
            db.execute("UPDATE chats SET settings = ? WHERE id = ?", (text, chat_id))

    # --- messages

    def nodes(self, chat_id: str) -> list[Node]:
        """The messages of a chat, oldest first."""
        with _plain_words(self._path):
            return [Node(*row) for row in self._connection.execute(_NODES, (chat_id,))]

    def save_node(self, node: Node) -> None:
        """Save one message, new or changed. Its chat and its parent must exist."""
        self.save_nodes((node,))

    def save_nodes(self, nodes: Iterable[Node]) -> None:
        """Save several messages, all or none."""
        with self._transaction() as db:
            db.executemany(_SAVE_NODE, (_row(node) for node in nodes))

    # --- tabs

    def tabs(self) -> list[OpenTab]:
        """The open tabs in the order of the strip."""
        query = "SELECT chat_id, position, draft, scroll, is_current FROM tabs ORDER BY position"
        with _plain_words(self._path):
            rows = self._connection.execute(query).fetchall()
        return [
            OpenTab(chat, position, draft, scroll, bool(current)) for chat, position, draft, scroll, current in rows
        ]

    def save_tabs(self, tabs: Iterable[OpenTab]) -> None:
        """Keep these tabs in place of those before."""
        rows = [astuple(replace(tab, draft=clean_text(tab.draft))) for tab in tabs]
        with self._transaction() as db:
            db.execute("DELETE FROM tabs")
            db.executemany(
                "INSERT OR REPLACE INTO tabs (chat_id, position, draft, scroll, is_current) VALUES (?, ?, ?, ?, ?)",
                rows,
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All of the block, or nothing of it."""
        db = self._connection
        with _plain_words(self._path):
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise


# --- values in and out


def _row(node: Node) -> tuple[Any, ...]:
    return astuple(replace(node, content=clean_text(node.content), error=clean_text(node.error)))


def _settings_from_json(text: str) -> ChatSettings:
    """The settings of a chat. What cannot be understood falls back to the defaults: a chat must open in any case."""
    if not text:
        return ChatSettings()
    try:
        values = json.loads(text)
        sampling = sampling_from_json(values.pop("sampling"))
        return ChatSettings(**{**values, "stop": tuple(values["stop"])}, sampling=sampling)
    except (ValueError, TypeError, KeyError, AttributeError, UserError):
        return ChatSettings()


# --- opening


def _connect(path: Path) -> sqlite3.Connection:
    if path.is_dir():
        raise _DamagedError("a folder lies in its place")
    # Made by us first, because SQLite would let everybody read it.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        _check_owner(connection)
        check_version(connection)
        _check_soundness(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        # Commits survive the end of the process; only a power cut can take the last ones, and never damages the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        migrate(connection)
        _recover_interrupted(connection)
    except BaseException as error:
        connection.close()
        if _means_damage(error):
            raise _DamagedError(str(error)) from error
        raise
    return connection


def _recover_interrupted(connection: sqlite3.Connection) -> None:
    """Mark the answers that were being written when the last process ended without saying so."""
    try:
        connection.execute("UPDATE nodes SET status = 'interrupted' WHERE status = 'streaming'")
    except sqlite3.OperationalError as error:
        if _primary_code(error) == sqlite3.SQLITE_ERROR:  # the table has gone, or is another than we made
            raise _DamagedError(str(error)) from error
        raise


def _check_owner(connection: sqlite3.Connection) -> None:
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    is_empty = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0] == 0
    if owner != APPLICATION_ID and not is_empty:
        raise _DamagedError("it is a database of another program")
    if (connection.execute("PRAGMA user_version").fetchone()[0] < 1) is not is_empty:
        raise _DamagedError("its format number does not go with its content")


def _check_soundness(connection: sqlite3.Connection) -> None:
    answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if answer != "ok":
        raise _DamagedError(answer)


def _set_aside(path: Path) -> Path:
    """Rename the file and what belongs to it. Another file is never overwritten."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.damaged-{stamp}-{number}")
    for suffix in ("-wal", "-shm", ""):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside


# --- errors in plain words


def _means_damage(error: BaseException) -> bool:
    if isinstance(error, UnicodeDecodeError):  # SQLite quotes the damaged bytes in its message, and Python chokes on it
        return True
    codes = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    return isinstance(error, sqlite3.DatabaseError) and _primary_code(error) in codes


def _primary_code(error: sqlite3.Error) -> int:
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


@contextmanager
def _plain_words(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say into a `StoreError` that a person can act on."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise StoreError(_damaged_text(path)) from error
    except sqlite3.Error as error:
        raise StoreError(_sqlite_text(error, path)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(
            f"The chat store {path} cannot be opened: {reason}. Check the folder's permissions."
        ) from error


def _sqlite_text(error: sqlite3.Error, path: Path) -> str:
    match _primary_code(error):
        case sqlite3.SQLITE_FULL:
            return f"The disk is full, so this is not saved yet. Free some space on the disk that holds {path.parent}."
        case sqlite3.SQLITE_IOERR:
            return f"The disk refused to write or read {path}. Check that it has room and works; this is not saved."
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"Another program is using the chat store {path}, so this is not saved. Close that program."
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN:
            return f"The chat store {path} cannot be written. Check the permissions of the file and its folder."
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return _damaged_text(path)
        case _:
            return f"The chat store {path} reports: {error}."


def _damaged_text(path: Path) -> str:
    return (
        f"The chat store {path} is damaged. Close llama-gui, keep a copy of the file, and move it away to begin anew."
    )
