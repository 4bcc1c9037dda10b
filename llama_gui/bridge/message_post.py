"""Saves the user's messages: each must be on disk before a model is asked."""

from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.chat_card import ChatCard
from llama_gui.bridge.chat_news import ChatNews
from llama_gui.bridge.chat_saver import ChatSaver
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.chats.attachments import Draft
from llama_gui.chats.message_files import compose
from llama_gui.chats.shown_path import ShownPath
from llama_gui.chats.store import ChatStore
from llama_gui.chats.title import title_from
from llama_gui.chats.tree import DEFAULT_TITLE, Node, new_node


@dataclass(frozen=True, slots=True)
class Posted:
    """A message that is on disk and shown, and the end of the path that was shown before it."""

    node: Node
    former_leaf: str | None


@dataclass(frozen=True, slots=True)
class _Saved:
    node: Node
    title: str
    is_typed: bool


class MessagePost(QObject):
    """Saves the messages of one chat one at a time, and shows each. The first one names the chat."""

    posted = Signal(object)
    """`Posted`."""
    unsaved = Signal(str)
    """The message is nowhere, and why."""

    def __init__(
        self, chat_id: str, path: ShownPath, card: ChatCard, store: StoreLane, saver: ChatSaver, news: ChatNews
    ) -> None:
        super().__init__(news)
        self._chat_id = chat_id
        self._path = path
        self._card = card
        self._store = store
        self._saver = saver
        self._news = news

    def save(self, draft: Draft, replaces: Node | None = None, *, is_typed: bool = True) -> None:
        """Put a message behind the last one, or in the place of another.

        `is_typed`: the composer still holds it, and is to be told that it may forget it.
        """
        path = self._path.nodes()
        # A message that was refused is not sent along with the next one, which takes its place instead.
        if replaces is None and path and path[-1].role == "user" and path[-1].status == "failed":
            replaces = path[-1]
        parent_id = replaces.parent_id if replaces is not None else path[-1].id if path else None
        text, where = compose(draft.text, draft.files, draft.sources, in_vain=draft.in_vain)
        node = replace(new_node(self._chat_id, "user", text, "complete", parent_id), attachments=where)
        is_first = len(self._path.tree) == 0 and self._card.title == DEFAULT_TITLE
        title = _title_of(draft) if is_first else self._card.title
        settings = self._card.settings if is_first else None  # settings from a preset are not saved yet

        unsaved = self._saver.pending  # perhaps with its parent, an answer that was edited just now

        def save(store: ChatStore) -> _Saved:
            store.create_chat(node.chat_id, title)
            store.save_nodes((*unsaved, node))
            store.set_leaf(node.chat_id, node.id)  # shown after a restart, too, also if no answer ever begins
            if settings is not None:
                store.save_settings(node.chat_id, settings)
            return _Saved(node, title, is_typed)

        self._store.run(save, self._on_saved, self._on_refused)

    @Slot(object)
    def _on_saved(self, saved: _Saved) -> None:
        node, former_leaf = saved.node, self._path.leaf
        superseded = former_leaf is not None and former_leaf != node.parent_id
        self._path.add(node)
        if self._card.title == DEFAULT_TITLE:  # else it got another name meanwhile
            self._card.show_title(saved.title)
        if saved.is_typed:
            self._news.accepted.emit()
        if superseded:
            self._news.changed.emit()
        else:
            self._news.message_added.emit(node)
        self.posted.emit(Posted(node, former_leaf))

    @Slot(object)
    def _on_refused(self, error: Exception) -> None:
        self.unsaved.emit(str(error))


def _title_of(draft: Draft) -> str:
    return title_from(draft.text if draft.text.strip() else ", ".join(file.name for file in draft.files))
