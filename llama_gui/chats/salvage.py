"""Reading what can be read of a damaged chat store, row by row, into a new one."""

import errno
import logging
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llama_gui.chats.chat_list import refresh_summary
from llama_gui.chats.leaf_pages import gather
from llama_gui.chats.log_check import log_of
from llama_gui.chats.plain_words import primary_code
from llama_gui.chats.rows import ADD_NODE, NODE_COLUMNS, SAVE_NODE, node_row, readable_text
from llama_gui.chats.title import title_from
from llama_gui.chats.tree import Node, sound_nodes

_log = logging.getLogger(__name__)

_CHAT_COLUMNS = (
    "id", "title", "title_source", "created", "settings", "pinned", "folder", "archived", "deleted", "leaf_id",
)  # fmt: skip
_COPY = "copy.db"
_COPIES = ".salvage-"
_LONGEST_S = 600.0
_OTHER_TABLES = {
    "tabs": ("chat_id", "position", "draft", "scroll", "is_current"),
    "presets": ("name", "settings"),
    "draft_files": ("chat_id", "position", "name", "size", "text"),
}


@dataclass(frozen=True, slots=True)
class Salvaged:
    """How much came over into the new store."""

    chats: int = 0
    messages: int = 0


def salvage(damaged: Path, target: sqlite3.Connection) -> Salvaged:
    """Copy what can be read into the new and empty store `target`. The damaged file is not touched.

    What cannot be read is left out, and if nothing can, nothing is.

    Raises:
        OSError, sqlite3.Error: there is no room on the disk, or it refuses. With more room there may be more to read.
    """
    if not damaged.is_file():
        return Salvaged()
    with ExitStack() as opened:
        sources: list[sqlite3.Connection] = []
        for way in (_opened, _leaves):
            with _told(damaged):
                sources.append(opened.enter_context(way(damaged)))
        chats: dict[str, dict[str, Any]] = {}
        for source in reversed(sources):
            chats |= _chats(source)
        for source in sources:  # what the first has, the second leaves as it is
            with _told(damaged):
                _copy(source, target, chats)
    return Salvaged(*target.execute("SELECT COUNT(DISTINCT chat_id), COUNT(*) FROM nodes").fetchone())


def give_back(backup: Path, target: sqlite3.Connection) -> Salvaged:
    """Add what a backup holds to a store, all or none of it. What the store has already stays as it is.

    Raises OSError and sqlite3.Error.
    """
    with _opened(backup) as source:
        return _copy(source, target, _chats(source))


@contextmanager
def _told(damaged: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # also a fault of ours: the other way may lead to something, and the file is kept
        if _is_of_the_disk(error):
            raise
        _log.warning("%s could not be recovered in one of two ways: %r", damaged, error)


def _is_of_the_disk(error: Exception) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)
    return isinstance(error, sqlite3.Error) and primary_code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def drop_copies(folder: Path) -> None:
    """Remove the copies that a process has left which ended while it read them."""
    for copy in folder.glob(f"{_COPIES}*"):
        with suppress(OSError):
            if abs(time.time() - copy.stat().st_mtime) > _LONGEST_S:  # else somebody may still read it
                shutil.rmtree(copy)


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """A copy, because SQLite changes a file whose log it finds."""
    with tempfile.TemporaryDirectory(prefix=_COPIES, dir=file.parent) as folder:
        copy = Path(folder, _COPY)
        shutil.copyfile(file, copy)
        if log_of(file).exists():
            shutil.copyfile(log_of(file), log_of(copy))
        with closing(sqlite3.connect(copy, isolation_level=None)) as source:
            source.text_factory = readable_text
            source.execute("PRAGMA writable_schema = ON")  # read on although a part of the schema is broken
            yield source


@contextmanager
def _leaves(damaged: Path) -> Iterator[sqlite3.Connection]:
    """What its leaves hold, whether or not a tree leads to them."""
    with _opened(damaged) as source:
        with suppress(sqlite3.Error):  # so that what stands in the log is in the file
            source.execute("PRAGMA journal_mode = DELETE")
        place = Path(source.execute("PRAGMA database_list").fetchone()[2])
        source.close()
        with closing(gather(place)) as found:
            yield found


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, chats: Mapping[str, dict[str, Any]]) -> Salvaged:
    target.execute("BEGIN IMMEDIATE")
    try:
        drafts = {row[0] for row in target.execute("SELECT chat_id FROM tabs UNION SELECT chat_id FROM draft_files")}
        salvaged = messages = 0
        for chat_id, seqs in _seqs_by_chat(source).items():
            count = _copy_chat(source, target, chat_id, chats.get(chat_id), seqs)
            salvaged, messages = salvaged + (count > 0), messages + count
        for table, columns in _OTHER_TABLES.items():
            for row in _rows(source, table, columns):
                if table != "draft_files" or row.get("chat_id") not in drafts:  # never beside another draft
                    _insert(target, table, row)
        target.execute("COMMIT")
        return Salvaged(salvaged, messages)
    except BaseException:
        if target.in_transaction:
            target.execute("ROLLBACK")
        raise


