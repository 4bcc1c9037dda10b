"""Rows and columns: matrices, cases, aligned equations, with lines between them."""

from collections.abc import Callable

from llama_gui.ui.markdown.latex.tokens import Unshown
from llama_gui.ui.markdown.latex.tree import Grid, Node
from llama_gui.ui.markdown.typesetting.boxes import Box, Part, Rule, beside, lifted
from llama_gui.ui.markdown.typesetting.math_font import EM, MathFont
from llama_gui.ui.markdown.typesetting.styles import Style

_LINE = 1.2
"""From baseline to baseline at least, in em."""
_ABOVE = 0.7
_AROUND = 0.12
_RULE = 0.045
_MOST_CELLS = 400


class GridSetter:
    """Sets grids; `lay` sets their cells."""

    def __init__(self, font: MathFont, lay: Callable[[Node, Style], Box]) -> None:
        self._font = font
        self._lay = lay

    def grid(self, node: Grid, style: Style) -> Box:
        """A grid whose middle is at the height of a minus sign, in its brackets. Raises Unshown if it is too large."""
        count = max(map(len, node.rows))
        if len(node.rows) * count > _MOST_CELLS:
            raise Unshown
        style = style.at(max(node.level, style.level if style.is_script else 0))
        em = EM * style.scale
        rows = [[self._lay(cell, style) for cell in row] for row in node.rows]
        widths = [max((row[column].width for row in rows if column < len(row)), default=0.0) for column in range(count)]
        lefts, width = _places(node, widths, em)
        parts: list[Part] = []
        y, edges = 0.0, [0.0]
        for number, row in enumerate(rows):
            height = max([_LINE * _ABOVE * node.stretch * em, *(box.height for box in row)])
            depth = max([_LINE * (1 - _ABOVE) * node.stretch * em, *(box.depth for box in row)])
            y += height + (node.jot * em if number else 0.0)
            for column, box in enumerate(row):
                align = node.columns[min(column, len(node.columns) - 1)]
                if len(node.columns) > 1 and column >= len(node.columns):
                    align = node.columns[column % len(node.columns)]
                share = {"l": 0.0, "c": 0.5, "r": 1.0}[align]
                parts.append((lefts[column] + share * (widths[column] - box.width), y, box))
            y += depth
            edges.append(y + (node.jot * em / 2 if number + 1 < len(rows) else 0.0))
        rule = _RULE * em
        for bar in node.bars:
            x = _between(lefts, widths, bar, width)
            parts.append((x - rule / 2, 0.0, Rule(rule, y)))
        for line in node.rules:
            if line < len(edges):
                parts.append((0.0, edges[line] - rule / 2, Rule(width, rule)))
        axis = self._font.constant("axis_height") * style.scale
        body = lifted(Box(width, 0.0, y, tuple(parts)), y / 2 + axis)
        if not any(node.brackets):
            return body
        left, right = (self._bracket(side, body, style) for side in node.brackets)
        air = Box(_AROUND * em)
        return beside([left, air, body, air, right])

    def _bracket(self, character: str, body: Box, style: Style) -> Box:
        if not character:
            return Box()
        box = self._font.tall(character, body.total * 0.95, style.scale)
        axis = self._font.constant("axis_height") * style.scale
        return lifted(box, axis - (box.height - box.depth) / 2)


def _places(node: Grid, widths: list[float], em: float) -> tuple[list[float], float]:
    """Where each column begins, and how wide all of it is."""
    edge = 0.5 * em if node.bars or node.rules else 0.0
    x, lefts = edge, []
    for number, width in enumerate(widths):
        if number:
            x += node.gaps[(number - 1) % len(node.gaps)] * em
        lefts.append(x)
        x += width
    return lefts, x + edge


def _between(lefts: list[float], widths: list[float], column: int, width: float) -> float:
    """The middle between a column and the one before it, or the edge."""
    if column == 0:
        return 0.0
    if column >= len(lefts):
        return width
    return (lefts[column - 1] + widths[column - 1] + lefts[column]) / 2
