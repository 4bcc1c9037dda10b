"""Markdown that arrives in pieces: finished blocks are written once, only the open end is written again."""

from collections.abc import Iterator, Sequence
from typing import Any

from markdown_it.token import Token
from PySide6.QtGui import QTextBlockFormat, QTextCharFormat

from llama_gui.ui.markdown.blocks import PARSER, MarkdownWriter, language_of
from llama_gui.ui.markdown.document_writer import DocumentWriter, Fold
from llama_gui.ui.markdown.formats import Property

MAX_FORMATTED = 200_000
"""What comes after so many characters is shown as plain text: nobody reads it for its headings."""
MAX_TOKENS = 20_000
"""The same for a block of thousands of list items or table cells."""
AT_ONCE = 10_000
"""Characters that are drawn in one go; the rest follows in the next frames."""
MAX_DRAWN = 150_000
"""Characters of one message that are drawn without being asked for."""
_REWRITE_CODE_UP_TO = 4_000
_REWRITE_UP_TO = 8_000
_LONG_LIST = 3_000
_ONE_BLOCK = 20_000
_ONE_FENCE = 60_000
_BACKLOG = 64_000
_BEFORE = 500


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
        if len(tail) > _LONG_LIST and (line := _last_item(tokens, tail.count("\n"))):
            self._freeze_items(tail, line, tokens)
            self._flush_formatted()
            return
        boundary = _last_safe_start(tokens, tail.count("\n"))
        if boundary == 0 and len(tail) > _REWRITE_UP_TO and _is_one_block(tokens) and not _is_open_code(tokens):
            self._go_plain()  # one huge block: writing it again and again would stop the window
            return
        self._writer.rewind(self._mark)
        if boundary > 0:
            closed, tokens = _split(tokens, boundary)
            self._freeze(tail, boundary, closed)
        self._write_open(tokens)

    def _freeze(self, tail: str, boundary: int, closed: Sequence[Token]) -> None:
        self._write(closed)
        self._goes_on = False
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
        self._write(tokens, colour_code=not large)
        if large:
            self._open_code = (max(self._writer.codes), tokens[0].content.removesuffix("\n").split("\n"))

    def _write(self, tokens: Sequence[Token], *, colour_code: bool = True) -> None:
        if self._goes_on and tokens and tokens[0].type == "ordered_list_open":
            tokens[0].attrSet("start", self._number)
        MarkdownWriter(self._writer, self._quotes, goes_on=self._goes_on).write(tokens, colour_code=colour_code)

    def _freeze_items(self, tail: str, line: int, tokens: Sequence[Token]) -> None:
        """The first items of a long list, which goes on as one of its own."""
        number = _items_before(tokens, line) + (self._number if self._goes_on else int(tokens[0].attrGet("start") or 1))
        self._writer.rewind(self._mark)
        self._freeze(tail, line, PARSER.parse(tail[: _line_offset(tail, line)], dict(self._references)))
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
        self._frozen += _line_offset(tail, fence[1] if fence else 0)
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
            plain = _plain(self._writer, self._quotes, 0)[0]
            continues = written > 0 and self._source[written - 1] != "\n"
            self._writer.fold(self._source[written:-AT_ONCE], plain=plain, continues=continues)
            self._begin_plain()
            written = len(self._source) - AT_ONCE
        self._writer.more_text(self._source[written:], *_plain(self._writer, self._quotes, 0))
        self._written = len(self._source)

    def _begin_plain(self) -> None:
        self._writer.begin_block(*_plain(self._writer, self._quotes, 12))


def write_markdown(writer: DocumentWriter, source: str, quotes: int = 0, at_once: int = AT_ONCE) -> None:
    """Write the beginning of a Markdown text, and a fold for the rest where it is long."""
    if rest := source[write_part(writer, source, quotes, at_once) :]:
        writer.fold(rest, MAX_DRAWN, quotes=quotes, continues=not source[: -len(rest)].endswith("\n"))


