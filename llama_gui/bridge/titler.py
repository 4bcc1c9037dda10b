"""Lets a model that has nothing else to do name the chats that still have the title of their first message."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.frames import Frame
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.chats.message_files import split
from llama_gui.chats.reasoning import answer_text
from llama_gui.chats.store import ChatStore
from llama_gui.chats.title import title_from_answer, title_request
from llama_gui.chats.tree import ChatTree, Node
from llama_gui.vocabulary import GenerateRequest, Message, ModelInfo, SamplingParams

if TYPE_CHECKING:
    from llama_gui.bridge.chat_book import ChatBook

IDLE_MS = 4000
"""How long no chat may answer before one is named."""
LEAST_PARAMETERS = 100_000_000
"""A smaller model, the starter model too, writes no titles worth having. Remote models report 0, so they are never used
for this: no chat goes to another machine unasked."""


@dataclass(frozen=True, slots=True)
class _Work:
    """A chat to be named: its title now, and how it begins."""

    chat_id: str
    title: str
    question: str
    answer: str


class Titler(QObject):
    """Names one chat after the other while no chat answers, and steps aside as soon as one does."""

    named = Signal(str, str)
    """Chat id, and its new title."""

    def __init__(
        self,
        book: "ChatBook",
        host: EngineHost,
        store: StoreLane,
        parent: QObject | None = None,
        *,
        idle_ms: int = IDLE_MS,
    ) -> None:
        super().__init__(parent)
        self._book = book
        self._host = host
        self._store = store
        self._is_on = True
        self._work: _Work | None = None
        self._ticket: int | None = None
        self._text = ""
        self._timer = QTimer(self, singleShot=True, interval=idle_ms)
        self._timer.timeout.connect(self._look_for_work)
        book.answering_changed.connect(self._on_answering)
        host.loaded.connect(self._begin)
        host.rested.connect(self._begin)
        host.frame.connect(self._on_frame)
        host.submit_failed.connect(self._on_refused)
        host.withdrawn.connect(self._on_refused)

    def set_on(self, is_on: bool) -> None:
        """Name chats, or no longer."""
        self._is_on = is_on
        if is_on:
            self._begin()
        else:
            self._step_aside()

    def stop(self) -> None:
        """Name nothing more; before the host and the store are closed."""
        self.set_on(False)

    # --- when

    @Slot(str, bool)
    def _on_answering(self, _chat_id: str, answering: bool) -> None:
        if answering:
            self._step_aside()
        else:
            self._begin()

    @Slot()
    def _begin(self) -> None:
        if self._is_on and self._is_idle():
            self._timer.start()

    def _is_idle(self) -> bool:
        answering = any(session.answering for session in self._book.sessions())
        return not (self._work is not None or answering or self._host.is_asked)

    def _step_aside(self) -> None:
        self._timer.stop()
        self._work = None
        ticket, self._ticket = self._ticket, None
        if ticket is not None:
            self._host.cancel(ticket)

    # --- what

    @Slot()
    def _look_for_work(self) -> None:
        if self._is_on and self._is_idle() and self._model():
            self._store.run(_find_work, self._on_work, self._on_store_failed)

    def _model(self) -> str:
        """The key of a model in memory that can write titles; "": there is none."""
        infos = ((key, self._host.info_of(key)) for key in self._host.models.loaded_keys())
        return next((key for key, info in infos if info is not None and _writes_titles(info)), "")

    @Slot(object)
    def _on_work(self, work: _Work | None) -> None:
        model = self._model()
        if work is None or not model or not self._is_on or not self._is_idle():
            return
        self._work = work
        self._text = ""
        request = GenerateRequest(
            messages=[Message("user", title_request(work.question, work.answer))],
            max_tokens=24,
            sampling=SamplingParams(temperature=0.2, seed=1),
            thinking=False,  # reasoning would be longer than a title may be
        )
        self._ticket = self._host.submit(request, model)

    @Slot(object)
    def _on_frame(self, frame: Frame) -> None:
        if self._ticket is None:
            return
        self._text += "".join(item.text for item in frame.items if item.ticket == self._ticket)
        finished = next((item for item in frame.finished if item.ticket == self._ticket), None)
        if finished is not None:
            self._ticket = None
            if finished.result.finish_reason in ("stop", "length"):
                self._keep(title_from_answer(self._text))
            else:
                self._work = None

    @Slot(int)
    def _on_refused(self, ticket: int) -> None:
        if ticket == self._ticket:
            self._ticket = None
            self._keep("")

    def _keep(self, title: str) -> None:
        """Save the title. A chat without a usable one keeps its own, marked as if the model had given it."""
        work, self._work = self._work, None
        if work is None:
            return
        chosen = title or work.title

        def save(store: ChatStore) -> tuple[str, str]:
            return (work.chat_id, chosen) if store.set_model_title(work.chat_id, chosen) else ("", "")

        self._store.run(save, self._on_saved, self._on_store_failed)

    @Slot(object)
    def _on_saved(self, named: tuple[str, str]) -> None:
        chat_id, title = named
        session = self._book.session(chat_id)
        if session is not None:
            session.show_title(title)
        if chat_id:
            self._book.refresh()
            self.named.emit(chat_id, title)
        self._begin()

    @Slot(object)
    def _on_store_failed(self, _error: Exception) -> None:
        """A title is not worth a message to the user; store errors are reported by those who save messages."""
        self._work = None


def _writes_titles(info: ModelInfo) -> bool:
    """False for a model that writes nothing, or always reasons first: it would have no tokens left for the title."""
    always_thinks = info.opening(thinking=False) or (info.marks_thoughts and info.thinking is None)
    return info.parameters >= LEAST_PARAMETERS and not (info.embeds or always_thinks)


def _find_work(store: ChatStore) -> _Work | None:
    for chat_id in store.untitled_chats():
        chat = store.chat(chat_id)
        answer = next((node for node in chat.nodes if _is_answer(node)), None)
        path = ChatTree(chat.nodes).path(answer.id) if answer is not None else []
        question = next((node for node in reversed(path) if node.role == "user"), None)
        if answer is not None and question is not None:
            said = split(question.content, question.attachments)[0].strip() or question.content
            return _Work(chat_id, chat.title, said, answer_text(answer))
    return None


def _is_answer(node: Node) -> bool:
    """Whether it has words for a title: one that only calls a tool has none."""
    return node.role == "assistant" and node.status == "complete" and bool(node.content.strip())
