"""Looking for guesses is paused where it takes more time than it saves, and tried again."""

from types import SimpleNamespace

import pytest

from llama_gui.engine.look_worth import LookWorth
from llama_gui.engine.prompt_lookup import Price, PromptLookup

STEPS, STEP = 1000, 0.0007


def looks(worth: LookWorth, look: float, step: float, saved: float = 0.0) -> list[bool]:
    """Before which steps somebody looks."""
    found: list[bool] = []
    for _ in range(STEPS):
        found.append(worth.is_due())
        if found[-1]:
            worth.record_look(look, step)
            worth.record_guesses(saved)
    return found


def test_looks_that_find_nothing_are_soon_a_few():
    due = looks(LookWorth(), 0.1 * STEP, STEP)
    assert all(due[:8])
    assert not any(due[8:40])
    assert all(due[40:48])
    assert sum(due) < 0.1 * STEPS
    assert any(due[-140:])


@pytest.mark.parametrize(
    ("look", "step", "saved"),
    [
        pytest.param(0.1 * STEP, STEP, 0.2 * STEP, id="they save more than they take"),
        pytest.param(0.0001, 0.05, 0.0, id="a step takes far longer"),
        pytest.param(0.0001, 0.0, 0.0, id="nobody knows how long a step takes"),
    ],
)
def test_others_are_never_left_out(look: float, step: float, saved: float):
    assert all(looks(LookWorth(), look, step, saved))


def test_one_look_in_a_moment_when_the_machine_did_something_else_does_not_count():
    worth = LookWorth()
    looks(worth, 0.0001, 0.05)
    worth.record_look(3.0, 0.05)
    assert all(looks(worth, 0.0001, 0.05))


def test_after_a_try_that_paid_the_next_pause_is_short():
    worth = LookWorth()
    looks(worth, 0.1 * STEP, STEP)
    while not worth.is_due():
        pass
    for _ in range(20):
        worth.record_look(0.1 * STEP, STEP)
        worth.record_guesses(STEP)
    for _ in range(40):
        worth.record_look(0.1 * STEP, STEP)
        if not worth.is_due():
            break
    assert looks(worth, 0.1 * STEP, STEP).index(True) == 31


class Clock:
    """Each look takes 0.1 milliseconds."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> float:
        self.asked += 1
        return self.asked * 0.0001


@pytest.mark.parametrize(("answers", "step"), [(1, STEP), (4, 4 * STEP)])
def test_a_text_that_repeats_later_is_found_within_the_longest_pause(answers: int, step: float):
    clock, price = Clock(), Price(answers, 0.02, step)
    lookup, sequence = PromptLookup(clock), SimpleNamespace(number=1, asker="", tokens=[], answer=[])
    for token in range(500):
        sequence.tokens.append(token)
        assert lookup.propose(sequence, 16, price) == []
    assert clock.asked / 2 < 120
    waited = 0
    while not (guesses := lookup.propose(sequence, 16, price)):
        sequence.tokens.append(100 + waited)
        waited += 1
        assert waited <= 128 + 2
    assert guesses[0] == 100 + waited
    asked = clock.asked
    for _ in range(300):  # all are right from now on, and nothing is left out
        guesses = lookup.propose(sequence, 1, price)
        assert guesses == [100 + waited]
        lookup.record(sequence, 1, 1)
        sequence.tokens.append(100 + waited)
        waited += 1
    assert (clock.asked - asked) / 2 == 300


def test_of_a_slow_model_every_step_is_looked_at():
    clock = Clock()
    lookup, sequence = PromptLookup(clock), SimpleNamespace(number=1, asker="", tokens=[], answer=[])
    for token in range(200):
        sequence.tokens.append(token)
        lookup.propose(sequence, 16, Price(1, 0.02, 0.05))
    assert clock.asked / 2 == 200
