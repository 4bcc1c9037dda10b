"""The block sizes of queries and keys with which torch's attention gives each row the same bits in every step.

The CPU kernel works through the keys in blocks, so a row's bits change with the number of keys, masked or not; and few
query rows go through other matrix kernels than many, which sum in another order. With whole blocks and a mask each
query row is bit-identical however a prompt is cut. How large the blocks must be depends on the dtype and the head
dimension (measured with torch 2.13 and AMX: 8 queries and 256 keys for heads of 64 and 128, 64 queries for bfloat16
heads of 80 or 112), so it is found by trial for each network.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from llama_gui.engine.gating import SPLIT_SIZE, unsplit_rows

_MOST_KEYS = 1024
_WITHOUT_PLANS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
_HEADS, _SIZE, _SMALL = 2, 64.0, 0.02
_LENGTHS = (5, 250, 700)  # of the conversation whose last row is compared
_BEFORE, _BEHIND = (0, 50), (0, 60, 300)  # rows of the same call


@dataclass(frozen=True, slots=True)
class AttentionBlocks:
    """Attention gets a multiple of `queries` rows, and shows them a multiple of `keys` keys; the surplus is masked."""

    queries: int
    keys: int
    is_exact: bool = True


_CANDIDATES = tuple(AttentionBlocks(queries, keys) for queries in (8, 32, 64) for keys in (256, 512))
LARGEST = AttentionBlocks(64, 512, is_exact=False)
_ELSEWHERE = AttentionBlocks(1, 256, is_exact=False)  # few lengths: each may have kernels and recordings of its own


_KEYS_ELSEWHERE = 2048
"""That `attend_capped` takes at a time on devices that need no exact blocks: each piece is some launches."""


def find_blocks(
    group: int, head_dim: int, dtype: torch.dtype, device: torch.device, cap: float | None = None
) -> AttentionBlocks:
    """The smallest blocks whose rows are exact here, for `group` query heads on each key head of width `head_dim`.

    `cap`: see `attend_capped`; None: `attend` is tried.
    """
    if device.type != "cpu":
        return _ELSEWHERE
    attending = attend if cap is None else partial(attend_capped, cap=cap)
    trials = [
        _Trial(group, head_dim, dtype, attending, of_scores=True),
        _Trial(group, head_dim, dtype, attending, of_scores=False),
        _CancellingTrial(group, head_dim, dtype, attending),
    ]
    return next((blocks for blocks in _CANDIDATES if all(trial.is_exact(blocks) for trial in trials)), LARGEST)


def attend(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor, blocks: AttentionBlocks) -> Tensor:
    """Attention of ``[1, kv_heads, rows, head_dim]`` over whole blocks of keys, see `causal_mask`."""
    rows = q.shape[2]
    q = _in_blocks(q, blocks)
    return _attention(q, keys, values, mask)[:, :, :rows]


def _attention(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    if q.device.type != "cuda":
        return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
    # On Hopper and Blackwell torch takes cuDNN first, which plans for a third of a second whenever rows or keys are as
    # many as never before: that is each prompt.
    with sdpa_kernel(_WITHOUT_PLANS):
        return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)


def _in_blocks(q: Tensor, blocks: AttentionBlocks) -> Tensor:
    """``[1, kv_heads, rows, head_dim]`` with rows of zeros behind, where the last block is not full."""
    rows = q.shape[2]
    return F.pad(q, (0, 0, 0, -rows % blocks.queries)) if rows % blocks.queries else q


def attend_beside(
    q: Tensor, keys: Tensor, values: Tensor, mask: Tensor, blocks: AttentionBlocks, sinks: Tensor
) -> Tensor:
    """As `attend`, with a score for each query that stands for no value: `sinks`, float32 ``[kv_heads, rows]``.

    So each result is less by the share that the sink has of the softmax.
    """
    rows = q.shape[2]
    y, mass = _attend_with_mass(_in_blocks(q, blocks), keys, values, mask)
    return y[:, :, :rows] * _shares(mass[0, :, :rows].float() - sinks).to(y.dtype).unsqueeze(2)


def _attend_with_mass(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Attention, and the logarithm of the sum that each query's weights were divided by ``[1, kv_heads, rows]``."""
    if q.device.type == "cpu":  # what the usual call ends in here
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, keys, values, attn_mask=mask)
    return _attention(q, keys, values, mask), mass_of(q, keys, mask)


