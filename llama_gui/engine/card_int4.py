"""Weights of four bits as cards have them: sixteen levels in each group of 32, which share a step and a low.

Of GGUF's kinds in which a weight is a level times a step and an offset, the levels stay as they are, and so do the
floats of four bits of MXFP4, as gpt-oss has them. Other weights are rounded to the nearest of levels that are found for
each group.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from llama_gui.engine.gguf_bits import half, planes
from llama_gui.engine.gguf_blocks import mxfp4_scales, scales_and_offsets
from llama_gui.engine.int4_levels import GROUP

SAME_LEVELS = ("Q4_K", "Q4_0", "Q4_1", "MXFP4")
"""Kinds of blocks whose levels stay."""

LEVEL_BYTES = 0.5 + 4 / GROUP
CODE_BYTES = 0.5 + 2 / GROUP
"""Of a number in levels, with steps and lows; and in MXFP4, without lows."""

_TOP = 15
_CUT_SPREADS = (0.93, 0.86)
"""Parts of the range of a group: where the ends are cut off, the levels between them are finer."""


@dataclass(frozen=True, slots=True)
class CardLevels:
    """Some output channels: a weight is ``(level * step + low) * scale``.

    `levels` are uint8 ``[out, groups, 16]``, where a byte has two of a group, sixteen inputs apart; `steps` and `lows`
    float16 ``[out, groups]``, at most 1; `scales` float32 ``[out]``. `is_coded`: levels are the numbers of MXFP4, and
    `lows` are of no groups.
    """

    levels: Tensor
    steps: Tensor
    lows: Tensor
    scales: Tensor
    is_coded: bool = False

    @classmethod
    def of(cls, levels: Tensor, steps: Tensor, lows: Tensor) -> "CardLevels":
        """Of `levels` ``[out, groups, 32]`` of any type, and float32 `steps` and `lows` ``[out, groups]``."""
        bits = levels.to(torch.uint8)
        scales = torch.maximum(steps.abs().amax(1), lows.abs().amax(1)).clamp(min=torch.finfo(torch.float32).tiny)
        both = bits[:, :, : GROUP // 2] | bits[:, :, GROUP // 2 :] << 4
        return cls(both, (steps / scales.unsqueeze(1)).half(), (lows / scales.unsqueeze(1)).half(), scales)

    @classmethod
    def joined(cls, parts: "list[CardLevels]") -> "CardLevels":
        """Their channels behind one another."""
        return cls(
            torch.cat([part.levels for part in parts]),
            torch.cat([part.steps for part in parts]),
            torch.cat([part.lows for part in parts]),
            torch.cat([part.scales for part in parts]),
            parts[0].is_coded,
        )

    @property
    def tensors(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """All there is, on the card."""
        return self.levels, self.steps, self.lows, self.scales


def rounded(weight: Tensor) -> CardLevels:
    """The nearest levels of `weight` ``[out, in]``, `in` a multiple of `GROUP`, on its device."""
    groups = weight.float().unflatten(1, (-1, GROUP))
    least, most = groups.amin(2, keepdim=True), groups.amax(2, keepdim=True)
    found = _nearest(groups, least, most)
    for spread in _CUT_SPREADS:
        middle, room = (least + most) / 2, (most - least) * (spread / 2)
        found = _better(found, _nearest(groups, middle - room, middle + room))
    _, levels, steps, lows = found
    return CardLevels.of(levels, steps.squeeze(2), lows.squeeze(2))


def _nearest(groups: Tensor, least: Tensor, most: Tensor) -> tuple[Tensor, ...]:
    """The squared error of each group, its levels between `least` and `most`, its step and low."""
    steps = ((most - least) / _TOP).clamp(min=torch.finfo(torch.float32).tiny)
    levels = ((groups - least) / steps).round_().clamp_(0, _TOP)
    errors = torch.addcmul(least, levels, steps).sub_(groups).square_().sum(2, keepdim=True)
    return errors, levels, steps, least


def _better(found: tuple[Tensor, ...], other: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    is_better = other[0] < found[0]
    return tuple(torch.where(is_better, new, old) for old, new in zip(found, other, strict=True))


def unpacked(blocks: Tensor, kind: str) -> CardLevels:
    """Those of `blocks` uint8 ``[out, bytes]`` of a kind in `SAME_LEVELS`, on their device."""
    out = len(blocks)
    if kind == "Q4_K":
        each = blocks.reshape(-1, 144)
        steps, offsets = scales_and_offsets(each)
        levels = planes(each[:, 16:].unflatten(1, (4, 32)), 4)
        return CardLevels.of(levels.reshape(out, -1, GROUP), steps.reshape(out, -1), -offsets.reshape(out, -1))
    if kind == "MXFP4":
        return _coded(blocks.reshape(out, -1, 17))
    each = blocks.reshape(-1, 18 if kind == "Q4_0" else 20)
    steps = half(each[:, :2])
    lows = -8 * steps if kind == "Q4_0" else half(each[:, 2:4])
    levels = planes(each[:, -16:], 4).flatten(1)
    return CardLevels.of(levels.reshape(out, -1, GROUP), steps.view(out, -1), lows.view(out, -1))


def _coded(blocks: Tensor) -> CardLevels:
    """Those of MXFP4 ``[out, groups, 17]``: their steps are powers of two, which half precision has exactly."""
    steps = mxfp4_scales(blocks[:, :, 0])
    scales = steps.amax(1).clamp(min=torch.finfo(torch.float32).tiny)
    parts = (steps / scales.unsqueeze(1)).half()
    return CardLevels(blocks[:, :, 1:].contiguous(), parts, parts[:, :0], scales, is_coded=True)
