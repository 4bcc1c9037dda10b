"""Products of rows with the experts that they go to, on NVIDIA cards, in Triton's language; see `card_programs`.

A pair is a row and one of the experts that it goes to: `numbers` ``[pairs]`` has the expert of each, and the pairs of a
row lie together. Weights lie anywhere: the arguments that end in `_at` are int64 ``[experts]``, the addresses of what
the programs of one product are given. `weights`: what the result of each pair is multiplied by.

Each program finds the pairs of its expert itself. So nothing is sorted before, nobody waits to learn how many there
are, and the launches are the same whatever the router says, so that a step can be recorded.
"""

# ruff: noqa: ANN001, ANN201, N803
# pyright: reportAssignmentType=false, reportOperatorIssue=false, reportArgumentType=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false

import triton
import triton.language as tl

from llama_gui.engine.card_int4_programs import row_sums_int4, tile_sums_int4
from llama_gui.engine.card_programs import row_sums, tile_sums


@triton.jit
def routed(
    logits, correction, weights, numbers, experts,
    CHOSEN: tl.constexpr, PLACES: tl.constexpr, BLOCK: tl.constexpr,
    NORMALISES: tl.constexpr, HAS_CORRECTION: tl.constexpr, LEAST: tl.constexpr,
):  # fmt: skip
    """The `CHOSEN` experts of a row and their weights, as `Router` finds them, the likeliest first."""
    row, at, place = tl.program_id(0), tl.arange(0, BLOCK), tl.arange(0, PLACES)
    inside = at < experts
    likely = tl.load(logits + row * experts + at, inside, float("-inf"))
    likely = tl.exp(likely - tl.max(likely, 0))
    likely /= tl.sum(likely, 0)
    left = likely
    if HAS_CORRECTION:
        left += tl.load(correction + at, inside, 0.0)
    left = tl.where(inside, left, float("-inf"))
    made, which = tl.zeros([PLACES], tl.float32), tl.zeros([PLACES], tl.int32)
    for n in tl.static_range(CHOSEN):
        best = tl.argmax(left, 0)
        made = tl.where(place == n, tl.sum(tl.where(at == best, likely, 0.0), 0), made)
        which = tl.where(place == n, best, which)
        left = tl.where(at == best, float("-inf"), left)
    if NORMALISES:
        made /= tl.maximum(tl.sum(made, 0), LEAST)
    tl.store(weights + row * CHOSEN + place, made, place < CHOSEN)
    tl.store(numbers + row * CHOSEN + place, which, place < CHOSEN)


@triton.jit
def members(numbers, pairs, expert, first, ROWS: tl.constexpr, PAIRS: tl.constexpr):
    """Those of the `pairs` that go to `expert`, from the `first` of them on: ``[ROWS]``, -1 where there is none."""
    wanted, some = first + tl.arange(0, ROWS), tl.arange(0, PAIRS)
    found = tl.full([ROWS], -1, tl.int32)
    before = expert * 0
    for start in range(0, pairs, PAIRS):
        at = start + some
        here = (tl.load(numbers + at, at < pairs, -1) == expert).to(tl.int32)
        rank = before + tl.cumsum(here, 0) - here
        is_wanted = (here[None, :] > 0) & (rank[None, :] == wanted[:, None])
        found = tl.maximum(found, tl.max(tl.where(is_wanted, at[None, :], -1), 1))
        before += tl.sum(here, 0)
    return found


@triton.jit
def finished(
    made, scales_at, bias_at, weights, expert, pair, of, has_out, dtype,
    HAS_SCALES: tl.constexpr, HAS_BIAS: tl.constexpr, HAS_WEIGHTS: tl.constexpr,
):  # fmt: skip
    """Sums ``[rows, outs]`` of pairs ``[rows, 1]``, times scales, plus biases, times `weights`."""
    if HAS_SCALES:
        scales = tl.load(scales_at + expert).to(tl.pointer_type(tl.float32))
        made *= tl.load(scales + of, has_out, 0.0)[None, :]
    if HAS_BIAS:
        bias = tl.load(bias_at + expert).to(tl.pointer_type(dtype))
        made += tl.load(bias + of, has_out, 0.0).to(tl.float32)[None, :]
    if HAS_WEIGHTS:
        made *= tl.load(weights + pair, pair >= 0, 0.0)
    return made


