"""One chat in motion: its tree, its place in the store, and its answer from the engine."""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge import asking
from llama_gui.bridge.asking import Question
from llama_gui.bridge.attachments import DraftFileKeeper
from llama_gui.bridge.chat_edits import ChatEdits
from llama_gui.bridge.chat_saver import ChatSaver
from llama_gui.bridge.context_watch import ContextWatch
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.engine_thread import error_text
from llama_gui.bridge.frames import FinishedItem, Frame
from llama_gui.bridge.message_queue import MessageQueue
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.chats.attachments import Attachment, Draft, compose, split
from llama_gui.chats.recipe import read_recipe, recipe_text
from llama_gui.chats.shown_path import MapDot, ShownPath
from llama_gui.chats.store import ChatStore, StoredChat
from llama_gui.chats.title import title_from
from llama_gui.chats.tree import DEFAULT_TITLE, Node, NodeStatus, clean_settings, clean_text
from llama_gui.errors import UserError
from llama_gui.vocabulary import ChatSettings, FinishReason, GenerateResult, ModelInfo, Role

_STATUS: dict[FinishReason, NodeStatus] = {
    "stop": "complete",
    "length": "complete",
    "context": "complete",
    "cancelled": "stopped",
    "error": "failed",
}


class ChatSession(QObject):
    """A chat that is open. All methods are called on the GUI thread and return at once.

    The way of a message: saved, `accepted`, `message_added`, asked; then the answer's `message_added`, `text_added`
    at most once a frame, and at its end `node_changed`. What the engine refuses ends in `failed` and `returned`.
    """

    changed = Signal()
    message_added = Signal(object)
    text_added = Signal(str, str)
    node_changed = Signal(object)
    answering_changed = Signal(bool)
    progress_changed = Signal(object)
    model_awaited = Signal(str)
    """Key of the model that has to be loaded before it can answer."""
    held_up = Signal()
    """The model has the question, and no room for it yet beside the others that it answers."""
    speed_changed = Signal(float)
    title_changed = Signal(str)
    accepted = Signal()
    """The message is on disk: the composer may forget it."""
    failed = Signal(str)
    """Nothing was sent, and why."""
    returned = Signal(object)
    """`Draft`: an accepted message that the engine refused. It goes back into the composer."""
    dropped = Signal(int)
    """So many of the oldest messages were not sent: the conversation is longer than the model can read."""
    reproduced = Signal(bool)
    """An answer was made again by its recipe: whether the same text came."""
    settings_changed = Signal(object)
    saved_changed = Signal(bool, str)
    """False and why: something is only in memory; it is tried again until it is saved. True: all is on disk again."""
    settled = Signal()
    """No answer runs, and everything is on disk."""

    def __init__(self, chat_id: str, host: EngineHost, store: StoreLane, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.chat_id = chat_id
        self._host = host
        self._store = store
        self._path = ShownPath()
        self._title = DEFAULT_TITLE
        self._settings = self._first_settings = ChatSettings()
        self._last_result: GenerateResult | None = None
        self._loaded = False
        self._early: Draft | None = None  # sent before the chat was read
        self._busy = False  # from send to the end of the answer
        self._stopping = False
        self._ticket: int | None = None
        self._answer_id: str | None = None
        self._token_ids: list[int] = []
        self._question: Question | None = None
        self._model: ModelInfo | None = None
        self._former_leaf: str | None = None
        self.queue = MessageQueue(self)
        self._queued: Draft | None = None  # sent from the queue, and not on disk yet
        self._saver = ChatSaver(chat_id, store, self)
        self.edits = ChatEdits(chat_id, self._path, store, self._saver, self)
        self.draft_files = DraftFileKeeper(chat_id, store, self)
        self.draft_files.failed.connect(self.failed)
        self.context = ContextWatch(self._path, lambda: self._settings, lambda: self.model, host, self)
        for signal in (self.changed, self.message_added, self.node_changed, self.settings_changed):
            signal.connect(self.context.note_change)
        self.edits.changed.connect(self.changed)
        self.edits.failed.connect(self.failed)
        self._saver.saved_changed.connect(self.saved_changed)
        self._saver.idle.connect(self._tell_settled)
        host.submitted.connect(self._on_submitted)
        host.submit_failed.connect(self._on_submit_failed)
        host.withdrawn.connect(self._on_withdrawn)
        host.frame.connect(self._on_frame)

    # --- what the window reads

    def path(self) -> list[Node]:
        """The messages that are shown, first to last."""
        return self._path.nodes()

    def versions(self) -> dict[str, tuple[int, int]]:
        """Of the shown messages that have other versions: which it is, from 1, and how many there are."""
        return self._path.versions()

    def map_dots(self) -> list[MapDot]:
        """All messages of the chat, as its map shows them."""
        return self._path.map_dots()

    @property
    def answering(self) -> bool:
        """Whether a message is on its way or an answer is being written."""
        return self._busy

    @property
    def settings(self) -> ChatSettings:
        """What this chat asks of the model."""
        return self._settings

    @property
    def is_loaded(self) -> bool:
        """Whether it is known what the store has of this chat."""
        return self._loaded

    @property
    def model(self) -> str:
        """The key of the model that answers this chat; "": there is none."""
        return self._settings.model or self._host.current

    @property
    def awaited_model(self) -> str:
        """The key of the model whose loading a question waits for; "": none does."""
        return self._host.awaited(self._ticket) if self._ticket is not None else ""

    @property
    def title(self) -> str:
        """The chat's name in tab and list."""
        return self._title

    @property
    def last_result(self) -> GenerateResult | None:
        """How the last answer of this session ended."""
        return self._last_result

    @property
    def is_settled(self) -> bool:
        """Whether no answer runs and everything is on disk."""
        return not self._busy and self._saver.is_idle

    # --- reading it in

    def start_new(self, settings: ChatSettings | None = None) -> None:
        """Begin a chat that the store does not know, with these settings."""
        self._loaded = True
        self._settings = settings or ChatSettings()

    def load(self, first_settings: ChatSettings | None = None) -> None:
        """Read the chat from the store; `changed` tells when it is there. One that is empty has `first_settings`."""
        chat_id = self.chat_id
        self._first_settings = first_settings or ChatSettings()
        self._store.run(lambda store: store.chat(chat_id), self._on_loaded, self._on_load_failed)

    @Slot(object)
    def _on_loaded(self, stored: StoredChat) -> None:
        self._path.reset(stored.nodes, stored.leaf_id)
        if self._settings == ChatSettings():  # else they were changed before the chat was read, which counts
            is_new = not stored.nodes and stored.settings == ChatSettings()
            self._settings = self._first_settings if is_new else stored.settings
        self._loaded = True
        self._set_title(stored.title)
        self.settings_changed.emit(self._settings)
        self.changed.emit()
        early, self._early = self._early, None
        if early is not None:
            self._save_message(early)

    @Slot(object)
    def _on_load_failed(self, error: Exception) -> None:
        if self._early is not None:
            self._early = None
            self._set_busy(False)
        self.failed.emit(self.tr("This chat could not be read. {}").format(error))

    # --- asking

    def send(self, text: str, files: Sequence[Attachment] = ()) -> None:
        """Save a message, then ask the model to answer it."""
        draft = Draft(clean_text(text), tuple(files))
        if self._is_free() and self._is_something(draft):
            self._set_busy(True)
            if self._loaded:
                self._save_message(draft)
            else:
                self._early = draft

    def queue_message(self, text: str, files: Sequence[Attachment] = ()) -> None:
        """Send a message once the answer has ended, and those that were queued before."""
        draft = Draft(clean_text(text), tuple(files))
        if not self._busy:
            self.send(text, files)
        elif self._is_something(draft):
            self.queue.add(draft)
            self.accepted.emit()

    def send_queued(self) -> None:
        """Go on with a queue that has paused."""
        self.queue.resume()
        self._send_next()

    def edit(self, node_id: str, text: str, files: Sequence[Attachment] = ()) -> None:
        """Put another text in the place of a message: a user's is answered anew. The old one stays as a version."""
        draft = Draft(clean_text(text), tuple(files))
        if not (self._is_free() and self._is_something(draft)):
            return
        node = self._path.tree[node_id]
        if node.role != "user":
            self.edits.edit_answer(node_id, draft.text)
            return
        self._set_busy(True)
        self._save_message(draft, replaces=node)

    def regenerate(self, node_id: str | None = None, model: str = "") -> None:
        """Answer a question again, the last one unless an answer is named. The old answer stays as a version.

        `model`: the key of another model, for this answer only.
        """
        asked = self._path.question_of(node_id)
        if asked is None:
            self.failed.emit(self.tr("There is nothing to answer yet. Write a message first."))
        elif self._is_free():
            settings = replace(self._settings, model=model) if model else self._settings
            self._ask_again(asked, lambda: asking.ask(self._path, asked, settings, self.chat_id))

    def run_again(self, node_id: str) -> None:
        """Make an answer again by its recipe; `reproduced` tells whether the same text came."""
        answer, asked = self._path.tree[node_id], self._path.question_of(node_id)
        if asked is not None and self._is_free():
            writer = self._host.key_of(read_recipe(answer.recipe).model)
            self._ask_again(
                asked, lambda: asking.run_again(self._path, answer, asked, self._settings, self.chat_id, writer)
            )

    def go_on(self, node_id: str) -> None:
        """Go on with an answer where it ends."""
        answer, asked = self._path.tree[node_id], self._path.question_of(node_id)
        if asked is not None and self._is_free():
            self._set_busy(True)
            self._former_leaf = self._path.leaf
            writer = self._host.key_of(read_recipe(answer.recipe).model)
            self._ask(lambda: asking.go_on(self._path, answer, asked, self._settings, self.chat_id, writer))

    def _ask_again(self, asked: Node, make: Callable[[], Question]) -> None:
        self._set_busy(True)
        self._former_leaf = self._path.leaf
        self._path.leaf = asked.id
        self.changed.emit()
        self._ask(make)

    def _is_free(self) -> bool:
        if self._busy:
            self.failed.emit(self.tr("An answer is still being written. Stop it, or wait for its end."))
        return not self._busy

    def _is_something(self, draft: Draft) -> bool:
        if draft.is_empty:
            self.failed.emit(self.tr("The message is empty. Write something first."))
        return not draft.is_empty

    def stop(self) -> None:
        """Stop the answer; what is written stays."""
        if not self._busy:
            return
        self._stopping = True
        self.queue.pause()
        if self._early is not None:
            self.returned.emit(self._early)
            self._early = None
            self._set_busy(False)
        elif self._ticket is not None:
            self._host.cancel(self._ticket)

    def _save_message(self, draft: Draft, replaces: Node | None = None) -> None:
        path = self.path()
        # A message that was refused is not sent along with the next one, which takes its place instead.
        if replaces is None and path and path[-1].role == "user" and path[-1].status == "failed":
            replaces = path[-1]
        parent_id = replaces.parent_id if replaces is not None else path[-1].id if path else None
        text, where = compose(draft.text, draft.files)
        node = replace(self._new_node("user", text, "complete", parent_id), attachments=where)
        is_first = len(self._path.tree) == 0 and self._title == DEFAULT_TITLE
        named_by = draft.text if draft.text.strip() else ", ".join(file.name for file in draft.files)
        title = title_from(named_by) if is_first else self._title
        settings = self._settings if is_first else None  # those of a preset were saved nowhere yet

        unsaved = self._saver.pending  # among them perhaps its parent, an answer that was edited just now

        def save(store: ChatStore) -> tuple[Node, str]:
            store.create_chat(node.chat_id, title)
            store.save_nodes((*unsaved, node))
            if settings is not None:
                store.save_settings(node.chat_id, settings)
            return node, title

        self._store.run(save, self._on_message_saved, self._on_message_not_saved)

    @Slot(object)
    def _on_message_saved(self, saved: tuple[Node, str]) -> None:
        node, title = saved
        self._former_leaf = self._path.leaf
        superseded = self._former_leaf is not None and self._former_leaf != node.parent_id
        self._path.add(node)
        if self._title == DEFAULT_TITLE:  # else it got another name meanwhile
            self._set_title(title)
        if self._queued is None:
            self.accepted.emit()
        self._queued = None
        if superseded:
            self.changed.emit()
        else:
            self.message_added.emit(node)
        self._ask(lambda: asking.ask(self._path, node, self._settings, self.chat_id))

    @Slot(object)
    def _on_message_not_saved(self, error: Exception) -> None:
        if self._queued is not None:
            self.queue.put_back(self._queued)
            self._queued = None
        self._set_busy(False)
        self.failed.emit(str(error))

    def _ask(self, make: Callable[[], Question]) -> None:
        """Hand a question to the engine."""
        if self._stopping:
            self._set_busy(False)
            return
        try:
            self._question = make()
        except UserError as error:
            self._refuse(str(error))
            return
        self._ticket = self._host.submit(self._question.request, self._question.model)
        if self.awaited_model:
            self.model_awaited.emit(self.awaited_model)

    @Slot(int)
    def _on_submitted(self, ticket: int) -> None:
        if ticket != self._ticket or self._question is None:
            return
        self._model = self._host.info_for(ticket)
        asked = self._path.tree[self._question.asked_id]
        if asked.status == "failed":  # refused before, taken now
            self._put(replace(asked, status="complete", error=""))
        self._token_ids = list(self._question.request.answer_token_ids)
        if self._question.continues is not None:
            self._answer_id = self._question.continues
            self._put(replace(self._path.tree[self._answer_id], status="streaming", error=""))
            self.changed.emit()
        else:
            answer = self._new_node("assistant", "", "streaming", asked.id, self._model.name if self._model else "")
            self._path.add(answer)
            self._answer_id = answer.id
            self._saver.save_soon(answer)
            self.message_added.emit(answer)
        self.edits.remember_leaf()

    @Slot(int, str)
    def _on_submit_failed(self, ticket: int, text: str) -> None:
        if ticket == self._ticket:
            self._refuse(text)

    @Slot(int)
    def _on_withdrawn(self, ticket: int) -> None:
        if ticket == self._ticket:
            self._show_former_answer()
            self._set_busy(False)

    def _refuse(self, text: str) -> None:
        """The engine does not take the question: keep it, marked, and give its text back."""
        asked = self.path()[-1]
        if asked.role != "user" or self._path.tree.children(asked.id):
            self._show_former_answer()  # it has been answered before, so it is this attempt that fails
        else:
            self._put(replace(asked, status="failed", error=text))
            if asked.status != "failed":
                self.returned.emit(Draft(*split(asked.content, asked.attachments)))
        self.queue.pause()
        self._set_busy(False)
        self.failed.emit(text)

    def _show_former_answer(self) -> None:
        if self._path.leaf is not None and self._path.tree.children(self._path.leaf):
            self._path.leaf = self._former_leaf
            self.changed.emit()

    # --- the answer

    @Slot(object)
    def _on_frame(self, frame: Frame) -> None:
        if self._ticket is None:
            return
        for item in frame.items:
            if item.ticket == self._ticket:
                self._token_ids += item.token_ids
                self._add_text(item.text)
                self.speed_changed.emit(item.tokens_per_second)
        for progress in frame.progress:
            if progress.ticket == self._ticket and progress.state == "waiting":
                self.held_up.emit()
            elif progress.ticket == self._ticket:
                self.progress_changed.emit(progress.progress)
        for finished in frame.finished:
            if finished.ticket == self._ticket:
                self._finish(finished)

    def _add_text(self, text: str) -> None:
        text = clean_text(text)
        if self._answer_id is None or not text:
            return
        answer = self._path.tree[self._answer_id]
        answer = replace(answer, content=answer.content + text, recipe=self._recipe_so_far())
        self._path.tree.replace(answer)
        self._saver.save_soon(answer)
        self.text_added.emit(answer.id, text)

    def _recipe_so_far(self) -> str:
        """So that the answer can go on exactly, should the process end now."""
        if self._question is None:
            return ""
        return recipe_text(self._question.request, self._model, token_ids=self._token_ids)

    def _finish(self, finished: FinishedItem) -> None:
        result, question = finished.result, self._question
        self._last_result = result
        text = ""
        if self._answer_id is not None and question is not None:
            answer = self._path.tree[self._answer_id]
            text = answer.content
            error = error_text(result.error) if result.error else ""
            recipe = recipe_text(question.request, self._model, result)
            self._put(replace(answer, status=_STATUS[result.finish_reason], error=error, recipe=recipe))
        self._set_busy(False)
        self.dropped.emit(result.dropped_messages)
        if question is not None and question.expected is not None and result.finish_reason != "cancelled":
            self.reproduced.emit(text == question.expected)
        self.flush()
        if result.finish_reason in ("cancelled", "error"):
            self.queue.pause()
        self._send_next()

    def _send_next(self) -> None:
        draft = None if self._busy else self.queue.take_next()
        if draft is not None:
            self._queued = draft
            self.send(draft.text, draft.files)

    # --- title and settings

    def retitle(self, title: str) -> None:
        """Give the chat another name."""
        title = " ".join(clean_text(title).split())[:200]
        if not title or title == self._title:
            return
        chat_id = self.chat_id
        # First onto the lane, then told: who reads the list because of the signal finds the new name.
        self._store.run(lambda store: store.rename_chat(chat_id, title), None, self._on_title_not_saved)
        self._set_title(title)

    @Slot(object)
    def _on_title_not_saved(self, error: Exception) -> None:
        self.failed.emit(self.tr("The new name was not saved. {}").format(error))

    def set_settings(self, settings: ChatSettings) -> None:
        """Ask differently from the next message on."""
        settings = clean_settings(settings)
        if settings == self._settings:
            return
        self._settings = settings
        self._saver.save_settings_soon(settings)
        self.settings_changed.emit(settings)

    # --- keeping it

    def flush(self) -> None:
        """Hand everything that is only in memory to the store now."""
        self._saver.flush()

    def close(self) -> None:
        """The end of the session: what still streams is marked as broken off, and all is handed to the store."""
        if self._answer_id is not None:
            self._put(replace(self._path.tree[self._answer_id], status="interrupted"))
            self._set_busy(False)
        self._saver.close()

    def _put(self, node: Node) -> None:
        self._path.tree.replace(node)
        self._saver.save_soon(node)
        self.node_changed.emit(node)

    @Slot()
    def _tell_settled(self) -> None:
        if self.is_settled:
            self.settled.emit()

    # --- small steps

    def _new_node(self, role: Role, text: str, status: NodeStatus, parent_id: str | None, model: str = "") -> Node:
        return Node(uuid.uuid4().hex, self.chat_id, parent_id, role, text, status, time.time(), model)

    def show_title(self, title: str) -> None:
        """Have a title that is in the store already."""
        if title:
            self._set_title(title)

    def _set_title(self, title: str) -> None:
        if title != self._title:
            self._title = title
            self.title_changed.emit(title)

    def _set_busy(self, busy: bool) -> None:
        if not busy:
            self._ticket = self._answer_id = self._question = None
            self._stopping = False
        if busy != self._busy:
            self._busy = busy
            self.answering_changed.emit(busy)
            self._tell_settled()
