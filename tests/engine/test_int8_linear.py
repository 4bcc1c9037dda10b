"""Eight-bit weights: near to the exact product, the same bits in every call, refused where they would be wrong."""

import time

import pytest
import torch
import torch.nn.functional as F

from llama_gui.engine import int8_linear, native_library
from llama_gui.engine.int8_linear import Int8Linear, Int8Trials, probe
from llama_gui.engine.native_linear import NativeInt8Linear
from llama_gui.engine.weight_rows import WeightRows
from llama_gui.errors import UnsupportedModelError
from tests.engine.this_machine import must_add_int8, needs_native_kernels, needs_torch_int8

SHAPES = ((96, 64), (33, 48), (17, 100), (512, 300))


def native(weight, bias):
    kernels = native_library.load()
    assert kernels is not None
    return NativeInt8Linear(WeightRows.of(weight), bias, kernels, weight.dtype)


@pytest.fixture(
    params=[
        pytest.param(Int8Linear, id="torch", marks=needs_torch_int8),
        pytest.param(native, id="native", marks=needs_native_kernels),
    ]
)
def kind(request):
    """Each that is exact here."""
    return request.param


def make(shape, dtype=torch.float32, *, bias=False, seed=1, kind=Int8Linear):
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(shape, generator=generator).to(dtype)
    offset = torch.randn(shape[0], generator=generator).to(dtype) if bias else None
    return kind(weight, offset), weight, offset


def rows(count, width, dtype=torch.float32, seed=2):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_near_to_the_exact_product(kind, shape, dtype, bias):
    linear, weight, offset = make(shape, dtype, bias=bias, kind=kind)
    x = rows(40, shape[1], dtype)
    want = F.linear(x.float(), weight.float(), None if offset is None else offset.float())
    got = linear(x)
    assert got.dtype == dtype
    assert (got.float() - want).norm() / want.norm() < 0.02
    # The operands are the caller's: float() makes no copy of float32.
    assert torch.equal(x, rows(40, shape[1], dtype))
    assert torch.equal(weight, make(shape, dtype, bias=bias)[1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.sampled(3)
def test_a_row_is_the_same_in_calls_of_any_size(shape, dtype):
    linear, *_ = make(shape, dtype, bias=True)
    x = rows(130, shape[1], dtype)
    full = linear(x)
    for count in (1, 2, 3, 7, 8, 31, 32, 33, 64, 65, 100):
        assert torch.equal(linear(x[:count]), full[:count])
        assert torch.equal(linear(x[-count:]), full[-count:])


def test_rows_of_zeros_and_of_extremes():
    linear, weight, _ = make((32, 64))
    x = torch.zeros(4, 64)
    x[1, 3], x[2] = 3e30, 1e-30
    got = linear(x)
    assert torch.equal(got[0], torch.zeros(32))
    assert torch.isfinite(got).all()
    assert torch.allclose(got[1], 3e30 * weight[:, 3], rtol=0.01, atol=3e28)
    nothing = Int8Linear(torch.zeros(8, 64), None)
    assert torch.equal(nothing(rows(3, 64)), torch.zeros(3, 8))


def test_nan_stays_nan():
    """A network that breaks must be seen to break."""
    linear, *_ = make((32, 64))
    x = rows(2, 64)
    x[1, 5] = float("nan")
    got = linear(x)
    assert torch.isfinite(got[0]).all()
    assert got[1].isnan().all()


def test_its_bytes():
    assert make((33, 48))[0].weight_bytes == 33 * 48 + 33 * 8
    assert make((33, 48), torch.bfloat16, bias=True)[0].weight_bytes == 33 * 48 + 33 * 8 + 33 * 2


def test_this_machine_is_exact_or_says_so():
    generator = torch.Generator().manual_seed(1)
    levels = torch.randint(-127, 128, (33, 512), generator=generator)
    weight = torch.randint(-127, 128, (64, 512), generator=generator)
    levels[:2], weight[:, 0] = 127, 127  # the most that there are, and a scale of one
    weight[:2] = 127
    got = Int8Linear(weight.float(), None).multiply(levels.to(torch.int8))
    is_exact = torch.equal(got.long(), levels @ weight.t())
    assert is_exact or not must_add_int8()
    if is_exact:
        probe()
    else:
        with pytest.raises(UnsupportedModelError, match="does not multiply int8 exactly"):
            probe()


@needs_torch_int8
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_rows_with_signs_and_rows_that_are_moved_give_the_same(dtype):
    levels = torch.randint(-127, 128, (9, 300), generator=torch.Generator().manual_seed(1)).to(torch.int8)
    levels[0], levels[1] = 127, -127
    weight = rows(96, 300, dtype)
    of_signs, moved = (Int8Linear(weight, None, Int8Trials(has_signs=kept)) for kept in (True, False))
    for count in (1, 2, 9):
        assert torch.equal(of_signs.multiply(levels[:count]), moved.multiply(levels[:count]))


@needs_torch_int8
@pytest.mark.parametrize("slow", ["times", "times_moved"])
def test_rows_keep_their_signs_unless_these_are_slow(monkeypatch, slow):
    product = getattr(int8_linear._PackedInt8, slow)

    def wait(self, levels):
        time.sleep(0.05)
        return product(self, levels)

    monkeypatch.setattr(int8_linear._PackedInt8, slow, wait)
    trials = Int8Trials()
    Int8Linear(rows(8, 64), None, trials)
    assert trials.has_signs == (slow == "times_moved")
    monkeypatch.undo()
    Int8Linear(rows(16, 64), None, trials)
    assert trials.has_signs == (slow == "times_moved")  # tried once
    assert set(trials.least_rows) == {(8, 64), (16, 64)}


@pytest.mark.parametrize("wrong", ["saturates", "is missing"])
def test_a_machine_that_cannot(monkeypatch, wrong):
    multiply = Int8Linear.multiply

    def broken(self, levels):
        if wrong == "is missing":
            raise RuntimeError("could not create a primitive descriptor")
        return multiply(self, levels).clamp(-(2**15) * 100, 2**15 * 100)

    monkeypatch.setattr(int8_linear.Int8Linear, "multiply", broken)
    with pytest.raises(UnsupportedModelError, match="Use bfloat16 or auto"):
        probe()