def mass_of(q: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
    """That logarithm alone, float32, for devices whose attention does not tell it."""
    scores = (q.float() @ keys.float().transpose(2, 3)).mul_(q.shape[3] ** -0.5).add_(mask)
    return scores.logsumexp(3)


def attend_capped(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor, blocks: AttentionBlocks, cap: float) -> Tensor:
    """As `attend`, with ``cap * tanh(score / cap)`` in the place of each score, as Gemma 2 has it.

    torch has no such attention. It is computed in float32, a block of keys at a time, whose sums are added in order, so
    that a row's bits do not change with the number of keys. No score exceeds `cap`, which is at most 60: so no largest
    one has to be taken from them before ``e ** score``.
    """
    rows = q.shape[2]
    wide = _in_blocks(q, blocks)[0].float() * q.shape[3] ** -0.5
    total, mass = torch.zeros_like(wide), wide.new_zeros(*wide.shape[:2], 1)
    step = blocks.keys if q.device.type == "cpu" else _KEYS_ELSEWHERE
    for start in range(0, keys.shape[2], step):
        some = slice(start, start + step)
        weights = _capped_weights(wide @ keys[0, :, some].float().transpose(1, 2), mask[:, some], cap)
        total += weights @ values[0, :, some].float()
        mass += weights.sum(2, keepdim=True)
    return (total / mass).to(q.dtype)[None, :, :rows]


def _capped_weights(scores: Tensor, mask: Tensor, cap: float) -> Tensor:
    """``e ** (cap * tanh(score / cap))`` of float32 ``[kv_heads, rows, keys]``, in place; 0 where not seen."""
    rows = scores.div_(cap).flatten(0, 1)
    for some in unsplit_rows(rows):
        rows[some].tanh_()
    scores.mul_(cap).add_(mask)
    for some in unsplit_rows(rows):
        rows[some].exp_()
    return scores


def soften_logits(logits: Tensor, cap: float) -> Tensor:
    """``cap * tanh(logit / cap)`` of float32 ``[rows, vocab]``, in place, each row as if it were alone."""
    logits.div_(cap)
    for some in logits.split(1) if logits.device.type == "cpu" else [logits]:
        some.tanh_()
    return logits.mul_(cap)


def _shares(apart: Tensor) -> Tensor:
    """``1 / (1 + e^-x)`` of ``[kv_heads, rows]``: a query has the same bits beside any others, see `silu_rows`."""
    heads, rows = apart.shape
    strided = torch.empty(rows, heads + 1, device=apart.device)[:, :-1].copy_(apart.t())
    for few in strided.split(max(1, (SPLIT_SIZE - 1) // heads)):
        few.sigmoid_()
    return strided.t()


def causal_mask(
    start: int,
    length: int,
    group: int,
    blocks: AttentionBlocks,
    like: Tensor,
    window: int | None = None,
    *,
    is_whole: bool = False,
) -> Tensor:
    """What each row of a segment may see: itself and what is before it, at most `window` tokens.

    `is_whole`: it is an image, whose rows see what is behind them in it, too.

    ``[group * length, keys]`` in whole blocks (``[1, keys]`` for one row), of the dtype and device of `like`: 0 where
    seen, -inf where not. The query heads of a group lie behind one another.
    """
    key_positions = torch.arange(padded(start + length, blocks.keys), device=like.device).unsqueeze(0)
    row_positions = torch.arange(start, start + length, device=like.device).unsqueeze(1)
    hidden = key_positions > (row_positions.clamp(min=start + length - 1) if is_whole else row_positions)
    if window is not None:
        hidden |= key_positions <= row_positions - window
    mask = torch.zeros(hidden.shape, dtype=like.dtype, device=like.device).masked_fill_(hidden, -math.inf)
    return mask if length == 1 else F.pad(mask.repeat(group, 1), (0, 0, 0, -group * length % blocks.queries))


def padded(length: int, block: int) -> int:
    """`length` rounded up to whole blocks."""
    return -(-length // block) * block


_Attend = Callable[[Tensor, Tensor, Tensor, Tensor, AttentionBlocks], Tensor]


class _Trial:
    """One row at the end of some tokens, beside other rows.

    Rounding to half precision hides most differences. So the terms of the sum nearly cancel, and what is left shows
    their order: either in the scores, or in the values, which are of one size and both signs.
    """

    def __init__(self, group: int, head_dim: int, dtype: torch.dtype, attending: _Attend, *, of_scores: bool) -> None:
        self._attending = attending
        generator = torch.Generator().manual_seed(0)

        def numbers(rows: int, width: int) -> Tensor:
            return torch.randn((1, _HEADS, rows, width), generator=generator)

        if of_scores:
            order = torch.randperm(head_dim, generator=generator)
            half, queries = numbers(_MOST_KEYS, head_dim // 2), numbers(group, head_dim // 2)
            keys = torch.cat((half, -half), 3)[..., order] * _SIZE
            q = torch.cat((queries, queries), 3)[..., order] * _SIZE
            values = numbers(_MOST_KEYS, head_dim)
        else:
            keys, values = numbers(_MOST_KEYS, head_dim), numbers(_MOST_KEYS, head_dim).sign() * _SIZE
            q = numbers(group, head_dim) * _SMALL
        self._keys, self._values, self._q = keys.to(dtype), values.to(dtype), q.to(dtype)

    def is_exact(self, blocks: AttentionBlocks) -> bool:
        """Whether the row is the same alone and with rows in front of it and behind it."""
        for length in _LENGTHS:
            alone = self._last_row(blocks, length, 0, 0)
            pieces = itertools.product((min(before, length - 1) for before in _BEFORE), _BEHIND)
            if not all(torch.equal(self._last_row(blocks, length, *piece), alone) for piece in pieces):
                return False
        return True

    def _last_row(self, blocks: AttentionBlocks, length: int, before: int, behind: int) -> Tensor:
        group, rows = self._q.shape[2], before + 1 + behind
        q = self._keys.new_ones(1, _HEADS, group, rows, self._q.shape[3])
        q[:, :, :, before] = self._q
        mask = causal_mask(length - 1 - before, rows, group, blocks, self._keys)
        keys, values = (cache[:, :, : mask.shape[1]] for cache in (self._keys, self._values))
        y = self._attending(q.flatten(2, 3), keys, values, mask, blocks)
        return y.unflatten(2, (group, rows))[:, :, :, before]


class _CancellingTrial(_Trial):
    """The same with values that sum to zero: each key has a twin with the opposite value.

    What is left is the error of the sum, and shows its order in every number: random values hide it in half precision
    where it differs by less than the last bit.
    """

    def __init__(self, group: int, head_dim: int, dtype: torch.dtype, attending: _Attend) -> None:
        super().__init__(group, head_dim, dtype, attending, of_scores=False)
        generator = torch.Generator().manual_seed(1)
        shape = (1, _HEADS, _MOST_KEYS, head_dim)
        self._all_keys, self._all_values = (torch.randn(shape, generator=generator).to(dtype) for _ in range(2))
        self._q = torch.randn((1, _HEADS, group, head_dim), generator=generator).to(dtype)

    def _last_row(self, blocks: AttentionBlocks, length: int, before: int, behind: int) -> Tensor:
        keys, values, half = self._all_keys.clone(), self._all_values.clone(), length // 2
        keys[:, :, length - half : length] = keys[:, :, :half].flip(2)
        values[:, :, half : length - half] = 0  # the one in the middle has no twin
        values[:, :, length - half : length] = -values[:, :, :half].flip(2)
        self._keys, self._values = keys, values
        return super()._last_row(blocks, length, before, behind)
