"""A button of a dialog that Enter presses while it has the keyboard, and never otherwise."""

from collections.abc import Callable

from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton


class DialogButton(QPushButton):
    """Qt's own either take Enter from the whole dialog (autoDefault), or on most desktops know only the space bar."""

    def __init__(self, text: str, run: Callable[[], object] | SignalInstance | None = None) -> None:
        super().__init__(text)
        self.setAutoDefault(False)
        if run is not None:
            self.clicked.connect(run)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif not event.isAutoRepeat():  # else the Enter that opened the dialog would go on in it
            self.click()
