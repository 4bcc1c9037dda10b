"""A second start with the same data calls the window that is open already."""

import hashlib
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

_PATIENCE_MS = 2000


class FirstWindow(QObject):
    """Listens while the window is open. `data`: the folder that only one window may use."""

    called = Signal()
    """Somebody has started llama-gui again."""

    def __init__(self, data: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_call)
        QLocalServer.removeServer(_name(data))  # of one that was killed; the lock on the data is ours
        self._server.listen(_name(data))  # where that fails, a second start says so in its own window

    def close(self) -> None:
        """Be called no longer."""
        self._server.close()

    @Slot()
    def _on_call(self) -> None:
        while socket := self._server.nextPendingConnection():
            socket.disconnected.connect(socket.deleteLater)
            socket.write(b"here\n")
            socket.flush()
            socket.disconnectFromServer()
            self.called.emit()


def call_first_window(data: Path) -> bool:
    """Bring the window with this data to the front. False: nobody answers."""
    socket = QLocalSocket()
    socket.connectToServer(_name(data))
    return socket.waitForConnected(_PATIENCE_MS) and (
        socket.bytesAvailable() > 0 or socket.waitForReadyRead(_PATIENCE_MS)
    )


def _name(data: Path) -> str:
    return f"llama-gui-{hashlib.sha256(str(data.resolve()).encode()).hexdigest()[:16]}"
