"""Ink at its places, and boxes of it. Lengths are thousandths of an em, y grows downwards; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ink:
    """One glyph of the font, in a size. `is_piece`: it overlaps with others, together they are one sign."""

    glyph: int
    scale: float
    is_piece: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A filled bar from (0, 0), to the right and downwards."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line from (0, 0), for what is crossed out."""

    right: float
    down: float
    thickness: float


Mark = tuple[float, float, Ink | Rule | Stroke]
"""Ink, and where it is."""
Part = tuple[float, float, "Box | Ink | Rule | Stroke"]


@dataclass(frozen=True, slots=True)
class Box:
    """Something with a baseline. `height` is above it, `depth` below; either may be negative.

    `italic`: how far the top leans out to the right; `accent`: above which place an accent stands.
    """

    width: float = 0.0
    height: float = 0.0
    depth: float = 0.0
    parts: tuple[Part, ...] = ()
    italic: float = 0.0
    accent: float | None = None

    @property
    def total(self) -> float:
        """From its top to its bottom."""
        return self.height + self.depth

    @property
    def middle(self) -> float:
        """Above which place an accent stands."""
        return self.width / 2 if self.accent is None else self.accent

    def marks(self, x: float = 0.0, y: float = 0.0) -> Iterator[Mark]:
        """All ink in it, where it is."""
        for right, down, part in self.parts:
            if isinstance(part, Box):
                yield from part.marks(x + right, y + down)
            else:
                yield x + right, y + down, part


def beside(boxes: Sequence[Box]) -> Box:
    """One after the other, on one baseline."""
    parts: list[Part] = []
    x = 0.0
    for box in boxes:
        parts.append((x, 0.0, box))
        x += box.width
    height = max((box.height for box in boxes), default=0.0)
    depth = max((box.depth for box in boxes), default=0.0)
    return Box(x, height, depth, tuple(parts))


def space(width: float) -> Box:
    """Nothing, so wide."""
    return Box(width, float("-inf"), float("-inf"))


def lifted(box: Box, by: float) -> Box:
    """Higher by so much."""
    return Box(box.width, box.height + by, box.depth - by, ((0.0, -by, box),), box.italic, box.accent)


def stacked(base: Box, others: Sequence[tuple[float, Box]], width: float | None = None) -> Box:
    """A box with others above and below its baseline, each as high as is said, their middles in one line."""
    wide = max([base.width, *(box.width for _, box in others)]) if width is None else width
    placed = [(0.0, base), *others]
    parts = tuple(((wide - box.width) / 2, -up, box) for up, box in placed)
    height = max(up + box.height for up, box in placed)
    depth = max(box.depth - up for up, box in placed)
    return Box(wide, height, depth, parts)
