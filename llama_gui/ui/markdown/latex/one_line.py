"""How the pieces of a formula stand in lines of text: air, brackets, raised letters; pure."""

import unicodedata
from collections.abc import Callable, Iterable

from llama_gui.ui.markdown.latex.alphabets import SLANTED
from llama_gui.ui.markdown.latex.signs import gap, in_a_row, kind_of_character
from llama_gui.ui.markdown.latex.tree import Kind, Node, Space, kind_of

_SUPERSCRIPTS = (
    dict(zip("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ", strict=True))
    | dict(zip("abcdefghjklmoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
    | dict(zip("ABDEGHIJKLMNOPRTUVW", "ᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ", strict=True))
    | dict(zip("βγδθ", "ᵝᵞᵟᶿ", strict=True))
)
_SUBSCRIPTS = (
    dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))
    | dict(zip("aehijklmnoprstuvx", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
    | dict(zip("βγρφχ", "ᵦᵧᵨᵩᵪ", strict=True))
)
_SMALL = {"′": "′", "*": "∗", "†": "†", "°": "°", "∘": "°"}
"""Signs that are small and high without being raised."""
_MARKS = frozenset("′ ") | frozenset(_SUPERSCRIPTS.values()) | frozenset(_SUBSCRIPTS.values())
_PARTING = frozenset("+−±∓")


def beside(nodes: Iterable[Node], text_of: Callable[[Node], str]) -> str:
    """Texts one after the other, with air where a formula that is laid out has it."""
    items = [(node, text_of(node)) for node in nodes]
    natural = [kind_of(node) for node, _ in items if not isinstance(node, Space)]
    kinds = iter(zip(natural, in_a_row(list(natural)), strict=True))
    parts: list[str] = []
    before: Kind | None = None
    for node, text in items:
        if isinstance(node, Space):
            parts.append(text)
            continue
        was, kind = next(kinds)
        if before is not None and _is_air(before, kind, parts[-1], text):
            parts.append(" ")
        parts.append(text)
        is_sign_of_what_follows = kind != was
        before = Kind.CLOSING if kind == Kind.INNER else Kind.OPENING if is_sign_of_what_follows else kind
    return "".join(parts)


def _is_air(before: Kind, kind: Kind, behind: str, text: str) -> bool:
    if behind == "," and text[:1].isdecimal():
        return False  # in 3,14 and in f(1,2)
    if before == Kind.OPERATOR and behind.endswith(")"):
        return True  # its limits were put in brackets
    # Between brackets of any height there is no more air than between those of a line.
    return gap(before, Kind.OPENING if kind == Kind.INNER else kind, is_script=False) > 0


def raised(sign: str, text: str) -> str:
    """A text behind ^ or _, and without these where Unicode has all its letters. Letters in it are upright."""
    bare = text.replace(" ", "")
    if sign == "^" and all(letter in _SMALL for letter in bare):
        return "".join(_SMALL[letter] for letter in bare)
    letters = _SUPERSCRIPTS if sign == "^" else _SUBSCRIPTS
    return "".join(letters[letter] for letter in bare) if all(letter in letters for letter in bare) else ""


def matrix(rows: Iterable[Iterable[str]]) -> str:
    """The cells of a matrix."""
    return "; ".join(" ".join(row) for row in rows)


def cases(rows: list[list[str]], *, is_before: bool) -> str:
    """Cases in lines of their own, with a bracket before or behind them."""
    texts = [", ".join(cell.removesuffix(",") for cell in row if cell) for row in rows]
    upper, middle, lower = "⎧⎨⎩" if is_before else "⎫⎬⎭"
    signs = [upper, *[middle] * (len(rows) - 2), lower] if len(rows) > 1 else ["{" if is_before else "}"] * len(rows)
    return "".join(
        f"\n{sign} {text}" if is_before else f"\n{text} {sign}" for sign, text in zip(signs, texts, strict=True)
    )


def in_brackets_over(text: str) -> str:
    """What stands above a fraction's stroke, in brackets if the stroke would part it."""
    bare = text.strip()
    return f"({bare})" if is_parted(bare) else bare


def in_brackets_under(text: str) -> str:
    """What stands below it: a product needs brackets as well."""
    bare = text.strip()
    base = [letter for letter in bare.removeprefix("√") if letter not in _MARKS and not unicodedata.combining(letter)]
    is_one = len(base) <= 1 or bare.isdigit() or (bare.isalpha() and not set(bare) & set(SLANTED))
    is_call = bare.endswith(")") and len(_outside_brackets(bare)) <= 1
    return bare if is_one or is_call else f"({bare})"


def is_parted(text: str) -> bool:
    """Whether a text is a sum, an equation or a list, and would not be read as one thing."""
    return any(
        letter in _PARTING or kind_of_character(letter) in (Kind.RELATION, Kind.PUNCTUATION)
        for letter in _outside_brackets(text)
    )


def _outside_brackets(text: str) -> str:
    depth, found = 0, []
    for letter in text:
        depth -= letter in ")]}"
        if depth == 0 and letter not in "()[]{}":
            found.append(letter)
        depth += letter in "([{"
    return "".join(found)
