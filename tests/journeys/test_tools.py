"""A tool that a model calls, from the window through a real server and back."""

import sys
from pathlib import Path

from PySide6.QtCore import Qt

from llama_gui.vocabulary import ToolServer
from tests.fakes.scripted_engine import ScriptedEngine
from tests.journeys.driving import ask, shown, trigger

SERVER = Path(__file__).parents[1] / "tools" / "talking_server.py"
CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 40, "b": 2}}\n</tool_call>'
SCRIPT = {"how much?": ["I add ", "them.\n", CALL[:20], CALL[20:]], "42": ["It is ", "42."]}


def test_a_tool_is_called_when_the_user_says_so_and_the_answer_goes_on(open_window, qtbot):
    engine = ScriptedEngine(SCRIPT)
    window = open_window(engine)
    tab = window.deck.current()
    assert not tab.composer.tools_button.isVisible()
    tab.session.tools.keep(ToolServer("sums", sys.executable, (str(SERVER),)))
    qtbot.waitUntil(tab.composer.tools_button.isVisible)
    tab.session.set_tools(["sums"])
    ask(qtbot, tab, "how much?")  # which waits until the server has started
    bar = tab.question
    qtbot.waitUntil(lambda: bar.is_armed, timeout=30_000)
    assert "Add up" in shown(tab)
    assert "a: 40" in bar.arguments.toPlainText()
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)  # nothing that is typed says yes
    assert tab.session.tool_question is not None
    bar.once.setFocus()
    qtbot.keyClick(bar.once, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not tab.session.answering)
    assert not bar.isVisible()
    assert [message.content for message in engine.requests[-1].messages] == ["how much?", "I add them.", "42"]
    assert "It is 42." in shown(tab)
    trigger(window, "close_tab")
    trigger(window, "reopen_tab")
    tab = window.deck.current()
    qtbot.waitUntil(lambda: len(tab.session.path()) == 4)
    assert tab.session.settings.tools == ("sums",)
    assert "Add up" in shown(tab)
