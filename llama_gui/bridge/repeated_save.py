"""A save that is tried again until the store takes it, since a full disk may have room again."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from llama_gui.bridge.store_lane import StoreLane
from llama_gui.chats.store import ChatStore


class RepeatedSave(QObject):
    """Saves what `task` gives, which is asked before each try: the newest state is the one that counts.

    `interval_ms`: so long after a refusal comes the next try.
    """

    refused = Signal(str)
    """Why it is not saved; the same reason is told once, until a save has succeeded."""

    def __init__(
        self,
        store: StoreLane,
        task: Callable[[], Callable[[ChatStore], None]],
        interval_ms: int,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._task = task
        self._error = ""
        self._timer = QTimer(self, singleShot=True, interval=interval_ms)
        self._timer.timeout.connect(self.save)

    @property
    def is_due(self) -> bool:
        """Whether the last try was refused, and the next is to come."""
        return self._timer.isActive()

    @Slot()
    def save(self) -> None:
        """Save now, and from then on until it is done."""
        self._timer.stop()
        self._store.run(self._task(), self._on_saved, self._on_refused)

    def flush(self) -> None:
        """Before the end: the next try now, if there is one to come."""
        if self.is_due:
            self.save()

    @Slot(object)
    def _on_saved(self, _done: None) -> None:
        self._error = ""
        self._timer.stop()

    @Slot(object)
    def _on_refused(self, error: Exception) -> None:
        if str(error) != self._error:
            self._error = str(error)
            self.refused.emit(self._error)
        if not self._store.closed:
            self._timer.start()
