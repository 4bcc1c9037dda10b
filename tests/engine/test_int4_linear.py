"""Weights of four bits: right numbers, exact rows in calls of any size, and a machine that cannot says so."""

import os
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

from llama_gui.engine import int4_linear
from llama_gui.engine.int4_levels import GROUP
from llama_gui.engine.int4_linear import Int4Linear, probe
from llama_gui.engine.int4_panels import OVERHEAD
from llama_gui.engine.linear import StackedLinear
from llama_gui.errors import UnsupportedModelError

DTYPES = (torch.float32, torch.bfloat16)
COLUMNS = probe()


def numbers(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 1) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def whole_numbers(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randint(-127, 128, shape, generator=torch.Generator().manual_seed(seed)).to(torch.int8)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("out", "width"), [(16, 256), (33, 256), (96, 256), (130, 4224)])
def test_close_to_the_product_without_quantising(dtype: torch.dtype, out: int, width: int):
    weight, bias = numbers(out, width, dtype=dtype), numbers(out, dtype=dtype, seed=2)
    for rows in (9, 40):
        x = numbers(rows, width, dtype=dtype)
        got = Int4Linear(weight, bias, COLUMNS)(x)
        want = F.linear(x.double(), weight.double(), bias.double())
        assert (got.shape, got.dtype) == ((rows, out), dtype)
        assert float((got - want).norm() / want.norm()) < 0.1
    assert torch.equal(x, numbers(40, width, dtype=dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("rows", [5, 50])
def test_what_four_bits_hold_is_exact(dtype: torch.dtype, rows: int):
    levels = torch.randint(0, 16, (48, 128), generator=torch.Generator().manual_seed(3)).float() * 16 - 113
    levels[:, ::GROUP], levels[:, 1::GROUP] = -113, 127
    x = torch.randint(-2, 3, (rows, 128), generator=torch.Generator().manual_seed(4))
    x[:, 0] = 127  # so that the scale of each row is one
    got = Int4Linear((levels * 0.25).to(dtype), None, COLUMNS)(x.to(dtype))
    assert torch.equal(got.float(), (F.linear(x.float(), levels).bfloat16().float() * 0.25).to(dtype).float())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("out", "width"), [(40, 64), (200, 512), (200, 4096 + GROUP), (1024 + 64, 64)])
@pytest.mark.sampled(3)
def test_a_row_has_the_same_bits_in_calls_of_any_size(dtype: torch.dtype, out: int, width: int):
    linear, x = Int4Linear(numbers(out, width, dtype=dtype), None, COLUMNS), numbers(90, width, dtype=dtype, seed=3)
    whole = linear(x)
    sizes = range(1, 90, 1 if width < 4096 else 7)  # how many rows there are and how long they are is not one question
    assert [n for n in sizes if not torch.equal(linear(x[:n]), whole[:n])] == []
    mixed = torch.randperm(90, generator=torch.Generator().manual_seed(4))
    assert torch.equal(linear(x[mixed]), whole[mixed])


@pytest.mark.parametrize("width", [96, 2048, 8192])
def test_panels_and_kernel_agree_on_the_largest_sums(width: int):
    """Where float32 would begin to round: channels as heavy as they may be, times rows of the largest levels."""
    weight = torch.full((128, width), 3.0)
    weight[1], weight[2, ::2], weight[3:] = -3.0, -3.0, numbers(125, width)
    levels = whole_numbers(40, width)
    levels[0], levels[1], levels[2, ::2], levels[2, 1::2] = 127, -127, 127, -127
    expected = Int4Linear(weight, None, None).multiply(levels)
    assert torch.equal(Int4Linear(weight, None, COLUMNS).multiply(levels), expected)
    exact = levels.double() @ weight.double().t()
    assert float((expected - exact).norm() / exact.norm()) < 0.1


def test_groups_of_zeros_and_of_one_sign():
    weight = torch.zeros(16, 96)
    weight[:, 32:64], weight[:, 64:] = 3.0, -numbers(16, 32).abs()
    for rows in (1, 32):
        got = torch.cat([Int4Linear(weight, None, COLUMNS)(part) for part in torch.eye(96).split(rows)])
        assert torch.equal(got[:32], torch.zeros(32, 16))
        assert torch.allclose(got[32:64], torch.full((32, 16), 3.0), rtol=0.01)
        assert (got[64:] - weight[:, 64:].t()).abs().max() < 0.15


def test_channels_of_nothing():
    assert not Int4Linear(torch.zeros(40, 64), None, COLUMNS)(numbers(30, 64)).any()


def test_bytes():
    linear = Int4Linear(numbers(64, 128, dtype=torch.bfloat16), None)
    assert linear.weight_bytes == 64 * 128 * (0.5 + 4 / GROUP) + 64 * 2


def test_this_machine_can():
    assert probe() in (None, 32, 64)


@pytest.mark.parametrize("capability", ["default", pytest.param("avx2", marks=pytest.mark.campaign)])
def test_machines_that_pack_in_another_way(capability: str):
    """Each has blocks of its own, or none that is known; the answers are the same."""
    code = (
        "import torch; from tests.engine.test_int4_linear import *; torch.set_num_threads(2)\n"
        "test_panels_and_kernel_agree_on_the_largest_sums(96); print(COLUMNS)"
    )
    environment = os.environ | {"ATEN_CPU_CAPABILITY": capability}
    command = [sys.executable, "-c", code]
    child = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert child.stdout.strip() in ("None", "32", "64"), child.stderr


def test_prompts_are_read_in_longer_pieces_only_where_panels_cost_something():
    weight = numbers(64, 64)
    with_panels, without = Int4Linear(weight, None, 64), Int4Linear(weight, None)
    assert (with_panels.overhead, without.overhead) == (OVERHEAD, 0)
    assert StackedLinear([without, with_panels]).overhead == OVERHEAD


@pytest.mark.parametrize("wrong", ["rounds", "is missing"])
def test_a_machine_that_cannot(monkeypatch: pytest.MonkeyPatch, wrong: str):
    multiply = Int4Linear._by_kernel

    def broken(self: Int4Linear, parts: list[torch.Tensor]) -> torch.Tensor:
        if wrong == "is missing":
            raise AttributeError("no such operator")
        return multiply(self, parts) * (1 + 2**-7)

    monkeypatch.setattr(int4_linear.Int4Linear, "_by_kernel", broken)
    with pytest.raises(UnsupportedModelError, match=r"does not multiply int4 exactly|no such operator"):
        probe()


def test_panels_that_read_nothing_sensible_are_not_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(int4_linear, "find_columns", lambda: None)
    assert probe() is None
