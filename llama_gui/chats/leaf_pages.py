"""Messages and titles of a damaged store that no tree of pages leads to any more.

Rows lie on leaves, and a leaf alone is a sound table to SQLite. So each page that says that it is one becomes a table
of its own, in a file whose first page is new, and SQLite reads them as it reads any other.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, BinaryIO, get_args

from llama_gui.chats.migrations import migrate
from llama_gui.chats.record import TitleSource
from llama_gui.chats.rows import readable_text
from llama_gui.chats.search_schema import add_functions
from llama_gui.chats.tree import STATUSES
from llama_gui.vocabulary import ROLES

_MAGIC, _LEAF = b"SQLite format 3\0", b"\x0d"
_USUAL_PAGE = 4096
_COLUMNS = ", ".join("bcdefghijklmn")
_NODE = "INSERT OR IGNORE INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_CHAT = "INSERT OR IGNORE INTO chats VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
"""As the tables are: a row says nothing of its columns' names."""


def gather(damaged: Path) -> sqlite3.Connection:
    """A store in memory, with what the leaves of this file hold. The file, a copy, is written over.

    Free pages are passed over, unless the first page, which names them, is lost: they hold what was deleted for ever.

    Raises OSError and sqlite3.Error.
    """
    leaves = _make_tables(damaged)
    found = sqlite3.connect(":memory:", isolation_level=None)
    add_functions(found)
    migrate(found)
    for (trigger,) in found.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        found.execute(f"DROP TRIGGER {trigger}")  # nobody searches here
    with closing(sqlite3.connect(damaged, isolation_level=None)) as source:
        source.text_factory = readable_text
        for leaf in leaves:
            with suppress(sqlite3.Error):  # the rest of this one cannot be read
                for row in source.execute(f"SELECT * FROM leaf_{leaf}"):
                    with suppress(sqlite3.Error):  # not what our tables take
                        _take(found, row)
    return found


def _take(found: sqlite3.Connection, row: tuple[Any, ...]) -> None:
    """Put a row where it belongs; one of the search index, say, belongs nowhere."""
    if row[4] in ROLES and row[6] in STATUSES:
        *values, attachments = row[:13]
        found.execute(_NODE, (*values, attachments or ""))  # which came with a later format
    elif row[3] in get_args(TitleSource):
        found.execute(_CHAT, row)


def _make_tables(file: Path) -> list[int]:
    """Give the file a first page by which each leaf is a table; the numbers of the leaves."""
    with file.open("r+b") as pages:
        header = pages.read(100)
        size = _page_size(header)
        count = pages.seek(0, 2) // size
        free = _free_pages(pages, header, size, count)
        leaves = [page for page in range(2, count + 1) if page not in free and _read(pages, page, size, 1) == _LEAF]
        pages.seek(0)
        pages.write(_first_page(size, count))
        pages.truncate(count * size)
    with closing(sqlite3.connect(file, isolation_level=None)) as made:
        made.execute("PRAGMA writable_schema = ON")
        made.execute("BEGIN")
        made.executemany(
            "INSERT INTO sqlite_master VALUES ('table', :name, :name, :page, :sql)",
            (
                {"name": name, "page": leaf, "sql": f"CREATE TABLE {name}(a INTEGER PRIMARY KEY, {_COLUMNS})"}
                for leaf, name in ((leaf, f"leaf_{leaf}") for leaf in leaves)
            ),
        )
        made.execute("COMMIT")
    return leaves


def _first_page(size: int, count: int) -> bytes:
    """That of an empty database, which knows of `count` pages."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
        empty.execute(f"PRAGMA page_size = {size}")
        empty.execute("VACUUM")
        empty.execute("PRAGMA user_version = 1")  # else there is no page at all
        page = bytearray(empty.serialize()[:size])
    page[28:32] = count.to_bytes(4, "big")
    return bytes(page)


def _page_size(header: bytes) -> int:
    size = int.from_bytes(header[16:18], "big")
    return size if header.startswith(_MAGIC) and size in {512 << step for step in range(7)} else _USUAL_PAGE


def _free_pages(pages: BinaryIO, header: bytes, size: int, count: int) -> set[int]:
    """Those that hold only what was deleted, as far as they can be known."""
    free: set[int] = set()
    trunk = int.from_bytes(header[32:36], "big") if header.startswith(_MAGIC) else 0
    while 0 < trunk <= count and trunk not in free:
        free.add(trunk)
        numbers = list(_numbers(_read(pages, trunk, size, size)))
        trunk, held = numbers[0], numbers[1]
        free.update(numbers[2 : 2 + held])
    return free


def _numbers(page: bytes) -> Iterator[int]:
    return (int.from_bytes(page[at : at + 4], "big") for at in range(0, len(page) - 3, 4))


def _read(pages: BinaryIO, page: int, size: int, length: int) -> bytes:
    pages.seek((page - 1) * size)
    return pages.read(length)
