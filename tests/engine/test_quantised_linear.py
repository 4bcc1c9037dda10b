"""Rows in eight bits: near to the row, the same whether some rows at a time are quantised or all."""

import pytest
import torch

from llama_gui.engine import gating
from llama_gui.engine.quantised_linear import quantise_rows


def rows(count: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(count, 96, generator=torch.Generator().manual_seed(1)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_within_half_a_step(dtype: torch.dtype):
    x = rows(20, dtype)
    levels, scales = quantise_rows(x, dtype)
    assert (levels.dtype, levels.shape, scales.dtype, scales.shape) == (torch.int8, x.shape, dtype, (20, 1))
    assert levels.abs().amax() == 127
    assert ((levels * scales.float() - x.float()).abs() <= 0.502 * scales.float()).all()


@pytest.mark.parametrize("block", [1, 96 * 7, 10**9])
def test_some_rows_at_a_time(monkeypatch: pytest.MonkeyPatch, block: int):
    x = rows(20, torch.bfloat16)
    whole = quantise_rows(x, torch.bfloat16)
    monkeypatch.setattr(gating, "BLOCK_SIZE", block)
    assert all(torch.equal(a, b) for a, b in zip(quantise_rows(x, torch.bfloat16), whole, strict=True))


def test_no_rows_and_rows_of_nothing():
    assert quantise_rows(rows(0, torch.float32), torch.float32)[0].shape == (0, 96)
    levels, scales = quantise_rows(torch.zeros(2, 96), torch.float32)
    assert not levels.any()
    assert scales.all()
