"""A formula in a text document: laid out where that can be done, else as Unicode, and if need be as its source.

What is laid out is one object, and before it, too small to be seen, the same in Unicode: so that it is found by its
words, and read by who does not see it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from markdown_it.token import Token
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QPyTextObject,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFragment,
)

from llama_gui.ui.markdown.formats import FORMULA_OBJECT, Property
from llama_gui.ui.theme import COLUMN_WIDTH

if TYPE_CHECKING:
    from llama_gui.ui.markdown.latex.unicode import Run
    from llama_gui.ui.markdown.typesetting.formulas import Drawing
    from llama_gui.ui.markdown.typesetting.text_object import FormulaObject

OBJECT = "\ufffc"
JOINER = "\u2060"
_BREAKING = re.compile(r"([^\w\s])(?=.)")
_SMALLEST = 0.6
"""A formula that would have to be drawn even smaller to fit into the column is shown as Unicode, which wraps."""
_LONG = 0.25
"""Of the column: a line may end within a longer formula among words."""
_LARGEST_LETTERS = 1.21
"""How much larger than the words a formula's letters may be, so that small letters have one height (as in KaTeX)."""
_X_HEIGHT = 0.473


class Formula:
    """What is written for a formula among words of a format, in a column so wide."""

    def __init__(self, source: str, chars: QTextCharFormat, *, is_display: bool, room: float = COLUMN_WIDTH) -> None:
        # Imported here: most chats have no formulas.
        from llama_gui.ui.markdown.latex.unicode import readable
        from llama_gui.ui.markdown.typesetting.formulas import drawing, parts

        self.source = source
        self.runs = readable(source)
        self.is_display = is_display
        self.width = 0.0
        """Of its widest part, in pixels; 0 where it cannot be laid out."""
        self._chars = chars
        self._em = _em(chars.font())
        self._parts: Sequence[Drawing] = ()
        whole = drawing(source, is_display=is_display)
        if whole is None:
            return
        is_long = not is_display and whole.width * self._em > _LONG * room
        drawn = parts(source) if is_long else (whole,)
        width = max((part.width for part in drawn), default=0.0) * self._em
        if width * _SMALLEST <= room:
            self.width, self._parts = width, drawn

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

    def object_chars(self, text: str) -> Iterator[QTextCharFormat]:
        """The formats of the characters that are drawn as this formula: one for each of its parts."""
        from llama_gui.ui.markdown.typesetting.text_object import measure

        for number, part in enumerate(self._parts):
            chars = QTextCharFormat(self._chars)
            chars.setObjectType(FORMULA_OBJECT)
            chars.setProperty(Property.FORMULA, self.source)
            chars.setProperty(Property.FORMULA_TEXT, text if number == 0 else "")
            chars.setProperty(Property.FORMULA_IS_DISPLAY, self.is_display)
            if len(self._parts) > 1:
                chars.setProperty(Property.FORMULA_PART, number)
            measure(chars, part, self._em)
            yield chars


def words_under(text: str) -> str:
    """The words before a formula's object, such that no line ends among them or between them and it."""
    return _BREAKING.sub(rf"\1{JOINER}", re.sub(r"\s+", "\u00a0", text.strip())) + JOINER


def formulas_of(document: QTextDocument) -> "FormulaObject | None":
    """Who draws the formulas of a document; None where there has been none yet."""
    return cast("FormulaObject | None", document.findChild(QPyTextObject))


def plain_text(runs: "Sequence[Run]") -> str:
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
    start = end = -1
    iterator = block.begin()
    while not iterator.atEnd() and not start < position < end:
        fragment: QTextFragment = iterator.fragment()
        if fragment.charFormat().objectType() == FORMULA_OBJECT:
            end = fragment.position() + fragment.length()
        elif fragment.charFormat().property(Property.UNDER_FORMULA):
            start, end = fragment.position(), -1
        else:
            start = end = -1
        iterator += 1
    return _with_all_parts(iterator, start, end) if start < position < end else None


def _with_all_parts(iterator: QTextBlock.iterator, start: int, end: int) -> tuple[int, int]:
    while not iterator.atEnd() and iterator.fragment().charFormat().objectType() == FORMULA_OBJECT:
        end = iterator.fragment().position() + iterator.fragment().length()
        iterator += 1
    return start, end


def formula_at(cursor: QTextCursor) -> tuple[int, int] | None:
    """Where the formula begins and ends that a cursor stands in, or whose object is beside it."""
    place = cursor.position()
    around = (extent_around(cursor.document(), near) for near in (place, place + 1))
    return next((found for found in around if found is not None), None)
