"""Servers of others that speak OpenAI's protocol: add one, ask what it has, forget it."""

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from llama_gui.bridge.endpoint_desk import EndpointDesk, FormField, RemoteServer, ServerForm
from llama_gui.bridge.typed_address import name_of_address, whole_address
from llama_gui.ui.dialog_button import DialogButton
from llama_gui.ui.numbers import number_text
from llama_gui.ui.problem_words import problem_text
from llama_gui.ui.rows import NotedList
from llama_gui.ui.theme import FRAME_PX, SMALL_PX
from llama_gui.ui.widgets import form_foot, form_label, plain_label, problem_label

_PAUSE_MS = 400
"""So long nothing was typed: else a line would come and go below the beginnings of an address."""
_SERVER = Qt.ItemDataRole.UserRole + 1


class ServerFormDialog(QDialog):
    """Address, name and key of one server. It stays open with what was typed until the server is kept."""

    filled = Signal(object)
    """`ServerForm`."""

    def __init__(self, server: RemoteServer | None, parent: QWidget) -> None:
        super().__init__(parent)
        self._server = server
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Change server") if server else self.tr("Add a server"))
        self.address = QLineEdit(server.base_url if server else "")
        self.address.setPlaceholderText("https://server.example/v1")
        self.name = QLineEdit(server.name if server else "")
        self.name.setReadOnly(server is not None)
        self.key = QLineEdit()
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        kept = server is not None and server.has_key
        self.key.setPlaceholderText(self.tr("as it is kept") if kept else self.tr("if it needs one"))
        self.plain = QCheckBox(self.tr("Allow a connection that is not encrypted"))
        self.plain.setChecked(server is not None and server.allow_plain_http)
        self.address.setAccessibleName(self.tr("Address"))
        self.name.setAccessibleName(self.tr("Name"))
        self.key.setAccessibleName(self.tr("Key"))
        self.problems = {field: problem_label() for field in ("address", "name", "key", "plain")}
        self.meant = plain_label("", "muted", SMALL_PX)
        self.meant.setWordWrap(True)
        self.meant.hide()
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._on_pause)
        self._lay_out()
        for field in (self.address, self.name, self.key):
            field.textChanged.connect(self._check)
        self.plain.toggled.connect(self._check)
        self._check()

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setSpacing(10)
        for text, field in ((self.tr("Address"), "address"), (self.tr("Name"), "name"), (self.tr("Key"), "key")):
            form.addRow(form_label(text, getattr(self, field)), self._with_problem(field))
        form.addRow("", self._with_problem("plain"))
        note = plain_label(
            self.tr("What you write in a chat with one of its models goes to this server. The key goes to no other."),
            "muted",
            SMALL_PX,
        )
        note.setWordWrap(True)
        self.save = QPushButton(self.tr("Save and connect"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 24, 28, 20)
        layout.setSpacing(12)
        layout.addLayout(form)
        layout.addWidget(note)
        layout.addLayout(form_foot(self, self.save))
        self.resize(480, 300)

    def _with_problem(self, field: str) -> QVBoxLayout:
        """A field, and below it what is wrong with it."""
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(getattr(self, field))
        if field == "address":
            column.addWidget(self.meant)
        column.addWidget(self.problems[field])
        return column

    @Slot()
    def _check(self) -> None:
        for problem in self.problems.values():
            problem.hide()
        self.save.setEnabled(True)  # also without an address: Enter says what is missing
        self.name.setPlaceholderText(name_of_address(self.address.text()) or self.tr("as you want to call it"))
        self._show_meant()

    def _show_meant(self) -> None:
        """Say what is put behind the address, and how to have it without."""
        typed = self.address.text().strip()
        whole = whole_address(typed, self._server.base_url if self._server else "")
        has_more = whole.removeprefix("http://") != typed.removeprefix("http://")
        self.meant.setText(self.tr("This means {}. With a slash at the end nothing is put behind it.").format(whole))
        if not has_more:
            self._pause.stop()
            self.meant.hide()
        elif self.meant.isHidden():
            self._pause.start()

    @Slot()
    def _on_pause(self) -> None:
        self.meant.show()
        self._grow()

    def _grow(self) -> None:
        """Have room for all that is said: the layout would rather press the fields flat."""
        self.resize(self.width(), max(self.height(), self.heightForWidth(self.width())))

    def accept(self) -> None:
        """Tell what was typed."""
        is_same = self._server is not None and self._server.base_url == self.address.text().strip()
        key = None if is_same and not self.key.text() else self.key.text().strip()
        self.save.setEnabled(False)  # until it is kept, or refused
        name, is_new = self.name.text().strip(), self._server is None
        self.filled.emit(ServerForm(name, self.address.text(), key, self.plain.isChecked(), is_new))

    @Slot()
    def close_kept(self) -> None:
        """The server is kept."""
        super().accept()

    @Slot(str)
    def refuse(self, field: FormField) -> None:
        """Say at its field what is wrong."""
        words = {
            "taken": self.tr("Another server has this name already. Give this one another."),
            "address": self.tr(
                "This is no address of a server. It is like https://server.example/v1, or like 127.0.0.1:8000 for a "
                "program on this computer; it holds no user name, question mark or hash."
            ),
            "key": self.tr("A key has no spaces and no letters with accents. Copy it again."),
            "plain": self.tr(
                "On the way to this address others can read along, because http:// is not encrypted. Use https://, or "
                "tick this if you trust the network, as at home."
            ),
        }
        self._say("name" if field == "taken" else field, words[field])

    @Slot(str)
    def fail(self, text: str) -> None:
        """Say why the server could not be kept."""
        self._say("plain", problem_text(text))

    def _say(self, field: str, text: str) -> None:
        self._check()
        self.problems[field].setText(text)
        self.problems[field].show()
        self._grow()
        getattr(self, field).setFocus()


class EndpointsDialog(QDialog):
    """The servers that were added. `for_chat`: opened from the models of a chat, which wants one."""

    model_wanted = Signal(str)
    """The key of the only model of a server that was added for a chat."""

    def __init__(self, desk: EndpointDesk, parent: QWidget, *, for_chat: bool = False) -> None:
        super().__init__(parent)
        self._desk = desk
        self._for_chat = for_chat
        self._is_adding = False
        self._added = ""  # and has not told its models yet
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Remote servers"))
        self.list = NotedList(self.tr("Add a server by its address. Its models come into the model menu."))
        self.list.setAccessibleName(self.tr("Remote servers"))
        self._note = plain_label(
            self.tr("Servers that speak OpenAI’s protocol answer in the same tabs: vLLM, SGLang, llama.cpp, Ollama…"),
            "muted",
            FRAME_PX,
        )
        self._note.setWordWrap(True)
        self._said = plain_label("", "muted", SMALL_PX)
        self._said.setWordWrap(True)
        self.add_button = DialogButton(self.tr("Add…"), self.add)
        self.change_button = DialogButton(self.tr("Change…"), self.change)
        self.ask_button = DialogButton(self.tr("Ask for its models"), self.ask)
        self.remove_button = DialogButton(self.tr("Remove…"), self._ask_to_remove)
        self._lay_out()
        self.list.itemSelectionChanged.connect(self._on_selection)
        self.list.itemActivated.connect(self.change)
        desk.listed.connect(self._show_servers)
        desk.kept.connect(self._on_kept)
        desk.models_found.connect(self._on_models)
        desk.failed.connect(self._on_failed)
        desk.read()

    def _lay_out(self) -> None:
        foot = QHBoxLayout()
        for button in (self.add_button, self.change_button, self.ask_button, self.remove_button):
            foot.addWidget(button)
        foot.addStretch(1)
        foot.addWidget(DialogButton(self.tr("Close"), self.accept))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(12)
        layout.addWidget(self._note)
        layout.addWidget(self.list, 1)
        layout.addWidget(self._said)
        layout.addLayout(foot)
        self.resize(max(640, foot.sizeHint().width() + 48), 380)  # in other languages buttons are wider

    def _selected(self) -> RemoteServer | None:
        items = self.list.selectedItems()
        return items[0].data(_SERVER) if items else None

    # What the user does

    @Slot()
    def add(self) -> None:
        """Ask for a new server."""
        self._open_form(None)

    @Slot()
    def change(self) -> None:
        """Change the server that is selected."""
        if server := self._selected():
            self._open_form(server)

    def _open_form(self, server: RemoteServer | None) -> None:
        self._is_adding = server is None
        dialog = ServerFormDialog(server, self)
        dialog.filled.connect(self._desk.keep)
        self._desk.kept.connect(dialog.close_kept)
        self._desk.refused.connect(dialog.refuse)
        self._desk.not_kept.connect(dialog.fail)
        dialog.open()

    @Slot()
    def ask(self) -> None:
        """Connect to the server that is selected."""
        if server := self._selected():
            self._say(self.tr("Asking {}…").format(server.name))
            self._desk.ask_for_models(server.name)

    @Slot()
    def _ask_to_remove(self) -> None:
        server = self._selected()
        if server is None:
            return
        title = self.tr("Forget {}?").format(server.name)
        buttons = QMessageBox.StandardButton.Discard | QMessageBox.StandardButton.Cancel
        box = QMessageBox(QMessageBox.Icon.NoIcon, title, title, buttons, self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setInformativeText(self.tr("Its address and its key are deleted here. Your chats stay."))
        box.button(QMessageBox.StandardButton.Discard).setText(self.tr("Forget it"))
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.finished.connect(self._on_remove_answer)
        box.open()

    @Slot(int)
    def _on_remove_answer(self, result: int) -> None:
        server = self._selected()
        if result == QMessageBox.StandardButton.Discard and server is not None:
            self._desk.remove(server.name)

    @Slot()
    def _on_selection(self) -> None:
        for button in (self.change_button, self.ask_button, self.remove_button):
            button.setEnabled(self._selected() is not None)

    # What the desk tells

    @Slot(object)
    def _show_servers(self, servers: tuple[RemoteServer, ...]) -> None:
        row = self.list.currentRow()
        self.list.clear()
        for server in servers:
            self.list.add(server.name, server.base_url).setData(_SERVER, server)
        self.list.setCurrentRow(min(max(row, 0), self.list.count() - 1))
        if not servers and self.list.hasFocus():
            self.add_button.setFocus()
        self._on_selection()

    @Slot(str, str)
    def _on_kept(self, name: str, words: str) -> None:
        self._say(problem_text(words))
        if self._is_adding:
            self._added = name
        self._desk.ask_for_models(name)

    @Slot(str, object)
    def _on_models(self, name: str, keys: tuple[str, ...]) -> None:
        is_new = name == self._added
        if is_new:
            self._added = ""
        if len(keys) == 1 and is_new and self._for_chat:
            self._say(self.tr("{} has one model; this chat has it now.").format(name))
            self.model_wanted.emit(keys[0])
        elif len(keys) == 1:
            self._say(self.tr("{} has one model; it is in the model menu now.").format(name))
        else:
            many = self.tr("{} has {} models; they are in the model menu now.")
            self._say(many.format(name, number_text(len(keys))))

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        self._said.set_role("error")
        self._said.setText(problem_text(text))

    def _say(self, text: str) -> None:
        self._said.set_role("muted")
        self._said.setText(text)
