"""What a model's loading thread is told, and what it may ask for."""

import threading
import time
from collections.abc import Callable

from llama_gui.errors import LoadCancelledError, NotEnoughMemoryError
from llama_gui.vocabulary import LoadOptions, LoadProgress

_TELL_EVERY_S = 0.05
_LOOK_EVERY_S = 0.1


class RoomWish:
    """A loader waits until another model is unloaded, or to hear that none can be. Sizes are bytes."""

    def __init__(self, key: str, needed: int, available: int) -> None:
        self.key = key
        self.needed = needed
        self.available = available
        self.is_granted = False
        self._answered = threading.Event()

    @property
    def is_open(self) -> bool:
        """Whether it still waits for its answer."""
        return not self._answered.is_set()

    def answer(self, is_granted: bool) -> None:
        """Say whether something was unloaded; the first answer counts."""
        if self.is_open:
            self.is_granted = is_granted
            self._answered.set()

    def wait(self, seconds: float) -> bool:
        """Whether the answer has come."""
        return self._answered.wait(seconds)


class LoadOrder:
    """One model to be loaded, and how. Every method may be called from any thread."""

    def __init__(
        self,
        key: str,
        options: LoadOptions,
        on_progress: Callable[[LoadProgress], None] | None = None,
        on_wish: Callable[[RoomWish], None] | None = None,
        on_devices: Callable[[tuple[str, ...]], None] | None = None,
    ) -> None:
        self.key = key
        self.options = options
        self._on_progress = on_progress
        self._on_wish = on_wish
        self._on_devices = on_devices
        self._cancelled = threading.Event()
        self._told_at = 0.0

    def cancel(self) -> None:
        """Nobody wants the model any more."""
        self._cancelled.set()

    def is_cancelled(self) -> bool:
        """Whether nobody wants it any more."""
        return self._cancelled.is_set()

    def check(self) -> None:
        """Raises LoadCancelledError once nobody wants the model any more."""
        if self.is_cancelled():
            raise LoadCancelledError("The model was not loaded: it was cancelled.")

    def tell(self, progress: LoadProgress) -> None:
        """Say how far it is. Called for each weight, handed on a few times a second."""
        now = time.monotonic()
        is_last = progress.parameters_read >= progress.parameters
        if self._on_progress is not None and (is_last or now - self._told_at >= _TELL_EVERY_S):
            self._told_at = now
            self._on_progress(progress)

    def tell_devices(self, devices: tuple[str, ...]) -> None:
        """Say what this machine has; nobody knows before torch is there."""
        if self._on_devices is not None:
            self._on_devices(devices)

    def take_turn(self, turn: threading.Lock) -> None:
        """Acquire a lock. Raises LoadCancelledError."""
        while not turn.acquire(timeout=_LOOK_EVERY_S):
            self.check()

    def make_room(self, needed: int, free: Callable[[], int]) -> None:
        """Wait until `free()` is at least `needed` bytes: idle models are unloaded, the longest unused first.

        Raises:
            NotEnoughMemoryError: nothing is left to unload.
            LoadCancelledError: nobody wants the model any more.
        """
        while (available := free()) < needed:
            wish = RoomWish(self.key, needed, available)
            if self._on_wish is None:
                raise NotEnoughMemoryError(needed, available)
            self._on_wish(wish)
            while not wish.wait(_LOOK_EVERY_S):
                self.check()
            self.check()
            if not wish.is_granted:
                raise NotEnoughMemoryError(needed, available)
