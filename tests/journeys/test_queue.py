"""Messages that wait while the answer is written."""

import pytest
from PySide6.QtCore import Qt

from llama_gui.ui.queue_list import QueueList
from llama_gui.ui.widgets import Button
from tests.fakes.scripted_engine import ScriptedEngine, pieces_of
from tests.journeys.driving import ask, shown, trigger

LONG = pieces_of("on and on " * 400)


def said(tab) -> list[str]:
    return [node.content for node in tab.session.path() if node.role == "user"]


def waiting(tab) -> list[str]:
    return [draft.text for draft in tab.session.queue.drafts()]


def buttons(queue: QueueList, name: str) -> list[Button]:
    return [button for button in queue.findChildren(Button) if button.accessibleName() == name and button.isVisible()]


@pytest.fixture
def busy(open_window, qtbot):
    """A window whose chat writes an answer without an end, with two messages in its queue."""
    window = open_window(ScriptedEngine({"go": LONG}, tokens_per_second=100))
    tab = window.deck.current()
    ask(qtbot, tab, "go")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and tab.composer.text() == "")
    ask(qtbot, tab, "second")
    ask(qtbot, tab, "third")
    assert waiting(tab) == ["second", "third"]
    assert tab.composer.text() == ""
    return window, tab


def test_stop_keeps_the_queue_and_send_now_goes_on(busy, qtbot):
    window, tab = busy
    assert tab.queue.isVisible()
    assert tab.queue.title.text() == "Sent one by one when the answers end"
    qtbot.keyClicks(tab.composer.edit, "typed meanwhile")
    trigger(window, "stop")
    qtbot.waitUntil(lambda: not tab.session.answering)
    assert waiting(tab) == ["second", "third"]
    assert tab.queue.title.text() == "Not sent yet: the queue is paused"
    qtbot.mouseClick(tab.queue.send_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: said(tab) == ["go", "second", "third"] and not tab.session.answering)
    assert not tab.queue.isVisible()
    assert tab.composer.text() == "typed meanwhile"
    assert "third" in shown(tab)


def test_a_queued_message_is_edited_removed_and_brought_back(busy, qtbot):
    _window, tab = busy
    qtbot.mouseClick(buttons(tab.queue, "Remove this message")[0], Qt.MouseButton.LeftButton)
    assert waiting(tab) == ["third"]
    assert tab.bar.text() == "The message was removed from the queue."
    tab.bar.accepted.emit()
    assert waiting(tab) == ["second", "third"]
    qtbot.waitUntil(lambda: len(buttons(tab.queue, "Edit this message")) == 2)
    edit = buttons(tab.queue, "Edit this message")[1]
    edit.setFocus()
    qtbot.keyClick(edit, Qt.Key.Key_Space)
    assert waiting(tab) == ["second"]
    assert tab.composer.text() == "third"
    qtbot.keyClicks(tab.composer.edit, " time")
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    assert waiting(tab) == ["second", "third time"]


def test_a_closed_tab_keeps_its_queue_in_the_draft(busy, qtbot):
    window, tab = busy
    qtbot.keyClicks(tab.composer.edit, "fourth")
    assert window.deck.open_tabs()[0].draft == "second\n\nthird\n\nfourth"
    window.deck.close_current()
    trigger(window, "reopen_tab")
    assert window.deck.current().composer.text() == "second\n\nthird\n\nfourth"


def test_the_queue_button_is_there_while_something_can_be_queued(busy, qtbot):
    _window, tab = busy
    assert not tab.composer.queue_button.isVisible()
    qtbot.keyClicks(tab.composer.edit, "x")
    qtbot.mouseClick(tab.composer.queue_button, Qt.MouseButton.LeftButton)
    assert waiting(tab)[-1] == "x"


def test_up_in_an_empty_field_edits_the_last_message(open_window, qtbot):
    tab = open_window(ScriptedEngine()).deck.current()
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Up)
    assert not tab.messages.editing
    ask(qtbot, tab, "first")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    qtbot.keyClicks(tab.composer.edit, "a")
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Up)
    assert tab.composer.text() == "a"
    tab.composer.set_text("")
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Up)
    assert tab.messages.editing
    assert tab.composer.text() == "first"


def test_enter_pressed_twice_sends_once(open_window, qtbot):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    qtbot.keyClicks(tab.composer.edit, "only once")
    for _ in range(3):  # before the message is on disk, and so still in the field
        qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: tab.session.is_settled and len(tab.session.path()) == 2)
    qtbot.wait(100)
    assert len(tab.session.path()) == 2
    assert tab.composer.text() == ""
