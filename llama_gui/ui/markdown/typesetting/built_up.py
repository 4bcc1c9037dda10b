"""Fractions, roots, brackets, accents and long arrows, by the rules of TeX and the measures of the font."""

from collections.abc import Callable

from llama_gui.ui.markdown.latex.tree import (
    Accent,
    Arrow,
    Big,
    Decorated,
    Fence,
    Fraction,
    Line,
    Node,
    Root,
    Sign,
)
from llama_gui.ui.markdown.typesetting.boxes import Box, Part, Rule, Stroke, beside, lifted, space, stacked
from llama_gui.ui.markdown.typesetting.math_font import EM, MathFont
from llama_gui.ui.markdown.typesetting.styles import Style

_BESIDE_FRACTION = 0.1
_BIG = (0.0, 1.2, 1.8, 2.4, 3.0)
_COVERED = 0.9
_MAY_MISS = 0.45
_FRAME_AIR = 0.3
_ARROW_AIR = 0.45
_OVER_CANCELLED = 0.12

BuiltUp = Fraction | Root | Fence | Big | Accent | Line | Arrow | Decorated


class Builder:
    """Builds what has more than one line; `lay` sets its parts."""

    def __init__(self, font: MathFont, lay: Callable[[Node, Style], Box]) -> None:
        self._font = font
        self._lay = lay

    def build(self, node: BuiltUp, style: Style) -> Box:
        """One of these."""
        match node:
            case Fraction():
                return self._fraction(node, style)
            case Root():
                return self._root(node, style)
            case Fence():
                return self._fence(node, style)
            case Big():
                return self.bracket(node.character, _BIG[node.size] * EM * style.scale, style)
            case Accent():
                return self._accent(node, style)
            case Line():
                return self._line(node, style)
            case Arrow():
                return self._arrow(node, style)
            case Decorated():
                return self._decorated(node, style)

    def _length(self, name: str, style: Style) -> float:
        return self._font.constant(name) * style.scale

    def bracket(self, character: str, total: float, style: Style) -> Box:
        """A bracket, so high from top to bottom, its middle at the height of a minus sign."""
        if not character:
            return space(0.12 * EM * style.scale)
        box = self._font.tall(character, total, style.scale)
        return lifted(box, self._length("axis_height", style) - (box.height - box.depth) / 2)

    def _cover(self, body: Box, style: Style) -> float:
        axis = self._length("axis_height", style)
        reach = max(body.height - axis, body.depth + axis, 0.0)
        return max(2 * reach * _COVERED, 2 * reach - _MAY_MISS * EM * style.scale)

    def _fraction(self, node: Fraction, style: Style) -> Box:
        around, style = style, style if node.level is None else style.at(node.level)
        top = self._lay(node.top, style.inner())
        bottom = self._lay(node.bottom, style.inner(is_below=True))
        kind = "_display" if style.is_display else ""
        width = max(top.width, bottom.width)
        if node.has_rule:
            axis, rule = self._length("axis_height", style), self._length("fraction_rule", style)
            up = max(
                self._length(f"numerator_up{kind}", style),
                axis + rule / 2 + self._length(f"numerator_gap{kind}", style) + top.depth,
            )
            down = max(
                self._length(f"denominator_down{kind}", style),
                rule / 2 - axis + self._length(f"denominator_gap{kind}", style) + bottom.height,
            )
            bar = Box(width, axis + rule / 2, rule / 2 - axis, ((0.0, -axis - rule / 2, Rule(width, rule)),))
        else:
            up, down = self._length(f"stack_top_up{kind}", style), self._length(f"stack_bottom_down{kind}", style)
            short = self._length(f"stack_gap{kind}", style) - (up - top.depth) + (bottom.height - down)
            up, down = up + max(0.0, short / 2), down + max(0.0, short / 2)
            bar = space(width)
        box = stacked(bar, [(up, top), (-down, bottom)], width)
        if node.brackets[0]:
            size = (2.4 if style.is_display else 1.2) * EM * style.scale
            size = max(size, self._cover(box, style))
            return beside([self.bracket(side, size, style) for side in node.brackets[:1]] + [box]
                          + [self.bracket(side, size, style) for side in node.brackets[1:]])  # fmt: skip
        air = space(_BESIDE_FRACTION * EM * around.scale)
        return beside([air, box, air])

    def _root(self, node: Root, style: Style) -> Box:
        body = self._lay(node.body, style.cramped())
        body = Box(body.width, max(body.height, 0.0), max(body.depth, 0.0), ((0.0, 0.0, body),))
        rule = self._length("radical_rule", style)
        air = self._length("radical_gap_display" if style.is_display else "radical_gap", style)
        # Under a rule letters of any height look alike, so roots beside each other have one height.
        height = max(body.height, self._font.x_height * style.scale * 1.2)
        sign = self._font.tall("√", height + body.depth + air + rule, style.scale)
        spare = sign.total - (height + body.depth + air + rule)
        if spare > 0:
            air += spare / 2
        top = height + air + rule
        parts: list[Part] = []
        x = 0.0
        if node.degree is not None:
            degree = self._lay(node.degree, style.at(3))
            up = self._font.table.degree_raise * sign.total - (sign.total - top)
            x = max(0.0, self._length("kern_before_degree", style) + degree.width)
            parts.append((x - degree.width, -max(up, 0.0) - degree.depth, degree))
            x = max(0.0, x + self._length("kern_after_degree", style))
            high = max(up, 0.0) + degree.total
        else:
            high = 0.0
        parts += [
            (x, sign.height - top, sign),
            (x + sign.width, -top, Rule(body.width, rule)),
            (x + sign.width, 0.0, body),
        ]
        above = self._length("radical_extra", style)
        return Box(x + sign.width + body.width, max(top + above, high), max(body.depth, sign.total - top), tuple(parts))

    def _fence(self, node: Fence, style: Style) -> Box:
        bodies = [self._lay(body, style) for body in node.bodies]
        whole = beside(bodies)
        size = self._cover(Box(0, max(whole.height, 0.0), max(whole.depth, 0.0)), style)
        row = [self.bracket(node.left, size, style)]
        for number, body in enumerate(bodies):
            if number:
                row.append(self.bracket(node.middles[number - 1], size, style))
            row.append(body)
        return beside([*row, self.bracket(node.right, size, style)])

    def _accent(self, node: Accent, style: Style) -> Box:
        letter = _dotless(node.body)
        body = self._lay(letter, style.cramped())
        box = self._font.character(node.character, style.scale)
        if node.is_wide:
            box = self._font.narrow(node.character, body.width, style.scale)
        up = max(0.0, body.height - self._length("accent_base_height", style))
        x = body.middle - box.middle
        parts: tuple[Part, ...] = ((0.0, 0.0, body), (x, -up, box))
        return Box(body.width, max(body.height, box.height + up), body.depth, parts, body.italic, body.middle)

    def _line(self, node: Line, style: Style) -> Box:
        body = self._lay(node.body, style.cramped() if node.is_above else style)
        body = Box(body.width, max(body.height, 0.0), max(body.depth, 0.0), ((0.0, 0.0, body),), body.italic)
        if not node.character:
            side = "over" if node.is_above else "under"
            rule, air = self._length(f"{side}_rule", style), self._length(f"{side}_gap", style)
            y = -body.height - air - rule if node.is_above else body.depth + air
            more = air + 2 * rule
            parts: tuple[Part, ...] = ((0.0, 0.0, body), (0.0, y, Rule(body.width, rule)))
            height, depth = (more, 0.0) if node.is_above else (0.0, more)
            return Box(body.width, body.height + height, body.depth + depth, parts, body.italic)
        sign = self._font.wide(node.character, body.width, style.scale)
        air = 0.1 * EM * style.scale
        if node.is_above:
            return stacked(body, [(body.height + air + sign.depth, sign)])
        return stacked(body, [(-body.depth - air - sign.height, sign)])

    def _arrow(self, node: Arrow, style: Style) -> Box:
        above = self._lay(node.above, style.raised())
        below = self._lay(node.below, style.lowered()) if node.below is not None else Box()
        width = max(above.width, below.width) + 2 * _ARROW_AIR * EM * style.scale
        arrow = self._font.wide(node.character, max(width, 1.4 * EM * style.scale), style.scale)
        air = 0.12 * EM * style.scale
        others = [(arrow.height + air + max(above.depth, 0.0), above)]
        if node.below is not None:
            others.append((-arrow.depth - air - below.height, below))
        return stacked(arrow, others)

    def _decorated(self, node: Decorated, style: Style) -> Box:
        body = self._lay(node.body, style)
        height, depth = max(body.height, 0.0), max(body.depth, 0.0)
        match node.decoration:
            case "phantom":
                return Box(body.width, height, depth)
            case "hphantom":
                return Box(body.width)
            case "vphantom":
                return Box(0.0, height, depth)
            case "smash":
                return Box(body.width, 0.0, 0.0, ((0.0, 0.0, body),))
            case "boxed" | "fbox":
                return self._framed(body, height, depth, style)
        # Beyond its corners: within them a stroke would look like one of a letter.
        thickness, over = 0.05 * EM * style.scale, _OVER_CANCELLED * EM * style.scale
        left, wide, high = -over, body.width + 2 * over, height + depth + 2 * over
        strokes: list[Part] = []
        if node.decoration in ("cancel", "xcancel"):
            strokes.append((left, depth + over, Stroke(wide, -high, thickness)))
        if node.decoration in ("bcancel", "xcancel"):
            strokes.append((left, -height - over, Stroke(wide, high, thickness)))
        return Box(body.width, height + over, depth + over, ((0.0, 0.0, body), *strokes))

    def _framed(self, body: Box, height: float, depth: float, style: Style) -> Box:
        air, rule = _FRAME_AIR * EM * style.scale, self._length("fraction_rule", style)
        width, total = body.width + 2 * air, height + depth + 2 * air
        top = -height - air
        parts: tuple[Part, ...] = (
            (air, 0.0, body),
            (0.0, top, Rule(width, rule)),
            (0.0, top + total - rule, Rule(width, rule)),
            (0.0, top, Rule(rule, total)),
            (width - rule, top, Rule(rule, total)),
        )
        return Box(width, height + air, depth + air, parts)


def _dotless(node: Node) -> Node:
    """Under an accent i and j have no dots."""
    if isinstance(node, Sign) and node.character in "𝑖𝑗":
        return Sign("𝚤" if node.character == "𝑖" else "𝚥", node.kind)
    return node
