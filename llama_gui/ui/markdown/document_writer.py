"""Writes blocks into a text document, at its end or in its middle, and keeps what the commands in it stand for."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt, QUrl
from PySide6.QtGui import (
    QImage,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextImageFormat,
    QTextList,
    QTextTable,
    QTextTableFormat,
)

from llama_gui.ui.markdown.breaks import breakable
from llama_gui.ui.markdown.code_block import Line, colour, highlight, is_coloured_later, plain_lines
from llama_gui.ui.markdown.formats import BOX_PADDING, Box, Formats, Property
from llama_gui.ui.markdown.shelf import Coat, Fold, Mark, Shelf
from llama_gui.ui.numbers import number_text
from llama_gui.ui.theme import COLUMN_WIDTH

MAX_PIECE = 4_000
"""A longer line of plain text is cut into blocks: Qt lays out a block as a whole."""
_ABOVE_CODE = 22
_BELOW_CODE = 32
_CLOSE = 3


class DocumentWriter:
    """Writes blocks, and takes back what was written after a mark."""

    def __init__(self, document: QTextDocument, formats: Formats, commands: str, shelf: Shelf | None = None) -> None:
        self.formats = formats
        self.shelf = shelf or Shelf()
        self._commands = commands
        self._cursor = QTextCursor(document)
        self._header = QTextCursor(document)  # of the last box of code
        self._issued: list[int] = []
        self._is_fresh = True
        self._is_next_close = False

    @property
    def document(self) -> QTextDocument:
        """What is written into."""
        return self._cursor.document()

    @property
    def codes(self) -> dict[int, str]:
        """The sources of the boxes of code, the oldest first."""
        return self.shelf.codes

    def beside(self, start: int, end: int) -> "DocumentWriter":
        """A writer for the middle: the whole blocks from `start` to `end` are replaced by what it writes."""
        writer = DocumentWriter(self._cursor.document(), self.formats, self._commands, self.shelf)
        writer._cursor.setPosition(start)
        writer._cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        writer._cursor.removeSelectedText()
        return writer

    def keep_next_close(self) -> None:
        """Let the next paragraph stand right below this block."""
        self._is_next_close = True

    def mark(self) -> Mark:
        """Where this writer has arrived."""
        kept = QTextCursor(self._cursor)
        kept.setKeepPositionOnInsert(True)
        return Mark(kept, self._cursor.blockFormat(), self._is_fresh, self._is_next_close, len(self._issued))

    def next_start(self) -> int:
        """Where the next block will begin."""
        return self._cursor.position() + (0 if self._is_fresh else 1)

    def rewind(self, mark: Mark) -> None:
        """Remove everything after `mark`, to the end of the document."""
        self._cursor.setPosition(mark.position)
        self._cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        self._cursor.removeSelectedText()
        self._cursor.setBlockFormat(mark.block_format)
        self._is_fresh = mark.is_fresh
        self._is_next_close = mark.is_next_close
        for number in self._issued[mark.issued :]:
            self.shelf.forget(number)
        del self._issued[mark.issued :]

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
        """A block with one run of characters; several, of which copying makes one line, where the run is very long."""
        for start in range(0, max(1, len(text)), MAX_PIECE):
            if start:
                block.setTopMargin(0)
                block.setProperty(Property.CONTINUES, True)
            self.begin_block(block, chars)
            self.insert(text[start : start + MAX_PIECE], chars)
        block.clearProperty(Property.CONTINUES)

    def more_text(self, text: str, block: QTextBlockFormat, chars: QTextCharFormat) -> None:
        """Go on with the plain text of the present block: the first line belongs to it."""
        first, *others = text.split("\n")
        room = MAX_PIECE - self._cursor.positionInBlock()
        self.insert(first[: max(0, room)], chars)
        for start in range(max(0, room), len(first), MAX_PIECE):
            block.setProperty(Property.CONTINUES, True)
            self.begin_block(block, chars)
            self.insert(first[start : start + MAX_PIECE], chars)
        block.clearProperty(Property.CONTINUES)
        for line in others:
            self.line(line, block, chars)

    def command(self, label: str, verb: str, argument: object, chars: QTextCharFormat | None = None) -> None:
        """A word that can be clicked. Its target holds a secret, so that no model can write such a link."""
        command = self.formats.command(f"{self._commands}:{verb}:{argument}", chars)
        self._cursor.insertText(label, command)

    def picture(self, image: QImage, verb: str, argument: object) -> None:
        """An image in the present block, which can be clicked as a `command`."""
        name = f"picture:{self._number()}"
        self.document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name), image)
        shown = QTextImageFormat()
        shown.merge(self.formats.command(f"{self._commands}:{verb}:{argument}"))
        size = image.deviceIndependentSize()
        shown.setName(name)
        shown.setWidth(size.width())
        shown.setHeight(size.height())
        self._cursor.insertImage(shown)

    def _number(self) -> int:
        self._issued.append(next(self.shelf.numbers))
        return self._issued[-1]

    def new_list(self, depth: int, ordered_from: int | None) -> QTextList:
        """Make the present block the first item of a list."""
        return self._cursor.createList(self.formats.list(depth, ordered_from))

    def join_list(self, qt_list: QTextList) -> None:
        """Make the present block the next item of a list."""
        qt_list.add(self._cursor.block())

    def fold(
        self,
        text: str,
        quota: int = 0,
        *,
        plain: QTextBlockFormat | None = None,
        quotes: int = 0,
        continues: bool = False,
    ) -> None:
        """A line that stands for text which is not drawn."""
        number = self._number()
        block = QTextBlockFormat(plain) if plain is not None else self.formats.paragraph(16)
        block.setProperty(Property.CHROME, True)
        block.setProperty(Property.FOLD, number)
        self.begin_block(block, self.formats.small())
        label = QCoreApplication.translate("Transcript", "Show the rest: {} more characters")
        if quota:
            label = "…"  # it comes in the next frames
        self.command(label.format(number_text(len(text))), "unfold", number)
        self.shelf.folds[number] = Fold(self._inside(), text, quota, plain, quotes, continues)

    def code(
        self, language: str, code: str, *, left: float = 0, coloured: bool = True, bars: tuple[int, float] = (0, 0)
    ) -> int:
        """A box of code with its language and a Copy command above it. Its number on the shelf.

        `bars`: how deep it is quoted, and where the first bar is.
        """
        box_id = self._number()
        self.codes[box_id] = code
        header = self.formats.boxed(Box.CODE_HEADER, box_id, top=_ABOVE_CODE)
        header.setLeftMargin(left + BOX_PADDING)
        self.formats.bars(header, *bars)
        header.setProperty(Property.CHROME, True)
        header.setProperty(Property.LANGUAGE, language)  # drawn by the painter at the other end of the line
        header.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        header.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.begin_block(header, self.formats.tiny())
        self.command(QCoreApplication.translate("Transcript", "Copy"), "copy-code", box_id, self.formats.tiny())
        self._header = self._inside()
        if coloured:
            self._paint_later(box_id, language)
        lines = highlight(language, code) if coloured else plain_lines(code)
        for number, line in enumerate(lines):
            block = self.formats.boxed(Box.CODE, box_id, top=14 if number == 0 else 0, line_height=106)
            self.formats.bars(block, *bars)
            block.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
            block.setLeftMargin(left + BOX_PADDING)
            block.setBottomMargin(_BELOW_CODE if number == len(lines) - 1 else 0)
            self._code_line(line, block)
        return box_id

    def end_code(self, box_id: int, language: str) -> None:
        """The last box of code has grown to its end: give it its air and its colours."""
        block = self._cursor.blockFormat()
        block.setBottomMargin(_BELOW_CODE)
        self._cursor.setBlockFormat(block)
        self._paint_later(box_id, language)

    def _paint_later(self, box_id: int, language: str) -> None:
        if language and is_coloured_later(language, self.codes[box_id]):
            self.shelf.coats[box_id] = Coat(QTextCursor(self._header), colour(language, self.codes[box_id]))

    def _inside(self) -> QTextCursor:
        """A cursor in the present block, which must not be empty. It moves with what is written before it."""
        kept = QTextCursor(self._cursor)
        kept.movePosition(QTextCursor.MoveOperation.StartOfBlock)
        kept.movePosition(QTextCursor.MoveOperation.NextCharacter)
        kept.setKeepPositionOnInsert(True)  # the next block begins behind it, even if this one has but one character
        return kept

    def more_code(self, box_id: int, code: str, old_lines: Sequence[str], new_lines: Sequence[str]) -> None:
        """Let the last box of code grow, without touching the lines that stand."""
        self.codes[box_id] = code
        chars = self.formats.code()
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

    def room(self) -> float:
        """How wide the column is; as wide as it can be where nothing is laid out yet."""
        document = self._cursor.document()
        width = document.textWidth() - document.rootFrame().frameFormat().rightMargin()
        return min(width, COLUMN_WIDTH) if width > 0 else COLUMN_WIDTH

    def table(self, rows: int, columns: int, form: QTextTableFormat) -> QTextTable:
        """A table after the present block."""
        if self._is_fresh:
            self._cursor.setBlockFormat(self.formats.sliver())
        # Beside a table only its own margin counts, not that of the block above it.
        if self._cursor.blockFormat().hasProperty(Property.BOX):
            form.setTopMargin(30 * self.formats.zoom)
        table = self._cursor.insertTable(rows, columns, form)
        self._cursor.setPosition(table.lastPosition() + 1)
        self._cursor.setBlockFormat(self.formats.sliver())
        self._is_fresh = True
        return table


def paint_line(cursor: QTextCursor, block: QTextBlock, line: Line, formats: Formats) -> None:
    """Give a line of code its colours; one that is so long that it was given breaks stays plain."""
    if block.length() - 1 != sum(len(text.encode("utf-16-le")) // 2 for text, _role in line):
        return
    place = block.position()
    for text, role in line:
        end = place + len(text.encode("utf-16-le")) // 2
        if role != "text":
            cursor.setPosition(place)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.setCharFormat(formats.code(role))
        place = end
