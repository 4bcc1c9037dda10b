"""LaTeX -> the tree of a formula. What is not understood whole is not shown at all; pure."""

import re
from collections.abc import Callable
from dataclasses import replace

from llama_gui.ui.markdown.maths import TokenReader, Unshown, sign_of
from llama_gui.ui.markdown.maths_signs import DELIMITERS, FUNCTIONS
from llama_gui.ui.markdown.typesetting.chemistry import chemistry
from llama_gui.ui.markdown.typesetting.commands import (
    ACCENTS,
    ARROWS,
    BRACKETS,
    FRACTIONS,
    IGNORED,
    IGNORED_WITH_ARGUMENT,
    KINDED,
    LEVELS,
    LIMIT_WORDS,
    LINES,
    NEGATED,
    OPERATOR_NAMES,
    PHANTOMS,
    SIZES,
    SPACES,
)
from llama_gui.ui.markdown.typesetting.environments import grid
from llama_gui.ui.markdown.typesetting.signs import (
    INTEGRALS,
    KINDS,
    LARGE,
    LETTERS,
    NAMED,
    TEXTS,
    italic,
    kind_of_character,
)
from llama_gui.ui.markdown.typesetting.tree import (
    Accent,
    Arrow,
    Big,
    Decorated,
    Fence,
    Fraction,
    Kind,
    Line,
    Node,
    Root,
    Row,
    Scripts,
    Sign,
    Space,
    Words,
    kind_of,
)

MOST_TOKENS = 1_000
_MAX_DEPTH = 40
_MOST_PRIMES = 6
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|%[^\n]*\n?|.", re.DOTALL)
_INFIX = {"\\over": ("", "", True), "\\atop": ("", "", False), "\\choose": ("(", ")", False)}
_LENGTH = re.compile(r"\s*([+-]?[\d.]+)\s*(em|ex|mu|pt|px|mm|cm)\s*")
_UNITS = {"em": 1.0, "ex": 0.45, "mu": 1 / 18, "pt": 0.1, "px": 0.07, "mm": 0.28, "cm": 2.8}


def tree_of(formula: str) -> Row:
    """A formula as a tree. Raises Unshown where a part of it is not understood, or where it is too long or deep."""
    return _Reader(formula).everything()


