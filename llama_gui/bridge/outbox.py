"""The way of outputs out of the engines' threads."""

from collections import deque
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from llama_gui.vocabulary import GenerateResult, TokenOutput


@dataclass(frozen=True, slots=True)
class Drawn:
    """A token of a ticket, on its way from an engine's thread."""

    ticket: int
    output: TokenOutput


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a ticket, on its way from an engine's thread."""

    ticket: int
    result: GenerateResult


class Outbox(QObject):
    """Carries outputs out of the engines' threads: they pile up here, and one `wake` is on its way at a time."""

    wake = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pile: deque[Drawn | Ended] = deque()
        self._woken = False

    def put(self, item: Drawn | Ended) -> None:
        """Add an item; from any thread."""
        self._pile.append(item)
        if not self._woken:
            self._woken = True
            self.wake.emit()

    def take(self) -> list[Drawn | Ended]:
        """All that has piled up, oldest first."""
        # Cleared before the pile is read: an item that arrives in between is read now, or wakes again.
        self._woken = False
        return [self._pile.popleft() for _ in range(len(self._pile))]
