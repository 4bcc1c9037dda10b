"""What the processor can, without torch: which kernels the engine will have is known before it is loaded."""

import contextlib
import ctypes
import importlib.util
import os
import sys
from pathlib import Path

from llama_gui.paths import native_kernels

NAMES = ("avx2", "fma", "f16c", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_tile", "amx_int8")
"""As /proc/cpuinfo has them, in the order of the bits of `llama_gui_cpu` in `engine/native/kernels.c`."""


def cpu_flags() -> frozenset[str]:
    """What it can, of `NAMES` and maybe more; nothing where nobody says."""
    if sys.platform == "win32":  # which itself tells of no more than AVX2: the processor is asked, by our own kernels
        library, torch = native_kernels(), importlib.util.find_spec("torch")  # not imported by that
        if library is None or torch is None or torch.origin is None:
            return frozenset()
        # It brings the OpenMP that they need.
        with contextlib.suppress(OSError), os.add_dll_directory(str(Path(torch.origin).parent / "lib")):
            return flags_by(library)
        return frozenset()
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            return next((frozenset(line.split()) for line in file if line.startswith("flags")), frozenset())
    except OSError:
        return frozenset()


def flags_by(library: Path) -> frozenset[str]:
    """Those of `NAMES` that compiled kernels find here; none where they are of another version, or cannot be loaded."""
    try:
        bits = ctypes.CDLL(str(library)).llama_gui_cpu()
    except (OSError, AttributeError):
        return frozenset()
    return frozenset(name for place, name in enumerate(NAMES) if bits >> place & 1)
