"""Reading a chat in the window: find, reasoning, formulas, branches, a message far up, nothing fetched."""

import sqlite3
import sys
from contextlib import closing

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices

from tests.fakes.scripted_engine import ScriptedEngine, pieces_of
from tests.journeys.driving import ask, shown, trigger

THOUGHT = "<think>\nThe user greets. I greet.\n</think>\n\nHello, $x^2$ friend."


def press(window, keys: str) -> None:
    """Press the keys of an action, as the keyboard does: through the action that owns them."""
    action = next(action for _spec, action in window.actions_ if keys in [key.toString() for key in action.shortcuts()])
    assert action.isEnabled()
    action.trigger()


def chat_about(open_window, qtbot, *texts: str, engine: ScriptedEngine | None = None):
    window = open_window(engine or ScriptedEngine())
    tab = window.deck.current()
    for text in texts:
        ask(qtbot, tab, text)
        qtbot.waitUntil(lambda text=text: not tab.session.answering and tab.session.path()[-2].content == text)
    return window, tab


def test_find_by_keys_from_the_composer_and_back(open_window, qtbot):
    window, tab = chat_about(open_window, qtbot, "one needle", "hay", "two needles")
    window.activateWindow()
    tab.focus_composer()
    qtbot.waitUntil(tab.composer.edit.hasFocus)
    press(window, "Ctrl+F")
    assert tab.find_bar.field.hasFocus()
    qtbot.keyClicks(tab.find_bar.field, "needle")
    assert tab.find_bar.count.text().endswith(" of 4")
    seen = set()
    for _ in range(4):
        press(window, "F3")
        seen.add(tab.transcript.textCursor().selectionStart())
    assert len(seen) == 4
    press(window, "Shift+F3")
    qtbot.keyClick(tab.find_bar.field, Qt.Key.Key_Escape)
    assert tab.find_bar.isHidden()
    assert tab.composer.edit.hasFocus()


def test_esc_in_the_find_bar_does_not_stop_the_answer(open_window, qtbot):
    window = open_window(ScriptedEngine({"go": pieces_of("on and on " * 2000)}, tokens_per_second=200))
    tab = window.deck.current()
    ask(qtbot, tab, "go")
    qtbot.waitUntil(lambda: "on and on" in shown(tab))
    window.activateWindow()
    press(window, "Ctrl+F")
    qtbot.keyClicks(tab.find_bar.field, "on")
    qtbot.waitUntil(lambda: int(tab.find_bar.count.text().split(" of ")[-1].replace(",", "")) > 20)
    qtbot.keyClick(tab.find_bar.field, Qt.Key.Key_Escape)
    assert tab.find_bar.isHidden()
    assert tab.session.answering
    tab.session.stop()
    qtbot.waitUntil(lambda: tab.session.is_settled)


def test_what_was_thought_is_folded_and_not_copied(open_window, qtbot, qapp):
    engine = ScriptedEngine({"hi": pieces_of(THOUGHT)})
    window, tab = chat_about(open_window, qtbot, "hi", engine=engine)
    assert "Thought for 5 words" in shown(tab)
    assert "greets" not in shown(tab)
    assert "Hello, x² friend." in shown(tab)
    press(window, "Ctrl+Shift+R")
    assert "The user greets. I greet." in shown(tab)
    press(window, "Ctrl+Shift+R")
    assert "greets" not in shown(tab)
    trigger(window, "copy_answer")
    assert qapp.clipboard().text() == "Hello, $x^2$ friend."
    tab.messages.run("copy", tab.session.path()[-1].id)
    assert qapp.clipboard().text() == "Hello, $x^2$ friend."


def test_a_find_in_what_was_thought_lights_up_the_whole_message(open_window, qtbot):
    _window, tab = chat_about(open_window, qtbot, "hi", engine=ScriptedEngine({"hi": pieces_of(THOUGHT)}))
    node_id = tab.session.path()[-1].id
    tab.find_bar.want("greets", node_id, 0)
    tab.transcript.scroll_to_node(node_id)
    assert "The user greets. I greet." in shown(tab)
    flash = tab.transcript._flash
    assert flash is not None
    assert tuple(cursor.position() for cursor in flash) == tab.transcript.extent_of(node_id)
    tab.transcript._end_flash()


def test_the_map_goes_to_another_branch(open_window, qtbot):
    window, tab = chat_about(open_window, qtbot, "first", "second")
    tab.session.regenerate()
    qtbot.waitUntil(lambda: not tab.session.answering and tab.session.is_settled)
    old = next(dot.node_id for dot in tab.session.map_dots() if not dot.is_shown)
    window.activateWindow()
    press(window, "Ctrl+Shift+M")
    canvas = window.focusWidget()
    qtbot.keyClick(canvas, Qt.Key.Key_Left)
    qtbot.keyClick(canvas, Qt.Key.Key_Return)
    assert tab.session.path()[-1].id == old
    assert tab.transcript.extent_of(old) is not None
    tab.transcript._end_flash()


