"""The messages that are sent, one after the other, when the answers before them have ended."""

from PySide6.QtCore import QObject, Signal

from llama_gui.chats.attachments import Draft


class MessageQueue(QObject):
    """The queue of one chat. It pauses when an answer is stopped or fails, so that nothing is sent unasked."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._drafts: list[Draft] = []
        self._is_paused = False

    def drafts(self) -> list[Draft]:
        """What waits, the next one first."""
        return list(self._drafts)

    @property
    def is_paused(self) -> bool:
        """Whether it waits for the user, and not only for the end of an answer."""
        return self._is_paused and bool(self._drafts)

    def add(self, draft: Draft, index: int | None = None) -> None:
        """Send this behind the others, or in this place."""
        self._drafts.insert(len(self._drafts) if index is None else index, draft)
        self.changed.emit()

    def put_back(self, draft: Draft) -> None:
        """It could not be sent: it is the next one again, when the user says so."""
        self._drafts.insert(0, draft)
        self._is_paused = True
        self.changed.emit()

    def take(self, index: int = 0) -> Draft:
        """Take one out."""
        draft = self._drafts.pop(index)
        self._is_paused = self.is_paused  # an empty queue is not paused: what comes next is sent
        self.changed.emit()
        return draft

    def take_next(self) -> Draft | None:
        """The next one, unless the queue is paused or empty."""
        return None if self._is_paused or not self._drafts else self.take()

    def pause(self) -> None:
        """Send nothing of what waits now until `resume`."""
        self._set_paused(bool(self._drafts))

    def resume(self) -> None:
        """Send again when the answer has ended."""
        self._set_paused(False)

    def _set_paused(self, paused: bool) -> None:
        if paused != self._is_paused:
            self._is_paused = paused
            self.changed.emit()
