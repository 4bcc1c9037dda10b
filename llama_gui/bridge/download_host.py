"""The queue of downloads, seen from the window: plain calls in, signals out."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

from llama_gui.bridge.lanes import Lanes
from llama_gui.errors import DownloadError, GatedModelError
from llama_gui.library.access import HubAccess

if TYPE_CHECKING:
    from llama_gui.library.download_queue import DownloadQueue, QueuedDownload, QueueTotals


def model_path(item: "QueuedDownload") -> str:
    """Where the model of a finished download is opened: its folder, or the one GGUF file in it."""
    return str(item.plan.model_in(Path(item.folder))) if item.folder else ""


class DownloadHost(QObject):
    """Owns the `DownloadQueue`, whose methods are called on a thread of their own: they write its file.

    Every method is called on the GUI thread and returns at once. `open` brings back what was queued when the program
    ended, and goes on with it.
    """

    changed = Signal(object)
    """tuple[QueuedDownload]"""
    totals_changed = Signal(object)
    """`QueueTotals`: what runs or waits, together."""
    finished = Signal(object)
    """A `QueuedDownload` that is complete; its model can be opened."""
    asking_changed = Signal(object)
    """tuple[str]: the repositories that the hub is asked about before they are queued."""
    refused = Signal(str, str, str)
    """A repository that was not queued, why, and the web page where that can be mended or ""."""
    trouble = Signal(str)
    _heard = Signal()

    def __init__(self, file: Path, access: Callable[[], HubAccess], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = file
        self._access = access
        self._limit: int | None = None
        self._queue: DownloadQueue | None = None
        self._lanes = Lanes(self)
        self._lock = threading.Lock()
        self._news: tuple[QueuedDownload, ...] | None = None
        self._items: tuple[QueuedDownload, ...] = ()
        self._asking: tuple[str, ...] = ()
        self._trouble = ""  # what was told last
        self._told: set[int] = set()  # downloads whose end was told
        self._heard.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    # --- what the window reads

    @property
    def items(self) -> "tuple[QueuedDownload, ...]":
        """The list, in its order."""
        return self._items

    @property
    def asking(self) -> tuple[str, ...]:
        """The repositories that the hub is asked about just now."""
        return self._asking

    @property
    def totals(self) -> "QueueTotals":
        """What runs or waits, together."""
        from llama_gui.library.download_queue import totals  # late: it brings the HTTP library

        return totals(self._items)

    # --- what it asks for

    def open(self) -> None:
        """Read the list of the last time, and go on with it."""
        self._control(lambda queue: None)

    def start(self, repo: str, gguf: str | None = None) -> None:
        """Ask the hub what there is to fetch, and queue it. `gguf`: one file of it."""
        if repo in self._asking or self._lanes.closed:
            return
        self._set_asking((*self._asking, repo))

        def work() -> int:
            from llama_gui.library.hub import Hub  # here, on the lane: the hub's client takes a second to import

            return self._opened().add(Hub(self._access()).plan(repo, gguf=gguf))

        self._lanes.run("download-plans", work, lambda _id: self._on_planned(repo), lambda e: self._on_refused(repo, e))

    def pause(self, item_id: int) -> None:
        """Stop it where it is."""
        self._control(lambda queue: queue.pause(item_id))

    def resume(self, item_id: int) -> None:
        """Go on, or try again."""
        self._control(lambda queue: queue.resume(item_id))

    def remove(self, item_id: int) -> None:
        """Take it off the list; what is unfinished is deleted."""
        self._control(lambda queue: queue.remove(item_id))

    def resume_refused(self) -> None:
        """Somebody has signed in: go on with what the hub had refused."""
        for item in self._items:
            if item.state == "failed" and item.page:
                self.resume(item.id)

    def set_limit(self, bytes_per_second: int | None) -> None:
        """At most so many bytes a second, over all downloads; None or 0: as fast as it goes."""
        self._limit = bytes_per_second or None
        if self._queue is not None:
            self._queue.limit.bytes_per_second = self._limit

    def close(self) -> bool:
        """Stop where everything is, keep it, and end the threads; False: one of them did not end in time."""
        known = self._queue
        if known is not None:
            self._control(lambda queue: queue.close())
        has_ended = self._lanes.close()
        if self._queue is not known and self._queue is not None:  # a lane opened it in this instant
            self._queue.close()
        return has_ended

    # --- the threads

    def _control(self, act: "Callable[[DownloadQueue], Any]") -> None:
        self._lanes.run("download-control", lambda: act(self._opened()), lambda _: self._deliver(), self._on_error)

    def _opened(self) -> "DownloadQueue":
        """On a lane: the queue, working."""
        from llama_gui.library.download_queue import DownloadQueue

        with self._lock:
            if self._lanes.closed and self._queue is None:
                raise DownloadError(self.tr("llama-gui is closing."))
            if self._queue is not None:
                return self._queue
            queue = self._queue = DownloadQueue(self._file, self._access, self._on_queue)
            queue.limit.bytes_per_second = self._limit
            self._news = queue.items
            queue.start()
        self._heard.emit()
        return queue

    def _on_queue(self, items: "tuple[QueuedDownload, ...]") -> None:
        """On the queue's thread, some times a second: only the newest list is told."""
        with self._lock:
            is_first, self._news = self._news is None, items
        if is_first:
            self._heard.emit()

    # --- on the GUI thread again

    @Slot()
    def _deliver(self) -> None:
        with self._lock:
            news, self._news = self._news, None
            trouble = self._queue.problem if self._queue else ""
        if trouble != self._trouble:
            self._trouble = trouble
            if trouble:
                self.trouble.emit(trouble)
        if news is None or news == self._items:
            return
        self._items = news
        self.changed.emit(news)
        self.totals_changed.emit(self.totals)
        for item in news:
            if item.state == "finished" and item.id not in self._told:
                self._told.add(item.id)
                self.finished.emit(item)

    def _set_asking(self, repos: tuple[str, ...]) -> None:
        self._asking = repos
        self.asking_changed.emit(repos)

    def _on_planned(self, repo: str) -> None:
        self._set_asking(tuple(name for name in self._asking if name != repo))
        self._deliver()

    def _on_refused(self, repo: str, error: Exception) -> None:
        self._set_asking(tuple(name for name in self._asking if name != repo))
        self.refused.emit(repo, str(error), error.page if isinstance(error, GatedModelError) else "")

    def _on_error(self, error: Exception) -> None:
        self.trouble.emit(str(error))
