"""Work in a thread that ends with it, so that nothing of the thread stays behind.

OpenMP (libgomp, which torch uses on Linux) keeps helper threads for every thread that has computed something, until
that thread ends. Once there are more helpers than cores, they sleep between operations instead of spinning, and waking
them takes time. Measured with two cores and Llama 3.2 1B's shape in int8: an engine whose model was loaded by another
thread that lives on writes at 0.8 (one chat) and 0.6 (ten chats) of the speed. The trials of this machine's kernels
before a model is loaded compute on all cores, too.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def try_apart(trial: Callable[[], R]) -> R:
    """Run `trial`, which computes something on all cores and reports nothing, in a thread of its own; its result."""
    return run_apart(lambda _report, _is_unwanted: trial(), None, name="llama-gui-trial")


def run_apart(
    work: Callable[[Callable[[T], None], Callable[[], bool]], R], on_report: Callable[[T], None] | None, *, name: str
) -> R:
    """Run `work` in a thread called `name`, and return its result; `on_report` hears its reports in the calling thread.

    `work` gets a function that reports a `T`, and one that returns True once nobody wants the result. If `on_report`
    raises, the error is passed on as soon as `work` has noticed that and ended.

    Raises:
        BaseException: whatever `work` or `on_report` raised.
    """
    reports: queue.SimpleQueue[T | None] = queue.SimpleQueue()  # None: it has ended
    outcome: Future[R] = Future()
    unwanted = threading.Event()

    def run() -> None:
        try:
            outcome.set_result(work(reports.put, unwanted.is_set))
        except BaseException as error:
            outcome.set_exception(error)
        finally:
            reports.put(None)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    try:
        while (report := reports.get()) is not None:
            if on_report is not None:
                on_report(report)
        return outcome.result()
    finally:
        unwanted.set()
        thread.join()
