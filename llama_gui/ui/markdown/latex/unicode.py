"""The tree of a formula -> readable Unicode: Greek, operators, raised letters, fractions in one line; pure."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from llama_gui.ui.markdown.latex.alphabets import SLANTED, as_variable, unstyled
from llama_gui.ui.markdown.latex.one_line import (
    beside,
    cases,
    in_brackets_over,
    in_brackets_under,
    is_parted,
    matrix,
    raised,
)
from llama_gui.ui.markdown.latex.reading import tree_of
from llama_gui.ui.markdown.latex.tokens import MAX_LENGTH, Unshown
from llama_gui.ui.markdown.latex.tree import (
    Accent,
    Arrow,
    Big,
    Decorated,
    Fence,
    Form,
    Fraction,
    Grid,
    Line,
    Node,
    Root,
    Row,
    Scripts,
    Sign,
    Space,
    Words,
)

Run = tuple[str, bool]
"""Characters, and whether they are variables, which are slanted."""
_VARIABLES = re.compile(f"([{''.join(SLANTED)}]+)")
_IN_TEXT = {"ϵ": "ε", "ϕ": "φ", "∗": "*", "⟂": "⊥", "𝚤": "ı", "𝚥": "ȷ"}
"""Signs that a text has otherwise than a formula that is drawn: as they are typed, and looked for."""
_ALONG = {
    ("", True): "\u0305",
    ("", False): "\u0332",
    ("→", True): "\u20d7",
    ("←", True): "\u20d6",
    ("↔", True): "\u20e1",
    ("→", False): "\u20ef",
    ("←", False): "\u20ee",
}
"""Lines and arrows along something, by whether they are above it."""
_STROKE = "\u0338"
_ROOTS = {"": "√", "3": "∛", "4": "∜"}


@lru_cache(maxsize=512)
def readable(formula: str) -> tuple[Run, ...] | None:
    """A formula as runs of characters, or None where it must be shown as it was written."""
    if len(formula) > MAX_LENGTH:
        return None
    try:
        text = _text(tree_of(formula))
    except (Unshown, RecursionError):
        return None
    lines = (re.sub(" {2,}", " ", line).strip() for line in text.split("\n"))
    text = "\n".join(lines).strip("\n")
    return tuple(_runs(text)) if text.strip() else None


def _runs(text: str) -> Iterator[Run]:
    for number, part in enumerate(_VARIABLES.split(text)):
        if part:
            yield (_upright(part), True) if number % 2 else (part, False)


def _upright(text: str) -> str:
    return "".join(SLANTED.get(letter, letter) for letter in text)


def _text(node: Node) -> str:
    """A part of a formula; variables in it are slanted letters."""
    match node:
        case Row():
            return beside(_flat(node.items), _text)
        case Sign(character=character):
            plain = as_variable(character)
            return _IN_TEXT.get(plain, plain)
        case Words(text=text):
            return "".join(map(unstyled, text.replace("\u2009", "")))
        case Space(width=width):
            return " " if width > 0 else ""
        case Scripts():
            return _scripts(node)
        case Fraction():
            return _fraction(node)
        case Root():
            return _root(node)
        case Fence():
            return _fence(node)
        case Big(character=character):
            return character
        case Grid():
            return _grid(node)
        case Arrow(character=character, above=above, below=below):
            return character + _raised("^", above) + (_raised("_", below) if below else "")
        case Accent(character=character, body=body):
            return _marked(body, character)
        case Line(character=character, body=body, is_above=is_above):
            return _marked(body, _ALONG.get((character, is_above), ""))
        case Decorated(decoration=decoration, body=body):
            if decoration.endswith("phantom"):
                return " " if decoration == "phantom" else ""
            return _marked(body, _STROKE if decoration.endswith("cancel") else "")


def _flat(items: Sequence[Node]) -> Iterator[Node]:
    """The items of a row, and those of the rest of it that is set in another style."""
    for item in items:
        if isinstance(item, Row) and item.level is not None:
            yield from _flat(item.items)
        else:
            yield item


def _marked(body: Node, mark: str) -> str:
    """Something with a mark on each of its letters."""
    return "".join(letter if letter == " " else letter + mark for letter in _text(body))


def _scripts(node: Scripts) -> str:
    text = _text(node.base)
    if (len(text) > 1 and is_parted(text)) or isinstance(node.base, Fraction | Root):
        text = f"({text})"
    below = _raised("_", node.below) if node.below is not None else ""
    above = _raised("^", node.above) if node.above is not None else ""
    scripts = below + above if text else above + below  # those before an isotope stand as they are said
    return text + "′" * node.primes + scripts


def _raised(sign: str, script: Node) -> str:
    text = _text(script).strip()
    if not text:
        return ""
    return raised(sign, _upright(text)) or (f"{sign}{text}" if len(text) == 1 else f"{sign}({text})")


def _fraction(node: Fraction) -> str:
    top, bottom = _text(node.top), _text(node.bottom)
    if any(node.brackets):
        return f"C({top}, {bottom})"
    if not node.has_rule:
        raise Unshown  # one above the other, and nothing says what that is
    return f"{in_brackets_over(top)}/{in_brackets_under(bottom)}"


def _root(node: Root) -> str:
    degree = _text(node.degree) if node.degree is not None else ""
    under = _text(node.body)
    sign = _ROOTS.get(degree) or _raised("^", node.degree or Row(())) + "√"
    return sign + (under if len(under) == 1 or under.isdigit() else f"({under})")


def _fence(node: Fence) -> str:
    first = node.bodies[0]
    if isinstance(first, Row) and len(first.items) == 1 and isinstance(first.items[0], Grid):
        grid = first.items[0]
        if len(node.bodies) == 1 and grid.form is Form.MATRIX and not any(grid.brackets):
            return node.left + matrix(_rows(grid)) + node.right
    middles = (*node.middles, node.right)
    return node.left + "".join(_text(body) + sign for body, sign in zip(node.bodies, middles, strict=True))


def _grid(node: Grid) -> str:
    match node.form:
        case Form.MATRIX:
            left, right = node.brackets if any(node.brackets) else "[]"
            return left + matrix(_rows(node)) + right
        case Form.CASES:
            return cases(_rows(node), is_before=bool(node.brackets[0]))
        case Form.EQUATIONS:
            return "\n".join(" ".join(filter(None, row)) for row in _rows(node))
        case Form.STACK:
            raise Unshown


def _rows(node: Grid) -> list[list[str]]:
    """The texts of the cells, without empty rows."""
    rows = ([_text(cell).strip() for cell in row] for row in node.rows)
    return [row for row in rows if any(row)]
