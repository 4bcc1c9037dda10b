"""Reads the files that go along with messages, beside the window."""

import threading
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.repeated_save import RepeatedSave
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.bridge.tasks import TaskLane
from llama_gui.chats.attachments import Attachment, ReadFiles, read_attachments
from llama_gui.chats.documents.kinds import ENDINGS
from llama_gui.chats.store import ChatStore
from llama_gui.vocabulary import IMAGE_ENDINGS

AGAIN_MS = 2000
"""Files are large: so long after the store has refused them they are given to it again."""


class FileReading(QObject):
    """One file that is being read."""

    done = Signal(object, object)
    """Itself, and `ReadFiles`."""
    failed = Signal(object, str)
    """Itself, and a sentence for the user."""

    def __init__(self, path: str, parent: QObject, *, takes_scans: bool = True) -> None:
        """`takes_scans`: see `read_attachments`."""
        super().__init__(parent)
        self._path = Path(path)
        self._takes_scans = takes_scans
        self._cancelled = threading.Event()
        self.name = self._path.name
        self.is_document = self._path.suffix[1:].lower() in (*ENDINGS, *IMAGE_ENDINGS)
        """Whether it may take a while, by its name: images do, too."""

    @Slot()
    def cancel(self) -> None:
        """It is not wanted any more; no signal will come."""
        self._cancelled.set()

    def run_on(self, lane: TaskLane) -> None:
        """Read it there."""
        lane.run(self._read, self._on_read, self._on_failed)

    def _read(self) -> ReadFiles | None:
        # In the lane's thread.
        if self._cancelled.is_set():
            return None
        return read_attachments(self._path, self._cancelled, takes_scans=self._takes_scans)

    @Slot(object)
    def _on_read(self, read: ReadFiles | None) -> None:
        if read is not None and not self._cancelled.is_set():
            self.done.emit(self, read)
        self.deleteLater()

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        if not self._cancelled.is_set():
            self.failed.emit(self, str(error))
        self.deleteLater()


class AttachmentReader(QObject):
    """Two threads for all tabs: a hanging disk blocks nothing but files, and a slow document does not delay texts."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = ""
        """Where files were chosen last, in whatever tab."""
        self._lanes: dict[bool, TaskLane] = {}  # for documents: True
        self._closed = False

    def read(self, path: str, *, takes_scans: bool = True) -> FileReading:
        """Begin to read a file. The result is emitted by the returned object, always from the event loop.

        `takes_scans`: see `read_attachments`.
        """
        reading = FileReading(path, self, takes_scans=takes_scans)
        if self._closed:
            return reading
        if reading.is_document not in self._lanes:
            name = "documents" if reading.is_document else "attachments"
            self._lanes[reading.is_document] = TaskLane(name, self)
        reading.run_on(self._lanes[reading.is_document])
        return reading

    def close(self, timeout_s: float = 1.0) -> bool:
        """Give up what is being read, and end the threads. False: a disk still hangs."""
        self._closed = True
        for reading in self.findChildren(FileReading):
            reading.cancel()
        ended = [lane.close(timeout_s) for lane in self._lanes.values()]
        return all(ended)


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
        self._save = RepeatedSave(store, self._task, AGAIN_MS, self)
        self._save.refused.connect(self.failed)

    def keep(self, files: tuple[Attachment, ...]) -> None:
        """Keep exactly these files; nothing is written if nothing has changed."""
        if files != self._kept:
            self._kept = files
            self._save.save()

    def flush(self) -> None:
        """Before the end: try once more what the store has refused."""
        self._save.flush()

    def _task(self) -> Callable[[ChatStore], None]:
        chat_id, files = self._chat_id, self._kept
        return lambda store: store.save_draft_files(chat_id, files)

    def bring(self) -> None:
        """Read the kept files; `brought` is emitted if there are any."""
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
