"""Answers in this protocol's shape: a line of JSON for each piece, the last one with what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from llama_gui.server.answers import Arrived
from llama_gui.server.asked import Asked
from llama_gui.server.json_body import dump, written_object
from llama_gui.server.pieces import AnswerPieces, Piece, pieces_of
from llama_gui.server.refusal import RefusedError
from llama_gui.server.replies import finish_reason
from llama_gui.server.served import ServedEngine
from llama_gui.vocabulary import GenerateResult, TokenOutput


def now() -> str:
    """The present as this protocol writes it."""
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class LineForm:
    """What each line says. `is_chat`: the answer is a message, else a text (/api/generate)."""

    model: str
    is_chat: bool

    def line(self, thought: str = "", said: str = "", calls: Sequence[Any] = (), **more: Any) -> dict[str, Any]:
        """One line; `more`: what stands in the last one."""
        thinking = {"thinking": thought} if thought else {}
        called = {"tool_calls": list(calls)} if calls else {}
        if self.is_chat:
            told: dict[str, Any] = {"message": {"role": "assistant", "content": said, **thinking, **called}}
        else:
            told = {"response": said, **thinking}
        return {"model": self.model, "created_at": now(), **told, "done": False, **more}

    def piece(self, piece: Piece, index: int) -> dict[str, Any]:
        """A line with more of the answer; `index`: how many calls were made before."""
        if piece.kind == "tool_use":
            return self.line(calls=[_call(piece, index)])
        return self.line(thought=piece.text) if piece.kind == "thinking" else self.line(said=piece.text)

    def end(self, asked: Asked, result: GenerateResult, engine: ServedEngine) -> dict[str, Any]:
        """What stands in the last line. Raises RefusedError: the answer failed."""
        timings, usage = result.timings, result.usage
        return {
            "done": True,
            "done_reason": finish_reason(asked.requests[0], result, engine),
            "total_duration": _nanoseconds(timings.queued + timings.prefill + timings.decode),
            "load_duration": 0,
            "prompt_eval_count": usage.prompt_tokens,
            "prompt_eval_duration": _nanoseconds(timings.prefill),
            "eval_count": usage.completion_tokens,
            "eval_duration": _nanoseconds(timings.decode),
        }


def _call(piece: Piece, index: int) -> dict[str, Any]:
    return {"function": {"index": index, "name": piece.name, "arguments": written_object(piece.text) or {}}}


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


class OllamaLines:
    """Makes the lines of one streaming answer, as `stream.ChunkMaker` does the events of a chat answer."""

    media_type = "application/x-ndjson"

    def __init__(self, asked: Asked, form: LineForm, engine: ServedEngine) -> None:
        self._asked = asked
        self._form = form
        self._engine = engine
        self._pieces = AnswerPieces(asked, engine)
        self._calls = 0
        self._end: dict[str, Any] = {}

    @property
    def ping(self) -> bytes:
        """What tells a client that waits that it is not forgotten: clients read each line as JSON."""
        return _written(self._form.line())

    def begin(self) -> bytes:
        """There is nothing before the first token."""
        return b""

    def events(self, arrived: Arrived) -> bytes:
        """The lines of a token, or of the end of the answer; there may be none.

        Raises:
            RefusedError: the answer failed.
        """
        if isinstance(arrived.item, TokenOutput):
            return b"".join(map(self._piece, self._pieces.push(arrived.item.text)))
        self._end = self._form.end(self._asked, arrived.item, self._engine)
        return b"".join(map(self._piece, self._pieces.finish()))

    def end(self) -> bytes:
        """The last line."""
        return _written(self._form.line(**self._end))

    def failure(self, refused: RefusedError) -> bytes:
        """The last line of an answer that failed."""
        return _written({"error": refused.message})

    def _piece(self, piece: Piece) -> bytes:
        line = self._form.piece(piece, self._calls)
        self._calls += piece.kind == "tool_use"
        return _written(line)


def _written(line: dict[str, Any]) -> bytes:
    return dump(line) + b"\n"


def whole_line(
    asked: Asked, form: LineForm, engine: ServedEngine, result: GenerateResult, outputs: Sequence[TokenOutput]
) -> dict[str, Any]:
    """The reply to a request that does not stream.

    Raises:
        RefusedError: the answer failed.
    """
    pieces = pieces_of(asked, engine, outputs)
    thought, said = ("".join(p.text for p in pieces if p.kind == kind) for kind in ("thinking", "text"))
    calls = [_call(piece, index) for index, piece in enumerate(p for p in pieces if p.kind == "tool_use")]
    return form.line(thought, said, calls, **form.end(asked, result, engine))
