"""Guesses from the text itself: it goes on as it did where it last read the same (prompt lookup, Saxena 2023).

Where it never did, earlier answers of the same model may have: it has its turns of phrase.

How many tokens are guessed is a matter of odds. The longer the run that reads the same, the more often what followed it
is right; each answer learns how often. A guess is made while the tokens to be expected are worth the time of its row.
"""

import time
from array import array
from collections.abc import Callable
from collections.abc import Sequence as Many
from dataclasses import dataclass

import numpy as np

from llama_gui.engine.look_worth import LookWorth
from llama_gui.engine.sequence import Sequence

_LONGEST = 8  # tokens; longer runs are hardly ever wrong more seldom
_MEMORY = 0.95  # what an observation weighs after the next of the same run
_EARLIER = 32_768  # tokens of earlier answers
_BETWEEN = -1  # is no token
_MOST_ASKERS = 16
_PRIORS = ((0.5, 4.0), (1.0, 2.0), (2.0, 1.5), (3.0, 1.0), (4.0, 1.0), (5.0, 1.0), (6.0, 1.0), (8.0, 1.0))
"""Guesses that were right and that were wrong, for runs of 1 to `_LONGEST` tokens. They count beside an answer's own,
so that what went wrong is tried again some day. From texts and programs, see `tests/benchmarks/guess_odds.py`."""


@dataclass(frozen=True, slots=True)
class Price:
    """What guesses cost: `row` is what one adds to a step of so many answers, as a share of it.

    `step`: the seconds of a step without guesses; 0: they are not known.
    """

    answers: int
    row: float
    step: float = 0.0


def best_count(odds: float, most: int, price: Price) -> int:
    """How many guesses bring the most tokens per second, each as likely right as `odds` say, behind right ones."""
    return best_guesses(odds, most, price)[0]


def best_guesses(odds: float, most: int, price: Price) -> tuple[int, float]:
    """The same, and how many tokens those are for the time of a step without guesses."""
    reached = 1.0  # how likely all guesses so far are right
    tokens, best, found = float(price.answers), float(price.answers), 0
    for count in range(1, most + 1):
        reached *= odds
        tokens += reached
        speed = tokens / (1 + price.row * count)
        if speed <= best:
            break
        best, found = speed, count
    return found, best


class Odds:
    """How often guesses are right behind runs of each length, in one answer. `trust`: what the priors' rights count."""

    def __init__(self, trust: float = 1.0) -> None:
        self._trust = trust
        self._right = [0.0] * _LONGEST
        self._wrong = [0.0] * _LONGEST

    def of(self, run: int) -> float:
        """How likely a guess behind a run of so many equal tokens is right; 0: there is no such run."""
        if not run:
            return 0.0
        right, wrong = _PRIORS[run - 1]
        right = self._trust * right + self._right[run - 1]
        return right / (right + wrong + self._wrong[run - 1])

    def best_count(self, run: int, most: int, price: Price) -> int:
        """How many guesses bring the most tokens per second, behind a run of so many equal tokens."""
        return best_count(self.of(run), most, price)

    def record(self, run: int, guessed: int, right: int) -> None:
        """The first `right` of `guessed` tokens were."""
        self._right[run - 1] = _MEMORY * self._right[run - 1] + right
        self._wrong[run - 1] = _MEMORY * self._wrong[run - 1] + (right < guessed)


class Grams:
    """Where the run of tokens that a text ends with was seen before; grows with the text.

    Each look-up compares the whole text at once. An index would answer sooner, but to build one for the first answer
    behind a long prompt keeps everybody waiting: 158 ms for 100,000 tokens.
    """

    def __init__(self) -> None:
        self._tokens = array("i")

    def find(self, known: Many[int]) -> tuple[int, int]:
        """How many tokens (at most 8) read as they last did when the text ended so, and where it went on.

        `known` is the whole text. (0, 0): it has never ended so.
        """
        self._tokens.extend(known[len(self._tokens) :])
        return _last_place(self._tokens, known[-_LONGEST:])


