"""Messages and parts of messages that are not drawn yet: how they come, and that nothing else moves."""

import random

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QTextCursor, QWheelEvent

from llama_gui.chats.tree import Node
from llama_gui.ui.markdown.parts import AT_ONCE, MAX_DRAWN
from llama_gui.ui.theme import apply_theme
from llama_gui.ui.transcript.view import TranscriptView
from tests.ui.transcripts import answer, command_of, look_of, user

MARKDOWN = "# Title {n}\n\n- a\n- b\n\n| x | y |\n|--|--|\n| 1 | 2 |\n\n```py\nz = {n}\n```\n\n> quoted {n}"


def chat(turns: int) -> list[Node]:
    nodes = []
    for n in range(turns):
        nodes += [user(n, f"Question {n}."), answer(n, MARKDOWN.format(n=n))]
    return nodes


def test_all_gaps_opened_in_any_order_make_the_whole(view, monkeypatch):
    nodes = chat(20)
    view.show_path(nodes)
    whole = look_of(view)
    assert not view.page.gaps()
    monkeypatch.setattr("llama_gui.ui.transcript.page_end.MESSAGES_AT_ONCE", 7)
    rng = random.Random(3)
    for _ in range(4):
        view.show_path(nodes[:-1])
        view.add_node(nodes[-1])
        assert len(view.page.drawn()) == 8
        while gaps := view.page.gaps():
            if rng.random() < 0.5:
                view.draw_node(nodes[rng.randrange(len(nodes))].id)
            else:
                view.page.draw_gap(rng.choice(gaps)[1])
        assert look_of(view) == whole
        assert [view.page.node_at(view.page.extent_of(node.id)[0]) for node in nodes] == [node.id for node in nodes]


def test_what_is_read_stays_in_its_place_when_earlier_messages_come(view):
    view.show_path(chat(300))
    view.verticalScrollBar().setValue(200)
    found = view.document().find("Title 299")
    before = view.cursorRect(view.cursor_at(view.top_position())).top(), view.top_position()
    for _ in range(2):
        view.anchorClicked.emit(command_of(view, "earlier"))
    assert view.top_position() > before[1]
    assert abs(view.cursorRect(view.cursor_at(view.top_position())).top() - before[0]) <= 1
    assert found.selectedText() == "Title 299"  # a selection moves with its text


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("place", ["behind a gap", "in a long answer"])
@pytest.mark.sampled(2)
def test_what_is_read_stays_in_its_place_in_another_look(view, qtbot, qapp, hidden, place):
    """The gap and the fold that were opened are closed again by drawing anew."""
    nodes = chat(300)
    nodes[-1] = answer(299, "\n\n".join(f"Paragraph {n} of many words." for n in range(1500)))
    view.show_path(nodes)
    if place == "behind a gap":
        view.scroll_to_node(nodes[100].id)
        word = "Title 50"
    else:
        qtbot.waitUntil(lambda: "Paragraph 1499" in view.toPlainText())
        word = "Paragraph 700 of"
    view.scroll_to(view.document().find(word).selectionStart(), 0)

    def height() -> int:
        start = QTextCursor(view.document())
        start.setPosition(view.document().find(word).selectionStart())
        return view.cursorRect(start).top()

    before = height()
    if hidden:
        view.hide()
    for change in (lambda: apply_theme(qapp, "dark"), lambda: view.set_zoom(1.5), lambda: view.set_zoom(0.8)):
        change()
        if hidden:
            view.show()
        assert abs(height() - before) <= 12
        assert not view.place.follows
        if hidden:
            view.hide()


def test_the_place_that_is_kept_does_not_depend_on_what_is_drawn(view, qtbot):
    nodes = chat(300)
    view.show_path(nodes)
    view.scroll_to_node(nodes[100].id)
    view.scroll_to(view.document().find("Title 51").selectionStart(), 0)
    place = view.scroll_place()
    for _ in range(3):  # as at the next starts
        again = TranscriptView()
        qtbot.addWidget(again)
        again.resize(700, 400)
        again.set_scroll_place(place)
        again.show_path(nodes)
        again.show()
        assert again.document().findBlock(again.top_position()).text() == "Title 51"
        place = again.scroll_place()


