"""Keeps Python's cyclic garbage collection in the GUI thread."""

import ctypes
import gc
import sys

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication

_IMPORTED = 50_000
"""So many objects between two looks come from the import of a library, and stay for good."""


class GarbageCollector(QObject):
    """Collects garbage from the thread it lives in, and nowhere else.

    CPython runs the collector in whichever thread happens to allocate. In the engine's thread it would destroy Qt
    objects away from the GUI thread, which crashes. Here a timer asks, as the interpreter itself would, whether enough
    was allocated since the last time: a window at rest does nothing, and the oldest objects are looked at seldom.

    What torch brings is not looked at, which would stop the window for 0.2 seconds (two cores of an EPYC) each time:
    it is frozen, with all else that is there at that moment. So that nothing of that stays when it has become garbage,
    all is looked at when a model was unloaded, and after chats were closed once the user is elsewhere.
    """

    def __init__(self, interval_ms: int = 2000, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thresholds = gc.get_threshold()
        self._is_more_due = False  # perhaps among what is frozen
        self._takes_all = False
        gc.disable()
        self._timer = QTimer(self, interval=interval_ms)
        self._timer.timeout.connect(self._collect)
        self._timer.start()
        self._soon = QTimer(self, singleShot=True, interval=interval_ms // 2)
        self._soon.timeout.connect(self._give_back)
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.applicationStateChanged.connect(self._on_state)

    @Slot()
    def _collect(self) -> None:
        """The oldest generation that is due, with those younger than it."""
        counts = gc.get_count()
        if counts[0] > _IMPORTED:
            gc.freeze()
            return
        due = [
            generation
            for generation, (count, threshold) in enumerate(zip(counts, self._thresholds, strict=True))
            if threshold and count > threshold
        ]
        if due:
            gc.collect(due[-1])

    @Slot()
    def collect_soon(self) -> None:
        """A chat was closed: collect what came with it, once no more chats are being closed."""
        self._is_more_due = True
        self._soon.start()

    @Slot()
    def collect_all_soon(self) -> None:
        """Something large was released, such as a model: collect also among what is frozen."""
        self._takes_all = True
        self._soon.start()

    @Slot(Qt.ApplicationState)
    def _on_state(self, state: Qt.ApplicationState) -> None:
        if self._is_more_due and state != Qt.ApplicationState.ApplicationActive:
            self.collect_all_soon()

    @Slot()
    def _give_back(self) -> None:
        if self._takes_all:
            gc.unfreeze()
        gc.collect()
        if self._takes_all:
            gc.freeze()
            self._takes_all = self._is_more_due = False
        if sys.platform == "linux":
            # glibc keeps what was freed for the next chat: after 200 tabs a quarter of the process.
            trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
            if trim is not None:  # another C library
                trim(0)

    def stop(self) -> None:
        """Give the collector back to the interpreter, with all there is to collect: it closes files when it ends."""
        self._timer.stop()
        self._soon.stop()
        gc.unfreeze()
        gc.enable()
