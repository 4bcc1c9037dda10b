"""Markdown into a text document, token by token. No HTML is ever made, so none can be smuggled in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextDocument, QTextList, QTextTable

from llama_gui.ui.transcript.code_block import Line, highlight, plain_lines
from llama_gui.ui.transcript.formats import BOX_PADDING, LIST_INDENT, QUOTE_INDENT, Box, Formats, Property

PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
LINE_SEPARATOR = "\u2028"
BREAK = "\u200b"
_RUN = 64
_BELOW_CODE = 24
_CLOSE = 3
_LONG_RUN = re.compile(f"[^\\s{BREAK}\u2e80-\u9fff\uac00-\ud7af]{{{_RUN}}}(?=[^\\s]{{{_RUN}}})")
_OUR_BREAK = re.compile(f"([^\\s{BREAK}]{{{_RUN}}}){BREAK}")
_ALIGNMENTS = {"text-align:right": Qt.AlignmentFlag.AlignRight, "text-align:center": Qt.AlignmentFlag.AlignHCenter}


def breakable(text: str) -> str:
    """Give very long runs places to wrap: Qt's search for one grows with the square of the run."""
    return text if len(text) < 2 * _RUN else _LONG_RUN.sub(lambda match: match.group() + BREAK, text)


def without_breaks(text: str) -> str:
    """The text as it was before `breakable`."""
    return _OUR_BREAK.sub(r"\1", text) if BREAK in text else text


