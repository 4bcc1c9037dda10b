"""Ctrl+C and ``kill`` close the window as its button does."""

import signal
import socket
from collections.abc import Callable
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier, Slot

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class TerminalSignals(QObject):
    """Calls `close_window` in the GUI thread when a signal asks the process to end.

    Python runs its handlers only between two of its own instructions, and Qt's event loop executes none while it
    waits. So the signal also writes a byte into a socket that Qt watches.
    """

    def __init__(self, close_window: Callable[[], object], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._close_window = close_window
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_signal)
        self._former_fd = signal.set_wakeup_fd(self._writer.fileno())
        self._former = {number: signal.signal(number, _do_nothing) for number in _SIGNALS}

    def close(self) -> None:
        """Give the signals back."""
        for number, handler in self._former.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._former_fd)
        self._notifier.setEnabled(False)
        self._reader.close()
        self._writer.close()

    @Slot()
    def _on_signal(self) -> None:
        if self._reader.recv(1)[0] in _SIGNALS:
            self._close_window()


def _do_nothing(_number: int, _frame: FrameType | None) -> None:
    """A handler must be set, or the signal ends the process before the socket is read."""