class _Reader(TokenReader):
    """Reads a formula from left to right."""

    def __init__(self, formula: str) -> None:
        super().__init__(_TOKEN.findall(formula))
        if len(self._tokens) > MOST_TOKENS:
            raise Unshown
        self._depth = 0
        self._letters: Callable[[str], str] = italic
        self._tag: tuple[Node, ...] = ()

    def everything(self) -> Row:
        """The whole formula; its lines one below the other where it has several."""
        rows = self._rows(None)
        if len(rows) == 1 and len(rows[0]) == 1 and isinstance(rows[0][0], Row):
            return Row((*rows[0][0].items, *self._tag))
        name = "aligned" if any(len(row) > 1 for row in rows) else "gathered"
        return Row((grid(name, "", rows, frozenset()), *self._tag))

    def _rows(self, end: str | None) -> list[list[Node]]:
        rows: list[list[Node]] = [[self._until(end, "&", "\\\\", "\\cr")]]
        while (token := self._peek()) != end:
            self._place += 1
            if token != "&":
                self._skip_length()
                rows.append([])
            rows[-1].append(self._until(end, "&", "\\\\", "\\cr"))
        if len(rows) > 1 and len(rows[-1]) == 1 and rows[-1][0] == Row(()):
            rows.pop()
        return rows

    # Tokens

    def _next_visible(self) -> str:
        while (token := self._next()).isspace() or token[0] == "%":
            pass
        return token

    def _skip_spaces(self) -> None:
        while (token := self._peek()) is not None and (token.isspace() or token[0] == "%"):
            self._place += 1

    def _skip_length(self) -> None:
        """The air that is asked for behind a line: `\\\\[2ex]`."""
        if self._peek() == "*":
            self._place += 1
        start = self._place
        self._skip_spaces()
        if (option := self._option()) is None or not _LENGTH.fullmatch(option):
            self._place = start

    def _option(self) -> str | None:
        """The characters between square brackets, None where there are no such brackets."""
        if self._peek() != "[" or "]" not in self._tokens[self._place :]:
            return None
        end = self._tokens.index("]", self._place)
        text = "".join(self._tokens[self._place + 1 : end])
        self._place = end + 1
        return text

    def _raw(self) -> str:
        """The characters between braces, as they are; braces in them come in pairs."""
        if (token := self._next_visible()) != "{":
            return token
        start, depth = self._place, 1
        while depth:
            token = self._next()
            depth += (token == "{") - (token == "}")
        return "".join(self._tokens[start : self._place - 1])

    # Rows

    def _until(self, *ends: str | None) -> Row:
        """What comes before one of `ends`, which is left for who asked."""
        items: list[Node] = []
        letters = self._letters
        while (token := self._peek()) not in ends:
            if token is None or token in ("}", "&", "\\\\"):
                raise Unshown
            self._place += 1
            if token in _INFIX:
                left, right, has_rule = _INFIX[token]
                bottom = self._until(*ends)
                items = [Fraction(Row(tuple(items)), bottom, has_rule, None, (left, right))]
            elif token[0] == "\\" and token[1:] in LEVELS:
                items.append(Row(self._until(*ends).items, level=LEVELS[token[1:]]))
            elif token[0] == "\\" and token[1:] in LETTERS and len(token) < 6 and token not in ("\\bm", "\\pmb"):
                self._letters = LETTERS[token[1:]]  # to the end of this group: \bf, \rm
            else:
                self._take(items, token)
        self._letters = letters
        return Row(tuple(items))

    def _take(self, items: list[Node], token: str) -> None:
        """One more token: most are items of their own, some change the last one."""
        if token in ("^", "_", "'", "’", "′"):
            self._raise_on(items, token)
        elif token in ("\\limits", "\\nolimits"):
            if not items:
                raise Unshown
            last = items.pop()
            items.append(replace(last if isinstance(last, Scripts) else Scripts(last), limits=token == "\\limits"))
        elif (node := self._one(token)) is not None:
            items.append(node)

    def _raise_on(self, items: list[Node], token: str) -> None:
        last = items.pop() if items and not isinstance(items[-1], Space) else Row(())
        if not isinstance(last, Scripts) or isinstance(last.base, Scripts):
            last = Scripts(last)
        if token in ("^", "_"):
            script = self._argument()
            if (last.above if token == "^" else last.below) is not None:
                raise Unshown
            items.append(replace(last, above=script) if token == "^" else replace(last, below=script))
        elif last.above is not None or last.primes == _MOST_PRIMES:
            raise Unshown
        else:
            items.append(replace(last, primes=last.primes + 1))

    def _one(self, token: str) -> Node | None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unshown
        node = self._read(token)
        self._depth -= 1
        return node

    def _read(self, token: str) -> Node | None:
        if token.isspace() or token[0] == "%":
            return None
        if token == "{":
            return self._group()
        if token in SPACES:
            return Space(SPACES[token])
        if len(token) > 1 and token[0] == "\\":
            return self._command(token)
        if token in ("$", "#", "\\"):
            raise Unshown
        return self._sign({"-": "−", "*": "∗", "`": "‘"}.get(token, token))

    def _sign(self, character: str, kind: Kind | None = None) -> Sign:
        letter = self._letters(character) if len(character) == 1 else character
        kind = kind_of_character(character) if kind is None else kind
        is_large = character in LARGE
        return Sign(letter, kind, is_large, is_large and character not in INTEGRALS)

    def _group(self) -> Row:
        row = self._until("}")
        self._place += 1
        return row

    def _argument(self) -> Node:
        """What stands between braces, or the next item."""
        token = self._next_visible()
        if token in ("}", "&", "^", "_", "\\\\"):
            raise Unshown
        if token == "{":
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise Unshown
            row = self._group()
            self._depth -= 1
            return row.items[0] if len(row.items) == 1 and row.level is None else row
        node = self._one(token)
        return Row(()) if node is None else node

    # Commands

    def _command(self, token: str) -> Node | None:
        name = token[1:]
        if name in FRACTIONS:
            brackets, has_rule, level = FRACTIONS[name]
            return Fraction(self._argument(), self._argument(), has_rule, level, brackets)
        if name in TEXTS:
            return self._text(TEXTS[name])
        if name in LETTERS:
            return self._in_letters(LETTERS[name])
        if name in ACCENTS:
            character, is_wide = ACCENTS[name]
            return Accent(character, self._argument(), is_wide)
        if name in LINES:
            character, is_above = LINES[name]
            return Line(self._argument(), character, is_above)
        if name in SIZES:
            size, kind = SIZES[name]
            return Big(self._delimiter(), size, kind)
        if name in PHANTOMS:
            return Decorated(self._argument(), name)
        if name in FUNCTIONS or name in LIMIT_WORDS:
            return Words(LIMIT_WORDS.get(name, name), Kind.OPERATOR, name in LIMIT_WORDS)
        if name in KINDED:
            return Row((self._argument(),), KINDED[name], limits=name == "mathop")
        if name in ARROWS:
            return self._arrow(ARROWS[name])
        if name in IGNORED:
            return None
        if name in IGNORED_WITH_ARGUMENT:
            self._raw()
            return None
        return self._other_command(token, name)

    def _other_command(self, token: str, name: str) -> Node | None:
        match name:
            case "left":
                return self._fence()
            case "begin":
                return self._environment()
            case "sqrt":
                return self._root()
            case "substack":
                return self._lines()
            case "overset" | "stackrel":
                over, base = self._argument(), self._argument()
                kind = Kind.RELATION if name == "stackrel" else kind_of(base)
                return Row((Scripts(base, above=over, limits=True),), kind)
            case "underset":
                under, base = self._argument(), self._argument()
                if isinstance(base, Scripts) and base.limits and base.below is None:
                    return Scripts(base.base, base.above, under, limits=True)
                return Row((Scripts(base, below=under, limits=True),), kind_of(base))
            case "operatorname" | "operatorname*" | "DeclareMathOperator":
                return self._operator(has_limits=name.endswith("*"))
            case "ce":
                return _Reader(chemistry(self._raw())).everything()
            case "mod" | "bmod" | "pmod" | "pod":
                return self._modulo(name)
            case "not":
                return self._negated()
            case "color" | "textcolor":
                self._raw()  # a formula has the colour of its text
                return None if name == "color" else self._argument()
            case "tag" | "tag*":
                text = self._text(TEXTS["text"])
                self._tag = (Space(2.0), *((text,) if name == "tag*" else (Words("("), text, Words(")"))))
                return None
            case "hspace" | "hspace*" | "mspace" | "kern" | "mkern" | "hskip" | "mskip":
                return self._hspace()
            case "mathchoice":
                raise Unshown
        if name in OPERATOR_NAMES:
            return Words(OPERATOR_NAMES[name], Kind.OPERATOR)
        if name in NAMED:
            return self._sign(NAMED[name], KINDS.get(name))
        if token in DELIMITERS:
            return self._sign(DELIMITERS[token], KINDS.get(name))
        found = sign_of(name).strip()
        if len(found) == 1:
            return self._sign(found, KINDS.get(name))
        raise Unshown

    def _in_letters(self, letters: Callable[[str], str]) -> Node:
        around, self._letters = self._letters, letters
        body = self._argument()
        self._letters = around
        return body if isinstance(body, Sign) and body.kind == Kind.ORDINARY else Row((body,))

    def _text(self, letters: Callable[[str], str]) -> Node:
        """Text between braces; there may be formulas in it."""
        parts = re.split(r"(?<!\\)\$", self._raw())
        if len(parts) % 2 == 0:
            raise Unshown
        items: list[Node] = []
        for number, part in enumerate(parts):
            if number % 2:
                items.append(_Reader(part).everything())
            elif part:
                items.append(Words("".join(letters(letter) for letter in _plain_text(part))))
        return items[0] if len(items) == 1 else Row(tuple(items))

    def _operator(self, *, has_limits: bool) -> Row:
        around, self._letters = self._letters, LETTERS["mathrm"]
        body = self._argument()
        self._letters = around
        return Row((_without_air(body),), Kind.OPERATOR, limits=has_limits)

    def _modulo(self, name: str) -> Row:
        if name == "bmod":
            return Row((Words("mod"),), Kind.BINARY)
        body = self._argument()
        if name == "mod":
            return Row((Space(0.7), Words("mod"), Space(0.33), body))
        word: tuple[Node, ...] = (Words("mod"), Space(0.33)) if name == "pmod" else ()
        return Row((Space(0.7), Sign("(", Kind.OPENING), *word, body, Sign(")", Kind.CLOSING)))

    def _negated(self) -> Node:
        sign = self._argument()
        if isinstance(sign, Row) and len(sign.items) == 1:
            sign = sign.items[0]
        if not isinstance(sign, Sign) or sign.character not in NEGATED:
            raise Unshown
        return Sign(NEGATED[sign.character], Kind.RELATION)

    def _hspace(self) -> Space:
        text = self._raw() if self._peek() == "{" else ""
        while not text or not _LENGTH.fullmatch(text):
            if len(text) > 12:
                raise Unshown
            text += self._next()
        number, unit = _LENGTH.fullmatch(text).groups()  # pyright: ignore[reportOptionalMemberAccess]
        try:
            return Space(min(4.0, max(-1.0, float(number) * _UNITS[unit])))
        except ValueError:
            raise Unshown from None

    def _arrow(self, character: str) -> Arrow:
        self._skip_spaces()
        below = None
        if self._peek() == "[":
            self._place += 1
            below = self._until("]")
            self._place += 1
        return Arrow(character, self._argument(), below)

    def _root(self) -> Root:
        self._skip_spaces()
        degree = None
        if self._peek() == "[":
            self._place += 1
            degree = self._until("]")
            self._place += 1
        return Root(self._argument(), degree)

    def _lines(self) -> Node:
        if self._next_visible() != "{":
            raise Unshown
        rows = self._rows("}")
        self._place += 1
        return grid("substack", "", rows, frozenset())

    def _delimiter(self) -> str:
        token = self._next_visible()
        if token == ".":
            return ""
        if token in BRACKETS:
            return BRACKETS[token]
        if token in DELIMITERS:
            return DELIMITERS[token]
        if token[0] == "\\" and len(token) > 2:
            found = NAMED.get(token[1:]) or sign_of(token[1:])
            if len(found) == 1:
                return found
        raise Unshown

    def _fence(self) -> Fence:
        left, bodies, middles = self._delimiter(), [], []
        bodies.append(self._until("\\right", "\\middle"))
        while self._next() == "\\middle":
            middles.append(self._delimiter())
            bodies.append(self._until("\\right", "\\middle"))
        return Fence(left, self._delimiter(), tuple(bodies), tuple(middles))

    def _environment(self) -> Node:
        name = self._raw()
        columns = self._columns(name)
        rows: list[list[Node]] = []
        rules: set[int] = set()
        while True:
            self._skip_spaces()
            while self._peek() in ("\\hline", "\\midrule", "\\toprule", "\\bottomrule", "\\hdashline"):
                rules.add(len(rows))
                self._place += 1
                self._skip_spaces()
            if self._peek() == "\\end":
                break
            rows.append([])
            while True:
                rows[-1].append(self._until("\\end", "&", "\\\\", "\\cr"))
                if self._peek() != "&":
                    break
                self._place += 1
            if self._peek() != "\\end":
                self._place += 1
                self._skip_length()
        self._place += 1
        if self._raw() != name:
            raise Unshown
        return grid(name, columns, rows, frozenset(rules))

    def _columns(self, name: str) -> str:
        """How the columns of an environment are aligned, where it says so."""
        self._skip_spaces()
        if name in ("array", "subarray", "darray", "alignedat", "alignat", "alignat*"):
            self._option()  # how it stands on its line: always in the middle
            return self._raw()
        if name.endswith("matrix*"):
            return self._option() or "c"
        if "".join(self._tokens[self._place : self._place + 3]) in ("[t]", "[b]", "[c]"):
            self._place += 3  # how it stands on its line: always in the middle
        return ""


def _without_air(node: Node) -> Node:
    """The name of an operator: its signs are letters."""
    if isinstance(node, Sign):
        return Sign("-" if node.character == "−" else node.character)
    return Row(tuple(map(_without_air, node.items)), level=node.level) if isinstance(node, Row) else node


def _plain_text(part: str) -> str:
    text = re.sub(r"\\([ %$#&_{}])|[{}]", lambda match: match.group(1) or "", part.replace("~", "\u00a0"))
    if "\\" in text:
        raise Unshown
    return re.sub(r"[ \t\n]+", " ", text.replace("---", "—").replace("--", "–"))
