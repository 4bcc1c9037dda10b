"""Markdown into a text document, token by token. No HTML is ever made, so none can be smuggled in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextBlockFormat, QTextCharFormat, QTextList, QTextTableCell

from llama_gui.ui.markdown.direction import direction_of_tokens
from llama_gui.ui.markdown.document_writer import DocumentWriter
from llama_gui.ui.markdown.formats import QUOTE_INDENT, Box, Density, Property
from llama_gui.ui.markdown.formula import Formula, plain_text
from llama_gui.ui.markdown.inline import InlineWriter, write_formula
from llama_gui.ui.markdown.maths_rules import add_maths
from llama_gui.ui.markdown.tables import WIDEST_IN_CELL, Cell, table_look
from llama_gui.ui.theme import TRANSCRIPT_PX

PARSER = add_maths(MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]))
TASK_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}
_ALIGNMENTS = {
    "text-align:left": Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute,
    "text-align:right": Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute,
    "text-align:center": Qt.AlignmentFlag.AlignHCenter,
}


@dataclass(slots=True)
class _OpenList:
    """A list that is being written; Qt's list exists from its first item on."""

    depth: int
    ordered_from: int | None
    is_tight: bool
    qt_list: QTextList | None = None
    items: int = 0


class MarkdownWriter:
    """Writes block tokens of markdown-it to a `DocumentWriter`. `goes_on`: they begin with more items of a list."""

    def __init__(self, writer: DocumentWriter, quotes: int = 0, *, goes_on: bool = False) -> None:
        self._to = writer
        self._formats = writer.formats
        self._lists: list[_OpenList] = []
        self._marker_due = False
        self._goes_on = goes_on
        self._quotes = quotes
        self._quote_left = 0.0  # of the outermost quotation, which may stand in a list
        self._heading = 0
        self._direction: Qt.LayoutDirection | None = None  # of the whole list or quotation; else each block has its own

    def write(self, tokens: Sequence[Token], *, colour_code: bool = True) -> None:
        """Write whole blocks. Whatever is opened in `tokens` is closed in them."""
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.level == 0 and token.nesting == 1:
                whole = tokens[index : _closing(tokens, index)]
                self._direction = None if token.type == "paragraph_open" else direction_of_tokens(whole)
            if token.type == "table_open":
                end = _closing(tokens, index)
                self._table(tokens[index : end + 1])
                index = end
            elif token.type in ("fence", "code_block"):
                self._code(token, colour_code)
            elif token.type == "maths_block":
                self._maths(token)
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
                self._goes_on = False
            case "list_item_open":
                self._marker_due = True
                self._lists[-1].items += 1
            case "list_item_close" if self._marker_due:
                self._begin(self._formats.paragraph(4), self._formats.text())
            case "paragraph_open" if self._lists:
                self._lists[-1].is_tight = token.hidden
            case "blockquote_open":
                if self._quotes == 0:
                    self._quote_left = len(self._lists) * self._formats.indent
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
        children = token.children or []
        if _has_maths(children):
            self._formats.among_formulas(block, chars)
        if self._marker_due:
            _tick(children)
        self._begin(block, chars)
        self._inline(children, chars)

    def _gap(self) -> float:
        if not self._lists:
            return 12
        if self._lists[-1].is_tight:
            is_first = self._lists[-1].items == 1 and len(self._lists) == 1 and self._marker_due
            return 10 if is_first and not self._goes_on else 4
        return 10

    def _begin(self, block: QTextBlockFormat, chars: QTextCharFormat) -> None:
        if self._direction is not None and block.layoutDirection() == Qt.LayoutDirection.LayoutDirectionAuto:
            block.setLayoutDirection(self._direction)
        if self._quotes:
            self._formats.quote(block, self._quotes, self._quote_left)
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
        if self._direction == Qt.LayoutDirection.RightToLeft:
            return 0
        return len(self._lists) * self._formats.indent + self._quotes * QUOTE_INDENT

    def _code(self, token: Token, coloured: bool) -> None:
        self._claim_marker()
        bars = (self._quotes, self._quote_left)
        code = token.content.removesuffix("\n")
        self._to.code(language_of(token), code, left=self._left(), coloured=coloured, bars=bars)

    def _maths(self, token: Token) -> None:
        """A formula in the middle of the column, or its source where it cannot be shown."""
        chars = self._formats.formula()
        formula = None
        if not token.meta.get("is_open"):
            formula = Formula(token.content, chars, is_display=True, room=self._to.room() - self._left())
        if formula is None or (formula.runs is None and not formula.is_laid_out):
            self._claim_marker()
            bars = (self._quotes, self._quote_left)
            self._to.code("latex", token.content, left=self._left(), bars=bars)
            return
        # What is laid out has its height from its own lines.
        block = self._formats.paragraph(14, line_height=100 if formula.is_laid_out else 150)
        block.setBottomMargin(6 * self._formats.zoom if formula.is_laid_out else 0)
        is_one_line = formula.is_laid_out or "\n" not in plain_text(formula.runs or ())
        if not self._lists and is_one_line:
            block.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        elif not self._lists:
            block.setIndent(2)
        block.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self._begin(block, chars)
        write_formula(self._to, formula, token.markup, chars, self._formats)

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
        direction = direction_of_tokens(tokens)
        look = table_look(rows, self._formats, self._to.room() - self._left())
        is_from_right = direction == Qt.LayoutDirection.RightToLeft
        # Qt counts columns from the left, whatever the direction.
        widths = look.widths[::-1] if is_from_right else look.widths
        form = self._formats.table(self._left(), direction, look.density, widths)
        if look.is_wide and not is_from_right:  # the room beside the column is on the right
            form.setProperty(Property.WIDE, sum(widths))
        table = self._to.table(len(rows), columns, form)
        for row_number, row in enumerate(rows):
            for column, (cell_token, alignment) in enumerate(row):
                place = columns - 1 - column if is_from_right else column
                cell = table.cellAt(row_number, place)
                self._cell(cell, cell_token, alignment, look.density, is_head=row_number == 0)

    def _cell(
        self, cell: QTextTableCell, token: Token, alignment: Qt.AlignmentFlag, density: Density, *, is_head: bool
    ) -> None:
        chars = self._formats.text(pixels=TRANSCRIPT_PX * density.scale, bold=is_head)
        block = self._formats.paragraph(0, line_height=125)
        block.setAlignment(alignment)
        if _has_maths(token.children or []):
            self._formats.among_formulas(block, chars)
        cursor = cell.firstCursorPosition()
        cursor.setBlockFormat(block)
        cursor.setBlockCharFormat(chars)
        InlineWriter(self._formats, self._to.room() * WIDEST_IN_CELL).write(cursor, token.children or [], chars)
        if is_head:  # last: Qt keeps the format of a cell in the same place as that of its first block
            ground = cell.format()
            ground.setBackground(self._formats.theme.color("side"))
            cell.setFormat(ground)

    def _inline(self, children: Sequence[Token], chars: QTextCharFormat) -> None:
        InlineWriter(self._formats, self._to.room() - self._left()).write(self._to, children, chars)


def language_of(token: Token) -> str:
    """The language that a fence names."""
    words = token.info.split()
    return re.sub(r"[^\w+#.-]", "", words[0])[:24] if words else ""


def _has_maths(children: Sequence[Token]) -> bool:
    """Whether there are formulas among the words of a paragraph."""
    return any(child.type == "maths" for child in children)


def _tick(children: Sequence[Token]) -> None:
    """A task in a list: its brackets become a box."""
    first = children[0] if children else None
    if first is not None and first.type == "text" and first.content[:4] in TASK_BOXES:
        first.content = TASK_BOXES[first.content[:4]] + first.content[4:]


def _closing(tokens: Sequence[Token], start: int) -> int:
    level = tokens[start].level
    return next(i for i in range(start + 1, len(tokens)) if tokens[i].level == level and tokens[i].nesting == -1)


def _rows(tokens: Sequence[Token]) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    alignment = Qt.AlignmentFlag.AlignLeft
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            alignment = _ALIGNMENTS.get(str(token.attrGet("style")), Qt.AlignmentFlag.AlignLeft)
        elif token.type == "inline":
            rows[-1].append((token, alignment))
    return rows
