"""What stands in rows and columns: matrices, cases, aligned equations; pure."""

import re
from collections.abc import Sequence

from llama_gui.ui.markdown.latex.tokens import Unshown
from llama_gui.ui.markdown.latex.tree import Form, Grid, Node, Row

_BRACKETS = {
    "matrix": ("", ""),
    "pmatrix": ("(", ")"),
    "bmatrix": ("[", "]"),
    "Bmatrix": ("{", "}"),
    "vmatrix": ("|", "|"),
    "Vmatrix": ("‖", "‖"),
}
_ALIGNED = ("aligned", "align", "split", "alignedat", "alignat", "eqnarray", "flalign")
_GATHERED = ("gathered", "gather", "equation", "multline", "math", "displaymath")
_CASES = {"cases": (("{", ""), 1), "dcases": (("{", ""), 0), "rcases": (("", "}"), 1), "drcases": (("", "}"), 0)}
_JOT = 0.3
_PAIR = 1.8


def grid(name: str, columns: str, rows: Sequence[Sequence[Node]], rules: frozenset[int]) -> Node:
    """The rows of an environment as what it is. Raises Unshown where there is no such one."""
    cells = tuple(tuple(row) for row in rows)
    if not cells:
        raise Unshown
    bare = name.removesuffix("*")
    if bare in _BRACKETS:
        return Grid(cells, Form.MATRIX, columns or "c", brackets=_BRACKETS[bare], rules=rules)
    if bare in _CASES:
        brackets, level = _CASES[bare]
        return Grid(cells, Form.CASES, "l", brackets=brackets, level=level, stretch=1.2)
    if bare in _ALIGNED:
        # Behind & stands an empty item, so that a relation has its air.
        if bare == "eqnarray":
            return Grid(cells, Form.EQUATIONS, "rcl", gaps=(0.28, 0.28), level=0, jot=_JOT)
        led = tuple(tuple(_led(cell) if number % 2 else cell for number, cell in enumerate(row)) for row in cells)
        return Grid(led, Form.EQUATIONS, "rl", gaps=(0.0, _PAIR), level=0, jot=_JOT)
    if bare in _GATHERED:
        return Grid(cells, Form.EQUATIONS, "c", level=0, jot=_JOT)
    if bare == "smallmatrix":
        return Grid(cells, Form.MATRIX, "c", gaps=(0.7,), level=2, stretch=0.7)
    if bare in ("substack", "subarray"):
        return Grid(cells, Form.STACK, columns or "c", level=2, stretch=0.7)
    if bare in ("array", "darray"):
        return _array(cells, columns, rules, 1 if bare == "array" else 0)
    raise Unshown


def _led(cell: Node) -> Node:
    """A cell that begins with an empty item."""
    return Row((Row(()), *cell.items)) if isinstance(cell, Row) else cell


def _array(rows: tuple[tuple[Node, ...], ...], spec: str, rules: frozenset[int], level: int) -> Grid:
    spec = re.sub(r"@\{[^}]*\}|\s", "", spec)
    if not re.fullmatch(r"[lcr|:]*", spec):
        raise Unshown
    columns, bars = "", set()
    for letter in spec:
        if letter in "|:":
            bars.add(len(columns))
        else:
            columns += letter
    return Grid(rows, Form.MATRIX, columns or "c", level=level, bars=frozenset(bars), rules=rules)
