"""Passages found by words and by meaning, put together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_gui.chats.fusion import NEAR, fused, near_enough
from llama_gui.chats.passages import Found, Passage


def found(*names: str, best: float = 10.0) -> list[Found]:
    """Passages of files of these names, the best first."""
    return [Found(name, 0, 1, Passage(name), best - n) for n, name in enumerate(names)]


def names(passages: list[Found]) -> list[str]:
    return [one.name for one in passages]


def test_one_list_alone_stays_as_it_is():
    words = found("a", "b")
    assert fused(words, []) == words
    assert fused([], []) == []
    alone = fused([], found("x", "y"))
    assert names(alone) == ["x", "y"]
    assert 0 < alone[1].score < alone[0].score < 0.01  # any word of another text is worth more


def test_what_both_have_found_comes_first():
    assert names(fused(found("a", "b", "c"), found("c", "x"))) == ["c", "a", "b", "x"]  # of equal rank: the words first


def test_scores_are_those_of_words_in_order():
    words = found("a", "b", "c")
    both = fused(words, found("x", "c", "y"))
    assert sorted(names(both)) == ["a", "b", "c", "x", "y"]
    assert [one.score for one in both][:3] == [10.0, 9.0, 8.0]
    assert both[2].score > both[3].score > both[4].score > 0


@pytest.mark.parametrize("many", [1, 5, 50])
def test_meaning_does_not_push_out_exact_words(many: int):
    """Passages that both lists have are worth more than any other; still half of the room is for words."""
    words = found("the name", "the number", *(f"both {n}" for n in range(many)), best=100.0)
    both = names(fused(words, found(*(f"both {n}" for n in range(many)), best=100.0)))
    assert both.index("the name") <= 1
    assert both.index("the number") <= 3
    assert len(both) == many + 2


@given(st.lists(st.integers(0, 30), unique=True), st.lists(st.integers(0, 30), unique=True))
def test_nothing_is_lost_and_words_keep_their_half(words: list[int], meaning: list[int]):
    by_words = found(*map(str, words), best=100.0)
    both = fused(by_words, found(*map(str, meaning), best=100.0))
    assert sorted(names(both)) == sorted({*map(str, words), *map(str, meaning)})
    assert all(names(both).index(one.name) < 2 * n for n, one in enumerate(by_words, 1))
    scores = [one.score for one in both]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_passages_of_one_file_are_told_apart():
    first, second = (Found("a", place, 2, Passage(str(place)), 1.0) for place in range(2))
    assert len(fused([first], [second])) == 2


def test_what_is_far_says_nothing():
    def near(*cosines: float) -> list[float]:
        passages = [Found(str(cosine), 0, 1, Passage("."), cosine) for cosine in cosines]
        return [one.score for one in near_enough(passages)]

    assert near() == []
    assert near(NEAR - 0.01) == []
    assert near(NEAR, 0.1) == [NEAR]
    assert near(0.76, 0.7, 0.5) == [0.76, 0.7]  # 0.5 would do where nothing is nearer
    assert near(0.5) == [0.5]
