"""Formulas among the words of a text document: how large each is there, and how it is drawn."""

from dataclasses import dataclass
from functools import cache

from PySide6.QtCore import QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QFontMetricsF,
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
from llama_gui.ui.markdown.typesetting.formulas import Drawing, inked
from llama_gui.ui.theme import frame_font

_BOLD = 0.035
_SURELY_FITS = 150.0
_AROUND = 0.12
_LARGEST = 400
_SELECTION = QTextFormat.Property.ForegroundBrush.value + 1
"""Where Qt keeps the ground of a selection for the objects in it; it has no name outside."""


def measure(chars: QTextCharFormat, drawn: Drawing, em: float) -> None:
    """Tell a format how large the formula is that it stands for. `em`: the size of its letters in pixels.

    Qt gives an object a descent only where it stands in the middle of its line: so much that its ascent is greater by
    half the height of a small letter. So the object gets a font whose small letters have just that height.
    """
    chars.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
    is_display = bool(chars.property(Property.FORMULA_IS_DISPLAY))
    air = _AROUND if is_display else 0.0
    ascent, descent = (drawn.ascent + air) * em, (drawn.descent + air) * em
    if not is_display:  # as high as words, so that a line of nothing else stands like its neighbours, as in a table
        words = QFontMetricsF(chars.font())
        ascent, descent = max(ascent, words.ascent()), max(descent, words.descent())
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


@dataclass(frozen=True, slots=True)
class _Selected:
    """A formula that is to be drawn over what Qt lays on a selection: where, in pixels of the window."""

    form: QTextFormat
    rect: QRectF
    baseline: QPointF


class FormulaObject(QPyTextObject):
    """Draws formulas in the colour of their text. One that is wider than the column is drawn smaller."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._selected: list[_Selected] = []

    def intrinsicSize(self, document: QTextDocument, position: int, form: QTextFormat) -> QSizeF:
        """The room it takes, in pixels."""
        width, height = form.doubleProperty(Property.FORMULA_WIDTH), form.doubleProperty(Property.FORMULA_HEIGHT)
        share = 1.0
        if width > _SURELY_FITS:
            share = min(1.0, max(0.05, _room(document, document.findBlock(position)) / width))
        return QSizeF(width * share, height * share)

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, document: QTextDocument, position: int, form: QTextFormat
    ) -> None:
        """Draw it on the baseline of its line."""
        rect = QRectF(rect)
        baseline = QPointF(rect.left(), _baseline(document, position, rect))
        if form.brushProperty(_SELECTION).style() != Qt.BrushStyle.NoBrush:
            # Qt lays half of the selection's colour over it after this; see `draw_selected`.
            moved = painter.transform()
            self._selected.append(_Selected(QTextFormat(form), moved.mapRect(rect), moved.map(baseline)))
            return
        _draw(painter, form, rect, baseline)

    def draw_selected(self, painter: QPainter) -> None:
        """Draw those that are selected once more, on top of all else."""
        for chosen in self._selected:
            # Over the words before it, too, which a selection would show.
            painter.fillRect(chosen.rect, chosen.form.brushProperty(_SELECTION))
            _draw(painter, chosen.form, chosen.rect, chosen.baseline)
        self._selected.clear()


def _draw(painter: QPainter, form: QTextFormat, rect: QRectF, baseline: QPointF) -> None:
    source = form.stringProperty(Property.FORMULA)
    part = form.intProperty(Property.FORMULA_PART) if form.hasProperty(Property.FORMULA_PART) else None
    ink = inked(source, is_display=form.boolProperty(Property.FORMULA_IS_DISPLAY), part=part)
    width = form.doubleProperty(Property.FORMULA_WIDTH)
    if ink is None or not width:
        return
    chars = form.toCharFormat()
    em = form.doubleProperty(Property.FORMULA_EM) * rect.width() / width
    colour = chars.foreground().color()
    path = QTransform.fromScale(em, em).map(ink.path)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(_snapped(painter, baseline))
    painter.fillPath(path, colour)
    if chars.fontWeight() > QFont.Weight.Medium:
        painter.strokePath(path, QPen(colour, _BOLD * em))
    pixel = 1 / painter.device().devicePixelRatioF()
    for x, y, wide, high in ink.bars:
        # On whole pixels, as browsers do: a line of 1.2 pixels would be a grey one of two.
        thick = max(pixel, round(high * em / pixel) * pixel)
        painter.fillRect(QRectF(x * em, round(y * em / pixel) * pixel, wide * em, thick), colour)
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
