"""The open file under the chat store, and its transactions."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from llama_gui.chats.plain_words import means_damaged_index, means_damaged_text, plain_words
from llama_gui.chats.search_schema import mend_search


class StoreFile:
    """The one connection that writes. Used from the thread that opened it, and from no other."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def _read(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with plain_words(self._path):
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All of the block, or nothing of it."""
        db = self._connection
        with plain_words(self._path):
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException as error:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                if means_damaged_index(error) or means_damaged_text(error):  # then the next try succeeds
                    with suppress(sqlite3.Error):
                        mend_search(db)
                raise
