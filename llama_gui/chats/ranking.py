"""Which texts have most to say about a question, by the words that they share: BM25. Pure."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from llama_gui.chats import words

_ENDINGS = re.compile("(?:en|er|es|[ens])$")
_K1, _B = 1.2, 0.75  # BM25 as everybody uses it: how soon more of a word says no more, how much long texts lose
_FORMER = 0.5
"""What a word of the question before counts, and of the one before that the half of it, and so on."""
_FEW = 3
"""Texts, that may all have a word: where there are hardly any, none is frequent."""
_WORTH = 0.3
"""Of the best text's score: one with less of it says nothing about a question that asks on."""


def stems(text: str) -> list[str]:
    """The words without the endings that English and German put on to them."""
    return [_ENDINGS.sub("", word) if len(word) > 4 else word for word in words.tokens(text)]


_EMPTY = frozenset(
    stems(
        "a about again all also am an and any are as at be been but by can could did do does else for from give had "
        "has have he hello her here hi him his how i if in into is it its just kindly know let like me more most much "
        "my no not now of ok on or other our please say she should so some such tell than thank thanks that the their "
        "them then there these they this those to too very was we were what when where which who whose why will with "
        "would yes you your "
        "aber alle alles als also am an auch auf aus bei bis bist bitte da danke dann das dass dein dem denn der des "
        "diese dieser dieses doch du ein eine einem einen einer eines er erklär es etwas euch für gib gibt habe haben "
        "hallo hatte ich ihm ihn ihr im in ist ja jetzt kann kannst können mehr mein mich mir mal nach nein nicht "
        "noch nun nur oder sag sagen sein seine sich sie sind so soll über um und uns unter vom von vor warum was "
        "wann welche welcher welches wem wen wer werden wie wieder wir wird wo wozu zu zum zur "
    )
)
"""English and German words that say how somebody asks, and not what about. Without those that are a thing in the other
language (war, hat): where they are frequent, they count for little anyway."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The words of a question, without endings, and of those before it. `former`: what each of these counts."""

    own: frozenset[str]
    former: Mapping[str, float]

    @classmethod
    def of(cls, question: str, before: Sequence[str] = ()) -> "Asked":
        """`before`: the questions before it, the newest first. Their words say what "it" is, so they help to rank."""
        own = frozenset(stems(question)) - _EMPTY
        former: dict[str, float] = {}
        for number, asked in enumerate(before, 1):
            for stem in stems(asked):
                if stem not in own and stem not in _EMPTY:
                    former.setdefault(stem, _FORMER**number)
        return cls(own, former)

    @property
    def words(self) -> frozenset[str]:
        """All of them."""
        return self.own | self.former.keys()

    def telling(self, stock: "Stock") -> frozenset[str]:
        """The words of the question itself that say which texts it is about, because most do not have them."""
        return frozenset(stem for stem in self.own if 0 < stock.having.get(stem, 0) <= max(stock.texts / 2, _FEW))

    def found(self, stock: "Stock") -> frozenset[str]:
        """The telling words; where there are none, those that most texts have: of a folder about heat pumps they are
        what "How do heat pumps work?" asks for.
        """
        return self.telling(stock) or frozenset(stem for stem in self.own if stock.having.get(stem, 0))


@dataclass(frozen=True, slots=True)
class Stock:
    """All the texts among which some are chosen: how many, how long on average, how many have each word asked."""

    texts: int
    usual: float
    having: Mapping[str, int]

    def rarity(self, stem: str) -> float:
        """How much a word tells, from 0 for one that all have: the inverse document frequency of BM25."""
        having = self.having.get(stem, 0)
        return math.log(1 + (self.texts - having + 0.5) / (having + 0.5)) if having else 0.0


def scores(texts: Sequence[str], question: str) -> list[float]:
    """What each text has to say about a question that stands alone."""
    asked = frozenset(stems(question))
    found = counted(texts, asked)
    stock = _stock_of(texts, found, asked)
    return _scores(texts, {stem: stock.rarity(stem) for stem in asked}, stock, found)


def best(texts: Sequence[str], question: str, before: Sequence[str] = ()) -> list[tuple[float, int]]:
    """Score and place of the texts that fit a question of a conversation, the best first; see `fitting`."""
    asked = Asked.of(question, before)
    found = counted(texts, asked.words)
    stock = _stock_of(texts, found, asked.words)
    return fitting(texts, asked, stock, found, asked.telling(stock))


def fitting(
    texts: Sequence[str], asked: Asked, stock: Stock, found: Sequence[Counter[str]], needed: Collection[str]
) -> list[tuple[float, int]]:
    """The texts with one of the words `needed`, which are of the question, that have something to say beside the best.

    Score and place, the best first. None where none says more. A rare word counts more here than in BM25: two or
    three passages are chosen, and which of them has "quokka" matters more than who has "second" and "price". What was
    asked before counts as much as the question itself at most. `found`: the words asked of, counted in each text.
    """
    rarest = math.log(1 + (stock.texts - 0.5) / 1.5)
    rare = {stem: stock.rarity(stem) ** 2 / max(rarest, 1e-9) for stem in asked.words}
    own = _scores(texts, {stem: rare[stem] for stem in asked.own}, stock, found)
    former = _scores(texts, {stem: rare[stem] * much for stem, much in asked.former.items()}, stock, found)
    least = _WORTH * max(own, default=0.0)
    fit = [
        (own[n] + min(former[n], own[n]), n)
        for n, had in enumerate(found)
        if own[n] >= least and any(stem in had for stem in needed)
    ]
    return sorted(fit, key=lambda one: (-one[0], one[1]))


def counted(texts: Iterable[str], asked: Collection[str]) -> list[Counter[str]]:
    """How often each of the words asked stands in each text."""
    return [Counter(stem for stem in stems(text) if stem in asked) for text in texts]


def _stock_of(texts: Sequence[str], found: Sequence[Counter[str]], asked: Iterable[str]) -> Stock:
    usual = sum(map(len, texts)) / max(len(texts), 1)
    return Stock(len(texts), usual, {stem: sum(stem in had for had in found) for stem in asked})


def _scores(
    texts: Sequence[str], weights: Mapping[str, float], stock: Stock, found: Sequence[Counter[str]]
) -> list[float]:
    return [
        sum(
            weights.get(stem, 0.0) * times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * len(text) / stock.usual))
            for stem, times in had.items()
        )
        for had, text in zip(found, texts, strict=True)
    ]
