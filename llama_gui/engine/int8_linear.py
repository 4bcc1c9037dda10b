"""Weights of eight bits: half the memory of bfloat16, and rows that are exact in calls of any size.

Each output channel of the weight has a scale; oneDNN multiplies the whole numbers.
"""

import time

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.device import byte_count
from llama_gui.engine.quantised_linear import QuantisedLinear, adds_exactly, quantise_rows
from llama_gui.errors import UnsupportedModelError

_FAR = 4.0  # a lone row that takes so many times what two take


LeastRows = dict[tuple[int, ...], int]
"""By the shape of a weight, how many rows a call must have."""


class Int8Linear(QuantisedLinear):
    """``y = x W^T + b`` with the weight in int8, on CPU.

    Source of the two private operators: torch's Inductor uses them for static quantisation. `probe` tries them.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, least_rows: LeastRows | None = None) -> None:
        """Quantise `weight` ``[out, in]``; `bias` ``[out]``. The result has the weight's dtype.

        `least_rows` remembers what was found out about each shape.
        """
        super().__init__(bias, weight.dtype)
        rounded, scales = round_channels(weight)
        self._packed = torch.ops.onednn.qlinear_prepack(rounded, None)
        self._scales = scales
        self._zeros = torch.zeros(len(scales), dtype=torch.int32)
        self._width = weight.shape[1]
        known = {} if least_rows is None else least_rows
        shape = tuple(weight.shape)
        if shape not in known:
            known[shape] = self._probe_lone_row()
        self._least_rows = known[shape]
        self._bytes = byte_count(rounded, self._scales, self._zeros, bias)

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return (self._packed,)

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
        """Of some widths (256, 768) a lone row gets oneDNN's reference kernel, hundreds of times slower: 2, else 1."""
        seconds: list[float] = []
        for rows in (1, 2):
            x = torch.ones(rows, self._width, dtype=torch.int8)
            self._run(x)
            began = time.perf_counter()
            self._run(x)
            seconds.append(time.perf_counter() - began)
        return 2 if seconds[0] > _FAR * seconds[1] else 1

    def _run(self, x: Tensor) -> Tensor:
        return torch.ops.onednn.qlinear_pointwise.default(
            x, 1.0, 0, self._packed, self._scales, self._zeros, None, 1.0, 0, self._dtype, "none", [], ""
        )


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
