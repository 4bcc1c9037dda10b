"""Reads the files that go along with messages, beside the window."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from llama_gui.bridge.tasks import TaskLane
from llama_gui.chats.attachments import Attachment, read_attachment


class AttachmentReader(QObject):
    """One thread for all tabs, from the first file on: a disk that hangs holds up nothing but files."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
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
