"""Weights rounded in groups to sixteen levels, each of which is an 8-bit integer times a scale for the channel.

A weight is ``scale[channel] * (level * step[group] + low[group])`` with a level from 0 to 15 and integer steps and lows
(GGUF's Q4_K has scales of scales, too). The value in parentheses fits in eight bits, so a product with rows of int8 is
a sum of integers. Sums are kept below 2^24, up to which float32 holds every integer: then a kernel that adds in float32
and one that adds in int32 have the same result, in any order. Rounding to nearest, no calibration.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from llama_gui.engine.quantised_linear import LARGEST_LEVEL

GROUP = 32
"""Weights of a channel that share a step and a low."""

_TOP = 15  # the highest level
_MOST = 2**24 // LARGEST_LEVEL  # limit for the sum of a channel's absolute integers: then its product with any row fits
_LONGEST = 4096  # inputs, of which a channel of normally distributed numbers stays below that
_CLOSER = 0.5  # steps are a little short: what sticks out at the ends costs less than coarser levels
_STRETCH = 1.125


@dataclass(frozen=True, slots=True)
class Int4Levels:
    """Some output channels of a weight. All but `scales` are whole numbers.

    `levels` ``[out, in]``, `steps` and `lows` ``[out, in / GROUP]`` are float32, `scales` ``[out]`` are of the dtype of
    the weight.
    """

    levels: Tensor
    steps: Tensor
    lows: Tensor
    scales: Tensor

    @property
    def values(self) -> Tensor:
        """The whole numbers ``[out, in]``, without the scales."""
        groups = self.levels.unflatten(1, (-1, GROUP))
        return torch.addcmul(self.lows.unsqueeze(2), groups, self.steps.unsqueeze(2)).flatten(1)


def parts_of(width: int) -> list[int]:
    """Into how many inputs each a weight of `width` inputs is cut, so that sums stay small; multiples of `GROUP`."""
    groups = width // GROUP
    count = math.ceil(width / _LONGEST)
    return [GROUP * ((part + 1) * groups // count - part * groups // count) for part in range(count)]


def quantise(weight: Tensor) -> Int4Levels:
    """The nearest levels of `weight` ``[out, in]``, `in` a multiple of `GROUP`."""
    wide, parts = weight.float(), parts_of(weight.shape[1])
    scales = torch.maximum(wide.abs().amax(1) / LARGEST_LEVEL, (_heaviest(wide, parts) / _MOST).float())
    scales = scales.clamp(min=torch.finfo(weight.dtype).tiny).to(weight.dtype)
    while True:
        found = _round(wide, scales)
        too_heavy = _heaviest(found.values, parts) > _MOST
        if not too_heavy.any():
            return found
        scales = torch.where(too_heavy, scales * _STRETCH, scales)


def _heaviest(wide: Tensor, parts: list[int]) -> Tensor:
    """The largest sum of sizes ``[out]`` in a part of each channel."""
    return torch.stack([part.abs().sum(1, dtype=torch.float64) for part in wide.split(parts, 1)]).amax(0)


def _round(wide: Tensor, scales: Tensor) -> Int4Levels:
    groups = (wide / scales.float().unsqueeze(1)).unflatten(1, (-1, GROUP))
    least, most = groups.amin(2), groups.amax(2)
    steps = ((most - least) / _TOP - _CLOSER).ceil_().clamp_(1, 2 * LARGEST_LEVEL // _TOP + 1)
    lows = ((least + most) / 2 - _TOP / 2 * steps).round_().clamp_(min=-LARGEST_LEVEL - 1)
    lows = torch.minimum(lows, LARGEST_LEVEL - _TOP * steps)
    levels = (groups - lows.unsqueeze(2)).div_(steps.unsqueeze(2)).round_().clamp_(0, _TOP)
    return Int4Levels(levels.flatten(1), steps, lows, scales)
