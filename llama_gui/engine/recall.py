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
    """

    def __init__(self, names: Sequence[str], fetch: Callable[[str], Future[Block]]) -> None:
        self._names = deque(names)
        self._fetch = fetch
        self._coming: deque[Future[Block]] = deque()
        self._read_ahead()

    @property
    def is_ready(self) -> bool:
        """Whether `take` does not wait."""
        return not self._coming or self._coming[0].done()

    def take(self) -> Block:
        """The next block; None: there is no more, or it could not be read."""
        if not self._coming:
            return None
        block = self._coming.popleft().result()
        if block is not None:
            self._read_ahead()
        return block

    def cancel(self) -> None:
        """Read no more."""
        self._names.clear()
        while self._coming:
            self._coming.popleft().cancel()

    def _read_ahead(self) -> None:
        while self._names and len(self._coming) < AHEAD:
            self._coming.append(self._fetch(self._names.popleft()))
