"""Searching titles and messages while the user types."""

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from llama_gui.bridge.store_lane import StoreLane
from llama_gui.chats.search import SearchHit
from llama_gui.chats.store import ChatStore

WAIT_MS = 120
MOST = 60


class ChatSearch(QObject):
    """Asks the store once the user pauses; results of earlier queries are dropped."""

    found = Signal(str, object)
    """The words that were searched, and list[SearchHit]."""
    failed = Signal(str)

    def __init__(self, store: StoreLane, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._text = ""
        self._timer = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._timer.timeout.connect(self._ask)

    def find(self, text: str) -> None:
        """Search for these words, soon."""
        self._text = text.strip()
        if self._text:
            self._timer.start()
        else:
            self._timer.stop()

    def stop(self) -> None:
        """Ask nothing any more: the store is about to be closed."""
        self._timer.stop()

    @Slot()
    def _ask(self) -> None:
        text = self._text

        def work(store: ChatStore) -> tuple[str, list[SearchHit]]:
            return text, store.search(text, MOST)

        self._store.run(work, self._on_found, self._on_failed)

    @Slot(object)
    def _on_found(self, answer: tuple[str, list[SearchHit]]) -> None:
        text, hits = answer
        if text == self._text:
            self.found.emit(text, hits)

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(str(error))
