"""How the pieces of a formula are put into lines: brackets around fractions, air around operators, rows; pure."""

import re
import unicodedata

from llama_gui.ui.markdown.maths_signs import SUBSCRIPTS, SUPERSCRIPTS

ITALIC = {chr(c): chr(0x1D44E + c - 97) for c in range(97, 123)} | {
    chr(c): chr(0x1D434 + c - 65) for c in range(65, 91)
}
ITALIC["h"] = "\u210e"
UPRIGHT = {slanted: letter for letter, slanted in ITALIC.items()}
_RELATIONS = frozenset("=<>≤≥≠≈≡∼≃≅∝→←↔⇒⇐⇔⟹⟸⟺↦∈∉⊂⊆⊃⊇≪≫∣⊢⊨:≔")
_BINARY = frozenset("+−×·±∓÷∪∩∧∨⊕⊗∘∖*")
_OPENING = frozenset("([{⟨⌊⌈|,;")
_PARTED = _RELATIONS | frozenset("+−±∓,;")
_MARKS = frozenset("′ ") | frozenset(SUPERSCRIPTS.values()) | frozenset(SUBSCRIPTS.values())
_ENVIRONMENTS = {
    "matrix": "[]",
    "pmatrix": "()",
    "bmatrix": "[]",
    "Bmatrix": "{}",
    "vmatrix": "||",
    "smallmatrix": "[]",
    "array": "[]",
}
_ALIGNED = ("aligned", "align", "align*", "gathered", "gather", "gather*", "split", "equation", "equation*")


def laid_out(name: str, rows: list[list[str]]) -> str | None:
    """The rows of an environment; None where it is not one of those that can be shown."""
    if name in _ALIGNED:
        return "\n".join(" ".join(cell for cell in row if cell) for row in rows)
    if name in ("cases", "dcases"):
        signs = ["⎧", *["⎨"] * (len(rows) - 2), "⎩"] if len(rows) > 1 else ["{"]
        return "\n" + "\n".join(f"{sign} {', '.join(row)}" for sign, row in zip(signs, rows, strict=False))
    if name in _ENVIRONMENTS:
        left, right = _ENVIRONMENTS[name]
        return left + "; ".join("  ".join(row) for row in rows) + right
    return None


def over(text: str) -> str:
    """What stands above a fraction's stroke, in brackets if the stroke would part it."""
    bare = text.strip()
    return f"({bare})" if set(_outside_brackets(bare)) & _PARTED else bare


def under(text: str) -> str:
    """What stands below it: a product needs brackets as well."""
    bare = text.strip()
    base = [letter for letter in bare.removeprefix("√") if letter not in _MARKS and not unicodedata.combining(letter)]
    is_one = len(base) <= 1 or bare.isdigit() or (bare.isalpha() and not set(bare) & set(UPRIGHT))
    is_call = bare.endswith(")") and len(_outside_brackets(bare)) <= 1
    return bare if is_one or is_call else f"({bare})"


def _outside_brackets(text: str) -> str:
    depth, found = 0, []
    for letter in text:
        depth -= letter in ")]}"
        if depth == 0 and letter not in "()[]{}":
            found.append(letter)
        depth += letter in "([{"
    return "".join(found)


def upright(text: str) -> str:
    """The same letters without their slant."""
    return "".join(UPRIGHT.get(letter, letter) for letter in text)


def spaced_out(text: str) -> str:
    """Air around relations and operators, none around signs before a number."""
    spaced: list[str] = []
    for letter in text:
        before = "".join(spaced).rstrip(" ")[-1:] if letter in _BINARY else ""
        if letter in _RELATIONS or (letter in _BINARY and before and before not in _OPENING | _RELATIONS | _BINARY):
            spaced.append(f" {letter} ")
        else:
            spaced.append(letter)
    spaced = [re.sub(r",(?=[^\d\s])", ", ", "".join(spaced))]
    lines = (re.sub(r" {2,}(?=[^ ])", " ", line).strip() for line in "".join(spaced).split("\n"))
    return "\n".join(lines).strip("\n")
