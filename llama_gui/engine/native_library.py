"""The compiled library of our own kernels: found, loaded, and tried before anybody relies on it.

Where it was not compiled, does not load, was made from other sources or computes wrong sums, torch's kernels are used.
"""

import ctypes
import logging
from functools import cache
from pathlib import Path

from llama_gui.engine.apart import try_apart
from llama_gui.engine.device import torch_threads
from llama_gui.engine.native.sources import digest
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_trials import adds_right, attends_right, passes_right
from llama_gui.paths import native_kernels

_log = logging.getLogger(__name__)
_ANEW = "install llama-gui again, or run python -m llama_gui.engine.native.build"


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
        if not library.llama_gui_can_run():
            return None
        if not _is_of(library, digest(path.parent)):
            _log.warning("The kernels in %s are not of their sources, torch's are used: %s", path, _ANEW)
            return None
        kernels = NativeKernels(library)
    except (OSError, AttributeError) as error:
        _log.warning("The kernels in %s cannot be loaded, torch's are used: %s", path, error)
        return None
    if not try_apart(lambda: _are_right(kernels)):
        _log.warning("The kernels in %s add up wrong on this machine, torch's are used.", path)
        return None
    return kernels


def _is_of(library: ctypes.CDLL, sources: str) -> bool:
    """Whether it was compiled from these sources. Others expect other arguments, and would write to wrong places."""
    try:
        stamp = library.llama_gui_sources
    except AttributeError:  # it is older than the stamp
        return False
    stamp.restype = ctypes.c_char_p
    return (stamp().decode() or sources) == sources or not sources


def _are_right(kernels: NativeKernels) -> bool:
    """All of them in one thread: on a busy machine several wait for each other at every call, for seconds in all.

    Whole layers, which have products, attention and norms, in several threads, too.
    """
    with torch_threads(1):
        in_one = all(is_right(kernels) for is_right in (adds_right, attends_right, passes_right))
    return in_one and passes_right(kernels)
