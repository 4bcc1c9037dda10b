"""Weights rounded to 127 levels in groups, groups with a step each, and blocks of them with a factor.

A weight is ``factor[block] * step[group] * level`` with whole levels from -63 to 63 and whole steps from 1 to 255, as
GGUF's Q6_K has them with fewer levels. With seven bits instead of eight, the sum of two products with levels of a row
fits in 16 bits, so that CPUs without VNNI are a third faster; and because numbers share a step with only 31 others, not
with their whole channel, little is lost (`tests/benchmarks/results.md`). Rounded to the nearest, no calibration.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.int4_levels import GROUP
from llama_gui.engine.packed_weights import BLOCK_NUMBERS

_GROUPS = BLOCK_NUMBERS // GROUP  # of a block
_TOP = 63  # the largest level
_STEPS = 255  # the largest step
_LEAST = torch.finfo(torch.float32).tiny


@dataclass(frozen=True, slots=True)
class SevenBits:
    """Some output channels of a weight, all float32.

    `levels` ``[out, in]``, `steps` ``[out, in / GROUP]``, `factors` ``[out, row_blocks(in)]``.
    """

    levels: Tensor
    steps: Tensor
    factors: Tensor

    @property
    def values(self) -> Tensor:
        """The numbers ``[out, in]``."""
        steps = self.steps * _for_groups(self.factors, self.steps)
        return self.levels * steps.repeat_interleave(GROUP, 1)


def quantise(weight: Tensor) -> SevenBits:
    """The nearest levels of `weight` ``[out, in]``, `in` a multiple of `WIDTH_UNIT`."""
    groups = weight.float().unflatten(1, (-1, GROUP))
    largest = groups.abs().amax(2)
    whole = F.pad(largest, (0, -largest.shape[1] % _GROUPS))  # the last block may be shorter
    factors = (whole.unflatten(1, (-1, _GROUPS)).amax(2) / (_TOP * _STEPS)).clamp(min=_LEAST)
    of_group = _for_groups(factors, largest)
    steps = (largest / (of_group * _TOP)).ceil().clamp(1, _STEPS)
    levels = (groups / (steps * of_group).unsqueeze(2)).round().clamp(-_TOP, _TOP)
    return SevenBits(levels.flatten(1), steps, factors)


def _for_groups(factors: Tensor, groups: Tensor) -> Tensor:
    return factors.repeat_interleave(_GROUPS, 1)[:, : groups.shape[1]]
