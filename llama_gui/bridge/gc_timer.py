"""Keeps Python's cyclic garbage collection in the GUI thread."""

import gc

from PySide6.QtCore import QObject, QTimer, Slot


class GarbageCollector(QObject):
    """Collects garbage every few seconds from the thread it lives in, and nowhere else.

    CPython runs the collector in whichever thread happens to allocate. In the engine's thread it would destroy Qt
    objects away from the GUI thread, which crashes.
    """

    def __init__(self, interval_ms: int = 5000, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(interval_ms)
        self._timer.timeout.connect(self._collect)
        self._timer.start()

    @Slot()
    def _collect(self) -> None:
        gc.collect()

    def stop(self) -> None:
        """Give the collector back to the interpreter."""
        self._timer.stop()
        gc.enable()
