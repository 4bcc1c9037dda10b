"""Formulas in LaTeX as readable Unicode text: Greek, operators, superscripts, fractions in one line; pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from llama_gui.ui.markdown.maths_layout import ITALIC, UPRIGHT, laid_out, over, spaced_out, under, upright
from llama_gui.ui.markdown.maths_signs import ACCENTS, ALPHABETS, DELIMITERS, FUNCTIONS, SIGNS, SUBSCRIPTS, SUPERSCRIPTS

MAX_LENGTH = 4_000
_MAX_DEPTH = 24
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|.", re.DOTALL)
_LARGE = frozenset("∑∏∐∫∬∭∮⋃⋂⨁⨂")
_SPACES = {"\\,", "\\;", "\\:", "\\ ", "~", "\\quad", "\\qquad", "\\space", "\\enspace"}
_NOTHING = {"\\!", "\\displaystyle", "\\textstyle", "\\limits", "\\nolimits", "\\nonumber", "\\notag", "\\/", "\\-"}
_SIZES = {"\\left", "\\right", "\\middle"} | {
    f"\\{size}{side}" for size in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r", "m")
}
_TEXTS = {"\\text", "\\textrm", "\\textbf", "\\textit", "\\mbox", "\\mathrm", "\\operatorname", "\\texttt", "\\mathsf"}
_PLAIN = {"\\mathbf", "\\boldsymbol", "\\bm", "\\mathit", "\\mathnormal", "\\boxed", "\\overbrace", "\\underbrace"}

Run = tuple[str, bool]
"""Characters, and whether they are variables, which are slanted."""


class Unshown(Exception):  # noqa: N818 - it is no error: the formula is then shown as it was written
    """A formula that has no readable form in one line of Unicode."""


@lru_cache(maxsize=512)
def readable(formula: str) -> tuple[Run, ...] | None:
    """A formula as runs of characters, or None where it must be shown as it was written."""
    if len(formula) > MAX_LENGTH:
        return None
    try:
        text = _Reader(formula).everything()
    except Unshown:
        return None
    return tuple(_runs(spaced_out(text))) if text.strip() else None


def _runs(text: str) -> Iterator[Run]:
    for match in re.finditer(f"[{''.join(UPRIGHT)}]+|[^{''.join(UPRIGHT)}]+", text):
        part = match.group()
        is_slanted = part[0] in UPRIGHT
        yield ("".join(UPRIGHT[letter] for letter in part) if is_slanted else part), is_slanted


class TokenReader:
    """A place in the tokens of a formula, which goes from left to right."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens
        self._place = 0

    def _peek(self) -> str | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _next(self) -> str:
        token = self._peek()
        if token is None:
            raise Unshown
        self._place += 1
        return token


