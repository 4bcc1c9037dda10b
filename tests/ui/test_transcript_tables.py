"""Tables with many columns: no word is broken while there is room for it."""

import pytest
from PySide6.QtGui import QTextTable

from llama_gui.ui.theme import COLUMN_WIDTH
from llama_gui.ui.transcript.view import TranscriptView
from tests.ui.transcripts import answer, user

NUMBERS = ("1,235,814,400", "985,200,100", "10,998,250")


def source(columns: int) -> str:
    rows = [[f"{row} revenue {column}" for column in range(columns)] for row in ("First",)]
    rows += [["---:"] * columns, *([number] * columns for number in NUMBERS)]
    return "\n".join("| " + " | ".join(["North America", *row]) + " |" for row in rows).replace(
        "| North America | ---:", "| --- | ---:"
    )


SALES = """
| Region | Q1 revenue | Q2 revenue | Q3 revenue | Q4 revenue | Total revenue | Comment |
|---|---:|---:|---:|---:|---:|---|
| North America | 1,235,814,400 | 1,335,200,100 | 1,410,998,250 | 1,502,441,900 | 5,484,454,650 | Strongest growth |
| Europe, Middle East and Africa | 935,814,400 | 985,200,100 | 1,010,998,250 | 1,102,441,900 | 4,034,454,650 | None |
| Asia Pacific | 735,814,400 | 785,200,100 | 810,998,250 | 902,441,900 | 3,234,454,650 | Internationalisation underway |
"""


@pytest.fixture
def view(qtbot) -> TranscriptView:
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(COLUMN_WIDTH + 80, 500)
    view.show()
    return view


def tables(view: TranscriptView) -> list[QTextTable]:
    return [frame for frame in view.document().rootFrame().childFrames() if isinstance(frame, QTextTable)]


def broken_words(view: TranscriptView) -> list[str]:
    """The lines in cells that end within a word."""
    found: list[str] = []
    for table in tables(view):
        for place in range(table.rows() * table.columns()):
            block = table.cellAt(place // table.columns(), place % table.columns()).firstCursorPosition().block()
            lines = [block.layout().lineAt(number) for number in range(block.layout().lineCount())]
            texts = [block.text()[line.textStart() : line.textStart() + line.textLength()] for line in lines]
            found += [text for text in texts[:-1] if not text.endswith(" ")]
    return found


@pytest.mark.parametrize("columns", [2, 4, 6])
@pytest.mark.parametrize("zoom", [1.0, 0.9])
def test_no_word_is_broken_in_a_table_that_can_be_made_closer(view, columns, zoom):
    view.set_zoom(zoom)
    view.show_path([user(1), answer(1, source(columns))])
    assert broken_words(view) == []


def test_columns_of_sentences_leave_room_for_those_of_words(view):
    view.show_path([user(1), answer(1, SALES)])
    assert broken_words(view) == []


def test_a_table_of_few_columns_is_as_large_as_the_text(view):
    view.show_path([user(1), answer(1, source(2) + "\n\nText.")])
    cell = tables(view)[0].cellAt(1, 1).firstCursorPosition()
    text = view.document().find("Text.")
    assert cell.charFormat().font().pixelSize() == text.charFormat().font().pixelSize()


def test_a_wide_table_takes_the_room_beside_the_column_as_it_comes_and_goes(view, qtbot):
    view.show_path([user(1), answer(1, source(10) + "\n\n" + "Words of a paragraph. " * 40)])
    assert broken_words(view)
    view.resize(COLUMN_WIDTH + 1000, 500)
    qtbot.waitUntil(lambda: broken_words(view) == [])
    paragraph = view.document().find("Words of").block()
    assert view.document().documentLayout().blockBoundingRect(paragraph).right() <= COLUMN_WIDTH
    left = view.viewport().geometry().left()
    assert abs((view.width() - COLUMN_WIDTH) / 2 - left) <= 1
    view.resize(COLUMN_WIDTH + 80, 500)
    assert view.viewport().geometry().right() <= view.width()
    view.resize(COLUMN_WIDTH + 1000, 500)
    view.show_path([user(1), answer(1, "No table.")])
    assert view.viewport().width() <= COLUMN_WIDTH
