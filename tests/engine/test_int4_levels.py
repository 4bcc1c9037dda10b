"""Sixteen levels in groups: near to the weight, whole numbers in eight bits, sums that float32 holds exactly."""

import pytest
import torch

from llama_gui.engine.int4_levels import GROUP, parts_of, quantise

LARGEST_SUM = 2**24


def channels(kind: str, out: int, width: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(out, width, generator=generator)
    if kind == "with one outlier":
        weight[:, 7] = 40
    elif kind == "of one size":
        weight = torch.full((out, width), 0.02)
    elif kind == "heavy":
        weight = weight.sign() * (1 + 0.1 * weight.abs())
    elif kind == "tiny":
        weight *= 1e-30
    return weight


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("kind", "error"),
    [("normal", 0.085), ("with one outlier", 0.16), ("of one size", 0.01), ("heavy", 0.08), ("tiny", 0.085)],
)
@pytest.mark.parametrize("width", [GROUP, 2048, 8192])
def test_near_and_whole(kind: str, error: float, width: int, dtype: torch.dtype):
    weight = channels(kind, 24, width).to(dtype)
    found = quantise(weight)
    whole = found.values
    got = whole * found.scales.float().unsqueeze(1)
    want = weight.double()
    assert float((got.double() - want).norm() / want.norm()) < error
    for part in (found.levels, found.steps, found.lows, whole):
        assert torch.equal(part, part.round())
    assert (found.scales.dtype, found.levels.amin() >= 0, found.levels.amax() <= 15) == (dtype, True, True)
    assert found.steps.amin() >= 1
    assert -128 <= whole.amin() <= whole.amax() <= 127
    assert found.lows.amin() >= -128
    assert (found.lows + 15 * found.steps).amax() <= 127
    assert max(part.abs().sum(1).amax() for part in whole.split(parts_of(width), 1)) * 127 <= LARGEST_SUM


@pytest.mark.parametrize("width", [32, 2048, 4096, 4128, 5632, 8192, 11008, 14336, 28672])
def test_parts_are_whole_groups_and_not_too_long(width: int):
    parts = parts_of(width)
    assert sum(parts) == width
    assert all(part % GROUP == 0 and 0 < part <= 4096 for part in parts)
    assert max(parts) - min(parts) <= GROUP


def test_zeros_stay_zeros():
    weight = torch.zeros(3, 64)
    weight[0, :32] = 1
    assert not quantise(weight).values[:, 32:].any()
