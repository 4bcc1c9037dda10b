"""Attention whose rows have the same bits however a prompt is cut, and how large its blocks must be for that."""

import itertools
import math

import pytest
import torch

from llama_gui.engine import attention_blocks
from llama_gui.engine.attention_blocks import (
    LARGEST,
    AttentionBlocks,
    attend,
    attend_beside,
    attend_capped,
    causal_mask,
    find_blocks,
    mass_of,
    soften_logits,
)

CPU = torch.device("cpu")
BLOCKS = AttentionBlocks(8, 256)


def numbers(*shape, dtype=torch.float32, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize(("start", "length"), [(0, 1), (255, 1), (256, 1), (0, 5), (254, 4), (3, 16)])
def test_mask(start, length):
    group = 3
    mask = causal_mask(start, length, group, BLOCKS, torch.empty(0, dtype=torch.bfloat16))
    assert mask.dtype == torch.bfloat16
    assert mask.shape[1] == math.ceil((start + length) / 256) * 256
    if length == 1:
        assert (mask[0] == 0).nonzero()[:, 0].tolist() == list(range(start + 1))
        assert len(mask) == 1
        return
    assert len(mask) == math.ceil(group * length / 8) * 8
    for row in range(group * length):
        seen = start + row % length + 1
        assert (mask[row, :seen] == 0).all()
        assert (mask[row, seen:] == -math.inf).all()
    assert (mask[group * length :] == 0).all()  # a row that sees nothing would be NaN


# With AMX heads of 80 and 112 (bfloat16) and of 192 (float32) need larger blocks than the others.
@pytest.mark.parametrize(
    ("dtype", "dim"),
    [
        *itertools.product((torch.bfloat16,), (64, 80, 112)),
        *itertools.product((torch.float32,), (64, 192)),
        *(pytest.param(torch.bfloat16, dim, marks=pytest.mark.campaign) for dim in (16, 128)),
        *(pytest.param(torch.float32, dim, marks=pytest.mark.campaign) for dim in (16, 80, 128)),
    ],
    ids=str,
)
@pytest.mark.sampled(2)
def test_a_row_has_the_same_bits_in_every_piece_of_a_prompt(dtype, dim):
    group, heads, total = 4, 2, 1024
    blocks = find_blocks(group, dim, dtype, CPU)
    assert blocks.is_exact
    keys, values = numbers(1, heads, total, dim, dtype=dtype), numbers(1, heads, total, dim, dtype=dtype, seed=2)
    queries = numbers(1, heads, group, total, dim, dtype=dtype, seed=3)

    def read(start, length):
        """The rows of one piece ``[1, heads, group, length, dim]``."""
        mask = causal_mask(start, length, group, blocks, keys)
        width = mask.shape[1]
        q = queries[:, :, :, start : start + length].flatten(2, 3)
        y = attend(q, keys[:, :, :width], values[:, :, :width], mask, blocks)
        return y.unflatten(2, (group, length))

    whole = read(0, total)
    for piece in (1, 7, 64, 300):
        starts = range(0, total, max(piece, 97)) if piece > 1 else (0, 1, 255, 256, 600, 1023)
        for start in starts:
            length = min(piece, total - start)
            assert torch.equal(read(start, length), whole[:, :, :, start : start + length]), (piece, start)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("start", "length", "window"), [(0, 5, None), (255, 1, None), (600, 33, 40)])
def test_scores_are_capped(dtype, start, length, window):
    group, dim, cap = 3, 16, 5.0
    mask = causal_mask(start, length, group, BLOCKS, torch.empty(0, dtype=dtype), window)
    keys, values = (numbers(1, 2, mask.shape[1], dim, dtype=dtype, seed=seed) for seed in (1, 2))
    q = 10 * numbers(1, 2, group * length, dim, dtype=dtype, seed=3)
    scores = (q.double() @ keys.double().transpose(2, 3)) / dim**0.5
    capped = cap * (scores / cap).tanh() + mask.double()[: group * length]
    got = attend_capped(q, keys, values, mask, BLOCKS, cap)
    assert got.dtype == dtype
    error = 1e-5 if dtype == torch.float32 else 0.02
    torch.testing.assert_close(got, (capped.softmax(3) @ values.double()).to(dtype), rtol=error, atol=error)