@triton.jit
def expert_row(
    x, numbers, weights_at, scales_at, bias_at, weights, out, outs, width,
    OUTS: tl.constexpr, INNER: tl.constexpr, SHARE: tl.constexpr,
    HAS_SCALES: tl.constexpr, HAS_BIAS: tl.constexpr, HAS_WEIGHTS: tl.constexpr,
):  # fmt: skip
    """Some outputs of a pair; `SHARE`: how many pairs have the same row, which lie side by side."""
    pair, of = tl.program_id(1), tl.program_id(0) * OUTS + tl.arange(0, OUTS)
    has_out = of < outs
    expert = tl.load(numbers + pair)
    kind: tl.constexpr = tl.int8 if HAS_SCALES else x.dtype.element_ty
    weight = tl.multiple_of(tl.load(weights_at + expert).to(tl.pointer_type(kind)), 16)
    row = x + (pair // SHARE).to(tl.int64) * width
    sums = row_sums(row, weight + of[:, None].to(tl.int64) * width, has_out, width, OUTS, INNER)
    made = finished(
        sums[None, :], scales_at, bias_at, weights, expert, tl.full([1, 1], 0, tl.int32) + pair, of, has_out,
        x.dtype.element_ty, HAS_SCALES, HAS_BIAS, HAS_WEIGHTS,
    )  # fmt: skip
    target = out + pair.to(tl.int64) * outs + of
    tl.store(target[None, :], made.to(out.dtype.element_ty), has_out[None, :])


@triton.jit(do_not_specialize=["pairs"])
def expert_tile(
    x, numbers, weights_at, scales_at, bias_at, weights, out, pairs, outs, width,
    ROWS: tl.constexpr, OUTS: tl.constexpr, INNER: tl.constexpr, PAIRS: tl.constexpr, SHARE: tl.constexpr,
    HAS_SCALES: tl.constexpr, HAS_BIAS: tl.constexpr, HAS_WEIGHTS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Some outputs of some pairs of an expert."""
    expert, of = tl.program_id(1), tl.program_id(0) * OUTS + tl.arange(0, OUTS)
    pair = members(numbers, pairs, expert, tl.program_id(2) * ROWS, ROWS, PAIRS)
    has_row, has_out = pair >= 0, of < outs
    if tl.max(pair, 0) >= 0:
        kind: tl.constexpr = tl.int8 if HAS_SCALES else x.dtype.element_ty
        weight = tl.multiple_of(tl.load(weights_at + expert).to(tl.pointer_type(kind)), 16)
        row, channel = (pair // SHARE)[:, None].to(tl.int64) * width, of[None, :].to(tl.int64) * width
        sums = tile_sums(x + row, weight + channel, has_row, has_out, width, ROWS, OUTS, INNER, PRECISION)
        made = finished(
            sums, scales_at, bias_at, weights, expert, pair[:, None], of, has_out,
            x.dtype.element_ty, HAS_SCALES, HAS_BIAS, HAS_WEIGHTS,
        )  # fmt: skip
        target = out + pair[:, None].to(tl.int64) * outs + of
        tl.store(target, made.to(out.dtype.element_ty), has_row[:, None] & has_out)


@triton.jit
def expert_row_int4(
    x, numbers, levels_at, steps_at, lows_at, scales_at, bias_at, weights, out, outs, groups,
    OUTS: tl.constexpr, GROUPS: tl.constexpr, SHARE: tl.constexpr,
    CODED: tl.constexpr, HAS_BIAS: tl.constexpr, HAS_WEIGHTS: tl.constexpr,
):  # fmt: skip
    """As `expert_row`, of weights of four bits; see `card_int4_programs`."""
    pair, of = tl.program_id(1), tl.program_id(0) * OUTS + tl.arange(0, OUTS)
    has_out = of < outs
    expert = tl.load(numbers + pair)
    levels = tl.multiple_of(tl.load(levels_at + expert).to(tl.pointer_type(tl.uint8)), 16)
    steps = tl.multiple_of(tl.load(steps_at + expert).to(tl.pointer_type(tl.float16)), 16)
    lows = tl.multiple_of(tl.load(lows_at + expert).to(tl.pointer_type(tl.float16)), 16)
    channel = of.to(tl.int64) * groups
    row = x + (pair // SHARE).to(tl.int64) * (groups * 32)
    sums = row_sums_int4(row, levels, steps, lows, channel, has_out, groups, OUTS, GROUPS, CODED)
    made = finished(
        sums[None, :], scales_at, bias_at, weights, expert, tl.full([1, 1], 0, tl.int32) + pair, of, has_out,
        x.dtype.element_ty, True, HAS_BIAS, HAS_WEIGHTS,
    )  # fmt: skip
    target = out + pair.to(tl.int64) * outs + of
    tl.store(target[None, :], made.to(out.dtype.element_ty), has_out[None, :])


@triton.jit(do_not_specialize=["pairs"])
def expert_tile_int4(
    x, numbers, levels_at, steps_at, lows_at, scales_at, bias_at, weights, out, pairs, outs, groups,
    ROWS: tl.constexpr, OUTS: tl.constexpr, GROUPS: tl.constexpr, PAIRS: tl.constexpr, SHARE: tl.constexpr,
    CODED: tl.constexpr, HAS_BIAS: tl.constexpr, HAS_WEIGHTS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """As `expert_tile`, of weights of four bits."""
    expert, of = tl.program_id(1), tl.program_id(0) * OUTS + tl.arange(0, OUTS)
    pair = members(numbers, pairs, expert, tl.program_id(2) * ROWS, ROWS, PAIRS)
    has_row, has_out = pair >= 0, of < outs
    if tl.max(pair, 0) >= 0:
        levels = tl.multiple_of(tl.load(levels_at + expert).to(tl.pointer_type(tl.uint8)), 16)
        steps = tl.multiple_of(tl.load(steps_at + expert).to(tl.pointer_type(tl.float16)), 16)
        lows = tl.multiple_of(tl.load(lows_at + expert).to(tl.pointer_type(tl.float16)), 16)
        row, channel = x + (pair // SHARE)[:, None].to(tl.int64) * (groups * 32), of.to(tl.int64) * groups
        sums = tile_sums_int4(
            row, levels, steps, lows, channel, has_row, has_out, groups, ROWS, OUTS, GROUPS, CODED, PRECISION
        )
        made = finished(
            sums, scales_at, bias_at, weights, expert, pair[:, None], of, has_out,
            x.dtype.element_ty, True, HAS_BIAS, HAS_WEIGHTS,
        )  # fmt: skip
        target = out + pair[:, None].to(tl.int64) * outs + of
        tl.store(target, made.to(out.dtype.element_ty), has_row[:, None] & has_out)
