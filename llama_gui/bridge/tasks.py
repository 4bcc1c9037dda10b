"""Run it off the GUI thread, answer on it: one serial lane."""

import queue
import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal, Slot

from llama_gui.errors import BugError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Task:
    work: Callable[[], Any]
    done: Callable[[Any], None] | None
    failed: Callable[[Exception], None] | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    task: _Task
    value: Any
    error: Exception | None


class TaskLane(QObject):
    """One worker thread that does its tasks in the order they were given.

    `done` and `failed` are called in the thread that this object lives in, whatever kind of callable they are; those
    of a Qt object that is gone by then are left out.
    """

    _wake = Signal()

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._outcomes: deque[_Outcome] = deque()
        self._closed = False
        self._wake.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        # A daemon, so that a disk that hangs cannot keep the process alive after `close` has given up on it.
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def run(
        self,
        work: Callable[[], T],
        done: Callable[[T], None] | None = None,
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        """Do `work` on the lane; then call `done` with its value, or `failed` with its error, on this thread.

        Raises:
            BugError: the lane is closed.
        """
        if self._closed:
            raise BugError(f"The lane {self._thread.name} is closed and takes no more work.")
        self._tasks.put(_Task(work, done, failed))

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def close(self, timeout_s: float = 3.0) -> bool:
        """Finish what was given, deliver the answers, end the thread. False: the thread did not end in time."""
        if not self._closed:
            self._closed = True
            self._tasks.put(None)
        self._thread.join(timeout_s)
        self._deliver()
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                outcome = _Outcome(task, task.work(), None)
            except BaseException as error:  # a panic in a Rust library is no Exception, and must not end the lane
                outcome = _Outcome(task, None, _as_exception(error))
            self._outcomes.append(outcome)
            del task, outcome  # the result must not stay alive until the next task
            self._wake.emit()

    @Slot()
    def _deliver(self) -> None:
        while self._outcomes:
            _answer(self._outcomes.popleft())


def _as_exception(error: BaseException) -> Exception:
    if isinstance(error, Exception):
        return error
    bug = BugError(f"{type(error).__name__}: {error}")
    bug.__cause__ = error
    return bug


def _answer(outcome: _Outcome) -> None:
    callback = outcome.task.done if outcome.error is None else outcome.task.failed
    if callback is None:
        if outcome.error is not None:  # no callback was given for it, so it must not go unnoticed
            sys.excepthook(type(outcome.error), outcome.error, outcome.error.__traceback__)
        return
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, QObject) and not shiboken6.isValid(owner):
        return
    callback(outcome.value if outcome.error is None else outcome.error)
