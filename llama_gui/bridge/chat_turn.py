"""Whose turn it is in a chat: it is busy from sending a message to the end of its answer; further messages wait."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.answer_flight import AnswerEnd, AnswerFlight
from llama_gui.bridge.asking import AskedChat, Question
from llama_gui.bridge.chat_card import ChatCard
from llama_gui.bridge.chat_news import ChatNews
from llama_gui.bridge.document_recall import DocumentRecall
from llama_gui.bridge.message_post import MessagePost, Posted
from llama_gui.bridge.message_queue import MessageQueue
from llama_gui.bridge.tool_turn import ToolTurn
from llama_gui.chats.attachments import Draft
from llama_gui.chats.shown_path import ShownPath
from llama_gui.chats.tree import Node
from llama_gui.vocabulary import ChatSettings

MOST_ROUNDS = 25
"""How many times in a row a model may call tools for one question."""


@dataclass(frozen=True, slots=True)
class _Coming:
    """A message whose passages are being chosen, and the message that it will replace."""

    draft: Draft
    replaces: Node | None


class ChatTurn(QObject):
    """Lets one message, or one repeated question, through at a time: to the disk, to the engine, answered; then the
    next.

    Before it is saved a message gets its passages. All methods are called on the GUI thread and return at once.
    """

    answered = Signal()
    """An answer has ended: what is only in memory should be written now."""
    freed = Signal()
    """Nothing is on its way any more; told after `answering_changed`."""

    def __init__(
        self,
        chat_id: str,
        path: ShownPath,
        card: ChatCard,
        recall: DocumentRecall,
        post: MessagePost,
        flight: AnswerFlight,
        tools: ToolTurn,
        news: ChatNews,
    ) -> None:
        super().__init__(news)
        self._chat_id = chat_id
        self._path = path
        self._card = card
        self._recall = recall
        self._post = post
        self._flight = flight
        self._tools = tools
        self._rounds = 0
        self._caller = ""  # the key of the model whose calls are made
        self._news = news
        self.queue = MessageQueue(news)
        self._is_busy = False
        self._is_stopping = False
        self._early: Draft | None = None  # sent before the chat was read
        self._queued: Draft | None = None  # sent from the queue, and not on disk yet
        self._coming: _Coming | None = None
        card.loaded.connect(self._on_loaded)
        card.unreadable.connect(self._on_unreadable)
        post.posted.connect(self._on_posted)
        post.unsaved.connect(self._on_unsaved)
        flight.ended.connect(self._on_ended)
        flight.refused.connect(self._on_refused)
        flight.withdrawn.connect(self._give)
        tools.done.connect(self._on_replies)
        tools.withdrawn.connect(self._give)

    @property
    def is_busy(self) -> bool:
        """Whether a message is on its way or an answer is being written."""
        return self._is_busy

    def is_free(self) -> bool:
        """Whether something may be asked now; if not, emits `failed`."""
        if self._is_busy:
            self._news.failed.emit(self.tr("An answer is still being written. Stop it, or wait for its end."))
        return not self._is_busy

    def may_send(self, draft: Draft) -> bool:
        """Whether this may be sent now; if not, emits `failed`."""
        return self.is_free() and self._is_something(draft)

    def _is_something(self, draft: Draft) -> bool:
        if draft.is_empty:
            self._news.failed.emit(self.tr("The message is empty. Write something first."))
        return not draft.is_empty

    def _take(self) -> None:
        self._is_busy = True
        self._news.answering_changed.emit(True)

    @Slot()
    def _give(self) -> None:
        self._is_stopping = False
        if self._is_busy:
            self._is_busy = False
            self._news.answering_changed.emit(False)
            self.freed.emit()

    # --- messages

    def send(self, draft: Draft) -> None:
        """Save a message, then ask the model to answer it."""
        if self.may_send(draft):
            self._take()
            if self._card.is_loaded:
                self._save(draft)
            else:
                self._early = draft
                self._card.read_on()

    def send_in_turn(self, draft: Draft) -> None:
        """Send a message once the answer has ended, and those that were queued before."""
        if not self._is_busy:
            self.send(draft)
        elif self._is_something(draft):
            self.queue.add(draft)
            self._news.accepted.emit()

    def send_queued(self) -> None:
        """Go on with a queue that has paused."""
        self.queue.resume()
        self._send_next()

    def replace(self, node: Node, draft: Draft) -> None:
        """Send a message in the place of another one. Only when `may_send` has said so."""
        self._take()
        self._save(draft, node)

    def _save(self, draft: Draft, replaces: Node | None = None) -> None:
        self._coming = _Coming(draft, replaces)
        self._recall.add(draft, replaces.id if replaces is not None else None, self._on_recalled)

    @Slot(object)
    def _on_recalled(self, draft: Draft | None) -> None:
        coming, self._coming = self._coming, None
        if coming is not None:
            self._post.save(draft or coming.draft, coming.replaces, is_typed=self._queued is None)

    def _send_next(self) -> None:
        draft = None if self._is_busy else self.queue.take_next()
        if draft is not None:
            self._queued = draft
            self.send(draft)

    @Slot()
    def _on_loaded(self) -> None:
        early, self._early = self._early, None
        if early is not None:
            self._save(early)

    @Slot()
    def _on_unreadable(self) -> None:
        if self._early is not None:
            self._early = None
            self._give()

    @Slot(object)
    def _on_posted(self, posted: Posted) -> None:
        self._queued = None
        self._ask(
            lambda: self._asked(self._card.settings).ask(posted.node),
            posted.former_leaf,
        )

    @Slot(str)
    def _on_unsaved(self, text: str) -> None:
        if self._queued is not None:
            self.queue.put_back(self._queued)
            self._queued = None
        self._give()
        self._news.failed.emit(text)

    # --- answers

    def ask(self, make: Callable[[], Question], leaf: str | None = None) -> None:
        """Ask the model. The path is shown up to `leaf` meanwhile, if that is named. Only when `is_free` says so."""
        former_leaf = self._path.leaf
        self._take()
        if leaf is not None:
            self._path.leaf = leaf
            self._news.changed.emit()
        self._ask(make, former_leaf)

    def _ask(self, make: Callable[[], Question], former_leaf: str | None) -> None:
        self._rounds = 0
        if self._is_stopping:
            self._give()
        else:
            self._tools.prepare(lambda: self._flight.ask(make, former_leaf))

    def _asked(self, settings: ChatSettings) -> AskedChat:
        return AskedChat(self._path, settings, self._chat_id, self._tools.offered())

    def call_again(self, node: Node) -> None:
        """Make a call that was broken off, then let the model go on. Only when `is_free` says so."""
        self._take()
        self._path.leaf = node.id
        self._news.changed.emit()
        self._rounds, self._caller = 0, self._card.settings.model
        self._tools.prepare(lambda: self._tools.run_again(node.id))

    def stop(self) -> None:
        """Stop the answer; what is written stays."""
        if not self._is_busy:
            return
        self._is_stopping = True
        self.queue.pause()
        if self._early is not None:
            self._news.returned.emit(self._early)
            self._early = self._queued = None  # also one from the queue: it goes back to the composer
            self._give()
        elif self._tools.stop():
            self._give()
        else:
            self._flight.cancel()

    def break_off(self) -> None:
        """The end of the session: what still streams is marked."""
        if self._flight.break_off() or self._tools.stop("interrupted"):
            self._give()

    @Slot(str)
    def _on_refused(self, text: str) -> None:
        self.queue.pause()
        self._give()
        self._news.failed.emit(text)

    @Slot(object)
    def _on_ended(self, end: AnswerEnd) -> None:
        if end.calls and end.answer_id is not None and end.question is not None and not self._is_stopping:
            self._caller = end.question.model
            self._tell(end)
            self._tools.run(end.answer_id, end.calls, end.question.tools, end.max_context)
            return
        self._give()
        self._tell(end)
        if end.result.finish_reason in ("cancelled", "error"):
            self.queue.pause()
        self._send_next()

    def _tell(self, end: AnswerEnd) -> None:
        self._news.dropped.emit(end.result.dropped_messages)
        if end.is_same is not None:
            self._news.reproduced.emit(end.is_same)
        self.answered.emit()

    @Slot(str)
    def _on_replies(self, node_id: str) -> None:
        """Let the model go on behind the replies of the tools that it has called."""
        self._rounds += 1
        if self._rounds >= MOST_ROUNDS:
            self.queue.pause()
            self._give()
            says = self.tr("The model has called tools {} times for one question. Answer again lets it go on.")
            self._news.failed.emit(says.format(self._rounds))
            return
        settings = replace(self._card.settings, model=self._caller)
        self._flight.ask(
            lambda: self._asked(settings).ask(self._path.tree[node_id]),
            self._path.leaf,
        )
