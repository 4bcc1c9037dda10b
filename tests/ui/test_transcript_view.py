"""The transcript: what it shows, what it never reads, where it stands."""

import itertools
import json
import os
import re
import sys
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage, QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication

from llama_gui.chats.tree import Node
from llama_gui.ui.theme import DARK, apply_theme, theme_of
from llama_gui.ui.transcript.message import footer_of
from llama_gui.ui.transcript.view import TranscriptView
from tests.ui.transcripts import answer, command_of, user

RECIPE = json.dumps(
    {
        "sampling": {"seed": 4711},
        "finish_reason": "stop",
        "usage": {"completion_tokens": 214},
        "timings": {"decode": 20.0},
    }
)


def long_chat() -> list[Node]:
    return [user(1), answer(1, "\n\n".join(f"Paragraph {n}." for n in range(80)))]


@pytest.mark.parametrize(("status", "facts"), [("failed", ()), ("stopped", ("stopped",))])
def test_of_an_answer_that_never_began_no_numbers_are_told(status, facts):
    recipe = json.dumps({"sampling": {"seed": 7}, "usage": {"completion_tokens": 0}, "token_ids": []})
    assert footer_of(answer(1, "", status, recipe=recipe)).facts == facts
    assert "seed 7" in footer_of(answer(1, "", recipe=recipe)).facts


@pytest.mark.parametrize(("seconds", "pace"), [(20.0, "10.7"), (2.141, "100"), (2.0, "107"), (0.15, "1,427")])
def test_the_pace_has_a_digit_behind_the_mark_only_where_it_tells_something(seconds, pace):
    recipe = json.loads(RECIPE) | {"timings": {"decode": seconds}}
    assert f"{pace} tok/s" in footer_of(answer(1, "x", recipe=json.dumps(recipe))).facts


def test_a_chat_from_question_to_footer(view):
    view.show_path([user(1)])
    view.add_node(answer(1, status="streaming"))
    view.set_waiting("Reading the prompt…")
    view.flush()
    assert "Reading the prompt…" in view.toPlainText()
    view.add_text("a1", "Some **bold")
    view.add_text("a1", "** words")
    view.flush()
    assert view.toPlainText() == "Question\nTiny\nSome bold words"
    view.replace_node(answer(1, "Some **bold** words", recipe=RECIPE))
    assert "214 tokens · 10.7 tok/s · seed 4711" in view.toPlainText()
    assert view.last_answer() == "Some **bold** words"


def test_a_question_says_what_it_waits_for(view):
    view.show_path([user(1)])
    view.set_waiting("Waiting for the model…")
    view.flush()
    assert view.toPlainText() == "Question\nWaiting for the model…"
    view.set_waiting("Waiting still")
    view.flush()
    assert view.toPlainText() == "Question\nWaiting still"
    view.show_path([user(1)])
    assert view.toPlainText() == "Question\nWaiting still"
    view.add_node(answer(1, status="streaming"))
    assert view.toPlainText() == "Question\nTiny\nWaiting still"
    view.set_waiting("")
    view.replace_node(answer(1, "Text"))
    assert "Waiting" not in view.toPlainText()
    assert "Ask again" not in view.toPlainText()


def test_a_refused_question_is_not_offered_while_a_draft_would_take_its_place(view):
    view.set_has_draft(True)
    view.show_path([user(1)])
    assert "Ask again" in view.toPlainText()  # stopped, not refused: the draft comes behind it
    view.replace_node(replace(user(1), status="failed"))
    assert "Ask again" not in view.toPlainText()
    view.set_has_draft(False)
    view.flush()
    assert view.toPlainText().endswith("Ask again")
    view.set_has_draft(True)
    view.flush()
    assert "Ask again" not in view.toPlainText()


