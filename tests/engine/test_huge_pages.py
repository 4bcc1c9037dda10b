"""Weights in huge pages: the same numbers at the same place."""

import sys
from pathlib import Path

import pytest
import torch

from llama_gui.engine.huge_pages import use_huge_pages


def huge_kilobytes_at(address):
    """Of the mapping that holds `address`."""
    holds = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first = line.split()[0]
        if not first.endswith(":"):
            start, end = (int(number, 16) for number in first.split("-"))
            holds = start <= address < end
        elif holds and first == "AnonHugePages:":
            return int(line.split()[1])
    return 0


@pytest.mark.parametrize("packed", [False, True])
def test_numbers_stay(packed):
    numbers = torch.randn(4096, 2048, generator=torch.Generator().manual_seed(1))
    weight = torch.ops.mkldnn._reorder_linear_weight(numbers) if packed else numbers.clone()
    moved = use_huge_pages(weight)
    assert torch.equal(weight.to_dense() if packed else weight, numbers)
    if moved:
        address = torch.ops.mkldnn.data_ptr(weight) if packed else weight.data_ptr()
        assert huge_kilobytes_at(address + 2**24) >= 2**14


def test_small_ones_and_other_devices_are_left_alone():
    assert not use_huge_pages(torch.ones(100))
    assert not use_huge_pages(torch.empty(2048, 2048, device="meta"))


def test_elsewhere_than_on_linux_nothing_is_done(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert not use_huge_pages(torch.ones(2**22))