def _copy_chat(
    source: sqlite3.Connection, target: sqlite3.Connection, chat_id: str, chat: dict[str, Any] | None, seqs: list[int]
) -> int:
    columns = [name.strip() for name in NODE_COLUMNS.split(",")]
    rows = [row for seq in seqs for row in _rows(source, "nodes", (*columns, "deleted"), "seq = ?", seq)]
    in_bin = [(row.pop("deleted"), row["id"]) for row in rows if row.get("deleted") is not None]
    nodes = sound_nodes(node for row in rows if (node := _node(row)))
    if not nodes:
        return 0
    mine = target.execute(
        f"SELECT {NODE_COLUMNS}, deleted FROM nodes WHERE chat_id = ? ORDER BY seq", (chat_id,)
    ).fetchall()
    if {node.id for node in nodes} <= {row[0] for row in mine}:
        return 0
    title = title_from(next((node.content for node in nodes if node.role == "user"), ""))
    lost = {"id": chat_id, "title": title, "title_source": "first", "created": nodes[0].created}
    if not (chat and _insert(target, "chats", chat)):
        _insert(target, "chats", lost)
    # What the target has of the chat is put in again behind the rest, so that no message is older than its parent.
    # One by one, the newest first: SQLite would go down from each to those under it by recursion, which has an end.
    target.executemany("DELETE FROM nodes WHERE id = ?", [(row[0],) for row in reversed(mine)])
    target.executemany(ADD_NODE, (node_row(node) for node in nodes))
    target.executemany(SAVE_NODE, (row[:-1] for row in mine))
    target.executemany("UPDATE nodes SET deleted = ? WHERE id = ?", [*in_bin, *((row[-1], row[0]) for row in mine)])
    refresh_summary(target, chat_id)
    return target.execute("SELECT COUNT(*) FROM nodes WHERE chat_id = ?", (chat_id,)).fetchone()[0] - len(mine)


def _node(row: dict[str, Any]) -> Node | None:
    row.pop("deleted", None)
    texts = all(isinstance(value, str) for name, value in row.items() if name not in ("parent_id", "created"))
    if not texts or not isinstance(row.get("created"), float):
        return None
    try:
        return Node(**row)
    except TypeError:  # a column is not there, because its name is damaged
        return None


# --- reading


def _chats(source: sqlite3.Connection) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in _rows(source, "chats", _CHAT_COLUMNS) if isinstance(row.get("id"), str)}


def _seqs_by_chat(source: sqlite3.Connection) -> dict[str, list[int]]:
    """Chat -> its messages' numbers, the chat with the newest message last.

    Read from both ends of the table and from the index: where one way ends at the damage, another may come from
    behind it.
    """
    ways = ("NOT INDEXED ORDER BY seq", "NOT INDEXED ORDER BY seq DESC", "INDEXED BY nodes_by_chat")
    chat_of: dict[int, str] = {}
    for way in ways:
        for seq, chat_id in _read_on(source, f"SELECT seq, chat_id FROM nodes {way}"):
            if isinstance(chat_id, str):
                chat_of.setdefault(seq, chat_id)
    found: dict[str, list[int]] = {}
    for seq in sorted(chat_of, reverse=True):
        found.setdefault(chat_of[seq], []).insert(0, seq)
    return dict(reversed(found.items()))


def _rows(
    source: sqlite3.Connection, table: str, columns: tuple[str, ...], where: str = "1 = ?", value: int = 1
) -> Iterator[dict[str, Any]]:
    """The rows that can be read, with those of the columns that an older format has too."""
    there = {row[1] for row in _read_on(source, f"PRAGMA table_info({table})")}
    names = [name for name in columns if name in there]
    if not names:
        return
    query = f"SELECT {', '.join(names)} FROM {table} NOT INDEXED WHERE {where}"
    for row in _read_on(source, query, value):
        yield dict(zip(names, row, strict=True))


def _read_on(source: sqlite3.Connection, query: str, *values: int) -> Iterator[tuple[Any, ...]]:
    """The rows up to the damage."""
    try:
        yield from source.execute(query, values)
    except sqlite3.Error as error:
        _log.info("%s ends at damage: %s", query, error)


def _insert(target: sqlite3.Connection, table: str, row: dict[str, Any]) -> bool:
    """Put a row in, unless damage has made it one that the new table refuses."""
    query = f"INSERT OR IGNORE INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
    try:
        return target.execute(query, tuple(row.values())).rowcount > 0
    except sqlite3.IntegrityError:
        return False
