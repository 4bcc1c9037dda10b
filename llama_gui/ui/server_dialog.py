"""The switch that lets other programs on this computer use the models, with the address and the key they need."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QIntValidator
from PySide6.QtWidgets import QCheckBox, QDialog, QGridLayout, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from llama_gui.bridge.server_host import ServerHost
from llama_gui.ui.theme import FRAME_PX, SMALL_PX
from llama_gui.ui.widgets import plain_label

_HIDDEN = "•" * 16


class ServerDialog(QDialog):
    """Switches the server of a `ServerHost`."""

    wanted = Signal(bool, int)
    """Whether to serve, and on which port: to be remembered."""

    def __init__(self, server: ServerHost, port: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._server = server
        self._is_key_shown = False
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Other programs"))
        self.switch = QCheckBox(self.tr("Let other programs on this computer use the loaded models"))
        self.switch.setChecked(bool(server.url))
        self.port = QLineEdit(str(port))
        self.port.setValidator(QIntValidator(1, 65535, self))
        self.port.setAccessibleName(self.tr("Port"))
        self.port.setFixedWidth(88)
        self._address = plain_label("", "text", FRAME_PX)
        self._address.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._key = plain_label("", "text", FRAME_PX)
        self._said = plain_label("", "error", SMALL_PX)
        self._said.setWordWrap(True)
        self._lay_out()
        self.switch.toggled.connect(self._switch)
        self.port.editingFinished.connect(self._on_port)
        server.started.connect(self._show)
        server.stopped.connect(self._show)
        server.failed.connect(self._on_failed)
        self._show()

    def _lay_out(self) -> None:
        note = plain_label(
            self.tr(
                "Programs that speak OpenAI’s protocol ask at this address and bring this key. They share the engine "
                "with your chats, which go on beside them. Nothing outside this computer can connect."
            ),
            "muted",
            SMALL_PX,
        )
        note.setWordWrap(True)
        self._copy_address = self._button(self.tr("Copy"), self.tr("Copy the address"), self._on_copy_address)
        self._copy_key = self._button(self.tr("Copy"), self.tr("Copy the key"), self._on_copy_key)
        self._show_key = self._button(self.tr("Show"), self.tr("Show or hide the key"), self._on_show_key)
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        rows = (
            (self.tr("Port"), self.port, ()),
            (self.tr("Address"), self._address, (self._copy_address,)),
            (self.tr("Key"), self._key, (self._show_key, self._copy_key)),
        )
        for row, (label, content, buttons) in enumerate(rows):
            grid.addWidget(plain_label(label, "muted", FRAME_PX), row, 0)
            grid.addWidget(content, row, 1, Qt.AlignmentFlag.AlignLeading)
            for place, button in enumerate(buttons):
                grid.addWidget(button, row, 3 - len(buttons) + place + 1)
        close = self._button(self.tr("Close"), self.tr("Close"), self.accept)
        foot = QHBoxLayout()
        foot.addWidget(self._said, 1)
        foot.addWidget(close, 0, Qt.AlignmentFlag.AlignBottom)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 24, 28, 20)
        layout.setSpacing(12)
        layout.addWidget(self.switch)
        layout.addWidget(note)
        layout.addLayout(grid)
        layout.addStretch(1)
        layout.addLayout(foot)
        self.resize(560, 320)

    def _button(self, text: str, name: str, run: Callable[[], object]) -> QPushButton:
        button = QPushButton(text)
        button.setAccessibleName(name)
        button.setAutoDefault(False)
        button.clicked.connect(run)
        return button

    # What the user does

    @Slot(bool)
    def _switch(self, is_on: bool) -> None:
        self._said.setText("")
        port = int(self.port.text() or 0) or 8080
        if is_on:
            self._server.start(port)
        else:
            self._server.stop()
        self.wanted.emit(is_on, port)

    @Slot()
    def _on_port(self) -> None:
        if self.switch.isChecked() and f":{self.port.text()}/" not in self._server.url:
            self._switch(True)

    @Slot()
    def _on_copy_address(self) -> None:
        QGuiApplication.clipboard().setText(self._server.url)

    @Slot()
    def _on_copy_key(self) -> None:
        QGuiApplication.clipboard().setText(self._server.key)

    @Slot()
    def _on_show_key(self) -> None:
        self._is_key_shown = not self._is_key_shown
        self._show()

    # What the server tells

    @Slot()
    def _show(self) -> None:
        is_on = bool(self._server.url)
        self._address.setText(self._server.url or self.tr("Off"))
        self._key.setText(self._server.key if self._is_key_shown else _HIDDEN if self._server.key else "–")
        self._show_key.setText(self.tr("Hide") if self._is_key_shown else self.tr("Show"))
        self._copy_address.setEnabled(is_on)
        self._copy_key.setEnabled(bool(self._server.key))
        self._show_key.setEnabled(bool(self._server.key))

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        self._said.setText(text)
        self.switch.blockSignals(True)
        self.switch.setChecked(False)
        self.switch.blockSignals(False)
        self._show()
        self.wanted.emit(False, int(self.port.text() or 0) or 8080)
