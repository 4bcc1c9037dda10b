"""How many bytes a second this machine's processor reads from memory: what bounds the speed of writing tokens."""

import threading
import time

_BYTES = 96 * 2**20
"""More than any cache holds that a model would not fit in either."""


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
