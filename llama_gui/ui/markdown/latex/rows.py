"""What stands one after the other in a formula: groups, lines, and what is raised and lowered; pure."""

from collections.abc import Callable
from dataclasses import replace

from llama_gui.ui.markdown.latex.alphabets import LETTERS, italic
from llama_gui.ui.markdown.latex.commands import INFIX, LEVELS, LINE_ENDS, SPACES
from llama_gui.ui.markdown.latex.environments import grid
from llama_gui.ui.markdown.latex.signs import INTEGRALS, LARGE, kind_of_character
from llama_gui.ui.markdown.latex.tokens import TokenReader, Unshown
from llama_gui.ui.markdown.latex.tree import Fraction, Kind, Node, Row, Scripts, Sign, Space

_MAX_DEPTH = 40
_MOST_PRIMES = 6
_TO_THE_END = frozenset(("\\bf", "\\rm", "\\it", "\\sf", "\\tt", "\\cal", "\\frak"))
"""Commands of letters that have no braces: they count to the end of their group."""


class Reader(TokenReader):
    """Reads a formula from left to right; `command` reads what follows the name of a command."""

    def __init__(self, formula: str, command: "Command", depth: int = 0) -> None:
        super().__init__(formula)
        self.letters: Callable[[str], str] = italic
        """The alphabet at this place."""
        self.tag: tuple[Node, ...] = ()
        """The number of the formula, at its end."""
        self._command = command
        self._depth = depth

    def everything(self) -> Row:
        """The whole formula; its lines one below the other where it has several."""
        rows = self.rows(None)
        if len(rows) == 1 and len(rows[0]) == 1 and isinstance(rows[0][0], Row):
            return Row((*rows[0][0].items, *self.tag))
        name = "aligned" if any(len(row) > 1 for row in rows) else "gathered"
        return Row((grid(name, "", rows, frozenset()), *self.tag))

    def within(self, formula: str) -> Row:
        """A formula in a text of this one."""
        return Reader(formula, self._command, self._depth).everything()

    def rows(self, end: str | None) -> list[list[Node]]:
        """Lines of cells up to `end`, which is left."""
        rows: list[list[Node]] = [[self.until(end, *LINE_ENDS)]]
        while self.peek() != end:
            if self.next() != "&":
                self.skip_line_length()
                rows.append([])
            rows[-1].append(self.until(end, *LINE_ENDS))
        if len(rows) > 1 and len(rows[-1]) == 1 and rows[-1][0] == Row(()):
            rows.pop()
        return rows

    def until(self, *ends: str | None) -> Row:
        """What comes before one of `ends`, which is left for who asked."""
        items: list[Node] = []
        around = self.letters
        while (token := self.peek()) not in ends:
            if token is None or token in ("}", "&", "\\\\"):
                raise Unshown
            self.next()
            if token in INFIX:
                brackets, has_rule = INFIX[token]
                items = [Fraction(Row(tuple(items)), self._rest(*ends), has_rule, None, brackets)]
            elif token[1:] in LEVELS and token[0] == "\\":
                items.append(Row(self._rest(*ends).items, level=LEVELS[token[1:]]))
            elif token in _TO_THE_END:
                self.letters = LETTERS[token[1:]]
            else:
                self._take(items, token)
        self.letters = around
        return Row(tuple(items))

    def group(self) -> Row:
        """What comes before the closing brace, which is passed."""
        row = self.until("}")
        self.next()
        return row

    def argument(self) -> Node:
        """What stands between braces, or the next item."""
        token = self.next_visible()
        if token in ("}", "&", "^", "_", "\\\\"):
            raise Unshown
        if token != "{":
            node = self._one(token)
            return Row(()) if node is None else node
        self._go_deeper()
        row = self.group()
        self._depth -= 1
        return row.items[0] if len(row.items) == 1 and row.level is None else row

    def optional_argument(self) -> Node | None:
        """What stands between square brackets; None where there are none."""
        self.skip_spaces()
        if not self.skip("["):
            return None
        row = self.until("]")
        self.next()
        return row

    def argument_in(self, letters: Callable[[str], str]) -> Node:
        """An argument in another alphabet."""
        around, self.letters = self.letters, letters
        body = self.argument()
        self.letters = around
        return body

    def sign(self, character: str, kind: Kind | None = None) -> Sign:
        """A character in the alphabet at this place."""
        is_large = character in LARGE
        kind = kind_of_character(character) if kind is None else kind
        return Sign(self.letters(character), kind, is_large, is_large and character not in INTEGRALS)

    def _rest(self, *ends: str | None) -> Row:
        self._go_deeper()
        row = self.until(*ends)
        self._depth -= 1
        return row

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
            script = self.argument()
            if (last.above if token == "^" else last.below) is not None:
                raise Unshown
            items.append(replace(last, above=script) if token == "^" else replace(last, below=script))
        elif last.above is not None or last.primes == _MOST_PRIMES:
            raise Unshown
        else:
            items.append(replace(last, primes=last.primes + 1))

    def _one(self, token: str) -> Node | None:
        self._go_deeper()
        node = self._read(token)
        self._depth -= 1
        return node

    def _go_deeper(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unshown

    def _read(self, token: str) -> Node | None:
        if token.isspace() or token[0] == "%":
            return None
        if token == "{":
            return self.group()
        if token in SPACES:
            return Space(SPACES[token])
        if len(token) > 1:
            return self._command(self, token[1:])
        if token in ("$", "#", "\\"):
            raise Unshown
        return self.sign({"-": "−", "*": "∗", "`": "‘"}.get(token, token))


Command = Callable[[Reader, str], Node | None]
