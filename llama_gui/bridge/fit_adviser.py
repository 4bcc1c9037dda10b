"""Will it run here? The library's arithmetic, with what this machine has free just now."""

import time
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.lanes import Lanes
from llama_gui.library.fit import Fit, Machine, best_choice, choices, counted_tokens, machine_here, resolve
from llama_gui.library.model_shape import ModelShape

_FRESH_S = 1.0
_USUALLY_FREE = 0.7
"""Of all memory, beside a desktop and a browser."""


class FitAdviser(QObject):
    """Judges models. `freed` tells how many bytes the model that would be replaced gives back, `cache_dtype_of` in what
    the chats of a model are kept, by its key.

    How fast memory is read is asked of `bandwidth` once, when `measure` is called; before that a verdict has no speed.
    """

    measured = Signal()

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        bandwidth: Callable[[], float],
        machine: Callable[[float | None], Machine] = machine_here,
    ) -> None:
        super().__init__(parent)
        self._machine = machine
        self._measure_bandwidth = bandwidth
        self._bandwidth: float | None = None
        self._is_asked = False
        self._looked: tuple[float, Machine, int] | None = None
        self._lanes = Lanes(self)
        self.freed: Callable[[], int] = lambda: 0
        self.cache_dtype_of: Callable[[str], str] = lambda _key: "auto"

    def measure(self) -> None:
        """Read memory for a third of a second, once."""
        if not self._is_asked:
            self._is_asked = True
            # Without it a verdict has no speed; nothing else is lost.
            self._lanes.run("bandwidth", self._measure_bandwidth, self._on_measured, lambda _error: None)

    @Slot(object)
    def _on_measured(self, bandwidth: float) -> None:
        self._bandwidth = bandwidth
        self._looked = None
        self.measured.emit()

    def _here(self) -> tuple[Machine, int]:
        """This machine, and the bytes that would be freed; kept for a moment, because a list asks for each row."""
        now = time.monotonic()
        if self._looked is None or now - self._looked[0] > _FRESH_S:
            self._looked = now, self._machine(self._bandwidth), self.freed()
        return self._looked[1:]

    def fits(self, shape: ModelShape, context: int = 0, key: str = "") -> tuple[Fit, ...]:
        """Every dtype that we offer, the most exact first. `context`: what the model reads at most; 0: unknown. `key`:
        that of a model which is here.
        """
        machine, freed = self._here()
        cache_dtype = self.cache_dtype_of(key) if key else "auto"
        return choices(shape, machine, context=counted_tokens(context), freed=freed, cache_dtype=cache_dtype)

    def best(self, shape: ModelShape, context: int = 0, stored: str = "", key: str = "") -> Fit:
        """The dtype to take: what the engine would by itself, where that fits. `stored`: see `fit.resolve`."""
        return best_choice(self.fits(shape, context, key), resolve("auto", self._here()[0], stored or shape.stored))

    def usual(self, shape: ModelShape, context: int = 0, stored: str = "") -> Fit:
        """The same with the memory that this machine has free as a rule, whatever else runs just now."""
        machine, _ = self._here()
        machine = replace(machine, free=round(_USUALLY_FREE * machine.total))
        fits = choices(shape, machine, context=counted_tokens(context))
        return best_choice(fits, resolve("auto", machine, stored or shape.stored))

    def close(self) -> bool:
        """End the thread."""
        return self._lanes.close()
