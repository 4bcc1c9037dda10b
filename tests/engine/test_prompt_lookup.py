"""Guesses from the text: where it read the same before, and how many of them are worth their rows."""

import sys
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.engine.prompt_lookup import _EARLIER, _MOST_ASKERS, EarlierAnswers, Grams, Odds, Price, PromptLookup

CHEAP, DEAR = Price(1, 0.02), Price(1, 0.5)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(1, 6), st.integers(1, 5))
def test_lookup_is_the_last_place_that_read_the_same(tokens, count, stride):
    grams = Grams()
    for end in range(1, len(tokens) + 1, stride):
        run, place = grams.find(tokens[:end])
    got = tokens[: range(1, len(tokens) + 1, stride)[-1]][place : place + count] if run else []
    known = tokens[: range(1, len(tokens) + 1, stride)[-1]]
    want = []
    for size in range(8, 0, -1):
        places = [p for p in range(size, len(known)) if known[p - size : p] == known[len(known) - size :]]
        if len(known) > size and places:
            want = known[places[-1] : places[-1] + count]
            break
    assert (got, run) == (want, size if want else 0)


def test_the_first_look_up_does_no_more_for_a_longer_text():
    """Nobody waits until a long prompt is indexed; what is left is one comparison, in C."""

    def calls(length: int) -> int:
        text, seen = [number % 1000 for number in range(length)], []
        before = sys.getprofile()
        sys.setprofile(lambda frame, event, arg: seen.append(event))
        try:
            assert Grams().find(text) == (8, length - 1000)
        finally:
            sys.setprofile(before)
        return len(seen)

    assert calls(20_000) == calls(2_000)


def test_longer_runs_are_worth_more_guesses():
    odds = Odds()
    counts = [odds.best_count(run, 16, CHEAP) for run in range(1, 9)]
    assert counts == sorted(counts)
    assert counts[0] >= 1
    assert counts[-1] == 16
    dear = [odds.best_count(run, 16, DEAR) for run in range(1, 9)]
    assert dear[:2] == [0, 0]
    assert 0 < dear[-1] < 16


@pytest.mark.parametrize(
    ("share", "row", "is_made"), [(0.05, 0.02, True), (0.05, 0.1, False), (0.6, 0.4, True), (0.4, 0.6, False)]
)
def test_a_guess_is_made_when_it_is_right_more_often_than_it_costs(share: float, row: float, is_made: bool):
    odds = Odds()
    for number in range(400):
        odds.record(1, 1, int(number * share % 1 < share))
    assert (odds.best_count(1, 1, Price(1, row)) > 0) is is_made


def test_of_several_answers_in_a_step_a_row_delays_all():
    """A row that pays for one answer alone may not pay where three others wait for it."""
    odds = Odds()
    assert odds.best_count(8, 16, Price(1, 0.4)) > 0
    assert odds.best_count(8, 16, Price(4, 0.4)) == 0


def sequence(**fields):
    return SimpleNamespace(**{"asker": "", "answer": [], **fields})


def test_an_answer_learns_from_its_guesses():
    lookup, text = PromptLookup(), [1, 2, 3, 9, 9, 1, 2, 3]
    one, other = (sequence(number=number, tokens=text, answer=[]) for number in (1, 2))
    before = lookup.propose(one, 16, DEAR)
    assert before == [9, 9, 1][: len(before)]
    assert before
    for _ in range(9):
        lookup.record(one, 1, 0)
    assert lookup.propose(one, 16, DEAR) == []
    assert lookup.propose(other, 16, DEAR) == before
    lookup.forget(one)
    lookup.record(one, 1, 1)  # it has ended
    assert lookup.propose(one, 16, DEAR) == before


def test_where_nothing_was_read_before_nothing_is_guessed():
    lookup = PromptLookup()
    assert lookup.propose(sequence(number=1, tokens=[1, 2, 3]), 16, CHEAP) == []
    assert lookup.propose(sequence(number=2, tokens=[1]), 16, CHEAP) == []


def test_an_answer_goes_on_as_an_earlier_one_did():
    lookup = PromptLookup()
    done = sequence(number=1, tokens=[7, 1, 2, 3, 4, 5, 6], answer=[1, 2, 3, 4, 5, 6])
    lookup.propose(done, 16, CHEAP)
    lookup.forget(done)
    later = sequence(number=2, tokens=[30, 31, 1, 2, 3], answer=[])
    assert lookup.propose(later, 16, CHEAP) == [4, 5, 6]  # and not into the next answer
    lookup.record(later, 3, 1)
    own = sequence(number=3, tokens=[2, 3, 8, 8, 2, 3], answer=[])
    assert lookup.propose(own, 16, CHEAP)[0] == 8  # what it wrote itself is more likely
    for _ in range(30):
        lookup.record(own, 1, 0)
    assert lookup.propose(own, 16, CHEAP)[0] == 4


def test_nobody_is_served_sooner_for_what_another_was_told():
    lookup = PromptLookup()
    done = sequence(number=1, tokens=[7, 1, 2, 3, 4, 5, 6], answer=[1, 2, 3, 4, 5, 6], asker="one")
    lookup.propose(done, 16, CHEAP)
    lookup.forget(done)
    assert lookup.propose(sequence(number=2, tokens=[30, 31, 1, 2, 3], asker="another"), 16, CHEAP) == []
    assert lookup.propose(sequence(number=3, tokens=[30, 31, 1, 2, 3], asker="one"), 16, CHEAP) == [4, 5, 6]


def test_those_who_asked_longest_ago_are_forgotten():
    lookup = PromptLookup()
    for number in range(100):
        one = sequence(number=number, tokens=[1, 2], answer=[1, 2, 3], asker=str(number))
        lookup.propose(one, 16, CHEAP)
        lookup.forget(one)
    found = [
        bool(lookup.propose(sequence(number=n, tokens=[9, 1, 2], asker=str(n)), 9, CHEAP)) for n in range(99, 0, -1)
    ]
    assert found[0]
    assert sum(found) == _MOST_ASKERS


def test_a_text_that_was_only_read_is_no_answer():
    lookup = PromptLookup()
    lookup.forget(sequence(number=1, tokens=[1, 2, 3, 4], answer=[1, 2, 3, 4]))  # nothing was guessed for it
    assert lookup.propose(sequence(number=2, tokens=[1, 2, 3]), 16, CHEAP) == []


def test_old_answers_are_forgotten():
    earlier = EarlierAnswers()
    earlier.add([1, 2, 3])
    assert earlier.find([1, 2]) == (2, 3)
    earlier.add([9] * 2 * _EARLIER)
    assert earlier.find([1, 2]) == (0, 0)
    run, place = earlier.find([9] * 8)
    assert run == 8
    assert earlier.read(place, 3) == []  # that was its end
    earlier.add([5, 6])
    assert earlier.read(earlier.find([5])[1], 9) == [6]


def test_runs_do_not_go_over_the_border_of_two_answers():
    earlier = EarlierAnswers()
    earlier.add([1, 2])
    earlier.add([3, 4])
    assert earlier.find([1, 2, 3]) == (1, 5)
    assert earlier.find([-5, 2]) == (1, 3)
    assert earlier.read(3, 5) == []


def test_text_that_ends_with_the_last_token_of_an_answer_has_no_guess_from_it():
    earlier = EarlierAnswers()
    earlier.add([1])
    assert earlier.read(earlier.find([1])[1], 4) == []
