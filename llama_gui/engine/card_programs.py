"""What our kernels for NVIDIA cards compute, in Triton's language: each function is one program of many.

A program works on one row, or on one head of one row; only products of weights work on tiles of several. Sums are of
float32. Caches are reached by their addresses, since each conversation has a slot of its own: `keys_at` and `values_at`
hold where those of each row begin, `capacities` how many tokens fit there, and a slot is
``[layers, kv_heads, capacity, DIM]``.

Attention over splits of the keys whose parts are put together afterwards is Flash-Decoding (Dao et al. 2023).
"""

# What Triton compiles is no Python, though it looks like it: names are pointers, and types come with the call.
# ruff: noqa: ANN001, ANN201, N803, N806, SIM102
# pyright: reportAssignmentType=false, reportOperatorIssue=false

import triton
import triton.language as tl


@triton.jit
def normed(
    x, added, weight, out, x_row, x_head, added_row, out_row, out_head, width, eps,
    ADDS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Root mean square norm of a head of a row. `ADDS`: of the sum with `added`, which is left in `x`."""
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    places = tl.arange(0, BLOCK)
    inside = places < width
    x += row * x_row + head * x_head
    wide = tl.load(x + places, inside, 0.0).to(tl.float32)
    if ADDS:
        # Rounded, as it is where the two are added by themselves.
        more = tl.load(added + row * added_row + places, inside, 0.0).to(tl.float32)
        total = (wide + more).to(x.dtype.element_ty)
        tl.store(x + places, total, inside)
        wide = total.to(tl.float32)
    factor = 1 / tl.sqrt(tl.sum(wide * wide, 0) / width + eps)
    numbers = tl.load(weight + places, inside, 0.0)
    unit = (wide * factor).to(numbers.dtype).to(tl.float32)
    made = (unit * numbers.to(tl.float32)).to(numbers.dtype)
    tl.store(out + row * out_row + head * out_head + places, made.to(out.dtype.element_ty), inside)


@triton.jit
def gated(x, out, x_row, out_row, width, slope, most, KIND: tl.constexpr, BLOCK: tl.constexpr):
    """A block of a row of ``act(gate) * up``, see `gating.Gate`; gate and up lie side by side."""
    row = tl.program_id(0).to(tl.int64)
    places = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = places < width
    x += row * x_row + places
    gate = tl.load(x, inside, 0.0).to(tl.float32)
    if KIND == "squared":
        gate = tl.maximum(gate, 0.0)
        made = gate * gate
    else:
        up = tl.load(x + width, inside, 0.0).to(tl.float32)
        if KIND == "clamped":
            gate = tl.minimum(gate, most)
            made = gate * tl.sigmoid(slope * gate) * (tl.minimum(tl.maximum(up, -most), most) + 1)
        elif KIND == "gelu":
            # 0.5 (1 + tanh(z)) is a sigmoid of 2 z, and c is twice the square root of 2 / pi.
            made = gate * tl.sigmoid(slope * (gate + 0.044715 * gate * gate * gate)) * up
        else:
            made = gate * tl.sigmoid(gate) * up
    tl.store(out + row * out_row + places, made.to(out.dtype.element_ty), inside)


@triton.jit(do_not_specialize=["layer"])
def kept(
    q, k, v, turned, cos, sin, keys_at, values_at, positions, capacities,
    q_row, q_head, k_row, k_head, v_row, v_head, turned_row, layer,
    HEADS: tl.constexpr, KV_HEADS: tl.constexpr, DIM: tl.constexpr, ROTARY: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Rotate a head of a row: a query into `turned`, a key into its slot. A value goes to its slot as it is.

    `ROTARY`: how many numbers of a head are rotated, 0: none. For `cos` and `sin` see `rotary.Turns`.
    """
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    places = tl.arange(0, BLOCK)
    inside = places < DIM
    kv_head = (head - HEADS) % KV_HEADS
    if head < HEADS:
        source = q + row * q_row + head * q_head
        target = turned + row * turned_row + head * DIM
    else:
        capacity = tl.load(capacities + row)
        start = ((layer * KV_HEADS + kv_head) * capacity + tl.load(positions + row)) * DIM
        kind = tl.pointer_type(q.dtype.element_ty)
        if head < HEADS + KV_HEADS:
            source = k + row * k_row + kv_head * k_head
            target = tl.load(keys_at + row).to(kind) + start
        else:
            source = v + row * v_row + kv_head * v_head
            target = tl.load(values_at + row).to(kind) + start
    made = tl.load(source + places, inside, 0.0)
    if ROTARY > 0:
        if head < HEADS + KV_HEADS:
            turns = places < ROTARY
            others = tl.load(source + (places + ROTARY // 2) % ROTARY, turns, 0.0).to(tl.float32)
            cosines = tl.load(cos + row * ROTARY + places, turns, 1.0).to(tl.float32)
            sines = tl.load(sin + row * ROTARY + places, turns, 0.0).to(tl.float32)
            made = (made.to(tl.float32) * cosines + others * sines).to(made.dtype)
    tl.store(target + places, made, inside)


@triton.jit(do_not_specialize=["layer", "window"])
def attended(
    q, out, parts, masses, maxima, sinks, keys_at, values_at, positions, capacities, layer, scale, window, cap,
    HEADS: tl.constexpr, KV_HEADS: tl.constexpr, GROUP_BLOCK: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr,
    KEYS: tl.constexpr, SPLITS: tl.constexpr, HAS_WINDOW: tl.constexpr, HAS_CAP: tl.constexpr,
    HAS_SINKS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The queries of a row that share a key head, over one of `SPLITS` parts of the keys they see.

    ``q [rows, HEADS, DIM] -> out [rows, HEADS, DIM]``, or, of several splits, `parts` ``[rows, HEADS, SPLITS, DIM]``
    with their `masses` and `maxima` ``[rows, HEADS, SPLITS]``.
    """
    GROUP: tl.constexpr = HEADS // KV_HEADS
    row, kv_head, split = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.program_id(2)
    length = tl.load(positions + row) + 1
    first = tl.maximum(length - window, 0) if HAS_WINDOW else length * 0
    share = tl.cdiv(tl.cdiv(length - first, SPLITS), KEYS) * KEYS
    begin = first + split * share
    end = tl.minimum(begin + share, length)
    start = (layer * KV_HEADS + kv_head) * tl.load(capacities + row) * DIM
    kind = tl.pointer_type(q.dtype.element_ty)
    # torch allocates whole lines of the memory, and heads are whole vectors: said here, since addresses tell nothing.
    aligned: tl.constexpr = 16 if DIM % 16 == 0 else 1
    keys = tl.multiple_of(tl.load(keys_at + row).to(kind) + start, aligned)
    values = tl.multiple_of(tl.load(values_at + row).to(kind) + start, aligned)
    members, places, few = tl.arange(0, GROUP_BLOCK), tl.arange(0, BLOCK), tl.arange(0, KEYS)
    heads = kv_head * GROUP + members
    has_head, inside = members < GROUP, places < DIM
    asked = tl.load(q + (row * HEADS + heads[:, None]) * DIM + places, has_head[:, None] & inside, 0.0)
    most = tl.full([GROUP_BLOCK], float("-inf"), tl.float32)
    mass = tl.zeros([GROUP_BLOCK], tl.float32)
    total = tl.zeros([GROUP_BLOCK, BLOCK], tl.float32)
    for at in range(begin, end, KEYS):
        seen = at + few < end
        some = tl.load(keys + (at + few) * DIM + places[:, None], seen & inside[:, None], 0.0)
        scores = tl.dot(asked, some, input_precision=PRECISION) * scale
        if HAS_CAP:
            scores = cap * (2 * tl.sigmoid(2 * scores / cap) - 1)
        scores = tl.where(seen, scores, float("-inf"))
        higher = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp(scores - higher[:, None])
        shrunk = tl.exp(most - higher)
        mass = mass * shrunk + tl.sum(weights, 1)
        told = tl.load(values + (at + few[:, None]) * DIM + places, seen[:, None] & inside, 0.0)
        total = total * shrunk[:, None] + tl.dot(weights.to(told.dtype), told, input_precision=PRECISION)
        most = higher
    if SPLITS == 1:
        if HAS_SINKS:
            sink = tl.load(sinks + heads, has_head, 0.0)
            higher = tl.maximum(most, sink)
            shrunk = tl.exp(most - higher)
            mass = mass * shrunk + tl.exp(sink - higher)
            total = total * shrunk[:, None]
        made = (total / mass[:, None]).to(out.dtype.element_ty)
        tl.store(out + (row * HEADS + heads[:, None]) * DIM + places, made, has_head[:, None] & inside)
    else:
        slots = (row * HEADS + heads) * SPLITS + split
        tl.store(parts + slots[:, None] * DIM + places, total, has_head[:, None] & inside)
        tl.store(masses + slots, mass, has_head)
        tl.store(maxima + slots, most, has_head)


@triton.jit
def joined(
    out, parts, masses, maxima, sinks,
    HEADS: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr, SPLITS: tl.constexpr, HAS_SINKS: tl.constexpr,
):  # fmt: skip
    """One head of a row, of the splits that `attended` has made."""
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    places, splits = tl.arange(0, BLOCK), (row * HEADS + head) * SPLITS + tl.arange(0, SPLITS)
    inside = places < DIM
    maximum = tl.load(maxima + splits)
    sink = tl.load(sinks + head) if HAS_SINKS else float("-inf")
    most = tl.maximum(tl.max(maximum, 0), sink)
    shares = tl.exp(maximum - most)
    mass = tl.sum(tl.load(masses + splits) * shares, 0) + tl.exp(sink - most)
    total = tl.sum(tl.load(parts + splits[:, None] * DIM + places, inside, 0.0) * shares[:, None], 0)
    tl.store(out + (row * HEADS + head) * DIM + places, (total / mass).to(out.dtype.element_ty), inside)


@triton.jit
def tile_sums(
    x, weight, has_row, has_out, width,
    ROWS: tl.constexpr, OUTS: tl.constexpr, INNER: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """``x W^T`` of a tile; `x` ``[ROWS, 1]`` and `weight` ``[1, OUTS]`` are where each row of the two begins."""
    inner = tl.arange(0, INNER)
    x += inner[None, :]
    weight += inner[:, None]
    total = tl.zeros([ROWS, OUTS], tl.float32)
    for start in range(0, width, INNER):
        inside = inner < width - start
        some = tl.load(x + start, has_row[:, None] & inside[None, :], 0.0)
        levels = tl.load(weight + start, has_out[None, :] & inside[:, None], 0)
        total = tl.dot(some, levels.to(some.dtype), total, input_precision=PRECISION)
    return total


@triton.jit(do_not_specialize=["rows"])
def multiplied(
    x, weight, scales, bias, out, rows, outs, width, x_row, out_row,
    ROWS: tl.constexpr, OUTS: tl.constexpr, INNER: tl.constexpr, HAS_BIAS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """A tile of ``x W^T * scales + bias``; `weight` ``[outs, width]`` is of eight bits, and `x` of more."""
    at, of = tl.program_id(1) * ROWS + tl.arange(0, ROWS), tl.program_id(0) * OUTS + tl.arange(0, OUTS)
    has_row, has_out = at < rows, of < outs
    row, channel = x + at[:, None].to(tl.int64) * x_row, weight + of[None, :].to(tl.int64) * width
    made = tile_sums(row, channel, has_row, has_out, width, ROWS, OUTS, INNER, PRECISION)
    made *= tl.load(scales + of, has_out, 0.0).to(tl.float32)
    if HAS_BIAS:
        made += tl.load(bias + of, has_out, 0.0).to(tl.float32)
    target = out + at[:, None].to(tl.int64) * out_row + of
    tl.store(target, made.to(out.dtype.element_ty), has_row[:, None] & has_out)


@triton.jit
def row_sums(x, weight, has_out, width, OUTS: tl.constexpr, INNER: tl.constexpr):
    """The same of one row at `x`: ``[OUTS]``, of channels that begin at `weight` ``[OUTS, 1]``."""
    inner = tl.arange(0, INNER)
    sums = tl.zeros([OUTS, INNER], tl.float32)
    for start in range(0, width, INNER):
        inside = inner < width - start
        some = tl.load(x + start + inner, inside, 0.0).to(tl.float32)
        sums += tl.load(weight + start + inner[None, :], has_out[:, None] & inside[None, :], 0).to(tl.float32) * some
    return tl.sum(sums, 1)


@triton.jit
def multiplied_row(
    x, weight, scales, bias, out, outs, width,
    OUTS: tl.constexpr, INNER: tl.constexpr, HAS_SCALES: tl.constexpr, HAS_BIAS: tl.constexpr,
):  # fmt: skip
    """Some outputs of ``x W^T * scales + bias`` for one row; `weight` ``[outs, width]``."""
    of = tl.program_id(0) * OUTS + tl.arange(0, OUTS)
    has_out = of < outs
    made = row_sums(x, weight + of[:, None].to(tl.int64) * width, has_out, width, OUTS, INNER)
    if HAS_SCALES:
        made *= tl.load(scales + of, has_out, 0.0).to(tl.float32)
    if HAS_BIAS:
        made += tl.load(bias + of, has_out, 0.0).to(tl.float32)
    tl.store(out + of, made.to(out.dtype.element_ty), has_out)
