"""Rows with a note on the right, and what stands in a list without any."""

import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from llama_gui.ui.rows import NOTE_ROLE, NotedList


@pytest.fixture
def rows(qtbot):
    made = NotedList("Nothing is here yet.")
    qtbot.addWidget(made)
    made.resize(320, 200)
    return made


def colours(widget, left: int, right: int, top: int = 0, bottom: int | None = None) -> set[str]:
    image = widget.viewport().grab().toImage()
    return {
        QColor(image.pixel(x, y)).name()
        for x in range(left, min(right, image.width()))
        for y in range(top, min(bottom or image.height(), image.height()))
    }


def test_an_empty_list_says_why(rows):
    assert len(colours(rows, 0, 320)) > 5  # letters, in shades
    rows.add("one")
    assert len(colours(rows, 0, 320, 60, 180)) == 1
    rows.clear()
    assert len(colours(rows, 0, 320)) > 5


def test_words_and_note_do_not_touch(rows):
    """Whatever is too long is shortened; screen readers have all of it, and so has the tip."""
    item = rows.add("many words " * 20, "https://server.example/" + "x" * 200)
    assert item.data(Qt.ItemDataRole.AccessibleTextRole) == item.text() + ", " + item.data(NOTE_ROLE)
    assert not rows.horizontalScrollBar().isVisible()
    inside = "".join("." if len(colours(rows, x, x + 1, 0, 34)) == 1 else "x" for x in range(12, 290))
    assert max(len(gap) for gap in re.findall(r"\.+", inside)) >= 10


def test_what_cannot_be_chosen_is_muted(rows):
    rows.add("one")
    plain = colours(rows, 0, 320, 0, 34)
    rows.item(0).setFlags(rows.item(0).flags() & ~Qt.ItemFlag.ItemIsSelectable)
    muted = colours(rows, 0, 320, 0, 34)
    darkest = [min(QColor(name).lightness() for name in found) for found in (plain, muted)]
    assert darkest[0] < darkest[1]