class _Reader(TokenReader):
    """Reads a formula from left to right."""

    def __init__(self, formula: str) -> None:
        super().__init__(_TOKEN.findall(formula))
        self._depth = 0

    def everything(self) -> str:
        """The whole formula."""
        text = self._until(None)
        if self._place < len(self._tokens):
            raise Unshown
        return text

    def _until(self, *ends: str | None) -> str:
        parts: list[str] = []
        is_due = False  # air after the name of a function and after a large sign, behind what is raised on them
        while (token := self._peek()) not in ends:
            if token is None or token == "}":
                raise Unshown
            self._place += 1
            part = self._one(token)
            if is_due and part.strip() and token not in ("^", "_", "("):
                part = f" {part}"
            parts.append(part)
            if token not in ("^", "_") and part:
                is_due = part.strip() in FUNCTIONS or part.strip() in _LARGE
        return "".join(parts)

    def _one(self, token: str) -> str:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unshown
        text = self._read(token)
        self._depth -= 1
        return text

    def _read(self, token: str) -> str:
        if token.isspace():
            return ""
        if token in ("^", "_"):
            return self._raised(token, self._argument())
        if token == "'":
            return "′"
        if token == "{":
            return self._group()
        if token == "&":
            return " "
        if token == "-":
            return "−"
        if token in _SPACES:
            return " " if token != "\\qquad" else "   "
        if token in _NOTHING:
            return ""
        if token.startswith("\\") and len(token) > 1:
            return self._command(token)
        if token in ("$", "%", "#", "\\"):
            raise Unshown
        return ITALIC.get(token, token)

    def _group(self) -> str:
        text = self._until("}")
        self._place += 1
        return text

    def _argument(self) -> str:
        while (token := self._next()).isspace():
            pass
        return self._group() if token == "{" else self._one(token)

    def _raw(self) -> str:
        """The characters between braces, as they are."""
        while (token := self._next()).isspace():
            pass
        if token != "{":
            return token
        start = self._place
        while (token := self._next()) != "}":
            if token in ("{", "$") or (len(token) > 1 and token[0] == "\\" and token[1].isalpha()):
                raise Unshown
        return "".join(self._tokens[start : self._place - 1])

    def _raised(self, sign: str, text: str) -> str:
        plain = "".join(UPRIGHT.get(letter, letter) for letter in text).replace(" ", "")
        if sign == "^" and set(plain) <= {"′", "∗", "†", "°"}:
            return plain
        letters = SUPERSCRIPTS if sign == "^" else SUBSCRIPTS
        if plain and all(letter in letters for letter in plain):
            return "".join(letters[letter] for letter in plain)
        text = text.strip()
        return f"{sign}{text}" if len(text) == 1 else f"{sign}({spaced_out(text)})"

    def _command(self, token: str) -> str:
        name = token[1:]
        if token in ("\\frac", "\\dfrac", "\\tfrac", "\\cfrac"):
            return f"{over(self._argument())}/{under(self._argument())}"
        if token == "\\sqrt":
            return self._root()
        if token in ("\\binom", "\\dbinom", "\\tbinom"):
            return f"C({self._argument()}, {self._argument()})"
        if token in _TEXTS:
            return self._raw()
        if token in _PLAIN:
            return self._argument()
        if name in ALPHABETS:
            return ALPHABETS[name](upright(self._argument()))
        if name in ACCENTS:
            return "".join(letter + ACCENTS[name] for letter in self._argument() if letter != " ")
        if token in _SIZES:
            return self._delimiter()
        if token == "\\begin":
            return self._environment()
        if name in FUNCTIONS:
            return f" {name}"
        if token == "\\not":
            return self._argument() + "\u0338"
        if token in DELIMITERS:
            return DELIMITERS[token]
        if token == "\\\\":
            raise Unshown
        return sign_of(name)

    def _root(self) -> str:
        degree = ""
        if self._peek() == "[":
            self._place += 1
            degree = self._until("]")
            self._place += 1
        sign = {"": "√", "3": "∛", "4": "∜"}.get(degree) or self._raised("^", degree) + "√"
        under = self._argument()
        return sign + (under if len(under) == 1 or under.isdigit() else f"({under})")

    def _delimiter(self) -> str:
        token = self._next()
        if token == ".":
            return ""
        if token in DELIMITERS:
            return DELIMITERS[token]
        if token in ("(", ")", "[", "]", "|", "/", "<", ">"):
            return {"<": "⟨", ">": "⟩"}.get(token, token)
        return self._one(token)

    def _environment(self) -> str:
        name = self._raw()
        if name == "array":
            self._raw()
        rows: list[list[str]] = [[""]]
        while (token := self._next()) != "\\end":
            if token == "&":
                rows[-1].append("")
            elif token == "\\\\":
                rows.append([""])
            else:
                rows[-1][-1] += self._one(token)
        if self._raw() != name:
            raise Unshown
        rows = [row for row in rows if any(cell.strip() for cell in row)]
        text = laid_out(name, [[spaced_out(cell) for cell in row] for row in rows])
        if text is None:
            raise Unshown
        return text


def sign_of(name: str) -> str:
    """The sign of a command without its backslash. Raises Unshown where it has none."""
    found = SIGNS.get(name) or _known_sign(name)
    if not found:
        raise Unshown
    return found


@lru_cache(maxsize=1)
def _table() -> Callable[[str], object]:
    # Imported here: most chats have no formulas.
    from pylatexenc.latex2text import get_default_latex_context_db

    return get_default_latex_context_db().get_macro_spec


def _known_sign(name: str) -> str:
    found = getattr(_table()(name), "simplify_repl", None)
    return found if isinstance(found, str) and found.strip() and "%" not in found and len(found) <= 3 else ""
