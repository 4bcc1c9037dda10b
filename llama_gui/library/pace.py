"""How fast a download is, and how fast it may be."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

_WINDOW_S = 5.0
_SETTLED_S = 1.0


class SpeedLimit:
    """At most so many bytes a second, over everything that shares it. None: as fast as it goes.

    `bytes_per_second` may change at any time, from any thread.
    """

    def __init__(self, bytes_per_second: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.bytes_per_second = bytes_per_second
        self._clock = clock
        self._free_at = 0.0

    def take(self, count: int) -> float:
        """Note that `count` bytes were read; how many seconds to wait before the next are."""
        limit = self.bytes_per_second
        if not limit or limit <= 0:
            return 0.0
        now = self._clock()
        # Time that went unused is not saved up, or a pause would end in a burst.
        self._free_at = max(self._free_at, now) + count / limit
        return self._free_at - now

    async def wait(self, count: int) -> None:
        """Take, and wait."""
        seconds = self.take(count)
        if seconds > 0:
            await asyncio.sleep(seconds)


class Speedometer:
    """Bytes per second over the last seconds, and what that means for the rest."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._marks: deque[tuple[float, int]] = deque([(clock(), 0)])

    def add(self, count: int) -> None:
        """So many bytes came in."""
        self._marks.append((self._clock(), self._marks[-1][1] + count))
        self._forget()

    @property
    def bytes_per_second(self) -> float:
        """0 when nothing came for a while."""
        self._forget()
        (began, before), (last, total), now = self._marks[0], self._marks[-1], self._clock()
        return 0.0 if now <= began or now - last > _WINDOW_S else (total - before) / (now - began)

    def seconds_for(self, count: int) -> float | None:
        """How long `count` more bytes take at this speed; None when that cannot be told."""
        speed = self.bytes_per_second
        # A second of small files says nothing about the large one that follows.
        is_settled = self._marks[-1][0] - self._marks[0][0] >= _SETTLED_S
        return count / speed if speed > 0 and is_settled else None

    def _forget(self) -> None:
        oldest = self._clock() - _WINDOW_S
        while len(self._marks) > 1 and self._marks[1][0] < oldest:
            self._marks.popleft()
