"""Markdown that arrives in pieces: finished blocks are written once, only the open end is written again."""

from collections.abc import Sequence
from typing import Any

from markdown_it.token import Token

from llama_gui.ui.transcript.markdown import PARSER, DocumentWriter, MarkdownWriter

MAX_FORMATTED = 200_000
"""A longer answer is shown as plain text: nobody reads it for its headings, and the window must not wait for it."""
MAX_TOKENS = 20_000
"""The same for an answer of thousands of list items or table cells."""
_REWRITE_CODE_UP_TO = 4_000


class MarkdownStream:
    """One answer in the making, at the end of a document."""

    def __init__(self, writer: DocumentWriter) -> None:
        self._writer = writer
        self._start = writer.mark()
        self._mark = self._start
        self._source = ""
        self._frozen = 0
        self._references: dict[str, Any] = {}
        self._held = ""
        self._open_code: tuple[int, list[str]] | None = None

    @property
    def source(self) -> str:
        """Everything that arrived."""
        return self._source + self._held

    def append(self, text: str) -> None:
        """Take more text; nothing is drawn before `flush`."""
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""
        self._source += text.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")

    def flush(self) -> None:
        """Draw what arrived."""
        if len(self._source) > MAX_FORMATTED:
            self.finish()
            return
        tail = self._source[self._frozen :]
        tokens = PARSER.parse(tail, dict(self._references))
        if len(tokens) > MAX_TOKENS:
            self.finish()
            return
        if self._grow_code(tokens):
            return
        self._writer.rewind(self._mark)
        boundary = _last_safe_start(tokens, tail.count("\n"))
        if boundary > 0:
            closed, tokens = _split(tokens, boundary)
            self._freeze(tail, boundary, closed)
        self._write_open(tokens)

    def finish(self) -> None:
        """Draw all of it once more, as a whole: a reference may have been defined after its use."""
        self._source += self._held
        self._held = ""
        self._writer.rewind(self._start)
        write_markdown(self._writer, self._source)

    def _freeze(self, tail: str, boundary: int, closed: Sequence[Token]) -> None:
        MarkdownWriter(self._writer).write(closed)
        offset = _line_offset(tail, boundary)
        # The definitions of closed text are complete; those of the open end may still be growing.
        env: dict[str, Any] = {"references": dict(self._references.get("references", {}))}
        PARSER.parse(tail[:offset], env)
        self._references = env
        self._frozen += offset
        self._mark = self._writer.mark()

    def _write_open(self, tokens: Sequence[Token]) -> None:
        self._open_code = None
        large = _is_open_code(tokens) and len(tokens[0].content) > _REWRITE_CODE_UP_TO
        position = self._writer.mark().position
        MarkdownWriter(self._writer).write(tokens, colour_code=not large)
        if large:
            box_id = next(box for box in reversed(self._writer.codes) if box >= position)
            self._open_code = (box_id, tokens[0].content.removesuffix("\n").split("\n"))

    def _grow_code(self, tokens: Sequence[Token]) -> bool:
        """Append to a long open fence. False where the fence is not the same, or no longer alone."""
        if self._open_code is None or not _is_open_code(tokens):
            return False
        box_id, old = self._open_code
        code = tokens[0].content.removesuffix("\n")
        new = code.split("\n")
        if (
            new[: len(old) - 1] != old[:-1]
            or not new[len(old) - 1 : len(old)]
            or not new[len(old) - 1].startswith(old[-1])
        ):
            return False
        self._writer.more_code(box_id, code, old, new)
        self._open_code = (box_id, new)
        return True


def write_markdown(writer: DocumentWriter, source: str) -> None:
    """Write a whole Markdown text, or a very long one as plain text."""
    tokens = PARSER.parse(source) if len(source) <= MAX_FORMATTED else []
    if tokens and len(tokens) <= MAX_TOKENS:
        MarkdownWriter(writer).write(tokens)
        return
    chars = writer.formats.text()
    for number, line in enumerate(source.split("\n")):
        writer.line(line, writer.formats.paragraph(12 if number == 0 else 0), chars)


def _is_open_code(tokens: Sequence[Token]) -> bool:
    return len(tokens) == 1 and tokens[0].type == "fence"


def _last_safe_start(tokens: Sequence[Token], complete_lines: int) -> int:
    """The line where the last block begins whose first line has come to its end.

    A block whose first line still grows may turn out to be no block at all: "#" is a heading, "#tag" is not.
    """
    starts = [token.map[0] for token in tokens if token.level == 0 and token.nesting >= 0 and token.map]
    return max((start for start in starts if start < complete_lines), default=0)


def _split(tokens: Sequence[Token], boundary: int) -> tuple[Sequence[Token], Sequence[Token]]:
    """The tokens of the blocks that begin before the line `boundary`, and the others."""
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0 and token.map and token.map[0] >= boundary:
            return tokens[:index], tokens[index:]
    return tokens, ()


def _line_offset(text: str, line: int) -> int:
    offset = 0
    for _ in range(line):
        offset = text.index("\n", offset) + 1
    return offset
