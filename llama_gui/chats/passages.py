"""A document that is longer than a model reads: cut into passages, those chosen that fit the question. Pure."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from llama_gui.chats import words

PASSAGE = 800
"""Characters, about; they end where a paragraph does, or at least a line."""
SMALLEST = 200
_LEFT_OUT = "[…]"
_MARK = re.compile(r"\[(?:page|slide) \d+\]\n?")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*")
_ENDINGS = re.compile("(?:en|er|es|[ens])$")
_K1, _B = 1.2, 0.75  # BM25 as everybody uses it: how soon more of a word says no more, how much long passages lose


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What of a document goes along: so many of its passages."""

    text: str
    chosen: int
    total: int


@dataclass(frozen=True, slots=True)
class _Passage:
    text: str
    mark: str
    """That of the page or slide it is on; "": none."""


class Passages:
    """The passages of a text, ranked for a question. Some seconds for a text of five million characters."""

    def __init__(self, text: str, question: str, size: int = PASSAGE) -> None:
        self._passages = list(_joined_ends(_cut(text, size), size))
        self._order = self._ranked(question)

    def excerpt(self, most: int) -> Excerpt:
        """The best passages in `most` characters, at least one, in the order of the document.

        The first one is among them, for it says what the document is, and those beside the best where there is room.
        Where no word of the question is found, they are those from the beginning.
        """
        chosen: set[int] = set()
        left = most
        for place in self._order:
            size = len(self._passages[place].text) + len(self._passages[place].mark) + len(_LEFT_OUT) + 3
            if size <= left or not chosen:
                chosen.add(place)
                left -= size
        return Excerpt(self._joined(sorted(chosen))[: max(most, 1)], len(chosen), len(self._passages))

    def _ranked(self, question: str) -> list[int]:
        asked = set(_stems(question))
        found = [Counter(stem for stem in _stems(passage.text) if stem in asked) for passage in self._passages]
        sizes = [len(passage.text) for passage in self._passages]
        count, usual = len(sizes), sum(sizes) / max(len(sizes), 1)
        weights = {
            stem: math.log(1 + (count - having + 0.5) / (having + 0.5))
            for stem in asked
            if (having := sum(stem in stems for stems in found))
        }
        scores = [
            sum(
                weights[stem] * times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * size / usual))
                for stem, times in stems.items()
            )
            for stems, size in zip(found, sizes, strict=True)
        ]
        if not any(scores):
            return list(range(count))
        best = sorted((place for place in range(count) if scores[place]), key=lambda place: -scores[place])
        around = (near for place in best for near in (place + 1, place - 1) if 0 <= near < count)
        return list(dict.fromkeys((best[0], 0, *best, *around)))

    def _joined(self, places: list[int]) -> str:
        parts: list[str] = []
        last, mark = -1, ""
        for place in places:
            passage = self._passages[place]
            if place != last + 1:
                parts.append(f"{_LEFT_OUT}\n")
            if passage.mark != mark and not passage.text.startswith(passage.mark):
                parts.append(f"{passage.mark}\n")
            parts.append(passage.text if passage.text.endswith("\n") else f"{passage.text}\n")
            last, mark = place, passage.mark
        if places and last != len(self._passages) - 1:
            parts.append(_LEFT_OUT)
        return "".join(parts)


def _stems(text: str) -> list[str]:
    """The words without the endings that English and German put on to them."""
    return [_ENDINGS.sub("", word) if len(word) > 4 else word for word in words.tokens(text)]


def _cut(text: str, usual: int) -> Iterator[_Passage]:
    mark, lines, size = "", [], 0
    for line in _lines(text, usual):
        is_mark = _MARK.fullmatch(line) is not None
        is_between = bool(lines) and not lines[-1].strip()  # paragraphs
        is_full = size >= (usual * 3 // 4 if is_between else usual) or size + len(line) > 2 * usual
        if lines and (is_mark or is_full):
            yield _Passage("".join(lines), mark)
            lines, size = [], 0
        if is_mark:
            mark = line.strip()
        lines.append(line)
        size += len(line)
    if any(line.strip() for line in lines):
        yield _Passage("".join(lines), mark)


def _joined_ends(passages: Iterable[_Passage], usual: int) -> Iterator[_Passage]:
    """What is left over at the end of a page stays with the passage before it: alone it says little."""
    former: _Passage | None = None
    for passage in passages:
        if former is not None and passage.mark == former.mark and 3 * len(passage.text) < usual:
            passage = _Passage(former.text + passage.text, former.mark)
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
