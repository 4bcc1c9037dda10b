"""Where the transcript stands: at the end and following it, or at a place that stays while the text changes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QScrollBar

_AT_END = 8


@dataclass(frozen=True, slots=True)
class Reading:
    """What is read: a character of a message, counted from its beginning, and at what height of the view it stands."""

    node_id: str
    offset: int
    y: int


class ScrollPlace(QObject):
    """Moves the scroll bar of one view."""

    at_end_changed = Signal(bool)

    def __init__(self, bar: QScrollBar, parent: QObject) -> None:
        super().__init__(parent)
        self.follows = True
        self.is_drawing = False
        self._bar = bar
        self._wanted: float | None = None
        bar.valueChanged.connect(self.note)
        bar.rangeChanged.connect(self._keep_end)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """The place on the screen stays while the end of the document is changed; who follows the end goes with it."""
        value = self._bar.value()
        self.is_drawing = True
        try:
            yield
        finally:
            self.is_drawing = False
        self._bar.setValue(self._bar.maximum() if self.follows else min(value, self._bar.maximum()))
        self.note()

    @contextmanager
    def moved_with(self, height: Callable[[], float]) -> Iterator[None]:
        """What is on the screen stays there while something is drawn above it."""
        before, value = height(), self._bar.value()
        self.is_drawing = True
        try:
            yield
        finally:
            self.is_drawing = False
        if self.follows:
            self._bar.setValue(self._bar.maximum())
        else:
            self._bar.setValue(round(value + height() - before))
        self.note()

    @property
    def is_settled(self) -> bool:
        """Whether the view stays where it is: it neither follows the end, nor is it on its way somewhere."""
        return not self.follows and self._wanted is None

    def leave_end(self) -> None:
        """Stay where the view is now."""
        self.follows = False
        self._wanted = None

    def go_to_end(self) -> None:
        """Show the end, and stay there while it moves."""
        self.follows = True
        self._wanted = None
        self._bar.setValue(self._bar.maximum())

    @property
    def wanted(self) -> float | None:
        """The place that it is on its way to, until the page is drawn as far as that."""
        return self._wanted

    def want(self, place: float) -> None:
        """Be on the way to a place; 1 is the end."""
        self._wanted = place if place < 1.0 else None

    @Slot()
    def note(self) -> None:
        """Find out whether the view stands at the end."""
        if not self.is_drawing:
            self.follows = self._bar.value() >= self._bar.maximum() - _AT_END
            self.at_end_changed.emit(self.follows)

    @Slot(int, int)
    def _keep_end(self, _low: int, high: int) -> None:
        if self.follows and not self.is_drawing:
            self._bar.setValue(high)
