"""A formula -> its drawing, once for every size and colour. Whatever goes wrong, there is none."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainterPath, QPainterPathStroker, QTransform

from llama_gui.ui.markdown.latex.reading import tree_of
from llama_gui.ui.markdown.latex.tokens import MAX_LENGTH, token_count
from llama_gui.ui.markdown.typesetting.boxes import Box, Ink, Mark, Rule, Stroke
from llama_gui.ui.markdown.typesetting.math_font import EM, MathFont, math_font
from llama_gui.ui.markdown.typesetting.setter import Setter
from llama_gui.ui.markdown.typesetting.styles import DISPLAY, TEXT

_MOST_TOKENS = 1_000
_MOST_MARKS = 2_500
_MOST_EM = 150.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """A formula that is laid out, and how large it is, in em."""

    marks: tuple[Mark, ...]
    width: float
    ascent: float
    descent: float


@dataclass(frozen=True, slots=True)
class Inked:
    """The same as one outline from its baseline, and level bars: x, y, width, height. Lengths are in em."""

    path: QPainterPath
    bars: tuple[tuple[float, float, float, float], ...]


@lru_cache(maxsize=2048)
def drawing(formula: str, *, is_display: bool) -> Drawing | None:
    """The drawing of a formula, None where it cannot be laid out in full."""
    return next(iter(_attempted(formula, is_display=is_display, is_parted=False)), None)


@lru_cache(maxsize=512)
def parts(formula: str) -> tuple[Drawing, ...]:
    """A formula among words in the parts between which a line may end; none where it cannot be laid out."""
    return _attempted(formula, is_display=False, is_parted=True)


@lru_cache(maxsize=512)
def inked(formula: str, *, is_display: bool, part: int | None = None) -> Inked | None:
    """What is painted of a formula, or of one of its parts; only those in sight need it."""
    drawn = drawing(formula, is_display=is_display) if part is None else dict(enumerate(parts(formula))).get(part)
    return None if drawn is None else _inked(drawn, math_font())


def _attempted(formula: str, *, is_display: bool, is_parted: bool) -> tuple[Drawing, ...]:
    if len(formula) > MAX_LENGTH or not formula.strip() or token_count(formula) > _MOST_TOKENS:
        return ()
    try:
        setter = Setter(math_font())
        tree, style = tree_of(formula), setter.style(DISPLAY if is_display else TEXT)
        drawn = [_drawn(box) for box in (setter.lines(tree, style) if is_parted else [setter.box(tree, style)])]
    except Exception:  # of any kind, the end of the stack or of memory, too: then it is Unicode, as it always can be
        return ()
    found = tuple(one for one in drawn if one is not None)
    return found if len(found) == len(drawn) else ()


def _drawn(box: Box) -> Drawing | None:
    height, depth = max(box.height, 0.0), max(box.depth, 0.0)
    marks = tuple(islice(box.marks(), _MOST_MARKS + 1))
    if not 0 < box.width < _MOST_EM * EM or height + depth > _MOST_EM * EM or len(marks) > _MOST_MARKS:
        return None
    return Drawing(marks, box.width / EM, height / EM, depth / EM)


def _inked(drawn: Drawing, font: MathFont) -> Inked:
    path, pieces = QPainterPath(), QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    pieces.setFillRule(Qt.FillRule.WindingFill)
    bars: list[tuple[float, float, float, float]] = []
    for x, y, mark in drawn.marks:
        match mark:
            case Ink():
                size = mark.scale / EM
                outline = QTransform(size, 0, 0, size, x / EM, y / EM).map(font.outline(mark.glyph))
                (pieces if mark.is_piece else path).addPath(outline)
            case Rule():
                bars.append((x / EM, y / EM, mark.width / EM, mark.height / EM))
            case Stroke():
                path.addPath(_stroke(x, y, mark))
    if not pieces.isEmpty():  # where two overlap, their edges would be darker
        path.addPath(pieces.simplified())
    return Inked(path, tuple(bars))


def _stroke(x: float, y: float, mark: Stroke) -> QPainterPath:
    line = QPainterPath(QPointF(x, y) / EM)
    line.lineTo(QPointF(x + mark.right, y + mark.down) / EM)
    stroker = QPainterPathStroker()
    stroker.setWidth(mark.thickness / EM)
    return stroker.createStroke(line)
