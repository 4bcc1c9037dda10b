"""How much the server takes on: numbers, and the gate that lets so many answers run and so many wait."""

import asyncio
import math
import time
from collections import deque
from dataclasses import dataclass

from llama_gui.server.refusal import RefusedError, StoppingError


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Counts, bytes and seconds. `streams` answers run at once, `queue` requests wait for their turn.

    Programs that evaluate or batch send some hundred requests at once, because other servers let all of them wait, and
    give up what is refused three times. `connections` are more than both: there must be room for who asks how it is.
    Bodies may have images in them.
    """

    streams: int = 64
    queue: int = 384
    connections: int = 512
    body_bytes: int = 32 * 2**20
    header_bytes: int = 32 * 2**10
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    write_seconds: float = 30.0
    idle_seconds: float = 30.0
    ping_seconds: float = 15.0
    stop_seconds: int = 2


class Gate:
    """Lets requests in, first come, first served. A request has as many places as it wants answers. One event loop."""

    def __init__(self, places: int, queue: int) -> None:
        self._places = places
        self._queue = queue
        self._taken = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._seconds: deque[float] = deque(maxlen=32)  # how long the last requests held their places
        self._closed = False

    @property
    def taken(self) -> int:
        """Places in use."""
        return self._taken

    @property
    def waiting(self) -> int:
        """Requests that wait."""
        return len(self._waiting)

    async def enter(self, places: int) -> "Place":
        """Wait for `places`; they are held until the `Place` is left.

        Raises:
            RefusedError: too many wait already (429, with a guess at when to come again), the gate was closed, or so
                many places do not exist.
        """
        if places > self._places:
            raise RefusedError(400, f"{places} answers were asked for, and at most {self._places} run here at once.")
        if self._closed:
            raise StoppingError
        if not self._waiting and self._taken + places <= self._places:
            self._taken += places
            return Place(self, places)
        if len(self._waiting) >= self._queue:
            raise self._full()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (places, turn)
        self._waiting.append(entry)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._taken -= places  # it was its turn in the very moment in which it gave up
            elif entry in self._waiting:
                self._waiting.remove(entry)
            self._call_next()
            raise
        return Place(self, places)

    def leave(self, places: int, seconds: float) -> None:
        """Give places back, held for `seconds`."""
        self._taken -= places
        self._seconds.append(seconds)
        self._call_next()

    def close(self) -> None:
        """Nobody waits or enters any more."""
        self._closed = True
        while self._waiting:
            _, turn = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(StoppingError())

    def _call_next(self) -> None:
        while self._waiting:
            places, turn = self._waiting[0]
            if not turn.done():
                if self._taken + places > self._places:
                    return
                self._taken += places
                turn.set_result(None)
            self._waiting.popleft()

    def _full(self) -> RefusedError:
        mean = sum(self._seconds) / len(self._seconds) if self._seconds else 1.0
        wait = max(1, min(60, math.ceil(mean * len(self._waiting) / self._places)))
        return RefusedError(
            429,
            f"{self._taken} answers are being written and {len(self._waiting)} requests wait. Try again in {wait} s.",
            code="queue_full",
            headers={"Retry-After": str(wait)},
        )


class Place:
    """Places at the gate; a context manager that gives them back, once."""

    def __init__(self, gate: Gate, places: int) -> None:
        self._gate = gate
        self._places = places
        self._entered = time.monotonic()

    def __enter__(self) -> "Place":
        return self

    def __exit__(self, *_: object) -> None:
        self._gate.leave(self._places, time.monotonic() - self._entered)
