"""Several task lanes under names, each made when it is first needed."""

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject

from llama_gui.bridge.tasks import TaskLane

T = TypeVar("T")


class Lanes(QObject):
    """What is given to one name is done in order; different names do not wait for each other."""

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

    def close(self) -> bool:
        """Finish what was given and end the threads, the last made first; False: one did not end in time."""
        self.closed = True
        ended = [lane.close() for lane in reversed(self._lanes.values())]
        return all(ended)
