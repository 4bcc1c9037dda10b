"""Taking imported chats into the store: each whole or not at all, and none twice."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from llama_gui.chats.chat_list import refresh_summary
from llama_gui.chats.chat_settings import settings_to_json
from llama_gui.chats.importers.building import stable_id
from llama_gui.chats.record import ChatRecord
from llama_gui.chats.rows import ADD_NODE, node_row
from llama_gui.chats.store_file import StoreFile
from llama_gui.chats.tree import Node, clean_text
from llama_gui.errors import StoreError

if TYPE_CHECKING:
    from llama_gui.chats.importers.reading import FoundChats

_AT_ONCE = 500  # ids in one question to SQLite, which bounds how many values it takes


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What became of one imported chat: whether it is new, how many messages came, whether it lies in the bin."""

    is_new: bool
    messages: int
    in_bin: bool = False


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of an import: how many chats were added, got new messages, were there already; and what was not."""

    kind: str
    added: int = 0
    extended: int = 0
    unchanged: int = 0
    messages: int = 0
    skipped: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """One line for the user; `skipped` and `left_out` say the rest."""
        parts = [f"chats added: {self.added}"]
        for words, number in (("with new messages", self.extended), ("here already", self.unchanged)):
            parts += [f"{words}: {number}"] if number else []
        parts.append(f"messages: {self.messages}")
        parts += [f"not taken over: {len(self.skipped)}"] if self.skipped else []
        return f"{self.kind} – {', '.join(parts)}."


class Intake(StoreFile):
    """The part of the store that takes chats in."""

    def import_chats(self, found: "FoundChats") -> ImportReport:
        """Take the chats of a file in, one after the other.

        Raises:
            StoreError: the store cannot be written. The chats before are in; doing it again goes on from there.
        """
        added = extended = unchanged = messages = 0
        skipped = list(found.skipped)
        for chat in found.chats:
            try:
                taken = self.import_chat(chat)
            except StoreError as error:
                raise StoreError(f"{error} Chats imported before that: {added}. Do it again for the rest.") from error
            added, extended = added + taken.is_new, extended + (taken.messages > 0 and not taken.is_new)
            unchanged, messages = unchanged + (taken.messages == 0), messages + taken.messages
            if taken.in_bin:
                skipped.append(f"“{chat.title}” lies in the bin. Take it out of there to see it.")
        return ImportReport(found.kind, added, extended, unchanged, messages, tuple(skipped), found.left_out)

    def import_chat(self, chat: ChatRecord) -> TakenIn:
        """Take a chat in. One that is here already gets the messages that it does not have, and stays as it is else."""
        with self._transaction() as db:
            nodes, leaf_id = _with_free_ids(db, chat)
            is_new = _add_chat(db, chat)
            before = db.total_changes
            count = db.execute("SELECT COUNT(*) FROM nodes WHERE chat_id = ?", (chat.id,)).fetchone()[0]
            db.executemany(ADD_NODE, (node_row(node) for node in nodes))
            if db.total_changes == before:
                messages = 0
            else:
                messages = db.execute("SELECT COUNT(*) FROM nodes WHERE chat_id = ?", (chat.id,)).fetchone()[0] - count
                db.execute("UPDATE chats SET leaf_id = ? WHERE id = ?", (leaf_id, chat.id))
                refresh_summary(db, chat.id)
            in_bin = db.execute("SELECT deleted IS NOT NULL FROM chats WHERE id = ?", (chat.id,)).fetchone()[0]
            return TakenIn(is_new, messages, bool(in_bin))


def _add_chat(db: sqlite3.Connection, chat: ChatRecord) -> bool:
    added = db.execute(
        "INSERT OR IGNORE INTO chats (id, title, title_source, created, settings, folder, pinned, archived)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            chat.id,
            clean_text(chat.title),
            chat.title_source,
            chat.created,
            settings_to_json(chat.settings),
            chat.folder,
            int(chat.pinned),
            int(chat.archived),
        ),
    )
    return added.rowcount > 0


def _with_free_ids(db: sqlite3.Connection, chat: ChatRecord) -> tuple[Sequence[Node], str | None]:
    """The nodes and the shown leaf. An id that a message of another chat has (it was copied) becomes a free one."""
    ids = [node.id for node in chat.nodes]
    taken: set[str] = set()
    for begin in range(0, len(ids), _AT_ONCE):
        some = ids[begin : begin + _AT_ONCE]
        query = f"SELECT id FROM nodes WHERE chat_id <> ? AND id IN ({', '.join('?' * len(some))})"
        taken.update(row[0] for row in db.execute(query, (chat.id, *some)))
    if not taken:
        return chat.nodes, chat.leaf_id
    new = {node_id: stable_id(chat.id, node_id) for node_id in taken}
    nodes = [
        replace(node, id=new.get(node.id, node.id), parent_id=new.get(node.parent_id or "", node.parent_id))
        for node in chat.nodes
    ]
    return nodes, new.get(chat.leaf_id or "", chat.leaf_id)
