"""The commands of formulas, by what they stand for; pure."""

from llama_gui.ui.markdown.latex.tree import Kind

FRACTIONS: dict[str, tuple[tuple[str, str], bool, int | None]] = {
    "frac": (("", ""), True, None),
    "dfrac": (("", ""), True, 0),
    "cfrac": (("", ""), True, 0),
    "tfrac": (("", ""), True, 1),
    "binom": (("(", ")"), False, None),
    "dbinom": (("(", ")"), False, 0),
    "tbinom": (("(", ")"), False, 1),
}
"""Brackets around it, whether there is a rule, and its style."""
ACCENTS = {
    "hat": ("\u0302", False),
    "widehat": ("\u0302", True),
    "check": ("\u030c", False),
    "widecheck": ("\u030c", True),
    "tilde": ("\u0303", False),
    "widetilde": ("\u0303", True),
    "acute": ("\u0301", False),
    "grave": ("\u0300", False),
    "dot": ("\u0307", False),
    "ddot": ("\u0308", False),
    "dddot": ("\u20db", False),
    "breve": ("\u0306", False),
    "bar": ("\u0304", False),
    "vec": ("\u20d7", False),
    "mathring": ("\u030a", False),
}
INFIX = {"\\over": (("", ""), True), "\\atop": (("", ""), False), "\\choose": (("(", ")"), False)}
"""Fractions whose command stands between their parts: brackets around it, and whether there is a rule."""
LINES = {
    "overline": ("", True),
    "underline": ("", False),
    "overbrace": ("⏞", True),
    "underbrace": ("⏟", False),
    "overrightarrow": ("→", True),
    "overleftarrow": ("←", True),
    "overleftrightarrow": ("↔", True),
    "underrightarrow": ("→", False),
    "underleftarrow": ("←", False),
    "overparen": ("⏜", True),
    "underparen": ("⏝", False),
    "overbracket": ("⎴", True),
    "underbracket": ("⎵", False),
}
SIZES = {
    name + side: (size, kind)
    for size, name in enumerate(("big", "Big", "bigg", "Bigg"), 1)
    for side, kind in (("", Kind.ORDINARY), ("l", Kind.OPENING), ("r", Kind.CLOSING), ("m", Kind.RELATION))
}
BRACKETS = {
    "(": "(",
    ")": ")",
    "[": "[",
    "]": "]",
    "|": "|",
    "/": "/",
    "<": "⟨",
    ">": "⟩",
    "\\lt": "⟨",
    "\\gt": "⟩",
    "\\backslash": "\\",
    "\\uparrow": "↑",
    "\\downarrow": "↓",
    "\\updownarrow": "↕",
    "\\Uparrow": "⇑",
    "\\Downarrow": "⇓",
    "\\lgroup": "⟮",
    "\\rgroup": "⟯",
}
LIMIT_WORDS = {
    "lim": "lim",
    "limsup": "lim\u2009sup",
    "liminf": "lim\u2009inf",
    "max": "max",
    "min": "min",
    "sup": "sup",
    "inf": "inf",
    "det": "det",
    "gcd": "gcd",
    "Pr": "Pr",
    "argmax": "arg\u2009max",
    "argmin": "arg\u2009min",
    "injlim": "inj\u2009lim",
    "projlim": "proj\u2009lim",
}
OPERATOR_NAMES = frozenset(
    (
        "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "coth", "exp",
        "log", "ln", "lg", "dim", "ker", "deg", "hom", "arg",
        # Those that many models believe to be commands.
        "arctg", "ctg", "tg", "sh", "ch", "th", "sgn", "lcm", "tr", "rank", "diag", "Tr", "Var", "Cov", "softmax",
    )
)  # fmt: skip
SPACES = {
    "\\,": 3 / 18,
    "\\thinspace": 3 / 18,
    "\\:": 4 / 18,
    "\\>": 4 / 18,
    "\\medspace": 4 / 18,
    "\\;": 5 / 18,
    "\\thickspace": 5 / 18,
    "\\!": -3 / 18,
    "\\negthinspace": -3 / 18,
    "\\ ": 0.25,
    "~": 0.25,
    "\\space": 0.25,
    "\\nobreakspace": 0.25,
    "\\enspace": 0.5,
    "\\quad": 1.0,
    "\\qquad": 2.0,
}
LEVELS = {"displaystyle": 0, "textstyle": 1, "scriptstyle": 2, "scriptscriptstyle": 3}
KINDED = {
    "mathord": Kind.ORDINARY,
    "mathop": Kind.OPERATOR,
    "mathbin": Kind.BINARY,
    "mathrel": Kind.RELATION,
    "mathopen": Kind.OPENING,
    "mathclose": Kind.CLOSING,
    "mathpunct": Kind.PUNCTUATION,
    "mathinner": Kind.INNER,
}
ARROWS = {
    "xrightarrow": "→",
    "xleftarrow": "←",
    "xleftrightarrow": "↔",
    "xRightarrow": "⇒",
    "xLeftarrow": "⇐",
    "xLeftrightarrow": "⇔",
    "xmapsto": "↦",
    "xrightharpoonup": "⇀",
    "xrightleftharpoons": "⇌",
}
PHANTOMS = frozenset(("phantom", "hphantom", "vphantom", "boxed", "fbox", "cancel", "bcancel", "xcancel", "smash"))
IGNORED = frozenset(("nonumber", "notag", "displaylimits", "allowbreak", "nobreak", "relax", "/", "-", "mathstrut"))
LENGTHS = frozenset(("hspace", "hspace*", "mspace", "kern", "mkern", "hskip", "mskip"))
LINE_ENDS = ("&", "\\\\", "\\cr")
"""What ends a cell."""
RULES = frozenset(("\\hline", "\\midrule", "\\toprule", "\\bottomrule", "\\hdashline"))
NEGATED = {
    "=": "≠",
    "∈": "∉",
    "∋": "∌",
    "∃": "∄",
    "≡": "≢",
    "∼": "≁",
    "≈": "≉",
    "≅": "≇",
    "<": "≮",
    ">": "≯",
    "≤": "≰",
    "≥": "≱",
    "⊂": "⊄",
    "⊃": "⊅",
    "⊆": "⊈",
    "⊇": "⊉",
    "∣": "∤",
    "∥": "∦",
    "→": "↛",
    "←": "↚",
    "⇒": "⇏",
    "⇐": "⇍",
    "⇔": "⇎",
    "⊢": "⊬",
    "⊨": "⊭",
}
