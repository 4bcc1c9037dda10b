"""While an answer streams, what has changed is painted again, and nothing else; nothing old is left on the screen."""

import random

import pytest
from PySide6.QtGui import QImage, QPaintEvent
from PySide6.QtWidgets import QApplication

from llama_gui.ui.transcript.view import TranscriptView
from tests.ui.test_transcript_stream import DOCUMENTS
from tests.ui.transcripts import answer, user


def on_the_screen(view: TranscriptView) -> QImage:
    """The pixels of the view as they stand there, of whatever times."""
    window, viewport = view.window(), view.viewport()
    QApplication.processEvents()
    shown = window.screen().grabWindow(window.winId())
    place = viewport.mapTo(window, viewport.rect().topLeft())
    return shown.copy(place.x(), place.y(), viewport.width(), viewport.height()).toImage()


def painted_anew(view: TranscriptView) -> QImage:
    """The same, all painted now."""
    view.viewport().update()
    return on_the_screen(view)


def streamed(view: TranscriptView, source: str, rng: random.Random) -> None:
    """Show `source` in pieces, and look after each whether anything old is left on the screen."""
    view.set_waiting("Reading")
    view.show_path([user(1), answer(2, status="streaming")])
    position = 0
    while position < len(source):
        assert on_the_screen(view) == painted_anew(view), source[:position]
        if rng.random() < 0.1:
            view.verticalScrollBar().setValue(view.verticalScrollBar().value() - rng.choice((40, 400, -4000)))
        size = rng.choice((1, 3, 8, 20, 60))
        view.add_text("a2", source[position : position + size])
        position += size
        view.flush()
    assert on_the_screen(view) == painted_anew(view)
    view.replace_node(answer(2, source))
    assert on_the_screen(view) == painted_anew(view)


@pytest.mark.parametrize("source", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_nothing_old_is_left(view, qtbot, source):
    view.resize(520, 360)
    with qtbot.waitExposed(view):
        view.show()
    for seed in range(3):
        streamed(view, source, random.Random(seed))


def test_what_is_old_would_be_seen(view, qtbot):
    view.show_path([user(1), answer(2, "Text")])
    with qtbot.waitExposed(view):
        view.show()
    before = on_the_screen(view)
    view.has_caret = True  # without a word to Qt
    assert on_the_screen(view) == before
    assert painted_anew(view) != before


def test_of_a_long_answer_little_is_painted_for_a_word(qtbot):
    heights: list[int] = []

    class Watched(TranscriptView):
        def paintEvent(self, event: QPaintEvent) -> None:
            heights.append(event.rect().height())
            super().paintEvent(event)

    view = Watched()
    qtbot.addWidget(view)
    view.resize(700, 600)
    with qtbot.waitExposed(view):
        view.show()
    view.show_path([user(1), answer(2, status="streaming")])
    view.add_text("a2", "A paragraph of some words.\n\n" * 30)
    view.flush()
    QApplication.processEvents()
    heights.clear()
    view.add_text("a2", "One")
    view.flush()
    QApplication.processEvents()  # it may be a line further down now
    for _ in range(3):
        view.add_text("a2", " word")
        view.flush()
        QApplication.processEvents()
    assert len(heights) == 4
    assert max(heights[1:]) < view.viewport().height() / 3
