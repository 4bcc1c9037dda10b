"""The chat store on its own serial thread."""

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.tasks import TaskLane
from llama_gui.chats.store import ChatStore
from llama_gui.errors import StoreError

T = TypeVar("T")


class StoreLane(QObject):
    """Owns the `ChatStore` and the one thread that touches it.

    Opening happens on that thread too, before anything else, and its signals come with the next turn of the event
    loop. When it fails, each later task fails with the same words, so that nothing is taken as saved that is not.
    """

    notice = Signal(str)
    """Something the user should know about the store: a damaged file was set aside."""
    open_failed = Signal(str)

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = path
        """The file."""
        self._store: ChatStore | None = None
        self._open_error = StoreError(self.tr("The chat store is not open."))
        self._lane = TaskLane("chat-store", self)
        self._lane.run(self._open, self._on_opened, self._on_open_failed)

    def run(
        self,
        work: Callable[[ChatStore], T],
        done: Callable[[T], None] | None = None,
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        """Call `work` with the store on its thread; then `done` or `failed` on this one."""
        self._lane.run(lambda: work(self._opened()), done, failed)

    def wait(self, work: Callable[[ChatStore], T], timeout_s: float) -> T:
        """What `work` says of the store, waited for: for the end of the window, when there is no later.

        Raises:
            StoreError: for a store that did not open.
            Exception: what `work` raises.
            TimeoutError: it takes longer.
        """
        answer: Future[T] = Future()

        def run() -> None:
            try:
                answer.set_result(work(self._opened()))
            except BaseException as error:  # else who waits would learn nothing, and take it for a slow disk
                answer.set_exception(error)

        self._lane.run(run)
        return answer.result(timeout_s)

    @property
    def closed(self) -> bool:
        """Whether `close` was called: what was done before is still told, and nothing more can be asked."""
        return self._lane.closed

    def close(self, timeout_s: float = 3.0) -> bool:
        """Write what was given, close the file, end the thread. Twice is as good as once."""
        if not self._lane.closed:
            self._lane.run(self._close)
        return self._lane.close(timeout_s)

    def _opened(self) -> ChatStore:
        if self._store is None:
            raise self._open_error
        return self._store

    def _open(self) -> str:
        try:
            self._store = ChatStore.open(self.path)
        except StoreError as error:
            self._open_error = error
            raise
        return self._store.notice

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()

    @Slot(object)
    def _on_opened(self, notice: str) -> None:
        if notice:
            self.notice.emit(notice)

    @Slot(object)
    def _on_open_failed(self, error: Exception) -> None:
        self.open_failed.emit(str(error))
