"""One tool server: how it is reached, how it stands with it, and what it offers."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from llama_gui.ui.dialog_button import DialogButton
from llama_gui.ui.icons import Icons
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.theme import FRAME_PX, SMALL_PX
from llama_gui.ui.tools.fields import join_command
from llama_gui.ui.tools.tool_row import ToolRow
from llama_gui.ui.tools.words import count_words
from llama_gui.ui.widgets import RoleLabel, plain_label
from llama_gui.vocabulary import ToolServer, ToolServerState

_SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard


class ServerPane(QWidget):
    """The buttons only tell what is wanted."""

    try_wanted = Signal()
    stop_wanted = Signal()
    change_wanted = Signal()
    remove_wanted = Signal()

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._icons = icons
        self._shown: ToolServerState | None = None
        self.name = _wrapped("text", FRAME_PX, bold=True)
        self.place = _wrapped("muted", SMALL_PX)
        self.state = _wrapped("text", SMALL_PX)
        self.error = _wrapped("error", SMALL_PX)
        for label in (self.place, self.error):
            label.setTextInteractionFlags(_SELECTABLE)
        self.try_button = DialogButton(self.tr("Try it"), self._on_try)
        self.change_button = DialogButton(self.tr("Change…"), self.change_wanted)
        self.remove_button = DialogButton(self.tr("Remove"), self.remove_wanted)
        self._offers = QVBoxLayout()
        self._offers.setSpacing(0)
        self._lay_out()

    def _lay_out(self) -> None:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 4, 0)
        column.setSpacing(4)
        column.addWidget(self.error)
        column.addLayout(self._offers)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(inside)
        buttons = QHBoxLayout()
        for button in (self.try_button, self.change_button, self.remove_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.name)
        layout.addWidget(self.place)
        layout.addWidget(self.state)
        layout.addWidget(scroll, 1)
        layout.addLayout(buttons)

    def show_server(self, server: ToolServer, state: ToolServerState) -> None:
        """Show one. The tools stay as they are unfolded while they are the same."""
        self.name.setText(server.name)
        self.place.setText(server.url or join_command((server.command, *server.args)))
        self.state.setText(self._words(state))
        self.error.setText(problem_text(state.error))
        self.error.setVisible(state.status == "failed" and bool(state.error))
        runs = state.status in ("starting", "ready")
        self.try_button.setText(self.tr("Stop") if runs else self.tr("Try it"))
        if self._shown is None or self._shown.tools != state.tools:
            self._list(state)
        self._shown = state

    def rows(self) -> list[ToolRow]:
        """The tools."""
        items = (self._offers.itemAt(place) for place in range(self._offers.count()))
        return [row for item in items if item is not None and isinstance(row := item.widget(), ToolRow)]

    def _list(self, state: ToolServerState) -> None:
        for row in self.rows():
            self._offers.removeWidget(row)
            row.hide()
            row.deleteLater()
        for tool in state.tools:
            self._offers.addWidget(ToolRow(tool, self._icons))

    def _words(self, state: ToolServerState) -> str:
        if state.status == "ready":
            return self.tr("It runs, and offers {}:").format(count_words(len(state.tools)))
        return {
            "off": self.tr("It is off, and starts when a chat uses it."),
            "starting": self.tr("It is starting…"),
            "failed": self.tr("It could not be started:"),
        }[state.status]

    @Slot()
    def _on_try(self) -> None:
        runs = self._shown is not None and self._shown.status in ("starting", "ready")
        (self.stop_wanted if runs else self.try_wanted).emit()


def _wrapped(role: str, pixels: float, *, bold: bool = False) -> RoleLabel:
    label = plain_label("", role, pixels, bold=bold)
    label.setWordWrap(True)
    return label
