"""A field that grows with its text, and scrolls when it is long."""

import pytest

from llama_gui.ui.growing_text import MOST_LINES, GrowingText


@pytest.fixture
def field(qtbot) -> GrowingText:
    made = GrowingText(66)
    made.setProperty("field", True)  # with the padding of the panel
    qtbot.addWidget(made)
    made.resize(240, 66)
    made.show()
    return made


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_it_grows_to_twelve_lines_and_shrinks_again(field, qtbot):
    assert field.height() == 66
    field.setPlainText("\n".join("abcdefgh"))
    eight = field.height()
    assert eight > 8 * field.fontMetrics().lineSpacing()
    qtbot.waitUntil(lambda: not field.verticalScrollBar().isVisible())
    field.setPlainText("\n".join("x" * 40))
    assert eight < field.height() < (MOST_LINES + 3) * field.fontMetrics().lineSpacing()
    qtbot.waitUntil(field.verticalScrollBar().isVisible)
    field.setPlainText("")
    assert field.height() == 66


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_long_lines_count_as_they_are_broken(field):
    field.setPlainText("You are a patient teacher of physics. " * 10)
    narrow = field.height()
    assert narrow > 66
    field.resize(600, narrow)
    assert field.height() < narrow
