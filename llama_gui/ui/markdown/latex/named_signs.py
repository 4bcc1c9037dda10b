"""The signs that commands stand for; pure."""

from collections.abc import Callable
from functools import lru_cache

from llama_gui.ui.markdown.latex.tokens import Unshown

_NAMED = {
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
    "{": "{",
    "}": "}",
    "lbrace": "{",
    "rbrace": "}",
    "|": "‖",
    "langle": "⟨",
    "rangle": "⟩",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "lceil": "⌈",
    "rceil": "⌉",
    "lbrack": "[",
    "rbrack": "]",
    "$": "$",
    "%": "%",
    "#": "#",
    "&": "&",
    "_": "_",
    "implies": "⟹",
    "impliedby": "⟸",
    "iff": "⟺",
    "to": "→",
    "gets": "←",
    "coloneqq": "≔",
    "mid": "∣",
    "cdots": "⋯",
    "ldots": "…",
    "dotsc": "…",
    "dotsb": "⋯",
    "vdots": "⋮",
    "ddots": "⋱",
    "varnothing": "∅",
    "degree": "°",
    "circ": "∘",
    "star": "⋆",
    "prime": "′",
    "land": "∧",
    "lor": "∨",
    "lnot": "¬",
    "le": "≤",
    "ge": "≥",
    "ne": "≠",
    "hbar": "ℏ",
    "ell": "ℓ",
    "varepsilon": "ε",
    "varphi": "φ",
    "triangleq": "≜",
    "therefore": "∴",
    "because": "∵",
    "square": "□",
    "blacksquare": "■",
}
"""Those that the library does not know or has otherwise, and frequent ones, as it takes its time to load."""


def sign_named(name: str) -> str:
    """The sign of a command, whose name has no backslash. Raises Unshown where it has none."""
    found = _NAMED.get(name) or _known_sign(name)
    if not found:
        raise Unshown
    return found


def _known_sign(name: str) -> str:
    found = getattr(_library()(name), "simplify_repl", None)
    sign = found.strip() if isinstance(found, str) else ""
    return sign if len(sign) == 1 and sign != "%" else ""


@lru_cache(maxsize=1)
def _library() -> Callable[[str], object]:
    # Imported here: most chats have no formulas, and it takes 50 ms.
    from pylatexenc.latex2text import get_default_latex_context_db

    return get_default_latex_context_db().get_macro_spec
