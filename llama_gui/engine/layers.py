"""The parts of the network: RMS norm, attention over one conversation's cache, gated MLP."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.attention_blocks import AttentionBlocks, attend, attend_beside, attend_capped
from llama_gui.engine.card_kernels import CardKernels, Places
from llama_gui.engine.gating import Gate, gated_rows, sigmoid_rows
from llama_gui.engine.kv_cache import KeptPart
from llama_gui.engine.linear import Linear
from llama_gui.engine.native_attention import NativeSpans
from llama_gui.engine.rotary import Turns, rotate


@dataclass(frozen=True, slots=True)
class Span:
    """Where one segment's rows lie: rows ``[row, row + length)`` of the step are one conversation's next tokens.

    For each layer: `keys` and `values` ``[1, kv_heads, keys, head_dim]`` are those that it sees, in whole blocks;
    `new_keys` and `new_values` ``[kv_heads, length, head_dim]`` are the places for its own. `mask`: see `causal_mask`;
    `window_mask`: the same for layers that see a sliding window only.
    """

    row: int
    length: int
    keys: Sequence[Tensor]
    values: Sequence[Tensor]
    new_keys: Sequence[Tensor]
    new_values: Sequence[Tensor]
    mask: Tensor
    window_mask: Tensor

    @classmethod
    def of(
        cls,
        row: int,
        tokens: tuple[int, int],
        cache: Sequence[KeptPart],
        mask: Tensor,
        window_mask: Tensor | None = None,
        places: Sequence[tuple[int, int]] | None = None,
    ) -> "Span":
        """`tokens`: how many are in `cache` and how many come. `cache`: the parts of a slot.

        `places`: of each layer in them, see `CacheLayout`; None: all are in the first, in order.
        """
        start, length = tokens

        def of_layers(parts: Sequence[Tensor]) -> Sequence[Tensor]:
            return parts[0].unbind() if places is None else [parts[part][number] for part, number in places]

        each = list(zip(*cache, strict=True))  # the keys of all parts, and the values
        keys, values = (of_layers([part[:, None, :, : mask.shape[-1]] for part in parts]) for parts in each)
        new_keys, new_values = (of_layers([part[:, :, start : start + length] for part in parts]) for parts in each)
        return cls(row, length, keys, values, new_keys, new_values, mask, mask if window_mask is None else window_mask)

    def write(self, layer: int, keys: Tensor, values: Tensor) -> None:
        """Its own ``[length, kv_heads, head_dim]`` go into the cache of `layer`."""
        self.new_keys[layer].copy_(keys.transpose(0, 1))
        self.new_values[layer].copy_(values.transpose(0, 1))


@dataclass(frozen=True, slots=True)
class CardSpans:
    """The segments of a step on a card that has our kernels, where all rows that are alone are one call.

    `places`: of all rows. `singles`: so many segments of one row come first; `longer` are the others.
    """

    kernels: CardKernels
    places: Places
    singles: int
    longer: Sequence[Span] = ()


Spans = Sequence[Span] | NativeSpans | CardSpans
"""Of all segments of a step."""


class RMSNorm:
    """Root mean square norm over the last dimension, as transformers computes it: float32 inside, then the weight.

    `stays_wide`: the result is float32, for a linear that quantises it anyway. `dtype`: of the result, where the
    weight is wider: it is multiplied before the result is rounded. `kernels`: ours for cards, where they are.
    """

    def __init__(
        self,
        weight: Tensor,
        eps: float,
        *,
        stays_wide: bool = False,
        dtype: torch.dtype | None = None,
        kernels: CardKernels | None = None,
    ) -> None:
        self.weight = weight.float() if stays_wide else weight
        self.dtype = self.weight.dtype if stays_wide or dtype is None else dtype
        self.eps = eps
        self._eps = torch.tensor(eps, device=weight.device)
        self._kernels = kernels

    def __call__(self, x: Tensor) -> Tensor:
        """``[..., size] -> [..., size]``."""
        if self._kernels is not None:
            return self._kernels.norm(x, self.weight, self.eps, self.dtype)
        wide = x.float()
        norm = torch.linalg.vector_norm(wide, dim=-1, keepdim=True)
        factor = torch.addcmul(self._eps, norm, norm, value=1 / x.shape[-1]).rsqrt_()
        return (wide * factor).to(self.weight.dtype).mul_(self.weight).to(self.dtype)

    def of_sum(self, x: Tensor, more: Tensor) -> tuple[Tensor, Tensor]:
        """``x + more`` of ``[rows, size]``, and the norm of that; `x` may be changed."""
        if self._kernels is not None:
            return x, self._kernels.added(x, more, self.weight, self.eps, self.dtype)
        x = x + more
        return x, self(x)


@dataclass(frozen=True, slots=True)
class Heads:
    """Query heads, key heads, the width of each, and how much of it is rotated; 0: all."""

    count: int
    kv_count: int
    dim: int
    rotary_dim: int = 0


class Attention:
    """Grouped-query attention with a fused projection; each conversation attends to its own keys and values.

    `norms` (of queries and of keys): for families that norm them before they are rotated, each head (``[head_dim]``),
    or all of them as one (``[heads * head_dim]``); `norms_turned`: each head after that. `window`:
    this layer sees only this many tokens. `sinks`: float32 ``[heads]``, a score of each head that takes part in the
    softmax and stands for no value (Xiao et al. 2023), for families that have some. `cap`: see `attend_capped`; None:
    scores stay as they are. `value_norm`: of each head of the values. `borrows`: `qkv` makes queries only, which attend
    to the keys and values of another layer; the norm of keys is not used then. `gates`: `qkv` makes as many numbers
    again, behind the queries of each head, by whose logistic function what that head sees is multiplied.
    """

    def __init__(
        self,
        qkv: Linear,
        out: Linear,
        heads: Heads,
        blocks: AttentionBlocks,
        norms: tuple[RMSNorm, RMSNorm] | None = None,
        window: int | None = None,
        sinks: Tensor | None = None,
        cap: float | None = None,
        *,
        norms_turned: bool = False,
        value_norm: RMSNorm | None = None,
        borrows: bool = False,
        gates: bool = False,
    ) -> None:
        self.gates = gates
        self.value_norm = value_norm
        self.borrows = borrows
        self.qkv = qkv
        self.out = out
        self.heads = heads
        self.blocks = blocks
        self.norms = norms
        self.window = window
        self.sinks = sinks
        self.cap = cap
        self.norms_turned = norms_turned

    def __call__(self, x: Tensor, layer: int, turns: Turns, spans: Spans) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``; writes the new keys and values of `layer` into the caches."""
        return self.out(self.attend(x, layer, turns, spans))

    @property
    def linears(self) -> list[Linear]:
        """Both of them."""
        return [self.qkv, self.out]

    def attend(self, x: Tensor, layer: int, turns: Turns, spans: Spans) -> Tensor:
        """What comes before `out`: ``[rows, hidden] -> [rows, heads * head_dim]``."""
        y = self.qkv(x)
        if not self.gates:
            return self._seen(y, layer, turns, spans)
        queries = self.heads.count * self.heads.dim
        q, gates = y[:, : 2 * queries].unflatten(1, (self.heads.count, 2, -1)).unbind(2)
        seen = self._seen(torch.cat((q.flatten(1), y[:, 2 * queries :]), 1), layer, turns, spans)
        return seen * sigmoid_rows(gates.flatten(1))

    def _seen(self, y: Tensor, layer: int, turns: Turns, spans: Spans) -> Tensor:
        """Of what `qkv` has made."""
        if isinstance(spans, CardSpans):
            return self._attend_on_card(y, layer, turns, spans)
        q, new = self._heads(y, turns)
        if isinstance(spans, NativeSpans):
            return spans.attend(q, *(new or (None, None)), layer, self.window, self.sinks, self.cap)
        lengths = [span.length for span in spans]
        if new is not None:
            for span, new_k, new_v in zip(spans, *(part.split(lengths) for part in new), strict=True):
                span.write(layer, new_k, new_v)
        drawn = next((i for i, length in enumerate(lengths) if length > 1), len(spans))
        seen = [self._attend_singly(q[:drawn], layer, spans[:drawn])] if drawn else []
        seen += [self._attend(q[span.row : span.row + span.length], layer, span) for span in spans[drawn:]]
        return seen[0] if len(seen) == 1 else torch.cat(seen)

    def _attend_on_card(self, y: Tensor, layer: int, turns: Turns, spans: CardSpans) -> Tensor:
        if self.norms_turned:
            qkv, rotation = self._rotated(y, turns), None
        else:
            qkv, rotation = self._normed(y), turns
        q = spans.kernels.keep(qkv, rotation, spans.places, layer)
        if turns.scales is not None:
            q = q * turns.scales.view(-1, 1, 1)
        seen: list[Tensor] = []
        if rows := spans.singles:
            few, kv_heads = spans.places.of_first(rows), self.heads.kv_count
            seen.append(spans.kernels.attend(q[:rows], few, layer, kv_heads, self.window, self.sinks, self.cap))
        seen += [self._attend(q[span.row : span.row + span.length], layer, span) for span in spans.longer]
        return seen[0] if len(seen) == 1 else torch.cat(seen)

    def _heads(self, y: Tensor, turns: Turns) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
        """Rotated queries, and rotated keys and values, ``[rows, heads, head_dim]``; None: it borrows them."""
        if self.borrows:
            q = y.unflatten(1, (-1, self.heads.dim))
            return rotate(q if self.norms is None else self.norms[0](q), turns.cos, turns.sin), None
        q, k, v = self._rotated(y, turns)
        if self.value_norm is not None:
            v = self.value_norm(v)
        return q if turns.scales is None else q * turns.scales.view(-1, 1, 1), (k, v)

    def _rotated(self, y: Tensor, turns: Turns) -> tuple[Tensor, Tensor, Tensor]:
        cos, sin, _ = turns
        count, kv_count, dim = self.heads.count, self.heads.kv_count, self.heads.dim
        if self.norms is None or self.norms_turned:  # both in one go
            turned, v = y.unflatten(1, (-1, dim)).split((count + kv_count, kv_count), 1)
            q, k = rotate(turned, cos, sin).split((count, kv_count), 1)
            return (q, k, v) if self.norms is None else (self.norms[0](q), self.norms[1](k), v)
        q, k, v = self._normed(y)
        return rotate(q, cos, sin), rotate(k, cos, sin), v

    def _normed(self, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values ``[rows, heads, head_dim]``, normed in families that norm them before."""
        count, kv_count, dim = self.heads.count, self.heads.kv_count, self.heads.dim
        if self.norms is None:
            q, k, v = y.unflatten(1, (-1, dim)).split((count, kv_count, kv_count), 1)
            return q, k, v
        q, k, v = y.split((count * dim, kv_count * dim, kv_count * dim), 1)
        q, k = (
            norm(part.unflatten(1, (-1, len(norm.weight)))).view(len(y), -1, dim)
            for norm, part in zip(self.norms, (q, k), strict=True)
        )
        return q, k, v.unflatten(1, (-1, dim))

    # Query heads that share a key head are treated as further query rows, so keys and values need not be copied.

    def _attend_singly(self, q: Tensor, layer: int, spans: Sequence[Span]) -> Tensor:
        """The first rows of a step, each of a conversation of its own."""
        rows, kv_heads, dim = len(q), self.heads.kv_count, self.heads.dim
        group = self.heads.count // kv_heads
        folded = q.reshape(rows, kv_heads, group, dim)
        if group % self.blocks.queries:
            folded = F.pad(folded, (0, 0, 0, -group % self.blocks.queries))
        y = [self._attend_folded(one, layer, span) for one, span in zip(folded.split(1), spans, strict=True)]
        return (y[0] if rows == 1 else torch.cat(y))[:, :, :group].reshape(rows, -1)

    def _attend(self, q: Tensor, layer: int, span: Span) -> Tensor:
        n, kv_heads, dim = span.length, self.heads.kv_count, self.heads.dim
        group = self.heads.count // kv_heads
        folded = q.reshape(n, kv_heads, group, dim).permute(1, 2, 0, 3).reshape(1, kv_heads, group * n, dim)
        y = self._attend_folded(folded, layer, span)
        return y.reshape(kv_heads, group, n, dim).permute(2, 0, 1, 3).reshape(n, -1)

    def _attend_folded(self, q: Tensor, layer: int, span: Span) -> Tensor:
        """Queries ``[1, kv_heads, rows, dim]``: the tokens of each head of a group behind one another, maybe more."""
        seen = (span.keys[layer], span.values[layer], self._mask(span), self.blocks)
        if self.cap is not None:
            return attend_capped(q, *seen, self.cap)
        if self.sinks is None:
            return attend(q, *seen)
        sinks = self.sinks.view(self.heads.kv_count, -1).repeat_interleave(span.length, 1)
        return attend_beside(q, *seen, F.pad(sinks, (0, q.shape[2] - sinks.shape[1])))

    def _mask(self, span: Span) -> Tensor:
        return span.mask if self.window is None else span.window_mask


class MLP:
    """The gated feed-forward part: ``down(act(gate(x)) * up(x))``, gate and up fused.

    `kernels`: ours for cards, where they are.
    """

    def __init__(self, gate_up: Linear, down: Linear, gate: Gate = "silu", kernels: CardKernels | None = None) -> None:
        self.gate_up = gate_up
        self.down = down
        self.gate: Gate = gate
        self._gated = gated_rows if kernels is None else kernels.gated

    @property
    def linears(self) -> list[Linear]:
        """Both of them."""
        return [self.gate_up, self.down]

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``."""
        return self.down(self._gated(self.gate_up(x), self.gate))
