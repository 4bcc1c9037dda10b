"""The parts of the network: RMS norm, attention over one conversation's cache, gated MLP."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.linear import Linear
from llama_gui.engine.rotary import rotate

KEY_BLOCK = 512
"""Attention always sees a multiple of this many keys, the surplus masked.

The CPU kernel works through the keys in blocks, so a row's bits change with the number of keys. With whole blocks and
a mask every query row is bit-identical however a prompt is cut (measured; a fully masked block adds exact zeros).
"""

_SPLIT_SIZE = 32768  # at::internal::GRAIN_SIZE: an element-wise operation of this size runs in several threads

QUERY_BLOCK = 8
"""Query rows come in multiples of this: fewer take another path through the matrix kernels, with other sums.

Measured with float32, bfloat16 and float16, heads of 16 to 128, groups of 1 to 8: 8 is exact, 4 is not.
"""


@dataclass(frozen=True, slots=True)
class Span:
    """Where one segment's rows lie: rows ``[row, row + length)`` of the step are positions ``[start, start + length)``
    of the conversation with keys and values ``[layers, kv_heads, capacity, head_dim]``.
    """

    row: int
    start: int
    length: int
    keys: Tensor
    values: Tensor
    mask: Tensor
    """``[group * length, keys]`` in whole blocks (``[1, keys]`` for one row): 0 where seen, -inf where not."""
    window_mask: Tensor
    """The same for layers that see a sliding window only."""


class RMSNorm:
    """Root mean square norm over the last dimension, as transformers computes it: float32 inside, then the weight."""

    def __init__(self, weight: Tensor, eps: float) -> None:
        self.weight = weight
        self.eps = eps

    def __call__(self, x: Tensor) -> Tensor:
        """``[..., size] -> [..., size]``."""
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True).add_(self.eps))
        return wide.to(x.dtype).mul_(self.weight)


def padded_key_count(length: int) -> int:
    """`length` rounded up to whole key blocks."""
    return -(-length // KEY_BLOCK) * KEY_BLOCK


def causal_mask(
    start: int, length: int, group: int, dtype: torch.dtype, device: torch.device, window: int | None = None
) -> Tensor:
    """What each row of a segment may see: itself and what is before it, at most `window` tokens; see `Span.mask`.

    The query heads of a group lie behind one another.
    """
    key_positions = torch.arange(padded_key_count(start + length), device=device).unsqueeze(0)
    row_positions = torch.arange(start, start + length, device=device).unsqueeze(1)
    hidden = key_positions > row_positions
    if window is not None:
        hidden |= key_positions <= row_positions - window
    mask = torch.zeros(hidden.shape, dtype=dtype, device=device).masked_fill_(hidden, -math.inf)
    return mask if length == 1 else F.pad(mask.repeat(group, 1), (0, 0, 0, -group * length % QUERY_BLOCK))


def _attend_exactly(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Attention whose rows have the same bits whatever rows they are computed with, see the two blocks above."""
    width, rows = mask.shape[-1], q.shape[2]
    q = F.pad(q, (0, 0, 0, -rows % QUERY_BLOCK))
    y = F.scaled_dot_product_attention(q, keys[:, :, :width], values[:, :, :width], attn_mask=mask)
    return y[:, :, :rows]


@dataclass(frozen=True, slots=True)
class Heads:
    """Query heads, key heads, and the width of each."""

    count: int
    kv_count: int
    dim: int


class Attention:
    """Grouped-query attention with a fused projection; each conversation attends to its own keys and values.

    `norms` (of queries and of keys, ``[head_dim]``): for families that norm each head before it is rotated. `slides`:
    this layer sees a sliding window only.
    """

    def __init__(
        self,
        qkv: Linear,
        out: Linear,
        heads: Heads,
        norms: tuple[RMSNorm, RMSNorm] | None = None,
        slides: bool = False,
    ) -> None:
        self.qkv = qkv
        self.out = out
        self.heads = heads
        self.norms = norms
        self.slides = slides

    def __call__(self, x: Tensor, layer: int, cos: Tensor, sin: Tensor, spans: Sequence[Span]) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``; writes the new keys and values of `layer` into the caches."""
        heads, kv_heads, dim = self.heads.count, self.heads.kv_count, self.heads.dim
        q, k, v = self.qkv(x).split([heads * dim, kv_heads * dim, kv_heads * dim], -1)
        q, k = q.reshape(-1, heads, dim), k.reshape(-1, kv_heads, dim)
        if self.norms is not None:
            q, k = self.norms[0](q), self.norms[1](k)
        q, k, v = rotate(q, cos, sin), rotate(k, cos, sin), v.reshape(-1, kv_heads, dim)
        seen = [self._attend(q, k, v, layer, span) for span in spans]
        return self.out(seen[0] if len(seen) == 1 else torch.cat(seen))

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, layer: int, span: Span) -> Tensor:
        rows, n = slice(span.row, span.row + span.length), span.length
        heads, kv_heads, dim = self.heads.count, self.heads.kv_count, self.heads.dim
        group = heads // kv_heads
        keys, values = span.keys[layer], span.values[layer]
        end = span.start + n
        keys[:, span.start : end] = k[rows].transpose(0, 1)
        values[:, span.start : end] = v[rows].transpose(0, 1)
        # The query heads that share a key head become further query rows: no copy of keys or values.
        folded = q[rows].reshape(n, kv_heads, group, dim).permute(1, 2, 0, 3).reshape(1, kv_heads, group * n, dim)
        mask = span.window_mask if self.slides else span.mask
        y = _attend_exactly(folded, keys[None], values[None], mask)
        return y.reshape(kv_heads, group, n, dim).permute(2, 0, 1, 3).reshape(n, heads * dim)


def silu_rows(x: Tensor) -> Tensor:
    """SiLU of ``[rows, width]``, a strided half of a wider tensor: the same bits whatever rows are computed with a row.

    torch splits a large element-wise operation evenly between threads, if need be in the middle of a row, and computes
    what is left of a stretch behind its last whole vector by scalar code, whose exponential differs in the last bit.
    So the number of rows in a large call is a multiple of the threads; the rest go in calls too small to be split.
    """
    rows, width = x.shape
    few, threads = max(1, (_SPLIT_SIZE - 1) // width), torch.get_num_threads()
    if x.device.type != "cpu" or rows <= few:
        return F.silu(x)
    y = torch.empty(x.shape, dtype=x.dtype)
    whole = rows // threads * threads
    if whole * width < threads * _SPLIT_SIZE:  # fewer threads would share it
        whole = 0
    torch.ops.aten.silu.out(x[:whole], out=y[:whole])
    for start in range(whole, rows, few):
        torch.ops.aten.silu.out(x[start : start + few], out=y[start : start + few])
    return y


class MLP:
    """The gated feed-forward part: ``down(silu(gate(x)) * up(x))``, gate and up fused."""

    def __init__(self, gate_up: Linear, down: Linear) -> None:
        self.gate_up = gate_up
        self.down = down

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``."""
        gate, up = self.gate_up(x).chunk(2, -1)
        return self.down(silu_rows(gate).mul_(up))