def write_fold(writer: DocumentWriter, fold: Fold, offset: int = 0) -> int:
    """Write a part of a fold's text, from its beginning or from a little before `offset`, and folds for what is left.

    Returns where the part starts in the document.
    """
    text, continues = fold.text, fold.continues
    if offset > AT_ONCE:
        cut = text.rfind("\n", offset - AT_ONCE, offset - _BEFORE) + 1 or offset - _BEFORE
        writer.fold(text[:cut], plain=fold.plain, quotes=fold.quotes, continues=continues)
        text, continues = text[cut:], text[cut - 1] != "\n"
    there = writer.next_start()
    if fold.plain is None and not continues:
        end = write_part(writer, text, fold.quotes)
    else:
        end = write_plain(writer, text, fold.quotes, block=fold.plain, continues=continues)
    if rest := text[end:]:
        quota = 0 if offset else max(0, fold.quota - end)
        writer.fold(rest, quota, plain=fold.plain, quotes=fold.quotes, continues=text[end - 1] != "\n")
    return there


def write_part(writer: DocumentWriter, source: str, quotes: int = 0, at_once: int = AT_ONCE) -> int:
    """Write whole blocks from the beginning, about `at_once` characters of them. How many characters that were."""
    is_whole = len(source) <= at_once
    part = source if is_whole else source[:at_once]
    tokens = PARSER.parse(part)
    boundary = part.count("\n") + 1 if is_whole else _last_safe_start(tokens, part.count("\n"))
    if not is_whole and boundary == 0 and (line := _last_item(tokens, part.count("\n"))):
        part = part[: _line_offset(part, line)]
        MarkdownWriter(writer, quotes).write(PARSER.parse(part))
        return len(part)
    largest = _ONE_FENCE if _is_open_code(tokens) else _ONE_BLOCK
    if not is_whole and boundary == 0 and len(source) <= largest:
        part, is_whole = source, True
        tokens = PARSER.parse(part)
    if len(tokens) > MAX_TOKENS or (boundary == 0 and not is_whole):
        return write_plain(writer, source, quotes, at_once)
    end = len(part) if is_whole else _line_offset(part, boundary)
    MarkdownWriter(writer, quotes).write(tokens if is_whole else _split(tokens, boundary)[0])
    return end


def write_plain(
    writer: DocumentWriter,
    source: str,
    quotes: int = 0,
    at_once: int = AT_ONCE,
    *,
    block: QTextBlockFormat | None = None,
    continues: bool = False,
) -> int:
    """Write characters as they are, about `at_once` of them and whole lines where there are any."""
    end = len(source)
    if end > at_once:
        end = source.rfind("\n", at_once // 2, at_once) + 1 or at_once
    for number, line in enumerate(source[:end].removesuffix("\n").split("\n")):
        plain, chars = _plain(writer, quotes, 12 if number == 0 and not continues else 0)
        form = QTextBlockFormat(block) if block is not None else plain
        if number == 0 and continues:
            form.setProperty(Property.CONTINUES, True)
        writer.line(line, form, chars)
    return end


def _plain(writer: DocumentWriter, quotes: int, top: float) -> tuple[QTextBlockFormat, QTextCharFormat]:
    block = writer.formats.paragraph(top)
    if quotes:
        writer.formats.quote(block, quotes)
    return block, writer.formats.text("muted" if quotes else "text")


def _is_open_code(tokens: Sequence[Token]) -> bool:
    return len(tokens) == 1 and tokens[0].type == "fence"


def _is_one_block(tokens: Sequence[Token]) -> bool:
    return sum(token.level == 0 and token.nesting >= 0 for token in tokens) == 1


def _last_safe_start(tokens: Sequence[Token], complete_lines: int) -> int:
    """The line where the last block begins whose first line has come to its end.

    A block whose first line still grows may turn out to be no block at all: "#" is a heading, "#tag" is not.
    """
    starts = [token.map[0] for token in tokens if token.level == 0 and token.nesting >= 0 and token.map]
    return max((start for start in starts if start < complete_lines), default=0)


def _last_item(tokens: Sequence[Token], complete_lines: int) -> int:
    """The line where the last item of a list begins, when there is nothing but that list; 0 when it is the first."""
    if not tokens or not tokens[0].type.endswith("list_open") or not _is_one_block(tokens):
        return 0
    starts = [token.map[0] for token in _items(tokens) if token.map]
    return max((start for start in starts if start < complete_lines), default=0)


def _items(tokens: Sequence[Token]) -> Iterator[Token]:
    return (token for token in tokens if token.type == "list_item_open" and token.level == 1)


def _items_before(tokens: Sequence[Token], line: int) -> int:
    return sum(token.map is not None and token.map[0] < line for token in _items(tokens))


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
