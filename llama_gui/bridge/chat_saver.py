"""Keeps one chat's changes until they are on disk."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from llama_gui.bridge.store_lane import StoreLane
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import Node
from llama_gui.vocabulary import ChatSettings

FLUSH_MS = 400
"""Together with the time of a write, less than the 500 ms that a crash may lose."""


@dataclass(frozen=True, slots=True)
class _Batch:
    nodes: tuple[Node, ...]
    settings: ChatSettings | None


class ChatSaver(QObject):
    """Gathers changed messages and settings, and writes the newest of each a few times a second.

    What the store refuses stays here and is tried again, until it is written or replaced by something newer.
    """

    saved_changed = Signal(bool, str)
    """False and why: something is only in memory. True: all is on disk again."""
    idle = Signal()

    def __init__(self, chat_id: str, store: StoreLane, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chat_id = chat_id
        self._store = store
        self._nodes: dict[str, Node] = {}
        self._settings: ChatSettings | None = None
        self._in_flight = False
        self._error = ""
        self._timer = QTimer(self, interval=FLUSH_MS)
        self._timer.timeout.connect(self.flush)

    @property
    def is_idle(self) -> bool:
        """Whether everything is on disk."""
        return not (self._nodes or self._settings or self._in_flight)

    @property
    def pending(self) -> tuple[Node, ...]:
        """The messages that the store has not been given yet, each parent before its children."""
        return tuple(self._nodes.values())

    def save_soon(self, node: Node) -> None:
        """Write this value of a message in place of those before."""
        self._nodes[node.id] = node
        self._start_timer()

    def save_settings_soon(self, settings: ChatSettings) -> None:
        """Write these settings in place of those before."""
        self._settings = settings
        self._start_timer()

    def _start_timer(self) -> None:
        if not self._timer.isActive():  # restarting it each time would postpone the write for ever
            self._timer.start()

    @Slot()
    def flush(self) -> None:
        """Hand what is here to the store now, unless it still works on the last batch."""
        if not self._in_flight and not self.is_idle:
            self._write()

    def close(self) -> None:
        """Hand over the rest. The store's lane writes it in order, after any batch in flight."""
        self._timer.stop()
        if self._nodes or self._settings:
            self._write()

    def _write(self) -> None:
        batch = _Batch(tuple(self._nodes.values()), self._settings)
        chat_id = self._chat_id
        self._in_flight = True

        def save(store: ChatStore) -> _Batch:
            if batch.settings is not None:
                store.create_chat(chat_id)
                store.save_settings(chat_id, batch.settings)
            store.save_nodes(batch.nodes)
            return batch

        self._store.run(save, self._on_written, self._on_refused)

    @Slot(object)
    def _on_written(self, batch: _Batch) -> None:
        self._in_flight = False
        for node in batch.nodes:
            if self._nodes.get(node.id) is node:  # else a newer one came meanwhile
                del self._nodes[node.id]
        if self._settings is batch.settings:
            self._settings = None
        self._tell("")
        if self.is_idle:
            self._timer.stop()
            self.idle.emit()

    @Slot(object)
    def _on_refused(self, error: Exception) -> None:
        self._in_flight = False
        self._tell(str(error))

    def _tell(self, error: str) -> None:
        if error != self._error:
            self._error = error
            self.saved_changed.emit(not error, error)
