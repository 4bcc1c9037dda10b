"""The font of formulas: its glyphs as outlines, and larger forms of brackets, roots and arrows."""

import importlib.util
from functools import cache
from pathlib import Path

from PySide6.QtGui import QFont, QPainterPath, QRawFont

from llama_gui.ui.markdown.latex.tokens import Unshown
from llama_gui.ui.markdown.typesetting.boxes import Box, Ink, Part
from llama_gui.ui.markdown.typesetting.math_table import Forms, MathTable, Piece

EM = 1000.0
_MOST_PIECES = 200


class MathFont:
    """One font with a MATH table. Lengths are thousandths of its em.

    Raises ValueError where the file is no such font.
    """

    def __init__(self, path: Path) -> None:
        self._raw = QRawFont(str(path), EM, QFont.HintingPreference.PreferNoHinting)
        table = self._raw.fontTable("MATH").data() if self._raw.isValid() else b""
        if not table or self._raw.unitsPerEm() != EM:
            raise ValueError(f"{path} has no MATH table in thousandths of an em")
        self.table = MathTable(bytes(table))
        self._glyphs: dict[str, int] = {}
        self._boxes: dict[tuple[int, float], Box] = {}
        self._outlines: dict[int, QPainterPath] = {}

    @property
    def x_height(self) -> float:
        """The height of a small letter."""
        return self._raw.xHeight()

    def constant(self, name: str) -> float:
        """A length that the designers of the font chose."""
        return self.table.constants[name]

    def glyph(self, character: str) -> int:
        """The number of a character's glyph. Raises Unshown where the font has none."""
        if character not in self._glyphs:
            indexes = self._raw.glyphIndexesForString(character)
            self._glyphs[character] = indexes[0] if len(indexes) == 1 else 0
        if not self._glyphs[character]:
            raise Unshown
        return self._glyphs[character]

    def outline(self, glyph: int) -> QPainterPath:
        """Its outline, with y = 0 at the baseline."""
        if glyph not in self._outlines:
            self._outlines[glyph] = self._raw.pathForGlyph(glyph)
        return self._outlines[glyph]

    def box(self, glyph: int, scale: float = 1.0) -> Box:
        """A glyph in a size."""
        if (glyph, scale) not in self._boxes:
            bounds = self.outline(glyph).controlPointRect()
            width = self._raw.advancesForGlyphIndexes([glyph])[0].x()
            accent = self.table.accents.get(glyph)
            if accent is None and width == 0:
                accent = bounds.center().x()
            self._boxes[glyph, scale] = Box(
                width * scale,
                -bounds.top() * scale,
                bounds.bottom() * scale,
                ((0.0, 0.0, Ink(glyph, scale)),),
                self.table.italics.get(glyph, 0) * scale,
                None if accent is None else accent * scale,
            )
        return self._boxes[glyph, scale]

    def character(self, character: str, scale: float = 1.0) -> Box:
        """A character in a size. Raises Unshown where the font has none."""
        return self.box(self.glyph(character), scale)

    def tall(self, character: str, height: float, scale: float = 1.0) -> Box:
        """The smallest form of it that is so high, or the highest there is."""
        return self._form(character, height, scale, self.table.tall, is_tall=True)

    def wide(self, character: str, width: float, scale: float = 1.0) -> Box:
        """The smallest form of it that is so wide, or the widest there is."""
        return self._form(character, width, scale, self.table.wide, is_tall=False)

    def narrow(self, character: str, width: float, scale: float = 1.0) -> Box:
        """The widest form of it that is not wider, or its own: for accents."""
        glyph = self.glyph(character)
        forms = self.table.wide.get(glyph)
        fitting = [number for number, size in (forms.variants if forms else ()) if size * scale <= width]
        return self.box(fitting[-1] if fitting else glyph, scale)

    def _form(self, character: str, size: float, scale: float, known: dict[int, Forms], *, is_tall: bool) -> Box:
        glyph = self.glyph(character)
        forms = known.get(glyph)
        if forms is None:
            return self.box(glyph, scale)
        large = next((number for number, length in forms.variants if length * scale >= size), None)
        if large is not None:
            return self.box(large, scale)
        if forms.pieces:
            return self._assembled(forms.pieces, size / scale, scale, is_tall=is_tall)
        return self.box(forms.variants[-1][0] if forms.variants else glyph, scale)

    def _assembled(self, pieces: tuple[Piece, ...], size: float, scale: float, *, is_tall: bool) -> Box:
        """Put together, with as many extenders as needed, which then overlap as much as they must."""
        fixed = sum(piece.length for piece in pieces if not piece.is_extender)
        stretch = sum(piece.length for piece in pieces if piece.is_extender)
        row: list[Piece] = []
        for repeats in range(_MOST_PIECES):
            row = [piece for piece in pieces for _ in range(repeats if piece.is_extender else 1)]
            if fixed + repeats * stretch - self.table.overlap * (len(row) - 1) >= size and row:
                break
        joins = max(1, len(row) - 1)
        spare = sum(piece.length for piece in row) - size
        parts: list[Part] = []
        place, across = 0.0, [self.box(piece.glyph, scale) for piece in row]
        for number, (piece, box) in enumerate(zip(row, across, strict=True)):
            if number:
                most = min(row[number - 1].end, piece.start)
                place -= min(max(self.table.overlap, spare / joins), max(most, self.table.overlap)) * scale
            ink = Ink(piece.glyph, scale, is_piece=True)
            parts.append((0.0, -place - box.depth, ink) if is_tall else (place, 0.0, ink))
            place += piece.length * scale
        if is_tall:
            return Box(max(box.width for box in across), place, 0.0, tuple(parts))
        return Box(place, max(box.height for box in across), max(box.depth for box in across), tuple(parts))


@cache
def math_font() -> MathFont:
    """STIX Two Math, which comes with ziamath; of that nothing else is loaded, for it takes a fifth of a second.

    Raises ValueError where it is not there.
    """
    found = importlib.util.find_spec("ziamath")
    if found is None or found.origin is None:
        raise ValueError("ziamath is not installed")
    return MathFont(Path(found.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf")
