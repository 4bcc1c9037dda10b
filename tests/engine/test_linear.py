"""Linears: right numbers, and rows whose bits do not depend on the rows beside them, on the machine that runs this."""

import logging

import pytest
import torch
import torch.nn.functional as F

from llama_gui.engine import int8_linear, native_library
from llama_gui.engine import linear as linear_module
from llama_gui.engine.device import Precision
from llama_gui.engine.linear import LinearFactory, PlainLinear, StackedLinear
from llama_gui.engine.native_linear import NativeInt8Linear
from llama_gui.engine.row_tiles import TILE
from llama_gui.errors import UnsupportedModelError
from tests.engine.this_machine import needs_native_kernels

# An odd one, and one large enough for oneDNN and MKL to block by rows: plain calls of it do differ here.
SHAPES = ((33, 17), (512, 512))
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
TOLERANCES = dict(zip(DTYPES, (1e-5, 8e-3, 1e-3), strict=True))
# Beyond a tile a call is cut, so few counts will do: on a busy machine every call waits for its second thread.
COUNTS = (*range(1, TILE + 1), 33, 47, 63)


def numbers(*shape, dtype=torch.float32, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def make(kind, shape, dtype, bias=True):
    weight, offsets = numbers(*shape, dtype=dtype), numbers(shape[0], dtype=dtype, seed=2) if bias else None
    return kind(weight, offsets), weight, offsets


@pytest.fixture(params=["factory", "plain"])
def kind(request):
    return LinearFactory() if request.param == "factory" else PlainLinear


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_row_has_the_same_bits_in_calls_of_1_to_64_rows(kind, shape, dtype):
    linear, _, _ = make(kind, shape, dtype)
    assert linear.is_batch_invariant
    x = numbers(64, shape[1], dtype=dtype, seed=3)
    whole = linear(x)
    assert [n for n in COUNTS if not torch.equal(linear(x[:n]), whole[:n])] == []
    # And wherever in a call it stands, whoever its neighbours are, cut from a wider matrix or not.
    wide = torch.cat((x, x), 1)[:, : shape[1]]
    assert [n for n in range(1, 64, 9) if not torch.equal(linear(wide[n : n + 5]), whole[n : n + 5])] == []
    mixed = torch.randperm(64, generator=torch.Generator().manual_seed(4))
    assert torch.equal(linear(x[mixed]), whole[mixed])


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numbers(kind, dtype, bias):
    linear, weight, offsets = make(kind, (33, 17), dtype, bias)
    x = numbers(70, 17, dtype=dtype, seed=3)
    want = F.linear(x.double(), weight.double(), None if offsets is None else offsets.double())
    got = linear(x)
    assert (got.shape, got.dtype) == ((70, 33), dtype)
    assert (got - want).abs().max() < TOLERANCES[dtype] * want.abs().max()


def test_no_rows(kind):
    linear, _, _ = make(kind, (33, 17), torch.float32)
    assert linear(torch.empty(0, 17)).shape == (0, 33)


@pytest.mark.parametrize(("dtype", "size"), [(torch.float32, 4), (torch.bfloat16, 2)], ids=str)
def test_bytes(kind, dtype, size):
    assert make(kind, (33, 17), dtype)[0].weight_bytes == (33 * 17 + 33) * size
    assert make(kind, (33, 17), dtype, bias=False)[0].weight_bytes == 33 * 17 * size


def test_a_plain_call_carries_exactly_a_tile(monkeypatch):
    """Other numbers are another family of kernels; a machine where they happen to agree must not hide that."""
    sizes = []
    true_linear = F.linear
    monkeypatch.setattr(F, "linear", lambda x, w, b=None: sizes.append(len(x)) or true_linear(x, w, b))
    linear, _, _ = make(PlainLinear, (8, 8), torch.float32)
    sizes.clear()
    linear(numbers(2 * TILE + 3, 8))
    assert sizes == [TILE] * 3


def by_place(x, w, b=None):
    """As some kernels are: the last rows of a call are summed up in another order."""
    y = torch.matmul(x, w.t()) + (0 if b is None else b)
    y[len(x) // 2 :] += 1e-6
    return y


def test_a_plain_product_that_depends_on_the_place_promises_nothing(monkeypatch):
    linear, weight, offsets = make(PlainLinear, (64, 64), torch.float32)
    assert linear.is_batch_invariant
    monkeypatch.setattr(F, "linear", by_place)
    linear = PlainLinear(weight, offsets)
    assert not linear.is_batch_invariant
    sizes = []
    monkeypatch.setattr(F, "linear", lambda x, w, b=None: sizes.append(len(x)) or by_place(x, w, b))
    linear(numbers(2 * TILE + 3, 64))
    assert sizes == [2 * TILE + 3]  # cut up it would be slower, and no better


def test_each_shape_and_dtype_of_plain_weights_is_tried_once(monkeypatch):
    monkeypatch.setattr(linear_module.PackedLinear, "pack", refuse)
    calls = []
    true_linear = F.linear
    monkeypatch.setattr(F, "linear", lambda x, w, b=None: calls.append(w.dtype) or true_linear(x, w, b))
    factory = LinearFactory()
    for dtype in (torch.float32, torch.bfloat16):
        assert factory(numbers(64, 64, dtype=dtype)).is_batch_invariant
        assert set(calls) == {dtype}
        calls.clear()
        factory(numbers(64, 64, dtype=dtype, seed=2))
        assert calls == []


def refuse(*arguments):
    raise RuntimeError("no such kernel")


def test_a_quantised_head_in_parts_has_the_bits_of_the_whole(monkeypatch):
    monkeypatch.setattr(int8_linear, "probe", lambda: None)  # what saturates does so in parts, too
    weight, x = numbers(100, 64, dtype=torch.bfloat16), numbers(40, 64, dtype=torch.bfloat16, seed=3)
    factory = LinearFactory(Precision(torch.bfloat16, "int8"))
    whole = factory.head(weight)
    monkeypatch.setattr(linear_module, "HEAD_PIECE_SIZE", 40 * 64)
    parts = factory.head(weight)
    assert isinstance(parts, StackedLinear)
    assert torch.equal(parts(x), whole(x))
    assert (parts.weight_bytes, parts.is_batch_invariant) == (whole.weight_bytes, True)


@needs_native_kernels
def test_where_torch_does_not_multiply_int8_our_kernels_do(monkeypatch):
    def refuse():
        raise UnsupportedModelError("This CPU does not multiply int8 exactly.")

    monkeypatch.setattr(int8_linear, "probe", refuse)
    weight, precision = numbers(100, 64), Precision(torch.float32, "int8")
    factory = LinearFactory(precision, kernels=native_library.load())
    assert factory.takes_head_rows(64)
    assert type(factory(weight)) is NativeInt8Linear
    with pytest.raises(UnsupportedModelError):
        LinearFactory(precision)


@pytest.mark.parametrize("error", [RuntimeError("wrong by 3"), AttributeError("no such op"), NotImplementedError()])
def test_without_the_packed_kernel_plain_ones_do(monkeypatch, caplog, error):
    tries = []

    def refuse(*arguments):
        tries.append(arguments)
        raise error

    monkeypatch.setattr(linear_module.PackedLinear, "pack", refuse)
    factory = LinearFactory()
    with caplog.at_level(logging.WARNING):
        made = [factory(numbers(16, 8)) for _ in range(3)]
    assert {type(linear) for linear in made} == {PlainLinear}
    assert (len(tries), len(caplog.records)) == (1, 1)
    assert str(error) in caplog.text


def test_elsewhere_than_on_the_cpu_nothing_is_packed_or_promised():
    linear = LinearFactory()(torch.empty(16, 8, device="meta"))
    assert isinstance(linear, PlainLinear)
    assert not linear.is_batch_invariant
    assert linear(torch.empty(100, 8, device="meta")).shape == (100, 16)
