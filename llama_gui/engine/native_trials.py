"""Whether our own kernels compute what they should on this CPU: asked when the library is loaded."""

from collections.abc import Callable, Sequence
from typing import get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine import seven_bits
from llama_gui.engine.attention_blocks import padded
from llama_gui.engine.conv_config import ConvConfig
from llama_gui.engine.delta_config import DeltaConfig
from llama_gui.engine.device import torch_threads
from llama_gui.engine.experts import Experts, Router, SharedExpert
from llama_gui.engine.gated_delta import DeltaWeights, GatedDeltaNet
from llama_gui.engine.gating import Gate
from llama_gui.engine.gemma4_mixture import Gemma4Mixture
from llama_gui.engine.gguf_blocks import FACTORS, block_shape, numbers_of
from llama_gui.engine.gguf_grids import GRID_KINDS, numbers_of_points
from llama_gui.engine.int4_levels import GROUP, quantise
from llama_gui.engine.kv_cache import KEY_BLOCK, Slot, kept_width
from llama_gui.engine.layer_states import SlotStates, StateShape, StateSpan, StateSpans
from llama_gui.engine.layers import MLP, Attention, Heads, RMSNorm
from llama_gui.engine.mamba import Mamba, MambaWeights
from llama_gui.engine.mamba_config import MambaConfig
from llama_gui.engine.native_attention import NATIVE_BLOCKS, NativeSpans
from llama_gui.engine.native_delta import NativeDeltaNet
from llama_gui.engine.native_kernels import DEQUANTISED_KINDS, NativeKernels
from llama_gui.engine.native_layer import NativeExperts, NativeLayer, operands_of
from llama_gui.engine.native_linear import NativeHalfLinear, NativeRouterLinear
from llama_gui.engine.native_mamba import NativeMamba
from llama_gui.engine.packed_weights import (
    BLOCK_KINDS,
    BLOCK_NUMBERS,
    SEVEN_BITS,
    WIDTH_UNIT,
    BlocksPacked,
    CodedPanels,
    Int4Packed,
    Panels,
    pack_int4,
    row_blocks,
    width_unit,
)
from llama_gui.engine.recurrent import Recurrent
from llama_gui.engine.rotary import Turns
from llama_gui.engine.short_conv import ShortConv
from llama_gui.engine.weight_rows import WeightRows

_Numbers = Callable[..., Tensor]
"""Random ones in a shape."""
_LinearOf = Callable[[int, int], NativeHalfLinear]
"""With so many channels, and so wide."""

_ROW_COUNTS = (1, 2, 3, 4, 5, 6, 7, 8, 13, 40)


def adds_right(kernels: NativeKernels) -> bool:
    """Whether products of the largest possible numbers, and of others, are right, and what they are made from."""
    return (
        all(_dequantises_right(kernels, kind) for kind in DEQUANTISED_KINDS)
        and all(_finds_points_right(kernels, kind) for kind in GRID_KINDS)
        and all(_takes_blocks_right(kernels, kind) for kind in BLOCK_KINDS)
        and _rounds_to_seven_bits_right(kernels)
        and _adds_logits_right(kernels)
        and _multiplies_whole_numbers_right(kernels)
        and _multiplies_halves_right(kernels)
    )


