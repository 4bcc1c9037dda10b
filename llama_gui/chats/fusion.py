"""Passages found by their words and passages found by their meaning, as one list. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from llama_gui.chats.passages import Found

NEAR = 0.4
"""The cosine from which on a passage may be about a question. The cards of Qwen3 Embedding (0.6B, 4B, 8B) give 0.60 to
0.76 for passages that answer and 0.03 to 0.14 for others; this is a little above the middle between them."""
_BEHIND = 0.2
"""A passage that is so much farther than the nearest says nothing beside it."""
MOST = 50
"""Passages that meaning may add."""
_K = 60
"""Reciprocal rank fusion, Cormack, Clarke and Büttcher 2009: a rank counts 1 / (60 + rank), so that the first ranks of
one list do not outweigh that both lists have a passage."""
_FADES = 0.9
"""The score of a passage beyond those that words have found, of that before it."""
_FAINT = 1e-3
"""The score of the best where words have found nothing: less than any word has in an attached file."""


def near_enough(near: Sequence[Found]) -> list[Found]:
    """Of passages with cosines for scores, the nearest first, those that say something about the question."""
    least = max(NEAR, near[0].score - _BEHIND) if near else NEAR
    return [found for found in near if found.score >= least]


def fused(by_words: Sequence[Found], by_meaning: Sequence[Found]) -> list[Found]:
    """Both lists as one, the best first; each has its best first, and no passage twice.

    Which comes first says reciprocal rank fusion, but that the n-th by words is among the first 2n: meaning takes half
    of the room at most, and does not push out who has the very name or number. The scores are those of words, given
    out anew in order, so that they can be compared with those of other texts.
    """
    if not by_meaning:
        return list(by_words)
    ranked = _by_rank(by_words, by_meaning)
    waiting = [_key(found) for found in by_words]
    order: list[Found] = []
    while ranked:
        due = len(order) // 2  # of the words, this one at the latest when an odd place is given out
        is_due = len(order) % 2 == 1 and due < len(waiting) and waiting[due] in ranked
        order.append(ranked.pop(waiting[due] if is_due else next(iter(ranked))))
    return [replace(found, score=score) for found, score in zip(order, _scores(by_words, len(order)), strict=True)]


def _by_rank(*lists: Sequence[Found]) -> dict[tuple[str, int], Found]:
    """All passages by what they are, the best first."""
    ranks: dict[tuple[str, int], float] = {}
    found: dict[tuple[str, int], Found] = {}
    for one in lists:
        for rank, passage in enumerate(one, 1):
            key = _key(passage)
            ranks[key] = ranks.get(key, 0.0) + 1 / (_K + rank)
            found.setdefault(key, passage)
    return {key: found[key] for key in sorted(found, key=lambda key: -ranks[key])}


def _key(found: Found) -> tuple[str, int]:
    return found.name, found.place


def _scores(by_words: Sequence[Found], count: int) -> list[float]:
    """So many scores, the best first: those of words, and behind them smaller ones."""
    scores = [found.score for found in by_words]
    last = scores[-1] * _FADES if scores else _FAINT
    return [*scores, *(last * _FADES**n for n in range(count - len(scores)))]
