"""The compiled library of our own kernels: found, loaded, and tried before anybody relies on it.

Where it was not compiled, does not load or computes wrong sums, torch's kernels are used.
"""

import ctypes
import logging
from functools import cache
from pathlib import Path

from llama_gui.engine.apart import try_apart
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_trials import adds_right, attends_right, passes_right
from llama_gui.paths import native_kernels

_log = logging.getLogger(__name__)


def load() -> NativeKernels | None:
    """The kernels, tried once for each file that they come from; None: there are none here."""
    path = native_kernels()
    try:
        return None if path is None else _tried(path, path.stat().st_mtime_ns)
    except FileNotFoundError:  # it is just being recompiled
        return None


@cache
def _tried(path: Path, _changed: int) -> NativeKernels | None:
    try:
        library = ctypes.CDLL(str(path))
        kernels = NativeKernels(library) if library.llama_gui_can_run() else None
    except (OSError, AttributeError) as error:
        _log.warning("The kernels in %s cannot be loaded, torch's are used: %s", path, error)
        return None
    if kernels is not None and not try_apart(lambda: _are_right(kernels)):
        _log.warning("The kernels in %s add up wrong on this machine, torch's are used.", path)
        return None
    return kernels


def _are_right(kernels: NativeKernels) -> bool:
    return all(is_right(kernels) for is_right in (adds_right, attends_right, passes_right))
