"""Whether a question waits for memory, or only for the end of a step that was running when it came."""

from PySide6.QtCore import QElapsedTimer

STEP_MS = 1500  # a step that reads a piece of a long prompt takes up to a second


class LongWait:
    """Tells waits apart by how long they last."""

    def __init__(self) -> None:
        self._since = QElapsedTimer()

    def has_lasted(self, waits: bool) -> bool:
        """To be asked again and again: whether it waits now, and has for longer than a step."""
        if not waits:
            self._since.invalidate()
        elif not self._since.isValid():
            self._since.start()
        return waits and self._since.hasExpired(STEP_MS)
