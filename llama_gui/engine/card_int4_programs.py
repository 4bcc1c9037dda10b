"""Products of weights of four bits on NVIDIA cards, in Triton's language; see `card_programs`.

`levels` are uint8 ``[outs, groups, 16]``: a byte has the level of one of the first sixteen inputs of a group of 32, and
above it that of the one sixteen inputs on. A weight is ``(level * steps + lows) * scales``, with `steps` and `lows`
``[outs, groups]`` and `scales` ``[outs]``. `CODED`: levels are floats of four bits (e2m1, as MXFP4 has them, twice as
large), and there are no lows.
"""

# ruff: noqa: ANN001, ANN201, ANN202, N803
# pyright: reportAssignmentType=false, reportOperatorIssue=false

import triton
import triton.language as tl


@triton.jit
def _numbers(levels, CODED: tl.constexpr):
    """Float32 of levels below 16. Those of `CODED` are ``2 ** -15`` times what they are to be, see `_steps`."""
    if CODED:
        # Made of their bits, as whole numbers are converted slowly. The upper bits of float16 are a sign and five of
        # exponent; two of these and one behind them are a number of four bits.
        bits = levels.to(tl.uint16)
        numbers = (((bits & 8) << 12) | ((bits & 7) << 9)).to(tl.float16, bitcast=True).to(tl.float32)
    else:
        numbers = levels.to(tl.float32)
    return numbers


@triton.jit
def _steps(steps, at, here, CODED: tl.constexpr):
    """By which what `_numbers` gives is multiplied."""
    step = tl.load(steps + at, here, 0.0).to(tl.float32)
    return step * 32768 if CODED else step


@triton.jit
def _widened(both, step, lows, at, here, CODED: tl.constexpr):
    """The two halves of bytes ``[..., 16]`` as plain numbers; `step` ``[...]`` is of their groups, as `lows` + `at`."""
    first = _numbers(both & 15, CODED) * tl.expand_dims(step, -1)
    second = _numbers(both >> 4, CODED) * tl.expand_dims(step, -1)
    if not CODED:
        least = tl.expand_dims(tl.load(lows + at, here, 0.0).to(tl.float32), -1)
        first += least
        second += least
    return first, second


@triton.jit
def row_sums_int4(
    x, levels, steps, lows, row, has_out, groups, OUTS: tl.constexpr, GROUPS: tl.constexpr, CODED: tl.constexpr
):
    """``x W^T`` of one row, before `scales`: ``[OUTS]``. `row`: the number of the first group of each output."""
    group, place = tl.arange(0, GROUPS), tl.arange(0, 16)
    sums = tl.zeros([OUTS, GROUPS, 16], tl.float32)
    for start in range(0, groups, GROUPS):
        at = start + group
        inside = at < groups
        first = x + at[:, None] * 32 + place
        low = tl.load(first, inside[:, None], 0.0).to(tl.float32)
        high = tl.load(first + 16, inside[:, None], 0.0).to(tl.float32)
        here, of_group = has_out[:, None] & inside, row[:, None] + at
        step = _steps(steps, of_group, here, CODED)
        both = tl.load(levels + of_group[:, :, None] * 16 + place, here[:, :, None], 0)
        sums += (_numbers(both & 15, CODED) * low + _numbers(both >> 4, CODED) * high) * step[:, :, None]
        if not CODED:
            least = tl.load(lows + of_group, here, 0.0).to(tl.float32)
            sums += (low + high) * least[:, :, None]
    return tl.sum(tl.sum(sums, 2), 1)


@triton.jit
def multiplied_row_int4(
    x, levels, steps, lows, scales, bias, out, outs, groups,
    OUTS: tl.constexpr, GROUPS: tl.constexpr, CODED: tl.constexpr, HAS_BIAS: tl.constexpr,
):  # fmt: skip
    """Some outputs of ``x W^T + bias`` for one row."""
    of = tl.program_id(0) * OUTS + tl.arange(0, OUTS)
    has_out = of < outs
    row = of.to(tl.int64) * groups
    made = row_sums_int4(x, levels, steps, lows, row, has_out, groups, OUTS, GROUPS, CODED)
    made *= tl.load(scales + of, has_out, 0.0).to(tl.float32)
    if HAS_BIAS:
        made += tl.load(bias + of, has_out, 0.0).to(tl.float32)
    tl.store(out + of, made.to(out.dtype.element_ty), has_out)


