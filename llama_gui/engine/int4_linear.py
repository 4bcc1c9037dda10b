"""Weights of four bits: a third of the memory of bfloat16, and rows that are exact in calls of any size.

Rows are quantised to eight bits, so that all sums are whole numbers; see `int4_levels`. Few rows go through torch's
kernel, which expands the weight while it multiplies, many through `int4_panels`.
"""

from collections.abc import Sequence
from functools import reduce

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.attention_blocks import padded
from llama_gui.engine.device import byte_count
from llama_gui.engine.gating import BLOCK_SIZE
from llama_gui.engine.int4_levels import GROUP, Int4Levels, parts_of, quantise
from llama_gui.engine.int4_panels import COLUMNS, OVERHEAD, Packed, find_columns, multiply_in_panels, pack
from llama_gui.engine.quantised_linear import QuantisedLinear
from llama_gui.errors import UnsupportedModelError

_FEW = 20  # rows, up to which the kernel is the faster one
_kernel = torch.ops.aten._weight_int4pack_mm_for_cpu.default
_PROBED_ROW_COUNTS = (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 48, 64)


class Int4Linear(QuantisedLinear):
    """``y = x W^T + b`` with the weight in four bits, on CPU; `in_features` must be a multiple of `GROUP`.

    Source of the two private operators: torchao's and gpt-fast's weight-only quantisation for CPU.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, columns: int | None = None) -> None:
        """Quantise `weight` ``[out, in]``; `bias` ``[out]``. The result has the weight's dtype.

        `columns`: what `probe` found.
        """
        super().__init__(bias, weight.dtype)
        self._out, width = weight.shape
        self._columns = columns
        self._widths = parts_of(width)
        out = padded(self._out, COLUMNS)
        self._scales = torch.empty(out, dtype=weight.dtype)
        self._ordered_scales = self._scales.view(2, -1, self._block // 2)
        self._parts = [_empty_part(out, size) for size in self._widths]
        whole = weight if out == self._out else F.pad(weight, (0, 0, 0, out - self._out))
        halves = whole.unflatten(0, (2, -1))
        step = max(1, BLOCK_SIZE // width // COLUMNS) * (COLUMNS // 2)
        for start in range(0, out // 2, step):
            self._set(start, quantise(halves[:, start : start + step].flatten(0, 1)))

    def _set(self, start: int, found: Int4Levels) -> None:
        """Store `found`: channels from `start` on, followed by as many from the same place in the second half."""
        count = len(found.scales)
        self._scales.view(2, -1)[:, start : start + count // 2] = found.scales.view(2, -1)
        groups = [width // GROUP for width in self._widths]
        pieces = (found.levels.split(self._widths, 1), found.steps.split(groups, 1), found.lows.split(groups, 1))
        rows = slice(2 * start, 2 * start + count)
        for part, levels, steps, lows in zip(self._parts, *pieces, strict=True):
            some = pack(levels, steps, lows, self._block)
            part.levels[rows], part.table[:, rows] = some.levels, some.table

    @property
    def _block(self) -> int:
        """How many channels are packed together; where `probe` found no layout, any number will do."""
        return self._columns or COLUMNS

    @property
    def overhead(self) -> int:
        """That of writing the weight out for a product of many rows."""
        return 0 if self._columns is None else OVERHEAD

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return tuple(part.levels for part in self._parts)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight, its scales and the bias take."""
        tensors = (tensor for part in self._parts for tensor in (part.levels, part.table))
        return byte_count(*tensors, self._scales, self._bias)

    def multiply(self, levels: Tensor) -> Tensor:
        """Int8 ``[rows, in]`` times the weight and its scales."""
        parts = [levels] if len(self._parts) == 1 else [x.contiguous() for x in levels.split(self._widths, 1)]
        if self._columns is not None and len(levels) > _FEW:
            y = multiply_in_panels(parts, self._parts, self._scales, self._columns)
        else:
            y = self._by_kernel(parts)
        return y if y.shape[1] == self._out else y[:, : self._out]

    def _by_kernel(self, parts: Sequence[Tensor]) -> Tensor:
        # bfloat16 holds 8-bit levels exactly; the kernel is slow for any other dtype.
        sums = [_kernel(x.bfloat16(), w.levels, GROUP, w.table) for x, w in zip(parts, self._parts, strict=True)]
        ordered = reduce(Tensor.add_, sums).view(len(sums[0]), -1, 2, self._block // 2).transpose(1, 2)
        y = torch.empty(ordered.shape, dtype=self.dtype)
        torch.mul(ordered, self._ordered_scales, out=y)
        return y.view(len(y), -1)


def _empty_part(out: int, width: int) -> Packed:
    levels = torch.empty(out, width // 2, dtype=torch.uint8)
    return Packed(levels, torch.empty(width // GROUP, out, 2, dtype=torch.bfloat16))


def probe() -> int | None:
    """Try products of the largest numbers possible, in calls of many sizes.

    Returns:
        How the weights are packed, see `find_columns`; None: only by torch's kernel, which is slow for many rows.

    Raises:
        UnsupportedModelError: this machine, or this build of torch, cannot, or does not add exactly.
    """
    try:
        columns = find_columns()
        sound = _is_exact(columns)
    except (RuntimeError, AttributeError, NotImplementedError) as error:
        raise UnsupportedModelError(
            f"int4 cannot be used on this machine ({error}). Use int8, bfloat16 or auto."
        ) from error
    if not sound:
        raise UnsupportedModelError("This machine does not multiply int4 exactly. Use int8, bfloat16 or auto.")
    return columns


def _is_exact(columns: int | None) -> bool:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randint(-127, 128, (96, 512), generator=generator).float()
    weight[0], weight[1] = 127, -127
    linear = Int4Linear(weight, None, columns)
    found = quantise(weight)
    levels = torch.randint(-127, 128, (max(_PROBED_ROW_COUNTS), 512), generator=generator)
    levels[0], levels[1] = 127, -127
    want = (levels.double() @ found.values.double().t()).float().bfloat16().float() * found.scales
    return all(torch.equal(linear.multiply(levels[:rows].to(torch.int8)), want[:rows]) for rows in _PROBED_ROW_COUNTS)
