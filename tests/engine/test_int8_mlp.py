"""The fused int8 feed-forward part: near to the plain one, the same bits in steps of any size."""

import pytest
import torch

from llama_gui.engine import gating, native_library
from llama_gui.engine.gating import ACTIVATIONS, Gate
from llama_gui.engine.int4_linear import Int4Linear
from llama_gui.engine.int8_linear import Int8Linear
from llama_gui.engine.int8_mlp import Int8MLP
from llama_gui.engine.layers import MLP
from llama_gui.engine.linear import LinearFactory
from llama_gui.engine.native_linear import NativeInt8Linear
from llama_gui.engine.weight_rows import WeightRows
from tests.engine.this_machine import needs_native_kernels, needs_torch_int8

HIDDEN, INNER = 64, 160


def numbers(*shape, dtype=torch.float32, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def native(weight, bias):
    kernels = native_library.load()
    assert kernels is not None
    return NativeInt8Linear(WeightRows.of(weight), bias, kernels, weight.dtype)


KINDS = [
    pytest.param(Int8Linear, 0.03, id="torch int8", marks=needs_torch_int8),
    pytest.param(native, 0.03, id="native int8", marks=needs_native_kernels),
    pytest.param(Int4Linear, 0.2, id="torch int4"),
]


def weights(dtype):
    return numbers(2 * INNER, HIDDEN, dtype=dtype) / 8, numbers(HIDDEN, INNER, dtype=dtype, seed=2) / 8


def make(dtype, kind=Int8Linear, gate: Gate = "silu"):
    return Int8MLP(*(kind(weight, None) for weight in weights(dtype)), gate)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("kind", "error"), KINDS)
@pytest.mark.parametrize("gate", [gate for gate in ACTIVATIONS if gate != "clamped"])
def test_near_to_the_plain_one(dtype, kind, error, gate):
    factory = LinearFactory()
    x = numbers(40, HIDDEN, dtype=dtype, seed=3)
    want = MLP(*(factory(weight) for weight in weights(dtype)), gate)(x).float()
    got = make(dtype, kind, gate)(x)
    assert (got.shape, got.dtype) == (x.shape, dtype)
    assert (got.float() - want).norm() / want.norm() < error
    assert torch.equal(x, numbers(40, HIDDEN, dtype=dtype, seed=3))


@pytest.mark.parametrize("block", [INNER, 7 * INNER, 10**9], ids=["a row at a time", "seven", "in one piece"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_row_is_the_same_in_steps_of_any_size(monkeypatch, dtype, block):
    mlp = make(dtype)
    x = numbers(100, HIDDEN, dtype=dtype, seed=3)
    whole = mlp(x)
    monkeypatch.setattr(gating, "BLOCK_SIZE", block)
    assert torch.equal(mlp(x), whole)
    assert [n for n in (1, 2, 3, 8, 31, 33, 64, 99) if not torch.equal(mlp(x[:n]), whole[:n])] == []


def test_rows_of_zeros_and_of_very_different_size():
    mlp = make(torch.bfloat16)
    x = numbers(4, HIDDEN, dtype=torch.bfloat16, seed=3)
    x[1], x[2] = 0, 1e-6 * x[2]
    y = mlp(x)
    assert torch.isfinite(y).all()
    assert (y[1] == 0).all()
    assert y[2].abs().max() < 1e-8  # about the square of what comes in
