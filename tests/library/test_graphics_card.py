"""What the driver of a card tells, played: nobody here has one."""

import importlib.util
from types import SimpleNamespace

import pynvml
import pytest

from llama_gui.library.graphics_card import GraphicsCard, card_here, torch_has_cuda

GB = 2**30


@pytest.fixture
def torch_at(monkeypatch, tmp_path):
    """An installed torch, with the library for cards or without."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    (tmp_path / "torch" / "lib").mkdir(parents=True)

    def torch_at(*, has_cuda):
        if has_cuda:
            (tmp_path / "torch" / "lib" / "libtorch_cuda.so").touch()
        origin = str(tmp_path / "torch" / "__init__.py")
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: SimpleNamespace(origin=origin))

    return torch_at


@pytest.fixture
def driver(monkeypatch):
    """Plays cards, given as name, total, free, capability, clock and width; tells when it was opened and closed."""
    calls = []

    def driver(*cards):
        told = {
            "nvmlInit": lambda: calls.append("open"),
            "nvmlShutdown": lambda: calls.append("closed"),
            "nvmlDeviceGetCount": lambda: len(cards),
            "nvmlDeviceGetHandleByIndex": lambda number: cards[number],
            "nvmlDeviceGetName": lambda card: card[0],
            "nvmlDeviceGetMemoryInfo": lambda card: SimpleNamespace(total=card[1], free=card[2]),
            "nvmlDeviceGetCudaComputeCapability": lambda card: card[3],
            "nvmlDeviceGetMaxClockInfo": lambda card, kind: _known(card[4]),
            "nvmlDeviceGetMemoryBusWidth": lambda card: _known(card[5]),
        }
        for name, function in told.items():
            monkeypatch.setattr(pynvml, name, function)
        return calls

    return driver


def _known(number):
    if number is None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
    return number


def test_the_largest_card_is_taken(torch_at, driver):
    torch_at(has_cuda=True)
    calls = driver(("GTX 1650", 4 * GB, 3 * GB, (7, 5), 4001, 128), ("RTX 3090", 24 * GB, 22 * GB, (8, 6), 9751, 384))
    assert card_here() == GraphicsCard("RTX 3090", 24 * GB, 22 * GB, (8, 6), pytest.approx(936e9, rel=1e-3))
    assert calls == ["open", "closed"]


def test_a_driver_may_keep_to_itself_how_fast_the_memory_is(torch_at, driver):
    torch_at(has_cuda=True)
    driver((b"GRID", 8 * GB, 8 * GB, [8, 0], None, 384))
    assert card_here() == GraphicsCard("GRID", 8 * GB, 8 * GB, (8, 0), None)


def test_there_is_no_card(torch_at, driver):
    torch_at(has_cuda=True)
    driver()
    assert card_here() is None


def test_there_is_no_driver(torch_at, driver, monkeypatch):
    torch_at(has_cuda=True)
    driver()

    def fail():
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", fail)
    assert card_here() is None


def test_torch_cannot_use_it(torch_at, driver):
    torch_at(has_cuda=False)
    calls = driver(("RTX 3090", 24 * GB, 22 * GB, (8, 6), 9751, 384))
    assert card_here() is None
    assert calls == []


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_it_may_be_hidden(torch_at, monkeypatch, hidden):
    torch_at(has_cuda=True)
    assert torch_has_cuda()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    assert not torch_has_cuda()


def test_without_torch_there_is_none(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not torch_has_cuda()
