"""Reads the files that go along with messages, beside the window."""

import threading
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from llama_gui.bridge.store_lane import StoreLane
from llama_gui.bridge.tasks import TaskLane
from llama_gui.chats.attachments import Attachment, read_attachment
from llama_gui.chats.documents.kinds import ENDINGS

AGAIN_MS = 2000
"""Files are large: so long after the store has refused them they are given to it again."""


class FileReading(QObject):
    """One file that is being read."""

    done = Signal(object, object)
    """Itself, and the `Attachment`."""
    failed = Signal(object, str)
    """Itself, and a sentence for the user."""

    def __init__(self, path: str, parent: QObject) -> None:
        super().__init__(parent)
        self._path = Path(path)
        self._cancelled = threading.Event()
        self.name = self._path.name
        self.is_document = self._path.suffix[1:].lower() in ENDINGS
        """Whether it may take a while, by its name."""

    @Slot()
    def cancel(self) -> None:
        """It is not wanted any more; no signal will come."""
        self._cancelled.set()

    def run_on(self, lane: TaskLane) -> None:
        """Read it there."""
        lane.run(self._read, self._on_read, self._on_failed)

    def _read(self) -> Attachment | None:
        # In the lane's thread.
        return None if self._cancelled.is_set() else read_attachment(self._path, self._cancelled)

    @Slot(object)
    def _on_read(self, file: Attachment | None) -> None:
        if file is not None and not self._cancelled.is_set():
            self.done.emit(self, file)
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

    def read(self, path: str) -> FileReading:
        """Begin to read a file. The result is emitted by the returned object, always from the event loop."""
        reading = FileReading(path, self)
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
        self._error = ""
        self._again = QTimer(self, singleShot=True, interval=AGAIN_MS)
        self._again.timeout.connect(self._save)

    def keep(self, files: tuple[Attachment, ...]) -> None:
        """Keep exactly these files; nothing is written if nothing has changed."""
        if files != self._kept:
            self._kept = files
            self._save()

    @Slot()
    def _save(self) -> None:
        self._again.stop()
        chat_id, files = self._chat_id, self._kept
        self._store.run(lambda store: store.save_draft_files(chat_id, files), self._on_saved, self._on_refused)

    @Slot(object)
    def _on_saved(self, _done: None) -> None:
        self._error = ""

    @Slot(object)
    def _on_refused(self, error: Exception) -> None:
        """Try again until they are kept, since a full disk may have room again; tell it once."""
        if str(error) != self._error:
            self._error = str(error)
            self.failed.emit(self._error)
        if not self._store.closed:
            self._again.start()

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
