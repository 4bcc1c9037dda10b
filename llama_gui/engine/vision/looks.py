"""Images that were read, or are: whoever asks for one again goes on from there."""

from collections import OrderedDict
from collections.abc import Iterator

from torch import Tensor

from llama_gui.engine.vision.pixels import PreparedImage
from llama_gui.engine.vision.tower import VisionTower

_KEPT_BYTES = 64 * 2**20
"""Of rows. Of images that are half read, which take more, the latest is kept."""


class _Look:
    """One image on its way. `rows` or `error` once it has ended."""

    def __init__(self, pieces: Iterator[Tensor | None]) -> None:
        self._pieces = pieces
        self.rows: Tensor | None = None
        self.error: Exception | None = None

    @property
    def has_ended(self) -> bool:
        return self.rows is not None or self.error is not None

    def go_on(self) -> None:
        """By a piece; one that failed fails for all who wait for it."""
        try:
            self.rows = next(self._pieces)
        except Exception as error:
            self.error = error
        if self.has_ended:  # what the network held meanwhile is several times as large as the rows
            self._pieces = iter(())


class Looks:
    """Reads images by a network for one engine; not thread-safe.

    A question that is cancelled, as those are that read ahead of a message, leaves what it has read to the next one.
    """

    def __init__(self, tower: VisionTower) -> None:
        self._tower = tower
        self._kept: OrderedDict[bytes, _Look] = OrderedDict()

    def read(self, image: PreparedImage) -> Iterator[Tensor | None]:
        """As `VisionTower.read`; several may read the same image in turn."""
        look = self._kept.get(image.digest)
        if look is None:
            look = self._kept[image.digest] = _Look(self._tower.read(image))
        self._kept.move_to_end(image.digest)
        while not look.has_ended:
            look.go_on()
            if not look.has_ended:
                yield None
        if look.error is not None:
            if self._kept.get(image.digest) is look:
                del self._kept[image.digest]
            raise look.error
        self._forget()
        yield look.rows

    def rows(self, image: PreparedImage) -> Tensor:
        """What `read` gives, at once."""
        *_, rows = self.read(image)
        assert rows is not None
        return rows

    def _forget(self) -> None:
        """The oldest, for whom there is no room."""
        latest = next(reversed(self._kept), b"")
        for digest, look in [*self._kept.items()]:
            size = sum(kept.rows.nbytes for kept in self._kept.values() if kept.rows is not None)
            if digest != latest and (look.rows is None or size > _KEPT_BYTES):
                del self._kept[digest]
