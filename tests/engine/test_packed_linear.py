"""Packed weights: right numbers and the same bits in calls of every size, on this machine and on odd ones."""

import pytest
import torch
import torch.nn.functional as F

from llama_gui.engine import packed_linear, wide_kernel
from llama_gui.engine.device import torch_threads
from llama_gui.engine.packed_linear import Known, PackedLinear, Probed
from llama_gui.engine.row_tiles import TILE, RowPlan, RowTiles
from tests.engine.this_machine import needs_packed, needs_packed_bfloat16

pytestmark = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch is built without oneDNN")


@pytest.fixture(autouse=True)
def small_weights_are_probed_too(monkeypatch):
    monkeypatch.setattr(packed_linear, "LEAST_TILED", 1)


# The last two: the linear kernel sums long rows in another order than the wide one, for some or all small calls.
SHAPES = (
    (96, 128),
    (64, 64),
    (576, 576),
    (512, 2048),
    pytest.param((256, 5632), marks=pytest.mark.campaign),
    pytest.param((256, 14336), marks=pytest.mark.campaign),
)
TOLERANCES = {torch.float32: 1e-5, torch.bfloat16: 8e-3}
KNOWN = {dtype: Known() for dtype in TOLERANCES}
"""So that a shape is tried once for the weights with a bias and without."""

COUNTS = (*range(1, TILE + 2), 40, 64, 65, 100, 256, 300, 512, 600)


def numbers(*shape, dtype=torch.float32, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def cancelling(rows, width, out, dtype):
    """Rows and a weight whose products nearly cancel: the order of each sum shows in every number."""
    order = torch.randperm(width // 2 * 2, generator=torch.Generator().manual_seed(3))
    x, weight = numbers(rows, width // 2, dtype=dtype), numbers(out, width // 2, dtype=dtype, seed=2)
    return torch.cat((x, x), 1)[:, order], torch.cat((weight, -weight), 1)[:, order].contiguous()


@pytest.mark.parametrize("dtype", needs_packed(torch.float32, torch.bfloat16, torch.float16))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.sampled(5)
def test_a_row_has_the_same_bits_in_calls_of_every_size(shape, dtype):
    x, weight = cancelling(max(COUNTS), shape[1], shape[0], dtype)
    linear = PackedLinear.pack(weight, None, Known())
    whole = linear(x)
    assert [n for n in COUNTS if not torch.equal(linear(x[:n]), whole[:n])] == []
    assert [n for n in COUNTS if not torch.equal(linear(x[-n:]), whole[-n:])] == []


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("dtype", needs_packed(*TOLERANCES))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numbers(shape, dtype, bias):
    weight = numbers(*shape, dtype=dtype)
    offsets = numbers(shape[0], dtype=dtype, seed=2) if bias else None
    x = numbers(300, shape[1], dtype=dtype, seed=3)
    with torch_threads(1):  # the test above is the one about how they share the rows
        want = F.linear(x.double(), weight.double(), None if offsets is None else offsets.double())
        got = PackedLinear.pack(weight, offsets, KNOWN[dtype])(x)
    assert (got.shape, got.dtype) == ((300, shape[0]), dtype)
    assert (got - want).abs().max() < TOLERANCES[dtype] * want.abs().max()


# --- machines that differ from this one


@pytest.fixture
def kernels(monkeypatch):
    """Put `spoil(result, rows)` behind the kernels, as another CPU's might err; it returns the linear's row counts."""
    true_linear, true_wide = PackedLinear._multiply, packed_linear.multiply_wide

    def spoil_them(spoil=lambda y, rows: y, spoil_wide=None):
        calls = []

        def linear(self, x, bias):
            calls.append(len(x))
            return spoil(true_linear(self, x, bias), len(x))

        def wide(x, *arguments):
            if spoil_wide is None:
                raise RuntimeError("no such kernel")
            return spoil_wide(true_wide(x, *arguments), len(x))

        monkeypatch.setattr(PackedLinear, "_multiply", linear)
        monkeypatch.setattr(packed_linear, "multiply_wide", wide)
        return calls

    return spoil_them


@pytest.mark.parametrize(("differing", "least"), [((), 1), ((1,), 2), ((1, 4), 5), ((20,), 24), ((31,), TILE)])
def test_small_calls_are_padded_beyond_the_last_count_that_differs(kernels, differing, least):
    known = Known()
    kernels()
    PackedLinear.pack(numbers(16, 8), None, known)
    least = max(least, known.found[(16, 8)].min_rows)  # what this machine itself needs
    calls = kernels(lambda y, rows: y + (1e-3 if rows in differing else 0))
    linear = PackedLinear.pack(numbers(16, 8), None, Known())
    x = numbers(TILE, 8, seed=3)
    whole = linear(x)
    calls.clear()
    assert [n for n in range(1, TILE) if not torch.equal(linear(x[:n]), whole[:n])] == []
    assert calls == [max(n, least) for n in range(1, TILE)]


def test_large_calls_that_differ_are_cut(kernels):
    calls = kernels(lambda y, rows: y + (1e-3 if rows > TILE and rows != 128 else 0))
    linear = PackedLinear.pack(numbers(16, 8), None, Known())
    x = numbers(3 * 128, 8, seed=3)
    whole = torch.cat([linear(part) for part in x.split(TILE)])
    calls.clear()
    assert torch.equal(linear(x), whole)
    assert set(calls) <= {TILE, 128}


def test_without_exactness_prompts_go_in_large_calls_where_there_is_no_wide_kernel(kernels):
    calls = kernels()
    plan = RowPlan()
    linear = PackedLinear.pack(numbers(16, 8), None, Known(), plan)
    calls.clear()
    plan.writers = 3
    linear(numbers(3 + 130, 8))
    assert calls == [3, 128, 128]


@needs_packed_bfloat16
@pytest.mark.parametrize("spoil", [lambda y, rows: y + 1e-3 * rows, lambda y, rows: y * float("nan")])
def test_a_wide_kernel_that_differs_is_not_used(kernels, spoil):
    kernels(spoil_wide=spoil)
    known = Known()
    PackedLinear.pack(numbers(64, 64, dtype=torch.bfloat16), None, known)
    assert known.found[(64, 64)].wide is None


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda y, rows: y * 1.2, "wrong by"),
        (lambda y, rows: y * float("nan"), "wrong by"),
        (lambda y, rows: y + 1e-3 * torch.arange(len(y))[:, None], "depends on its place"),
    ],
)
def test_a_kernel_that_cannot_be_exact_is_refused(kernels, spoil, said):
    kernels(spoil)
    with pytest.raises(RuntimeError, match=said):
        PackedLinear.pack(numbers(16, 8), None, Known())


