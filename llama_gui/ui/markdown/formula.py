"""A formula in a text document: laid out where that can be done, else as Unicode, and if need be as its source.

What is laid out is one object, and before it, too small to be seen, the same in Unicode: so that it is found by its
words, and read by who does not see it.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from markdown_it.token import Token
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QPyTextObject,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFragment,
)

from llama_gui.ui.markdown.formats import FORMULA_OBJECT, Property
from llama_gui.ui.markdown.maths import Run, readable
from llama_gui.ui.theme import COLUMN_WIDTH

if TYPE_CHECKING:
    from llama_gui.ui.markdown.typesetting.text_object import FormulaObject

OBJECT = "\ufffc"
JOINER = "\u2060"
_BREAKING = re.compile(r"([^\w\s])(?=.)")
_SMALLEST = 0.6
"""A formula that would have to be drawn even smaller to fit into the column is shown as Unicode, which wraps."""
_LARGEST_LETTERS = 1.21
"""How much larger than the words a formula's letters may be, so that small letters have one height (as in KaTeX)."""
_X_HEIGHT = 0.473


class Formula:
    """What is written for a formula among words of a format, in a column so wide."""

    def __init__(self, source: str, chars: QTextCharFormat, *, is_display: bool, room: float = COLUMN_WIDTH) -> None:
        self.source = source
        self.runs = readable(source)
        self.is_display = is_display
        self.width = 0.0
        """In pixels; 0 where it cannot be laid out."""
        self._chars = chars
        # Imported here: most chats have no formulas.
        from llama_gui.ui.markdown.typesetting.formulas import drawing

        drawn = drawing(source, is_display=is_display)
        em = _em(chars.font())
        if drawn is not None and drawn.width * em * _SMALLEST <= room:
            self.width = drawn.width * em
            self._drawn, self._em = drawn, em

    @classmethod
    def of(cls, token: Token, chars: QTextCharFormat, room: float) -> "Formula":
        """That of a token in a paragraph. What stands between double signs there has the size of one on its own."""
        return cls(token.content, chars, is_display=token.markup in ("$$", "\\["), room=room)

    @property
    def is_laid_out(self) -> bool:
        """Whether it is drawn as in a book."""
        return self.width > 0

    def text(self, opening: str) -> str:
        """What is copied, found and read aloud: Unicode, or the source between its signs. Lines are parted by \\n."""
        if self.runs is not None:
            return plain_text(self.runs)
        closing = {"\\(": "\\)", "\\[": "\\]"}.get(opening, opening)
        return f"{opening}{self.source}{closing}"

    def prepare(self, document: QTextDocument) -> None:
        """Let a document know how formulas are drawn."""
        if formulas_of(document) is None:
            from llama_gui.ui.markdown.typesetting.text_object import FormulaObject

            document.documentLayout().registerHandler(FORMULA_OBJECT, FormulaObject(document))

    def object_chars(self, text: str) -> QTextCharFormat:
        """The format of the one character that is drawn as this formula."""
        from llama_gui.ui.markdown.typesetting.text_object import measure

        chars = QTextCharFormat(self._chars)
        chars.setObjectType(FORMULA_OBJECT)
        chars.setProperty(Property.FORMULA, self.source)
        chars.setProperty(Property.FORMULA_TEXT, text)
        chars.setProperty(Property.FORMULA_IS_DISPLAY, self.is_display)
        measure(chars, self._drawn, self._em)
        return chars


def words_under(text: str) -> str:
    """The words before a formula's object, such that no line ends among them or between them and it."""
    return _BREAKING.sub(rf"\1{JOINER}", re.sub(r"\s+", "\u00a0", text.strip())) + JOINER


def formulas_of(document: QTextDocument) -> "FormulaObject | None":
    """Who draws the formulas of a document; None where there has been none yet."""
    return cast("FormulaObject | None", document.findChild(QPyTextObject))


def plain_text(runs: Sequence[Run]) -> str:
    """The characters of a formula in Unicode."""
    return "".join(text for text, _is_variable in runs)


def _em(font: QFont) -> float:
    metrics = QFontMetricsF(font)
    return font.pixelSize() * min(_LARGEST_LETTERS, max(1.0, metrics.xHeight() / font.pixelSize() / _X_HEIGHT))


def extent_around(document: QTextDocument, position: int) -> tuple[int, int] | None:
    """Where the formula begins and ends in which, and not only at whose edge, a position is."""
    block = document.findBlock(position)
    if OBJECT not in block.text():
        return None
    start, iterator = -1, block.begin()
    while not iterator.atEnd():
        fragment: QTextFragment = iterator.fragment()
        end = fragment.position() + fragment.length()
        if fragment.charFormat().objectType() == FORMULA_OBJECT:
            if 0 <= start < position < end:
                return start, end
            start = -1
        elif fragment.charFormat().property(Property.UNDER_FORMULA):
            start = fragment.position()
        if start >= position:
            break
        iterator += 1
    return None


def formula_at(cursor: QTextCursor) -> tuple[int, int] | None:
    """Where the formula begins and ends that a cursor stands in, or whose object is beside it."""
    place = cursor.position()
    around = (extent_around(cursor.document(), near) for near in (place, place + 1))
    return next((found for found in around if found is not None), None)
