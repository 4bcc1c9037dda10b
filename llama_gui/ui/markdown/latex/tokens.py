"""The tokens of a formula, and a place among them that goes from left to right; pure."""

import re

MAX_LENGTH = 4_000
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|%[^\n]*\n?|.", re.DOTALL)
_LENGTH = re.compile(r"\s*([+-]?[\d.]+)\s*(em|ex|mu|pt|px|mm|cm)\s*")
_UNITS = {"em": 1.0, "ex": 0.45, "mu": 1 / 18, "pt": 0.1, "px": 0.07, "mm": 0.28, "cm": 2.8}


class Unshown(Exception):  # noqa: N818 - it is no error: the formula is then shown in another way, or as its source
    """A formula that is not understood whole, or that has no form of the kind that is asked for."""


def token_count(formula: str) -> int:
    """How many tokens a formula has: what it costs to lay it out grows with them."""
    return sum(1 for _ in _TOKEN.finditer(formula))


class TokenReader:
    """A place among the tokens of a formula. What is asked for and is not there raises Unshown."""

    def __init__(self, formula: str) -> None:
        self._tokens: list[str] = _TOKEN.findall(formula)
        self._place = 0

    def peek(self) -> str | None:
        """The token at this place; None at the end."""
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def next(self) -> str:
        """The token at this place, which is then passed."""
        token = self.peek()
        if token is None:
            raise Unshown
        self._place += 1
        return token

    def next_visible(self) -> str:
        """The next token that is neither air nor a comment."""
        self.skip_spaces()
        return self.next()

    def skip_spaces(self) -> None:
        """Pass air and comments."""
        while (token := self.peek()) is not None and (token.isspace() or token[0] == "%"):
            self._place += 1

    def skip(self, *expected: str) -> bool:
        """Pass these tokens if they come next."""
        end = self._place + len(expected)
        is_here = tuple(self._tokens[self._place : end]) == expected
        if is_here:
            self._place = end
        return is_here

    def skip_line_length(self) -> None:
        """Pass the air that is asked for behind a line: `\\\\[2ex]`."""
        self.skip("*")
        start = self._place
        self.skip_spaces()
        if (option := self.option()) is None or not _LENGTH.fullmatch(option):
            self._place = start

    def option(self) -> str | None:
        """The characters between square brackets, None where there are no such brackets."""
        if self.peek() != "[" or "]" not in self._tokens[self._place :]:
            return None
        end = self._tokens.index("]", self._place)
        text = "".join(self._tokens[self._place + 1 : end])
        self._place = end + 1
        return text

    def raw(self) -> str:
        """The characters between braces, as they are; braces in them come in pairs."""
        if (token := self.next_visible()) != "{":
            return token
        start, depth = self._place, 1
        while depth:
            token = self.next()
            depth += (token == "{") - (token == "}")
        return "".join(self._tokens[start : self._place - 1])

    def length(self) -> float:
        """A length in em, with braces around it or without."""
        text = self.raw() if self.peek() == "{" else ""
        while not (found := _LENGTH.fullmatch(text)):
            if len(text) > 12:
                raise Unshown
            text += self.next()
        number, unit = found.groups()
        try:
            return float(number) * _UNITS[unit]
        except ValueError:
            raise Unshown from None
