"""What weights take in memory that are rounded or put into codes while they are loaded: see `LinearFactory`."""

from dataclasses import dataclass
from typing import Self

import torch

from llama_gui.engine.device import NetworkPart, Precision
from llama_gui.engine.int4_levels import GROUP
from llama_gui.engine.packed_weights import (
    CODED_BYTES,
    SEVEN_BITS,
    WIDTH_UNIT,
    block_bytes,
    fits_panels,
    fits_seven_bits,
)

_OURS, _TORCHS = 1, 2
"""Bytes of each step and each offset of a group of four bits."""


@dataclass(frozen=True, slots=True)
class RoundedBytes:
    """Bytes of one number in "int8", in "int4" and in bfloat16, but for what comes once for each channel or panel."""

    int8: float
    int4: float
    bfloat16: float

    @classmethod
    def of(cls, width: int, *, has_kernels: bool, has_seven_bits: bool) -> Self:
        """For weights of `width` inputs, with kernels of our own, which round eight bits to seven, or not."""
        if not has_kernels:
            return cls(1.0, 0.5 + 2 * _TORCHS / GROUP if width % GROUP == 0 else 1.0, 2.0)
        int8 = block_bytes(SEVEN_BITS, width) if has_seven_bits and fits_seven_bits(width) else 1.0
        int4 = 0.5 + 2 * _OURS / GROUP if width % WIDTH_UNIT == 0 else int8
        return cls(int8, int4, CODED_BYTES if fits_panels(width) else 2.0)

    def number_bytes(self, part: NetworkPart, precision: Precision) -> float:
        """Of one number of a part of a network whose files hold plain numbers.

        Four bits would hurt the embedding and the vocabulary projection most, so these have eight.
        """
        if precision.quantised is None:
            return self.bfloat16 if precision.held == torch.bfloat16 else precision.table_dtype.itemsize
        return self.int4 if part == "layers" and precision.quantised == "int4" else self.int8
