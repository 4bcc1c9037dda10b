"""Formulas among the words of a text document: how large each is there, and how it is drawn."""

from functools import cache

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QPainter,
    QPen,
    QPyTextObject,
    QTextBlock,
    QTextCharFormat,
    QTextDocument,
    QTextFormat,
    QTransform,
)

from llama_gui.ui.markdown.formats import Property
from llama_gui.ui.markdown.typesetting.formulas import Drawing, drawing
from llama_gui.ui.theme import frame_font

_BOLD = 0.035
_SURELY_FITS = 150.0
_LARGEST = 400


def measure(chars: QTextCharFormat, drawn: Drawing, em: float) -> None:
    """Tell a format how large the formula is that it stands for. `em`: the size of its letters in pixels.

    Qt gives an object a descent only where it stands in the middle of its line: so much that its ascent is greater by
    half the height of a small letter. So the object gets a font whose small letters have just that height.
    """
    chars.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
    ascent, descent = drawn.ascent * em, drawn.descent * em
    pixels, lean = _font_for(round(2 * (ascent - descent)))
    font = frame_font(pixels, QFont.Weight(chars.fontWeight()))
    chars.setFont(font)
    chars.setProperty(Property.FORMULA_EM, em)
    chars.setProperty(Property.FORMULA_WIDTH, drawn.width * em)
    chars.setProperty(Property.FORMULA_HEIGHT, max(2 * ascent - lean, 2 * descent + lean))


@cache
def _font_for(twice: int) -> tuple[int, float]:
    """The size of a font in pixels of which half a small letter is so high, in halves of a pixel, and that height."""
    best = 1
    for pixels in range(1, min(_LARGEST, 3 * max(1, twice) + 8)):
        if abs(_small_letter(pixels) - twice) < abs(_small_letter(best) - twice):
            best = pixels
    return best, _small_letter(best) / 2


@cache
def _small_letter(pixels: int) -> int:
    return QFontMetrics(frame_font(pixels)).xHeight()


class FormulaObject(QPyTextObject):
    """Draws formulas in the colour of their text. One that is wider than the column is drawn smaller."""

    def intrinsicSize(self, document: QTextDocument, position: int, form: QTextFormat) -> QSizeF:
        """The room it takes, in pixels."""
        width, height = form.doubleProperty(Property.FORMULA_WIDTH), form.doubleProperty(Property.FORMULA_HEIGHT)
        share = 1.0
        if width > _SURELY_FITS:
            share = min(1.0, max(0.05, _room(document, document.findBlock(position)) / width))
        return QSizeF(width * share, height * share)

    def drawObject(
        self, painter: QPainter, rect: QRectF, document: QTextDocument, position: int, form: QTextFormat
    ) -> None:
        """Draw it on the baseline of its line."""
        drawn = drawing(
            str(form.property(Property.FORMULA)), is_display=bool(form.property(Property.FORMULA_IS_DISPLAY))
        )
        width = form.doubleProperty(Property.FORMULA_WIDTH)
        if drawn is None or not width:
            return
        chars = form.toCharFormat()
        em = form.doubleProperty(Property.FORMULA_EM) * rect.width() / width
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        baseline = _snapped(painter, QPointF(rect.left(), _baseline(document, position, rect)))
        painter.translate(baseline)
        path = QTransform.fromScale(em, em).map(drawn.path)
        colour = chars.foreground().color()
        painter.fillPath(path, colour)
        if chars.fontWeight() > QFont.Weight.Medium:
            painter.strokePath(path, QPen(colour, _BOLD * em))
        thinnest = 1 / painter.device().devicePixelRatioF()
        for x, y, wide, high in drawn.bars:
            # On whole pixels, as browsers do: a line of 1.2 pixels would be a grey one of two.
            thick = max(thinnest, round(high * em / thinnest) * thinnest)
            top = round(y * em / thinnest) * thinnest
            painter.fillRect(QRectF(x * em, top, wide * em, thick), colour)
        painter.restore()


def _room(document: QTextDocument, block: QTextBlock) -> float:
    """How wide the column is where a block stands."""
    form, item_of = block.blockFormat(), block.textList()
    indent = form.indent() + (item_of.format().indent() if item_of is not None else 0)
    beside = document.rootFrame().frameFormat().rightMargin() + form.leftMargin() + form.rightMargin()
    return document.textWidth() - beside - indent * document.indentWidth() - 1


def _baseline(document: QTextDocument, position: int, rect: QRectF) -> float:
    """Qt puts the middle of the object in the middle of its line; from there to the baseline of its words."""
    block = document.findBlock(position)
    line = block.layout().lineForTextPosition(position - block.position())
    if not line.isValid():
        return rect.bottom()
    leading = max(0.0, line.leading()) if line.leadingIncluded() else 0.0
    return rect.center().y() + (line.ascent() - line.descent() + leading) / 2


def _snapped(painter: QPainter, place: QPointF) -> QPointF:
    """The same place, on a whole line of pixels, where the letters stand, too."""
    ratio = painter.device().devicePixelRatioF()
    moved = painter.transform().map(place)
    return QPointF(place.x(), place.y() + round(moved.y() * ratio) / ratio - moved.y())
