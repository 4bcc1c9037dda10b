"""Name, command or address of one tool server, and what goes along with it."""

from collections.abc import Callable, Collection

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from llama_gui.errors import InvalidRequestError
from llama_gui.ui.growing_text import GrowingText
from llama_gui.ui.theme import SMALL_PX
from llama_gui.ui.tools.fields import join_command, read_pairs, split_command, write_pairs
from llama_gui.ui.widgets import FittingDialog, form_foot, form_label, plain_label, problem_label
from llama_gui.vocabulary import ToolServer

_PAIRS_HEIGHT = 58


class ToolServerForm(FittingDialog):
    """It stays open until what was typed is a server. `taken`: names of other servers; `check`: `ToolDesk.check`."""

    filled = Signal(object)
    """`ToolServer`."""

    def __init__(
        self,
        server: ToolServer | None,
        taken: Collection[str],
        check: Callable[[ToolServer], None],
        parent: QWidget,
        *,
        is_new: bool,
    ) -> None:
        super().__init__(parent)
        self._taken = set(taken)
        self._can_be = check
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Add a tool server") if is_new else self.tr("Change tool server"))
        self.is_program = QRadioButton(self.tr("A program on this computer"))
        self.is_address = QRadioButton(self.tr("An address"))
        (self.is_address if server and server.url else self.is_program).setChecked(True)
        self.name = QLineEdit(server.name if server else "")
        self.name.setPlaceholderText(self.tr("as you want to call it"))
        self.command = QLineEdit(join_command((server.command, *server.args)) if server and server.command else "")
        self.command.setPlaceholderText("uvx mcp-server-fetch")
        self.env = self._pairs(write_pairs(server.env, "=") if server else "", self.tr("NAME=value, one on each line"))
        self.url = QLineEdit(server.url if server else "")
        self.url.setPlaceholderText("https://server.example/mcp")
        self.headers = self._pairs(
            write_pairs(server.headers, ": ") if server else "", self.tr("Name: value, one on each line")
        )
        self.plain = QCheckBox(self.tr("Allow a connection that is not encrypted"))
        self.plain.setChecked(server is not None and server.allow_plain_http)
        self.problems = {field: problem_label() for field in ("name", "command", "env", "url", "headers", "plain")}
        self._lay_out()
        for field in (self.name, self.command, self.url, self.env, self.headers):
            field.textChanged.connect(self._check)
        self.plain.toggled.connect(self._check)
        self.is_program.toggled.connect(self._show_kind)
        self._show_kind()
        (self.name if is_new else self.url if self.is_address.isChecked() else self.command).setFocus()

    def _pairs(self, text: str, hint: str) -> GrowingText:
        field = GrowingText(_PAIRS_HEIGHT, 6)
        field.setProperty("field", True)
        field.setPlaceholderText(hint)
        field.setTabChangesFocus(True)
        field.setPlainText(text)
        return field

    def _lay_out(self) -> None:
        self._form = QFormLayout()
        self._form.setSpacing(10)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        kinds = QHBoxLayout()
        kinds.setSpacing(20)
        kinds.addWidget(self.is_program)
        kinds.addWidget(self.is_address)
        kinds.addStretch(1)
        self._form.addRow(kinds)
        for text, field in (
            (self.tr("Name"), "name"),
            (self.tr("Command"), "command"),
            (self.tr("Environment"), "env"),
            (self.tr("Address"), "url"),
            (self.tr("Headers"), "headers"),
        ):
            getattr(self, field).setAccessibleName(text)
            self._form.addRow(form_label(text, getattr(self, field)), self._with_problem(field))
        self._form.addRow("", self._with_problem("plain"))
        self._note = plain_label("", "muted", SMALL_PX)
        self._note.setWordWrap(True)
        self.save = QPushButton(self.tr("Save and try it"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 24, 28, 20)
        layout.setSpacing(12)
        layout.addLayout(self._form)
        layout.addWidget(self._note)
        layout.addStretch(1)
        layout.addLayout(form_foot(self, self.save))
        self.resize(520, 320)

    def _with_problem(self, field: str) -> QWidget:
        """A field, and below it what is wrong with it."""
        place = QWidget()
        column = QVBoxLayout(place)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(getattr(self, field))
        column.addWidget(self.problems[field])
        return place

    @Slot()
    def _show_kind(self) -> None:
        is_program = self.is_program.isChecked()
        for field, shown in (("command", is_program), ("env", is_program), ("url", not is_program)):
            self._form.setRowVisible(self._row_of(field), shown)
        self._form.setRowVisible(self._row_of("headers"), not is_program)
        self._form.setRowVisible(self._row_of("plain"), not is_program)
        if is_program:
            note = self.tr("The program runs with your rights: it can do on this computer what you can.")
        else:
            note = self.tr("What the model passes to its tools goes to this address.")
        self._note.setText(note + " " + self.tr("What you type here is kept in a file as it is, keys too."))
        self._check()

    def _row_of(self, field: str) -> QWidget:
        place = getattr(self, field).parentWidget()
        assert isinstance(place, QWidget)
        return place

    @Slot()
    def _check(self) -> None:
        for problem in self.problems.values():
            problem.hide()
        self.fit()

    def accept(self) -> None:
        """Tell what was typed, if it can be."""
        if (server := self._read()) is not None:
            self.filled.emit(server)
            super().accept()

    def _read(self) -> ToolServer | None:
        name = self.name.text().strip()
        if not name:
            return self._refuse("name", self.tr("Give the server a name."))
        if name in self._taken:
            return self._refuse("name", self.tr("Another server has this name already. Give this one another."))
        return self._read_program(name) if self.is_program.isChecked() else self._read_address(name)

    def _read_program(self, name: str) -> ToolServer | None:
        if not self.command.text().strip():
            return self._refuse("command", self.tr("Type the command that starts the server."))
        try:
            words = split_command(self.command.text())
        except ValueError:
            words = ()
        if not words or not words[0]:
            return self._refuse("command", self.tr("This is no command. Is a quotation mark not closed?"))
        try:
            env = read_pairs(self.env.toPlainText(), "=")
        except ValueError as error:
            return self._refuse("env", self.tr("“{}” is not of the form NAME=value.").format(error))
        return ToolServer(name, command=words[0], args=words[1:], env=env)

    def _read_address(self, name: str) -> ToolServer | None:
        try:
            headers = read_pairs(self.headers.toPlainText(), ":")
        except ValueError as error:
            return self._refuse("headers", self.tr("“{}” is not of the form Name: value.").format(error))
        url, allows = self.url.text().strip(), self.plain.isChecked()
        try:
            server = ToolServer(name, url=url, headers=headers, allow_plain_http=allows)
            self._can_be(server)
        except InvalidRequestError as error:
            return self._refuse_address(error.field, is_plain=url.startswith("http://") and not allows)
        return server

    def _refuse_address(self, field: str, *, is_plain: bool) -> None:
        if field == "headers":
            text = self.tr("A header has a name and a value in plain letters, without accents. Copy it again.")
            return self._refuse("headers", text)
        if is_plain:
            text = self.tr(
                "On the way to this address others can read along, because http:// is not encrypted. Use https://, or "
                "tick this if you trust the network, as at home."
            )
            return self._refuse("plain", text)
        text = self.tr("This is no address of a server. It is like https://server.example/mcp, without a password.")
        return self._refuse("url", text)

    def _refuse(self, field: str, text: str) -> None:
        """Say at its field what is wrong."""
        self._check()
        self.problems[field].setText(text)
        self.problems[field].show()
        self.fit()
        getattr(self, field).setFocus()
