"""The foot of the window: what it says goes again, and stands apart from the numbers."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from llama_gui.ui import long_wait, status_line
from llama_gui.ui.status_line import StatusLine
from llama_gui.vocabulary import EngineStats, ModelInfo, SamplingParams

MODEL = ModelInfo("First", "/first", "llama", 10, 2048, "bfloat16", "cpu", SamplingParams(), has_chat_template=True)


@pytest.fixture
def status(qtbot, monkeypatch) -> StatusLine:
    monkeypatch.setattr(status_line, "_READING_MS", 30)
    made = StatusLine()
    qtbot.addWidget(made)
    made.resize(900, 28)
    made.show()
    return made


def test_what_was_said_goes_after_a_while(status, qtbot):
    status.say("The model could not be loaded.", is_error=True)
    qtbot.waitUntil(lambda: status.state.text() == "")


def test_what_is_seen_at_a_glance_goes_sooner(status, qtbot, monkeypatch):
    monkeypatch.setattr(status_line, "_READING_MS", 60_000)
    monkeypatch.setattr(status_line, "_GLANCE_MS", 30)
    status.say_briefly("There is no room for two chats side by side.")
    qtbot.waitUntil(lambda: status.state.text() == "")


@pytest.mark.parametrize(("text", "stays"), [("Reading b.bin…", False), ("Loading Tiny… 43 %", True)])
def test_what_goes_on_is_said_until_it_ends(status, text, stays):
    status.say("Copied to the clipboard.")
    status.say(text, stays=stays)
    QTest.qWait(100)
    status.set_answering(1)
    assert status.state.text() == text


def test_an_answer_that_begins_ends_what_was_said_before(status):
    status.say("The model could not be loaded.", is_error=True)
    status.set_answering(1)
    assert status.state.text() == ""
    status.say("The text came letter for letter.")
    status.set_answering(0)
    assert status.state.text()


def test_there_is_a_gap_between_the_numbers_and_what_is_said(status):
    status.set_answering(3)
    status.work.setText("12 tok/s      batch 3")
    status.say("Copied to the clipboard.")
    status.layout().activate()
    assert status.state.x() - status.work.geometry().right() > 12


def test_what_is_said_begins_at_the_edge_where_nothing_stands_before_it(status):
    status.say("Copied to the clipboard.")
    status.layout().activate()
    assert status.state.x() == status.layout().contentsMargins().left()


def test_speeds_are_grouped_as_below_an_answer(status):
    status.show_stats(EngineStats(1467.2, 2, 2, 0, 0, 0, "bfloat16", "cpu", 1, batch_invariant=True))
    assert status.work.text() == "for other programs      1,467 tok/s      batch 2"


def test_what_nobody_has_asked_yet_is_no_work_for_other_programs(status):
    stats = EngineStats(20, 1, 1, 0, 0, 0, "bfloat16", "cpu", 1, batch_invariant=True)
    status.show_stats(stats, reads_ahead=True)
    assert status.work.text() == "reading ahead"
    assert not status.work.isHidden()
    status.show_stats(replace(stats, running=0))
    assert status.work.isHidden()


def test_who_waits_for_the_end_of_a_step_lacks_no_memory(status, monkeypatch):
    monkeypatch.setattr(long_wait, "STEP_MS", 50)
    queued = EngineStats(20, 1, 1, 1, 0, 0, "bfloat16", "cpu", 1, batch_invariant=True)
    status.set_answering(2)
    status.show_stats(queued)
    assert "waiting" not in status.work.text()
    QTest.qWait(60)
    status.show_stats(queued)
    assert status.work.text().endswith("1 waiting for memory")
    status.show_stats(replace(queued, waiting=0))
    status.show_stats(queued)
    assert "waiting" not in status.work.text()


def test_a_wait_of_one_model_is_none_of_another(status, monkeypatch):
    monkeypatch.setattr(long_wait, "STEP_MS", 300)
    queued = EngineStats(20, 1, 1, 1, 0, 0, "bfloat16", "cpu", 1, batch_invariant=True)
    status.set_answering(2)
    first, second = (replace(MODEL, name=name) for name in ("First", "Second"))
    for info, waits in ((first, False), (first, True), (second, False), (second, True), (None, False)):
        status.show_model(info) if info else status.show_no_model("Third", "loading")
        if waits:
            QTest.qWait(320)
        status.show_stats(queued)
        assert ("waiting for memory" in status.work.text()) == waits


def test_what_is_said_goes_before_the_numbers_where_there_is_no_room_for_both(status):
    status.show_model(replace(MODEL, name="A model with a rather long name"))
    status.show_stats(EngineStats(20, 1, 1, 0, 10**9, 10**8, "bfloat16", "cpu", 2, batch_invariant=True))
    assert status.costs.isVisible()
    status.resize(420, 28)
    status.say("There is no room for two chats side by side.")
    status.layout().activate()
    assert not status.costs.isVisible()
    assert status.state.width() >= status.state.fontMetrics().horizontalAdvance(status.state.text())
    status.say("")
    assert status.costs.isVisible()
    status.say("Copied.")
    status.resize(900, 28)
    assert status.costs.isVisible()


def test_what_is_too_long_ends_in_dots(status):
    status.resize(200, 28)
    status.say("word " * 40)
    status.layout().activate()
    cut = status.state.grab().toImage()
    shown = status.state.fontMetrics().elidedText("word " * 40, Qt.TextElideMode.ElideRight, status.state.width())
    status.say(shown)
    assert shown.endswith("…")
    assert status.state.grab().toImage() == cut


@pytest.mark.parametrize(("is_remote", "words"), [(False, "not in memory"), (True, "not connected")])
def test_a_model_that_is_not_there_says_so_of_its_own_place(status, is_remote, words):
    status.show_no_model("Some model", "absent", is_remote=is_remote)
    assert status.costs.text() == f"Some model      {words}"


def test_a_click_on_the_model_chooses_another(status, qtbot):
    status.show_model(MODEL)
    with qtbot.waitSignal(status.models_wanted):
        qtbot.mouseClick(status.costs, Qt.MouseButton.LeftButton)
    with qtbot.assertNotEmitted(status.models_wanted):
        qtbot.mouseClick(status, Qt.MouseButton.LeftButton, pos=status.rect().center())
        qtbot.mouseClick(status.costs, Qt.MouseButton.RightButton)


def test_the_tip_of_a_former_model_goes_with_it(status):
    status.show_model(replace(MODEL, source="from /first/model.gguf"))
    assert "/first/model.gguf" in status.costs.toolTip()
    status.show_no_model("Second", "absent")
    assert "/first" not in status.costs.toolTip()
