"""The MATH table of an OpenType font: constants, taller and wider forms, where accents stand; pure."""

import struct
from dataclasses import dataclass

_CONSTANTS = """
    leading axis_height accent_base_height flattened_accent_base_height sub_shift_down sub_top_max sub_drop_min
    sup_shift_up sup_shift_up_cramped sup_bottom_min sup_drop_max sub_sup_gap_min sup_bottom_max_with_sub
    space_after_script upper_limit_gap upper_limit_rise lower_limit_gap lower_limit_drop stack_top_up
    stack_top_up_display stack_bottom_down stack_bottom_down_display stack_gap stack_gap_display stretch_top_up
    stretch_bottom_down stretch_gap_above stretch_gap_below numerator_up numerator_up_display denominator_down
    denominator_down_display numerator_gap numerator_gap_display fraction_rule denominator_gap
    denominator_gap_display skewed_horizontal skewed_vertical over_gap over_rule over_extra under_gap under_rule
    under_extra radical_gap radical_gap_display radical_rule radical_extra kern_before_degree kern_after_degree
""".split()  # noqa: SIM905 - fifty names in nine lines
_EXTENDER = 1


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of which tall brackets and long arrows are put together; extenders may be repeated."""

    glyph: int
    start: int
    end: int
    length: int
    is_extender: bool


@dataclass(frozen=True, slots=True)
class Forms:
    """The larger forms of a glyph with their sizes, the smallest first, and the pieces of any larger one."""

    variants: tuple[tuple[int, int], ...]
    pieces: tuple[Piece, ...]


class MathTable:
    """Reads the table once. Every value is in the font's own units.

    Raises struct.error where the table is cut short.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        constants, info, variants = self._words(4, 3)
        self.script_scale, self.script_script_scale = (percent / 100 for percent in self._words(constants, 2))
        self.operator_height = self._words(constants + 6, 1)[0]
        values = struct.unpack_from(">" + "hH" * len(_CONSTANTS), data, constants + 8)[::2]
        self.constants: dict[str, int] = dict(zip(_CONSTANTS, values, strict=True))
        self.degree_raise = struct.unpack_from(">h", data, constants + 8 + 4 * len(_CONSTANTS))[0] / 100
        italics, accents = self._words(info, 2)
        self.italics = self._values(info + italics)
        self.accents = self._values(info + accents)
        self.overlap, vertical, horizontal, tall, wide = self._words(variants, 5)
        offsets = self._words(variants + 10, tall + wide)
        self.tall = self._forms(variants, variants + vertical, offsets[:tall])
        self.wide = self._forms(variants, variants + horizontal, offsets[tall:])

    def _words(self, offset: int, count: int) -> tuple[int, ...]:
        return struct.unpack_from(f">{count}H", self._data, offset)

    def _coverage(self, offset: int) -> list[int]:
        form, count = self._words(offset, 2)
        if form == 1:
            return list(self._words(offset + 4, count))
        ranges = struct.iter_unpack(">HHH", self._data[offset + 4 : offset + 4 + 6 * count])
        return [glyph for first, last, _ in ranges for glyph in range(first, last + 1)]

    def _values(self, offset: int) -> dict[int, int]:
        coverage, count = self._words(offset, 2)
        values = struct.unpack_from(">" + "hH" * count, self._data, offset + 4)[::2]
        return dict(zip(self._coverage(offset + coverage), values, strict=False))

    def _forms(self, start: int, coverage: int, offsets: tuple[int, ...]) -> dict[int, Forms]:
        return {
            glyph: self._one(start + offset) for glyph, offset in zip(self._coverage(coverage), offsets, strict=False)
        }

    def _one(self, offset: int) -> Forms:
        assembly, count = self._words(offset, 2)
        words = self._words(offset + 4, 2 * count)
        pieces: list[Piece] = []
        if assembly:
            for number in range(self._words(offset + assembly + 4, 1)[0]):
                glyph, first, last, length, flags = self._words(offset + assembly + 6 + 10 * number, 5)
                pieces.append(Piece(glyph, first, last, length, bool(flags & _EXTENDER)))
        return Forms(tuple(zip(words[::2], words[1::2], strict=True)), tuple(pieces))
