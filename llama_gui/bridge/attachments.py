"""Reads the files that go along with messages, beside the window."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.store_lane import StoreLane
from llama_gui.bridge.tasks import TaskLane
from llama_gui.chats.attachments import Attachment, read_attachment


class AttachmentReader(QObject):
    """One thread for all tabs, from the first file on: a disk that hangs holds up nothing but files."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = ""
        """Where files were chosen last, in whatever tab."""
        self._lane: TaskLane | None = None
        self._closed = False

    def read(self, path: str, done: Callable[[Attachment], None], failed: Callable[[Exception], None]) -> None:
        """Read a file; `failed` gets a sentence for the user."""
        if self._closed:
            return
        if self._lane is None:
            self._lane = TaskLane("attachments", self)
        self._lane.run(lambda: read_attachment(Path(path)), done, failed)

    def close(self, timeout_s: float = 1.0) -> bool:
        """End the thread. False: a disk still hangs."""
        self._closed = True
        return self._lane is None or self._lane.close(timeout_s)


class DraftFileKeeper(QObject):
    """Keeps the files beside the draft of one chat until the next start."""

    brought = Signal(object)
    """tuple[Attachment, ...]: those of the last time."""
    failed = Signal(str)

    def __init__(self, chat_id: str, store: StoreLane, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chat_id = chat_id
        self._store = store
        self._kept: tuple[Attachment, ...] = ()

    def keep(self, files: tuple[Attachment, ...]) -> None:
        """These and no others; nothing is written where nothing has changed."""
        if files != self._kept:
            self._kept = files
            chat_id = self._chat_id
            self._store.run(lambda store: store.save_draft_files(chat_id, files), None, self._on_failed)

    def bring(self) -> None:
        """Read what was kept; `brought` tells if there is any."""
        chat_id = self._chat_id
        self._store.run(lambda store: store.draft_files(chat_id), self._on_read, self._on_failed)

    @Slot(object)
    def _on_read(self, files: tuple[Attachment, ...]) -> None:
        if files and not self._kept:  # else there are newer ones
            self._kept = files
            self.brought.emit(files)

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(str(error))
