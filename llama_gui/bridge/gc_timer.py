"""Keeps Python's cyclic garbage collection in the GUI thread."""

import ctypes
import gc
import sys

from PySide6.QtCore import QObject, QTimer, Slot


class GarbageCollector(QObject):
    """Collects garbage from the thread it lives in, and nowhere else.

    CPython runs the collector in whichever thread happens to allocate. In the engine's thread it would destroy Qt
    objects away from the GUI thread, which crashes. Here a timer asks, as the interpreter itself would, whether enough
    was allocated since the last time: a window at rest does nothing, and the oldest objects are looked at seldom.
    """

    def __init__(self, interval_ms: int = 2000, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thresholds = gc.get_threshold()
        gc.disable()
        self._timer = QTimer(self, interval=interval_ms)
        self._timer.timeout.connect(self._collect)
        self._timer.start()
        self._soon = QTimer(self, singleShot=True, interval=interval_ms // 2)
        self._soon.timeout.connect(self._give_back)

    @Slot()
    def _collect(self) -> None:
        """The oldest generation that is due, with those younger than it."""
        due = [
            generation
            for generation, (count, threshold) in enumerate(zip(gc.get_count(), self._thresholds, strict=True))
            if threshold and count > threshold
        ]
        if due:
            gc.collect(due[-1])

    @Slot()
    def collect_soon(self) -> None:
        """Something large was released, such as a closed chat: collect all, once no more chats are being closed."""
        self._soon.start()

    @Slot()
    def _give_back(self) -> None:
        gc.collect()
        if sys.platform == "linux":
            # glibc keeps what was freed for the next chat: after 200 tabs a quarter of the process.
            trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
            if trim is not None:  # another C library
                trim(0)

    def stop(self) -> None:
        """Give the collector back to the interpreter."""
        self._timer.stop()
        self._soon.stop()
        gc.enable()
