"""What the passages of a folder mean, as vectors of a model for embeddings, to be compared with that of a question.

Vectors have length one, so their product is the cosine of the angle between them: 1 means the same.
"""

import heapq
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llama_gui.chats.folder_index import FolderIndex
from llama_gui.chats.passages import Found, Passage

if TYPE_CHECKING:
    import numpy as np

DIMENSIONS = 256
"""Of a vector so many numbers are kept, its first: in models that were trained for it (Matryoshka representation
learning, Kusupati et al. 2022) they find almost what all find, and 200,000 passages take 100 MB instead of 800."""
_VERSION = 1
"""Of what vectors are made of: `Unread.said`."""
_BLOCK = 8192
"""Vectors that are compared at once: 8 MB as float32."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A passage without a vector: its number in the index, the name of its file, its text."""

    id: int
    name: str
    text: str

    @property
    def said(self) -> str:
        """What its vector is made of: a file's name often says what its passages are about."""
        return f"{self.name}\n{self.text}"


class FolderVectors:
    """The vectors in the file of an index. Every method may be called from any thread.

    `stamp`: what makes the vectors. Those of something else are worth nothing beside them, and are deleted by the first
    `missing` or `put`.
    """

    def __init__(self, index: FolderIndex, stamp: str) -> None:
        self._index = index
        self._stamp = f"{stamp} · {DIMENSIONS} · {_VERSION}"

    def progress(self) -> tuple[int, int]:
        """How many passages have a vector, and how many there are.

        Raises:
            StoreError: the file cannot be read.
        """
        with self._index.opened() as db:
            _prepare(db)
            done = db.execute("SELECT count(*) FROM vectors").fetchone()[0] if self._is_ours(db) else 0
            return done, db.execute("SELECT count(*) FROM passages").fetchone()[0]

    def missing(self, most: int) -> list[Unread]:
        """At most so many passages without a vector, in the order in which they were read.

        Raises:
            StoreError: the file cannot be read or written.
        """
        with self._index.opened() as db:
            self._claim(db)
            rows = db.execute(
                "SELECT passages.id, files.name, passages.text FROM passages JOIN files ON files.id = passages.file"
                " WHERE passages.id NOT IN (SELECT id FROM vectors) ORDER BY passages.id LIMIT ?",
                (most,),
            )
            return [Unread(*row) for row in rows]

    def put(self, read: Sequence[tuple[Unread, Sequence[float]]]) -> None:
        """Keep vectors of length one. That of a passage which has changed meanwhile is dropped.

        Raises:
            StoreError: the file cannot be written.
        """
        import numpy as np  # here: the window shows sooner

        with self._index.opened() as db:
            self._claim(db)
            db.execute("BEGIN IMMEDIATE")
            with db:
                for unread, vector in read:
                    numbers = np.asarray(vector[:DIMENSIONS], "<f2").tobytes()
                    db.execute(  # numbers of passages are given again, so the text has to be the same, too
                        "INSERT OR REPLACE INTO vectors (id, numbers) SELECT id, ? FROM passages"
                        " WHERE id = ? AND text = ? AND file = (SELECT id FROM files WHERE name = ?)",
                        (numbers, unread.id, unread.text, unread.name),
                    )

    def nearest(self, vector: Sequence[float], most: int) -> list[Found]:
        """At most so many passages whose vectors point the same way, the nearest first; the score is the cosine.

        All vectors are compared (exact search): 200,000 take some tenths of a second and some megabytes.

        Raises:
            StoreError: the file cannot be read.
        """
        import numpy as np  # here: the window shows sooner

        wanted = np.asarray(vector[:DIMENSIONS], "<f4")
        near: list[tuple[float, int]] = []
        with self._index.opened() as db:
            _prepare(db)
            if not self._is_ours(db):
                return []
            for ids, vectors in _blocks(db, len(wanted)):
                cosines = vectors @ wanted
                best = np.argpartition(-cosines, most)[:most] if len(ids) > most else range(len(ids))
                near = heapq.nlargest(most, [*near, *((float(cosines[n]), ids[n]) for n in best)])
            found = ((_found(db, number, cosine)) for cosine, number in near)
            return [one for one in found if one is not None]

    # --- the tables

    def _is_ours(self, db: sqlite3.Connection) -> bool:
        return db.execute("SELECT 1 FROM vectors_about WHERE stamp = ?", (self._stamp,)).fetchone() is not None

    def _claim(self, db: sqlite3.Connection) -> None:
        """Delete what something else has made."""
        _prepare(db)
        if self._is_ours(db):
            return
        db.execute("BEGIN IMMEDIATE")
        with db:
            db.execute("DELETE FROM vectors")
            db.execute("DELETE FROM vectors_about")
            db.execute("INSERT INTO vectors_about (stamp) VALUES (?)", (self._stamp,))


def _prepare(db: sqlite3.Connection) -> None:
    """The tables, also in an index of a version that had none."""
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'vectors_go'").fetchone() is not None:
        return
    db.execute("BEGIN IMMEDIATE")
    with db:
        db.execute("CREATE TABLE IF NOT EXISTS vectors_about (stamp TEXT NOT NULL) STRICT")
        db.execute("CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, numbers BLOB NOT NULL) STRICT")
        db.execute(
            "CREATE TRIGGER IF NOT EXISTS vectors_go AFTER DELETE ON passages"
            " BEGIN DELETE FROM vectors WHERE id = old.id; END"
        )


def _blocks(db: sqlite3.Connection, numbers: int) -> "Iterator[tuple[list[int], np.ndarray]]":
    """Numbers of passages, and their vectors, float32 ``[passages, numbers]``."""
    import numpy as np

    rows = db.execute("SELECT id, numbers FROM vectors WHERE length(numbers) = ?", (2 * numbers,))
    while block := rows.fetchmany(_BLOCK):
        stored = np.frombuffer(b"".join(row[1] for row in block), "<f2")
        yield [row[0] for row in block], stored.reshape(len(block), numbers).astype("<f4")


def _found(db: sqlite3.Connection, number: int, score: float) -> Found | None:
    row = db.execute(
        "SELECT files.name, passages.place, files.passages, passages.mark, passages.text FROM passages"
        " JOIN files ON files.id = passages.file WHERE passages.id = ?",
        (number,),
    ).fetchone()
    return None if row is None else Found(row[0], row[1], row[2], Passage(row[4], row[3]), score)
