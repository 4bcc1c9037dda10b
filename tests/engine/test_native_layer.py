"""A layer in one call beside its operations, one by one; and the same bits in calls of any size."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pytest
import torch
from torch import Tensor

from llama_gui.engine.device import torch_threads
from llama_gui.engine.experts import Experts, Router, SharedExpert
from llama_gui.engine.gating import Gate
from llama_gui.engine.gemma4_mixture import Gemma4Mixture
from llama_gui.engine.gguf_blocks import FACTORS, block_shape
from llama_gui.engine.kv_cache import Slot
from llama_gui.engine.layers import MLP, Attention, Heads, RMSNorm
from llama_gui.engine.linear import Linear, PlainLinear, StackedLinear
from llama_gui.engine.llama import Block
from llama_gui.engine.native_attention import NATIVE_BLOCKS, NativeSpans
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_layer import NativeExperts, NativeLayer, NativeLayers, operands_of
from llama_gui.engine.native_linear import (
    NativeBlocksLinear,
    NativeHalfLinear,
    NativeInt4Linear,
    NativeInt8Linear,
    NativeRouterLinear,
    NativeSevenBitLinear,
)
from llama_gui.engine.packed_weights import BLOCK_KINDS, SEVEN_BITS
from llama_gui.engine.rotary import Turns
from llama_gui.engine.weight_rows import WeightRows

HIDDEN, INNER = 512, 768
HEADS = Heads(8, 2, 64)
FORMS = ("int8", SEVEN_BITS, "int4", "bfloat16", "float16", "codes", *BLOCK_KINDS)
GEMMAS = ("int4", "float16", "Q6_K")
"""The forms that have norms behind attention and MLP, and another gate, where one of both is enough."""
OLMOS = ("int8", "codes", "Q4_K")
"""The same with all heads normed as one, and nothing before attention and MLP."""
HALVES = ("bfloat16", "float16")
Cuts = Sequence[Sequence[int]]
"""How many tokens of each conversation come in each step."""


def numbers(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) / shape[-1] ** 0.5


def blocks_of(kind: str, out: int, width: int, seed: int) -> Tensor:
    size, count = block_shape(kind)
    generator = torch.Generator().manual_seed(seed)
    blocks = torch.randint(256, (out, width // count, size), dtype=torch.uint8, generator=generator)
    factors = (torch.rand(*blocks.shape[:2], 2, generator=generator) / 2e4).half().view(torch.uint8)
    places = FACTORS[kind]
    blocks[..., places] = factors[..., : places.stop - places.start]
    if kind == "MXFP4":
        blocks[..., 0] = blocks[..., 0] % 4 + 114
    return blocks.flatten(1)


class Fixture:
    """A layer of one form, twice: in one call, and as operations behind one another."""

    def __init__(
        self,
        kernels: NativeKernels,
        form: str | tuple[str, str] = "bfloat16",
        *,
        heads: Heads = HEADS,
        bias: bool = False,
        head_norms: bool = False,
        window: int | None = None,
        gemma: bool = False,
        olmo: bool = False,
        norms_turned: bool = False,
        inner: int = INNER,
        experts: int = 0,
        chosen: int = 3,
        gpt_oss: bool = False,
        shared: int = 0,
        corrected: bool = False,
        squared: bool = False,
        by_sigmoid: bool = False,
        beside: int = 0,
    ) -> None:
        """`shared`: the width of an expert that all rows go through, as far as a gate says.

        `beside`: that of an MLP beside the experts, as Gemma 4 has it.
        """
        self._kernels = kernels
        self._seed = 0
        self.heads = heads
        widths = heads.count * heads.dim, heads.kv_count * heads.dim
        qkv = self._linear(form, widths[0] + 2 * widths[1], HIDDEN, bias)
        out = self._linear(form, HIDDEN, widths[0], bias)
        gate: Gate = "gelu" if gemma else "clamped" if gpt_oss else "squared" if squared else "silu"
        made = inner if squared else 2 * inner
        mlps = [
            MLP(self._linear(form, made, HIDDEN, bias), self._linear(form, HIDDEN, inner, bias), gate)
            for _ in range(experts or 1)
        ]
        norms = (None, None) if olmo else (self._norm(HIDDEN), self._norm(HIDDEN))
        of_heads = (self._norm(heads.dim), self._norm(heads.dim)) if head_norms else None
        if olmo:
            of_heads = self._norm(widths[0]), self._norm(widths[1])
        sinks = 3 * torch.randn(heads.count, generator=torch.Generator().manual_seed(8)) if gpt_oss else None
        attention = Attention(
            qkv, out, heads, NATIVE_BLOCKS, of_heads, window, sinks, 0.5 if gemma else None, norms_turned=norms_turned
        )
        operands = [operands_of(linear) for linear in (qkv, out, mlps[0].gate_up, mlps[0].down)]
        after: tuple[RMSNorm, RMSNorm] | None = None
        if gemma or olmo:
            after = self._norm(HIDDEN), self._norm(HIDDEN)
        mlp, mixture = MLP(mlps[0].gate_up, mlps[0].down, gate), None
        if experts:
            router = Router(
                NativeRouterLinear(
                    numbers(experts, HIDDEN, seed=1), kernels, numbers(experts, seed=2) if gpt_oss else None
                ),
                chosen,
                normalises=experts % 2 == 0,
                correction=numbers(experts, seed=3) if corrected else None,
                by_sigmoid=by_sigmoid,
                scales=1 + numbers(experts, seed=5) if beside else None,
            )
            other: SharedExpert | None = None
            if shared:
                parts = self._linear(form, 2 * shared, HIDDEN, bias), self._linear(form, HIDDEN, shared, bias)
                other = SharedExpert(MLP(*parts), NativeRouterLinear(3 * numbers(1, HIDDEN, seed=4), kernels))
            mlp = Experts(router, mlps, other)
            mixture = NativeExperts.of(mlp)
            if beside:
                parts = self._linear(form, 2 * beside, HIDDEN, bias), self._linear(form, HIDDEN, beside, bias)
                own = self._norm(HIDDEN), self._norm(HIDDEN), self._norm(HIDDEN), self._norm(HIDDEN)
                mlp = Gemma4Mixture(MLP(*parts, gate), mlp, own)
                mixture = NativeExperts.beside(mlp)
            assert mixture is not None
        native = NativeLayer(kernels, attention, operands, norms, after, gate, mixture)
        self.block = Block(norms[0], attention, norms[1], mlp, native, post_norms=after)
        self.plain = replace(self.block, native=None)

    def leave_out(self, what: Literal["sinks", "router_bias", "shared", "shared_gate", "correction"]) -> None:
        """From the operations."""
        mlp = self.plain.mlp
        if what == "sinks":
            self.plain.attention.sinks = None
        elif what == "router_bias":
            mlp.router.linear.bias = None  # type: ignore[union-attr]
        elif what == "correction":
            mlp.router.correction = None  # type: ignore[union-attr]
        elif what == "shared_gate":
            mlp.shared.gate = None  # type: ignore[union-attr]
        else:
            mlp.shared = None  # type: ignore[union-attr]

    def _linear(self, form: str | tuple[str, str], out: int, width: int, has_bias: bool) -> Linear:
        if isinstance(form, tuple):
            first = out // 3 // 8 * 8
            return StackedLinear(
                [self._linear(form[0], first, width, has_bias), self._linear(form[1], out - first, width, has_bias)]
            )
        self._seed += 1
        bias = numbers(out, seed=100 + self._seed) if has_bias else None
        if form in BLOCK_KINDS:
            rows = WeightRows(out, width, [], form, [blocks_of(form, out, width, self._seed)])
            return NativeBlocksLinear(rows, bias, self._kernels)
        weight = numbers(out, width, seed=self._seed)
        if form == "codes":
            return NativeHalfLinear(WeightRows.of(weight), bias, self._kernels)
        if form in HALVES:
            return NativeHalfLinear(weight.to(getattr(torch, form)), bias, self._kernels)
        kinds = {"int8": NativeInt8Linear, "int4": NativeInt4Linear, SEVEN_BITS: NativeSevenBitLinear}
        return kinds[form](WeightRows.of(weight), bias, self._kernels)

    def _norm(self, width: int) -> RMSNorm:
        self._seed += 1
        return RMSNorm(1 + numbers(width, seed=self._seed), 1e-5)

    def run(
        self,
        block: Block,
        rows: Sequence[Tensor],
        cuts: Cuts,
        kept: torch.dtype = torch.float32,
        layer: int = 1,
        last: int | None = None,
    ) -> tuple[list[Tensor], list[Slot]]:
        """Each conversation's rows ``[tokens, hidden]`` behind the layer, and its slot.

        `last`: of how many of the last rows of each piece; None: of all.
        """
        heads = self.heads
        slots = [
            Slot(None, *made, in_blocks=self._kernels.keeps_blocks(kept, heads.dim))
            for made in torch.zeros(len(rows), 2, 2, heads.kv_count, 512, heads.dim, dtype=kept)
        ]
        found: list[list[Tensor]] = [[] for _ in rows]
        for counts in cuts:
            there = [(i, slots[i], count) for i, count in enumerate(counts) if count]
            starts = [len(slot.tokens) for _, slot, _ in there]
            x = torch.cat([rows[i][start : start + n] for (i, _, n), start in zip(there, starts, strict=True)])
            places = torch.cat([torch.arange(start, start + n) for (_, _, n), start in zip(there, starts, strict=True)])
            angles = torch.outer(places.float(), 1e4 ** (-torch.arange(0, heads.dim, 2) / heads.dim)).repeat(1, 2)
            cos, sin = angles.cos().unsqueeze(1), angles.sin().unsqueeze(1)
            sin[..., : heads.dim // 2].neg_()
            spans = NativeSpans(self._kernels, [(slot, n) for _, slot, n in there])
            wanted = [n if last is None else min(n, last) for _, _, n in there]
            y = block(x.clone(), layer, Turns(cos, sin, 1 + places / 50), spans.of_last(wanted))
            for (i, slot, n), part in zip(there, y.split(wanted), strict=True):
                slot.tokens.extend([0] * n)
                found[i].append(part)
        return [torch.cat(parts) for parts in found], slots


def conversations(*lengths: int) -> list[Tensor]:
    return [3 * torch.randn(n, HIDDEN, generator=torch.Generator().manual_seed(n)) for n in lengths]


def near(got: Tensor, want: Tensor, error: float) -> bool:
    return bool((got - want).norm() <= error * want.norm())


def error_of(kernels: NativeKernels, form: object) -> float:
    """Roundings of a row to eight bits, or to those of bfloat16, may fall apart."""
    rounds = form not in (*HALVES, "codes") or (form == "codes" and kernels.rounds_rows)
    return 2e-3 if rounds else 1e-6


@pytest.mark.parametrize(
    "form",
    [
        *FORMS,
        ("Q4_K", "Q6_K"),
        ("int8", "Q4_K"),
        ("codes", "int8"),
        ("int4", "int8"),
        (SEVEN_BITS, "Q6_K"),
        ("Q3_K", "Q6_K"),
        ("Q2_K", "Q3_K"),
    ],
    ids=str,
)
@pytest.mark.parametrize("bias", [False, True], ids=["", "bias"])
def test_as_its_operations_do_it(kernels: NativeKernels, form: str | tuple[str, str], bias: bool):
    layer = Fixture(kernels, form, bias=bias)
    rows, cuts = conversations(37, 3, 70), [(30, 0, 64), (1, 3, 1), (6, 0, 5)]
    want, kept = layer.run(layer.plain, rows, cuts)
    got, slots = layer.run(layer.block, rows, cuts)
    for ours, theirs in zip(got, want, strict=True):
        assert near(ours, theirs, error_of(kernels, form))
    for ours, theirs in zip(slots, kept, strict=True):
        assert not ours.keys[0].any()
        assert not ours.values[0].any()
        assert near(ours.keys, theirs.keys, error_of(kernels, form))
        assert near(ours.values, theirs.values, error_of(kernels, form))


@pytest.mark.parametrize("form", ["bfloat16", "int8", "Q4_K", ("int4", "int8")], ids=str)
def test_norms_behind_attention_and_mlp_another_gate_and_a_cap(kernels: NativeKernels, form: str | tuple[str, str]):
    layer = Fixture(kernels, form, head_norms=True, bias=True, gemma=True)
    rows, cuts = conversations(37, 3), [(30, 0), (1, 3), (6, 0)]
    want, _ = layer.run(layer.plain, rows, cuts)
    got, _ = layer.run(layer.block, rows, cuts)
    for ours, theirs in zip(got, want, strict=True):
        assert near(ours, theirs, error_of(kernels, form))
    plain, _ = layer.run(replace(layer.plain, post_norms=None), rows, cuts)
    assert not near(plain[0], want[0], 0.1)
    layer.plain.attention.cap = None
    uncapped, _ = layer.run(layer.plain, rows, cuts)
    assert not near(uncapped[0], want[0], 0.03)


@pytest.mark.parametrize("form", ["bfloat16", "codes", "int8", "Q4_K", ("int4", "int8")], ids=str)
def test_all_heads_normed_as_one_and_nothing_before_attention_and_mlp(
    kernels: NativeKernels, form: str | tuple[str, str]
):
    layer = Fixture(kernels, form, bias=True, olmo=True)
    rows, cuts = conversations(37, 3), [(30, 0), (1, 3), (6, 0)]
    want, _ = layer.run(layer.plain, rows, cuts)
    got, _ = layer.run(layer.block, rows, cuts)
    for ours, theirs in zip(got, want, strict=True):
        assert near(ours, theirs, error_of(kernels, form))
    layer.plain.attention.norms = None
    plain, _ = layer.run(layer.plain, rows, cuts)
    assert not near(plain[0], want[0], 0.1)


@pytest.mark.parametrize("form", ["bfloat16", "codes", "int8", "Q4_K", ("int4", "int8")], ids=str)
@pytest.mark.parametrize("inner", [768, 1792])
def test_an_mlp_without_a_gate(kernels: NativeKernels, form: str | tuple[str, str], inner: int):
    layer = Fixture(kernels, form, inner=inner, bias=True, squared=True)
    rows, cuts = conversations(37, 3, 70), [(30, 0, 64), (1, 3, 1), (6, 0, 5)]
    want, _ = layer.run(layer.plain, rows, cuts)
    got, _ = layer.run(layer.block, rows, cuts)
    for ours, theirs in zip(got, want, strict=True):
        assert near(ours, theirs, error_of(kernels, form))
    (alone,), _ = layer.run(layer.block, rows[:1], [(37,)])
    assert torch.equal(got[0], alone)


@pytest.mark.parametrize("form", ["bfloat16", "int8"])
def test_heads_that_are_normed_after_they_were_turned(kernels: NativeKernels, form: str):
    layer = Fixture(kernels, form, head_norms=True, norms_turned=True)
    rows, cuts = conversations(37, 3), [(30, 0), (1, 3), (6, 0)]
    want, _ = layer.run(layer.plain, rows, cuts)
    got, _ = layer.run(layer.block, rows, cuts)
    for ours, theirs in zip(got, want, strict=True):
        assert near(ours, theirs, error_of(kernels, form))
    layer.plain.attention.norms_turned = False
    other, _ = layer.run(layer.plain, rows, cuts)
    assert not near(other[0], want[0], 2 * error_of(kernels, form))


def test_what_is_normed_before_it_is_added_has_room(kernels: NativeKernels):
    """Where attention and MLP are narrower than the network."""
    layer = Fixture(kernels, heads=Heads(14, 2, 8), gemma=True, inner=128)
    (want,), _ = layer.run(layer.plain, conversations(40), [(40,)])
    (got,), _ = layer.run(layer.block, conversations(40), [(40,)])
    assert near(got, want, error_of(kernels, "bfloat16"))


def test_rows_whose_last_block_is_shorter(kernels: NativeKernels):
    layer = Fixture(kernels, SEVEN_BITS, heads=Heads(5, 1, 64))
    rows, cuts = conversations(37, 3, 70), [(30, 0, 64), (1, 3, 1), (6, 0, 5)]
    (want, *_), _ = layer.run(layer.plain, rows, cuts)
    (got, *_), _ = layer.run(layer.block, rows, cuts)
    assert near(got, want, 2e-3)
    (alone,), _ = layer.run(layer.block, rows[:1], [(37,)])
    assert torch.equal(got, alone)


@pytest.mark.parametrize("form", ["bfloat16", "int8", "Q4_K", "MXFP4"])
def test_sinks_and_biases_everywhere(kernels: NativeKernels, form: str):
    """As gpt-oss has them, with a gate of its own."""
    narrow = form == "MXFP4"  # rows whose last block is shorter
    layer = Fixture(
        kernels,
        form,
        heads=Heads(5, 1, 64) if narrow else HEADS,
        inner=320 if narrow else 256,
        experts=6,
        chosen=6,
        bias=True,
        gpt_oss=True,
        window=9,
    )
    gate_up = layer.plain.mlp.experts[2].gate_up  # type: ignore[union-attr]
    gate_up._bias[::3], gate_up._bias[1::3] = 20.0, -20.0  # beyond the limits
    rows, cuts = conversations(37, 3, 70), [(30, 0, 64), (1, 3, 1), (6, 0, 5)]
    want, _ = layer.run(layer.plain, rows, cuts)
    got, _ = layer.run(layer.block, rows, cuts)
    for ours, theirs in zip(got, want, strict=True):
        assert near(ours, theirs, error_of(kernels, form))
    (alone,), _ = layer.run(layer.block, rows[:1], [(37,)])
    assert torch.equal(got[0], alone)
    for left_out in ("sinks", "router_bias"):
        layer.leave_out(left_out)
        other, _ = layer.run(layer.plain, rows, cuts)
        assert form != "bfloat16" or not near(other[0], want[0], 1e-3)


@pytest.mark.parametrize("form", ["bfloat16", "codes", "int8", "Q4_K", ("int4", "int8")], ids=str)
@pytest.mark.parametrize("shared", [256, 1280])
@pytest.mark.sampled(4)
def test_an_expert_that_all_rows_go_through_and_corrected_choices(
    kernels: NativeKernels, form: str | tuple[str, str], shared: int
):
    layer = Fixture(kernels, form, inner=256, experts=6, shared=shared, corrected=True, bias=True)
    rows, cuts = conversations(37, 3, 70), [(30, 0, 64), (1, 3, 1), (6, 0, 5)]
    want, _ = layer.run(layer.plain, rows, cuts)
    got, _ = layer.run(layer.block, rows, cuts)
    for ours, theirs in zip(got, want, strict=True):
        assert near(ours, theirs, error_of(kernels, form))
    (alone,), _ = layer.run(layer.block, rows[:1], [(37,)])
    assert torch.equal(got[0], alone)
    for left_out in ("correction", "shared_gate", "shared"):
        layer.leave_out(left_out)
        other, _ = layer.run(layer.plain, rows, cuts)
        assert form == "Q4_K" or not near(other[0], want[0], 0.01)


@pytest.mark.parametrize("form", ["bfloat16", "codes", "int8", "Q4_K", ("int4", "int8")], ids=str)
def test_experts_that_are_chosen_by_sigmoids(kernels: NativeKernels, form: str | tuple[str, str]):
    layer = Fixture(kernels, form, inner=256, experts=6, corrected=True, by_sigmoid=True)
    rows, cuts = conversations(37, 3, 70), [(30, 0, 64), (1, 3, 1), (6, 0, 5)]
    want, _ = layer.run(layer.plain, rows, cuts)
    got, _ = layer.run(layer.block, rows, cuts)
    for ours, theirs in zip(got, want, strict=True):
        assert near(ours, theirs, error_of(kernels, form))
    layer.plain.mlp.router.by_sigmoid = False  # type: ignore[union-attr]
    other, _ = layer.run(layer.plain, rows, cuts)
    assert form == "Q4_K" or not near(other[0], want[0], 0.01)


@pytest.mark.parametrize("form", ["bfloat16", "codes", "int8", "Q4_K", ("int4", "int8")], ids=str)
@pytest.mark.parametrize("beside", [256, 1280])
def test_experts_beside_an_mlp(kernels: NativeKernels, form: str | tuple[str, str], beside: int):
    layer = Fixture(kernels, form, inner=256, experts=6, beside=beside, gemma=True)
    rows, cuts = conversations(37, 3, 70), [(30, 0, 64), (1, 3, 1), (6, 0, 5)]
    want, _ = layer.run(layer.plain, rows, cuts)
    got, _ = layer.run(layer.block, rows, cuts)
    ours, theirs = torch.cat(got), torch.cat(want)
    errors = (ours - theirs).norm(dim=1) / theirs.norm(dim=1)
    assert (errors < 5 * error_of(kernels, form)).float().mean() > 0.9
    (alone,), _ = layer.run(layer.block, rows[:1], [(37,)])
    assert torch.equal(got[0], alone)
    layer.plain.mlp.experts.router.scales = None  # type: ignore[union-attr]
    other, _ = layer.run(layer.plain, rows, cuts)
    assert not near(other[0], want[0], 0.01)


@pytest.mark.parametrize("heads", [Heads(8, 8, 64), Heads(6, 2, 72), Heads(2, 1, 256), Heads(14, 2, 8)], ids=str)
@pytest.mark.parametrize("head_norms", [False, True], ids=["", "norms"])
@pytest.mark.parametrize("window", [None, 9], ids=str)
def test_heads_of_all_kinds(kernels: NativeKernels, heads: Heads, head_norms: bool, window: int | None):
    layer = Fixture(kernels, heads=heads, head_norms=head_norms, window=window)
    rows, cuts = conversations(40), [(20,), (1,), (19,)]
    (want,), _ = layer.run(layer.plain, rows, cuts)
    (got,), _ = layer.run(layer.block, rows, cuts)
    assert near(got, want, error_of(kernels, "bfloat16"))


@pytest.mark.parametrize(
    ("form", "experts", "chosen"),
    [
        *((form, 12, 3) for form in (*FORMS, ("Q4_K", "Q6_K"))),
        *((form, *counts) for form in ("bfloat16", "int8", "Q4_K") for counts in ((5, 5), (3, 1))),
    ],
    ids=str,
)
def test_a_mixture_as_its_operations_do_it(
    kernels: NativeKernels, form: str | tuple[str, str], experts: int, chosen: int
):
    layer = Fixture(kernels, form, inner=256, experts=experts, chosen=chosen, bias=experts == 5)
    rows, cuts = conversations(37, 3, 70), [(30, 0, 64), (1, 3, 1), (6, 0, 5)]
    want, _ = layer.run(layer.plain, rows, cuts)
    got, _ = layer.run(layer.block, rows, cuts)
    ours, theirs = torch.cat(got), torch.cat(want)
    errors = (ours - theirs).norm(dim=1) / theirs.norm(dim=1)
    # Where two experts are nearly equal, a rounding that falls apart decides.
    assert (errors < error_of(kernels, form)).float().mean() > (0.9 if chosen < experts else 0.999)


@pytest.mark.parametrize("form", [*FORMS, ("Q5_K", "Q6_K")], ids=str)
@pytest.mark.sampled(6)
def test_a_row_of_a_mixture_has_the_same_bits_in_any_step(kernels: NativeKernels, form: str | tuple[str, str]):
    layer = Fixture(kernels, form, inner=256, experts=11)
    rows = conversations(81, 9, 30)
    want, _ = layer.run(layer.block, rows, [(81, 9, 30)])
    one_by_one = [(1, 0, 0)] * 81 + [(0, 1, 0)] * 9 + [(0, 0, 1)] * 30
    mixed = [(53, 1, 0), (1, 1, 1), (2, 1, 3), (1, 0, 1), (24, 6, 25)]
    for cuts, threads in ((one_by_one, 2), (mixed, 1), (mixed, 3)):
        with torch_threads(threads):
            got, _ = layer.run(layer.block, rows, cuts)
        assert all(torch.equal(ours, theirs) for ours, theirs in zip(got, want, strict=True))
    last, _ = layer.run(layer.block, rows, [(81, 9, 30)], last=4)
    assert all(torch.equal(ours, theirs[-4:]) for ours, theirs in zip(last, want, strict=True))


def test_experts_of_different_forms_have_no_layer(kernels: NativeKernels):
    one, other = Fixture(kernels, "int4").plain.mlp, Fixture(kernels, "int8").plain.mlp
    assert isinstance(one, MLP)
    assert isinstance(other, MLP)
    router = Router(NativeRouterLinear(numbers(2, HIDDEN, seed=1), kernels), 1, normalises=True)
    assert NativeExperts.of(Experts(router, [one, one])) is not None
    assert NativeExperts.of(Experts(router, [one, other])) is None
    torchs = Router(PlainLinear(router.linear.packed[0], None), 1, normalises=True)
    assert NativeExperts.of(Experts(torchs, [one, one])) is None


@pytest.mark.parametrize("kept", [torch.bfloat16, torch.float16], ids=str)
def test_keys_and_values_in_half_precision(kernels: NativeKernels, kept: torch.dtype):
    layer = Fixture(kernels)
    (want,), theirs = layer.run(layer.plain, conversations(50), [(48,), (1,), (1,)], kept)
    (got,), ours = layer.run(layer.block, conversations(50), [(48,), (1,), (1,)], kept)
    assert near(got, want, 1e-3)
    assert torch.allclose(ours[0].keys.float(), theirs[0].keys.float(), rtol=0.01, atol=1e-5)


@pytest.mark.parametrize("form", [*FORMS, ("Q5_K", "Q6_K")], ids=str)
def test_a_row_has_the_same_bits_in_any_step(kernels: NativeKernels, form: str | tuple[str, str]):
    layer = Fixture(kernels, form, bias=True, head_norms=True, gemma=form in GEMMAS, olmo=form in OLMOS)
    rows = conversations(41, 9, 30)
    want, slots = layer.run(layer.block, rows, [(41, 9, 30)])
    one_by_one = [(1, 0, 0)] * 41 + [(0, 1, 0)] * 9 + [(0, 0, 1)] * 30
    mixed = [(13, 1, 0), (1, 1, 1), (2, 1, 3), (1, 0, 1), (24, 6, 25)]
    for cuts, threads in ((one_by_one, 2), (mixed, 1), (mixed, 3)):
        with torch_threads(threads):
            got, again = layer.run(layer.block, rows, cuts)
        assert all(torch.equal(ours, theirs) for ours, theirs in zip(got, want, strict=True))
        assert all(torch.equal(ours.keys, theirs.keys) for ours, theirs in zip(again, slots, strict=True))
        assert all(torch.equal(ours.values, theirs.values) for ours, theirs in zip(again, slots, strict=True))


@pytest.mark.parametrize("form", [*FORMS, ("Q5_K", "Q6_K")], ids=str)
@pytest.mark.parametrize("last", [1, 18])
def test_rows_that_attend_have_the_bits_that_they_have_among_all(
    kernels: NativeKernels, form: str | tuple[str, str], last: int
):
    layer = Fixture(kernels, form, bias=True, head_norms=True, gemma=form in GEMMAS, olmo=form in OLMOS)
    rows, cuts = conversations(41, 9, 30), [(41, 9, 30)]
    want, slots = layer.run(layer.block, rows, cuts, torch.bfloat16)
    got, again = layer.run(layer.block, rows, cuts, torch.bfloat16, last=last)
    assert all(torch.equal(ours, theirs[-last:]) for ours, theirs in zip(got, want, strict=True))
    for ours, theirs in zip(again, slots, strict=True):
        assert ours.keys[1].any()
        assert torch.equal(ours.keys, theirs.keys)
        assert torch.equal(ours.values, theirs.values)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_layers_of_all_kinds_in_one_call(kernels: NativeKernels, threads: int):
    """Each needs memory of its own, and has a number and turns of its own."""
    gemma, wide = Fixture(kernels, "codes", gemma=True), Fixture(kernels, ("int4", "int8"), inner=2 * INNER)
    fixtures = [Fixture(kernels, "int8"), gemma, wide, Fixture(kernels, "Q4_K", bias=True)]
    natives = [layer.block.native for layer in fixtures if layer.block.native is not None]
    angles = torch.outer(torch.arange(3.0), torch.linspace(0.1, 1, HEADS.dim))
    turns = [Turns(part.cos().unsqueeze(1), part.sin().unsqueeze(1)) for part in (angles, 2 * angles, 0 * angles)]
    x, which = torch.cat(conversations(1, 2)), [2, 0, 1, 0]

    def spans() -> tuple[NativeSpans, list[Slot]]:
        made = torch.zeros(2, 2, 4, HEADS.kv_count, 64, HEADS.dim, dtype=torch.bfloat16)
        in_blocks = kernels.keeps_blocks(made.dtype, HEADS.dim)
        slots = [Slot(None, *parts, in_blocks=in_blocks) for parts in made]
        return NativeSpans(kernels, [(slots[0], 1), (slots[1], 2)]), slots

    want, (there, kept) = x.clone(), spans()
    for number, (layer, at) in enumerate(zip(natives, which, strict=True)):
        want = layer(want, number, turns[at], there)
    there, slots = spans()
    with torch_threads(threads):
        got = NativeLayers(kernels, natives, which)(x.clone(), turns, there)
    assert torch.equal(got, want)
    assert not torch.equal(got, x)
    assert all(torch.equal(ours.keys, theirs.keys) for ours, theirs in zip(slots, kept, strict=True))
    assert all(torch.equal(ours.values, theirs.values) for ours, theirs in zip(slots, kept, strict=True))
    assert all(slots[1].keys[number].any() for number in range(4))
    with pytest.raises(ValueError, match="2 of 3 rows attend"):  # the next layer would have no keys of the others
        NativeLayers(kernels, natives, which)(x.clone(), turns, there.of_last([1, 1]))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("odd", "experts"), [(float("nan"), 0), (float("inf"), 0), (float("nan"), 6)], ids=["nan", "inf", "nan, mixture"]
)
def test_what_is_no_number_stays_in_its_conversation(kernels: NativeKernels, form: str, odd: float, experts: int):
    layer = Fixture(kernels, form, experts=experts)
    rows = conversations(5, 6)
    (_, want), _ = layer.run(layer.block, rows, [(5, 6)])
    rows[0][2, 7] = odd
    (broken, got), _ = layer.run(layer.block, rows, [(5, 6)])
    assert torch.equal(got, want)
    assert broken[2:].isnan().any(1).all()
    assert broken[:2].isfinite().all()


@pytest.mark.parametrize("gemma", [False, True], ids=["", "gelu"])
def test_a_gate_far_below_zero_is_shut(kernels: NativeKernels, gemma: bool):
    layer = Fixture(kernels, bias=True, gemma=gemma)
    bias = layer.plain.mlp.gate_up._bias  # type: ignore[union-attr]
    bias[:INNER] = torch.tensor([-1e35, -89.0, -88.0, -87.0, -20.0, 0.0, 20.0, 89.0]).repeat(INNER // 8)
    (want,), _ = layer.run(layer.plain, conversations(3), [(3,)])
    (got,), _ = layer.run(layer.block, conversations(3), [(3,)])
    assert want.isfinite().all()
    assert near(got, want, error_of(kernels, "bfloat16"))


@pytest.mark.parametrize("spoil", ["nothing", "another linear", "a width"])
def test_who_can_do_it(kernels: NativeKernels, spoil: str):
    weight = numbers(16, 60 if spoil == "a width" else 64, seed=1).bfloat16()
    ours = NativeHalfLinear(weight, None, kernels)
    other = PlainLinear(weight, None) if spoil == "another linear" else ours
    assert bool(operands_of(StackedLinear([ours, other]))) is (spoil == "nothing")


def test_a_weight_that_is_written_out_cannot(kernels: NativeKernels):
    weight = WeightRows.of(numbers(16, 64, seed=1))
    assert operands_of(NativeInt4Linear(weight, None, kernels))
    assert not operands_of(NativeInt4Linear(weight, None, kernels, writes_out=True))
