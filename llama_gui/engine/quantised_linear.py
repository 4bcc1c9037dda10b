"""Products of rows in int8: each row has a scale, its levels are integers, and sums of those are exact.

So a row's bits depend on nothing but the row, whichever kernel adds them up (the W8A8 of LLM.int8, Dettmers et al.
2022, without its outlier columns).
"""

import timeit
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.gating import blocks_of_rows

LARGEST_LEVEL = 127
"""Of eight bits, with either sign."""

MOST_WIDTH = (2**31 - 1) // ((2**8 - 1) * LARGEST_LEVEL)
"""Longer rows could overflow the sums of 32 bits: some kernels add rows without signs."""

_MANY_ROWS = 16
_PROBED_ROW_COUNTS = (1, 2, 3, 7, 8, 16, 31, 32, 33, 48, 64, 65, 100)
_LEAST_SCALE = torch.tensor(torch.finfo(torch.bfloat16).tiny)


class QuantisedLinear(ABC):
    """``y = x W^T + b`` for a weight of whole numbers; how it lies in memory is up to the subclass."""

    def __init__(self, bias: Tensor | None, dtype: torch.dtype) -> None:
        self._bias = bias
        self._dtype = dtype

    @property
    @abstractmethod
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""

    @property
    @abstractmethod
    def weight_bytes(self) -> int:
        """Bytes that the weight, its scales and the bias take."""

    @abstractmethod
    def multiply(self, levels: Tensor) -> Tensor:
        """Int8 ``[rows, in]`` times the weight and its scales: ``[rows, out]`` of `dtype`, which the caller may change.

        The same bits for a row in calls of any size.
        """

    @property
    def has_bias(self) -> bool:
        """Whether it adds something to the product."""
        return self._bias is not None

    @property
    def dtype(self) -> torch.dtype:
        """Of the result."""
        return self._dtype

    @property
    def is_batch_invariant(self) -> bool:
        """True: sums of whole numbers are exact."""
        return True

    @property
    def overhead(self) -> int:
        """0: a call costs nothing beside its rows."""
        return 0

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``; `x` of the weight's dtype or of float32."""
        y, scales = self.unscaled(x)
        y.mul_(scales)
        return y if self._bias is None else y.add_(self._bias)

    def unscaled(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The product ``[rows, out]`` without the scales ``[rows, 1]`` that its rows are to be multiplied with."""
        levels, scales = quantise_rows(x, self._dtype)
        return self.multiply(levels), scales

    def of_levels(self, levels: Tensor, scales: Tensor) -> Tensor:
        """The product of rows that are quantised already: int8 ``[rows, in]`` times ``scales [rows, 1]``."""
        return self.multiply(levels).mul_(scales)


def quantise_rows(x: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Int8 levels ``[rows, in]``, and scales ``[rows, 1]`` of `dtype`.

    Some rows at a time, so that they stay in the cache from one operation to the next.
    """
    levels, scales = room_for_levels(x.shape, dtype, x.device)
    for rows in blocks_of_rows(x.shape):
        quantise_into(x[rows], levels[rows], scales[rows])
    return levels, scales


def room_for_levels(shape: Sequence[int], dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    """Uninitialised int8 levels of `shape` ``[rows, in]``, and scales ``[rows, 1]`` of `dtype`."""
    return torch.empty(shape, dtype=torch.int8, device=device), torch.empty(shape[0], 1, dtype=dtype, device=device)


def quantise_into(x: Tensor, levels: Tensor, scales: Tensor) -> None:
    """As `quantise_rows`, all rows at once, into `levels` and `scales`."""
    wide = x.float()
    # In the dtype of the result, so that a row is divided by exactly the number that its products are multiplied by.
    scales.copy_(torch.add(_LEAST_SCALE, _largest(wide), alpha=1 / LARGEST_LEVEL))
    levels.copy_(torch.div(wide, scales).round_())


def _largest(wide: Tensor) -> Tensor:
    if len(wide) < _MANY_ROWS:
        return wide.abs().amax(1, keepdim=True)
    # Two passes, but without a copy of all rows.
    return torch.maximum(wide.amax(1, keepdim=True), wide.amin(1, keepdim=True).neg_())


def adds_exactly(make: Callable[[Tensor], QuantisedLinear], device: torch.device) -> bool:
    """Whether the linear that `make` returns for a float32 weight on `device` multiplies the largest numbers exactly.

    In calls of many sizes: old CPUs, for example, add in 16 bits and saturate.
    """
    generator, largest = torch.Generator().manual_seed(0), LARGEST_LEVEL
    weight = torch.randint(-largest, largest + 1, (96, 256), generator=generator).float()
    weight[0], weight[1] = largest, -largest  # whole rows of the largest: these saturate first
    weight[:, 0] = largest  # so that each channel's scale is one
    x = torch.randint(-largest, largest + 1, (max(_PROBED_ROW_COUNTS), 256), generator=generator)
    x[0], x[1] = largest, -largest
    want, levels = F.linear(x.double(), weight.double()).float(), x.to(device, torch.int8)
    linear = make(weight.to(device))
    return all(torch.equal(linear.multiply(levels[:rows]).cpu(), want[:rows]) for rows in _PROBED_ROW_COUNTS)


def least_seconds(work: Callable[[], object]) -> float:
    """Seconds of the fastest of some calls, after one to warm up."""
    work()
    return min(timeit.repeat(work, number=1, repeat=3))
