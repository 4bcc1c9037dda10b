"""A call that waits for the user's word: shown as plain text, answered by mouse and keys, by nothing else."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from llama_gui.ui.tools.question_bar import ToolQuestionBar
from llama_gui.vocabulary import ToolQuestion
from tests.fakes.fake_tool_desk import tool

WRITES = tool("files", "write_file", title="Write a file")
READS = tool("files", "read_file", only_reads=True)


@pytest.fixture
def place(qtbot) -> QWidget:
    place = QWidget()
    qtbot.addWidget(place)
    place.setLayout(QVBoxLayout())
    place.resize(600, 400)
    return place


@pytest.fixture
def bar(icons, place, qtbot) -> ToolQuestionBar:
    bar, field = ToolQuestionBar(icons), QLineEdit()
    for widget in (bar, field):
        place.layout().addWidget(widget)
    place.show()
    field.setFocus()
    bar.field = field
    return bar


def ask(qtbot, bar: ToolQuestionBar, made=WRITES, arguments='{"path": "/a"}', model: str = "Llama") -> None:
    """Let it ask, and let the time pass in which a click is not heard."""
    bar.ask(ToolQuestion("node", made, arguments), model)
    bar._wait.stop()
    qtbot.waitUntil(lambda: bar.is_armed)


def words(bar: ToolQuestionBar) -> list[str]:
    return [label.text() for label in (bar._asks, bar._tool, bar._risk) if label.isVisible()]


def test_it_says_who_wants_what_with_what(bar, qtbot):
    assert not bar.isVisible()
    ask(qtbot, bar)
    assert words(bar) == [
        "Llama wants to run a tool of “files”:",
        "Write a file (write_file)",
        "It may change things.",
    ]
    assert bar.arguments.toPlainText() == "path: /a"
    assert bar.accessibleName() == "Llama wants to run a tool of “files”: Write a file (write_file)"
    assert bar.accessibleDescription() == "path: /a"


def test_one_that_only_reads_is_told_apart_and_one_without_arguments_shows_none(bar, qtbot):
    ask(qtbot, bar, READS, "{}", model="")
    assert words(bar) == ["The model wants to run a tool of “files”:", "read_file"]
    assert not bar.arguments.isVisible()


def test_what_a_model_wrote_is_no_html(bar, qtbot):
    evil = "<b>x</b><img src='file:///x'>"
    ask(qtbot, bar, tool("<i>s</i>", "t", title=evil), json.dumps({"a": evil}), model=evil)
    assert bar.arguments.toPlainText() == f"a: {evil}"
    assert bar.arguments.isReadOnly()
    for label in (bar._asks, bar._tool):
        assert label.textFormat() == Qt.TextFormat.PlainText
        assert evil in label.text()


def test_long_arguments_scroll_and_say_what_is_left_out(bar, qtbot):
    ask(qtbot, bar, arguments=json.dumps({"text": "line\n" * 100}))
    assert bar.arguments.height() < 12 * bar.arguments.fontMetrics().lineSpacing()
    qtbot.waitUntil(bar.arguments.verticalScrollBar().isVisible)
    ask(qtbot, bar, arguments=json.dumps({"text": "x" * 30_000}))
    assert bar.arguments.toPlainText().endswith("… and 10,006 more characters")


@pytest.mark.parametrize(("name", "decision"), [("once", "once"), ("always", "always"), ("decline", "decline")])
def test_each_button_decides_by_mouse_and_by_key(bar, qtbot, name, decision):
    heard: list[str] = []
    bar.decided.connect(heard.append)
    ask(qtbot, bar)
    qtbot.mouseClick(getattr(bar, name), Qt.MouseButton.LeftButton)
    getattr(bar, name).setFocus()
    qtbot.keyClick(getattr(bar, name), Qt.Key.Key_Space)
    assert heard == [decision, decision]


def test_it_takes_no_keyboard_and_gives_it_back_when_it_had_it(bar, qtbot):
    left: list[bool] = []
    bar.left.connect(lambda: left.append(True))
    ask(qtbot, bar)
    assert QApplication.focusWidget() is bar.field
    bar.clear()
    assert left == []
    ask(qtbot, bar)
    bar.once.setFocus()
    bar.clear()
    assert left == [True]
    assert not bar.isVisible()


def test_a_click_that_was_meant_for_something_else_decides_nothing(bar, qtbot):
    heard: list[str] = []
    bar.decided.connect(heard.append)
    bar.ask(ToolQuestion("node", WRITES, "{}"), "")
    qtbot.mouseClick(bar.once, Qt.MouseButton.LeftButton)
    assert heard == []
    qtbot.waitUntil(lambda: bar.is_armed)
    bar.ask(ToolQuestion("another", WRITES, "{}"), "")  # the second half of a double click
    qtbot.mouseClick(bar.once, Qt.MouseButton.LeftButton)
    assert heard == []


def test_a_key_for_the_call_before_does_not_allow_the_next(bar, qtbot):
    ask(qtbot, bar)
    bar.once.setFocus()
    ask(qtbot, bar, READS)
    assert QApplication.focusWidget() is bar.arguments
    bar.once.setFocus()
    ask(qtbot, bar, READS, "{}")
    assert QApplication.focusWidget() is bar.decline


def test_the_tab_key_goes_from_the_arguments_to_the_buttons_and_on(bar, qtbot):
    ask(qtbot, bar)
    bar.arguments.setFocus()
    seen = []
    for _ in range(4):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        seen.append(QApplication.focusWidget())
    assert seen == [bar.once, bar.always, bar.decline, bar.field]
