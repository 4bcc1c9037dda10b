"""The servers of tools that are set up: listed, tried, added, changed, pasted, removed and had back."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from llama_gui.ui.rows import NOTE_ROLE
from llama_gui.ui.tools.dialog import ToolsDialog
from llama_gui.ui.tools.paste_dialog import PasteDialog
from llama_gui.ui.tools.server_form import ToolServerForm
from llama_gui.vocabulary import ToolServer, ToolServerState
from tests.fakes.fake_tool_desk import FakeToolDesk, tool

READY = ToolServerState(
    "ready", (tool("files", "read_file", "Read\nit all.", title="Read", only_reads=True), tool("files", "write"))
)


@pytest.fixture
def desk(qtbot) -> FakeToolDesk:
    QGuiApplication.clipboard().clear()
    return FakeToolDesk()


@pytest.fixture
def window(qtbot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    return window


@pytest.fixture
def dialog(desk, icons, window) -> ToolsDialog:
    dialog = ToolsDialog(desk, icons, window)
    dialog.open()
    return dialog


def notes(dialog: ToolsDialog) -> list[tuple[str, str]]:
    items = [dialog.list.item(row) for row in range(dialog.list.count())]
    return [(item.text(), item.data(NOTE_ROLE)) for item in items]


def form(dialog: ToolsDialog) -> ToolServerForm:
    made = dialog.findChild(ToolServerForm)
    assert made is not None
    return made


def test_without_any_it_offers_an_example(dialog, desk, qtbot):
    assert dialog.example_button.isVisible()
    assert not dialog.list.isVisible()
    qtbot.mouseClick(dialog.example_button, Qt.MouseButton.LeftButton)
    assert form(dialog).command.text() == "uvx mcp-server-fetch"
    qtbot.mouseClick(form(dialog).save, Qt.MouseButton.LeftButton)
    assert desk.servers() == (ToolServer("fetch", command="uvx", args=("mcp-server-fetch",)),)
    assert desk.started == ["fetch"]
    assert dialog.list.isVisible()
    assert notes(dialog) == [("fetch", "starting…")]


def test_states_are_shown_as_they_change(dialog, desk):
    desk.add("files")
    desk.add("git", ToolServerState("failed", error="<b>no</b> such program"))
    assert notes(dialog) == [("files", "off"), ("git", "failed")]
    desk.set_state("files", READY)
    assert notes(dialog)[0] == ("files", "2 tools")
    assert dialog.pane.state.text() == "It runs, and offers 2 tools:"
    assert not dialog.pane.error.isVisible()
    dialog.list.setCurrentRow(1)
    assert dialog.pane.rows() == []
    assert dialog.pane.error.isVisible()
    assert dialog.pane.error.text() == "<b>no</b> such program"
    assert dialog.pane.error.textFormat() == Qt.TextFormat.PlainText
    assert dialog.pane.error.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


def test_a_tool_unfolds_by_key_and_stays_so(dialog, desk, qtbot):
    desk.add("files", READY)
    first, second = dialog.pane.rows()
    assert not first.words.isVisible()
    qtbot.waitUntil(first.headline.isVisible)
    first.headline.setFocus()
    qtbot.keyClick(first.headline, Qt.Key.Key_Space)
    assert first.words.isVisible()
    assert first.words.text() == "Read\nit all.\nread_file · It only reads."
    assert second.words.text() == "It may change things."
    assert first.headline.accessibleName() == "Read: Read it all."
    desk.changed.emit("files")
    assert dialog.pane.rows()[0] is first


def test_it_is_tried_and_stopped(dialog, desk, qtbot):
    desk.add("files")
    qtbot.mouseClick(dialog.pane.try_button, Qt.MouseButton.LeftButton)
    assert desk.started == ["files"]
    assert dialog.tried == {"files"}
    assert dialog.pane.try_button.text() == "Stop"
    qtbot.mouseClick(dialog.pane.try_button, Qt.MouseButton.LeftButton)
    assert desk.stopped == ["files"]
    assert dialog.pane.try_button.text() == "Try it"


def test_what_is_removed_can_be_had_back(dialog, desk, qtbot):
    made = desk.add("files", READY)
    desk.add("git")
    qtbot.mouseClick(dialog.pane.remove_button, Qt.MouseButton.LeftButton)
    assert [server.name for server in desk.servers()] == ["git"]
    assert dialog.bar.text() == "“files” is removed."
    dialog.bar.accepted.emit()
    assert made in desk.servers()
    assert desk.started == ["files"]  # it ran
    assert dialog.selected() == made


def test_it_can_be_had_back_when_the_dialog_is_opened_again(dialog, desk, icons, window):
    made = desk.add("files")
    dialog.remove()
    dialog.accept()
    another = ToolsDialog(desk, icons, window, dialog.removed)
    another.open()
    assert another.bar.isVisible()
    another.bar.accepted.emit()
    assert desk.servers() == (made,)
    assert another.removed is None
    another.accept()


def test_a_server_is_changed_in_its_place(dialog, desk):
    desk.keep(ToolServer("files", command="run", args=("a b",), env={"TOKEN": "x=y"}))
    desk.add("git")
    dialog.list.setCurrentRow(0)
    dialog.change()
    made = form(dialog)
    assert not made.name.isReadOnly()
    assert (made.command.text(), made.env.toPlainText()) == ("run 'a b'", "TOKEN=x=y")
    made.command.setText("run c")
    made.accept()
    assert desk.servers()[0] == ToolServer("files", command="run", args=("c",), env={"TOKEN": "x=y"})
    assert len(desk.servers()) == 2


def test_a_server_gets_another_name_but_not_that_of_another_one(dialog, desk):
    desk.keep(ToolServer("files", command="run"))
    desk.add("git")
    dialog.list.setCurrentRow(0)
    dialog.change()
    made = form(dialog)
    made.name.setText("git")
    made.accept()
    assert made.problems["name"].isVisible()
    made.name.setText(" papers ")
    made.accept()
    assert [server.name for server in desk.servers()] == ["papers", "git"]
    assert dialog.list.currentItem().text() == "papers"
    assert desk.started == ["papers"]


def test_an_address_is_read_with_its_headers(dialog, desk):
    dialog.add()
    made = form(dialog)
    made.accept()
    assert made.problems["name"].text() == "Give the server a name."
    made.name.setText("web")
    made.accept()
    assert made.problems["command"].text() == "Type the command that starts the server."
    assert made.command.isVisible()
    made.is_address.setChecked(True)
    assert not made.command.isVisible()
    made.url.setText(" https://server.example/mcp ")
    made.headers.setPlainText("Authorization: Bearer x")
    made.accept()
    assert desk.servers() == (
        ToolServer("web", url="https://server.example/mcp", headers={"Authorization": "Bearer x"}),
    )


@pytest.mark.parametrize(("url", "allows"), [("http://127.0.0.1:8000/mcp", False), ("http://other.example/mcp", True)])
def test_plain_http_is_for_this_machine_or_where_it_is_allowed(dialog, desk, url, allows):
    dialog.add()
    made = form(dialog)
    made.is_address.setChecked(True)
    made.name.setText("web")
    made.url.setText(url)
    made.plain.setChecked(allows)
    made.accept()
    assert desk.servers() == (ToolServer("web", url=url, allow_plain_http=allows),)


@pytest.mark.parametrize(
    ("field", "typed", "problem"),
    [
        ("name", {"name": "files"}, "has this name already"),
        ("command", {"command": 'run "x'}, "quotation mark"),
        ("command", {"command": "''"}, "no command"),
        ("env", {"env": "A=1\n<b>TOKEN</b>"}, "“<b>TOKEN</b>” is not of the form"),
        ("url", {"url": "server.example"}, "no address"),
        ("url", {"url": "https://user:word@server.example"}, "without a password"),
        ("plain", {"url": "http://server.example"}, "not encrypted"),
        ("headers", {"url": "https://x", "headers": "A: ü"}, "without accents"),
        ("headers", {"url": "http://x", "headers": "none"}, "“none” is not of the form"),
    ],
)
def test_what_cannot_be_is_said_at_its_field(dialog, desk, field, typed, problem):
    desk.add("files")
    dialog.add()
    made = form(dialog)
    made.is_address.setChecked("url" in typed)
    values = {"name": "new", "command": "run", **typed}
    for name in ("name", "command", "url"):
        getattr(made, name).setText(values.get(name, ""))
    for name in ("env", "headers"):
        getattr(made, name).setPlainText(values.get(name, ""))
    made.accept()
    assert made.isVisible()
    assert problem in made.problems[field].text()
    assert [name for name, label in made.problems.items() if label.isVisible()] == [field]
    assert made.problems[field].textFormat() == Qt.TextFormat.PlainText
    assert len(desk.servers()) == 1
    made.name.setText("another")
    assert not any(label.isVisible() for label in made.problems.values())
    made.reject()


def test_the_text_of_another_application_is_pasted(dialog, desk):
    QGuiApplication.clipboard().setText('{"mcpServers": {"fetch": {"command": "uvx", "args": ["mcp-server-fetch"]}}}')
    dialog.paste()
    made = dialog.findChild(PasteDialog)
    assert "mcp-server-fetch" in made.text.toPlainText()
    kept = made.text.toPlainText()
    made.text.setPlainText("{}")
    made.accept()
    assert made.isVisible()
    assert "JSON with mcpServers" in made.problem.text()
    assert desk.servers() == ()
    made.text.setPlainText(kept)
    assert not made.problem.isVisible()
    made.accept()
    assert [server.name for server in desk.servers()] == ["fetch"]
    assert desk.started == []
    assert dialog.bar.text() == "Added: fetch"


def test_something_else_on_the_clipboard_is_not_taken(dialog, desk):
    QGuiApplication.clipboard().setText("my diary")
    dialog.paste()
    made = dialog.findChild(PasteDialog)
    assert made.text.toPlainText() == ""
    assert not made.add_button.isEnabled()
    made.reject()


def test_what_the_desk_could_not_keep_is_said(dialog, desk):
    desk.failed.emit("The disk is full.")
    assert dialog.said.isVisible()
    assert dialog.said.text() == "The disk is full."
