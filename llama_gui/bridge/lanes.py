"""Several task lanes under names, each made when it is first needed."""

import time
from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject

from llama_gui.bridge.tasks import TaskLane

T = TypeVar("T")


class Lanes(QObject):
    """Tasks under one name are done in order; different names do not wait for each other."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._lanes: dict[str, TaskLane] = {}
        self.closed = False

    def run(
        self, name: str, work: Callable[[], T], done: Callable[[T], None], failed: Callable[[Exception], None]
    ) -> None:
        """Do `work` in the lane; then `done` or `failed` on this thread. After `close` nothing is done."""
        if self.closed:
            return
        if name not in self._lanes:
            self._lanes[name] = TaskLane(name, self)
        self._lanes[name].run(work, done, failed)

    def close(self, timeout_s: float = 3.0) -> bool:
        """Finish what was given and end the threads, all of them in this time; False: one did not."""
        self.closed = True
        for lane in self._lanes.values():
            lane.close(0)  # told to end, not waited for
        deadline = time.monotonic() + timeout_s
        ended = [lane.close(max(0.0, deadline - time.monotonic())) for lane in self._lanes.values()]
        return all(ended)