@pytest.mark.parametrize(("dtype", "dim"), [(torch.float32, 32), (torch.bfloat16, 256)], ids=str)
def test_a_capped_row_has_the_same_bits_in_every_piece_of_a_prompt(dtype, dim):
    group, heads, total, cap = 2, 2, 1024, 4.0
    blocks = find_blocks(group, dim, dtype, CPU, cap)
    assert blocks.is_exact
    keys, values = numbers(1, heads, total, dim, dtype=dtype), numbers(1, heads, total, dim, dtype=dtype, seed=2)
    queries = 3 * numbers(1, heads, group, total, dim, dtype=dtype, seed=3)

    def read(start, length):
        mask = causal_mask(start, length, group, blocks, keys, 300)
        seen = keys[:, :, : mask.shape[1]], values[:, :, : mask.shape[1]]
        y = attend_capped(queries[:, :, :, start : start + length].flatten(2, 3), *seen, mask, blocks, cap)
        return y.unflatten(2, (group, length))

    whole = read(0, total)
    for start, length in ((0, 1), (255, 1), (1023, 1), (97, 7), (256, 64), (500, 300)):
        assert torch.equal(read(start, length), whole[:, :, :, start : start + length]), start


def test_a_row_of_capped_logits_has_the_same_bits_beside_others():
    logits = 40 * numbers(7, 32003)
    alone = [soften_logits(row[None].clone(), 30.0) for row in logits]
    torch.testing.assert_close(torch.cat(alone), 30 * (logits / 30).tanh())
    assert torch.equal(soften_logits(logits.clone(), 30.0), torch.cat(alone))


def test_a_kernel_that_is_never_exact_is_said_to_be_none(monkeypatch):
    true = attention_blocks.attend
    monkeypatch.setattr(attention_blocks, "attend", lambda q, *rest: true(q, *rest) * (1 + 1e-3 * q.shape[2]))
    assert find_blocks(4, 16, torch.float32, CPU) == LARGEST
    assert not LARGEST.is_exact


def test_elsewhere_than_on_the_cpu_nothing_is_padded_or_promised():
    assert find_blocks(4, 16, torch.float16, torch.device("meta")) == AttentionBlocks(1, 256, is_exact=False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("start", "length"), [(0, 5), (255, 1), (200, 33)])
def test_a_sink_takes_its_share_and_gives_nothing(dtype, start, length):
    """As a key whose value is zero."""
    group, dim = 3, 16
    mask = causal_mask(start, length, group, BLOCKS, torch.empty(0, dtype=dtype))
    keys, values = (numbers(1, 2, mask.shape[1], dim, dtype=dtype, seed=seed) for seed in (1, 2))
    q = numbers(1, 2, group * length, dim, dtype=dtype, seed=3)
    sinks = torch.linspace(-4, 6, 2 * group).view(2, group).repeat_interleave(length, 1)
    scores = (q.double() @ keys.double().transpose(2, 3)) / dim**0.5 + mask.double()[: group * length]
    weights = torch.cat((scores, sinks.double()[None, :, :, None]), 3).softmax(3)[..., :-1]
    want = (weights @ values.double()).to(dtype)
    got = attend_beside(q, keys, values, mask, BLOCKS, sinks)
    error = 1e-5 if dtype == torch.float32 else 0.02
    torch.testing.assert_close(got, want, rtol=error, atol=error)
    torch.testing.assert_close(mass_of(q, keys, mask[: group * length]).double(), scores.logsumexp(3))
