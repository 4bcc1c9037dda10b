"""What lies behind the text: the user's band, boxes of code, bars of quotations, rules."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen, QTextBlock, QTextCursor, QTextDocument, QTextListFormat
from PySide6.QtWidgets import QTextEdit

from llama_gui.ui.markdown.blocks import TASK_BOXES
from llama_gui.ui.markdown.formats import BOX_PADDING, QUOTE_INDENT, Box, Property
from llama_gui.ui.theme import Theme

_RADIUS = 6.0
_BEYOND = 40.0
_BULLET_GAP = 1.6  # of the height of a small letter, as is:
_BULLET = 0.32
_PAD_USER = 10.0
_PAD_CODE = 10.0
_PAD_HEADER = 7.0
_FLASH_ALPHA = 30


class BackgroundPainter:
    """Paints for the visible blocks of one document; coordinates are the document's."""

    def __init__(self, painter: QPainter, document: QTextDocument, theme: Theme, visible: QRectF) -> None:
        self._painter = painter
        self._layout = document.documentLayout()
        self._theme = theme
        self._visible = visible
        self._right = column_width(document)

    def paint(self, first: QTextBlock) -> None:
        """Paint from a block to the end of what is visible."""
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        block = first
        while block.isValid() and self._rect(block).top() <= self._visible.bottom() + _BEYOND:
            box = block.blockFormat().property(Property.BOX)
            self._quote(block)
            self._bullet(block)
            if box == Box.RULE:
                self._rule(block)
            elif box:
                block = self._box(block)
            block = block.next()

    def _rect(self, block: QTextBlock) -> QRectF:
        return self._layout.blockBoundingRect(block)

    def _box(self, block: QTextBlock) -> QTextBlock:
        """Paint the box of which `block` is the first visible part; returns its last visible block."""
        box_id = _box_id(block)
        starts_here = _box_id(block.previous()) != box_id
        last, header = block, QRectF()
        if block.blockFormat().property(Property.BOX) == Box.CODE_HEADER:
            header = self._rect(block)
        while _box_id(last.next()) == box_id and self._rect(last).top() <= self._visible.bottom() + _BEYOND:
            last = last.next()
            self._quote(last)
        if block.blockFormat().property(Property.BOX) == Box.USER:
            self._fill(self._outline(block, last, _PAD_USER, starts_here), "user_message", None)
        else:
            self._code(self._outline(block, last, _PAD_CODE if header.isNull() else _PAD_HEADER, starts_here), header)
            if not header.isNull():
                self._language(block)
        return last

    def _outline(self, first: QTextBlock, last: QTextBlock, top_padding: float, starts_here: bool) -> QRectF:
        left = first.blockFormat().leftMargin() - BOX_PADDING + 0.5
        top = self._rect(first).top() - (top_padding if starts_here else _BEYOND)
        bottom_padding = _PAD_USER if first.blockFormat().property(Property.BOX) == Box.USER else _PAD_CODE
        return QRectF(
            QPointF(left, round(top) + 0.5),
            QPointF(self._right - 0.5, round(self._rect(last).bottom() + bottom_padding) + 0.5),
        )

    def _code(self, outline: QRectF, header: QRectF) -> None:
        self._fill(outline, "code_surface", "line")
        if not header.isNull():
            y = round(header.bottom() + _PAD_HEADER - 1) + 0.5
            self._painter.setPen(QPen(self._theme.color("line"), 1))
            self._painter.drawLine(QPointF(outline.left(), y), QPointF(outline.right(), y))

    def _language(self, header: QTextBlock) -> None:
        text = header.blockFormat().property(Property.LANGUAGE)
        if text:
            rect = self._rect(header)
            self._painter.setFont(header.charFormat().font())
            self._painter.setPen(self._theme.color("muted"))
            left = header.blockFormat().leftMargin()
            place = QRectF(left, rect.top(), self._right - left, rect.height())
            left_aligned = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute  # code is never mirrored
            self._painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | left_aligned, text)

    def _fill(self, rect: QRectF, fill: str, line: str | None) -> None:
        self._painter.setBrush(self._theme.color(fill))
        self._painter.setPen(QPen(self._theme.color(line), 1) if line else Qt.PenStyle.NoPen)
        self._painter.drawRoundedRect(rect, _RADIUS, _RADIUS)

    def _quote(self, block: QTextBlock) -> None:
        depth = block.blockFormat().property(Property.QUOTE) or 0
        if not depth:
            return
        rect, before = self._rect(block), block.previous()
        joins = (before.blockFormat().property(Property.QUOTE) or 0) if before.isValid() else 0
        is_from_right = block.textDirection() == Qt.LayoutDirection.RightToLeft
        for level in range(depth):
            top = self._rect(before).bottom() if level < joins else rect.top()
            beside = (block.blockFormat().property(Property.QUOTE_LEFT) or 0) + level * QUOTE_INDENT
            x = self._right - 2 - beside if is_from_right else beside
            self._painter.fillRect(QRectF(x, top, 2, rect.bottom() - top), self._theme.color("line"))

    def _bullet(self, block: QTextBlock) -> None:
        item_of = block.textList()
        if item_of is None or item_of.format().style() != QTextListFormat.Style.ListStyleUndefined:
            return
        if block.text().startswith(tuple(TASK_BOXES.values())):
            return  # the box is its bullet
        line = block.layout().lineAt(0)
        if not line.isValid():
            return
        text = line.naturalTextRect().translated(block.layout().position())
        is_from_right = block.textDirection() == Qt.LayoutDirection.RightToLeft
        height = QFontMetricsF(block.charFormat().font()).xHeight()
        gap = height * _BULLET_GAP
        x = text.right() + gap if is_from_right else text.left() - gap
        centre = QPointF(x, text.top() + line.ascent() - height / 2)
        is_hollow = item_of.format().indent() % 2 == 0
        self._painter.setPen(QPen(self._theme.color("muted"), 1.2) if is_hollow else Qt.PenStyle.NoPen)
        self._painter.setBrush(Qt.BrushStyle.NoBrush if is_hollow else self._theme.color("muted"))
        self._painter.drawEllipse(centre, height * _BULLET, height * _BULLET)

    def _rule(self, block: QTextBlock) -> None:
        y = round(self._rect(block).center().y()) + 0.5
        self._painter.setPen(QPen(self._theme.color("line"), 1))
        self._painter.drawLine(QPointF(block.blockFormat().leftMargin(), y), QPointF(self._right, y))


