"""One answer in flight: its question is handed to a model, its text comes in frames, and it ends."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.asking import Question
from llama_gui.bridge.chat_news import ChatNews
from llama_gui.bridge.chat_saver import ChatSaver
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.engine_thread import error_text
from llama_gui.bridge.frames import FinishedItem, Frame
from llama_gui.chats.attachments import Draft
from llama_gui.chats.message_files import split
from llama_gui.chats.recipe import GrowingRecipe, read_recipe, recipe_text
from llama_gui.chats.shown_path import ShownPath
from llama_gui.chats.too_long import too_long_text
from llama_gui.chats.tree import Node, NodeStatus, clean_text, new_node
from llama_gui.errors import PromptTooLongError, UserError
from llama_gui.tool_calls import CallWatch, ToolCall
from llama_gui.vocabulary import FinishReason, GenerateResult, ModelInfo

_STATUS: dict[FinishReason, NodeStatus] = {
    "stop": "complete",
    "length": "complete",
    "context": "complete",
    "cancelled": "stopped",
    "error": "failed",
}


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """How an answer ended. `is_same`: whether the text is the one that its recipe promised; None: none was promised.

    `calls`: the calls it made of the question's tools; once they have replied, the model goes on. `max_context`: of the
    model that wrote it, 0 where that is not known.
    """

    result: GenerateResult
    is_same: bool | None
    question: Question | None = None
    answer_id: str | None = None
    calls: tuple[ToolCall, ...] = ()
    max_context: int = 0


class AnswerFlight(QObject):
    """The answer that one chat waits for, or none. It is over before one of the signals of its end is emitted."""

    begun = Signal()
    """The engine has the question, and the answer is shown."""
    ended = Signal(object)
    """`AnswerEnd`."""
    refused = Signal(str)
    """The engine does not take the question, and why. The message is kept, marked, and its text was given back."""
    withdrawn = Signal()
    """It was cancelled before the engine had seen it."""

    def __init__(self, chat_id: str, path: ShownPath, host: EngineHost, saver: ChatSaver, news: ChatNews) -> None:
        super().__init__(news)
        self._chat_id = chat_id
        self._path = path
        self._host = host
        self._saver = saver
        self._news = news
        self._ticket: int | None = None
        self._answer_id: str | None = None
        self._growing: GrowingRecipe | None = None  # of the answer that is being written
        self._written = ""  # its whole text, of which possible calls are not shown
        self._watch: CallWatch | None = None
        self._question: Question | None = None
        self._model: ModelInfo | None = None
        self._former_leaf: str | None = None
        self._last_result: GenerateResult | None = None
        host.submitted.connect(self._on_submitted)
        host.submit_failed.connect(self._on_submit_failed)
        host.withdrawn.connect(self._on_withdrawn)
        host.frame.connect(self._on_frame)

    @property
    def awaited_model(self) -> str:
        """The key of the model whose loading the question waits for; "": it waits for none."""
        return self._host.awaited(self._ticket) if self._ticket is not None else ""

    @property
    def last_result(self) -> GenerateResult | None:
        """How the last answer of this session ended."""
        return self._last_result

    def ask(self, make: Callable[[], Question], former_leaf: str | None) -> None:
        """Hand a question to the engine. `former_leaf`: the end of the path that is shown again if nothing comes."""
        self._former_leaf = former_leaf
        try:
            self._question = make()
        except UserError as error:
            self._refuse(str(error))
            return
        self._ticket = self._host.submit(self._question.request, self._question.model)
        if self.awaited_model:
            self._news.model_awaited.emit(self.awaited_model)

    def cancel(self) -> None:
        """Stop the answer, if one is on its way; what is written stays."""
        if self._ticket is not None:
            self._host.cancel(self._ticket)

    def break_off(self) -> bool:
        """The end of the session: mark an answer that still streams. False: there is none."""
        if self._answer_id is None:
            return False
        self._put(replace(self._path.tree[self._answer_id], status="interrupted"))
        self._land()
        return True

    def _land(self) -> None:
        self._ticket = self._answer_id = self._question = None

    # --- taken, or not

    @Slot(int)
    def _on_submitted(self, ticket: int) -> None:
        if ticket != self._ticket or self._question is None:
            return
        self._model = self._host.info_for(ticket)
        asked = self._path.tree[self._question.asked_id]
        if asked.role == "user" and asked.status == "failed":  # refused before, taken now
            self._put(replace(asked, status="complete", error=""))
        request = self._question.request
        self._growing = GrowingRecipe(request, self._model, self._question.given_tokens)
        self._written = ""
        self._watch = _call_watch(self._question, self._model)
        if self._question.continues is not None:
            self._answer_id = self._question.continues
            answer = self._path.tree[self._answer_id]
            written = read_recipe(answer.recipe).written if request.answer_token_ids else ""
            said = self._said(written or answer.content)
            self._put(replace(answer, status="streaming", error="", content=said))
            self._news.changed.emit()
        else:
            name = self._model.name if self._model else ""
            given = self._question.given_tokens
            text = self._said(self._opening() + clean_text(self._host.former_text(ticket))) if given else ""
            answer = new_node(self._chat_id, "assistant", text, "streaming", asked.id, name)
            answer = replace(answer, recipe=self._recipe(text))  # it tells those who draw the first words, too
            self._path.add(answer)
            self._answer_id = answer.id
            self._saver.save_soon(answer)
            self._news.message_added.emit(answer)
        self.begun.emit()

    @Slot(int, object)
    def _on_submit_failed(self, ticket: int, error: Exception) -> None:
        if ticket != self._ticket:
            return
        if isinstance(error, PromptTooLongError) and self._question is not None:
            path = self._path.tree.path(self._question.asked_id)
            self._refuse(too_long_text(error, self._question.request, path))
        else:
            self._refuse(error_text(error))

    @Slot(int)
    def _on_withdrawn(self, ticket: int) -> None:
        if ticket == self._ticket:
            self._show_former_answer()
            self._land()
            self.withdrawn.emit()

    def _refuse(self, text: str) -> None:
        asked = self._path.nodes()[-1]
        if asked.role != "user" or self._path.tree.children(asked.id):
            self._show_former_answer()  # it was answered before, so only this attempt has failed
        else:
            self._put(replace(asked, status="failed", error=text))
            if asked.status != "failed":
                self._news.returned.emit(Draft(*split(asked.content, asked.attachments)))
        self._land()
        self.refused.emit(text)

    def _show_former_answer(self) -> None:
        if self._path.leaf is not None and self._path.tree.children(self._path.leaf):
            self._path.leaf = self._former_leaf
            self._news.changed.emit()

    # --- written

    @Slot(object)
    def _on_frame(self, frame: Frame) -> None:
        if self._ticket is None:
            return
        for item in frame.items:
            if item.ticket == self._ticket and self._growing is not None:
                self._growing.add(item.token_ids)
                self._add_text(item.text)
                self._news.tokens_added.emit(len(item.token_ids))
        for progress in frame.progress:
            if progress.ticket == self._ticket and progress.state == "waiting":
                self._news.held_up.emit()
            elif progress.ticket == self._ticket:
                self._news.progress_changed.emit(progress.progress)
        for finished in frame.finished:
            if finished.ticket == self._ticket:
                self._finish(finished)

    def _add_text(self, text: str) -> None:
        text = clean_text(text)
        if self._answer_id is None or not text:
            return
        answer = self._path.tree[self._answer_id]
        if not self._written:
            text = self._opening() + text
        said = self._said(text)
        content = answer.content + said
        answer = replace(answer, content=content, recipe=self._recipe(content))
        self._path.tree.replace(answer)
        self._saver.save_soon(answer)
        if said:
            self._news.text_added.emit(answer.id, said)

    def _said(self, text: str) -> str:
        """More text of the answer, but for what may be a call."""
        self._written += text
        return self._watch.push(text) if self._watch is not None else text

    def _opening(self) -> str:
        """The part of the answer that the prompt begins: without it, streamed reasoning could not be recognised."""
        if self._question is None or self._model is None:
            return ""
        return self._model.opening(self._question.request.thinking)

    def _recipe(self, said: str, result: GenerateResult | None = None) -> str:
        """How the answer is made; kept while it is written, so that it can go on exactly after a crash."""
        if self._question is None or self._growing is None:
            return ""
        written = self._written if self._written != said else ""
        if result is None:
            return self._growing.text(written)
        given = self._question.given_tokens
        return recipe_text(self._question.request, self._model, result, given_tokens=given, written=written)

    def _finish(self, finished: FinishedItem) -> None:
        result, question = finished.result, self._question
        self._last_result = result
        answer_id, calls = self._answer_id, tuple[ToolCall, ...]()
        if answer_id is not None and question is not None:
            answer = self._path.tree[answer_id]
            text, calls = self._told(answer.content, result)
            recipe = self._recipe(text, result)
            error = error_text(result.error) if result.error else ""
            self._put(replace(answer, content=text, status=_STATUS[result.finish_reason], error=error, recipe=recipe))
        expected = question.expected if question is not None and result.finish_reason != "cancelled" else None
        opening = self._opening()  # older versions stored answers without it
        self._land()
        is_same = None if expected is None else self._written.removeprefix(opening) == expected.removeprefix(opening)
        max_context = self._model.max_context if self._model is not None else 0
        self.ended.emit(AnswerEnd(result, is_same, question, answer_id, calls, max_context))

    def _told(self, said: str, result: GenerateResult) -> tuple[str, tuple[ToolCall, ...]]:
        """The text of an answer that has ended, and its calls. One that was cut short has no calls."""
        if self._watch is None:
            return said, ()
        if result.finish_reason != "stop":
            return self._written, ()
        left = self._watch.finish()
        return (said + left.text).rstrip() if left.calls else said + left.text, left.calls

    def _put(self, node: Node) -> None:
        self._path.tree.replace(node)
        self._saver.save_soon(node)
        self._news.node_changed.emit(node)


def _call_watch(question: Question, model: ModelInfo | None) -> CallWatch | None:
    """What looks for calls in an answer; None: it can have none."""
    if not question.tools or not (model is None or model.tools):
        return None
    bare = model is None or not model.marks_calls
    parameters = {name: tool.parameters for name, tool in question.tools.items()}
    return CallWatch(question.tools, bare=bare, parameters=parameters)
