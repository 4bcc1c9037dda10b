"""The switch that lets other programs use the models, here or in the network, with the address and key they need."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication, QIntValidator
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from llama_gui.bridge.server_host import ServerHost
from llama_gui.ui.dialog_button import DialogButton
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.theme import FRAME_PX, SMALL_PX
from llama_gui.ui.widgets import FittingDialog, RoleLabel, plain_label

_HIDDEN = "•" * 16
_MOST_ADDRESSES = 3
_LOOK_MS = 3000


class ServerDialog(FittingDialog):
    """Switches the server of a `ServerHost`."""

    wanted = Signal(bool, int, bool)
    """Whether to serve, on which port, and whether for other devices, too: to be remembered."""

    def __init__(self, server: ServerHost, port: int, parent: QWidget, *, for_network: bool = False) -> None:
        super().__init__(parent)
        self._server = server
        self._is_key_shown = False
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Other programs"))
        self.switch = QCheckBox(self.tr("Let other programs on this computer use the loaded models"))
        self.switch.setChecked(bool(server.url))
        self.network = QCheckBox(self.tr("Also let other devices in this network in"))
        self.network.setChecked(for_network)
        self.port = QLineEdit(str(port))
        self.port.setValidator(QIntValidator(1, 65535, self))
        self.port.setAccessibleName(self.tr("Port"))
        self.port.setFixedWidth(88)
        self._address = self._shown_address("text", FRAME_PX)
        self._network_address = self._shown_address("text", FRAME_PX)
        self._more_addresses = self._shown_address("muted", SMALL_PX)
        self._key = plain_label("", "text", FRAME_PX)
        self._said = plain_label("", "error", SMALL_PX)
        self._said.setWordWrap(True)
        self._lay_out()
        self.switch.toggled.connect(self._switch)
        self.network.toggled.connect(self._on_network)
        self.port.editingFinished.connect(self._on_port)
        server.started.connect(self._on_told)
        server.stopped.connect(self._on_told)
        server.failed.connect(self._on_failed)
        looks = QTimer(self, interval=_LOOK_MS)
        looks.timeout.connect(self._show_network)
        looks.start()
        self._show()

    def _lay_out(self) -> None:
        note = self._note(
            self.tr(
                "Programs that speak OpenAI’s protocol ask at this address and bring this key. Those that speak "
                "Anthropic’s, as Claude Code does, take it without “/v1”. They share the engine with your chats, which "
                "go on beside them."
            )
        )
        warning = self._note(
            self.tr(
                "For a phone or another computer, which needs the key, too. The connection is not encrypted: others in "
                "the network may read along. Only for networks that you trust, such as your own at home. While this is "
                "off, nothing outside this computer can connect."
            )
        )
        self.switch.setAccessibleDescription(note.text())
        self.network.setAccessibleDescription(warning.text())
        close = self._button(self.tr("Close"), self.tr("Close"), self.accept)
        foot = QHBoxLayout()
        foot.addWidget(self._said, 1)
        foot.addWidget(close, 0, Qt.AlignmentFlag.AlignBottom)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 24, 28, 20)
        layout.setSpacing(6)
        layout.addWidget(self.switch)
        layout.addWidget(note)
        layout.addSpacing(6)
        layout.addWidget(self.network)
        layout.addWidget(warning)
        layout.addSpacing(10)
        layout.addLayout(self._laid_rows())
        layout.addStretch(1)
        layout.addSpacing(6)
        layout.addLayout(foot)
        self.resize(580, layout.totalHeightForWidth(580))

    def _laid_rows(self) -> QGridLayout:
        copy = self.tr("Copy")
        self._copy_address = self._button(copy, self.tr("Copy the address"), self._on_copy_address)
        self._copy_network = self._button(copy, self.tr("Copy the address for other devices"), self._on_copy_network)
        self._copy_key = self._button(copy, self.tr("Copy the key"), self._on_copy_key)
        self._show_key = self._button(self.tr("Show"), self.tr("Show or hide the key"), self._on_show_key)
        rows = (
            (self.tr("Port"), self.port, ()),
            (self.tr("Address"), self._address, (self._copy_address,)),
            (self.tr("For other devices"), self._network_address, (self._copy_network,)),
            ("", self._more_addresses, ()),
            (self.tr("Key"), self._key, (self._show_key, self._copy_key)),
        )
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        for row, (name, content, buttons) in enumerate(rows):
            if name:
                grid.addWidget(plain_label(name, "muted", FRAME_PX), row, 0)
            grid.addWidget(content, row, 1, Qt.AlignmentFlag.AlignLeading)
            for place, button in enumerate(buttons):
                grid.addWidget(button, row, 4 - len(buttons) + place)
        return grid

    def _note(self, text: str) -> RoleLabel:
        note = plain_label(text, "muted", SMALL_PX)
        note.setWordWrap(True)
        style = self.style()
        parts = (QStyle.PixelMetric.PM_IndicatorWidth, QStyle.PixelMetric.PM_CheckBoxLabelSpacing)
        note.setContentsMargins(sum(style.pixelMetric(part) for part in parts), 0, 0, 0)
        return note

    def _shown_address(self, role: str, pixels: float) -> RoleLabel:
        label = plain_label("", role, pixels)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    def _button(self, text: str, name: str, run: Callable[[], object]) -> DialogButton:
        button = DialogButton(text, run)
        button.setAccessibleName(name)
        return button

    # What the user does

    @Slot(bool)
    def _switch(self, is_on: bool) -> None:
        self._said.setText("")
        if is_on:
            self._server.start(self._port(), for_network=self.network.isChecked())
        else:
            self._server.stop()
        self._tell_wanted(is_on)

    @Slot()
    def _on_network(self) -> None:
        if self.switch.isChecked():
            self._switch(True)
        else:
            self._tell_wanted(False)

    def _tell_wanted(self, is_on: bool) -> None:
        self.wanted.emit(is_on, self._port(), self.network.isChecked())

    def _port(self) -> int:
        return int(self.port.text() or 0) or 8080

    @Slot()
    def _on_port(self) -> None:
        if self.switch.isChecked() and f":{self.port.text()}/" not in self._server.url:
            self._switch(True)

    @Slot()
    def _on_copy_address(self) -> None:
        QGuiApplication.clipboard().setText(self._server.url)

    @Slot()
    def _on_copy_network(self) -> None:
        QGuiApplication.clipboard().setText(self._network_address.text())

    @Slot()
    def _on_copy_key(self) -> None:
        QGuiApplication.clipboard().setText(self._server.key)

    @Slot()
    def _on_show_key(self) -> None:
        self._is_key_shown = not self._is_key_shown
        self._show()

    # What the server tells

    @Slot()
    def _on_told(self) -> None:
        self._show_switch(bool(self._server.url))  # it may have been on its way when this was opened
        self._show()

    def _show_switch(self, is_on: bool) -> None:
        self.switch.blockSignals(True)
        self.switch.setChecked(is_on)
        self.switch.blockSignals(False)

    @Slot()
    def _show(self) -> None:
        is_on = bool(self._server.url)
        self._address.setText(self._server.url or self.tr("Off"))
        self._key.setText(self._server.key if self._is_key_shown else _HIDDEN if self._server.key else "–")
        self._show_key.setText(self.tr("Hide") if self._is_key_shown else self.tr("Show"))
        self._show_key.setMinimumWidth(self._show_key.sizeHint().width())  # the style's is less than a long word
        self._copy_address.setEnabled(is_on)
        self._show_network()
        self._copy_key.setEnabled(bool(self._server.key))
        self._show_key.setEnabled(bool(self._server.key))

    @Slot()
    def _show_network(self) -> None:
        """The addresses for others, as they are now: a network may have come or gone."""
        urls = self._server.urls_for_others()
        is_open = bool(self._server.url) and self._server.is_for_others
        nowhere = self.tr("This computer is in no network") if is_open else self.tr("Off")
        self._network_address.setText(urls[0] if urls else nowhere)
        self._more_addresses.setText(self.tr("or {}").format(", ".join(urls[1:_MOST_ADDRESSES])))
        self._more_addresses.setVisible(len(urls) > 1)
        self._copy_network.setEnabled(bool(urls))
        self.fit()

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        self._said.setText(problem_text(text))
        self._show_switch(False)
        self._show()
        self._tell_wanted(False)