def test_another_branch_must_wait_for_the_answer(open_window, qtbot):
    window = open_window(ScriptedEngine({"go": pieces_of("on and on " * 500)}, tokens_per_second=100))
    tab = window.deck.current()
    ask(qtbot, tab, "hello")
    qtbot.waitUntil(lambda: tab.session.is_settled and len(tab.session.path()) == 2)
    tab.session.edit(tab.session.path()[0].id, "go")
    qtbot.waitUntil(
        lambda: [node.content for node in tab.session.path()][:1] == ["go"] and len(tab.session.path()) == 2
    )
    other = next(dot.node_id for dot in tab.session.map_dots() if not dot.is_shown)
    tab.go_to_message(other)
    assert "still being written" in tab.notice.text()
    tab.go_to_message(tab.session.path()[0].id)
    tab.session.stop()
    qtbot.waitUntil(lambda: tab.session.is_settled)


FORMULAS = r"""Let $\frac{a}{b}$ be

$$
\sum_{i=1}^{n} i = \frac{n(n+1)}{2}
$$

and so is $\unknown{x}$."""


def test_formulas_are_laid_out_as_they_arrive_and_stay_text_for_everybody_else(open_window, qtbot, qapp):
    window, tab = chat_about(open_window, qtbot, "go", engine=ScriptedEngine({"go": list(FORMULAS)}))
    view = tab.transcript
    assert view.document().toRawText().count("\ufffc") == 2
    view.selectAll()
    view.copy()
    assert qapp.clipboard().text().split("\n")[2:5] == [
        "Let a/b be", "∑ᵢ₌₁ⁿ i = n(n + 1)/2", r"and so is $\unknown{x}$.",
    ]  # fmt: skip
    press(window, "Ctrl+Shift+C")
    assert qapp.clipboard().text() == FORMULAS
    press(window, "Ctrl+F")
    tab.find_bar.field.setText("n(n + 1)")
    assert tab.find_bar.count.text() == "1 of 1"
    for name in ("zoom_in", "zoom_in", "zoom_out"):
        trigger(window, name)
    assert view.document().toRawText().count("\ufffc") == 2


HOSTILE = """<think>![a](file:///etc/hostname) [x](file:///etc/passwd)</think>

![b](/etc/hostname) <img src="/etc/hostname"> $\\includegraphics{/etc/hostname}$ $\\href{file:///etc/hostname}{x}$

$$\\input{/etc/hostname}$$

| ![c](/etc/hostname) |
|---|
| <a href="file:///etc/hostname">d</a> |

```html
<img src="/etc/hostname">
```

[go](https://example.invalid) [act](act-0:again:x)
"""


@pytest.mark.parametrize("unfolded", [False, True])
def test_a_model_can_neither_read_a_file_nor_open_a_link(open_window, qtbot, monkeypatch, unfolded):
    read, opened = [], []
    sys.addaudithook(lambda name, args: read.append(args) if name == "open" and "hostname" in str(args[0]) else None)
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url) or True)
    loaded = []
    window, tab = chat_about(open_window, qtbot, "hi", engine=ScriptedEngine({"hi": pieces_of(HOSTILE)}))
    load = tab.transcript.loadResource
    monkeypatch.setattr(
        type(tab.transcript), "loadResource", lambda self, kind, name: loaded.append(name) or load(kind, name)
    )
    if unfolded:
        press(window, "Ctrl+Shift+R")
    press(window, "Ctrl+F")
    tab.find_bar.field.setText("hostname")
    tab.find_bar.step(1)
    tab.show_branches()
    window.grab()
    tab.transcript.grab()
    assert "example.invalid" not in shown(tab)
    assert "go" in shown(tab)
    assert not read
    assert not opened
    assert not loaded  # there is no image in the document that could be asked for


def test_pages_are_turned_while_the_keyboard_is_in_the_message(open_window, qtbot):
    window = open_window(ScriptedEngine({"go": ["A line.\n\n"] * 150}))
    tab = window.deck.current()
    ask(qtbot, tab, "go")
    qtbot.waitUntil(lambda: tab.session.is_settled and tab.transcript.verticalScrollBar().maximum() > 0)
    qtbot.keyClicks(tab.composer.edit, "next")
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_PageUp)
    bar = tab.transcript.verticalScrollBar()
    assert 0 <= bar.value() < bar.maximum()
    qtbot.keyClicks(tab.composer.edit, " one")
    assert tab.composer.text() == "next one"


def test_ctrl_home_and_ctrl_end_in_an_empty_message_lead_to_the_beginning_and_the_end(open_window, qtbot):
    window = open_window(ScriptedEngine({"go": ["A line.\n\n"] * 150}))
    tab = window.deck.current()
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)  # nothing is there yet
    ask(qtbot, tab, "go")
    bar = tab.transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: tab.session.is_settled and bar.maximum() > 0)
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: bar.value() < bar.pageStep())
    assert tab.composer.edit.hasFocus()
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: bar.value() == bar.maximum())


def test_the_place_that_is_read_is_on_disk_a_moment_after_scrolling(open_window, qtbot, tmp_path):
    window = open_window(ScriptedEngine({"go": ["A line.\n\n"] * 150}))
    tab = window.deck.current()
    ask(qtbot, tab, "go")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and tab.session.is_settled)

    def kept() -> list[float]:
        with closing(sqlite3.connect(tmp_path / "chats.db")) as db:
            return [scroll for (scroll,) in db.execute("SELECT scroll FROM tabs")]

    bar = tab.transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 1000)
    qtbot.wait(1000)  # what the end of the answer has let be kept
    bar.setValue(bar.maximum() // 4)
    assert 0.5 < tab.transcript.scroll_place() < 0.7  # in the second of two messages
    qtbot.waitUntil(lambda: kept() == [tab.transcript.scroll_place()], timeout=2000)
