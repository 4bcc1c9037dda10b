"""Experts on a card, beside those that go one after the other, in Triton's interpreter; see `test_card_kernels.py`."""

import math

import pytest
import torch

if torch.cuda.is_available():
    pytest.skip("test_on_card.py tests them on the card", allow_module_level=True)

pytest.importorskip("triton", reason="Triton is for Linux")

from llama_gui.engine import card_experts, card_kernels, native_library
from llama_gui.engine.card_experts import CardExperts, ExpertPrograms, on_card
from llama_gui.engine.card_graph import CardGraphs, graphs_of
from llama_gui.engine.card_kernels import CardKernels, Tile
from llama_gui.engine.card_linear import CardInt4Linear, CardInt8Linear, CardLinear
from llama_gui.engine.device import torch_threads
from llama_gui.engine.experts import Experts, Router, SharedExpert
from llama_gui.engine.layers import MLP
from llama_gui.engine.linear import PlainLinear
from llama_gui.engine.llama import Segment
from llama_gui.engine.loading import load_model
from llama_gui.engine.ranking import Ranker
from llama_gui.engine.weight_rows import WeightRows
from tests.fakes.tiny_llama import write_tiny_llama

KERNELS = CardKernels()
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def few_programs(monkeypatch):
    with torch_threads(1):
        for module in (card_experts, card_kernels):
            monkeypatch.setattr(module, "INT4_ROW", Tile(1, 64, 2, 1, 1))
            monkeypatch.setattr(module, "_ROW_OUTS", 64)
        monkeypatch.setattr(card_kernels, "_INT8_ROW_OUTS", 64)
        monkeypatch.setattr(card_experts, "_ROW_INNER", 128)
        for name, inner in (("TILES", 64), ("EXPERT_INT4_TILES", 2)):
            tile = Tile(16, 128, inner, 1, 1)
            monkeypatch.setattr(card_experts, name, [(math.inf, tile, tile)])
        monkeypatch.setattr(card_experts, "_PAIRS", 16)  # of which there are several
        yield


