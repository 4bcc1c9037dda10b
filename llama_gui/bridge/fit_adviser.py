"""Will it run here? The library's arithmetic, with what this machine has free just now."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import psutil
from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.tasks import TaskLane
from llama_gui.library.bandwidth import read_bandwidth
from llama_gui.library.fit import OFFERED_DTYPES, Fit, Machine, best_choice, choices, machine_here, resolve
from llama_gui.library.model_shape import ModelShape

CONTEXT = 4096
"""Tokens of one chat that the verdict counts with, where the model reads as many."""

_ROUGH_BYTES = {"float32": 4.0, "bfloat16": 2.0, "int8": 1.0, "int4": 0.65}
"""Of one weight, with its scales; int4 keeps embedding and head in more."""
_ROUGH_MORE = 1.15
"""The tied matrix that is there twice, the cache, the libraries: where only the count of weights is known."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one model runs in one dtype. Bytes; `is_rough`: only its count of parameters is known."""

    dtype: str
    needed: int
    free: int
    tokens_per_second: float | None
    verdict: Literal["runs", "tight", "too large"]
    is_rough: bool = False


class FitAdviser(QObject):
    """Judges models. `freed` tells how many bytes the model gives back that would be replaced.

    How fast memory is read is measured once, when `measure` is called; before that a verdict has no speed.
    """

    measured = Signal()

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        machine: Callable[[float | None], Machine] = machine_here,
        bandwidth: Callable[[], float] = lambda: read_bandwidth(psutil.cpu_count(logical=False) or 1),
    ) -> None:
        super().__init__(parent)
        self._machine = machine
        self._measure_bandwidth = bandwidth
        self._bandwidth: float | None = None
        self._lane: TaskLane | None = None
        self.freed: Callable[[], int] = lambda: 0

    def measure(self) -> None:
        """Read memory for a third of a second, once."""
        if self._lane is None:
            self._lane = TaskLane("bandwidth", self)
            self._lane.run(self._measure_bandwidth, self._on_measured, lambda _error: None)

    @Slot(object)
    def _on_measured(self, bandwidth: float) -> None:
        self._bandwidth = bandwidth
        self.measured.emit()

    @property
    def free(self) -> int:
        """Bytes of memory that a model could take now."""
        return self._machine(self._bandwidth).free + self.freed()

    def verdicts(self, shape: ModelShape, context: int = CONTEXT) -> tuple[Verdict, ...]:
        """Every dtype that we offer, the most exact first."""
        machine = self._machine(self._bandwidth)
        return tuple(map(_verdict, choices(shape, machine, context=_tokens(context), freed=self.freed())))

    def best(self, shape: ModelShape, context: int = CONTEXT) -> Verdict:
        """The dtype to take: what the engine would by itself, where that fits."""
        machine = self._machine(self._bandwidth)
        fits = choices(shape, machine, context=_tokens(context), freed=self.freed())
        return _verdict(best_choice(fits, resolve("auto", machine)))

    def rough(self, parameters: int) -> Verdict:
        """The same, where nobody tells more of a model than how many weights it has."""
        machine = self._machine(self._bandwidth)
        free = max(machine.free, 0) + self.freed()
        preferred = resolve("auto", machine)
        for dtype in (preferred, *OFFERED_DTYPES[OFFERED_DTYPES.index("int8") :]):
            needed = round(parameters * _ROUGH_BYTES.get(dtype, 2.0) * _ROUGH_MORE)
            if needed <= 0.85 * free:
                return Verdict(dtype, needed, free, None, "runs", is_rough=True)
        smallest = round(parameters * _ROUGH_BYTES["int4"] * _ROUGH_MORE)
        return Verdict("int4", smallest, free, None, "tight" if smallest <= free else "too large", is_rough=True)

    def close(self) -> bool:
        """End the thread."""
        return self._lane is None or self._lane.close()


def _tokens(context: int) -> int:
    return min(context, CONTEXT) if context > 0 else CONTEXT


def _verdict(fit: Fit) -> Verdict:
    return Verdict(fit.dtype, fit.needed, fit.free, fit.tokens_per_second, fit.verdict)
