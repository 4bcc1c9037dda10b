"""Letters of a formula in other alphabets: slanted, bold, double-struck; pure."""

from collections.abc import Callable
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

Letters = Callable[[str], str]
"""A character as it is in an alphabet; as it is where that has none."""
_GREEK_CAPITALS = "".join(map(chr, range(0x391, 0x3AA)))
_GREEK_SMALL = "".join(map(chr, range(0x3B1, 0x3CA))) + "∂ϵϑϰϕϱϖ"


def _alphabet(
    capital_a: int, small_a: int, *, zero: int = 0, capital_alpha: int = 0, small_alpha: int = 0, other: str = ""
) -> dict[str, str]:
    """A block of letters in Unicode by where its parts begin; `other`: letters, each before the sign it has instead."""
    runs = (
        (ascii_uppercase, capital_a),
        (ascii_lowercase, small_a),
        (digits, zero),
        (_GREEK_CAPITALS, capital_alpha),
        (_GREEK_SMALL, small_alpha),
    )
    letters = {letter: chr(start + number) for run, start in runs if start for number, letter in enumerate(run)}
    return letters | dict(zip(other[::2], other[1::2], strict=True))


_ITALIC = _alphabet(0x1D434, 0x1D44E, small_alpha=0x1D6FC, other="hℎ")
_BOLD = _alphabet(0x1D400, 0x1D41A, zero=0x1D7CE, capital_alpha=0x1D6A8, small_alpha=0x1D6C2)
_BOLD_ITALIC = _alphabet(0x1D468, 0x1D482, zero=0x1D7CE, capital_alpha=0x1D71C, small_alpha=0x1D736)
_SANS = _alphabet(0x1D5A0, 0x1D5BA, zero=0x1D7E2)
_MONO = _alphabet(0x1D670, 0x1D68A, zero=0x1D7F6)
_DOUBLE = _alphabet(0x1D538, 0x1D552, zero=0x1D7D8, other="CℂHℍNℕPℙQℚRℝZℤ")
_SCRIPT = _alphabet(0x1D49C, 0x1D4B6, other="BℬEℰFℱHℋIℐLℒMℳRℛeℯgℊoℴ")
_FRAKTUR = _alphabet(0x1D504, 0x1D51E, other="CℭHℌIℑRℜZℨ")

SLANTED = {slanted: letter for letter, slanted in _ITALIC.items() if letter in ascii_letters}
"""The variables, and their letters."""
_STYLED = {
    styled: letter for alphabet in (_ITALIC, _BOLD, _BOLD_ITALIC, _SANS, _MONO) for letter, styled in alphabet.items()
}
_VARIABLES = {styled: _ITALIC[letter] for styled, letter in _STYLED.items() if letter in ascii_letters} | {
    styled: letter for alphabet in (_SANS, _MONO) for letter, styled in alphabet.items()
}


def italic(plain: str) -> str:
    """A variable: slanted, but for capital Greek letters, as TeX has it."""
    return _ITALIC.get(plain, plain)


def upright(plain: str) -> str:
    """A letter as it is."""
    return plain


def _letters(alphabet: dict[str, str]) -> Letters:
    return lambda plain: alphabet.get(plain, plain)


def unstyled(character: str) -> str:
    """A character that is slanted, bold or the like as a plain one; double-struck ones and their kin mean more."""
    return _STYLED.get(character, character)


def as_variable(character: str) -> str:
    """The same, but Latin letters that are slanted or bold stay variables."""
    return _VARIABLES.get(character) or unstyled(character)


LETTERS: dict[str, Letters] = {
    "mathrm": upright,
    "rm": upright,
    "mathup": upright,
} | {
    name: _letters(alphabet)
    for alphabet, names in (
        (_ITALIC, ("mathit", "it", "mathnormal")),
        (_BOLD, ("mathbf", "bf")),
        (_BOLD_ITALIC, ("boldsymbol", "bm", "pmb")),
        (_SANS, ("mathsf", "sf")),
        (_MONO, ("mathtt", "tt")),
        (_DOUBLE, ("mathbb", "mathbbm", "mathds")),
        (_SCRIPT, ("mathcal", "cal", "mathscr")),
        (_FRAKTUR, ("mathfrak", "frak")),
    )
    for name in names
}
TEXTS: dict[str, Letters] = {
    "text": upright,
    "textrm": upright,
    "textnormal": upright,
    "textup": upright,
    "mbox": upright,
    "hbox": upright,
    "textbf": LETTERS["mathbf"],
    "textit": italic,
    "emph": italic,
    "textsf": LETTERS["mathsf"],
    "texttt": LETTERS["mathtt"],
}
