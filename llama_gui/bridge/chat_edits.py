"""What changes a chat without asking the engine: versions, edited answers, branches that go and come back, forks."""

import time
import uuid
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.chat_saver import ChatSaver
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.chats.shown_path import ShownPath
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import Node, clean_text
from llama_gui.vocabulary import ChatSettings


class ChatEdits(QObject):
    """The edits of one chat. All methods are called on the GUI thread and return at once."""

    changed = Signal()
    """Another path is shown, or the shown one has changed."""
    forked = Signal(str)
    """The id of a new chat, which is on disk."""
    branch_deleted = Signal(str)
    """The message whose branch went into the bin; `restore_branch` brings it back."""
    failed = Signal(str)

    def __init__(
        self, chat_id: str, path: ShownPath, store: StoreLane, saver: ChatSaver, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._chat_id = chat_id
        self._path = path
        self._store = store
        self._saver = saver

    def show_version(self, node_id: str, by: int) -> None:
        """Show the version of a message that is `by` places further; does nothing at the ends."""
        sibling = self._path.sibling(node_id, by)
        if sibling is not None:
            self._path.show(sibling)
            self.remember_leaf()
            self.changed.emit()

    def show_message(self, node_id: str) -> bool:
        """Show a path that a message is on; False when the chat does not hold it."""
        if node_id not in self._path.tree:
            return False
        if all(node.id != node_id for node in self._path.nodes()):
            self._path.show(node_id)
            self.remember_leaf()
            self.changed.emit()
        return True

    def edit_answer(self, node_id: str, text: str) -> None:
        """Put another text in the place of an answer; the old one stays as a version."""
        old = self._path.tree[node_id]
        text = clean_text(text)
        if text == old.content:
            return
        # Without recipe and error: they belong to the other text.
        node = replace(
            old, id=uuid.uuid4().hex, content=text, status="complete", created=time.time(), recipe="", error=""
        )
        self._path.add(node)
        self._saver.save_soon(node)
        self.remember_leaf()
        self.changed.emit()

    @Slot()
    def remember_leaf(self) -> None:
        """Keep which path is shown for the next time."""
        chat_id, leaf = self._chat_id, self._path.leaf
        self._saver.flush()  # the leaf itself must be there first
        self._store.run(lambda store: store.set_leaf(chat_id, leaf), None, None)

    # --- branches

    def delete_branch(self, node_id: str) -> None:
        """Put a message and everything behind it into the bin."""
        self._saver.flush()
        chat_id = self._chat_id

        def delete(store: ChatStore) -> tuple[str, tuple[Node, ...]]:
            store.delete_branch(node_id)
            return node_id, store.chat(chat_id).nodes

        self._store.run(delete, self._on_deleted, self._on_failed)

    def restore_branch(self, node_id: str) -> None:
        """Bring a branch back out of the bin, and show it."""
        chat_id = self._chat_id

        def restore(store: ChatStore) -> tuple[str, tuple[Node, ...]]:
            store.restore_branch(node_id)
            return node_id, store.chat(chat_id).nodes

        self._store.run(restore, self._on_restored, self._on_failed)

    @Slot(object)
    def _on_deleted(self, result: tuple[str, tuple[Node, ...]]) -> None:
        node_id, nodes = result
        parent_id = self._path.tree[node_id].parent_id if node_id in self._path.tree else None
        self._path.reset(nodes)
        self._path.show(parent_id if parent_id is not None and parent_id in self._path.tree else None)
        self.remember_leaf()
        self.changed.emit()
        self.branch_deleted.emit(node_id)

    @Slot(object)
    def _on_restored(self, result: tuple[str, tuple[Node, ...]]) -> None:
        node_id, nodes = result
        self._path.reset(nodes)
        if node_id in self._path.tree:
            self._path.show(node_id)
        self.remember_leaf()
        self.changed.emit()

    # --- forks

    def fork(self, node_id: str, title: str, settings: ChatSettings) -> None:
        """Begin a new chat with the messages up to this one, in the same folder; `forked` tells its id."""
        self._saver.flush()
        chat_id, origin = uuid.uuid4().hex, self._chat_id
        nodes = _copies(self._path.tree.path(node_id), chat_id)

        def save(store: ChatStore) -> str:
            store.create_chat(chat_id, title)
            store.save_nodes(nodes)
            store.save_settings(chat_id, settings)
            store.move_chat(chat_id, store.folder_of(origin))
            return chat_id

        self._store.run(save, self._on_forked, self._on_failed)

    @Slot(object)
    def _on_forked(self, chat_id: str) -> None:
        if not self._store.closed:  # else it is in the list at the next start
            self.forked.emit(chat_id)

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(str(error))


def _copies(nodes: list[Node], chat_id: str) -> list[Node]:
    """The same messages for another chat, one behind the other."""
    copies: list[Node] = []
    for node in nodes:
        parent_id = copies[-1].id if copies else None
        status = "interrupted" if node.status == "streaming" else node.status
        copies.append(replace(node, id=uuid.uuid4().hex, chat_id=chat_id, parent_id=parent_id, status=status))
    return copies