@dataclass(slots=True)
class _OpenList:
    """A list that is being written; Qt's list exists from its first item on."""

    depth: int
    ordered_from: int | None
    is_tight: bool
    qt_list: QTextList | None = None
    items: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the document to which the writer can return."""

    position: int
    block_format: QTextBlockFormat
    is_fresh: bool
    is_next_close: bool


class DocumentWriter:
    """Appends blocks to the end of a document, and takes back what was written after a mark."""

    def __init__(self, document: QTextDocument, formats: Formats, commands: str) -> None:
        self.formats = formats
        self.codes: dict[int, str] = {}
        self._commands = commands
        self._cursor = QTextCursor(document)
        self._is_fresh = True
        self._is_next_close = False

    def keep_next_close(self) -> None:
        """Let the next paragraph stand right below this block."""
        self._is_next_close = True

    def mark(self) -> Mark:
        """The present end of the document."""
        self._cursor.movePosition(QTextCursor.MoveOperation.End)
        return Mark(self._cursor.position(), self._cursor.blockFormat(), self._is_fresh, self._is_next_close)

    def rewind(self, mark: Mark) -> None:
        """Remove everything after `mark`."""
        self._cursor.setPosition(mark.position)
        self._cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        self._cursor.removeSelectedText()
        self._cursor.setBlockFormat(mark.block_format)
        self._is_fresh = mark.is_fresh
        self._is_next_close = mark.is_next_close

    def begin_block(self, block: QTextBlockFormat, chars: QTextCharFormat) -> None:
        """Start a block. An empty block that nobody has claimed yet is used first."""
        if self._is_next_close and not block.hasProperty(Property.BOX):
            block.setTopMargin(min(_CLOSE, block.topMargin()))
        self._is_next_close = False
        if self._is_fresh:
            self._cursor.setBlockFormat(block)
            self._cursor.setBlockCharFormat(chars)
            self._cursor.setCharFormat(chars)
            self._is_fresh = False
        else:
            self._cursor.insertBlock(block, chars)

    def insert(self, text: str, chars: QTextCharFormat) -> None:
        """Add characters to the present block."""
        self._cursor.insertText(breakable(text), chars)

    def line(self, text: str, block: QTextBlockFormat, chars: QTextCharFormat) -> None:
        """A block with one run of characters."""
        self.begin_block(block, chars)
        self.insert(text, chars)

    def command(self, label: str, verb: str, argument: object) -> None:
        """A word that can be clicked. Its target holds a secret, so that no model can write such a link."""
        self.insert(label, self.formats.command(f"{self._commands}:{verb}:{argument}"))

    def new_list(self, depth: int, ordered_from: int | None) -> QTextList:
        """Make the present block the first item of a list."""
        return self._cursor.createList(self.formats.list(depth, ordered_from))

    def join_list(self, qt_list: QTextList) -> None:
        """Make the present block the next item of a list."""
        qt_list.add(self._cursor.block())

    def code(self, language: str, code: str, *, left: float = 0, coloured: bool = True) -> None:
        """A box of code with its language and a Copy command above it."""
        box_id = self._cursor.position() + 1
        self.codes[box_id] = code
        header = self.formats.boxed(Box.CODE_HEADER, box_id, top=20)
        header.setLeftMargin(left + BOX_PADDING)
        header.setProperty(Property.CHROME, True)
        self.begin_block(header, self.formats.tiny())
        if language:
            self.insert(f"{language}    ", self.formats.tiny())
        self.command("Copy", "copy-code", box_id)
        lines = highlight(language, code) if coloured else plain_lines(code)
        for number, line in enumerate(lines):
            block = self.formats.boxed(Box.CODE, box_id, top=14 if number == 0 else 0, line_height=106)
            block.setLeftMargin(left + BOX_PADDING)
            block.setBottomMargin(_BELOW_CODE if number == len(lines) - 1 else 0)
            self._code_line(line, block)

    def more_code(self, box_id: int, code: str, old_lines: Sequence[str], new_lines: Sequence[str]) -> None:
        """Let the last box of code grow, without touching the lines that stand."""
        self.codes[box_id] = code
        chars = self.formats.code()
        self._cursor.movePosition(QTextCursor.MoveOperation.End)
        block = self._cursor.blockFormat()
        block.setBottomMargin(0)
        self._cursor.setBlockFormat(block)
        block.setTopMargin(0)
        self.insert(new_lines[len(old_lines) - 1][len(old_lines[-1]) :], chars)
        for line in new_lines[len(old_lines) :]:
            self.line(line, block, chars)

    def _code_line(self, line: Line, block: QTextBlockFormat) -> None:
        self.begin_block(block, self.formats.code())
        for text, role in line:
            self.insert(text, self.formats.code(role))

    def table(self, rows: int, columns: int, left: float) -> QTextTable:
        """A table after the present block."""
        if self._is_fresh:
            self._cursor.setBlockFormat(self.formats.sliver())
        table = self._cursor.insertTable(rows, columns, self.formats.table(left))
        self._cursor.movePosition(QTextCursor.MoveOperation.End)
        self._cursor.setBlockFormat(self.formats.sliver())
        self._is_fresh = True
        return table


class MarkdownWriter:
    """Writes block tokens of markdown-it to a `DocumentWriter`."""

    def __init__(self, writer: DocumentWriter) -> None:
        self._to = writer
        self._formats = writer.formats
        self._lists: list[_OpenList] = []
        self._marker_due = False
        self._quotes = 0
        self._heading = 0

    def write(self, tokens: Sequence[Token], *, colour_code: bool = True) -> None:
        """Write whole blocks. Whatever is opened in `tokens` is closed in them."""
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.type == "table_open":
                end = _closing(tokens, index)
                self._table(tokens[index : end + 1])
                index = end
            elif token.type in ("fence", "code_block"):
                self._code(token, colour_code)
            elif token.type == "hr":
                self._rule()
            elif token.type == "inline":
                self._inline_block(token)
            else:
                self._structure(token)
            index += 1

    def _structure(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                ordered_from = int(token.attrGet("start") or 1) if token.type.startswith("ordered") else None
                self._lists.append(_OpenList(len(self._lists) + 1, ordered_from, is_tight=True))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._marker_due = True
                self._lists[-1].items += 1
            case "list_item_close" if self._marker_due:
                self._begin(self._formats.paragraph(4), self._formats.text())
            case "paragraph_open" if self._lists:
                self._lists[-1].is_tight = token.hidden
            case "blockquote_open":
                self._quotes += 1
            case "blockquote_close":
                self._quotes -= 1
            case "heading_open":
                self._heading = int(token.tag[1])
            case "heading_close":
                self._heading = 0
            case _:
                pass

    def _inline_block(self, token: Token) -> None:
        if self._heading:
            chars = self._formats.heading(self._heading)
            block = self._formats.paragraph(20 if self._heading < 3 else 16, line_height=135)
            block.setHeadingLevel(self._heading)
        else:
            chars = self._formats.text("muted" if self._quotes else "text")
            block = self._formats.paragraph(self._gap())
        self._begin(block, chars)
        self._inline(token.children or [], chars)

    def _gap(self) -> float:
        if not self._lists:
            return 12
        if self._lists[-1].is_tight:
            return 10 if self._lists[-1].items == 1 and len(self._lists) == 1 and self._marker_due else 4
        return 10

    def _begin(self, block: QTextBlockFormat, chars: QTextCharFormat) -> None:
        if self._quotes:
            block.setLeftMargin(block.leftMargin() + self._quotes * QUOTE_INDENT)
            block.setProperty(Property.QUOTE, self._quotes)
        if self._lists and not self._marker_due:
            block.setIndent(len(self._lists))
        self._to.begin_block(block, chars)
        if self._marker_due:
            self._marker_due = False
            self._mark_item(self._lists[-1])

    def _mark_item(self, item_of: _OpenList) -> None:
        if item_of.qt_list is None:
            item_of.qt_list = self._to.new_list(item_of.depth, item_of.ordered_from)
        else:
            self._to.join_list(item_of.qt_list)

    def _claim_marker(self) -> None:
        """A box or a table cannot carry a marker: give the marker a line of its own."""
        if self._marker_due:
            self._begin(self._formats.paragraph(4), self._formats.text())

    def _left(self) -> float:
        return len(self._lists) * LIST_INDENT + self._quotes * QUOTE_INDENT

    def _code(self, token: Token, coloured: bool) -> None:
        self._claim_marker()
        words = token.info.split()
        language = re.sub(r"[^\w+#.-]", "", words[0])[:24] if words else ""
        self._to.code(language, token.content.removesuffix("\n"), left=self._left(), coloured=coloured)

    def _rule(self) -> None:
        self._claim_marker()
        block = self._formats.paragraph(12, line_height=100)
        block.setProperty(Property.BOX, int(Box.RULE))
        block.setProperty(Property.CHROME, True)
        self._begin(block, self._formats.text(pixels=8))

    def _table(self, tokens: Sequence[Token]) -> None:
        self._claim_marker()
        rows = _rows(tokens)
        columns = max(len(row) for row in rows)
        table = self._to.table(len(rows), columns, self._left())
        for row_number, row in enumerate(rows):
            for column, (cell_token, alignment) in enumerate(row):
                self._cell(table, row_number, column, cell_token, alignment)

    def _cell(self, table: QTextTable, row: int, column: int, token: Token, alignment: Qt.AlignmentFlag) -> None:
        cell = table.cellAt(row, column)
        chars = self._formats.text(bold=row == 0)
        block = self._formats.paragraph(0, line_height=125)
        block.setAlignment(alignment)
        cursor = cell.firstCursorPosition()
        cursor.setBlockFormat(block)
        cursor.setBlockCharFormat(chars)
        InlineWriter(self._formats).write(cursor, token.children or [], chars)
        if row == 0:  # last: Qt keeps the format of a cell in the same place as that of its first block
            ground = cell.format()
            ground.setBackground(self._formats.theme.color("side"))
            cell.setFormat(ground)

    def _inline(self, children: Sequence[Token], chars: QTextCharFormat) -> None:
        InlineWriter(self._formats).write(self._to, children, chars)


class InlineWriter:
    """Writes the inside of a paragraph: emphasis, code, links, line breaks."""

    def __init__(self, formats: Formats) -> None:
        self._formats = formats

    def write(self, to: DocumentWriter | QTextCursor, children: Sequence[Token], chars: QTextCharFormat) -> None:
        """Write inline tokens, beginning with the format of the paragraph."""
        stack = [chars]
        for token in children:
            if token.nesting == 1:
                stack.append(self._opened(token, stack[-1]))
            elif token.nesting == -1:
                stack.pop()
            else:
                self._leaf(to, token, stack[-1])

    def _opened(self, token: Token, around: QTextCharFormat) -> QTextCharFormat:
        chars = QTextCharFormat(around)
        match token.type:
            case "strong_open":
                chars.setFontWeight(QFont.Weight.DemiBold)
            case "em_open":
                chars.setFontItalic(True)
            case "s_open":
                chars.setFontStrikeOut(True)
            case "link_open":
                target = str(token.attrGet("href") or "")
                return self._formats.link(around, target)
            case _:
                pass
        return chars

    def _leaf(self, to: DocumentWriter | QTextCursor, token: Token, chars: QTextCharFormat) -> None:
        match token.type:
            case "softbreak" | "hardbreak":
                _insert(to, LINE_SEPARATOR, chars)
            case "code_inline":
                _insert(to, token.content, self._formats.inline_code(chars))
            case "image":
                # Never loaded: the name and the address say what the model meant.
                target = str(token.attrGet("src") or "")
                _insert(to, f"[image: {token.content or target}]", self._formats.link(chars, target))
            case _:
                _insert(to, token.content, chars)


def _insert(to: DocumentWriter | QTextCursor, text: str, chars: QTextCharFormat) -> None:
    if isinstance(to, DocumentWriter):
        to.insert(text, chars)
    else:
        to.insertText(breakable(text), chars)


def _closing(tokens: Sequence[Token], start: int) -> int:
    level = tokens[start].level
    return next(i for i in range(start + 1, len(tokens)) if tokens[i].level == level and tokens[i].nesting == -1)


def _rows(tokens: Sequence[Token]) -> list[list[tuple[Token, Qt.AlignmentFlag]]]:
    rows: list[list[tuple[Token, Qt.AlignmentFlag]]] = []
    alignment = Qt.AlignmentFlag.AlignLeft
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            alignment = _ALIGNMENTS.get(str(token.attrGet("style")), Qt.AlignmentFlag.AlignLeft)
        elif token.type == "inline":
            rows[-1].append((token, alignment))
    return rows