def test_a_question_that_waits_for_nothing_can_be_asked_again(view, qtbot):
    view.show_path([user(1)])
    view.set_waiting("Waiting for the model…")
    view.flush()
    assert "Ask again" not in view.toPlainText()
    view.set_waiting("")
    view.flush()
    assert view.toPlainText() == "Question\nAsk again"
    with qtbot.waitSignal(view.again_requested):
        view.anchorClicked.emit(command_of(view, "again"))
    view.show_path([user(1), answer(1, "Text"), user(2)])
    assert view.toPlainText().count("Ask again") == 1


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (answer(1, "Half", "stopped", recipe=RECIPE), "stopped"),
        (answer(1, "Half", "interrupted"), "interrupted"),
        (answer(1, "Half", "failed", error="The numbers are not finite."), "The numbers are not finite."),
        (answer(1, "Half", recipe='{"finish_reason": "length"}'), "reached max tokens"),
        (answer(1, "Half", recipe="not json"), "Copy"),
    ],
)
def test_how_an_answer_ended_stands_below_it(view, node, words):
    view.show_path([user(1), node])
    assert words in view.toPlainText()
    assert "Half" in view.toPlainText()


def test_a_narrow_footer_breaks_between_its_facts(view):
    recipe = '{"usage": {"completion_tokens": 15}, "timings": {"decode": 1}, "sampling": {"seed": 3146272861}}'
    view.show_path([user(1), answer(1, "x", recipe=recipe)])
    assert "15 tokens · 15.0 tok/s · seed 3146272861" in view.toPlainText()
    raw = view.document().toRawText()
    assert "15\u00a0tokens · 15.0\u00a0tok/s · seed\u00a03146272861" in raw


def test_a_footer_without_commands_begins_at_the_edge(view):
    stopped = answer(1, "", status="stopped", recipe=RECIPE)
    view.show_path([user(1), stopped, user(2), answer(2, "x")])
    assert "\nstopped" in view.toPlainText()


def test_a_footer_without_numbers():
    assert footer_of(answer(1, "x")).facts == ()
    assert footer_of(answer(1, "x", recipe='{"usage": {"completion_tokens": 1}}')).facts == ("1 token",)


def test_a_footer_counts_what_an_interrupted_answer_has_and_times_what_was_added():
    broken = answer(1, "x", recipe=json.dumps({"usage": {"completion_tokens": 0}, "token_ids": [5, 6, 7]}))
    assert footer_of(broken).facts == ("3 tokens",)
    whole = {"usage": {"completion_tokens": 30}, "timings": {"decode": 2.0}, "continued_tokens": 10}
    assert footer_of(answer(1, "x", recipe=json.dumps(whole))).facts == ("30 tokens", "10.0 tok/s")


@pytest.mark.parametrize(
    ("status", "reason", "goes_on"),
    [("stopped", "", True), ("interrupted", "", True), ("complete", "length", True), ("complete", "stop", False)],
)
def test_an_answer_that_was_cut_short_offers_to_go_on(view, qtbot, status, reason, goes_on):
    recipe = json.dumps({"finish_reason": reason})
    view.show_path([user(1), answer(1, "Half", status=status, recipe=recipe)])
    assert ("Copy  ·  Again  ·  Go on" in view.toPlainText()) is goes_on
    if goes_on:
        with qtbot.waitSignal(view.action_requested) as told:
            view.anchorClicked.emit(command_of(view, "continue"))
        assert told.args == ["continue", answer(1).id]
    view.add_node(user(2))
    assert "Go on" not in view.toPlainText()


def test_only_the_last_answer_can_be_asked_for_again(view, qtbot):
    view.show_path([user(1), answer(1, "One")])
    assert view.toPlainText().count("Again") == 1
    view.add_node(user(2))
    assert "Again" not in view.toPlainText()
    view.add_node(answer(2, status="streaming"))
    view.replace_node(answer(2, "Two"))
    assert view.toPlainText().count("Again") == 1
    with qtbot.waitSignal(view.again_requested, timeout=1000):
        view.anchorClicked.emit(command_of(view, "again"))


def test_a_hidden_view_draws_when_it_is_shown(qtbot):
    view = TranscriptView()
    qtbot.addWidget(view)
    view.show_path([user(1), answer(1, status="streaming")])
    view.add_text("a1", "Text")
    view.flush()
    assert view.toPlainText() == ""
    view.show()
    assert view.toPlainText().endswith("Text")


