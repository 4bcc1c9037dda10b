"""Weights in huge pages: the same numbers at the same place."""

import sys

import pytest
import torch

from llama_gui.engine.huge_pages import use_huge_pages


def huge_bytes():
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("AnonHugePages"))


@pytest.mark.parametrize("packed", [False, True])
def test_numbers_stay(packed):
    numbers = torch.randn(2048, 2048, generator=torch.Generator().manual_seed(1))
    weight = torch.ops.mkldnn._reorder_linear_weight(numbers) if packed else numbers.clone()
    before = huge_bytes() if sys.platform == "linux" else 0
    moved = use_huge_pages(weight)
    assert torch.equal(weight.to_dense() if packed else weight, numbers)
    if moved:
        assert huge_bytes() > before


def test_small_ones_and_other_devices_are_left_alone():
    assert not use_huge_pages(torch.ones(100))
    assert not use_huge_pages(torch.empty(2048, 2048, device="meta"))


def test_elsewhere_than_on_linux_nothing_is_done(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert not use_huge_pages(torch.ones(2**22))
