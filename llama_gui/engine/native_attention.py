"""Attention by our own kernel: each query sums over its keys in a fixed order, so its bits depend on nothing else.

Unlike torch's, it needs no masks and no padding for equal bits (`attention_blocks.py`); a step of many conversations is
one call for each layer. Activations are float32, as everywhere where our kernels are used; the caches may be in half
precision, as in other programs, which halves the bytes that are read and kept.
"""

from collections.abc import Sequence
from copy import copy

import torch
from torch import Tensor

from llama_gui.engine.attention_blocks import AttentionBlocks
from llama_gui.engine.kv_cache import Slot
from llama_gui.engine.native_kernels import LANES, NativeKernels

NATIVE_BLOCKS = AttentionBlocks(1, 1)
"""Any number of queries and keys is exact."""

_WIDEST = 256
_ATTENDING = 7
"""The column of a span's table that says how many rows of it attend."""


def serves(dtype: torch.dtype, head_dim: int) -> bool:
    """Whether the kernel is for activations of `dtype` and heads of this width."""
    return dtype == torch.float32 and head_dim <= _WIDEST and head_dim % LANES == 0


class NativeSpans:
    """The segments of a step and their caches, as the kernel takes them. Valid for one step."""

    def __init__(self, kernels: NativeKernels, segments: Sequence[tuple[Slot, int]], whole: Sequence[int] = ()) -> None:
        """`segments`: slots, and how many tokens of each come, in the order of their rows.

        `whole`: which of them are images whose rows see each other.
        """
        self._kernels = kernels
        self._slots = [slot for slot, _ in segments]  # keeps their memory alive
        table: list[tuple[int, ...]] = []
        row = 0
        for number, (slot, length) in enumerate(segments):
            start = len(slot.tokens)
            if slot.capacity < start + length:
                raise ValueError(f"{start + length} tokens do not fit into a slot of {slot.capacity}")
            if kernels.keeps_blocks(slot.keys.dtype, slot.keys.shape[3]) != (slot.together > 1):
                raise ValueError(
                    f"a slot of {slot.keys.dtype} whose rows lie {slot.together} together is not for these"
                )
            addresses = (slot.keys.data_ptr(), slot.values.data_ptr())
            sees = start + length if number in whole else 0
            table.append((row, length, start, *addresses, slot.keys.stride(0), slot.keys.stride(1), length, sees))
            row += length
        self._table = torch.tensor(table, dtype=torch.int64)

    @property
    def table(self) -> Tensor:
        """As `NativeKernels.attend` takes them."""
        return self._table

    def of_last(self, counts: Sequence[int]) -> "NativeSpans":
        """These, of which only so many of the last rows of each segment attend; all get keys and values."""
        spans = copy(self)
        spans._table = self._table.clone()
        spans._table[:, _ATTENDING] = torch.tensor(counts)
        return spans

    @property
    def attending(self) -> int:
        """How many rows attend."""
        return int(self._table[:, _ATTENDING].sum())

    @property
    def kept_dtype(self) -> torch.dtype:
        """Of the caches."""
        return self._slots[0].keys.dtype

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        layer: int,
        window: int | None,
        sinks: Tensor | None = None,
        cap: float | None = None,
    ) -> Tensor:
        """Write `k` and `v` ``[rows, kv_heads, dim]`` into the caches, and attend.

        ``q [rows, heads, dim] -> [rows, heads * dim]``; rows that do not attend are left as they happen to be.
        `window`: how many tokens a row sees at most. `sinks`: float32 ``[heads]``; for it and `cap` see `Attention`.
        """
        return self._kernels.attend(q, k, v, self._table, layer, window or 0, self.kept_dtype, sinks, cap)