def column_width(document: QTextDocument) -> float:
    """How wide the text is; beside it there may be room for wide tables."""
    return document.textWidth() - document.rootFrame().frameFormat().rightMargin()


def _box_id(block: QTextBlock) -> int | None:
    return block.blockFormat().property(Property.BOX_ID) if block.isValid() else None


def paint_flash(painter: QPainter, first: QTextCursor, last: QTextCursor, theme: Theme) -> None:
    """Light up a message; coordinates are the document's."""
    document = first.document()
    layout = document.documentLayout()
    top = layout.blockBoundingRect(first.block()).top()
    bottom = layout.blockBoundingRect(last.block()).bottom()
    ground = theme.color("accent")
    ground.setAlpha(_FLASH_ALPHA)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    painter.drawRoundedRect(
        QRectF(0, top - _PAD_USER, column_width(document), bottom - top + 2 * _PAD_USER), _RADIUS, _RADIUS
    )


def paint_caret(view: QTextEdit, theme: Theme) -> None:
    """The short line after the last word, where more will come."""
    end = QTextCursor(view.document())
    end.movePosition(QTextCursor.MoveOperation.End)
    rect = view.cursorRect(end)
    painter = QPainter(view.viewport())
    painter.fillRect(rect.right() + 2, rect.bottom() - 3, 8, 2, theme.color("accent"))
    painter.end()
