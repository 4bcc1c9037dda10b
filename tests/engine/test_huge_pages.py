"""Weights in huge pages: the same numbers at the same place."""

import mmap
import sys
import threading
from pathlib import Path

import pytest
import torch

from llama_gui.engine.huge_pages import HugePages, _collapse, _place, keep_small_pages


def told_of(address, name):
    """What the kernel says, under this name, of the mapping that holds `address`."""
    holds = False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        first, *rest = line.split()
        if not first.endswith(":"):
            start, end = (int(number, 16) for number in first.split("-"))
            holds = start <= address < end
        elif holds and first == f"{name}:":
            return rest
    return []


def huge_kilobytes_at(address):
    return int(told_of(address, "AnonHugePages")[0])


@pytest.mark.parametrize("packed", [False, True])
def test_numbers_stay(packed):
    numbers = torch.randn(4096, 2048, generator=torch.Generator().manual_seed(1))
    weight = torch.ops.mkldnn._reorder_linear_weight(numbers) if packed else numbers.clone()
    place = _place(weight)
    moved = place is not None and _collapse(*place)
    assert torch.equal(weight.to_dense() if packed else weight, numbers)
    if moved:
        address = torch.ops.mkldnn.data_ptr(weight) if packed else weight.data_ptr()
        assert huge_kilobytes_at(address + 2**24) >= 2**14


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
def test_what_grows_stays_in_small_pages():
    region = torch.empty(2**24, dtype=torch.int8)
    keep_small_pages(region)
    region.fill_(1)
    assert "nh" in told_of(region.data_ptr() + 2**22, "VmFlags")
    assert huge_kilobytes_at(region.data_ptr() + 2**22) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
def test_what_grows_has_no_pages_that_others_have_written():
    """What the C library hands out again has them all, and they would be taken without being counted."""
    region = torch.ones(2**24, dtype=torch.int8)
    keep_small_pages(region)
    assert not region[mmap.PAGESIZE : -mmap.PAGESIZE].any()


def test_small_ones_and_other_devices_are_left_alone():
    assert _place(torch.ones(100)) is None
    assert _place(torch.empty(2048, 2048, device="meta")) is None


def test_elsewhere_than_on_linux_nothing_is_done(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert _place(torch.ones(2**22)) is None


def test_in_the_background():
    weights = [torch.full((2048, 2048), float(n)) for n in range(3)] + [torch.ones(10)]
    pages = HugePages(weights)
    pages.wait()
    assert [weight.unique().tolist() for weight in weights] == [[0.0], [1.0], [2.0], [1.0]]
    pages.close()


def test_who_lets_go_of_the_weights_need_not_wait_for_all():
    pages = HugePages([torch.ones(2048, 2048) for _ in range(20)])  # nobody holds them
    pages.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "llama-gui-pages"]


def test_small_weights_start_no_thread():
    before = threading.active_count()
    pages = HugePages([torch.ones(100)])
    assert threading.active_count() == before
    pages.close()
