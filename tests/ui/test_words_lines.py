"""Where the letters of a paragraph stand: also where a part of it runs from the right."""

from itertools import pairwise

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QTextDocument

from llama_gui.ui.words.lines import Lines


@pytest.fixture
def places(qapp):
    def places(text: str, start: int, end: int, width: float = 4000) -> list[QRectF]:
        document = QTextDocument(text)
        document.setTextWidth(width)
        document.documentLayout()
        return list(Lines(document.firstBlock()).places(start, end))

    return places


def test_what_crosses_a_change_of_direction_takes_a_stretch_on_each_side(places):
    text = "ab אבגד cd"
    assert len(places(text, 0, 2)) == len(places(text, 3, 7)) == 1
    crossing = places(text, 1, 5)  # "b", the space, and the first two of the four letters, which stand at their right
    assert len(crossing) == 2
    (before, behind), (hebrew,) = crossing, places(text, 3, 7)
    assert before.right() < behind.left()
    assert hebrew.left() < behind.left() < hebrew.right() == behind.right()
    assert places(text, 7, 8)[0].left() == pytest.approx(hebrew.right(), abs=0.1)  # its first letter, too


def test_letters_take_the_room_of_all_of_them(places):
    for text in ("plain words", "ab אבגד cd", "אב cd גד"):
        letters = sorted((place for at in range(len(text)) for place in places(text, at, at + 1)), key=QRectF.left)
        (whole,) = places(text, 0, len(text))
        assert all(letter.width() > 0 for letter in letters)
        assert all(left.right() == pytest.approx(right.left(), abs=0.1) for left, right in pairwise(letters))
        assert (letters[0].left(), letters[-1].right()) == (whole.left(), whole.right())


def test_what_wraps_has_a_place_in_each_line(places):
    first, second = places("one two", 0, 7, width=40)
    assert first.bottom() <= second.top() + 2
    assert first.left() == second.left()
