"""The typography of the transcript: formats of characters, blocks, lists and tables for one theme and zoom."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import ceil

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextListFormat,
    QTextTableFormat,
)

from llama_gui.ui.theme import CODE_PX, SMALL_PX, TINY_PX, TRANSCRIPT_PX, Theme, code_font, frame_font
from llama_gui.ui.widgets import plain_tip

BOX_PADDING = 12
LIST_INDENT = 24
QUOTE_INDENT = 16
FORMULA_OBJECT = QTextFormat.ObjectTypes.UserObject.value + 1
"""The type of the characters that are drawn as formulas."""
_HEADING_SCALE = {1: 1.45, 2: 1.25, 3: 1.1}


class Property(IntEnum):
    """Our own properties of a block, read by the painter and by copying; and of the characters of formulas."""

    BOX = QTextFormat.Property.UserProperty.value + 1
    BOX_ID = QTextFormat.Property.UserProperty.value + 2
    QUOTE = QTextFormat.Property.UserProperty.value + 3
    CHROME = QTextFormat.Property.UserProperty.value + 4
    CONTINUES = QTextFormat.Property.UserProperty.value + 5
    LANGUAGE = QTextFormat.Property.UserProperty.value + 6
    FOLD = QTextFormat.Property.UserProperty.value + 7
    QUOTE_LEFT = QTextFormat.Property.UserProperty.value + 8
    WIDE = QTextFormat.Property.UserProperty.value + 9
    """Of a table: how wide it must be for its words, where that is more than the column is."""
    FORMULA = QTextFormat.Property.UserProperty.value + 10
    """Of the one character that is drawn as a formula: its source. The others tell how it is drawn and copied."""
    FORMULA_TEXT = QTextFormat.Property.UserProperty.value + 11
    FORMULA_IS_DISPLAY = QTextFormat.Property.UserProperty.value + 12
    FORMULA_EM = QTextFormat.Property.UserProperty.value + 13
    FORMULA_WIDTH = QTextFormat.Property.UserProperty.value + 14
    FORMULA_HEIGHT = QTextFormat.Property.UserProperty.value + 15
    FORMULA_PART = QTextFormat.Property.UserProperty.value + 16
    """Which part of it, from 0, where it is drawn in several, so that a line can end in it."""
    UNDER_FORMULA = QTextFormat.Property.UserProperty.value + 17
    """Of the words before that character, which cannot be seen: they are what is found and read aloud."""


class Box(IntEnum):
    """What is painted behind a run of blocks that share a BOX_ID."""

    USER = 1
    CODE_HEADER = 2
    CODE = 3
    RULE = 4


@dataclass(frozen=True, slots=True)
class Density:
    """How close the cells of a table are: the size of their text, and the air around it."""

    scale: float
    padding: float


DENSITIES = (Density(1.0, 7), Density(0.93, 6), Density(0.86, 5), Density(0.8, 4))
"""From a table of few columns to one of many."""


@dataclass(frozen=True, slots=True)
class Formats:
    """Makes the formats of one look."""

    theme: Theme
    zoom: float = 1.0

    def text(self, role: str = "text", pixels: float = TRANSCRIPT_PX, *, bold: bool = False) -> QTextCharFormat:
        """Proportional characters in the colour of a role."""
        weight = QFont.Weight.DemiBold if bold else QFont.Weight.Normal
        return self._chars(frame_font(pixels * self.zoom, weight), role)

    def code(self, role: str = "text") -> QTextCharFormat:
        """Monospaced characters in the colour of a role."""
        return self._chars(code_font(CODE_PX * self.zoom), role)

    def inline_code(self, around: QTextCharFormat) -> QTextCharFormat:
        """Code within a sentence: the sentence's weight and slant, on a faint ground."""
        chars = QTextCharFormat(around)
        font = code_font(CODE_PX * self.zoom)
        font.setBold(around.fontWeight() > QFont.Weight.Medium)
        font.setItalic(around.fontItalic())
        chars.setFont(font)
        chars.setBackground(QBrush(self.theme.color("user_message")))
        return chars

    def link(self, around: QTextCharFormat, target: str) -> QTextCharFormat:
        """A link that asks before it opens, and says where it leads."""
        chars = QTextCharFormat(around)
        chars.setAnchor(True)
        chars.setAnchorHref(target)
        chars.setToolTip(plain_tip(target))
        chars.setForeground(self.theme.color("accent"))
        chars.setFontUnderline(True)
        return chars

    def command(self, href: str, around: QTextCharFormat | None = None) -> QTextCharFormat:
        """A quiet word that can be clicked: Copy, Again."""
        chars = QTextCharFormat(around) if around is not None else self.text("muted", SMALL_PX)
        chars.setAnchor(True)
        chars.setAnchorHref(href)
        return chars

    def heading(self, level: int) -> QTextCharFormat:
        """Characters of a heading from 1 to 6."""
        return self.text("text", TRANSCRIPT_PX * _HEADING_SCALE.get(level, 1.0), bold=True)

    def formula(self) -> QTextCharFormat:
        """A formula that stands alone."""
        return self.text("text", TRANSCRIPT_PX * 1.1)

    def under_formula(self) -> QTextCharFormat:
        """Words that take no room and cannot be seen."""
        font = frame_font(1)
        font.setLetterSpacing(QFont.SpacingType.PercentageSpacing, 1)
        chars = QTextCharFormat()
        chars.setFont(font)
        chars.setForeground(QColor(0, 0, 0, 0))
        chars.setProperty(Property.UNDER_FORMULA, True)
        return chars

    def name(self) -> QTextCharFormat:
        """Who speaks."""
        return self.text("muted", SMALL_PX, bold=True)

    def small(self, role: str = "muted") -> QTextCharFormat:
        """A footer below an answer."""
        return self.text(role, SMALL_PX)

    def tiny(self) -> QTextCharFormat:
        """The language above a block of code."""
        return self.text("muted", TINY_PX)

    def paragraph(self, top: float = 12, *, line_height: float = 150) -> QTextBlockFormat:
        """A block of prose with air above it."""
        block = QTextBlockFormat()
        block.setTopMargin(top * self.zoom)
        block.setLineHeight(line_height, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        return block

    def among_formulas(self, block: QTextBlockFormat, chars: QTextCharFormat) -> None:
        """Give lines the same distance from each other however high the formulas in them are."""
        metrics = QFontMetricsF(chars.font())
        distance = ceil(metrics.ascent() + metrics.descent()) * (block.lineHeight() / 100 - 1)
        block.setLineHeight(distance, QTextBlockFormat.LineHeightTypes.LineDistanceHeight.value)

    def boxed(self, box: Box, box_id: int, *, top: float, line_height: float = 150) -> QTextBlockFormat:
        """A block inside a painted box."""
        block = self.paragraph(top, line_height=line_height)
        block.setLeftMargin(BOX_PADDING)
        block.setRightMargin(BOX_PADDING)
        block.setProperty(Property.BOX, int(box))
        block.setProperty(Property.BOX_ID, box_id)
        return block

    def quote(self, block: QTextBlockFormat, depth: int, left: float = 0) -> None:
        """Put a block into a quotation, beside as many bars as it is deep. `left`: where the first bar is."""
        if block.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            block.setRightMargin(block.rightMargin() + depth * QUOTE_INDENT)
        else:
            block.setLeftMargin(block.leftMargin() + depth * QUOTE_INDENT)
        self.bars(block, depth, left)

    def bars(self, block: QTextBlockFormat, depth: int, left: float) -> None:
        """Only the bars of a quotation, for what has its place already."""
        if depth:
            block.setProperty(Property.QUOTE, depth)
            block.setProperty(Property.QUOTE_LEFT, left)

    def sliver(self) -> QTextBlockFormat:
        """The empty block that Qt wants beside a table: one pixel high."""
        block = QTextBlockFormat()
        block.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        return block

    def list(self, depth: int, ordered_from: int | None) -> QTextListFormat:
        """A list at a depth from 1; numbered when it has a first number."""
        listing = QTextListFormat()
        listing.setIndent(depth)
        if ordered_from is None:
            listing.setStyle(QTextListFormat.Style.ListStyleUndefined)  # the painter draws them: Qt's touch the text
        else:
            listing.setStyle(QTextListFormat.Style.ListDecimal)
            listing.setStart(ordered_from)
        return listing

    @property
    def indent(self) -> float:
        """How far the items of a list stand in."""
        return LIST_INDENT * self.zoom

    def table(
        self,
        left: float,
        direction: Qt.LayoutDirection,
        density: Density = DENSITIES[0],
        widths: Sequence[float] = (),
    ) -> QTextTableFormat:
        """A table of hairlines; its first column is where reading begins. `widths`: how the columns divide the room."""
        table = QTextTableFormat()
        if direction == Qt.LayoutDirection.RightToLeft:
            table.setLayoutDirection(direction)
            table.setAlignment(Qt.AlignmentFlag.AlignRight)
        table.setBorder(1)
        table.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        table.setBorderBrush(QBrush(self.theme.color("line")))
        table.setBorderCollapse(True)
        table.setCellPadding(density.padding * self.zoom)
        table.setCellSpacing(0)
        table.setTopMargin(14 * self.zoom)
        table.setBottomMargin(14 * self.zoom)
        table.setLeftMargin(left)
        table.setWidth(QTextLength())
        if widths:
            percent = QTextLength.Type.PercentageLength
            table.setWidth(QTextLength(percent, 100))
            table.setColumnWidthConstraints([QTextLength(percent, 100 * width / sum(widths)) for width in widths])
        table.setHeaderRowCount(1)
        return table

    def _chars(self, font: QFont, role: str) -> QTextCharFormat:
        chars = QTextCharFormat()
        chars.setFont(font)
        chars.setForeground(self.theme.color(role))
        return chars
