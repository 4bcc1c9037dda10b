"""Reasoning is told from the answer, folded, unfolded, streamed, and left out of copies."""

import random
from dataclasses import replace

import pytest
from PySide6.QtGui import QGuiApplication

from llama_gui.chats.attachments import Source
from llama_gui.chats.message_files import compose
from llama_gui.chats.passages import Excerpt
from llama_gui.chats.recipe import Recipe, recipe_to_json
from tests.ui.transcripts import answer, command_of, look_of, user

THOUGHT = "<think>\nFirst I *wonder*.\n\nThen I know.\n</think>\n\nThe **answer**."


def test_a_click_unfolds_it_and_another_folds_it(view):
    view.show_path([user(1), answer(1, THOUGHT), user(2), answer(2, "Two")])
    folded = look_of(view)
    assert "Thought for 6 words ▸" in view.toPlainText()
    assert "wonder" not in view.toPlainText()
    view.anchorClicked.emit(command_of(view, "reasoning"))
    assert "Thought for 6 words ▾\nFirst I wonder.\nThen I know.\nThe answer." in view.toPlainText()
    view.anchorClicked.emit(command_of(view, "reasoning"))
    assert look_of(view) == folded
    view.show_path([user(1), answer(1, THOUGHT)])
    view.toggle_last_reasoning()
    assert "wonder" in view.toPlainText()
    assert view.toPlainText().count("Again") == 1


@pytest.mark.parametrize("unfolded", [False, True])
@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ("```html\n<b>x</b></think> is no", " tag\n```\nNow more thought\n</think>\n\nHello, this is the answer."),
        ("```\n</think>\nis no tag, is it?", "\n```\nMore\n</think>\n\nHello, this is the answer."),
    ],
)
def test_a_tag_within_code_ends_no_thought_that_goes_on(view, first, rest, unfolded):
    if unfolded:
        view.toggle_reasoning("a1")
    view.show_path([user(1), answer(1, status="streaming")])
    for piece in (f"<think>I write:\n{first}", rest):
        view.add_text("a1", piece)
        view.flush()
    shown = view.toPlainText()
    assert shown.endswith("\nHello, this is the answer."), shown
    view.replace_node(whole := answer(1, f"<think>I write:\n{first}{rest}"))
    streamed = look_of(view)
    view.show_path([user(1)])
    view.show_path([user(1), whole])
    assert look_of(view) == streamed


@pytest.mark.parametrize("unfolded", [False, True])
def test_it_streams_and_ends_as_the_whole(view, unfolded):
    rng = random.Random(5)
    if unfolded:
        view.toggle_reasoning("a1")
    granite = f"{THOUGHT[:-15]}<response>The **answer**.\n\nAnd more</response>"
    for text in (
        THOUGHT,
        granite,
        "thinking without a tag\n</think>\nHi",
        "<think>never",
        "<think></think>Hi",
        "No thought.",
    ):
        recipe = recipe_to_json(Recipe(wraps_answers=text == granite))
        view.show_path([user(1), answer(1, status="streaming", recipe=recipe)])
        seen, place = set(), 0
        while place < len(text):
            size = rng.choice((1, 2, 3, 9))
            view.add_text("a1", text[place : place + size])
            view.flush()
            seen.add(view.toPlainText())
            place += size
        if text in (THOUGHT, granite):
            assert any("Thinking…" in shown for shown in seen)
            assert any("wonder" in shown for shown in seen) == unfolded
            assert not any("<" in shown for shown in seen)
        whole = answer(1, text, recipe=recipe)
        view.replace_node(whole)
        streamed = look_of(view)
        view.show_path([user(1), whole])
        assert look_of(view) == streamed


def test_it_is_unfolded_while_it_streams(view):
    view.show_path([user(1), answer(1, status="streaming")])
    view.add_text("a1", "<think>I wonder")
    view.flush()
    assert "Thinking… 2 words ▸" in view.toPlainText()
    view.anchorClicked.emit(command_of(view, "reasoning"))
    assert view.toPlainText().endswith("Thinking… ▾\nI wonder")
    view.add_text("a1", " still")
    view.flush()
    assert view.toPlainText().endswith("I wonder still")


def test_copies_leave_it_out(view):
    view.show_path([user(1), answer(1, THOUGHT)])
    view.anchorClicked.emit(command_of(view, "copy"))
    assert QGuiApplication.clipboard().text() == "The **answer**."
    assert view.last_answer() == "The **answer**."
    view.selectAll()
    assert view.createMimeDataFromSelection().text() == "Question\nTiny\nThe answer."


def test_what_is_unfolded_stays_where_it_was_clicked(view):
    """Also the sources of an answer further up."""
    sources = [Source(f"{n}.txt", Excerpt("\n".join(["many words"] * 30), 1, 3)) for n in range(4)]
    where = compose("Question", (), sources)[1]
    first, last = replace(user(1), attachments=where), replace(user(2), attachments=where)
    view.show_path([first, answer(1, "An answer."), last, answer(2, "word " * 300)], {})
    for node_id in ("a1", "a2"):
        view.scroll_to_node(node_id)
        for _unfolds in (True, False):
            place = view.extent_of(node_id)[0]
            before = view.cursorRect(view.cursor_at(place)).top()
            view.toggle_sources(node_id)
            assert abs(view.cursorRect(view.cursor_at(place)).top() - before) <= 1
