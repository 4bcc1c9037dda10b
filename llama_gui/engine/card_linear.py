"""Weights on a card that has our kernels. One row alone waits for memory, which torch's kernels do not read as fast.

Weights of eight and of four bits are widened as they are read, and rows stay as they are: a card has far more
arithmetic than bandwidth, so nothing is gained by rounding the rows, too, as `Int8MatMul` does, and the loss is only
that of the weights. The layouts are those of "W8A16" and "W4A16" in other programs.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.card_int4 import SAME_LEVELS, CardLevels, rounded, unpacked
from llama_gui.engine.card_kernels import CardKernels
from llama_gui.engine.device import byte_count
from llama_gui.engine.int8_linear import round_channels
from llama_gui.engine.weight_rows import WeightRows

_PIECE_SIZE = 2**25
"""Numbers that are rounded at a time: in float32, beside the weight itself."""


class CardLinear:
    """``y = x W^T + b`` as torch multiplies it, but for a single row."""

    is_batch_invariant = False
    """A row that is alone is summed in another order."""
    overhead = 0
    """A call costs nothing beside its rows."""

    def __init__(self, weight: Tensor, bias: Tensor | None, kernels: CardKernels) -> None:
        """`weight` ``[out, in]`` and `bias` ``[out]``, of the dtype and on the device of the rows."""
        self.weight = weight.contiguous()
        self.bias = bias
        self._kernels = kernels

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return (self.weight,)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight and the bias take."""
        return byte_count(self.weight, self.bias)

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``."""
        if len(x) == 1:
            return self._kernels.multiply_row(x, self.weight, None, self.bias)
        return F.linear(x, self.weight, self.bias)


class CardInt8Linear:
    """``y = x W^T + b`` with the weight in int8, a scale for each output."""

    is_batch_invariant = False
    """The sums of many rows are cut into other pieces than those of few."""
    overhead = 0
    """A call costs nothing beside its rows."""

    def __init__(self, weight: Tensor, bias: Tensor | None, kernels: CardKernels) -> None:
        """Quantise `weight` ``[out, in]``; `bias` ``[out]``. Rows and results have the weight's dtype and device."""
        pieces = [round_channels(some) for some in _pieces(weight)]
        self.levels = torch.cat([levels for levels, _ in pieces])
        self.scales = torch.cat([scales for _, scales in pieces])
        self.bias = bias
        self._kernels = kernels

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return (self.levels,)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight, its scales and the bias take."""
        return byte_count(self.levels, self.scales, self.bias)

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``."""
        return self._kernels.multiply(x, self.levels, self.scales, self.bias)


class CardInt4Linear:
    """``y = x W^T + b`` with the weight in four bits; see `card_int4`."""

    is_batch_invariant = False
    """The sums of many rows are cut into other pieces than those of few."""
    overhead = 0
    """A call costs nothing beside its rows."""

    def __init__(self, weight: WeightRows, bias: Tensor | None, kernels: CardKernels, device: torch.device) -> None:
        """Take the levels of `weight` or round it; `bias` ``[out]`` is of the dtype of the rows, and on `device`."""
        if weight.kind in SAME_LEVELS:
            pieces = (unpacked(blocks.to(device), weight.kind) for blocks in weight.blocks)
        else:
            pieces = (rounded(some.to(device)) for part in weight.parts for some in _pieces(part))
        self.weight = CardLevels.joined(list(pieces))
        self.bias = bias
        self._kernels = kernels

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return (self.weight.levels,)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight, its steps, lows and scales, and the bias take."""
        return byte_count(*self.weight.tensors, self.bias)

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``."""
        return self._kernels.multiply_int4(x, self.weight, self.bias)


def _pieces(weight: Tensor) -> tuple[Tensor, ...]:
    return weight.split(max(1, _PIECE_SIZE // weight.shape[1]))
