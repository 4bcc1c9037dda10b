"""Weights of four bits: right numbers, exact rows in calls of any size, and a machine that cannot says so."""

import pytest
import torch
import torch.nn.functional as F

from llama_gui.engine import int4_linear
from llama_gui.engine.int4_linear import GROUP, Int4Linear, probe
from llama_gui.errors import UnsupportedModelError

DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def numbers(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 1) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("out", [16, 33, 96])
def test_close_to_the_product_without_quantising(dtype: torch.dtype, out: int):
    weight, bias, x = numbers(out, 256, dtype=dtype), numbers(out, dtype=dtype, seed=2), numbers(9, 256, dtype=dtype)
    got = Int4Linear(weight, bias)(x)
    want = F.linear(x.double(), weight.double(), bias.double())
    assert (got.shape, got.dtype) == ((9, out), dtype)
    assert float((got - want).norm() / want.norm()) < 0.1


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_what_four_bits_hold_is_exact(dtype: torch.dtype):
    levels = torch.randint(-8, 8, (48, 128), generator=torch.Generator().manual_seed(3)).float()
    levels[:, ::GROUP], levels[:, 1::GROUP] = -8, 7
    weight = (levels * 0.25).to(dtype)
    x = torch.randint(-2, 3, (5, 128), generator=torch.Generator().manual_seed(4)).to(dtype)
    assert torch.equal(Int4Linear(weight, None)(x).float(), F.linear(x.float(), weight.float()).to(dtype).float())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_row_has_the_same_bits_in_calls_of_any_size(dtype: torch.dtype):
    linear, x = Int4Linear(numbers(512, 512, dtype=dtype), None), numbers(130, 512, dtype=dtype, seed=3)
    whole = linear(x)
    assert [n for n in range(1, 130) if not torch.equal(linear(x[:n]), whole[:n])] == []
    mixed = torch.randperm(130, generator=torch.Generator().manual_seed(4))
    assert torch.equal(linear(x[mixed]), whole[mixed])


def test_groups_of_zeros_and_of_one_sign():
    weight = torch.zeros(16, 96)
    weight[:, 32:64], weight[:, 64:] = 3.0, -numbers(16, 32).abs()
    got = Int4Linear(weight, None)(torch.eye(96))
    assert torch.equal(got[:32], torch.zeros(32, 16))
    assert torch.allclose(got[32:64], torch.full((32, 16), 3.0))
    assert (got[64:] - weight[:, 64:].t()).abs().max() < 0.15


def test_bytes():
    assert Int4Linear(numbers(64, 128, dtype=torch.bfloat16), None).weight_bytes == 64 * 128 * (0.5 + 4 / GROUP)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_this_machine_can(dtype: torch.dtype):
    probe(dtype)


def test_a_machine_that_cannot(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(int4_linear, "_is_sound", lambda dtype: False)
    with pytest.raises(UnsupportedModelError, match="does not multiply int4 exactly"):
        probe(torch.bfloat16)

    def missing(dtype: torch.dtype) -> bool:
        raise AttributeError("no such operator")

    monkeypatch.setattr(int4_linear, "_is_sound", missing)
    with pytest.raises(UnsupportedModelError, match="no such operator"):
        probe(torch.bfloat16)
