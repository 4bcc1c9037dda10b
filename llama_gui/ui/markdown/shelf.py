"""What a page keeps beside its text: what its commands stand for, and places to which a writer can return."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from PySide6.QtGui import QTextBlockFormat, QTextCursor

from llama_gui.ui.markdown.code_block import Line


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the document to which the writer can return. It moves with what is written before it."""

    cursor: QTextCursor
    block_format: QTextBlockFormat
    is_fresh: bool
    is_next_close: bool
    issued: int
    """How many numbers the writer had given to commands."""

    @property
    def position(self) -> int:
        """Where it is now."""
        return self.cursor.position()


@dataclass(frozen=True, slots=True)
class Fold:
    """Text that is not drawn. `cursor` is in the line that stands for it; `quota` of its characters will be drawn by
    and by without being asked for. `plain` is the look of text that is not Markdown, `quotes` how deep it is quoted;
    `continues`: it begins in the middle of a line.
    """

    cursor: QTextCursor
    text: str
    quota: int
    plain: QTextBlockFormat | None
    quotes: int
    continues: bool


@dataclass(frozen=True, slots=True)
class Coat:
    """Code that stands there without colours. `cursor` is in the line before the next one to be coloured."""

    cursor: QTextCursor
    lines: Iterator[Line]


@dataclass(frozen=True, slots=True)
class Shelf:
    """The texts that the commands of one page stand for, by their numbers."""

    codes: dict[int, str] = field(default_factory=dict)
    folds: dict[int, Fold] = field(default_factory=dict)
    coats: dict[int, Coat] = field(default_factory=dict)
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def forget(self, number: int) -> None:
        """The command with this number is no longer there."""
        for kept in (self.codes, self.folds, self.coats):
            kept.pop(number, None)
