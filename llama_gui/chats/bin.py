"""The bin: what is deleted can be had back for a while."""

import sqlite3
import time
from dataclasses import dataclass

from llama_gui.chats.chat_list import refresh_summary
from llama_gui.chats.store_file import StoreFile

KEPT_S = 30 * 24 * 3600.0
"""How long the bin keeps what is in it."""

# UNION, not UNION ALL: it also ends where damage has made a circle.
_BELOW = """
    id IN (WITH RECURSIVE branch(id) AS (
        VALUES (:node) UNION SELECT nodes.id FROM nodes JOIN branch ON nodes.parent_id = branch.id)
    SELECT id FROM branch)
"""
_ABOVE = """
    id IN (WITH RECURSIVE above(id) AS (
        VALUES (:node) UNION SELECT nodes.parent_id FROM nodes JOIN above ON nodes.id = above.id
        WHERE nodes.parent_id IS NOT NULL)
    SELECT id FROM above)
"""
_BRANCHES_IN_BIN = """
    SELECT top.chat_id, top.id, chats.title, substr(top.content, 1, 200), top.deleted FROM nodes AS top
    JOIN chats ON chats.id = top.chat_id LEFT JOIN nodes AS parent ON parent.id = top.parent_id
    WHERE top.deleted IS NOT NULL AND chats.deleted IS NULL AND parent.deleted IS NOT top.deleted
    ORDER BY top.deleted DESC, top.seq DESC
"""


@dataclass(frozen=True, slots=True)
class DeletedBranch:
    """A branch in the bin: its chat, its first message, the chat's title, how that message begins, since when."""

    chat_id: str
    node_id: str
    title: str
    beginning: str
    deleted: float


def purge(db: sqlite3.Connection, before: float) -> int:
    """Delete for ever what came into the bin before this time. How many chats and branches' messages that were.

    Messages go one by one, the newest first: SQLite would go down from a message to those under it by recursion, which
    ends at a depth of 1000.
    """
    chats = [row[0] for row in db.execute("SELECT id FROM chats WHERE deleted < ?", (before,))]
    branches = db.execute("SELECT seq FROM nodes WHERE deleted < ? ORDER BY seq DESC", (before,)).fetchall()
    db.executemany("DELETE FROM nodes WHERE seq = ?", branches)
    for chat_id in chats:
        rows = db.execute("SELECT seq FROM nodes WHERE chat_id = ? ORDER BY seq DESC", (chat_id,)).fetchall()
        db.executemany("DELETE FROM nodes WHERE seq = ?", rows)
        db.execute("DELETE FROM tabs WHERE chat_id = ?", (chat_id,))
        db.execute("DELETE FROM chats WHERE id = ?", (chat_id,))
    return len(chats) + len(branches)


class Bin(StoreFile):
    """The part of the store that is about deleting."""

    def delete_chat(self, chat_id: str) -> None:
        """Put a chat into the bin."""
        with self._transaction() as db:
            db.execute("UPDATE chats SET deleted = ? WHERE id = ? AND deleted IS NULL", (time.time(), chat_id))

    def restore_chat(self, chat_id: str) -> None:
        """Take a chat out of the bin."""
        with self._transaction() as db:
            db.execute("UPDATE chats SET deleted = NULL WHERE id = ?", (chat_id,))

    def delete_branch(self, node_id: str) -> int:
        """Put a message and all below it into the bin. How many messages that were."""
        query = f"UPDATE nodes SET deleted = :now WHERE deleted IS NULL AND {_BELOW}"
        with self._transaction() as db:
            count = db.execute(query, {"node": node_id, "now": time.time()}).rowcount
            self._refresh_chat_of(db, node_id)
            return count

    def restore_branch(self, node_id: str) -> int:
        """Take a message out of the bin with what went there together with it. How many messages that were.

        What it hangs on comes back too, if that was deleted later. A part that was deleted before stays in the bin.
        """
        with self._transaction() as db:
            row = db.execute("SELECT deleted FROM nodes WHERE id = ?", (node_id,)).fetchone()
            if row is None or row[0] is None:
                return 0
            below = f"UPDATE nodes SET deleted = NULL WHERE deleted = :when AND {_BELOW}"
            above = f"UPDATE nodes SET deleted = NULL WHERE deleted IS NOT NULL AND {_ABOVE}"
            count = db.execute(below, {"node": node_id, "when": row[0]}).rowcount
            count += db.execute(above, {"node": node_id}).rowcount
            self._refresh_chat_of(db, node_id)
            return count

    def deleted_branches(self) -> list[DeletedBranch]:
        """The branches in the bin whose chats are not, the last one first."""
        return [DeletedBranch(*row) for row in self._read(_BRANCHES_IN_BIN)]

    def empty_bin(self, older_than: float | None = None) -> int:
        """Delete for ever what came into the bin before this time (None: all). How many chats and messages."""
        with self._transaction() as db:
            return purge(db, float("inf") if older_than is None else older_than)

    @staticmethod
    def _refresh_chat_of(db: sqlite3.Connection, node_id: str) -> None:
        row = db.execute("SELECT chat_id FROM nodes WHERE id = ?", (node_id,)).fetchone()
        if row is not None:
            refresh_summary(db, row[0])
