"""One chat in motion: its tree, its place in the store, and its answer from the engine."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Slot

from llama_gui.bridge.answer_flight import AnswerFlight
from llama_gui.bridge.asking import AskedChat
from llama_gui.bridge.attachments import DraftFileKeeper
from llama_gui.bridge.chat_card import ChatCard
from llama_gui.bridge.chat_edits import ChatEdits
from llama_gui.bridge.chat_news import ChatNews
from llama_gui.bridge.chat_saver import ChatSaver
from llama_gui.bridge.chat_turn import ChatTurn
from llama_gui.bridge.context_watch import ContextWatch
from llama_gui.bridge.document_recall import DocumentRecall
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.folder_desk import FolderDesk
from llama_gui.bridge.message_post import MessagePost
from llama_gui.bridge.read_ahead import ReadAhead
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.bridge.tool_desk import ToolDesk
from llama_gui.bridge.tool_turn import ToolTurn
from llama_gui.bridge.word_reader import WordReader, Words, no_writer, turning
from llama_gui.chats.attachments import Attachment, Draft
from llama_gui.chats.recipe import read_recipe
from llama_gui.chats.shown_path import MapDot, ShownPath
from llama_gui.chats.tree import Node, clean_text
from llama_gui.vocabulary import ChatSettings, GenerateResult, ToolDecision, ToolQuestion, is_remote


class ChatSession(ChatNews):
    """A chat that is open. All methods are called on the GUI thread and return at once.

    It is the face of the rooms behind it: the card (name and settings), the post (messages to the disk), the flight
    (the answer), and the turn, which has them work one after the other.
    """

    def __init__(
        self,
        chat_id: str,
        host: EngineHost,
        store: StoreLane,
        folders: FolderDesk,
        tools: ToolDesk,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.chat_id = chat_id
        self.folders = folders
        self.tools = tools
        self._host = host
        self._path = ShownPath()
        self._draft: tuple[Draft, str | None] = Draft(), None
        self._saver = ChatSaver(chat_id, store, self)
        self._card = ChatCard(chat_id, self._path, store, self._saver, self)
        self._flight = AnswerFlight(chat_id, self._path, host, self._saver, self)
        post = MessagePost(chat_id, self._path, self._card, store, self._saver, self)
        # Asked later, when the host knows more.
        self._calls = ToolTurn(chat_id, self._path, self._card, tools, self._saver, self, lambda: self.takes_tools)
        self._offered = offered = self._calls.offered
        recall = DocumentRecall(self._path, lambda: self.settings, host, folders, self, offered)
        self._turn = ChatTurn(chat_id, self._path, self._card, recall, post, self._flight, self._calls, self)
        self.queue = self._turn.queue
        self.edits = ChatEdits(chat_id, self._path, store, self._saver, self)
        self.draft_files = DraftFileKeeper(chat_id, store, self)
        self.context = ContextWatch(self._path, lambda: self.settings, lambda: self.model, host, self, offered)
        self.ahead = ReadAhead(
            self._path,
            lambda: self.settings,
            lambda: self.model,
            chat_id,
            host,
            self,
            offered,
            lambda: self.context.is_watched,
        )
        self.words = WordReader(self._path, lambda: self.settings, chat_id, host, self)
        self._connect()

    def _connect(self) -> None:
        for signal in (self.changed, self.message_added, self.node_changed, self.settings_changed):
            signal.connect(self.context.note_change)
            signal.connect(self.ahead.note_change)
        self.tools.changed.connect(self._on_tools_changed)
        self.settings_changed.connect(self._hold_folder)
        self.tokens_added.connect(self.context.note_written)
        self.context.measured.connect(self._look_ahead)  # whether files are too long is known now
        self.draft_files.failed.connect(self.failed)
        self.edits.changed.connect(self.changed)
        self.edits.failed.connect(self.failed)
        self._flight.begun.connect(self.edits.remember_leaf)
        self._turn.answered.connect(self._saver.flush)
        self._turn.freed.connect(self._tell_settled)
        self._saver.saved_changed.connect(self.saved_changed)
        self._saver.idle.connect(self._tell_settled)

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
        return self._turn.is_busy

    @property
    def settings(self) -> ChatSettings:
        """What this chat asks of the model."""
        return self._card.settings

    @property
    def is_loaded(self) -> bool:
        """Whether it is known what the store has of this chat."""
        return self._card.is_loaded

    @property
    def model(self) -> str:
        """The key of the model that answers this chat; "": there is none."""
        return self.settings.model or self._host.current

    @property
    def awaited_model(self) -> str:
        """The key of the model whose loading a question waits for; "": none does."""
        return self._flight.awaited_model

    @property
    def title(self) -> str:
        """The chat's name in tab and list."""
        return self._card.title

    @property
    def last_result(self) -> GenerateResult | None:
        """How the last answer of this session ended."""
        return self._flight.last_result

    @property
    def is_settled(self) -> bool:
        """Whether no answer runs and everything is on disk."""
        return not self.answering and self._saver.is_idle

    # --- reading it in

    def start_new(self, settings: ChatSettings | None = None) -> None:
        """Begin a chat that the store does not know, with these settings."""
        self._card.start_new(settings or ChatSettings())
        self._hold_folder()

    def load(self, first_settings: ChatSettings | None = None) -> None:
        """Read the chat from the store; `changed` tells when it is there. One that is empty has `first_settings`."""
        self._card.load(first_settings or ChatSettings())

    # --- messages

    def send(self, text: str, files: Sequence[Attachment] = ()) -> None:
        """Save a message, then ask the model to answer it."""
        self._turn.send(_draft(text, files))

    def note_draft(self, draft: Draft, replaces: str | None = None) -> None:
        """What the user is writing now, in the place of a message or behind the last one."""
        self.context.set_draft(draft, replaces)
        # What comes while nobody looks was written at another time, or has just been sent.
        self._draft = (draft, replaces) if self.context.is_watched else (Draft(), None)
        if not self._draft[0].is_empty:
            self.folders.question_expected.emit(self.settings.documents)
        self._look_ahead()

    @Slot()
    def _look_ahead(self) -> None:
        draft, replaces = self._draft
        use = self.context.known()
        if draft.files and use is None:
            return  # until it is measured
        # Passages of documents, and of files that are too long, are chosen by the question.
        is_chosen = bool(self.settings.documents) or (use is not None and use.is_too_long)
        self.ahead.note_draft(replace(draft, files=()) if is_chosen else draft, replaces)

    def queue_message(self, text: str, files: Sequence[Attachment] = ()) -> None:
        """Send a message once the answer has ended, and those that were queued before."""
        self._turn.send_in_turn(_draft(text, files))

    def send_queued(self) -> None:
        """Go on with a queue that has paused."""
        self._turn.send_queued()

    def edit(self, node_id: str, text: str, files: Sequence[Attachment] = ()) -> None:
        """Put another text in the place of a message: a user's is answered anew. The old one stays as a version."""
        draft = _draft(text, files)
        if not self._turn.may_send(draft):
            return
        node = self._path.tree[node_id]
        if node.role == "user":
            self._turn.replace(node, draft)
        else:
            self.edits.edit_answer(node_id, draft.text)

    # --- answers

    def regenerate(self, node_id: str | None = None, model: str = "") -> None:
        """Answer a question again, the last one unless an answer is named. The old answer stays as a version.

        `model`: the key of another model, for this answer only.
        """
        asked = self._path.question_of(node_id)
        if asked is None:
            self.failed.emit(self.tr("There is nothing to answer yet. Write a message first."))
        elif self._turn.is_free():
            settings = replace(self.settings, model=model) if model else self.settings
            self._turn.ask(lambda: self._asked(settings).ask(asked), asked.id)

    def run_again(self, node_id: str) -> None:
        """Make an answer again by its recipe; `reproduced` tells whether the same text came."""
        answer, asked = self._path.tree[node_id], self._path.question_of(node_id)
        if asked is not None and self._turn.is_free():
            writer = self._writer_of(answer)
            recipe = read_recipe(answer.recipe)
            if recipe.given_tokens and not writer:
                self.failed.emit(no_writer(recipe))
                return
            self._turn.ask(lambda: self._asked(self.settings).run_again(answer, asked, writer), asked.id)

    def go_on(self, node_id: str) -> None:
        """Go on with an answer where it ends, or with a call that was broken off."""
        answer, asked = self._path.tree[node_id], self._path.question_of(node_id)
        if answer.role == "tool":
            if self._turn.is_free():
                self._turn.call_again(answer)
        elif asked is not None and self._turn.is_free():
            writer = self._writer_of(answer)
            self._turn.ask(lambda: self._asked(self.settings).go_on(answer, asked, writer))

    def go_another_way(self, words: Words, place: int, token_id: int) -> None:
        """Write a new version of an answer: with its tokens up to `place`, and this one there; the old one stays."""
        answer, asked = self._path.tree[words.node_id], self._path.question_of(words.node_id)
        if asked is None or not self._turn.is_free():
            return
        recipe, writer = read_recipe(answer.recipe), self._writer_of(answer)
        if not writer:
            self.failed.emit(no_writer(recipe))
            return
        way = turning(words, recipe, place, token_id)
        self._turn.ask(
            lambda: self._asked(self.settings).turn(answer, asked, writer, way.token_ids, ends=way.ends),
            asked.id,
        )

    def _asked(self, settings: ChatSettings) -> AskedChat:
        return AskedChat(self._path, settings, self.chat_id, self._offered())

    def _writer_of(self, answer: Node) -> str:
        return self._host.key_of(read_recipe(answer.recipe).model)

    def stop(self) -> None:
        """Stop the answer; what is written stays."""
        self._turn.stop()

    # --- title and settings

    def retitle(self, title: str) -> None:
        """Give the chat another name."""
        self._card.retitle(title)

    def show_title(self, title: str) -> None:
        """Have a title that is in the store already."""
        if title:
            self._card.show_title(title)

    def set_settings(self, settings: ChatSettings) -> None:
        """Ask differently from the next message on."""
        self._card.set_settings(settings)

    def set_folder(self, folder: str) -> None:
        """Let the passages of the documents in a folder go along with the questions from now on; "": none."""
        self.set_settings(replace(self.settings, documents=folder))

    def set_tools(self, names: Sequence[str]) -> None:
        """Let the model ask for the tools of these servers from the next answer on; start them, if it can."""
        self.set_settings(replace(self.settings, tools=tuple(names)))
        if self.takes_tools:
            self.tools.start(names)

    @property
    def takes_tools(self) -> bool:
        """Whether the chat's model has a place for tools; one that is not loaded yet may."""
        info = self._host.info_of(self.model)
        return info is None or is_remote(self.model) or info.tools

    @property
    def may_read_images(self) -> bool:
        """Whether the chat's model reads images; one that is not loaded yet may."""
        info = self._host.info_of(self.model)
        return info is None or info.reads_images

    @property
    def tool_question(self) -> ToolQuestion | None:
        """The call that waits for the user's word."""
        return self._calls.question

    def decide(self, decision: ToolDecision) -> None:
        """Let the call that waits be made, or not; the answer goes on in either case."""
        self._calls.decide(decision)

    @Slot(str)
    def _on_tools_changed(self, name: str) -> None:
        if name in self.settings.tools:
            self.context.note_change()
            self.ahead.note_change()

    @Slot()
    def _hold_folder(self) -> None:
        self.folders.hold(self.chat_id, self.settings.documents)

    # --- keeping it

    def flush(self) -> None:
        """Hand everything that is only in memory to the store now."""
        self._saver.flush()

    def close(self) -> None:
        """The end of the session: what still streams is marked as broken off, and all is handed to the store."""
        self.words.cancel()
        self.context.set_watched(False)  # what it tells later would have the chat read on
        self.ahead.close()
        self.folders.hold(self.chat_id, "")
        self._turn.break_off()
        self._saver.close()
        self.draft_files.flush()

    @Slot()
    def _tell_settled(self) -> None:
        if self.is_settled:
            self.settled.emit()


def _draft(text: str, files: Sequence[Attachment]) -> Draft:
    return Draft(clean_text(text), tuple(files))