def numbers(*shape, dtype=torch.float32, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def linear(kind, outs, width, dtype, seed, has_bias):
    weight = numbers(outs, width, dtype=dtype, seed=seed) / width**0.5
    bias = numbers(outs, dtype=dtype, seed=seed + 1) if has_bias else None
    if kind == "MXFP4":
        blocks = torch.randint(256, (outs, width // 32, 17), generator=torch.Generator().manual_seed(seed))
        blocks[:, :, 0] = 122 + blocks[:, :, 0] % 4
        rows = WeightRows(outs, width, [weight], "MXFP4", [blocks.to(torch.uint8).flatten(1)])
        return CardInt4Linear(rows, bias, KERNELS, CPU)
    if kind == "int4":
        return CardInt4Linear(WeightRows.of(weight), bias, KERNELS, CPU)
    return (CardInt8Linear if kind == "int8" else CardLinear)(weight, bias, KERNELS)


def experts(kind, dtype=torch.float32, *, gate="silu", has_bias=False, count=8, chosen=3, shared=False):
    def expert(n):
        up = linear(kind, 2 * 64, 96, dtype, 10 * n, has_bias)
        return MLP(up, linear(kind, 96, 64, dtype, 10 * n + 5, has_bias), gate, KERNELS)

    router = Router(PlainLinear(numbers(count, 96, seed=999), None), chosen, normalises=True)
    beside = SharedExpert(expert(77), PlainLinear(numbers(1, 96, seed=99), None)) if shared else None
    return Experts(router, [expert(n) for n in range(count)], beside)


@pytest.mark.parametrize(
    ("kind", "dtype", "rows", "options"),
    [
        ("plain", torch.float32, 1, {}),
        ("plain", torch.float16, 9, {"has_bias": True, "shared": True}),
        ("int8", torch.float32, 1, {"has_bias": True, "gate": "gelu"}),
        ("int8", torch.float32, 9, {"has_bias": True}),
        ("int4", torch.float32, 1, {}),
        ("int4", torch.float32, 9, {"chosen": 1}),
        ("MXFP4", torch.float32, 1, {"has_bias": True, "gate": "clamped"}),
        ("MXFP4", torch.float32, 9, {"has_bias": True, "gate": "clamped", "count": 4, "chosen": 2}),
    ],
)
@pytest.mark.sampled(3)
def test_rows_go_where_they_would_go_one_after_the_other(kind, dtype, rows, options):
    theirs = experts(kind, dtype, **options)
    ours = on_card(theirs, KERNELS)
    assert isinstance(ours, CardExperts)
    x = numbers(rows, 96, dtype=dtype, seed=3)
    want, got = theirs(x), ours(x)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    apart = 2e-3 if dtype == torch.float16 else 1e-5
    torch.testing.assert_close(got, want, atol=apart * float(want.abs().max()), rtol=0)
    assert [one.weight_bytes for one in ours.linears] == [one.weight_bytes for one in theirs.linears]


@pytest.mark.parametrize(("count", "chosen"), [(8, 1), (24, 4), (130, 8)])
@pytest.mark.parametrize("normalises", [True, False])
@pytest.mark.parametrize("has_correction", [True, False])
def test_routes(count, chosen, normalises, has_correction):
    correction = numbers(count, seed=5) / 8 if has_correction else None
    router = Router(PlainLinear(numbers(count, 96), None), chosen, normalises=normalises, correction=correction)
    x = numbers(4, 96, seed=2)
    x[3] = 0  # all are equally likely, and the first ones are taken
    weights, chosen_numbers = ExpertPrograms().route(router.linear(x), router)
    want, want_numbers = router(x)
    assert chosen_numbers[:3].tolist() == want_numbers[:3].tolist()
    torch.testing.assert_close(weights, want, atol=1e-6, rtol=0)
    assert has_correction or chosen_numbers[3].tolist() == list(range(chosen))


def test_many_rows_go_in_pieces(monkeypatch):
    theirs = experts("plain")
    x = numbers(10, 96)
    want = on_card(theirs, KERNELS)(x)
    monkeypatch.setattr(card_experts, "_MOST_ROWS", 6)
    torch.testing.assert_close(on_card(theirs, KERNELS)(x), want, atol=1e-5, rtol=0)


def test_few_rows_go_pair_by_pair():
    theirs = experts("int8", has_bias=True)
    x = numbers(card_experts._FEW_ROWS, 96)
    torch.testing.assert_close(on_card(theirs, KERNELS)(x), theirs(x), atol=1e-5, rtol=0)


def test_an_expert_that_all_rows_go_to():
    """More of them than fit into a tile, and the others get none."""
    made = experts("plain", chosen=2)
    made.router.linear = PlainLinear(torch.zeros(8, 96), torch.tensor([0.0, 0, 9, 0, 0, 8, 0, 0]))
    x = numbers(20, 96)
    assert (made.router(x)[1] == torch.tensor([2, 5])).all()
    torch.testing.assert_close(on_card(made, KERNELS)(x), made(x), atol=1e-5, rtol=0)


def test_experts_that_are_not_alike_go_one_after_the_other():
    made = experts("int8")
    assert on_card(made, KERNELS) is not made
    for other in ("plain", "int4"):
        mixed = [*made.experts[:-1], experts(other).experts[0]]
        unlike = Experts(made.router, mixed)
        assert on_card(unlike, KERNELS) is unlike


@pytest.fixture
def network(tmp_path, kernel_notes, monkeypatch):
    monkeypatch.setattr(native_library, "load", lambda: None)
    monkeypatch.setattr(card_kernels, "_PROGRAMS", 16)
    monkeypatch.setattr(card_kernels, "find", lambda device, head_dim: KERNELS)
    folder = write_tiny_llama(tmp_path / "model", "gpt-oss", hidden_size=32, intermediate_size=32, num_hidden_layers=2)
    return load_model(folder, dtype="float32", device="cpu", kernel_notes=kernel_notes).network


@torch.inference_mode()
def test_a_mixtures_steps_can_be_recorded(network, monkeypatch):
    made = network
    assert all(isinstance(block.mlp, CardExperts) for block in made.blocks)
    with monkeypatch.context() as patch:
        patch.setattr(type(made), "device", torch.device("cuda"))
        assert isinstance(graphs_of(made, Ranker(70)), CardGraphs)

    def played(run):
        run()
        return run

    slots = [made.new_cache(2**24).blank(60) for _ in range(2)]
    for slot, length in zip(slots, (2, 5), strict=True):
        made.forward([Segment(slot, list(range(length)), is_prompt=True)])
        slot.tokens.extend(range(length))
    segments = [Segment(slot, [5 + n]) for n, slot in enumerate(slots)]
    want = made.forward(segments)
    graphs = CardGraphs(made, KERNELS, Ranker(70), played)
    for _ in range(2):
        rows = graphs.run(segments, [1.0, 1.0])
        for row, logits in zip(rows, want[:, :70], strict=True):
            torch.testing.assert_close(row.whole(), logits, atol=1e-4, rtol=0)
