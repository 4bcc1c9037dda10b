"""The NVIDIA card that the engine takes by itself, as its driver tells: without torch, which takes seconds to load."""

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CUDA_LIBRARIES = ("libtorch_cuda.so", "torch_cuda.dll")
_HIDDEN = ("", "-1", "NoDevFiles")
"""What CUDA_VISIBLE_DEVICES says where programs are not to use a card."""
_MEGAHERTZ, _TRANSFERS = 10**6, 2
"""Memory gives two words a cycle of the clock that the driver tells."""


@dataclass(frozen=True, slots=True)
class GraphicsCard:
    """Bytes, and bytes per second. `capability`: as (8, 6). `bandwidth` None: the driver does not tell."""

    name: str
    total: int
    free: int
    capability: tuple[int, int]
    bandwidth: float | None


def torch_has_cuda() -> bool:
    """Whether the torch that is installed can use such a card; it is not imported."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None or os.environ.get("CUDA_VISIBLE_DEVICES", "0") in _HIDDEN:
        return False
    folder = Path(found.origin).parent / "lib"
    return any((folder / name).exists() for name in _CUDA_LIBRARIES)


def card_here() -> GraphicsCard | None:
    """The card with the most memory; None: there is none, or torch cannot use it."""
    if not torch_has_cuda():
        return None
    import pynvml  # here: few computers have such a card

    try:
        with _driver(pynvml):
            handles = [pynvml.nvmlDeviceGetHandleByIndex(number) for number in range(pynvml.nvmlDeviceGetCount())]
            return max((_card(pynvml, handle) for handle in handles), key=lambda card: card.total, default=None)
    except pynvml.NVMLError:  # there is no driver, or it does not answer
        return None


@contextmanager
def _driver(nvml: Any) -> Iterator[None]:
    nvml.nvmlInit()
    try:
        yield
    finally:
        nvml.nvmlShutdown()


def _card(nvml: Any, handle: Any) -> GraphicsCard:
    memory, name = nvml.nvmlDeviceGetMemoryInfo(handle), nvml.nvmlDeviceGetName(handle)
    return GraphicsCard(
        name if isinstance(name, str) else name.decode(errors="replace"),
        int(memory.total),
        int(memory.free),
        tuple(nvml.nvmlDeviceGetCudaComputeCapability(handle)),
        _bandwidth(nvml, handle),
    )


def _bandwidth(nvml: Any, handle: Any) -> float | None:
    try:
        width = nvml.nvmlDeviceGetMemoryBusWidth(handle)
        clock = nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_MEM)
    except nvml.NVMLError:
        return None
    return clock * _MEGAHERTZ * _TRANSFERS * width / 8 or None
