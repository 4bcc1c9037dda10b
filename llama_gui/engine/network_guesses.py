"""How many guesses of a network to make, that was trained for it: as many as have been worth their time of late."""

import time
from collections.abc import Callable
from collections.abc import Sequence as Many
from dataclasses import replace
from typing import Protocol

import torch

from llama_gui.engine.guess_guard import GuessGuard
from llama_gui.engine.prompt_lookup import Price, PromptLookup, best_guesses
from llama_gui.engine.sequence import Sequence

_MOST = 8
_FIRST_SHARE = 0.05
"""What a guess takes of a step, as long as that is not known."""
_FIRST, _TRUST, _MEMORY = 2 / 3, 4.5, 0.95
"""How often guesses are right, before any were made, and as how many guesses that counts in an answer; what one weighs
after the next."""
_LEAST, _LARGEST = 0.2, 0.95
"""Between these is what one answer expects of the next."""
_TRY_EVERY = 32  # tokens without guesses, where they do not pay
_NEWEST = 0.1
"""How much the newest guess weighs in how long they take."""


class Guesser(Protocol):
    """Makes guesses of what a network has made of its tokens, `Sequence.made`."""

    @property
    def weight_bytes(self) -> int:
        """Bytes of all its weights in memory."""
        ...

    @property
    def read(self) -> Callable[[Sequence], None] | None:
        """Is to be called behind each piece of a prompt, and before rows are let go; None: it need not read."""
        ...

    @property
    def reaches(self) -> Many[int]:
        """Among how many of the first tokens it can look for its guesses, the fewest first: these take less time."""
        ...

    def guesses(self, sequence: Sequence, count: int, reach: int = 0) -> list[int]:
        """So many tokens behind the last one of `sequence`, or none, where that cannot be; `reach`: of `reaches`."""
        ...


class _Odds:
    """How often guesses are right behind right ones."""

    def __init__(self, expected: float) -> None:
        self._right, self._wrong = expected * _TRUST, (1 - expected) * _TRUST

    @property
    def right(self) -> float:
        return self._right / (self._right + self._wrong)

    def record(self, guessed: int, right: int) -> None:
        """The first `right` of `guessed` tokens were."""
        self._right = _MEMORY * self._right + right
        self._wrong = _MEMORY * self._wrong + (right < guessed)


class _Answer:
    """What is known of the guesses for one answer, by their reach, and which the last ones were."""

    def __init__(self, expected: Many[float]) -> None:
        self.odds = [_Odds(one) for one in expected]
        self.idle = self.tries = 0
        self.reach = 0
        self.last: list[int] = []
        self.looked_up = False


class NetworkGuesses:
    """A `Proposer` by a guesser, and by the text itself where that promises more tokens."""

    most_guesses = PromptLookup.most_guesses
    kv_bytes = 0
    reads_rows = True

    def __init__(self, guesser: Guesser, clock: Callable[[], float] = time.perf_counter) -> None:
        self._guesser = guesser
        self._lookup = PromptLookup()
        self._clock = clock
        self._answers: dict[int, _Answer] = {}
        self._reaches = guesser.reaches
        self._seconds = [0.0] * len(self._reaches)  # that a guess takes; 0: none was made yet
        self._expected = [_FIRST] * len(self._reaches)  # how often one is right, as in the last answer that has ended
        self._guard = GuessGuard("network that guesses")

    @property
    def weight_bytes(self) -> int:
        """See `Proposer.weight_bytes`."""
        return self._guesser.weight_bytes

    @property
    def read(self) -> Callable[[Sequence], None] | None:
        """See `Proposer.read`."""
        return None if self._guesser.read is None else self._read

    def _read(self, sequence: Sequence) -> None:
        read = self._guesser.read
        if read is not None and not self._guard.has_failed:
            self._guard.run(lambda: read(sequence) or [])

    @torch.inference_mode()
    def propose(self, sequence: Sequence, most: int, price: Price) -> list[int]:
        """See `Proposer.propose`."""
        looked_up = self._lookup.propose(sequence, most, price)
        answer = self._answers.setdefault(sequence.number, _Answer(self._expected))
        count = 0 if self._guard.has_failed else self._count(answer, min(most, _MOST), price)
        answer.looked_up = len(looked_up) > count
        if answer.looked_up or not count:
            return looked_up
        answer.last = self._guard.run(lambda: self._guess(sequence, count, answer.reach))
        return answer.last

    def _count(self, answer: _Answer, most: int, price: Price) -> int:
        """How many guesses are worth their time, that of making them included; sets their reach."""
        best, count = 0.0, 0
        for reach, (odds, seconds) in enumerate(zip(answer.odds, self._seconds, strict=True)):
            own = seconds / price.step if seconds and price.step else _FIRST_SHARE
            found, speed = best_guesses(odds.right, most, replace(price, row=price.row + own))
            if speed > best:
                best, count, answer.reach = speed, found, reach
        answer.idle = 0 if count else answer.idle + 1
        if answer.idle >= _TRY_EVERY:  # it may be better at what is written now
            answer.reach = answer.tries % len(answer.odds)
            answer.idle, answer.tries, count = 0, answer.tries + 1, 1
        return count

    def _guess(self, sequence: Sequence, count: int, reach: int) -> list[int]:
        began = self._clock()
        guesses = self._guesser.guesses(sequence, count, reach)
        if guesses:
            seconds, known = (self._clock() - began) / len(guesses), self._seconds[reach]
            self._seconds[reach] += (seconds - known) * (_NEWEST if known else 1)
        return guesses

    def record(self, sequence: Sequence, guessed: int, right: int) -> None:
        """See `Proposer.record`."""
        answer = self._answers.get(sequence.number)
        if answer is None:
            return
        if answer.looked_up:
            self._lookup.record(sequence, guessed, right)
            return
        answer.odds[answer.reach].record(guessed, right)
        for reach in range(answer.reach):  # how far guesses that reach less far would have been right, too
            within = next((n for n, one in enumerate(answer.last[:right]) if one >= self._reaches[reach]), right)
            answer.odds[reach].record(guessed, within)

    def forget(self, sequence: Sequence) -> None:
        """See `Proposer.forget`."""
        self._lookup.forget(sequence)
        answer = self._answers.pop(sequence.number, None)
        if answer is not None:
            self._expected = [min(max(odds.right, _LEAST), _LARGEST) for odds in answer.odds]
