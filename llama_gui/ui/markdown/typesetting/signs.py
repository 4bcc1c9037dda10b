"""What single characters are in a formula: their kind, other alphabets, the air between kinds; pure."""

from collections.abc import Callable
from functools import lru_cache

from llama_gui.ui.markdown.maths_signs import ALPHABETS
from llama_gui.ui.markdown.typesetting.tree import Kind

_BINARY = frozenset("+−±∓×÷∗⋆∘∙·⋅∩∪⊓⊔∨∧∖≀⊎⊕⊖⊗⊘⊙⊚⊛⊝⊞⊟⊠⊡†‡⨿⋄△▽◁▷⊲⊳⋉⋊⋋⋌∔⋒⋓⌅⌆⊺⊻⊼⋎⋏∸⨯⩽◯⊴⊵")
_RELATIONS = frozenset("=<>:∝∼≁∣∤∥∦⊢⊣⊨⊩⊪⊫⊬⊭⊮⊯⋈⋔≔∈∉∋∌∴∵∶∷⌢⌣≡⟂⫫")
_RELATION_RANGES = ((0x2190, 0x21FF), (0x223C, 0x228B), (0x228F, 0x2292), (0x22B0, 0x22B7), (0x22D0, 0x22D1),
                    (0x22D5, 0x22ED), (0x27F5, 0x27FF), (0x2900, 0x297F), (0x2A7D, 0x2AD8))  # fmt: skip
_OPENING = frozenset("([{⟨⌊⌈⟦⌜⌞⟮")
_CLOSING = frozenset(")]}⟩⌋⌉⟧⌝⌟⟯!?")
_PUNCTUATION = frozenset(",;")
_INNER = frozenset("…⋯⋱")
INTEGRALS = frozenset("∫∬∭⨌∮∯∰∱∲∳")
LARGE = frozenset("∑∏∐⋃⋂⨄⨆⨅⋁⋀⨁⨂⨀") | INTEGRALS
NAMED = {
    "epsilon": "ϵ",
    "phi": "ϕ",
    "coprod": "∐",
    "iiiint": "⨌",
    "oiint": "∯",
    "oiiint": "∰",
    "bigsqcup": "⨆",
    "biguplus": "⨄",
    "bigvee": "⋁",
    "bigwedge": "⋀",
    "bigodot": "⨀",
    "bigoplus": "⨁",
    "bigotimes": "⨂",
    "colon": ":",
    "lt": "<",
    "gt": ">",
    "dots": "…",
    "dotsi": "⋯",
    "dotsm": "⋯",
    "dotso": "…",
    "dag": "†",
    "ddag": "‡",
    "imath": "𝚤",
    "jmath": "𝚥",
    "R": "ℝ",
    "N": "ℕ",
    "Z": "ℤ",
    "Q": "ℚ",
    "C": "ℂ",
    "backslash": "\\",
    "surd": "√",
    "angle": "∠",
    "perp": "⟂",
    "bot": "⊥",
    "top": "⊤",
    "complement": "∁",
    "longrightarrow": "⟶",
    "longleftarrow": "⟵",
    "longleftrightarrow": "⟷",
    "Longrightarrow": "⟹",
    "Longleftarrow": "⟸",
    "Longleftrightarrow": "⟺",
    "longmapsto": "⟼",
    "checkmark": "✓",
    "models": "⊨",
    "bullet": "∙",
    "cdotp": "·",
    "ast": "∗",
    "setminus": "∖",
    "smallsetminus": "∖",
    "Vert": "‖",
    "vert": "|",
    "lvert": "|",
    "rvert": "|",
    "lVert": "‖",
    "rVert": "‖",
    "llbracket": "⟦",
    "rrbracket": "⟧",
    "ulcorner": "⌜",
    "urcorner": "⌝",
    "colonequals": "≔",
    "coloneq": "≔",
    "vcentcolon": ":",
    "dblcolon": "∷",
}
"""Commands that have another sign here than in running text, or that it does not know."""
KINDS = {
    "colon": Kind.PUNCTUATION,
    "lvert": Kind.OPENING,
    "lVert": Kind.OPENING,
    "rvert": Kind.CLOSING,
    "rVert": Kind.CLOSING,
    "bullet": Kind.BINARY,
    "star": Kind.BINARY,
    "circ": Kind.BINARY,
    "bigcirc": Kind.BINARY,
    "vdots": Kind.ORDINARY,
    "surd": Kind.ORDINARY,
    "mid": Kind.RELATION,
    "parallel": Kind.RELATION,
}
_THIN, _MEDIUM, _THICK = 1, 2, 3
_GAPS = (
    (0, 1, 2, 3, 0, 0, 0, 1),
    (1, 1, 0, 3, 0, 0, 0, 1),
    (2, 2, 0, 0, 2, 0, 0, 2),
    (3, 3, 0, 0, 3, 0, 0, 3),
    (0, 0, 0, 0, 0, 0, 0, 0),
    (0, 1, 2, 3, 0, 0, 0, 1),
    (1, 1, 0, 1, 1, 1, 1, 1),
    (1, 1, 2, 3, 1, 0, 1, 1),
)
"""The rows and columns are kinds."""
_WIDTHS = (0.0, 3 / 18, 4 / 18, 5 / 18)
_ALWAYS = {(0, 1), (1, 0), (1, 1), (5, 1), (7, 1)}


