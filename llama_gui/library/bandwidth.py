"""How many bytes a second this machine's processor reads from memory: what bounds the speed of writing tokens."""

import contextlib
import json
import platform
import threading
import time
from collections.abc import Callable
from pathlib import Path

from llama_gui.files import write_whole
from llama_gui.library.processor import NAMES, cpu_flags

_BYTES = 96 * 2**20
"""More than any cache holds that a model would not fit in either."""
_KEPT_S = 30 * 24 * 3600.0
_MOST_KEPT = 10
_MOST_FILE_BYTES = 2**20


def steady_bandwidth(file: Path, measure: Callable[[int], float] | None = None) -> float:
    """Bytes per second that all cores read together: the best of now and of what `file` keeps of the last 30 days.

    What else runs makes one measurement lower than the machine is, and never higher. A `file` that is missing, damaged,
    of another machine or not writable costs the former ones only. `measure`: see `read_bandwidth`.
    """
    import psutil  # here: the window shows sooner

    threads = psutil.cpu_count(logical=False) or 1
    machine = " ".join([platform.machine(), f"{threads} cores", *sorted(cpu_flags().intersection(NAMES))])
    now = time.time()
    former = [(at, speed) for at, speed in _former(file, machine) if 0 <= now - at < _KEPT_S]
    known = sorted([*former, (now, (measure or read_bandwidth)(threads))], key=lambda pair: pair[1])[-_MOST_KEPT:]
    with contextlib.suppress(OSError):
        write_whole(file, json.dumps({"machine": machine, "measured": known}).encode())
    return known[-1][1]


def _former(file: Path, machine: str) -> list[tuple[float, float]]:
    """When it was measured, as seconds since 1970, and what came out."""
    with contextlib.suppress(OSError, ValueError, RecursionError, KeyError, TypeError):
        with file.open("rb") as stream:
            kept = json.loads(stream.read(_MOST_FILE_BYTES))
        if kept["machine"] == machine:
            return [(float(at), float(speed)) for at, speed in kept["measured"] if 0 < float(speed) < float("inf")]
    return []


def read_bandwidth(threads: int, seconds: float = 0.3) -> float:
    """Bytes per second that `threads` threads read together, the best of a few rounds. Takes about `seconds`."""
    import numpy as np  # here: the window shows before it is loaded

    block = np.ones(_BYTES // 8 // threads * threads, dtype=np.int64)
    parts = np.split(block, threads)
    best, ends = 0.0, time.perf_counter() + seconds
    while best == 0.0 or time.perf_counter() < ends:
        began = time.perf_counter()
        # sum() reads and writes nothing, and lets the other threads run.
        workers = [threading.Thread(target=part.sum) for part in parts[1:]]
        for worker in workers:
            worker.start()
        parts[0].sum()
        for worker in workers:
            worker.join()
        best = max(best, block.nbytes / (time.perf_counter() - began))
    return best
