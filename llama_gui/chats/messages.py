"""The messages in the chat store."""

from collections.abc import Iterable

from llama_gui.chats.rows import NODE_COLUMNS, SAVE_NODE, node_row
from llama_gui.chats.store_file import StoreFile
from llama_gui.chats.tree import Node, sound_nodes

_NODES = f"SELECT {NODE_COLUMNS} FROM nodes WHERE chat_id = ? AND deleted IS NULL ORDER BY seq"


class Messages(StoreFile):
    """The part of the store that keeps what was said."""

    def nodes(self, chat_id: str) -> list[Node]:
        """The messages of a chat that are not in the bin, oldest first."""
        return sound_nodes(Node(*row) for row in self._read(_NODES, (chat_id,)))

    def save_node(self, node: Node) -> None:
        """Save one message, new or changed. Its chat and its parent must exist."""
        self.save_nodes((node,))

    def save_nodes(self, nodes: Iterable[Node]) -> None:
        """Save several messages, all or none."""
        with self._transaction() as db:
            db.executemany(SAVE_NODE, (node_row(node) for node in nodes))
