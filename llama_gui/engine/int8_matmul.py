"""Weights of eight bits on a card: torch's plain product of whole numbers, which cuBLAS runs on tensor cores.

Also right on a CPU, where `Int8Linear` is faster.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.attention_blocks import padded
from llama_gui.engine.device import byte_count
from llama_gui.engine.int8_linear import round_channels
from llama_gui.engine.quantised_linear import QuantisedLinear, adds_exactly
from llama_gui.errors import UnsupportedModelError

_LEAST_ROWS = 32  # on CUDA `torch._int_mm` wants more than 16
_MULTIPLE = 8  # and widths of whole eights


class Int8MatMul(QuantisedLinear):
    """``y = x W^T + b`` with the weight in int8, on any device that has `torch._int_mm`."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        """Quantise `weight` ``[out, in]``; `bias` ``[out]``. The result has the weight's dtype and device."""
        super().__init__(bias, weight.dtype)
        self._out, width = weight.shape
        levels, self._scales = round_channels(weight)
        room = (0, padded(width, _MULTIPLE) - width, 0, padded(self._out, _MULTIPLE) - self._out)
        self._levels = F.pad(levels, room)

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return (self._levels,)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight, its scales and the bias take."""
        return byte_count(self._levels, self._scales, self._bias)

    def multiply(self, levels: Tensor) -> Tensor:
        """Int8 ``[rows, in]`` times the weight and its scales."""
        rows, width = levels.shape
        room = (0, self._levels.shape[1] - width, 0, max(0, _LEAST_ROWS - rows))
        sums = torch._int_mm(F.pad(levels, room), self._levels.t())
        return (sums[:rows, : self._out] * self._scales).to(self.dtype)


def probe(device: torch.device) -> None:
    """Try the operator.

    Raises:
        UnsupportedModelError: `device`, or this build of torch for it, cannot multiply int8 exactly.
    """
    try:
        exact = adds_exactly(lambda weight: Int8MatMul(weight, None), device)
    except (RuntimeError, AttributeError, NotImplementedError) as error:
        raise UnsupportedModelError(f"int8 cannot be used on {device.type} ({error}). Use auto.") from error
    if not exact:
        raise UnsupportedModelError(f"int8 is not multiplied exactly on {device.type}. Use auto.")
