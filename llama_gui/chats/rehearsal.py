"""What is done with a chat store, done once and taken back: a store that would refuse every message is found at once.

One wrong bit in how a table or a trigger is described leaves a file that SQLite calls sound.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from llama_gui.chats.attachments import Attachment
from llama_gui.chats.bin import Bin
from llama_gui.chats.chat_list import ChatList
from llama_gui.chats.draft_files import DraftFiles
from llama_gui.chats.messages import Messages
from llama_gui.chats.open_tabs import OpenTabs
from llama_gui.chats.presets import Presets
from llama_gui.chats.search import search
from llama_gui.chats.tree import Node, OpenTab
from llama_gui.vocabulary import ChatSettings

_CHAT, _QUESTION, _ANSWER = "rehearsed-chat", "rehearsed-question", "rehearsed-answer"


class _Rehearsal(ChatList, Bin, Messages, OpenTabs, Presets, DraftFiles):
    """The store, but all in one transaction of somebody else's, and with SQLite's own errors."""

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        yield self._connection

    def _read(self, query: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        return self._connection.execute(query, values).fetchmany(1)  # of a large store only the beginning

    def run(self) -> None:
        """Everything that changes the store, and reads it."""
        self.create_chat(_CHAT)
        self.rename_chat(_CHAT, "A title")
        question = Node(_QUESTION, _CHAT, None, "user", "words", "complete", 0.0)
        self.save_nodes((question, Node(_ANSWER, _CHAT, _QUESTION, "assistant", "", "streaming", 0.0)))
        self.save_node(Node(_ANSWER, _CHAT, _QUESTION, "assistant", "words", "complete", 0.0))
        self.set_leaf(_CHAT, _ANSWER)
        self.pin_chat(_CHAT)
        self.archive_chat(_CHAT)
        self.move_chat(_CHAT, "")
        self.save_settings(_CHAT, ChatSettings())
        self.save_tabs((OpenTab(_CHAT, 0, "draft", 0.0, is_current=True),))
        self.save_draft_files(_CHAT, (Attachment("name", "text", 4),))
        self.save_preset(_CHAT, ChatSettings())
        self.delete_branch(_ANSWER)
        self.restore_branch(_ANSWER)
        self.delete_chat(_CHAT)
        self._look()
        self._connection.execute("DELETE FROM nodes WHERE id = ?", (_ANSWER,))
        self._connection.execute("DELETE FROM nodes WHERE id = ?", (_QUESTION,))
        self._connection.execute("DELETE FROM chats WHERE id = ?", (_CHAT,))

    def _look(self) -> None:
        self.chats()
        self.nodes(_CHAT)
        self.tabs()
        self.draft_files(_CHAT)
        self.presets()
        self.folders()
        self.untitled_chats()
        self.deleted_branches()
        search(self._connection, "words", 1)


def rehearse(connection: sqlite3.Connection, path: Path) -> None:
    """Do it all; afterwards the store is what it was.

    Raises:
        sqlite3.Error: something of it fails.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        _Rehearsal(connection, path).run()
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