def test_each_shape_is_probed_once(kernels):
    calls = kernels()
    known = Known()
    PackedLinear.pack(numbers(16, 8), None, known)
    assert set(known.found) == {(16, 8)}
    calls.clear()
    linear = PackedLinear.pack(numbers(16, 8), None, Known({(16, 8): Probed(7, RowTiles())}))
    assert calls == []
    linear(numbers(2, 8))
    assert calls == [7]


# --- two kernels over the same bytes


@needs_packed_bfloat16
def test_both_kernels_read_the_same_bytes():
    weight = numbers(128, 256, dtype=torch.bfloat16)
    packed = torch.ops.mkldnn._reorder_linear_weight(weight, 1)
    try:
        view = wide_kernel.WideKernel.of(weight, packed).view(packed)
    except RuntimeError:
        pytest.skip("this CPU lays the two out differently")
    assert torch.ops.mkldnn.data_ptr(view) == torch.ops.mkldnn.data_ptr(packed)
    x, bias = numbers(50, 256, dtype=torch.bfloat16, seed=2), numbers(128, dtype=torch.bfloat16, seed=3)
    want = F.linear(x.double(), weight.double(), bias.double())
    assert (wide_kernel.multiply_wide(x, view, bias) - want).abs().max() < 8e-3 * want.abs().max()
    del view  # it does not own them
    assert torch.isfinite(torch.ops.mkldnn._linear_pointwise(x, packed, None, "none", [], "")).all()


@needs_packed_bfloat16
def test_a_weight_of_another_size_is_no_such_weight():
    weight = numbers(128, 256, dtype=torch.bfloat16)
    packed = torch.ops.mkldnn._reorder_linear_weight(weight, 1)
    try:
        kernel = wide_kernel.WideKernel.of(weight, packed)
    except RuntimeError:
        pytest.skip("this CPU lays the two out differently")
    with pytest.raises(RuntimeError, match="room between"):
        kernel.view(torch.ops.mkldnn._reorder_linear_weight(weight[:64].contiguous(), 1))
