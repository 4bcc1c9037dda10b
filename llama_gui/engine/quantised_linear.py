"""Products of rows in eight bits: each row has a scale, its levels are whole numbers, and sums of those are exact.

So a row's bits depend on nothing but the row, whichever kernel adds up (the W8A8 of LLM.int8, Dettmers et al. 2022,
without its outlier columns).
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from llama_gui.engine.gating import BLOCK_SIZE

_LARGEST = 127.0
_LEAST_SCALE = torch.tensor(torch.finfo(torch.bfloat16).tiny)


class QuantisedLinear(ABC):
    """``y = x W^T + b`` for a weight of whole numbers, on CPU; how it lies in memory is up to the subclass."""

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
    rows = rows_at_a_time(x.shape[1])
    if len(x) <= rows:
        return quantise_block(x, dtype)
    return join_rows([quantise_block(part, dtype) for part in x.split(rows)])


def quantise_block(x: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """As `quantise_rows`, all rows at once."""
    wide = x.float()
    largest = wide.abs().amax(1, keepdim=True)
    # In the dtype of the result: what a row is divided by is exactly what its products are multiplied with.
    scales = torch.add(_LEAST_SCALE, largest, alpha=1 / _LARGEST).to(dtype)
    return torch.div(wide, scales).round_().to(torch.int8), scales


def rows_at_a_time(width: int) -> int:
    """How many rows of `width` numbers stay in the cache."""
    return max(1, BLOCK_SIZE // width)


def join_rows(parts: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """The levels and scales of all rows, from those of some rows each."""
    if len(parts) == 1:
        return parts[0]
    levels, scales = zip(*parts, strict=True)
    return torch.cat(levels), torch.cat(scales)
