"""The tree of a formula -> a box: rows with their air, signs, and what is raised and lowered; by the rules of TeX."""

from collections.abc import Iterator, Sequence

from llama_gui.ui.markdown.latex.signs import INTEGRALS, gap, in_a_row
from llama_gui.ui.markdown.latex.tree import (
    Accent,
    Arrow,
    Big,
    Decorated,
    Fence,
    Fraction,
    Grid,
    Kind,
    Line,
    Node,
    Root,
    Row,
    Scripts,
    Sign,
    Space,
    Words,
    kind_of,
)
from llama_gui.ui.markdown.typesetting.boxes import Box, Part, beside, lifted, space
from llama_gui.ui.markdown.typesetting.built_up import Builder
from llama_gui.ui.markdown.typesetting.grids import GridSetter
from llama_gui.ui.markdown.typesetting.math_font import EM, MathFont
from llama_gui.ui.markdown.typesetting.styles import Style


class Setter:
    """Sets formulas in one font. Raises Unshown where the font has not every sign."""

    def __init__(self, font: MathFont) -> None:
        self._font = font
        self._builder = Builder(font, self.box)
        self._grids = GridSetter(font, self.box)

    def style(self, level: int) -> Style:
        """The style in which a formula begins."""
        table = self._font.table
        return Style(level, False, (1.0, 1.0, table.script_scale, table.script_script_scale))

    def box(self, node: Node, style: Style) -> Box:
        """One part of a formula."""
        match node:
            case Row():
                return beside(self.pieces((node,), style))
            case Sign():
                return self._sign(node, style)
            case Words():
                return self._words(node, style)
            case Scripts():
                return self._scripts(node, style)
            case Grid():
                return self._grids.grid(node, style)
            case Fraction() | Root() | Fence() | Big() | Accent() | Line() | Arrow() | Decorated():
                return self._builder.build(node, style)
            case Space():
                return space(node.width * EM * style.scale)

    # Rows

    def pieces(self, nodes: Sequence[Node], style: Style) -> list[Box]:
        """The parts of a row with the air between them."""
        return [box for _kind, box in self._row(nodes, style)]

    def lines(self, tree: Node, style: Style) -> list[Box]:
        """A formula in the parts between which a line may end: behind relations and operations."""
        lines: list[list[Box]] = [[]]
        is_due = False
        for kind, box in self._row((tree,), style):
            if is_due and kind is not None:
                lines.append([])
            lines[-1].append(box)
            is_due = kind in (Kind.RELATION, Kind.BINARY) or (is_due and kind is None)
        return [beside(line) for line in lines]

    def _row(self, nodes: Sequence[Node], style: Style) -> Iterator[tuple[Kind | None, Box]]:
        """The parts of a row, each with what it is to its neighbours; None is air."""
        items = list(_flat(nodes, style))
        kinds = iter(in_a_row([kind_of(node) for node, _ in items if not isinstance(node, Space)]))
        before: Kind | None = None
        for node, style in items:
            if isinstance(node, Space):
                yield None, self.box(node, style)
                continue
            kind = next(kinds)
            if before is not None and (air := gap(before, kind, is_script=style.is_script)):
                yield None, space(air * EM * style.scale)
            before = kind
            yield kind, self.box(node, style)

    # Signs and words

    def _sign(self, sign: Sign, style: Style) -> Box:
        if not sign.is_large:
            return self._font.character(sign.character, style.scale)
        box = self._font.character(sign.character, style.scale)
        if style.is_display:
            box = self._font.tall(sign.character, self._font.table.operator_height, style.scale)
        return self._on_axis(box, style)

    def _on_axis(self, box: Box, style: Style) -> Box:
        axis = self._font.constant("axis_height") * style.scale
        return lifted(box, axis - (box.height - box.depth) / 2)

    def _words(self, words: Words, style: Style) -> Box:
        return beside([self._font.character(letter, style.scale) for letter in words.text])

    # Raised and lowered

    def _scripts(self, node: Scripts, style: Style) -> Box:
        base = node.base
        if _has_limits(node, style):
            return self._with_limits(node, style)
        box = self.box(base, style)
        if node.above is None and node.below is None and not node.primes:
            return box
        above = self.box(node.above, style.raised()) if node.above is not None else None
        below = self.box(node.below, style.lowered()) if node.below is not None else None
        # Beside a single letter they stand at their usual height, beside a large thing at its corners.
        is_letter = isinstance(base, Sign) and not base.is_large
        leaning = box.italic
        if isinstance(base, Sign) and base.character in INTEGRALS:
            leaning = 0.0
            lowered_by = box.italic
        else:
            lowered_by = 0.0
        up, down = self._shifts(box, above, below, style, is_letter=is_letter)
        parts: list[Part] = [(0.0, 0.0, box)]
        width, height, depth = box.width, box.height, box.depth
        if node.primes:  # the font has them at their height
            primes = beside([self._font.character(sign, style.scale) for sign in _primes(node.primes)])
            parts.append((box.width + leaning, 0.0, primes))
            leaning += primes.width
            width, height = box.width + leaning, max(height, primes.height)
        if above is not None:
            parts.append((box.width + leaning, -up, above))
            width = max(width, box.width + leaning + above.width)
            height, depth = max(height, up + above.height), max(depth, above.depth - up)
        if below is not None:
            parts.append((box.width - lowered_by, down, below))
            width = max(width, box.width - lowered_by + below.width)
            height, depth = max(height, below.height - down), max(depth, below.depth + down)
        width += self._font.constant("space_after_script") * style.scale
        return Box(width, height, depth, tuple(parts))

    def _shifts(
        self, box: Box, above: Box | None, below: Box | None, style: Style, *, is_letter: bool
    ) -> tuple[float, float]:
        """How far up the one goes, and how far down the other."""

        def length(name: str) -> float:
            return self._font.constant(name) * style.scale

        up = down = 0.0
        if above is not None:
            up = length("sup_shift_up_cramped" if style.is_cramped else "sup_shift_up")
            up = max(up, above.depth + length("sup_bottom_min"))
            if not is_letter:
                up = max(up, box.height - length("sup_drop_max"))
        if below is not None:
            down = max(length("sub_shift_down"), below.height - length("sub_top_max"))
            if not is_letter:
                down = max(down, box.depth + length("sub_drop_min"))
        if above is not None and below is not None:
            short = length("sub_sup_gap_min") - (up - above.depth) + (below.height - down)
            if short > 0:
                raised = min(short, max(0.0, length("sup_bottom_max_with_sub") - (up - above.depth)))
                up += raised
                down += short - raised
        return up, down

    def _with_limits(self, node: Scripts, style: Style) -> Box:
        """Above and below the middle of the base."""

        def length(name: str) -> float:
            return self._font.constant(name) * style.scale

        box = self.box(Scripts(node.base, primes=node.primes, limits=False) if node.primes else node.base, style)
        above = self.box(node.above, style.raised()) if node.above is not None else Box()
        below = self.box(node.below, style.lowered()) if node.below is not None else Box()
        width = max(box.width, above.width, below.width)
        lean = box.italic / 2 if isinstance(node.base, Sign) and node.base.is_large else 0.0
        parts: list[Part] = [((width - box.width) / 2, 0.0, box)]
        height, depth = box.height, box.depth
        if node.above is not None:
            up = box.height + max(
                length("upper_limit_gap") + max(0.0, above.depth), length("upper_limit_rise") - max(0.0, above.depth)
            )
            parts.append(((width - above.width) / 2 + lean, -up, above))
            height = up + above.height
        if node.below is not None:
            down = box.depth + max(length("lower_limit_gap") + below.height, length("lower_limit_drop"))
            parts.append(((width - below.width) / 2 - lean, down, below))
            depth = down + below.depth
        return Box(width, height, depth, tuple(parts))


def _primes(count: int) -> str:
    return "‴" * (count // 3) + ("", "′", "″")[count % 3]


def _flat(nodes: Sequence[Node], style: Style) -> Iterator[tuple[Node, Style]]:
    """The items of rows that have no kind of their own but hold the rest of a row in another style."""
    for node in nodes:
        if isinstance(node, Row) and (node.level is not None or len(nodes) == 1):
            yield from _flat(node.items, style if node.level is None else style.at(node.level))
        else:
            yield node, style


def _has_limits(node: Scripts, style: Style) -> bool:
    base = node.base
    if node.limits is not None:
        return node.limits
    if isinstance(base, Line) and base.character in ("⏞", "⏟", "⎴", "⎵"):
        return True
    return style.is_display and isinstance(base, Sign | Words | Row) and base.limits
