"""Arabic and Hebrew begin at the right, code at the left, and lists, quotations and tables stay in one piece."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextBlock, QTextCursor

from llama_gui.ui.markdown.direction import direction_of
from llama_gui.ui.transcript.view import TranscriptView
from tests.ui.transcripts import answer, user

RIGHT, LEFT = Qt.LayoutDirection.RightToLeft, Qt.LayoutDirection.LeftToRight


@pytest.fixture
def view(qtbot) -> TranscriptView:
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(700, 600)
    view.show()
    return view


def block_of(view: TranscriptView, word: str) -> QTextBlock:
    found = view.document().find(word)
    assert not found.isNull()
    return found.block()


def left_edge(view: TranscriptView, word: str) -> int:
    return view.cursorRect(QTextCursor(block_of(view, word))).left()


@pytest.mark.parametrize(
    ("texts", "direction"),
    [
        (["שלום"], RIGHT),
        (["123 – ", "مرحبا English"], RIGHT),
        (["English שלום"], LEFT),
        (["日本語"], LEFT),
        (["42", ""], LEFT),
    ],
)
def test_the_first_strong_letter_decides(texts, direction):
    assert direction_of(texts) == direction


def test_paragraphs_and_headings_go_by_their_own_letters(view):
    view.show_path([user(1, "שאלה\nquestion"), answer(1, "# כותרת\n\nמילה and English\n\nEnglish ומילה")])
    for word, direction in (("שאלה", RIGHT), ("question", LEFT), ("כותרת", RIGHT), ("and", RIGHT), ("ומילה", LEFT)):
        assert block_of(view, word).textDirection() == direction
    assert left_edge(view, "כותרת") > 500
    assert left_edge(view, "English ו") < 10


def test_a_list_and_a_quotation_have_one_direction(view):
    source = "- פריט\n- English\n  - deeper\n\ntext\n\n- English\n- עוד\n\n> ציטוט\n>\n> quoted"
    view.show_path([user(1), answer(1, source)])
    assert [block_of(view, word).textDirection() for word in ("פריט", "deeper", "עוד")] == [RIGHT, RIGHT, LEFT]
    quoted = block_of(view, "quoted")
    assert quoted.textDirection() == RIGHT
    assert quoted.blockFormat().rightMargin() > quoted.blockFormat().leftMargin()


def test_code_stays_at_the_left(view):
    view.show_path([user(1), answer(1, "מילה:\n\n```python\n# הערה\nx = 1\n```\n\n- פריט\n\n  ```\n  שלום\n  ```")])
    for word in ("הערה", "x = 1", "שלום"):
        assert block_of(view, word).textDirection() == LEFT


def test_a_table_is_read_from_the_right(view):
    view.show_path([user(1), answer(1, "| שם | גיל |\n|---|---|\n| דן | 12 |\n\n| a | b |\n|---|---|\n| c | d |")])
    table = QTextCursor(block_of(view, "שם")).currentTable()
    assert table.cellAt(block_of(view, "שם").position()).column() == 1
    view.selectAll()
    copied = view.createMimeDataFromSelection().text()
    assert "שם\tגיל\nדן\t12" in copied
    assert "a\tb\nc\td" in copied


def test_text_that_streams_keeps_its_side(view):
    source = "- פריט\n- English\n\n| שם | גיל |\n|---|---|\n| דן | 12 |\n\n> ציטוט"
    view.show_path([user(1), answer(1, status="streaming")])
    for letter in source:
        view.add_text("a1", letter)
        view.flush()
    for word in ("פריט", "English", "ציטוט"):
        assert block_of(view, word).textDirection() == RIGHT


def test_formulas_stay_at_the_left_in_hebrew(view):
    view.show_path([user(1), answer(1, "מילה\n\n$$a = b^2$$")])
    assert block_of(view, "b²").textDirection() == LEFT


def test_in_a_mirrored_window_the_column_keeps_its_place_beside_the_scroll_bar(view):
    view.show_path([user(1), answer(1, "\n\n".join(["word"] * 200))])
    usual = view.viewportMargins()
    assert usual.left() > usual.right()
    view.setLayoutDirection(RIGHT)
    view.resize(720, 600)
    mirrored = view.viewportMargins()
    assert mirrored.left() < mirrored.right()
    assert block_of(view, "word").textDirection() == LEFT