@lru_cache(maxsize=1024)
def kind_of_character(character: str) -> Kind:
    """What a character is to its neighbours."""
    if character in _BINARY:
        return Kind.BINARY
    if character in _RELATIONS or any(low <= ord(character[0]) <= high for low, high in _RELATION_RANGES):
        return Kind.RELATION
    for kind, characters in (
        (Kind.OPERATOR, LARGE),
        (Kind.OPENING, _OPENING),
        (Kind.CLOSING, _CLOSING),
        (Kind.PUNCTUATION, _PUNCTUATION),
        (Kind.INNER, _INNER),
    ):
        if character in characters:
            return kind
    return Kind.ORDINARY


def gap(left: Kind, right: Kind, *, is_script: bool) -> float:
    """The air between two neighbours, in em; in scripts there is nearly none."""
    if is_script and (left, right) not in _ALWAYS:
        return 0.0
    return _WIDTHS[_GAPS[left][right]]


def _shifted(capital: int, small: int, digit: int = 0, greek: tuple[int, int] = (0, 0)) -> Callable[[str], str]:
    """Letters of a block of mathematical letters. `greek`: where capitals and small letters begin in it."""

    def letter(plain: str) -> str:
        code = ord(plain)
        if "A" <= plain <= "Z":
            return chr(capital + code - 65)
        if "a" <= plain <= "z":
            return chr(small + code - 97)
        if digit and "0" <= plain <= "9":
            return chr(digit + code - 48)
        if greek[0] and 0x391 <= code <= 0x3A9:
            return chr(greek[0] + code - 0x391)
        if greek[1] and 0x3B1 <= code <= 0x3C9:
            return chr(greek[1] + code - 0x3B1)
        if greek[1] and plain in "∂ϵϑϰϕϱϖ":
            return chr(greek[1] + 25 + "∂ϵϑϰϕϱϖ".index(plain))
        return plain

    return letter


def _with_digits(letters: Callable[[str], str], zero: int) -> Callable[[str], str]:
    return lambda plain: chr(zero + ord(plain) - 48) if "0" <= plain <= "9" else letters(plain)


_ITALIC = _shifted(0x1D434, 0x1D44E, 0, (0, 0x1D6FC))


def italic(plain: str) -> str:
    """A variable: slanted, but for capital Greek letters, as TeX has it."""
    return "ℎ" if plain == "h" else _ITALIC(plain)


def upright(plain: str) -> str:
    """A letter as it is."""
    return plain


_BOLD = _shifted(0x1D400, 0x1D41A, 0x1D7CE, (0x1D6A8, 0x1D6C2))
_BOLD_ITALIC = _shifted(0x1D468, 0x1D482, 0x1D7CE, (0x1D71C, 0x1D736))
_SANS = _shifted(0x1D5A0, 0x1D5BA, 0x1D7E2)
_MONO = _shifted(0x1D670, 0x1D68A, 0x1D7F6)
LETTERS: dict[str, Callable[[str], str]] = {
    "mathbf": _BOLD,
    "bf": _BOLD,
    "boldsymbol": _BOLD_ITALIC,
    "bm": _BOLD_ITALIC,
    "pmb": _BOLD_ITALIC,
    "mathit": italic,
    "it": italic,
    "mathnormal": italic,
    "mathrm": upright,
    "rm": upright,
    "mathup": upright,
    "mathsf": _SANS,
    "sf": _SANS,
    "mathtt": _MONO,
    "tt": _MONO,
    "mathbb": _with_digits(ALPHABETS["mathbb"], 0x1D7D8),
    "mathbbm": _with_digits(ALPHABETS["mathbb"], 0x1D7D8),
    "mathds": _with_digits(ALPHABETS["mathbb"], 0x1D7D8),
    "mathcal": ALPHABETS["mathcal"],
    "cal": ALPHABETS["mathcal"],
    "mathscr": ALPHABETS["mathscr"],
    "mathfrak": ALPHABETS["mathfrak"],
    "frak": ALPHABETS["mathfrak"],
}
TEXTS: dict[str, Callable[[str], str]] = {
    "text": upright,
    "textrm": upright,
    "textnormal": upright,
    "textup": upright,
    "mbox": upright,
    "hbox": upright,
    "textbf": _BOLD,
    "textit": italic,
    "emph": italic,
    "textsf": _SANS,
    "texttt": _MONO,
}
