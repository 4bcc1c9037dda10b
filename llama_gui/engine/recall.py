"""Tokens of a prompt on their way from the disk: a few blocks ahead of who takes them, however slow the disk is."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future

AHEAD = 2
"""Blocks that are read before they are wanted: their memory is nobody's budget."""

Block = bytearray | None


class Recall:
    """The blocks of one prompt, in order.

    Args:
        names: of the blocks that are to come.
        fetch: begins to read one, in another thread.
        place: the first token of the first of them; then of the next, which is up to who takes them.
    """

    def __init__(self, names: Sequence[str], fetch: Callable[[str], Future[Block]], place: int) -> None:
        self.place = place
        self._names = deque(names)
        self._fetch = fetch
        self._coming: deque[tuple[str, Future[Block]]] = deque()
        self._read_ahead()

    @property
    def is_ready(self) -> bool:
        """Whether `take` does not wait."""
        return not self._coming or self._coming[0][1].done()

    def take(self) -> tuple[str, bytearray] | None:
        """The name of the next block, and its content; None: there is no more, or it could not be read."""
        if not self._coming:
            return None
        name, coming = self._coming.popleft()
        block = coming.result()
        if block is None:
            return None
        self._read_ahead()
        return name, block

    def cancel(self) -> None:
        """Read no more."""
        self._names.clear()
        while self._coming:
            self._coming.popleft()[1].cancel()

    def _read_ahead(self) -> None:
        while self._names and len(self._coming) < AHEAD:
            name = self._names.popleft()
            self._coming.append((name, self._fetch(name)))
