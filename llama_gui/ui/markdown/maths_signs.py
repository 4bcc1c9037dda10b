"""What Unicode has for formulas beyond the signs that a LaTeX library knows: raised letters, accents, alphabets."""

from collections.abc import Callable

SUPERSCRIPTS = (
    dict(zip("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ", strict=True))
    | dict(zip("abcdefghjklmoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
    | dict(zip("ABDEGHIJKLMNOPRTUVW", "ᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ", strict=True))
    | dict(zip("βγδθ", "ᵝᵞᵟᶿ", strict=True))
)
SUBSCRIPTS = (
    dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))
    | dict(zip("aehijklmnoprstuvx", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
    | dict(zip("βγρφχ", "ᵦᵧᵨᵩᵪ", strict=True))
)
ACCENTS = {
    "hat": "\u0302",
    "widehat": "\u0302",
    "bar": "\u0304",
    "overline": "\u0305",
    "underline": "\u0332",
    "vec": "\u20d7",
    "overrightarrow": "\u20d7",
    "dot": "\u0307",
    "ddot": "\u0308",
    "tilde": "\u0303",
    "widetilde": "\u0303",
    "check": "\u030c",
    "acute": "\u0301",
    "grave": "\u0300",
    "breve": "\u0306",
}
DELIMITERS = {
    "\\{": "{",
    "\\}": "}",
    "\\lbrace": "{",
    "\\rbrace": "}",
    "\\|": "‖",
    "\\lVert": "‖",
    "\\rVert": "‖",
    "\\Vert": "‖",
    "\\lvert": "|",
    "\\rvert": "|",
    "\\vert": "|",
    "\\langle": "⟨",
    "\\rangle": "⟩",
    "\\lfloor": "⌊",
    "\\rfloor": "⌋",
    "\\lceil": "⌈",
    "\\rceil": "⌉",
    "\\lbrack": "[",
    "\\rbrack": "]",
    "\\$": "$",
    "\\%": "%",
    "\\#": "#",
    "\\&": "&",
    "\\_": "_",
}
FUNCTIONS = frozenset(
    (
        "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
        "coth", "exp", "log", "ln", "lg", "det", "dim", "ker", "deg", "gcd", "hom", "arg", "Pr", "lim",
        "limsup", "liminf", "max", "min", "sup", "inf",
    )
)  # fmt: skip
SIGNS = {
    "implies": "⟹",
    "impliedby": "⟸",
    "iff": "⟺",
    "to": "→",
    "gets": "←",
    "coloneqq": "≔",
    "colon": ":",
    "mid": "∣",
    "cdots": "⋯",
    "dots": "…",
    "ldots": "…",
    "dotsc": "…",
    "dotsb": "⋯",
    "vdots": "⋮",
    "ddots": "⋱",
    "varnothing": "∅",
    "degree": "°",
    "circ": "∘",
    "ast": "∗",
    "star": "⋆",
    "prime": "′",
    "land": "∧",
    "lor": "∨",
    "lnot": "¬",
    "le": "≤",
    "ge": "≥",
    "ne": "≠",
    "bmod": " mod ",
    "hbar": "ℏ",
    "ell": "ℓ",
    "epsilon": "ε",
    "varepsilon": "ε",
    "phi": "φ",
    "varphi": "φ",
    "triangleq": "≜",
    "therefore": "∴",
    "because": "∵",
    "square": "□",
    "blacksquare": "■",
}
_DOUBLE = {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ"}
_SCRIPT = {
    "B": "ℬ",
    "E": "ℰ",
    "F": "ℱ",
    "H": "ℋ",
    "I": "ℐ",
    "L": "ℒ",
    "M": "ℳ",
    "R": "ℛ",
    "e": "ℯ",
    "g": "ℊ",
    "o": "ℴ",
}
_FRAKTUR = {"C": "ℭ", "H": "ℌ", "I": "ℑ", "R": "ℜ", "Z": "ℨ"}


def _alphabet(capital_a: int, small_a: int, exceptions: dict[str, str]) -> Callable[[str], str]:
    def letter(plain: str) -> str:
        if plain in exceptions:
            return exceptions[plain]
        if "A" <= plain <= "Z":
            return chr(capital_a + ord(plain) - 65)
        return chr(small_a + ord(plain) - 97) if "a" <= plain <= "z" else plain

    return lambda text: "".join(map(letter, text))


ALPHABETS: dict[str, Callable[[str], str]] = {
    "mathbb": _alphabet(0x1D538, 0x1D552, _DOUBLE),
    "mathcal": _alphabet(0x1D49C, 0x1D4B6, _SCRIPT),
    "mathscr": _alphabet(0x1D49C, 0x1D4B6, _SCRIPT),
    "mathfrak": _alphabet(0x1D504, 0x1D51E, _FRAKTUR),
}
