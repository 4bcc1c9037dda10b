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

_WIDEST = 512
_ROW, _LENGTH, _START, _ATTENDING = 0, 1, 2, 7
"""The columns of a span's table, see `NativeKernels.attend`; the last says how many rows of it attend."""


def serves(dtype: torch.dtype, head_dim: int) -> bool:
    """Whether the kernel is for activations of `dtype` and heads of this width."""
    return dtype == torch.float32 and head_dim <= _WIDEST and head_dim % LANES == 0


class NativeSpans:
    """The segments of a step and their caches, as the kernel takes them. Valid for one step."""

    def __init__(
        self,
        kernels: NativeKernels,
        segments: Sequence[tuple[Slot, int]],
        whole: Sequence[int] = (),
        places: Sequence[tuple[int, int]] | None = None,
        whole_parts: frozenset[int] = frozenset({0}),
        back: int = 0,
    ) -> None:
        """`segments`: slots, and how many tokens of each come, in the order of their rows.

        `whole`: which of them are images whose rows see each other, in layers of the `whole_parts` of the caches.
        `places`: of each layer in the slots, see `CacheLayout`; None: all are in the first part, in order. `back`: by
        so many tokens each begins before the end of its slot.
        """
        self._kernels = kernels
        self._places = places
        self._slots = [slot for slot, _ in segments]  # keeps their memory alive
        tables: list[list[tuple[int, ...]]] = [[] for _ in self._slots[0].parts]
        row = 0
        for number, (slot, length) in enumerate(segments):
            start = len(slot.tokens) - back
            if slot.capacity < start + length:
                raise ValueError(f"{start + length} tokens do not fit into a slot of {slot.capacity}")
            if kernels.keeps_blocks(slot.keys.dtype, slot.keys.shape[3]) != (slot.together > 1):
                raise ValueError(
                    f"a slot of {slot.keys.dtype} whose rows lie {slot.together} together is not for these"
                )
            for part, (table, (keys, values)) in enumerate(zip(tables, slot.parts, strict=True)):
                sees = start + length if number in whole and part in whole_parts else 0
                addresses = (keys.data_ptr(), values.data_ptr(), keys.stride(0), keys.stride(1))
                table.append((row, length, start, *addresses, length, sees))
            row += length
        self._table = torch.tensor(tables, dtype=torch.int64)

    @property
    def table(self) -> Tensor:
        """As `NativeKernels.layers` takes them: for each part of the caches one as `NativeKernels.attend` does."""
        return self._table

    def of_last(self, counts: Sequence[int]) -> "NativeSpans":
        """These, of which only so many of the last rows of each segment attend; all get keys and values."""
        spans = copy(self)
        spans._table = self._table.clone()
        spans._table[:, :, _ATTENDING] = torch.tensor(counts)
        return spans

    def alone(self) -> "NativeSpans":
        """Those rows that attend, for layers that borrow keys and values, without the others."""
        spans = copy(self)
        table = self._table[:, self._table[0, :, _ATTENDING] > 0]
        count = table[:, :, _ATTENDING]
        table[:, :, _START] += table[:, :, _LENGTH] - count
        table[:, :, _LENGTH] = count
        table[:, :, _ROW] = count.cumsum(1) - count
        spans._table = table.contiguous()
        return spans

    @property
    def places(self) -> Sequence[tuple[int, int]] | None:
        """Of each layer in the slots; None: all are in the first part, in order."""
        return self._places

    @property
    def attending(self) -> int:
        """How many rows attend."""
        return int(self._table[0, :, _ATTENDING].sum())

    @property
    def kept_dtype(self) -> torch.dtype:
        """Of the caches."""
        return self._slots[0].keys.dtype

    def attend(
        self,
        q: Tensor,
        k: Tensor | None,
        v: Tensor | None,
        layer: int,
        window: int | None,
        sinks: Tensor | None = None,
        cap: float | None = None,
    ) -> Tensor:
        """Write `k` and `v` ``[rows, kv_heads, dim]`` into the caches, and attend; None: only attend.

        ``q [rows, heads, dim] -> [rows, heads * dim]``; rows that do not attend are left as they happen to be.
        `window`: how many tokens a row sees at most. `sinks`: float32 ``[heads]``; for it and `cap` see `Attention`.
        """
        part, number = (0, layer) if self._places is None else self._places[layer]
        kv_heads = self._slots[0].parts[part][0].shape[1]
        conversations = (self._table[part], number, window or 0, self.kept_dtype)
        return self._kernels.attend(q, k, v, *conversations, sinks, cap, kv_heads=kv_heads)
