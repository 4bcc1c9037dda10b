"""Weights of four bits for many rows: some channels at a time are written out in eight bits, and multiplied as such.

torch's kernel for four bits expands each weight anew for every few rows. For many it is faster to expand it once, into
a panel that fits in the cache, and to multiply whole numbers (oneDNN; measured: 1.5 against 0.15 TFLOP/s for 512 rows,
equal for 20). A sum of whole numbers has the same bits in both.

The panels read the packing of that kernel, of which nothing is promised: `find_columns` tries it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor

from llama_gui.engine.int4_levels import GROUP

COLUMNS = 64
"""Output channels come in blocks of so many, or of parts of it."""

_COLUMNS = (COLUMNS, COLUMNS // 2)  # with AVX512, with AVX2
_PANEL_CHANNELS = 1024  # half of which are expanded at a time
_LOW_BITS = torch.tensor(0x0F0F0F0F0F0F0F0F)


@dataclass(frozen=True, slots=True)
class Packed:
    """Some inputs of a weight, as torch's kernel takes it.

    `levels`: from ``_convert_weight_to_int4pack_for_cpu``. `table`: bfloat16 ``[in / GROUP, out, 2]`` of whole steps
    and offsets. `out` is a multiple of the columns of a block, and channels lie in the order of `interleave`.
    """

    levels: Tensor
    table: Tensor


def interleave(channels: Tensor, columns: int) -> Tensor:
    """The order in which channels are packed: half a block from their first half, then one from the second half.

    The packing puts the halves of a block into the upper and lower bits of its bytes. Like this what is expanded
    together lies side by side. ``[out, ...] -> [out, ...]``; `out` is a multiple of `columns`.
    """
    return channels.unflatten(0, (2, -1, columns // 2)).transpose(0, 1).flatten(0, 2)


def multiply_in_panels(levels: Sequence[Tensor], parts: Sequence[Packed], scales: Tensor, columns: int) -> Tensor:
    """Int8 ``[rows, in]`` times a packed weight and its channels' scales ``[out]``: ``[rows, out]`` of their dtype.

    Of each part of the inputs, the exact sum is rounded to bfloat16.
    """
    tables = [_steps_and_lows(part.table, columns) for part in parts]
    y = torch.empty(len(levels[0]), 2, len(scales) // 2, dtype=scales.dtype)
    scales = scales.view(2, -1)
    blocks = scales.shape[1] * 2 // columns
    size = max(1, _PANEL_CHANNELS // columns)
    for start in range(0, blocks, size):
        some = slice(start, start + size)
        channels = slice(start * columns // 2, (start + size) * columns // 2)
        expanded = [_expand(part.levels, table, some, columns) for part, table in zip(parts, tables, strict=True)]
        for half, panels in enumerate(zip(*expanded, strict=True)):
            sums = [torch._int_mm(x, panel).bfloat16() for x, panel in zip(levels, panels, strict=True)]
            torch.mul(reduce(Tensor.add_, sums), scales[half, channels], out=y[:, half, channels])
    return y.flatten(1)


def _expand(packed: Tensor, table: Tensor, some: slice, columns: int) -> list[Tensor]:
    """Some blocks in eight bits: ``[in, channels]`` from the first half of the channels, and from the second."""
    blocks = packed.view(table.shape[3], -1, columns // 2)[some]
    wide = blocks.transpose(0, 1).reshape(blocks.shape[1], -1).view(torch.int64)  # eight pairs of levels in each
    # Not in place: a single block is no copy, but the weight itself.
    halves = [(wide & _LOW_BITS).view(torch.int8), (wide >> 4).bitwise_and_(_LOW_BITS).view(torch.int8)]
    for half, levels in enumerate(halves):
        steps, lows = table[:, half, :, some].flatten(2).unsqueeze(2)
        levels.unflatten(0, (-1, GROUP)).mul_(steps).add_(lows)
    return halves


def _steps_and_lows(table: Tensor, columns: int) -> Tensor:
    """Int8 ``[2, 2, groups, blocks, columns / 2]``: steps and lows, by half of a block."""
    both = table.to(torch.int8).unflatten(1, (-1, 2, columns // 2)).permute(4, 2, 0, 1, 3).contiguous()
    both[1] -= 8 * both[0]  # beyond eight bits on the way, but not behind it
    return both


def find_columns() -> int | None:
    """How many channels lie in one block of the packing here; None: panels cannot read it, or do not add exactly.

    Raises:
        RuntimeError, AttributeError, NotImplementedError: this build of torch lacks an operator.
    """
    return next((columns for columns in _COLUMNS if _reads(columns)), None)


def _reads(columns: int) -> bool:
    generator = torch.Generator().manual_seed(0)
    out, width = 4 * columns, 4 * GROUP
    weight = torch.randint(0, 16, (out, width), generator=generator)
    steps = torch.randint(1, 17, (width // GROUP, out), generator=generator)
    lows = torch.minimum(torch.randint(-128, 0, steps.shape, generator=generator), 127 - 15 * steps)
    weight[0], weight[1], steps[:, :2], lows[:, :2] = 15, 0, 17, -128  # the largest: these saturate first
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(interleave(weight, columns).to(torch.int32), 1)
    table = torch.stack([interleave(part.t(), columns).t() for part in (steps, lows + 8 * steps)], 2).bfloat16()
    levels = torch.randint(-127, 128, (40, width), generator=generator)
    levels[0], levels[1] = 127, -127
    values = weight * steps.t().repeat_interleave(GROUP, 1) + lows.t().repeat_interleave(GROUP, 1)
    if packed.numel() * packed.element_size() != out * width // 2:
        return False
    scales = torch.ones(out, dtype=torch.bfloat16)
    got = multiply_in_panels([levels.to(torch.int8)], [Packed(packed, table)], scales, columns)
    return torch.equal(got, (levels @ values.t()).bfloat16())
