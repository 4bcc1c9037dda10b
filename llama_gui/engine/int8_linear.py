"""Weights in int8: half the memory of bfloat16, and rows that are exact in calls of any size.

Each output channel of the weight has a scale; oneDNN multiplies the integers. On CPUs with VNNI but without AMX it has
only its reference kernel for signed rows: a row times 2,048 x 2,048 took three seconds (measured: torch 2.13, Zen 5).
There rows are shifted by 128 to uint8, as in static quantisation, and oneDNN subtracts the shift from the sums, which
stay exact.
"""

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.apart import try_apart
from llama_gui.engine.device import byte_count, only_torch_has_tiles
from llama_gui.engine.quantised_linear import QuantisedLinear, adds_exactly, least_seconds, quantise_rows
from llama_gui.errors import UnsupportedModelError

_FAR = 4.0  # times as long: that is oneDNN's reference kernel
_TRIED_SIZE = 64  # inputs and channels, few enough for that kernel
_MOVED_BY = 128


@dataclass(slots=True)
class Int8Trials:
    """What was found out, so that it is not tried for each weight anew.

    `least_rows`: by the shape of a weight, how many rows a call must have. `has_signs`: whether rows keep their signs.
    """

    least_rows: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])
    has_signs: bool | None = None


class Int8Linear(QuantisedLinear):
    """``y = x W^T + b`` with the weight in int8, on CPU.

    Source of the two private operators: torch's Inductor uses them for static quantisation. `probe` tries them.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, trials: Int8Trials | None = None) -> None:
        """Quantise `weight` ``[out, in]``; `bias` ``[out]``. The result has the weight's dtype.

        `trials` remembers what was found out.
        """
        super().__init__(bias, weight.dtype)
        rounded, scales = round_channels(weight)
        self._weight = _PackedInt8(rounded, scales, weight.dtype)
        self._width = weight.shape[1]
        trials = Int8Trials() if trials is None else trials
        if trials.has_signs is None:
            trials.has_signs = _is_fast_with_signs()
        self._has_signs = trials.has_signs
        shape = tuple(weight.shape)
        if shape not in trials.least_rows:
            trials.least_rows[shape] = self._probe_lone_row()
        self._least_rows = trials.least_rows[shape]
        self._bytes = self._weight.bytes + byte_count(bias)

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return (self._weight.packed,)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight, its scales and the bias take."""
        return self._bytes

    def multiply(self, levels: Tensor) -> Tensor:
        """Int8 ``[rows, in]`` times the weight and its scales."""
        if len(levels) < self._least_rows:
            return self._run(F.pad(levels, (0, 0, 0, 1)))[:1]
        return self._run(levels)

    def _probe_lone_row(self) -> int:
        """2 for widths (256, 768) where one row gets oneDNN's reference kernel, hundreds of times slower; else 1."""
        lone, two = (self._seconds_of(rows) for rows in (1, 2))
        return 2 if lone > _FAR * two else 1

    def _seconds_of(self, rows: int) -> float:
        x = torch.ones(rows, self._width, dtype=torch.int8)
        return least_seconds(lambda: self._run(x))

    def _run(self, levels: Tensor) -> Tensor:
        return self._weight.times(levels) if self._has_signs else self._weight.times_moved(levels)


class _PackedInt8:
    """Int8 ``[out, in]`` with a scale for each channel ``[out]``, as oneDNN has it."""

    def __init__(self, levels: Tensor, scales: Tensor, dtype: torch.dtype) -> None:
        self.packed: Tensor = torch.ops.onednn.qlinear_prepack(levels, None)
        self._scales = scales
        self._zeros = torch.zeros(len(scales), dtype=torch.int32)
        self._dtype = dtype
        self.bytes = byte_count(levels, scales, self._zeros)

    def times(self, levels: Tensor) -> Tensor:
        """Int8 ``[rows, in]``."""
        return self._product(levels, 0)

    def times_moved(self, levels: Tensor) -> Tensor:
        """The same for rows that were shifted: uint8 from 1 to 255."""
        return self._product(levels.view(torch.uint8) ^ _MOVED_BY, _MOVED_BY)

    def _product(self, x: Tensor, zero_point: int) -> Tensor:
        return torch.ops.onednn.qlinear_pointwise.default(
            x, 1.0, zero_point, self.packed, self._scales, self._zeros, None, 1.0, 0, self._dtype, "none", [], ""
        )


def _is_fast_with_signs() -> bool:
    ones = torch.ones(_TRIED_SIZE, _TRIED_SIZE, dtype=torch.int8)
    weight = _PackedInt8(ones, torch.ones(_TRIED_SIZE), torch.float32)
    return least_seconds(lambda: weight.times(ones)) < _FAR * least_seconds(lambda: weight.times_moved(ones))


def round_channels(weight: Tensor) -> tuple[Tensor, Tensor]:
    """The nearest levels of `weight` ``[out, in]``, int8, and the float32 scale of each channel ``[out]``."""
    levels, scales = quantise_rows(weight, torch.float32)
    return levels, scales.squeeze(1)


def works() -> bool:
    """Whether this machine multiplies int8 exactly by torch's kernel."""
    try:
        probe()
    except UnsupportedModelError:
        return False
    return True


def is_preferred() -> bool:
    """Whether torch's kernel is faster than our own, and exact: with AMX, where ours do not use it."""
    return only_torch_has_tiles() and try_apart(works)


def probe() -> None:
    """Try the operators.

    Raises:
        UnsupportedModelError: this machine, or this build of torch, cannot multiply int8 exactly.
    """
    try:
        exact = adds_exactly(lambda weight: Int8Linear(weight, None), torch.device("cpu"))
    except (RuntimeError, AttributeError, NotImplementedError) as error:
        raise UnsupportedModelError(f"int8 cannot be used on this machine ({error}). Use bfloat16 or auto.") from error
    if not exact:
        raise UnsupportedModelError("This CPU does not multiply int8 exactly. Use bfloat16 or auto.")
