"""As many guesses of a network as have been worth their time, where they were, and among as many tokens."""

from types import SimpleNamespace
from typing import Any

import pytest

from llama_gui.engine.network_guesses import NetworkGuesses
from llama_gui.engine.prompt_lookup import Price, PromptLookup

_SHORT, _ALL = 100, 1000


class _Guesser:
    """Guesses the token behind each; of short reach only where that is among the first. A guess takes a while."""

    weight_bytes = 5
    read = None
    reaches = (_SHORT, _ALL)

    def __init__(self) -> None:
        self.now = 0.0
        self.reached: list[int] = []

    def guesses(self, sequence: Any, count: int, reach: int = 0) -> list[int]:
        self.reached.append(reach)
        self.now += count * (0.1, 0.4)[reach]
        found = sequence.truth[:count]
        return found if reach else [min(token, _SHORT - 1) for token in found]


@pytest.fixture(autouse=True)
def no_looking_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PromptLookup, "propose", lambda *_: [])


def _sequence(number: int) -> Any:
    return SimpleNamespace(number=number, truth=[1, 2, 3, 4, 5])


def _asked(proposer: NetworkGuesses, truth: list[int], times: int) -> list[int]:
    """How many guesses were right each time."""
    sequence: Any = SimpleNamespace(number=7, truth=truth)
    found: list[int] = []
    for _ in range(times):
        guesses = proposer.propose(sequence, 5, Price(1, 0.05, 1.0))
        wrong = (n for n, (one, two) in enumerate(zip(guesses, truth, strict=False)) if one != two)
        found.append(next(wrong, len(guesses)))
        if guesses:
            proposer.record(sequence, len(guesses), found[-1])
    return found


def test_among_few_tokens_where_these_are_enough():
    guesser = _Guesser()
    proposer = NetworkGuesses(guesser, lambda: guesser.now)
    assert min(_asked(proposer, [3, 4, 5, 6, 7], 20)) >= 1
    assert set(guesser.reached) == {0}


def test_among_all_where_they_are_not():
    guesser = _Guesser()
    proposer = NetworkGuesses(guesser, lambda: guesser.now)
    right = _asked(proposer, [500, 501, 502, 503, 504], 80)
    assert set(guesser.reached) == {0, 1}
    assert set(guesser.reached[-20:]) == {1}
    assert min(right[-20:]) >= 1
    _asked(proposer, [3, 4, 5, 6, 7], 60)  # and back, as it sees that the first would do
    assert set(guesser.reached[-10:]) == {0}


def test_none_where_they_are_never_right():
    guesser = _Guesser()
    proposer = NetworkGuesses(guesser, lambda: guesser.now)
    sequence: Any = SimpleNamespace(number=7, truth=[500] * 5)
    for _ in range(200):
        guesses = proposer.propose(sequence, 5, Price(1, 0.05, 1.0))
        if guesses:
            proposer.record(sequence, len(guesses), 0)
    assert len(guesser.reached) < 40
    assert set(guesser.reached[-2:]) == {0, 1}  # both are tried again


def test_an_answer_expects_what_the_last_one_met(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(PromptLookup, "forget", lambda *_: None)
    guesser = _Guesser()
    proposer = NetworkGuesses(guesser, lambda: guesser.now)
    before = len(proposer.propose(_sequence(1), 5, Price(1, 0.05, 1.0)))
    for _ in range(100):
        guesses = proposer.propose(_sequence(1), 5, Price(1, 0.05, 1.0))
        proposer.record(_sequence(1), len(guesses), len(guesses))
    proposer.forget(_sequence(1))
    assert len(proposer.propose(_sequence(2), 5, Price(1, 0.05, 1.0))) > before
    for _ in range(100):
        guesses = proposer.propose(_sequence(2), 5, Price(1, 0.05, 1.0))
        if guesses:
            proposer.record(_sequence(2), len(guesses), 0)
    proposer.forget(_sequence(2))
    tried = len(guesser.reached)
    assert proposer.propose(_sequence(3), 5, Price(1, 0.3, 1.0)) == []
    for _ in range(40):  # but it tries
        proposer.propose(_sequence(3), 5, Price(1, 0.3, 1.0))
    assert len(guesser.reached) > tried


def test_it_is_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(PromptLookup, "forget", lambda *_: None)
    guesser = _Guesser()
    proposer = NetworkGuesses(guesser, lambda: guesser.now)
    _asked(proposer, [3, 4], 2)
    proposer.forget(_sequence(7))
    assert not proposer._answers
    assert proposer.weight_bytes == 5
    assert proposer.read is None
