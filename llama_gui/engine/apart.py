"""Work in a thread that ends with it, so that nothing of the thread stays behind.

OpenMP (libgomp, which torch uses on Linux) keeps helpers for every thread that has computed something, until that
thread ends. Once all helpers together are more than the cores, they stop waiting for work awake and have to be woken
for each operation. Measured with two cores and Llama 3.2 1B's shape in int8: an engine whose model was loaded by
another thread that lives on writes at 0.8 (one chat) and 0.6 (ten chats) of the speed.
"""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Result(Generic[R]):
    value: R


@dataclass(frozen=True, slots=True)
class _Failure:
    error: BaseException


class Apart(Generic[T, R]):
    """Runs `work` in a thread of its own, and hands what it reports to the thread that waits.

    `work` gets a function that reports a `T`, and one that says whether nobody wants the result any more.
    """

    def __init__(self, work: Callable[[Callable[[T], None], Callable[[], bool]], R], name: str) -> None:
        self._work = work
        self._news: queue.SimpleQueue[tuple[T] | _Result[R] | _Failure] = queue.SimpleQueue()
        self._unwanted = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def result(self, on_report: Callable[[T], None] | None) -> R:
        """Run it, and wait. What `on_report` raises ends the waiting once the work has noticed that it is unwanted.

        Raises:
            BaseException: whatever `work` or `on_report` raised.
        """
        self._thread.start()
        try:
            while True:
                news = self._news.get()
                if isinstance(news, _Result):
                    return news.value
                if isinstance(news, _Failure):
                    raise news.error
                if on_report is not None:
                    on_report(news[0])
        finally:
            self._unwanted.set()
            self._thread.join()

    def _run(self) -> None:
        try:
            value = self._work(lambda report: self._news.put((report,)), self._unwanted.is_set)
        except BaseException as error:
            self._news.put(_Failure(error))
        else:
            self._news.put(_Result(value))
