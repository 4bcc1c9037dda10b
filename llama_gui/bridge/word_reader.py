"""How sure a model was of each token of an answer: read once more by the model that wrote it, beside other answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QCoreApplication, QObject, Signal, Slot

from llama_gui.bridge.asking import AskedChat
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.engine_thread import error_text
from llama_gui.bridge.frames import FinishedItem, Frame
from llama_gui.chats.recipe import Recipe, read_recipe
from llama_gui.chats.shown_path import ShownPath
from llama_gui.errors import UserError
from llama_gui.vocabulary import ChatSettings, TokenOutput


@dataclass(frozen=True, slots=True)
class Words:
    """The tokens of an answer, each with the likeliest alternatives.

    `ending`: the ids that end an answer. `chosen`: the place whose token somebody has chosen; -1: the model wrote all.
    `is_as_then`: False where the prompt is another by now, because a message or the system prompt was changed.
    """

    node_id: str
    tokens: tuple[TokenOutput, ...]
    ending: frozenset[int] = frozenset()
    chosen: int = -1
    is_as_then: bool = True


@dataclass(frozen=True, slots=True)
class Turning:
    """Another way for an answer: its tokens up to the one chosen, and whether it ends with that."""

    token_ids: tuple[int, ...]
    ends: bool


def turning(words: Words, recipe: Recipe, place: int, token_id: int) -> Turning:
    """The result of choosing `token_id` at `place` of an answer that was made by `recipe`."""
    before = words.tokens[:place]
    chosen = next((top.text for top in words.tokens[place].top_logprobs if top.token_id == token_id), "")
    text = "".join(token.text for token in before) + chosen
    is_full = recipe.max_tokens is not None and place + 1 >= recipe.max_tokens
    is_full |= recipe.finish_reason == "context" and place + 1 >= len(recipe.token_ids)
    ends = token_id in words.ending or is_full or any(stop in text for stop in recipe.stop)
    return Turning((*(token.token_id for token in before), token_id), ends)


@runtime_checkable
class KnowsEnds(Protocol):
    """An engine that knows its tokens; one on somebody else's server does not."""

    @property
    def eos_token_ids(self) -> frozenset[int]: ...


class WordReader(QObject):
    """Reads one answer of a chat at a time. All methods are called on the GUI thread and return at once."""

    awaited = Signal(str)
    """Key of the model that has to be loaded first."""
    progressed = Signal(float)
    """How much of prompt and answer is read, from 0 to 1."""
    told = Signal(object)
    """`Words`."""
    failed = Signal(str)

    def __init__(
        self,
        path: ShownPath,
        settings: Callable[[], ChatSettings],
        chat_id: str,
        host: EngineHost,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._path = path
        self._settings = settings
        self._chat_id = chat_id
        self._host = host
        self._ticket: int | None = None
        self._node_id = ""
        self._model = ""
        host.submit_failed.connect(self._on_submit_failed)
        host.frame.connect(self._on_frame)

    @property
    def is_reading(self) -> bool:
        """Whether an answer is being read."""
        return self._ticket is not None

    def read(self, node_id: str) -> None:
        """Find out about an answer; one that was being read is left. `told` or `failed` comes, unless `cancel` does."""
        self.cancel()
        answer, asked = self._path.tree[node_id], self._path.question_of(node_id)
        recipe = read_recipe(answer.recipe)
        self._node_id, self._model = node_id, self._host.key_of(recipe.model)
        if asked is None or not recipe.token_ids:
            self.failed.emit(self.tr("The tokens of this answer are not known, because somebody has edited it."))
            return
        if not self._model:
            self.failed.emit(no_writer(recipe))
            return
        try:
            chat = AskedChat(self._path, self._settings(), self._chat_id)
            question = chat.look_at(answer, asked, self._model)
        except UserError as error:
            self.failed.emit(str(error))
            return
        self._ticket = self._host.submit(question.request, question.model)
        if key := self._host.awaited(self._ticket):
            self.awaited.emit(key)

    @Slot()
    def cancel(self) -> None:
        """Nobody looks any more."""
        ticket, self._ticket = self._ticket, None
        if ticket is not None:
            self._host.cancel(ticket)

    @Slot(int, object)
    def _on_submit_failed(self, ticket: int, error: Exception) -> None:
        if ticket == self._ticket:
            self._ticket = None
            self.failed.emit(error_text(error))

    @Slot(object)
    def _on_frame(self, frame: Frame) -> None:
        if self._ticket is None:
            return
        for item in frame.progress:
            if item.ticket == self._ticket and item.progress.prompt_tokens:
                self.progressed.emit(item.progress.prompt_tokens_read / item.progress.prompt_tokens)
        if any(item.ticket == self._ticket for item in frame.items):
            self._host.cancel(self._ticket)  # a stopped answer would go on once it is read
        for finished in frame.finished:
            if finished.ticket == self._ticket:
                self._finish(finished)

    def _finish(self, finished: FinishedItem) -> None:
        self._ticket = None
        result = finished.result
        if result.error is not None:
            self.failed.emit(error_text(result.error))
            return
        engine = self._host.models.engine_of(self._model)
        ending = engine.eos_token_ids if isinstance(engine, KnowsEnds) else frozenset[int]()
        tokens = tuple(output for output in result.prompt_logprobs if output is not None)
        recipe = read_recipe(self._path.tree[self._node_id].recipe)
        is_as_then = recipe.usage.prompt_tokens in (0, result.usage.prompt_tokens)  # 0: a crash came first
        self.told.emit(Words(self._node_id, tokens, ending, recipe.given_tokens - 1, is_as_then))


def no_writer(recipe: Recipe) -> str:
    """The error where the model that wrote an answer is missing: its tokens mean nothing to another one."""
    told = QCoreApplication.translate(
        "WordReader", "The model that wrote this answer, {}, is not on this machine any more."
    )
    return told.format(recipe.name or recipe.model or "?")