def test_an_answer_streams_on_while_gaps_are_opened(view):
    nodes = [*chat(300), user(300, "And now?"), answer(300, status="streaming")]
    view.show_path(nodes)
    for number, piece in enumerate(("- a", "\n- b\n\n| x | y |\n", "|--|--|\n| 1", " | 2 |\n\nend")):
        view.add_text("a300", piece)
        view.flush()
        view.draw_node(nodes[10 + 100 * number].id)
    view.replace_node(answer(300, "- a\n- b\n\n| x | y |\n|--|--|\n| 1 | 2 |\n\nend"))
    streamed = look_of(view)[-20:]
    view.show_path([*nodes[:-1], answer(300, "- a\n- b\n\n| x | y |\n|--|--|\n| 1 | 2 |\n\nend")])
    assert look_of(view)[-20:] == streamed


def test_going_to_a_message_draws_it_and_shows_it(view, qtbot):
    nodes = chat(300)
    view.show_path(nodes)
    view.scroll_to_node(nodes[100].id)
    assert "Question 50." in view.toPlainText()
    assert "Question 30." not in view.toPlainText()
    start = view.extent_of(nodes[100].id)[0]
    assert 0 <= view.cursorRect(view.cursor_at(start)).top() < 100
    view.scroll_to_node("nobody")
    view._flash_timer.start(0)  # soon over
    qtbot.waitUntil(lambda: not view._flash_timer.isActive())


def test_a_gap_in_between_goes_on_where_reading_stopped(view, qtbot):
    view.show_path(chat(300))
    view.scroll_to_node("u50")
    view._flash_timer.start(0)  # soon over
    qtbot.waitUntil(lambda: not view._flash_timer.isActive())
    assert "messages in between" in view.toPlainText()
    last = max(n for n in range(60) if f"Title {n}\n" in view.toPlainText())
    place = view.verticalScrollBar().value()
    view.draw_gap(view.page.gaps()[1][1])
    assert view.verticalScrollBar().value() == place
    assert f"Title {last + 1}\n" in view.toPlainText()
    assert len(view.page.gaps()) == 2


def test_a_message_that_is_asked_for_too_early_is_shown_when_there_is_a_page(qtbot):
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(700, 400)
    nodes = chat(40)
    view.scroll_to_node(nodes[10].id)
    view.show_path(nodes)
    view.show()
    start = view.extent_of(nodes[10].id)[0]
    assert 0 <= view.cursorRect(view.cursor_at(start)).top() < 100
    view._flash_timer.stop()


def test_the_rest_of_a_long_answer_comes_in_the_next_frames(view, qtbot):
    text = "\n\n".join(MARKDOWN.format(n=n) for n in range(400))
    assert AT_ONCE < len(text) < MAX_DRAWN
    view.show_path([user(1), answer(1, text), user(2), answer(2, "Two")])
    assert "quoted 399" not in view.toPlainText()
    qtbot.waitUntil(lambda: not view.page.folds())
    for n in range(400):
        assert f"Title {n}\n" in view.toPlainText()
    assert "Show the rest" not in view.toPlainText()
    assert view.page.extent_of("u2")[0] == view.toPlainText().index("Question", 10)
    view.anchorClicked.emit(command_of(view, "copy"))


def test_a_million_characters_without_a_space_wait_behind_a_fold(view, qtbot):
    run = "".join(random.Random(1).choices("abcdefgh", k=1_000_000))
    view.show_path([user(1), answer(1, run)])
    qtbot.waitUntil(lambda: view.page.next_fold() is None)
    assert 100_000 < len(view.toPlainText()) < 250_000
    before = len(view.toPlainText())
    view.anchorClicked.emit(command_of(view, "unfold"))
    qtbot.waitUntil(lambda: view.page.next_fold() is None)
    assert len(view.toPlainText()) >= before + MAX_DRAWN
    view.selectAll()
    # What is drawn and what is behind the fold is one line again.
    assert view.createMimeDataFromSelection().text() == f"Question\nTiny\n{run}"


