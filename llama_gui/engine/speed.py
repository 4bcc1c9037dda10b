"""Tokens per second, over the last moments."""

import time
from collections import deque

_WINDOW_S = 2.0


class Speed:
    """How fast tokens have come of late."""

    def __init__(self) -> None:
        self._drawn: deque[tuple[float, int]] = deque()  # monotonic seconds, tokens
        self._total = 0  # of them; a tiny model draws thousands within the window, which is asked after each

    def add(self, tokens: int) -> None:
        """So many were drawn just now."""
        if tokens:
            self._drawn.append((time.monotonic(), tokens))
            self._total += tokens

    def clear(self) -> None:
        """A pause begins, which must not count as slowness of what comes behind it."""
        self._drawn.clear()
        self._total = 0

    @property
    def tokens_per_second(self) -> float:
        """Of the last two seconds; 0 as long as nothing is known."""
        now = time.monotonic()
        while self._drawn and self._drawn[0][0] < now - _WINDOW_S:
            self._total -= self._drawn.popleft()[1]
        if len(self._drawn) < 2:
            return 0.0
        began, first = self._drawn[0]
        return (self._total - first) / max(now - began, 1e-3)
