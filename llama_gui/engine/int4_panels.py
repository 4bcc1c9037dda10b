"""Weights of four bits times many rows: some channels at a time are expanded to int8, and multiplied as such.

torch's kernel for four bits expands each weight anew for every few rows. For many it is faster to expand it once, into
a panel that fits in the cache, and to multiply whole numbers (oneDNN; measured: 1.5 against 0.15 TFLOP/s for 512 rows,
equal for 20). A sum of whole numbers has the same bits in both.

The panels read that kernel's packed layout, which torch does not document: `find_columns` finds it by trial.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from llama_gui.engine.int4_levels import GROUP, Int4Levels

COLUMNS = 64
"""Output channels come in blocks of so many, or of parts of it."""

OVERHEAD = 256
"""Expanding a weight takes about as long as multiplying this many rows with it."""

_COLUMNS = (COLUMNS, COLUMNS // 2)  # with AVX512, with AVX2
_MIDDLE = 8  # value = (level - 8) * step + offset
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

    The packing puts the two halves of a block into the upper and lower bits of its bytes. In this order the channels
    that are expanded together lie side by side. ``[out, ...] -> [out, ...]``; `out` is a multiple of `columns`.
    """
    return channels.unflatten(0, (2, -1, columns // 2)).transpose(0, 1).flatten(0, 2)


def pack(levels: Tensor, steps: Tensor, lows: Tensor, columns: int) -> Packed:
    """Some channels, as `Int4Levels` has them; their number is a multiple of `COLUMNS`."""
    levels, steps, offsets = (interleave(some, columns) for some in (levels, steps, lows + _MIDDLE * steps))
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(levels.to(torch.int32), 1)
    return Packed(packed.view(len(levels), -1), torch.stack((steps.t(), offsets.t()), 2).bfloat16())


def multiply_in_panels(levels: Sequence[Tensor], parts: Sequence[Packed], scales: Tensor, columns: int) -> Tensor:
    """Int8 ``[rows, in]`` times a packed weight and its channels' scales ``[out]``: ``[rows, out]`` of their dtype.

    Of each part of the inputs, the exact sum is rounded to bfloat16.
    """
    rows, half = len(levels[0]), columns // 2
    tables = [_steps_and_lows(part.table, columns) for part in parts]
    y = torch.empty(rows, 2, len(scales) // 2, dtype=scales.dtype)
    scales = scales.view(2, -1)
    blocks = scales.shape[1] // half
    size = min(blocks, max(1, _PANEL_CHANNELS // columns))
    scratch = _Scratch(rows, max(x.shape[1] for x in levels), size * half)
    for start in range(0, blocks, size):
        some, channels = slice(start, start + size), slice(start * half, (start + size) * half)
        sums = scratch.sums(scales[:, channels].shape[1])
        for number, (x, part, table) in enumerate(zip(levels, parts, tables, strict=True)):
            packed = part.levels.view(blocks, x.shape[1], half)[some]
            for panel, total in zip(_expand(packed, table[:, :, :, some], scratch), sums, strict=True):
                product = torch._int_mm(x, panel, out=scratch.product(total.shape))
                total.copy_(product) if number == 0 else total.add_(product.bfloat16())
        for total, scale, part_of_y in zip(sums, scales, y.unbind(1), strict=True):
            torch.mul(total, scale[channels], out=part_of_y[:, channels])
    return y.flatten(1)


class _Scratch:
    """Scratch memory that all panels of a product reuse, so that it stays in the cache."""

    def __init__(self, rows: int, width: int, channels: int) -> None:
        self._rows = rows
        self._levels = torch.empty(2, width * channels, dtype=torch.int8)
        self._product = torch.empty(rows * channels, dtype=torch.int32)
        self._sums = torch.empty(2, rows * channels, dtype=torch.bfloat16)

    def levels(self, shape: Sequence[int]) -> tuple[Tensor, ...]:
        """Two of int8."""
        return tuple(some[: math.prod(shape)].view(shape) for some in self._levels)

    def product(self, shape: Sequence[int]) -> Tensor:
        """Int32."""
        return self._product[: math.prod(shape)].view(shape)

    def sums(self, channels: int) -> tuple[Tensor, ...]:
        """Two of bfloat16, ``[rows, channels]``."""
        return tuple(some[: self._rows * channels].view(self._rows, channels) for some in self._sums)


def _expand(packed: Tensor, table: Tensor, scratch: _Scratch) -> tuple[Tensor, Tensor]:
    """Blocks ``[blocks, in, columns / 2]`` in eight bits: ``[in, channels]`` from both halves of the channels."""
    first, second = scratch.levels((packed.shape[1], len(packed) * packed.shape[2]))
    second.view(torch.uint8).view(len(first), *packed.shape[::2]).copy_(packed.transpose(0, 1))
    pairs = second.view(torch.int64)  # eight bytes at a time, two levels in each
    torch.bitwise_and(pairs, _LOW_BITS, out=first.view(torch.int64))
    torch.bitwise_right_shift(pairs, 4, out=pairs).bitwise_and_(_LOW_BITS)
    for half, levels in enumerate((first, second)):
        steps, lows = table[:, half].flatten(2).unsqueeze(2)
        levels.unflatten(0, (-1, GROUP)).mul_(steps).add_(lows)
    return first, second


def _steps_and_lows(table: Tensor, columns: int) -> Tensor:
    """Int8 ``[2, 2, groups, blocks, columns / 2]``: steps and lows, by half of a block."""
    both = table.to(torch.int8).unflatten(1, (-1, 2, columns // 2)).permute(4, 2, 0, 1, 3).contiguous()
    both[1] -= _MIDDLE * both[0]  # intermediate values overflow eight bits, the result does not
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
    weight = torch.randint(0, 16, (out, width), generator=generator).float()
    steps = torch.randint(1, 17, (out, width // GROUP), generator=generator).float()
    lows = torch.minimum(torch.randint(-128, 0, steps.shape, generator=generator), 127 - 15 * steps)
    weight[0], weight[1], steps[:2], lows[:2] = 15, 0, 17, -128  # the largest: these saturate first
    part, scales = pack(weight, steps, lows, columns), torch.ones(out, dtype=torch.bfloat16)
    levels = torch.randint(-127, 128, (40, width), generator=generator)
    levels[0], levels[1] = 127, -127
    if part.levels.numel() * part.levels.element_size() != out * width // 2:
        return False
    values = Int4Levels(weight, steps, lows, scales).values
    got = multiply_in_panels([levels.to(torch.int8)], [part], scales, columns)
    return torch.equal(got, (levels.double() @ values.double().t()).bfloat16())
