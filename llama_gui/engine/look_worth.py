"""Whether looking for guesses in a text pays: the seconds that it takes, against those that right guesses save."""

import math

_MEMORY = 0.9  # what a look weighs after the next
_TRIED = 8  # looks before it is judged
_FIRST_PAUSE, _LONGEST_PAUSE = 32, 128  # steps, of which there are hundreds in a second
_SMALL = 0.02  # of a step: less is not worth a pause, in which something could be found


class LookWorth:
    """Of one answer. Looks that do not pay are left out for a while, each time for longer, and then tried again."""

    __slots__ = ("_least", "_left_out", "_looks", "_passed", "_pause", "_saved", "_weight")

    def __init__(self) -> None:
        self._pause = _FIRST_PAUSE
        self._left_out = 0
        self._begin()

    def _begin(self) -> None:
        self._looks = 0
        self._least = math.inf
        self._weight = self._saved = self._passed = 0.0

    def is_due(self) -> bool:
        """Whether to look before this step."""
        if self._left_out:
            self._left_out -= 1
            return False
        return True

    def record_look(self, seconds: float, token_seconds: float) -> None:
        """A look took `seconds`, in a step that takes `token_seconds` for each of its answers; 0: that is not known."""
        if not token_seconds:
            return
        self._least = min(self._least, seconds)  # what takes far longer is something else on this machine
        self._weight = _MEMORY * self._weight + 1
        self._saved *= _MEMORY
        self._passed = _MEMORY * self._passed + token_seconds
        self._looks += 1
        if self._looks < _TRIED:
            return
        if self._least * self._weight <= max(self._saved, _SMALL * self._passed):
            self._pause = _FIRST_PAUSE
            return
        self._left_out, self._pause = self._pause, min(2 * self._pause, _LONGEST_PAUSE)
        self._begin()

    def record_guesses(self, seconds: float) -> None:
        """Guesses of the last look saved so many seconds; fewer than none, where their rows cost more."""
        self._saved += seconds
