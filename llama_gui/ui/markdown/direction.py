"""On which side a text begins: its first letter that belongs to a direction decides; pure."""

import unicodedata
from collections.abc import Iterable

from markdown_it.token import Token
from PySide6.QtCore import Qt

_ENOUGH = 400


def direction_of(texts: Iterable[str]) -> Qt.LayoutDirection:
    """The direction of the first strong letter; from the left where there is none."""
    return direction_or(Qt.LayoutDirection.LeftToRight, texts)


def direction_or(otherwise: Qt.LayoutDirection, texts: Iterable[str]) -> Qt.LayoutDirection:
    """The direction of the first strong letter; `otherwise` where there is none."""
    for text in texts:
        for letter in text[:_ENOUGH]:
            kind = unicodedata.bidirectional(letter)
            if kind in ("R", "AL"):
                return Qt.LayoutDirection.RightToLeft
            if kind == "L":
                return Qt.LayoutDirection.LeftToRight
    return otherwise


def direction_of_tokens(tokens: Iterable[Token]) -> Qt.LayoutDirection:
    """The direction of the first words in a list, a quotation or a table; code does not count."""
    return direction_of(
        child.content
        for token in tokens
        if token.type == "inline"
        for child in token.children or ()
        if child.type == "text"
    )
