"""A document that is longer than a model reads: cut into passages, those chosen that fit the question. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from llama_gui.chats import ranking

PASSAGE = 800
"""Characters, about; they end where a paragraph does, or at least a line."""
SMALLEST = 200
LEFT_OUT = "[…]"
_MARK = re.compile(r"\[(?:page|slide) \d+\]\n?")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What of a document goes along: so many of its passages, each of about `size` characters."""

    text: str
    chosen: int
    total: int
    size: int = PASSAGE


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document. `mark`: that of the page or slide it is on; "": none."""

    text: str
    mark: str = ""

    @property
    def room(self) -> int:
        """How many characters it takes in an excerpt, at most."""
        return len(self.text) + len(self.mark) + len(LEFT_OUT) + 3


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that fits a question. `place`: among the `total` of the file `name`; `size`: of each, about."""

    name: str
    place: int
    total: int
    passage: Passage
    score: float
    size: int = PASSAGE


@dataclass(frozen=True, slots=True)
class Beginning:
    """The first passages of a document, which has `total`, by their places."""

    name: str
    passages: Mapping[int, Passage]
    total: int

    @property
    def size(self) -> int:
        """How many characters there are of it."""
        return sum(passage.room for passage in self.passages.values())

    def but_for(self, seen: Sequence[str]) -> "Beginning":
        """The same without the passages that one of these texts has."""
        new = {n: p for n, p in self.passages.items() if not any(p.text.strip() in text for text in seen)}
        return Beginning(self.name, new, self.total)

    def excerpt(self, most: int) -> Excerpt:
        """So much of it as is in `most` characters; what is cut off ends between two words."""
        text, chosen = "", {}
        for place, passage in self.passages.items():
            if len(text) > most:
                break
            chosen[place] = passage
            text = joined(chosen, self.total)
        if len(text) > most:
            text = text[:most]
            text = f"{text[: max(text.rfind(' '), text.rfind(chr(10)), most // 2)].rstrip()} {LEFT_OUT}"
        return Excerpt(text, len(chosen), self.total)


class Passages:
    """The passages of a text, ranked for a question. Some seconds for a text of five million characters."""

    def __init__(self, text: str, question: str, size: int = PASSAGE) -> None:
        self._size = size
        self._passages = cut(text, size)
        self._order = self._ranked(question)

    def excerpt(self, most: int) -> Excerpt:
        """The best passages in `most` characters, at least one, in the order of the document.

        The first one is among them, for it says what the document is, and those beside the best where there is room.
        Where no word of the question is found, they are those from the beginning.
        """
        chosen: set[int] = set()
        left = most
        for place in self._order:
            if self._passages[place].room <= left or not chosen:
                chosen.add(place)
                left -= self._passages[place].room
        text = joined({place: self._passages[place] for place in chosen}, len(self._passages))
        return Excerpt(text[: max(most, 1)], len(chosen), len(self._passages), self._size)

    def _ranked(self, question: str) -> list[int]:
        count = len(self._passages)
        scores = ranking.scores([passage.text for passage in self._passages], question)
        if not any(scores):
            return list(range(count))
        first = sorted((place for place in range(count) if scores[place]), key=lambda place: -scores[place])
        around = (near for place in first for near in (place + 1, place - 1) if 0 <= near < count)
        return list(dict.fromkeys((first[0], 0, *first, *around)))


def cut(text: str, size: int = PASSAGE) -> list[Passage]:
    """A text in passages of about `size` characters, in order."""
    return list(_joined_ends(_cut(text, size), size))


def fair_share(sizes: Sequence[int], room: int) -> int:
    """How much each text may have, so that all have `room` together, and none less because another is short."""
    left = room
    waiting = sorted(sizes)
    while waiting and waiting[0] <= left // len(waiting):
        left -= waiting.pop(0)
    return left // len(waiting) if waiting else room


def joined(passages: Mapping[int, Passage], total: int) -> str:
    """Some of the passages of a document, by their places among `total`, as a text that shows where others are."""
    parts: list[str] = []
    last, mark = -1, ""
    for place, passage in sorted(passages.items()):
        if place != last + 1:
            parts.append(f"{LEFT_OUT}\n")
        if passage.mark != mark and not passage.text.startswith(passage.mark):
            parts.append(f"{passage.mark}\n")
        parts.append(passage.text if passage.text.endswith("\n") else f"{passage.text}\n")
        last, mark = place, passage.mark
    if parts and last != total - 1:
        parts.append(LEFT_OUT)
    return "".join(parts)


def _cut(text: str, usual: int) -> Iterator[Passage]:
    mark, lines, size = "", [], 0
    for line in _lines(text, usual):
        is_mark = _MARK.fullmatch(line) is not None
        is_between = bool(lines) and not lines[-1].strip()  # paragraphs
        is_full = size >= (usual * 3 // 4 if is_between else usual) or size + len(line) > 2 * usual
        if lines and (is_mark or is_full):
            yield Passage("".join(lines), mark)
            lines, size = [], 0
        if is_mark:
            mark = line.strip()
        lines.append(line)
        size += len(line)
    if any(line.strip() for line in lines):
        yield Passage("".join(lines), mark)


def _joined_ends(passages: Iterable[Passage], usual: int) -> Iterator[Passage]:
    """What is left over at the end of a page stays with the passage before it: alone it says little."""
    former: Passage | None = None
    for passage in passages:
        if former is not None and passage.mark == former.mark and 3 * len(passage.text) < usual:
            passage = Passage(former.text + passage.text, former.mark)
        elif former is not None:
            yield former
        former = passage
    if former is not None:
        yield former


def _lines(text: str, usual: int) -> Iterator[str]:
    """The lines; one without end in sentences, and those in pieces."""
    for line in text.splitlines(keepends=True):
        if len(line) <= 2 * usual:
            yield line
            continue
        for sentence in _sentences(line):
            yield from (sentence[start : start + usual] for start in range(0, len(sentence), usual))


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for found in _SENTENCE.finditer(line):
        if found.end() > start:
            yield line[start : found.end()]
            start = found.end()
    if start < len(line):
        yield line[start:]
