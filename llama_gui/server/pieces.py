"""An answer in pieces: what is thought, what is said, what is called. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from llama_gui.server.asked import Asked
from llama_gui.server.calling import CallSplit, limited, opening
from llama_gui.server.served import ServedEngine
from llama_gui.server.thinking import ThinkingSplit
from llama_gui.server.wrapping import StreamedAnswer, WholeAnswer
from llama_gui.vocabulary import TokenOutput

Kind = Literal["thinking", "text", "tool_use"]


@dataclass(frozen=True, slots=True)
class Piece:
    """More of one part of the answer. `begins`: of a new one, though the last was of the same kind; `name`: the
    function's."""

    kind: Kind
    text: str
    name: str = ""
    begins: bool = False


class AnswerPieces:
    """Takes one answer apart while it is written. One that goes on with a text has no parts: it is text as it is."""

    def __init__(self, asked: Asked, engine: ServedEngine) -> None:
        begun = opening(asked, engine, 0)
        self._asked = asked
        self._split = CallSplit(asked, engine, begun)
        self._thinking = ThinkingSplit(begun, _wrapping(asked, engine)) if asked.is_chat else None

    def push(self, text: str) -> list[Piece]:
        """More of the answer; what of that is certain."""
        if self._split.forced is not None:
            called = self._split.forced.push(text)
            return [Piece("tool_use", piece.arguments, piece.name, piece.begins) for piece in called]
        if self._thinking is None:
            return _told(("", text))
        return _told(self._thinking.push(self._split.push(text)))

    def finish(self) -> list[Piece]:
        """What is left at the end: the rest of what is said, and the calls that the model made by itself."""
        if self._split.forced is not None or self._thinking is None:
            return []
        left = self._split.finish()
        said = [*_told(self._thinking.push(left.text)), *_told(self._thinking.finish())]
        called = [Piece("tool_use", call.arguments, call.name, True) for call in limited(self._asked, left.calls)]
        blank = [] if called or not self._thinking.blank else [Piece("text", self._thinking.blank)]
        return [*said, *blank, *called]


def pieces_of(asked: Asked, engine: ServedEngine, outputs: Iterable[TokenOutput]) -> list[Piece]:
    """Those of a whole answer, the same that a stream of it has, but for what `wrapping` says."""
    pieces = AnswerPieces(asked, engine)
    found = [piece for output in outputs for piece in pieces.push(output.text)]
    return [*found, *pieces.finish()]


def _wrapping(asked: Asked, engine: ServedEngine) -> WholeAnswer | StreamedAnswer | None:
    if not engine.info.wraps_answers:
        return None
    return StreamedAnswer() if asked.stream else WholeAnswer()


def _told(parted: tuple[str, str]) -> list[Piece]:
    thought, said = parted
    return [*([Piece("thinking", thought)] if thought else []), *([Piece("text", said)] if said else [])]
