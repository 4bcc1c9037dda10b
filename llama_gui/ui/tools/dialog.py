"""The servers of tools that are set up: how it stands with each, what it offers; added, tried, changed, removed."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from llama_gui.bridge.tool_desk import ToolDesk
from llama_gui.ui.dialog_button import DialogButton
from llama_gui.ui.icons import Icons
from llama_gui.ui.info_bar import InfoBar
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.rows import NOTE_ROLE, NotedList
from llama_gui.ui.theme import FRAME_PX, SMALL_PX
from llama_gui.ui.tools.paste_dialog import PasteDialog
from llama_gui.ui.tools.server_form import ToolServerForm
from llama_gui.ui.tools.server_pane import ServerPane
from llama_gui.ui.tools.words import state_words
from llama_gui.ui.widgets import FittingDialog, plain_label
from llama_gui.vocabulary import ToolServer

_EXAMPLE = ToolServer("fetch", command="uvx", args=("mcp-server-fetch",))
_LIST_WIDTH = 216


@dataclass(frozen=True, slots=True)
class Removed:
    """A server that was removed, and whether it ran."""

    server: ToolServer
    ran: bool


class ToolsDialog(FittingDialog):
    """A list of them, and beside it the one that is selected."""

    def __init__(self, desk: ToolDesk, icons: Icons, parent: QWidget, removed: Removed | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self.removed = removed
        """What can be had back, also when the dialog is opened again."""
        self.tried: set[str] = set()
        """Servers that were started here."""
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Tool servers"))
        self.list = NotedList()
        self.list.setAccessibleName(self.tr("Tool servers"))
        self.list.setFixedWidth(_LIST_WIDTH)
        self.pane = ServerPane(icons)
        self.bar = InfoBar(icons)
        self.said = plain_label("", "error", SMALL_PX)
        self.said.setWordWrap(True)
        self.said.hide()
        self.add_button = DialogButton(self.tr("Add…"), self.add)
        self.paste_button = DialogButton(self.tr("Paste…"), self.paste)
        self.example_button = DialogButton(self.tr("Add this example…"), self._add_example)
        self._lay_out()
        self._connect()
        self._show_servers()
        self._offer_undo()

    def _connect(self) -> None:
        self.list.currentRowChanged.connect(self._show_selected)
        self.list.itemActivated.connect(self.change)
        self.pane.try_wanted.connect(self.try_selected)
        self.pane.stop_wanted.connect(self.stop_selected)
        self.pane.change_wanted.connect(self.change)
        self.pane.remove_wanted.connect(self.remove)
        self.bar.accepted.connect(self.undo)
        self.bar.dismissed.connect(self._forget_removed)
        self._desk.changed.connect(self._on_changed)
        self._desk.failed.connect(self._on_failed)

    def _lay_out(self) -> None:
        note = plain_label(
            self.tr(
                "Tool servers let the model of a chat do things: read files, look at web pages, ask a database. Such "
                "programs run with your rights, and they see what the model sends them. Add only those that you trust."
            ),
            "muted",
            FRAME_PX,
        )
        note.setWordWrap(True)
        sides = QWidget()
        row = QHBoxLayout(sides)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(20)
        row.addWidget(self.list)
        row.addWidget(self.pane, 1)
        self._pages = QStackedWidget()
        self._pages.addWidget(sides)
        self._pages.addWidget(self._empty_page())
        foot = QHBoxLayout()
        foot.addWidget(self.add_button)
        foot.addWidget(self.paste_button)
        foot.addStretch(1)
        foot.addWidget(DialogButton(self.tr("Close"), self.accept))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(14)
        layout.addWidget(note)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self.said)
        layout.addWidget(self.bar)
        layout.addLayout(foot)
        self.resize(720, 480)

    def _empty_page(self) -> QWidget:
        page = QWidget()
        words = plain_label(
            self.tr("There is none yet. One that works where uv is installed, and reads web pages:"), "muted", FRAME_PX
        )
        example = plain_label("uvx mcp-server-fetch", "text", FRAME_PX)
        example.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column = QVBoxLayout(page)
        column.setSpacing(10)
        column.addStretch(1)
        for widget in (words, example, self.example_button):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        return page

    def selected(self) -> ToolServer | None:
        """The server that is shown."""
        item = self.list.currentItem()
        return next((server for server in self._desk.servers() if item and server.name == item.text()), None)

    # What the user does

    @Slot()
    def add(self) -> None:
        """Ask for a new server."""
        self._open_form(None, is_new=True)

    @Slot()
    def _add_example(self) -> None:
        self._open_form(_EXAMPLE, is_new=True)

    @Slot()
    def change(self) -> None:
        """Change the one that is selected."""
        if server := self.selected():
            self._open_form(server, is_new=False)

    def _open_form(self, server: ToolServer | None, *, is_new: bool) -> None:
        former = "" if is_new or server is None else server.name
        taken = {known.name for known in self._desk.servers()} - {former}
        form = ToolServerForm(server, taken, self._desk.check, self, is_new=is_new)
        form.filled.connect(lambda filled: self._keep(filled, former))
        form.open()

    def _keep(self, server: ToolServer, former: str) -> None:
        self._forget_news()
        self.tried.discard(former)
        self._desk.keep(server, former)
        self._select(server.name)
        self.try_selected()

    @Slot()
    def paste(self) -> None:
        """Ask for the text of another application."""
        dialog = PasteDialog(self._desk, self)
        dialog.added.connect(self._on_added)
        dialog.open()

    @Slot(object)
    def _on_added(self, names: Sequence[str]) -> None:
        self._forget_news()
        if names:
            self._select(names[0])
            self.bar.offer(self.tr("Added: {}").format(", ".join(names)))

    @Slot()
    def try_selected(self) -> None:
        """Start it now, to see what it offers."""
        if server := self.selected():
            self.tried.add(server.name)
            self._desk.start([server.name])

    @Slot()
    def stop_selected(self) -> None:
        """End it."""
        if server := self.selected():
            self._desk.stop(server.name)

    @Slot()
    def remove(self) -> None:
        """Forget the one that is selected, and offer to have it back."""
        if server := self.selected():
            self._forget_news()
            self.removed = Removed(server, self._desk.state(server.name).status in ("starting", "ready"))
            self._desk.remove(server.name)
            self._offer_undo()

    def _offer_undo(self) -> None:
        if self.removed is not None:
            self.bar.offer(self.tr("“{}” is removed.").format(self.removed.server.name), self.tr("Undo"))

    @Slot()
    def undo(self) -> None:
        """Have back what was removed last."""
        removed = self.removed
        self._forget_removed()
        if removed is not None:
            self._desk.keep(removed.server)
            if removed.ran:
                self._desk.start([removed.server.name])
            self._select(removed.server.name)

    @Slot()
    def _forget_removed(self) -> None:
        self.removed = None

    # What the desk tells

    @Slot(str)
    def _on_changed(self, name: str) -> None:
        if not name:
            self._show_servers()
            return
        for row in range(self.list.count()):
            if (item := self.list.item(row)).text() == name:
                self._note_state(row)
                if item is self.list.currentItem():
                    self._show_selected()

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        self.said.setText(problem_text(text))
        self.said.show()
        self.fit()

    def _forget_news(self) -> None:
        self.said.hide()
        self.bar.clear()
        self._forget_removed()

    def _show_servers(self) -> None:
        row, servers = self.list.currentRow(), self._desk.servers()
        had_keyboard = self.list.hasFocus()
        self.list.blockSignals(True)
        self.list.clear()
        for place, server in enumerate(servers):
            self.list.add(server.name)
            self._note_state(place)
        self.list.setCurrentRow(min(max(row, 0), len(servers) - 1))
        self.list.blockSignals(False)
        self._pages.setCurrentIndex(0 if servers else 1)
        if not servers and had_keyboard:
            self.add_button.setFocus()
        self._show_selected()

    def _note_state(self, row: int) -> None:
        item = self.list.item(row)
        words = state_words(self._desk.state(item.text()))
        item.setData(NOTE_ROLE, words)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{item.text()}, {words}")

    @Slot()
    def _show_selected(self) -> None:
        if server := self.selected():
            self.pane.show_server(server, self._desk.state(server.name))

    def _select(self, name: str) -> None:
        for row in range(self.list.count()):
            if self.list.item(row).text() == name:
                self.list.setCurrentRow(row)