def test_the_incremental_view_equals_one_drawn_anew(view):
    view.show_path([user(1), answer(1, "One | two")])
    view.add_node(user(2, "two\nlines"))
    view.add_node(answer(2, status="streaming"))
    for piece in ("- a", "\n- b\n\n| x | y |\n", "|--|--|\n| 1", " | 2 |\n\nend"):
        view.add_text("a2", piece)
        view.flush()
    final = answer(2, "- a\n- b\n\n| x | y |\n|--|--|\n| 1 | 2 |\n\nend", recipe=RECIPE)
    view.replace_node(final)
    shown = view.toPlainText()
    view.show_path([user(1), answer(1, "One | two"), user(2, "two\nlines"), final])
    assert view.toPlainText() == shown


def test_no_file_is_ever_read(view, tmp_path):
    picture = tmp_path / "secret.png"
    image = QImage(64, 64, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    assert image.save(str(picture))
    opened = []
    sys.addaudithook(lambda name, args: opened.append(args[0]) if name == "open" and "secret" in str(args[0]) else None)
    text = f"![x](file://{picture}) ![y]({picture})\n\n<img src='{picture}'>\n\n[z](file://{picture})"
    view.show_path([user(1, f"![q]({picture})"), answer(1, text)])
    view.grab()
    kind = QTextDocument.ResourceType.ImageResource.value
    for name in (QUrl.fromLocalFile(str(picture)), QUrl("https://example.org/x.png"), str(picture)):
        loaded = view.loadResource(kind, name)
        assert isinstance(loaded, QImage)
        assert loaded.isNull()
    assert not opened
    assert os.path.exists(picture)


def test_links_ask_and_only_for_the_web(view, qtbot):
    with qtbot.waitSignal(view.link_requested) as asked:
        view.anchorClicked.emit(QUrl("https://example.org/x"))
    assert asked.args == ["https://example.org/x"]
    for address in (
        "file:///etc/passwd",
        "javascript:alert(1)",
        "smb://host/share",
        "act-guess:again:a1",
        "/etc/passwd",
    ):
        with qtbot.assertNotEmitted(view.link_requested), qtbot.assertNotEmitted(view.again_requested):
            view.anchorClicked.emit(QUrl(address))


def test_a_bare_address_is_a_link_that_asks(view, qtbot):
    view.show_path([user(1), answer(1, "See https://example.org/a_b?c=1, (http://x.org/) or [here](https://y.org).")])
    found = {}
    block = view.document().begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            chars = iterator.fragment().charFormat()
            if chars.anchorHref().startswith("http"):
                found[iterator.fragment().text()] = chars.anchorHref()
            iterator += 1
        block = block.next()
    assert found == {
        "https://example.org/a_b?c=1": "https://example.org/a_b?c=1",
        "http://x.org/": "http://x.org/",
        "here": "https://y.org",
    }
    with qtbot.waitSignal(view.link_requested):
        view.anchorClicked.emit(QUrl("http://x.org/"))


def test_a_link_says_where_it_leads_letter_for_letter(view):
    view.show_path([user(1), answer(1, "[safe](https://evil.example/<b>x</b>) ok")])
    tip = view.document().find("safe").charFormat().toolTip()
    assert "https://evil.example/" in tip
    assert "<b>" not in tip


def test_tasks_are_boxes(view):
    view.show_path([user(1), answer(1, "- [ ] open\n- [x] done\n- [y] text\n\n[x] no list")])
    assert view.toPlainText().split("\n")[2:6] == ["☐ open", "☑ done", "[y] text", "[x] no list"]


def test_the_box_of_a_task_is_its_only_bullet(view):
    view.show_path([answer(1, "- word\n- [ ] word")])
    picture = view.viewport().grab().toImage()
    muted = theme_of(view).color("muted")
    bullets = []
    for place in (m.start() for m in re.finditer("(☐ )?word", view.toPlainText())):
        start = view.cursorRect(view.cursor_at(place))
        beside = itertools.product(range(start.left() - 20, start.left() - 1), range(start.top(), start.bottom()))
        bullets.append(any(picture.pixelColor(x, y) == muted for x, y in beside))
    assert bullets == [True, False]


def test_it_follows_the_end_only_when_it_stands_there(view):
    view.show_path([*long_chat(), user(2)])
    view.add_node(answer(2, status="streaming"))
    bar = view.verticalScrollBar()
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum()
    bar.setValue(100)
    view.add_text("a2", "More\n\n" * 30)
    view.flush()
    assert bar.value() == 100
    view.go_to_end()
    view.add_text("a2", "And more\n\n" * 30)
    view.flush()
    assert bar.value() == bar.maximum()


def test_what_is_read_stays_while_the_window_changes(view):
    words = " ".join(f"w{number}" for number in range(3000))
    view.show_path([user(1), answer(1, words)])
    QApplication.processEvents()
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    read = view.top_position()
    wide = view.width()
    for width in [*range(wide, wide - 300, -17), *range(wide - 300, wide, 23), wide]:
        view.resize(width, view.height())
        top = view.cursorRect(view.cursor_at(read)).top()
        assert -30 < top < 30
    assert abs(view.top_position() - read) < 100
    view.verticalScrollBar().setValue(0)
    view.resize(wide - 200, view.height())
    assert view.verticalScrollBar().value() == 0
    view.go_to_end()
    view.resize(wide, view.height())
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()


def test_the_end_is_announced(view, qtbot):
    view.show_path(long_chat())
    with qtbot.waitSignal(view.at_end_changed) as told:
        view.verticalScrollBar().setValue(0)
    assert told.args == [False]


def test_a_scroll_place_comes_back(qtbot):
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(700, 400)
    view.set_scroll_place(0.5)
    view.show_path(long_chat())
    assert view.scroll_place() == 0.5
    view.show()
    view.flush()
    assert view.scroll_place() == pytest.approx(0.5, abs=0.02)


def test_a_selection_outlives_new_text(view):
    view.show_path([user(1), answer(1, status="streaming")])
    view.add_text("a1", "First part ")
    view.flush()
    cursor = view.textCursor()
    cursor.setPosition(0)
    cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    before = view.textCursor().selectedText()
    view.add_text("a1", "second part")
    view.flush()
    assert view.textCursor().selectedText().startswith(before.rstrip())


def test_what_is_copied_is_text_without_commands(view):
    source = "Hello\n\n- a\n- b\n\n1. c\n\n| x | y |\n|--|--|\n| 1 | 2 |\n\n```py\nz = 1\n```"
    view.show_path([user(1), answer(1, source)])
    view.selectAll()
    data = view.createMimeDataFromSelection()
    assert data.formats() == ["text/plain"]
    assert data.text().split("\n") == ["Question", "Tiny", "Hello", "- a", "- b", "1. c", "x\ty", "1\t2", "z = 1"]


def test_copy_commands(view):
    view.show_path([user(1), answer(1, "**Text**\n\n```py\nz = 1\n```")])
    view.anchorClicked.emit(command_of(view, "copy-code"))
    assert QGuiApplication.clipboard().text() == "z = 1"
    view.anchorClicked.emit(command_of(view, "copy"))
    assert QGuiApplication.clipboard().text() == "**Text**\n\n```py\nz = 1\n```"


def test_old_messages_come_when_asked_for(view):
    view.show_path([user(n, f"Message {n}.") for n in range(250)])
    assert "Message 49." not in view.toPlainText()
    view.anchorClicked.emit(command_of(view, "earlier"))
    assert "Message 0." in view.toPlainText()


def test_zoom_and_theme_draw_anew(view, qapp):
    view.show_path([user(1)])
    height = view.document().size().height()
    view.set_zoom(2.0)
    assert view.document().size().height() > 1.2 * height
    apply_theme(qapp, "dark")
    colour = view.document().begin().begin().fragment().charFormat().foreground().color()
    assert colour.name().upper() == DARK.text
