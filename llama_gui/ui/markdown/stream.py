"""Markdown that arrives in pieces: finished blocks are written once, only the open end is written again."""

from collections.abc import Sequence
from typing import Any

from markdown_it.token import Token

from llama_gui.ui.markdown.blocks import PARSER, MarkdownWriter, language_of
from llama_gui.ui.markdown.document_writer import DocumentWriter
from llama_gui.ui.markdown.parts import AT_ONCE, MAX_TOKENS, plain_look, write_markdown
from llama_gui.ui.markdown.tokens import (
    is_one_block,
    is_open_code,
    items_before,
    last_item,
    last_safe_start,
    line_offset,
    split,
)

MAX_FORMATTED = 200_000
"""What comes after so many characters is shown as plain text: nobody reads it for its headings."""
_REWRITE_CODE_UP_TO = 4_000
_REWRITE_UP_TO = 8_000
_LONG_LIST = 2_000
_BACKLOG = 64_000


class MarkdownStream:
    """One text in the making, at the end of a document."""

    def __init__(self, writer: DocumentWriter, quotes: int = 0) -> None:
        self._writer = writer
        self._quotes = quotes
        self._start = writer.mark()
        self._mark = self._start
        self._source = ""
        self._frozen = 0
        self._references: dict[str, Any] = {}
        self._held = ""
        self._open_code: tuple[int, list[str]] | None = None
        self._goes_on = False  # the open block is the rest of a list, and its first item has this number:
        self._number = 1
        self._written: int | None = None  # how far the plain text has come

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
        if self._written is not None:
            self._more_plain()
        elif len(self._source) > MAX_FORMATTED:
            self._go_plain()
        else:
            self._flush_formatted()

    def finish(self) -> None:
        """Draw the end in its final form; all of it where a reference may have been defined after its use."""
        self._source += self._held
        self._held = ""
        if len(self._source) > MAX_FORMATTED:
            self._more_plain() if self._written is not None else self._go_plain()
            return
        env: dict[str, Any] = dict(self._references)
        tail = self._source[self._frozen :]
        tokens = PARSER.parse(tail, env)
        if env.get("references"):
            self._writer.rewind(self._start)
            write_markdown(self._writer, self._source, self._quotes)
        elif self._written is None and self._grow_code(tokens):
            self._end_code(tokens[0])
        else:
            self._writer.rewind(self._mark)
            if self._goes_on or len(tail) <= AT_ONCE:
                self._write(tokens)
            else:
                write_markdown(self._writer, tail, self._quotes)

    def _flush_formatted(self) -> None:
        tail = self._source[self._frozen :]
        tokens = PARSER.parse(tail, dict(self._references))
        if len(tokens) > MAX_TOKENS:
            self._go_plain()
            return
        if self._grow_code(tokens):
            if len(tokens) > 1:
                self._freeze_code(tail, tokens)
                self._flush_formatted()
            return
        if len(tail) > _LONG_LIST and (line := last_item(tokens, tail.count("\n"))):
            self._freeze_items(tail, line, tokens)
            self._flush_formatted()
            return
        boundary = last_safe_start(tokens, tail.count("\n"))
        if boundary == 0 and len(tail) > _REWRITE_UP_TO and is_one_block(tokens) and not is_open_code(tokens):
            self._go_plain()  # one huge block: writing it again and again would stop the window
            return
        self._writer.rewind(self._mark)
        if boundary > 0:
            closed, tokens = split(tokens, boundary)
            self._freeze(tail, boundary, closed)
        self._write_open(tokens)

    def _freeze(self, tail: str, boundary: int, closed: Sequence[Token]) -> None:
        self._write(closed)
        self._goes_on = False
        offset = line_offset(tail, boundary)
        # The definitions of closed text are complete; those of the open end may still be growing.
        env: dict[str, Any] = {"references": dict(self._references.get("references", {}))}
        PARSER.parse(tail[:offset], env)
        self._references = env
        self._frozen += offset
        self._mark = self._writer.mark()

    def _write_open(self, tokens: Sequence[Token]) -> None:
        self._open_code = None
        large = is_open_code(tokens) and len(tokens[0].content) > _REWRITE_CODE_UP_TO
        self._write(tokens, colour_code=not large)
        if large:
            self._open_code = (max(self._writer.codes), tokens[0].content.removesuffix("\n").split("\n"))

    def _write(self, tokens: Sequence[Token], *, colour_code: bool = True) -> None:
        if self._goes_on and tokens and tokens[0].type == "ordered_list_open":
            tokens[0].attrSet("start", self._number)
        MarkdownWriter(self._writer, self._quotes, goes_on=self._goes_on).write(tokens, colour_code=colour_code)

    def _freeze_items(self, tail: str, line: int, tokens: Sequence[Token]) -> None:
        """The first items of a long list, which goes on as one of its own."""
        number = items_before(tokens, line) + (self._number if self._goes_on else int(tokens[0].attrGet("start") or 1))
        self._writer.rewind(self._mark)
        self._freeze(tail, line, PARSER.parse(tail[: line_offset(tail, line)], dict(self._references)))
        self._goes_on, self._number = True, number

    def _grow_code(self, tokens: Sequence[Token]) -> bool:
        """Append to a long open fence. False where there is none, or it is not the same."""
        if self._open_code is None or not tokens or tokens[0].type != "fence":
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

    def _freeze_code(self, tail: str, tokens: Sequence[Token]) -> None:
        """A long fence has been closed: it stays as it stands."""
        self._end_code(tokens[0])
        fence = tokens[0].map
        self._frozen += line_offset(tail, fence[1] if fence else 0)
        self._mark = self._writer.mark()

    def _end_code(self, fence: Token) -> None:
        if self._open_code is not None:
            self._writer.end_code(self._open_code[0], language_of(fence))
            self._open_code = None

    def _go_plain(self) -> None:
        """From the open block on: characters are only added."""
        self._writer.rewind(self._mark)
        self._begin_plain()
        self._written = self._frozen
        self._more_plain()

    def _more_plain(self) -> None:
        written = self._written or 0
        if len(self._source) - written > _BACKLOG:
            plain = plain_look(self._writer, self._quotes, 0)[0]
            continues = written > 0 and self._source[written - 1] != "\n"
            self._writer.fold(self._source[written:-AT_ONCE], plain=plain, continues=continues)
            self._begin_plain()
            written = len(self._source) - AT_ONCE
        self._writer.more_text(self._source[written:], *plain_look(self._writer, self._quotes, 0))
        self._written = len(self._source)

    def _begin_plain(self) -> None:
        self._writer.begin_block(*plain_look(self._writer, self._quotes, 12))