def _multiplies_whole_numbers_right(kernels: NativeKernels) -> bool:
    """By weights of eight and of four bits: exactly."""
    generator = torch.Generator().manual_seed(0)

    def whole(low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high + 1, shape, generator=generator)

    x, out, width = whole(-127, 127, max(_ROW_COUNTS), 1152), 37, 1152
    weight, scales = whole(-128, 127, out, width), torch.rand(out, generator=generator)
    x[0], x[1], weight[0], weight[1] = 127, -127, -128, 127
    steps, lows = whole(1, 17, out, width // GROUP), whole(-128, 0, out, width // GROUP)
    lows = torch.minimum(lows, 127 - 15 * steps)
    small = whole(0, 15, out, width)
    written = torch.addcmul(lows.unsqueeze(2), small.unflatten(1, (-1, GROUP)), steps.unsqueeze(2)).flatten(1)
    packed, levels, int8 = pack_int4(small, steps, lows), x.to(torch.int8), weight.to(torch.int8)
    if not torch.equal(kernels.expand(packed, slice(None)).long(), written):
        return False
    int8s: list[Tensor | Panels] = [int8, *([kernels.panels(int8)] if kernels.is_wide else [])]
    wants = [(x.double() @ w.double().t()).float() * scales for w in (weight, written)]
    with torch_threads(1):  # with more threads their shares are too small to be read in several streams
        return all(
            all(torch.equal(kernels.int8(levels[:rows], w, scales, torch.float32), wants[0][:rows]) for w in int8s)
            and torch.equal(kernels.int4(levels[:rows], packed, scales, torch.float32), wants[1][:rows])
            for rows in _ROW_COUNTS
        )


def _multiplies_halves_right(kernels: NativeKernels) -> bool:
    """By weights of half precision, and by bfloat16 in codes: nearly, and each row the same in calls of any size."""
    generator, out, width = torch.Generator().manual_seed(0), 37, 1152
    halves = [torch.randn(out, width, generator=generator).to(dtype) for dtype in (torch.bfloat16, torch.float16)]
    if not all(_rounds_right(kernels, half) for half in halves):
        return False
    halves.append(_scattered(halves[0]))
    coded = kernels.coded(WeightRows.of(halves[2]))
    if not torch.equal(kernels.coded_rows(coded, torch.arange(out)), halves[2]):
        return False
    # Rows that bfloat16 holds exactly, because some CPUs round them to it.
    x, bias = (
        torch.randn(max(_ROW_COUNTS), width, generator=generator).bfloat16().float(),
        torch.rand(out, generator=generator),
    )
    weights: list[Tensor | CodedPanels] = [*halves[:2], coded]
    sums = [kernels.half(x, weight, bias) for weight in weights]
    exact = [x.double() @ half.double().t() + bias.double() for half in halves]
    if any((got - want).abs().max() > 1e-3 for got, want in zip(sums, exact, strict=True)):
        return False
    with torch_threads(1):
        return all(
            torch.equal(kernels.half(x[:rows], weight, bias), sum_[:rows])
            for rows in _ROW_COUNTS
            for weight, sum_ in zip(weights, sums, strict=True)
        )


def _scattered(weight: Tensor) -> Tensor:
    """The weight with some numbers that have no code: the first, the last, and several together."""
    scattered, far = weight.clone(), [2.0**n for n in range(-60, -20, 2)]
    scattered.view(-1)[-20:] = scattered.view(-1)[:20] = torch.tensor(far)
    return scattered


def _adds_logits_right(kernels: NativeKernels) -> bool:
    logits = 4 * torch.randn(40_003, generator=torch.Generator().manual_seed(0))
    want = float(torch.logsumexp(logits.double(), 0))
    values, places = logits.topk(64)
    with torch_threads(1):
        found = kernels.rank(logits, 1.0, 64)
        is_right = abs(kernels.log_mass(logits) - want) < 1e-5
        return is_right and found is not None and found[2:] == (values.tolist(), places.tolist())


def _rounds_right(kernels: NativeKernels, weight: Tensor) -> bool:
    found = quantise(weight.float())
    want, got = pack_int4(found.levels, found.steps, found.lows), Int4Packed.empty(*weight.shape)
    scales = torch.empty(len(weight))
    kernels.round_int4(weight, got, scales)
    pairs = zip((scales, *got.tensors), (found.scales, *want.tensors), strict=True)
    return all(torch.equal(ours, theirs) for ours, theirs in pairs)


def _dequantises_right(kernels: NativeKernels, kind: str) -> bool:
    size = 40 * block_shape(kind)[0]
    blocks = torch.randint(256, (size,), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    ours, theirs = kernels.dequantise(blocks, kind), numbers_of(blocks, kind)
    return torch.equal(ours.nan_to_num(), theirs.nan_to_num())


def _finds_points_right(kernels: NativeKernels, kind: str) -> bool:
    """With points of our own: to read the package's takes longer than all trials."""
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(GRID_KINDS[kind], generator=generator)
    blocks = torch.randint(256, (40, block_shape(kind)[0]), dtype=torch.uint8, generator=generator)
    ours, theirs = kernels.dequantise_grid(blocks.flatten(), kind, points), numbers_of_points(blocks, kind, points)
    return torch.equal(ours.nan_to_num(), theirs.flatten().nan_to_num())


def _takes_blocks_right(kernels: NativeKernels, kind: str) -> bool:
    generator = torch.Generator().manual_seed(0)
    out, width, (size, numbers) = 37, 3 * BLOCK_NUMBERS + width_unit(kind) % BLOCK_NUMBERS, block_shape(kind)
    blocks = torch.randint(256, (out, width // numbers, size), dtype=torch.uint8, generator=generator)
    blocks[0] = 255  # the largest sums
    factors = torch.rand(*blocks.shape[:2], 2, generator=generator).half().view(torch.uint8)
    places = FACTORS[kind]
    blocks[..., places] = factors[..., : places.stop - places.start]
    if kind == "MXFP4":
        blocks[..., places] = blocks[..., places] % 16 + 120
    packed, rows = BlocksPacked.empty(kind, out, width), blocks.flatten(1)
    kernels.place_blocks(rows, packed)
    return _multiplies_blocks_right(kernels, packed, numbers_of(rows.flatten(), kind).view(out, width))


def _rounds_to_seven_bits_right(kernels: NativeKernels) -> bool:
    width = 3 * BLOCK_NUMBERS + WIDTH_UNIT  # the last block is shorter
    weight = torch.randn(37, width, generator=torch.Generator().manual_seed(0))
    weight[0], weight[1], weight[2] = 1, -1, 0  # the largest sums, and none
    packed = BlocksPacked.empty(SEVEN_BITS, *weight.shape)
    kernels.round_blocks(weight, packed)
    return _multiplies_blocks_right(kernels, packed, seven_bits.quantise(weight).values)


def _multiplies_blocks_right(kernels: NativeKernels, packed: BlocksPacked, values: Tensor) -> bool:
    """Whether `packed` holds `values` ``[out, in]``, and rows are multiplied with them."""
    out, width = values.shape
    if not torch.equal(kernels.block_rows(packed, torch.arange(out)), values):
        return False
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(-127, 128, (max(_ROW_COUNTS), width), generator=generator).to(torch.int8)
    x[0], x[1] = 127, -127
    scales = torch.rand(len(x), row_blocks(width), generator=generator)
    scaled = x.double() * scales.double().repeat_interleave(BLOCK_NUMBERS, 1)[:, :width]
    whole = kernels.blocks(x, scales, packed, torch.float32)
    room = 1e-6 * (scaled.abs() @ values.double().abs().t())
    if not ((whole - scaled @ values.double().t()).abs() <= room).all():
        return False
    with torch_threads(1):
        return all(
            torch.equal(kernels.blocks(x[:count], scales[:count], packed, torch.float32), whole[:count])
            for count in _ROW_COUNTS
        )


def attends_right(kernels: NativeKernels) -> bool:
    """Whether quantising and attention agree with torch, and do not depend on how a conversation is cut."""
    x = torch.randn(5, 2 * 64, generator=torch.Generator().manual_seed(0))
    levels, scales = kernels.quantise(x)
    if (levels * scales.unsqueeze(1) - x).abs().max() > 0.51 * scales.max():
        return False
    # Narrow, and wide and in tiles if it can.
    return all(_attends_right(kernels, dim, heads) for dim, heads in ((72, 4), (80, 8), (96, 6)))


def _attends_right(kernels: NativeKernels, dim: int, heads: int) -> bool:
    generator = torch.Generator().manual_seed(0)
    rows, kv_heads, window = 150, 2, 70  # of 64 keys, and of 16 rows, some full blocks and one that is begun
    q, k, v = (torch.randn(rows, count, dim, generator=generator) for count in (heads, kv_heads, kv_heads))
    places = torch.arange(rows)
    behind = places.unsqueeze(1) - places
    for size in (0, window):
        mask = (behind >= 0) & (behind < (size or rows))
        want = F.scaled_dot_product_attention(
            *(part.transpose(0, 1) for part in (q, k, v)), attn_mask=mask, enable_gqa=True
        )
        for dtype, error in ((torch.float32, 1e-5), (torch.bfloat16, 0.05), (torch.float16, 0.01), (torch.int8, 0.05)):
            whole = _attend_in_pieces(kernels, (q, k, v), [rows], size, dtype)
            if not torch.allclose(whole, want.transpose(0, 1).flatten(1), atol=error):
                return False
            if not torch.equal(_attend_in_pieces(kernels, (q, k, v), [1, 110, 35, *4 * [1]], size, dtype), whole):
                return False
    return True


def passes_right(kernels: NativeKernels) -> bool:
    """Whether a whole layer gives the same as its operations one by one."""
    plain = all(_passes_right(kernels, gate) for gate in get_args(Gate))
    mixed = (_passes_right(kernels, "silu", experts=5, by_sigmoid=by_sigmoid) for by_sigmoid in (False, True))
    beside = _passes_right(kernels, "gelu", experts=5)
    return plain and all(mixed) and beside and _recur_right(kernels)


def _passes_right(kernels: NativeKernels, gate: Gate, experts: int = 0, *, by_sigmoid: bool = False) -> bool:
    """With GELU, as Gemma has it, also with norms behind attention and MLP, and capped scores.

    Clamped, as gpt-oss has it, with sinks. With SiLU, as Qwen3.5 has it, with gates of heads. `experts`: so many and a
    shared one, or an MLP; with GELU they are beside it. `by_sigmoid`: see `ExpertConfig`.
    """
    generator = torch.Generator().manual_seed(0)
    rows, hidden, inner, heads = 7, 64, 96, Heads(4, 2, 16)

    def numbers(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    def linear(out: int, width: int) -> NativeHalfLinear:
        return NativeHalfLinear(WeightRows.of(numbers(out, width) / width**0.5), numbers(out), kernels)

    norms = RMSNorm(numbers(hidden), 1e-5), RMSNorm(numbers(hidden), 1e-5)
    after = (RMSNorm(numbers(hidden), 1e-5), RMSNorm(numbers(hidden), 1e-5)) if gate == "gelu" else None
    sinks = numbers(heads.count) if gate == "clamped" else None
    cap = 1.0 if gate == "gelu" else None
    gates = gate == "silu" and not experts
    qkv = linear(192 if gates else 128, hidden)
    attention = Attention(qkv, linear(hidden, hidden), heads, NATIVE_BLOCKS, sinks=sinks, cap=cap, gates=gates)
    made_of_row = inner if gate == "squared" else 2 * inner
    mlps = [MLP(linear(made_of_row, hidden), linear(hidden, inner), gate) for _ in range(experts or 1)]
    mlp, mixture = mlps[0], None
    if experts:
        # All are chosen: among some, a rounding could decide.
        router = NativeRouterLinear(numbers(experts, hidden), kernels, numbers(experts))
        gate_of_shared = NativeRouterLinear(numbers(1, hidden), kernels)
        shared = SharedExpert(MLP(linear(2 * inner, hidden), linear(hidden, inner), gate), gate_of_shared)
        mlp = Experts(Router(router, experts, normalises=by_sigmoid, by_sigmoid=by_sigmoid), mlps, shared)
        mixture = NativeExperts.of(mlp)
        if after:
            own = RMSNorm(numbers(hidden), 1e-5), RMSNorm(numbers(hidden), 1e-5), *after
            scaled = Router(router, experts, normalises=True, scales=numbers(experts))
            mlp = Gemma4Mixture(mlps[0], Experts(scaled, mlps), own)
            mixture = NativeExperts.beside(mlp)
    linears = (attention.qkv, attention.out, *mlp.linears[-2:])
    x, turns = numbers(rows, hidden), Turns(numbers(rows, 1, heads.dim), numbers(rows, 1, heads.dim), numbers(rows))
    shape = (1, heads.kv_count, rows, heads.dim)
    slots = [Slot(None, torch.zeros(shape), torch.zeros(shape)) for _ in range(2)]
    theirs, ours = (NativeSpans(kernels, [(slot, rows)]) for slot in slots)
    seen = attention(norms[0](x), 0, turns, theirs)
    want = x + (after[0](seen) if after else seen)
    made = mlp(norms[1](want), want) if isinstance(mlp, Gemma4Mixture) else mlp(norms[1](want))
    want += after[1](made) if after else made
    native = NativeLayer(kernels, attention, [operands_of(linear) for linear in linears], norms, after, gate, mixture)
    error = 0.02 if kernels.rounds_rows else 1e-4  # bfloat16's, to which rows may be rounded
    if not torch.allclose(kernels.norm(x, norms[0].weight, norms[0].eps), norms[0](x), atol=1e-5):
        return False
    if experts and mixture is None:
        return False
    return torch.allclose(native(x, 0, turns, ours), want, rtol=error, atol=error)


def _recur_right(kernels: NativeKernels) -> bool:
    return _sums_up_right(kernels) and _convolves_right(kernels) and _mambas_right(kernels)


def _sums_up_right(kernels: NativeKernels) -> bool:
    """A layer with a gated delta net."""
    config = DeltaConfig(frozenset({0}), 4, 2, 4, 16, 24, in_turn=True)

    def nets(numbers: _Numbers, linear: _LinearOf) -> tuple[GatedDeltaNet, NativeDeltaNet]:
        weights = DeltaWeights(
            numbers(config.taps, config.mixed_width), -numbers(4).exp(), numbers(4), numbers(config.value_dim), 1e-6
        )
        qkv, out = linear(config.mixed_width + config.value_width, 64), linear(64, config.value_width)
        net = qkv, NativeRouterLinear(numbers(8, 64) / 8, kernels), out, config, weights, 0
        return GatedDeltaNet(*net), NativeDeltaNet(*net, kernels)

    return _recurs_right(kernels, StateShape.of(config), 64, 3, nets)


def _convolves_right(kernels: NativeKernels) -> bool:
    """A layer with a short convolution."""
    config = ConvConfig(frozenset({0}), 3, 264)

    def convs(numbers: _Numbers, linear: _LinearOf) -> tuple[ShortConv, ShortConv]:
        width = config.width
        conv = ShortConv(linear(3 * width, width), linear(width, width), numbers(config.taps, width), 0)
        return conv, conv

    return _recurs_right(kernels, StateShape.of(config), config.width, 1, convs)


def _mambas_right(kernels: NativeKernels) -> bool:
    """A layer with state spaces."""
    config = MambaConfig(frozenset({0}), 4, 4, 24, 2, 16, 1e-6, has_bias=True)

    def mambas(numbers: _Numbers, linear: _LinearOf) -> tuple[Mamba, NativeMamba]:
        heads, inner, mixed = config.heads, config.inner, config.mixed_width
        weights = MambaWeights(
            numbers(config.taps, mixed),
            numbers(mixed),
            -numbers(heads).exp(),
            numbers(heads),
            numbers(heads),
            numbers(inner),
        )
        qkv, out = linear(config.made_width, 64), linear(64, inner)
        mamba = qkv, NativeRouterLinear(numbers(heads, 64) / 8, kernels), out, config, weights, 0
        return Mamba(*mamba), NativeMamba(*mamba, kernels)

    return _recurs_right(kernels, StateShape.of(config), 64, 3, mambas)


def _recurs_right(
    kernels: NativeKernels,
    shape: StateShape,
    hidden: int,
    cut: int,
    make: Callable[[_Numbers, _LinearOf], tuple[Recurrent, NativeDeltaNet | NativeMamba | ShortConv]],
) -> bool:
    """A layer with what `make` makes, as its operations are to do it and as one call: two conversations, one `cut`."""
    generator = torch.Generator().manual_seed(0)
    rows, inner = 13, 96

    def numbers(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    def linear(out: int, width: int) -> NativeHalfLinear:
        return NativeHalfLinear(WeightRows.of(numbers(out, width) / width**0.5), None, kernels)

    theirs, ours = make(numbers, linear)
    norms = RMSNorm(numbers(hidden), 1e-5), RMSNorm(numbers(hidden), 1e-5)
    mlp = MLP(linear(2 * inner, hidden), linear(hidden, inner))
    native = NativeLayer(kernels, ours, [operands_of(one) for one in (ours.qkv, ours.out, *mlp.linears)], norms)
    inputs, memory, spans = numbers(2, *shape.inputs), numbers(2, *shape.memory), list[StateSpans]()
    for _ in range(2):
        states = [SlotStates(shape, torch.device("cpu")) for _ in range(2)]
        for number, state in enumerate(states):
            state.current.inputs.copy_(inputs[number])
            state.current.memory.copy_(memory[number])
        spans.append(StateSpans([StateSpan(0, states[0].pieces(10, [cut])), StateSpan(10, states[1].pieces(3))]))
    x, slot = numbers(rows, hidden), Slot(None, torch.zeros(1, 2, rows, 8), torch.zeros(1, 2, rows, 8))
    want = x + theirs.out(theirs.attend(norms[0](x), spans[0]))
    want += mlp(norms[1](want))
    got = native(x, 0, Turns(x, x, None), NativeSpans(kernels, [(slot, 10), (slot, 3)]), None, spans[1])
    pieces = [[piece for span in all_spans.spans for piece in span.pieces] for all_spans in spans]
    ends = [[piece.target for piece in some if piece.target is not None] for some in pieces]
    error = 0.05 if kernels.rounds_rows else 1e-4

    def alike(one: Tensor, other: Tensor) -> bool:
        return torch.allclose(one, other, rtol=error, atol=error)

    return alike(got, want) and all(
        alike(one.inputs, other.inputs) and alike(one.memory, other.memory) for one, other in zip(*ends, strict=True)
    )


def _attend_in_pieces(
    kernels: NativeKernels, qkv: tuple[Tensor, Tensor, Tensor], pieces: Sequence[int], window: int, dtype: torch.dtype
) -> Tensor:
    q, k, v = qkv
    rows, kv_heads, dim = k.shape
    keys, values = torch.zeros(2, kv_heads, padded(rows, KEY_BLOCK), kept_width(dim, dtype), dtype=dtype)
    done, parts = 0, list[Tensor]()
    for length in pieces:
        span = torch.tensor([[0, length, done, keys.data_ptr(), values.data_ptr(), 0, keys.stride(0), length, 0]])
        some = slice(done, done + length)
        parts.append(kernels.attend(q[some], k[some], v[some], span, 0, window, dtype))
        done += length
    return torch.cat(parts)
