"""How large a table can be set, so that no word in it is broken."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from markdown_it.token import Token
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF

from llama_gui.ui.markdown.formats import DENSITIES, Density, Formats
from llama_gui.ui.markdown.formula import Formula
from llama_gui.ui.theme import TRANSCRIPT_PX

Cell = tuple[Token, Qt.AlignmentFlag]
_MOST = 180.0
"""A longer word, such as an address, may be broken; it would make all other columns small."""
_LINE = 1.0
WIDEST_IN_CELL = 0.5
"""Of the column: a wider formula in a cell is shown as Unicode, which wraps."""


@dataclass(frozen=True, slots=True)
class TableLook:
    """How a table is set. `widths`: what each column needs so that no word in it is broken; empty where there is room
    enough, and Qt divides it well. `is_wide`: together they need more than the column of the text has.
    """

    density: Density
    widths: Sequence[float] = ()
    is_wide: bool = False


def table_look(rows: Sequence[Sequence[Cell]], formats: Formats, room: float) -> TableLook:
    """The largest look whose words fit into `room`; the smallest where not even that one does."""
    look = TableLook(DENSITIES[0])
    for density in DENSITIES:
        air = 2 * density.padding * formats.zoom + _LINE
        widths = [ceil(width + air) for width in _widest_words(rows, formats, density, room)]
        if sum(widths) + _LINE <= room:
            return look if density is DENSITIES[0] else TableLook(density, widths)
        look = TableLook(density, widths, is_wide=True)
    return look


def _widest_words(rows: Sequence[Sequence[Cell]], formats: Formats, density: Density, room: float) -> list[float]:
    """The width of the widest word or formula of each column."""
    widths = [0.0] * max(len(row) for row in rows)
    most = _MOST * formats.zoom * density.scale
    chars = formats.text(pixels=TRANSCRIPT_PX * density.scale)
    prose = QFontMetricsF(
        formats.text(pixels=TRANSCRIPT_PX * density.scale, bold=True).font()
    )  # as a head is, and any word may be
    code = QFontMetricsF(formats.code().font())
    for row in rows:
        for column, (token, _alignment) in enumerate(row):
            for child in token.children or []:
                if child.type == "maths" and (wide := Formula.of(child, chars, room * WIDEST_IN_CELL).width):
                    widths[column] = max(widths[column], wide)
                    continue
                metrics = code if child.type == "code_inline" else prose
                longest = max(child.content.split(), key=len, default="")
                widths[column] = max(widths[column], min(metrics.horizontalAdvance(longest), most))
    return widths
