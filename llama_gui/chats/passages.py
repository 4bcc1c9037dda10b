"""A document that is longer than a model reads: cut into passages, those chosen that fit the question. Pure."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_FORMER = 0.5
"""What a word of the question before counts, and of the one before that the half of it, and so on."""
_FEW = 3
"""Passages, that may all have a word: where there are hardly any, none is frequent."""
_WORTH = 0.3
"""Of the best passage's score: a passage with less of it says nothing about a question that asks on."""


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
        return len(self.text) + len(self.mark) + len(_LEFT_OUT) + 3


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that fits a question. `place`: among the `total` of the file `name`; `size`: of each, about."""

    name: str
    place: int
    total: int
    passage: Passage
    score: float
    size: int = PASSAGE


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
        asked = dict.fromkeys(stems(question), 1.0)
        found = _counted(self._passages, asked)
        scores = _scores(self._passages, asked, _stock_of(self._passages, found, asked), found)
        if not any(scores):
            return list(range(count))
        first = sorted((place for place in range(count) if scores[place]), key=lambda place: -scores[place])
        around = (near for place in first for near in (place + 1, place - 1) if 0 <= near < count)
        return list(dict.fromkeys((first[0], 0, *first, *around)))


def cut(text: str, size: int = PASSAGE) -> list[Passage]:
    """A text in passages of about `size` characters, in order."""
    return list(_joined_ends(_cut(text, size), size))


def joined(passages: Mapping[int, Passage], total: int) -> str:
    """Some of the passages of a document, by their places among `total`, as a text that shows where others are."""
    parts: list[str] = []
    last, mark = -1, ""
    for place, passage in sorted(passages.items()):
        if place != last + 1:
            parts.append(f"{_LEFT_OUT}\n")
        if passage.mark != mark and not passage.text.startswith(passage.mark):
            parts.append(f"{passage.mark}\n")
        parts.append(passage.text if passage.text.endswith("\n") else f"{passage.text}\n")
        last, mark = place, passage.mark
    if parts and last != total - 1:
        parts.append(_LEFT_OUT)
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class Asked:
    """The words of a question, without endings. `counts`: what each of them, or of the questions before, counts."""

    own: frozenset[str]
    counts: Mapping[str, float]

    @classmethod
    def of(cls, question: str, former: Sequence[str] = ()) -> "Asked":
        """`former`: the questions before it, the newest first. Their words say what "it" is, so they help to rank."""
        own = frozenset(stems(question))
        counts = dict.fromkeys(own, 1.0)
        for number, words_before in enumerate(former, 1):
            for stem in stems(words_before):
                counts.setdefault(stem, _FORMER**number)
        return cls(own, counts)

    def telling(self, stock: "Stock") -> frozenset[str]:
        """The words of the question itself that say which passages it is about: most have "the"."""
        return frozenset(stem for stem in self.own if 0 < stock.having.get(stem, 0) <= max(stock.passages / 2, _FEW))


@dataclass(frozen=True, slots=True)
class Stock:
    """All the passages among which some are chosen: how many, how long on average, how many have each word asked."""

    passages: int
    usual: float
    having: Mapping[str, int]


def best(passages: Sequence[Passage], question: str, former: Sequence[str] = ()) -> list[tuple[float, int]]:
    """Score and place of the passages that fit a question of a conversation, the best first; see `fitting`."""
    asked = Asked.of(question, former)
    found = _counted(passages, asked.counts)
    return fitting(passages, asked, _stock_of(passages, found, asked.counts), found)


def fitting(
    passages: Sequence[Passage], asked: Asked, stock: Stock, found: Sequence[Counter[str]] | None = None
) -> list[tuple[float, int]]:
    """The passages with a telling word of the question itself that have something to say beside the best; BM25.

    Score and place, the best first. None where none says more. `found`: what is asked of, counted, if it is known.
    """
    found = found if found is not None else _counted(passages, asked.counts)
    telling = asked.telling(stock)
    scores = _scores(passages, asked.counts, stock, found)
    least = _WORTH * max(scores, default=0.0)
    fit = [(scores[n], n) for n, had in enumerate(found) if scores[n] >= least and not telling.isdisjoint(had)]
    return sorted(fit, key=lambda one: (-one[0], one[1]))


def _counted(passages: Sequence[Passage], asked: Mapping[str, float]) -> list[Counter[str]]:
    return [Counter(stem for stem in stems(passage.text) if stem in asked) for passage in passages]


def _stock_of(passages: Sequence[Passage], found: Sequence[Counter[str]], asked: Iterable[str]) -> Stock:
    usual = sum(len(passage.text) for passage in passages) / max(len(passages), 1)
    return Stock(len(passages), usual, {stem: sum(stem in counted for counted in found) for stem in asked})


def _scores(
    passages: Sequence[Passage], asked: Mapping[str, float], stock: Stock, found: Sequence[Counter[str]]
) -> list[float]:
    weights = {
        stem: much * math.log(1 + (stock.passages - having + 0.5) / (having + 0.5))
        for stem, much in asked.items()
        if (having := stock.having.get(stem, 0))
    }
    return [
        sum(
            weights.get(stem, 0.0) * times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * len(passage.text) / stock.usual))
            for stem, times in counted.items()
        )
        for counted, passage in zip(found, passages, strict=True)
    ]


def stems(text: str) -> list[str]:
    """The words without the endings that English and German put on to them."""
    return [_ENDINGS.sub("", word) if len(word) > 4 else word for word in words.tokens(text)]


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
