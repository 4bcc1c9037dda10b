"""Find in a chat: what is drawn, what is not, what streams; and the keys."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from llama_gui.ui.theme import LIGHT
from llama_gui.ui.transcript.find_bar import FindBar
from llama_gui.ui.transcript.finding import Finder, pattern_of
from llama_gui.ui.transcript.view import TranscriptView
from tests.ui.transcripts import answer, user


@pytest.fixture
def view(qtbot, icons) -> TranscriptView:
    view = TranscriptView(icons)
    qtbot.addWidget(view)
    view.resize(800, 500)
    view.show()
    qtbot.waitExposed(view)
    return view


@pytest.fixture
def bar(view, icons) -> FindBar:
    return FindBar(icons, view)


def look_for(bar: FindBar, words: str) -> str:
    bar.open()
    bar.field.setText(words)
    return bar.count.text()


def selected(view: TranscriptView) -> str:
    return view.textCursor().selectedText()


@pytest.mark.parametrize(
    ("words", "text", "found"),
    [
        ("needle", "Needle and NEEDLE", ["Needle", "NEEDLE"]),
        ("two  words", "two\u2028words", ["two\u2028words"]),
        ("a.b*", "a.b* axbb", ["a.b*"]),
        ("xxx", "x" * 64 + "\u200b" + "x" * 2, ["xxx"] * 21 + ["x\u200bxx"]),
        ("größe", "GRÖSSE Größe GRÖßE", ["Größe", "GRÖßE"]),
        ("🐙", "a🐙b🐙", ["\ud83d\udc19"] * 2),
    ],
)
def test_what_words_find(qapp, words, text, found):
    document = QTextDocument()
    document.setPlainText(text)
    raw = text.encode("utf-16-le")
    hits = Finder(pattern_of(words)).hits(document, [])
    shown = [
        raw[2 * hit.position : 2 * (hit.position + hit.length)].decode("utf-16-le", "surrogatepass") for hit in hits
    ]
    assert [word.encode("utf-16", "surrogatepass") for word in shown] == [
        word.encode("utf-16", "surrogatepass").decode("utf-16").encode("utf-16") for word in found
    ]


def test_nothing_is_looked_for_without_words():
    assert pattern_of("  \n ") is None


def test_forward_backward_and_around(view, bar, qtbot):
    view.show_path([user(1, "a word"), answer(1, "Another **Word** here.\n\n| x |\n|--|\n| word |")])
    assert look_for(bar, "word") == "1 of 3"
    seen = [view.textCursor().position()]
    for expected in ("2 of 3", "3 of 3", "1 of 3"):
        qtbot.keyClick(bar.field, Qt.Key.Key_Return)
        assert bar.count.text() == expected
        seen.append(view.textCursor().position())
    assert seen == [*sorted(set(seen)), seen[0]]
    qtbot.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.count.text() == "3 of 3"
    assert selected(view) == "word"
    bar._next.click()
    assert bar.count.text() == "1 of 3"
    bar._previous.click()
    assert bar.count.text() == "3 of 3"


def test_commands_and_footers_are_not_found(view, bar):
    view.show_path([user(1), answer(1, "```py\nx\n```")])
    assert look_for(bar, "Copy") == "Nothing found"
    assert not bar._next.isEnabled()
    bar.step(1)
    assert look_for(bar, "") == ""


def test_all_hits_in_sight_are_lit_and_the_current_one_differs(view, bar):
    view.show_path([user(1, "word word word")])
    look_for(bar, "word")
    bar.step(1)
    grounds = [selection.format.background().color().name().upper() for selection in view.extraSelections()]
    assert grounds == [LIGHT.found, LIGHT.accent, LIGHT.found]
    bar.leave()
    assert view.extraSelections() == []


def test_messages_that_are_not_drawn_are_found_and_drawn(view, bar):
    nodes = [user(n, f"needle {n}" if n % 100 == 7 else f"hay {n}") for n in range(1000)]
    view.show_path(nodes)
    assert look_for(bar, "needle") == "10 of 10"
    bar.step(1)
    assert bar.count.text() == "1 of 10"
    assert "needle 7" in view.toPlainText()
    assert "hay 300" not in view.toPlainText()
    for number in range(9, 0, -1):
        bar.step(-1)
        assert bar.count.text() == f"{number + 1} of 10"
        assert view.textCursor().block().text() == f"needle {number * 100 + 7}"
        assert view.viewport().rect().contains(view.cursorRect().center())


def test_the_rest_of_a_long_message_is_found(view, bar, qtbot):
    view.show_path([user(1), answer(1, f"{'hay ' * 100_000}needle{' hay' * 100_000}"), user(2), answer(2, "Two")])
    qtbot.waitUntil(lambda: view.page.next_fold() is None)
    assert look_for(bar, "needle") == "1 of 1"
    assert selected(view) == "needle"
    assert len(view.toPlainText()) < 300_000
    assert len(view.page.folds()) == 2


def test_folded_reasoning_is_found_and_unfolded(view, bar):
    view.show_path([user(1), answer(1, "<think>one needle, two needles</think>needle three"), user(2)])
    assert look_for(bar, "needle") == "3 of 3"
    bar.step(-1)
    assert "two needles" in view.toPlainText()
    assert bar.count.text() == "2 of 3"
    bar.step(-1)
    assert bar.count.text() == "1 of 3"


def test_markup_that_is_not_drawn_as_such_does_not_trap_it(view, bar):
    nodes = [user(0, "the ** is here"), *(answer(n, "**bold**") for n in range(400))]
    view.show_path(nodes)
    look_for(bar, "**")
    for _ in range(60):
        bar.step(-1)
    assert bar._current == -1 or selected(view) == "**"


def test_it_finds_in_what_streams(view, bar, qtbot):
    view.show_path([user(1, "word"), answer(1, status="streaming")])
    assert look_for(bar, "word") == "1 of 1"
    for _ in range(3):
        view.add_text("a1", "another word\n\n")
        view.flush()
    qtbot.waitUntil(lambda: bar.count.text() == "1 of 4")
    bar.step(1)
    assert bar.count.text() == "2 of 4"


def test_thousands_of_hits(view, bar):
    view.show_path([user(1, "e " * 5000), answer(1, "e " * 8000)])
    assert look_for(bar, "e").endswith(" of 5,000+")
    assert len(view.extraSelections()) < 3000


def test_esc_closes_it_and_gives_the_keyboard_back(qtbot, icons):
    window = QWidget()
    qtbot.addWidget(window)
    field, view = QLineEdit(), TranscriptView(icons)
    layout = QVBoxLayout(window)
    layout.addWidget(view)
    layout.addWidget(field)
    bar = FindBar(icons, view)
    view.show_path([user(1, "word")])
    window.show()
    window.activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    bar.open()
    assert bar.field.hasFocus()
    with qtbot.waitSignal(bar.closed):
        qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    assert field.hasFocus()
    assert bar.isHidden()


def test_words_that_are_not_there_select_nothing(view, bar):
    view.show_path([user(1, "word")])
    look_for(bar, "wor")
    assert selected(view) == "wor"
    bar.field.setText("worx")
    assert bar.count.text() == "Nothing found"
    assert bar.count.width() >= bar.count.fontMetrics().horizontalAdvance("Nothing found")
    assert selected(view) == ""


def test_leaving_moves_nothing(view, bar, qtbot):
    code = "\n\n".join(f"word {n}\n\n```\ncode\n```" for n in range(30))
    view.show_path([user(1), answer(1, code)])
    view.activateWindow()
    view.verticalScrollBar().setValue(300)
    bar.open()
    qtbot.waitUntil(bar.field.hasFocus)
    bar.field.setText("word 4")
    place, words = view.verticalScrollBar().value(), selected(view)
    bar.leave()
    assert view.hasFocus()
    assert (view.verticalScrollBar().value(), selected(view)) == (place, words)
    view.step_message(1)
    assert view._buttons.bar.has_focus
    place = view.verticalScrollBar().value()
    view._buttons.bar.left.emit()
    assert view.hasFocus()
    assert view.verticalScrollBar().value() == place


def test_it_begins_with_what_is_selected(view, bar):
    view.show_path([user(1, "some words")])
    view.select(0, 4)
    bar.open()
    assert bar.field.text() == "some"
    assert bar.count.text() == "1 of 1"


def test_hits_in_what_is_not_there_any_more_are_not_lit(view, bar):
    """Until they are looked for again, a scroll lights the hits of before, but no other words; nor may Qt complain."""
    view.show_path([user(1, "word " * 20)])
    assert look_for(bar, "word") == "1 of 20"
    view.show_path([user(1, "word")])
    bar._light()
    assert [(lit.cursor.selectionStart(), lit.cursor.selectedText()) for lit in view.extraSelections()] == [(0, "word")]


def test_in_a_narrow_view_the_field_is_shorter_and_nothing_is_cut(view, bar):
    view.show_path([user(1, "word")])
    bar.open()
    wide = bar.field.width()
    view.resize(340, 500)
    assert bar.field.width() < wide
    assert bar.x() >= 0
    assert bar.geometry().right() <= view.width()
    assert bar.width() >= bar.minimumSizeHint().width()
    view.resize(800, 500)
    assert bar.field.width() == wide
