"""Where words are in a chat: in what is drawn, and in what is not drawn yet."""

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtGui import QTextCursor, QTextDocument

from llama_gui.ui.markdown.breaks import BREAK
from llama_gui.ui.markdown.formats import Property
from llama_gui.ui.markdown.formula import JOINER, OBJECT, extent_around
from llama_gui.ui.markdown.latex.tokens import MAX_LENGTH

MAX_HITS = 5_000


@dataclass(frozen=True, slots=True)
class Hidden:
    """Text that is not drawn: of a message in a gap, of a fold, or the folded reasoning of a message.

    `position` is the place in the document that stands for it; `kind` and `key` tell how to draw it.
    """

    position: int
    kind: str
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where the words are: `length` characters at `position`, or at `offset` in text that is `hidden`."""

    position: int
    length: int
    hidden: Hidden | None = None
    offset: int = 0


def pattern_of(words: str) -> re.Pattern[str] | None:
    """What finds these words, in capital letters or not, with any white space between them. None without words."""
    words = _units(" ".join(words.split()))
    if not words:
        return None
    one_by_one = (r"\s+" if letter == " " else re.escape(letter) for letter in words)
    return re.compile(f"[{BREAK}{JOINER}{OBJECT}]*".join(one_by_one), re.IGNORECASE)


class Finder:
    """Finds one pattern. What is hidden does not change, so it is read only once."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._offsets: dict[tuple[str, str, int], list[int]] = {}

    def hits(self, document: QTextDocument, hidden: Sequence[Hidden]) -> list[Hit]:
        """All places from the first message to the last, `MAX_HITS` at most."""
        found = [*self._in_document(document), *self._in_hidden(hidden)]
        found.sort(key=lambda hit: hit.position)
        return found[:MAX_HITS]

    def is_at(self, document: QTextDocument, hit: Hit) -> bool:
        """Whether the words still stand where they were found: the document may have been drawn anew since."""
        block = document.findBlock(hit.position)
        if hit.position + hit.length >= document.characterCount() or block.blockFormat().property(Property.CHROME):
            return False
        cursor = QTextCursor(block)
        cursor.setPosition(hit.position)
        cursor.setPosition(hit.position + hit.length, QTextCursor.MoveMode.KeepAnchor)
        return self._pattern.search(_units(cursor.selectedText())) is not None

    def _in_document(self, document: QTextDocument) -> list[Hit]:
        found: list[Hit] = []
        text = _units(document.toRawText())
        for match in self._pattern.finditer(text):
            start, end = _whole_formulas(document, text, *match.span())
            if found and found[-1].position == start:
                continue  # in the same formula
            if not document.findBlock(start).blockFormat().property(Property.CHROME):
                found.append(Hit(start, end - start))
                if len(found) == MAX_HITS:
                    break
        return found

    def _in_hidden(self, hidden: Iterable[Hidden]) -> list[Hit]:
        found: list[Hit] = []
        for place in hidden:
            key = (place.kind, place.key, len(place.text))
            if key not in self._offsets:
                self._offsets[key] = [match.start() for match in self._pattern.finditer(place.text)]
            found += [Hit(place.position, 0, place, offset) for offset in self._offsets[key]]
            if len(found) > MAX_HITS:
                break
        return found


def _whole_formulas(document: QTextDocument, text: str, start: int, end: int) -> tuple[int, int]:
    """A place in a document, grown so that it holds all of each formula that it touches."""
    if text.find(OBJECT, start, end + MAX_LENGTH) < 0:
        return start, end
    first = extent_around(document, start) or extent_around(document, start + 1)
    last = extent_around(document, end) or extent_around(document, end - 1)
    return min(start, first[0]) if first else start, max(end, last[1]) if last else end


def _units(text: str) -> str:
    """One character for each of Qt's, which counts those outside the first plane twice."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    return "".join(map(chr, array("H", text.encode("utf-16-le", "surrogatepass"))))