class EarlierAnswers:
    """The same in the answers that a model has given of late."""

    def __init__(self) -> None:
        self._tokens = array("i", [_BETWEEN])

    def add(self, answer: Many[int]) -> None:
        """It has ended. The oldest are forgotten."""
        self._tokens.extend(answer)
        self._tokens.append(_BETWEEN)
        if len(self._tokens) > 2 * _EARLIER:
            del self._tokens[:-_EARLIER]

    def find(self, known: Many[int]) -> tuple[int, int]:
        """As in `Grams`; `known` is another text."""
        return _last_place(self._tokens, known[-_LONGEST:])

    def read(self, place: int, count: int) -> list[int]:
        """At most `count` tokens from there on, of one answer."""
        found = self._tokens[place : place + count].tolist()
        return found[: found.index(_BETWEEN)] if _BETWEEN in found else found


def _last_place(text: "array[int]", tail: Many[int]) -> tuple[int, int]:
    """How much of the end of `tail` stands in `text`, at most, and behind which place of it, the last one."""
    tokens = np.frombuffer(text, np.intc)
    run = place = 0
    ends = 1 + np.flatnonzero(tokens[:-1] == tail[-1])
    while len(ends):
        run, place = run + 1, int(ends[-1])
        if run == len(tail):
            break
        ends = ends[ends > run]
        ends = ends[tokens[ends - run - 1] == tail[-run - 1]]
    return run, place


class PromptLookup:
    """Guesses that the text goes on as it did where it last read the same: quotations, code, lists, turns of phrase."""

    most_guesses = 16
    weight_bytes = kv_bytes = 0
    reads_rows = False
    read = None

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._answers: dict[int, _Answer] = {}
        self._earlier: dict[str, EarlierAnswers] = {}

    def propose(self, sequence: Sequence, most: int, price: Price) -> list[int]:
        """See `Proposer.propose`."""
        answer = self._answers.get(sequence.number)
        if answer is None:
            answer = self._answers[sequence.number] = _Answer()
        if not answer.worth.is_due():
            return []
        began = self._clock()
        guesses = self._look(sequence, answer, most, price)
        answer.price = price
        answer.worth.record_look(self._clock() - began, price.step / price.answers)
        return guesses

    def _look(self, sequence: Sequence, answer: "_Answer", most: int, price: Price) -> list[int]:
        known = sequence.tokens
        run, place = answer.grams.find(known)
        earlier = self._earlier_to(sequence.asker)
        earlier_run, earlier_place = earlier.find(known)
        if answer.odds.of(run) >= answer.odds_earlier.of(earlier_run):
            answer.asked, answer.run = answer.odds, run
            return known[place : place + answer.best_count(most, price)]
        answer.asked, answer.run = answer.odds_earlier, earlier_run
        return earlier.read(earlier_place, answer.best_count(most, price))

    def record(self, sequence: Sequence, guessed: int, right: int) -> None:
        """See `Proposer.record`."""
        answer = self._answers.get(sequence.number)
        if answer is not None:
            answer.asked.record(answer.run, guessed, right)
            price = answer.price
            answer.worth.record_guesses(price.step * (right / price.answers - price.row * guessed))

    def forget(self, sequence: Sequence) -> None:
        """See `Proposer.forget`. What it has written may help with other answers to the same asker."""
        if self._answers.pop(sequence.number, None) is not None:
            self._earlier_to(sequence.asker).add(sequence.answer)

    def _earlier_to(self, asker: str) -> EarlierAnswers:
        """The answers that one asker has got: how soon another's come must not tell what they say."""
        earlier = self._earlier.pop(asker, None) or EarlierAnswers()
        self._earlier[asker] = earlier
        if len(self._earlier) > _MOST_ASKERS:  # the one that asked longest ago is forgotten
            del self._earlier[next(iter(self._earlier))]
        return earlier


class _Answer:
    """What is known of one answer. `asked` and `run`: the odds of the last guesses, and of how many equal tokens."""

    def __init__(self) -> None:
        self.worth = LookWorth()
        self.price = Price(1, 0.0)
        self.grams = Grams()
        self.odds = self.asked = Odds()
        self.odds_earlier = Odds(trust=0.5)
        self.run = 0

    def best_count(self, most: int, price: Price) -> int:
        """How many guesses to make behind that run."""
        return self.asked.best_count(self.run, most, price) if self.run else 0