@triton.jit
def tile_sums_int4(
    x, levels, steps, lows, row, has_row, has_out, groups,
    ROWS: tl.constexpr, OUTS: tl.constexpr, GROUPS: tl.constexpr, CODED: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The same of a tile; `x` ``[ROWS, 1]``: where each of its rows begins."""
    group, place, inner = tl.arange(0, GROUPS), tl.arange(0, 16), tl.arange(0, GROUPS * 16)
    x += (inner // 16 * 32 + inner % 16)[None, :]
    total = tl.zeros([ROWS, OUTS], tl.float32)
    for start in range(0, groups, GROUPS):
        has_input = has_row[:, None] & (inner // 16 < groups - start)
        low = tl.load(x + start * 32, has_input, 0.0)
        high = tl.load(x + start * 32 + 16, has_input, 0.0)
        here = has_out[:, None] & (group < groups - start)
        of_group = row[:, None] + start + group
        step = _steps(steps, of_group, here, CODED)
        both = tl.load(levels + of_group[:, :, None] * 16 + place, here[:, :, None], 0)
        first, second = _widened(both, step, lows, of_group, here, CODED)
        some = tl.reshape(first.to(x.dtype.element_ty), [OUTS, GROUPS * 16])
        total = tl.dot(low, tl.trans(some), total, input_precision=PRECISION)
        some = tl.reshape(second.to(x.dtype.element_ty), [OUTS, GROUPS * 16])
        total = tl.dot(high, tl.trans(some), total, input_precision=PRECISION)
    return total


@triton.jit(do_not_specialize=["rows"])
def multiplied_int4(
    x, levels, steps, lows, scales, bias, out, rows, outs, groups, x_row, out_row,
    ROWS: tl.constexpr, OUTS: tl.constexpr, GROUPS: tl.constexpr, CODED: tl.constexpr, HAS_BIAS: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """A tile of ``x W^T + bias``."""
    at, of = tl.program_id(1) * ROWS + tl.arange(0, ROWS), tl.program_id(0) * OUTS + tl.arange(0, OUTS)
    has_row, has_out = at < rows, of < outs
    row, channel = x + at[:, None].to(tl.int64) * x_row, of.to(tl.int64) * groups
    made = tile_sums_int4(
        row, levels, steps, lows, channel, has_row, has_out, groups, ROWS, OUTS, GROUPS, CODED, PRECISION
    )
    made *= tl.load(scales + of, has_out, 0.0).to(tl.float32)
    if HAS_BIAS:
        made += tl.load(bias + of, has_out, 0.0).to(tl.float32)
    target = out + at[:, None].to(tl.int64) * out_row + of
    tl.store(target, made.to(out.dtype.element_ty), has_row[:, None] & has_out)


@triton.jit
def widened_int4(levels, steps, lows, scales, out, groups, GROUPS: tl.constexpr, CODED: tl.constexpr):
    """Some groups of an output's weights, as plain numbers: `out` ``[outs, groups * 32]``."""
    of = tl.program_id(0).to(tl.int64)
    at, place = tl.program_id(1) * GROUPS + tl.arange(0, GROUPS), tl.arange(0, 16)
    inside = at < groups
    scale, of_group = tl.load(scales + of).to(tl.float32), of * groups + at
    step = _steps(steps, of_group, inside, CODED)
    both = tl.load(levels + of_group[:, None] * 16 + place, inside[:, None], 0)
    first, second = _widened(both, step, lows, of_group, inside, CODED)
    target = out + (of * groups + at)[:, None] * 32 + place
    tl.store(target, (first * scale).to(out.dtype.element_ty), inside[:, None])
    tl.store(target + 16, (second * scale).to(out.dtype.element_ty), inside[:, None])
