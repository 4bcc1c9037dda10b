"""The tools of a chat in the window: chosen in the composer, asked for above it, and told where nobody looks."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.settings import UserSettings
from llama_gui.ui import MainWindow
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.tools.dialog import ToolsDialog
from llama_gui.ui.tools.menu import ToolsMenu
from llama_gui.vocabulary import ToolQuestion, ToolServerState
from tests.fakes.fake_tool_desk import FakeToolDesk, tool
from tests.fakes.scripted_engine import ScriptedEngine
from tests.journeys.driving import announcements, ask, trigger

READ = tool("files", "read_file", title="Read a file", only_reads=True)
READY = ToolServerState("ready", (READ, tool("files", "write_file")))
QUESTION = ToolQuestion("node", READ, '{"path": "/a"}')


@pytest.fixture(autouse=True)
def questions(monkeypatch) -> dict[str, ToolQuestion]:
    """What each session is asking, by its chat."""
    asked: dict[str, ToolQuestion] = {}
    monkeypatch.setattr("llama_gui.bridge.chat_book.ToolDesk", FakeToolDesk)
    monkeypatch.setattr(ChatSession, "tool_question", property(lambda session: asked.get(session.chat_id)))
    return asked


@pytest.fixture
def open_with_tools(open_window):
    """The window over a model that takes tools, or not."""

    def open_with_tools(*, takes: bool = True, settings: UserSettings | None = None) -> MainWindow:
        engine = ScriptedEngine()
        engine.info = replace(engine.info, tools=takes)
        return open_window(engine, settings=settings)

    return open_with_tools


def desk_of(window: MainWindow) -> FakeToolDesk:
    desk = window._book.tools
    assert isinstance(desk, FakeToolDesk)
    return desk


def menu_of(tab: ChatTab) -> ToolsMenu:
    menu = tab.findChild(ToolsMenu)
    assert menu is not None
    return menu


def entry(menu: ToolsMenu, text: str) -> QAction:
    return next(action for action in menu.actions() if action.text().startswith(text))


def pose(tab: ChatTab, questions: dict[str, ToolQuestion], question: ToolQuestion | None = QUESTION) -> None:
    questions.pop(tab.session.chat_id, None)
    if question is not None:
        questions[tab.session.chat_id] = question
    tab.session.tool_asked.emit(question)


def test_the_button_comes_with_the_first_server_and_says_how_it_stands(open_with_tools, qtbot):
    window = open_with_tools()
    desk, tab = desk_of(window), window.deck.current()
    button = tab.composer.tools_button
    assert not button.isVisible()
    desk.add("files")
    assert button.isVisible()
    assert not button.is_lit()
    assert "none of the servers" in button.accessibleName()
    tab.session.set_tools(["files"])
    assert desk.started == ["files"]
    assert button.is_lit()
    assert button.accessibleName().endswith("files: starting…")
    desk.set_state("files", READY)
    assert button.text() == "2 tools"
    desk.set_state("files", ToolServerState("failed", error="No such <program>."))
    assert "files: No such <program>." in button.accessibleName()
    assert "&lt;program&gt;" in button.toolTip()
    window.resize(window.minimumSizeHint().width(), 500)
    assert button.text() == ""
    desk.remove("files")
    assert not button.isVisible()


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_servers_are_ticked_by_key_and_the_menu_stays(open_with_tools, qtbot):
    window = open_with_tools()
    desk, tab = desk_of(window), window.deck.current()
    desk.add("files")
    desk.add("web", READY)
    trigger(window, "tools")
    menu = menu_of(tab)
    assert menu.activeAction() is menu.servers["files"]
    qtbot.keyClick(menu, Qt.Key.Key_Space)
    assert tab.session.settings.tools == ("files",)
    assert menu.isVisible()
    assert menu.servers["files"].text() == "files\tstarting…"
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert tab.session.settings.tools == ("files", "web")
    place = menu.actionGeometry(menu.servers["files"]).center()
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=place)
    assert tab.session.settings.tools == ("web",)
    assert menu.isVisible()
    qtbot.keyClick(menu, Qt.Key.Key_Escape)
    assert not menu.isVisible()


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_what_was_always_allowed_can_be_asked_again(open_with_tools, qtbot):
    window = open_with_tools()
    desk_of(window).add("files", READY)
    tab = window.deck.current()
    trigger(window, "tools")
    menu = menu_of(tab)
    assert not any("Ask again" in action.text() for action in menu.actions())
    menu.close()
    tab.session.set_settings(replace(tab.session.settings, allowed_tools=("files/read_file",)))
    menu = tab.tools.make_menu()
    entry(menu, "Ask again").trigger()
    assert tab.session.settings.allowed_tools == ()
    menu.deleteLater()


def test_a_model_without_a_place_for_tools_says_so(open_with_tools):
    window = open_with_tools(takes=False)
    desk_of(window).add("files", READY)
    tab = window.deck.current()
    tab.session.set_tools(["files"])
    assert not tab.composer.tools_button.is_lit()
    assert tab.composer.tools_button.accessibleName().endswith("The model of this chat cannot use tools.")
    menu = tab.tools.make_menu()
    assert not entry(menu, "The model of this chat cannot").isEnabled()
    menu.deleteLater()


def test_the_dialog_opens_where_there_is_no_server_and_stops_what_was_only_tried(open_with_tools, qtbot):
    window = open_with_tools()
    desk, tab = desk_of(window), window.deck.current()
    trigger(window, "tools")
    dialog = window.findChild(ToolsDialog)
    desk.add("files")
    desk.add("web")
    for row in (0, 1):
        dialog.list.setCurrentRow(row)
        dialog.try_selected()
    tab.session.set_tools(["web"])
    dialog.accept()
    assert desk.stopped == ["files"]
    entry(tab.tools.make_menu(), "Set up").trigger()
    qtbot.waitUntil(lambda: window.connections._tools is not None)
    window.connections._tools.accept()


def test_what_the_desk_could_not_keep_is_said_in_the_tab(open_with_tools):
    window = open_with_tools()
    desk_of(window).failed.emit("The disk is full.")
    assert "The disk is full." in window.deck.current().notice.text()


def test_a_call_is_asked_for_and_answered_by_key_but_never_by_enter_in_the_composer(
    open_with_tools, qtbot, questions, monkeypatch
):
    decided: list[str] = []
    monkeypatch.setattr(ChatSession, "decide", lambda _session, decision: decided.append(decision))
    window = open_with_tools()
    tab = window.deck.current()
    ask(qtbot, tab, "first")
    qtbot.waitUntil(lambda: tab.session.is_settled)
    heard = announcements(monkeypatch)
    window.activateWindow()
    tab.composer.edit.setFocus()
    pose(tab, questions)
    assert tab.question.isVisible()
    assert "Scripted wants to run" in tab.question.accessibleName()
    assert any("Read a file (files)" in text for text in heard)
    assert QApplication.focusWidget() is tab.composer.edit
    qtbot.waitUntil(lambda: tab.question.is_armed)
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    assert decided == []
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Backtab)
    assert QApplication.focusWidget() is tab.question.decline
    qtbot.keyClick(tab.question.decline, Qt.Key.Key_Space)
    assert decided == ["decline"]
    pose(tab, questions, None)
    assert not tab.question.isVisible()
    assert QApplication.focusWidget() is tab.composer.edit


def test_a_chat_that_asks_behind_says_so_in_its_tab_and_asks_when_it_is_opened_again(open_with_tools, qtbot, questions):
    window = open_with_tools()
    tab = window.deck.current()
    ask(qtbot, tab, "first")
    qtbot.waitUntil(lambda: tab.session.is_settled)
    chat_id = tab.session.chat_id
    trigger(window, "new_tab")
    pose(tab, questions)
    assert window.deck.bar.has_dot(chat_id)
    pose(tab, questions, None)
    assert not window.deck.bar.has_dot(chat_id)
    questions[chat_id] = QUESTION
    window.deck.close_chat(chat_id)
    assert window.deck.open_chat(chat_id).question.isVisible()


@pytest.mark.parametrize("notify", [True, False])
def test_the_desktop_is_told_of_a_call_where_that_is_wanted(open_with_tools, questions, monkeypatch, notify):
    window = open_with_tools(settings=UserSettings(notify=notify))
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(window.notifier, "tell", lambda title, text: told.append((title, text)))
    tab = window.deck.current()
    pose(tab, questions)
    pose(tab, questions, None)
    title = tab.session.title
    assert told == ([(title, "It waits for your word: may it run Read a file?")] if notify else [])