def test_a_million_characters_in_one_piece_while_it_streams(view, qtbot):
    run = "".join(random.Random(1).choices("abcdefgh", k=1_000_000))
    view.show_path([user(1), answer(1, status="streaming")])
    view.add_text("a1", run)
    view.flush()
    view.add_text("a1", "END")
    view.flush()
    assert view.toPlainText().endswith(run[-100:] + "END") or "END" in view.toPlainText()[-80:]
    assert len(view.toPlainText()) < 300_000
    view.replace_node(answer(1, run + "END"))
    assert "END" in view.toPlainText()


def test_a_long_question_is_cut_and_unfolds_in_its_band(view):
    text = "\n".join(f"line {n}" for n in range(4000))
    view.show_path([user(1, text), answer(1, "Yes.")])
    assert "line 49\nShow the rest" in view.toPlainText()
    view.selectAll()
    assert view.createMimeDataFromSelection().text() == f"{text}\nTiny\nYes."
    while view.page.folds():
        view.anchorClicked.emit(command_of(view, "unfold"))
        while view.page.next_fold() is not None:
            view._draw_rest()
    assert text in view.toPlainText()
    view.selectAll()
    assert view.createMimeDataFromSelection().text() == f"{text}\nTiny\nYes."


def test_a_few_lines_more_are_shown(view):
    view.show_path([user(1, "\n".join(f"line {n}" for n in range(58)))])
    assert "line 57" in view.toPlainText()
    assert not view.page.folds()


def test_a_footer_follows_an_unfolded_answer(view):
    run = "x" * 500_000
    view.show_path([user(1), answer(1, run)])
    while view.page.next_fold() is not None:
        view._draw_rest()
    drawn = view.toPlainText().count("x")
    view.add_node(user(2, "Next"))
    assert view.toPlainText().count("x") >= drawn
    assert "Again" not in view.toPlainText()


def test_the_last_message_is_drawn_again_after_the_one_before_it(view):
    thought = "<think>so\n\n- a</think>Answer."
    nodes = [user(1, "x\n" * 20_000), answer(1, thought), user(2, "y\n" * 20_000), answer(2, thought)]
    for before, last in (("a1", "u2"), ("u2", "a2")):
        view.show_path(nodes[: 1 + [node.id for node in nodes].index(last)])
        whole = look_of(view)
        view.page.draw_again(before)
        view.page.draw_again(last)
        assert look_of(view) == whole
    view.show_path(nodes)
    view.anchorClicked.emit(QUrl(f"{view._secret}:unfold:{max(view.page.folds())}"))
    while view.page.next_fold() is not None:
        view._draw_rest()
    drawn = view.toPlainText().count("y")
    view.page.draw_again("a2")
    assert view.toPlainText().count("y") == drawn > 10_000


def test_the_wheel_at_the_top_brings_earlier_messages(view, qapp):
    view.show_path(chat(300))
    drawn = len(view.page.drawn())

    def turn(by: int) -> None:
        middle = QPointF(view.viewport().rect().center())
        no_keys, no_buttons = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.NoButton
        phase = Qt.ScrollPhase.NoScrollPhase
        event = QWheelEvent(middle, middle, QPoint(), QPoint(0, by), no_buttons, no_keys, phase, False)
        qapp.sendEvent(view.viewport(), event)

    turn(120)
    assert len(view.page.drawn()) == drawn
    view.verticalScrollBar().setValue(0)
    turn(-120)
    assert len(view.page.drawn()) == drawn
    view.verticalScrollBar().setValue(0)
    turn(120)
    assert len(view.page.drawn()) > drawn
    assert view.verticalScrollBar().value() > 0


def test_pages_are_turned_from_elsewhere_and_bring_earlier_messages_too(view):
    view.show_path(chat(300))
    drawn, bar = len(view.page.drawn()), view.verticalScrollBar()
    assert bar.value() == bar.maximum()
    view.turn_page(-1)
    assert bar.value() == bar.maximum() - bar.pageStep()
    assert not view.place.follows
    view.turn_page(1)
    assert view.place.follows
    bar.setValue(1)
    view.turn_page(-1)
    assert len(view.page.drawn()) > drawn
    assert bar.value() > 0
