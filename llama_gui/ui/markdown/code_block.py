"""Colours for code: Pygments, asked once for each short text, and bit by bit for long ones."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Piece = tuple[str, str]
"""A run of characters and the theme role that colours it."""
Line = tuple[Piece, ...]

AT_ONCE = 4_000
"""Longer code is shown plain first and coloured bit by bit: colouring 100 kB takes longer than a frame may."""
MAX_COLOURED = 400_000
_HIDDEN_CONTROLS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def highlight(language: str, code: str) -> tuple[Line, ...]:
    """The lines of `code`, in coloured pieces; plain where it is long."""
    code = show_hidden_controls(code)
    if not language or len(code) > AT_ONCE:
        return plain_lines(code)
    return _highlight(language.lower(), code)


def is_coloured_later(language: str, code: str) -> bool:
    """Whether `highlight` left the colours to `colour`."""
    return AT_ONCE < len(code) <= MAX_COLOURED and _lexer(language.lower()) is not None


def colour(language: str, code: str) -> Iterator[Line]:
    """The coloured lines of long code, one after the other as they are asked for."""
    code = show_hidden_controls(code)
    lexer = _lexer(language.lower())
    line: list[Piece] = []
    for kind, value in _tokens(lexer, code) if lexer is not None else ():
        first, *others = value.split("\n")
        line.append((first, _role(kind)))
        for part in others:
            yield tuple(line)
            line = [(part, _role(kind))]
    yield tuple(line)


def plain_lines(code: str) -> tuple[Line, ...]:
    """The lines of `code` without colours."""
    return tuple(((line, "text"),) for line in code.split("\n"))


def show_hidden_controls(code: str) -> str:
    """Make characters visible that could turn the reading direction of code around (the "Trojan source" trick)."""
    return _HIDDEN_CONTROLS.sub(lambda match: f"<U+{ord(match.group()):04X}>", code)


@lru_cache(maxsize=256)
def _highlight(language: str, code: str) -> tuple[Line, ...]:
    if _lexer(language) is None:
        return plain_lines(code)
    return tuple(tuple(piece for piece in line if piece[0]) for line in colour(language, code))


@lru_cache(maxsize=64)
def _lexer(language: str) -> "Lexer | None":
    # Imported here: Pygments is not needed to show the window, only to show the first block of code.
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _tokens(lexer: "Lexer", code: str) -> Iterator[tuple[Any, str]]:
    return iter(lexer.get_tokens(code))


@lru_cache(maxsize=256)
def _role(kind: Any) -> str:
    from pygments.token import Comment, Keyword, Number, Operator, String

    if kind in Comment:
        return "muted"
    if kind in String:
        return "accent"
    if kind in Number:
        return "code_number"
    if kind in Keyword or kind in Operator.Word:
        return "code_keyword"
    return "text"
