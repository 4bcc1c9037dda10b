"""Whatever is streamed, unfolded, opened and redrawn in whatever order: the page ends as if it were drawn at once."""

import random

import pytest

from llama_gui.ui.transcript.view import TranscriptView
from tests.ui.test_transcript_stream import DOCUMENTS
from tests.ui.transcripts import answer, look_of, user

THOUGHTS = ("", "<think>I wonder\n\n- about this\n</think>\n\n", "<think></think>", "never opened\n</think>\n")


def text_of(rng: random.Random) -> str:
    body = "\n\n".join(rng.choice(DOCUMENTS).replace("\r\n", "\n") for _ in range(rng.randrange(1, 3)))
    return rng.choice(THOUGHTS) + body


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.sampled(2)
def test_any_order_of_changes(qtbot, monkeypatch, seed):
    monkeypatch.setattr("llama_gui.ui.transcript.page_end.MESSAGES_AT_ONCE", 6)
    rng = random.Random(seed)
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(600, 400)
    view.show()
    nodes = []
    for n in range(12):
        nodes += [user(n, rng.choice(DOCUMENTS)), answer(n, text_of(rng))]
    view.show_path(nodes)
    for number in range(12, 18):
        final = text_of(rng)
        nodes += [user(number, "many words in a line\n" * rng.choice((1, 700))), answer(number, status="streaming")]
        view.add_node(nodes[-2])
        change(view, rng, nodes)
        view.add_node(nodes[-1])
        place = 0
        while place < len(final):
            size = rng.choice((1, 5, 40, 300))
            view.add_text(nodes[-1].id, final[place : place + size])
            place += size
            if rng.random() < 0.5:
                view.flush()
            if rng.random() < 0.1:
                change(view, rng, nodes)
        nodes[-1] = answer(number, final)
        view.replace_node(nodes[-1])
        change(view, rng, nodes)
    open_all(view)
    left = look_of(view)
    assert [node.id for node in view.page.drawn()] == [node.id for node in nodes]
    view.show_path(nodes)
    open_all(view)
    assert left == look_of(view)


def change(view: TranscriptView, rng: random.Random, nodes: list) -> None:
    """What a reader may do at any moment."""
    node = rng.choice(nodes)
    match rng.randrange(4):
        case 0:
            view.draw_node(node.id)
        case 1:
            view.toggle_reasoning(node.id)
        case 2:
            view._draw_rest()
        case 3:
            view.verticalScrollBar().setValue(rng.randrange(view.verticalScrollBar().maximum() + 1))


def open_all(view: TranscriptView) -> None:
    while gaps := view.page.gaps():
        view.draw_gap(gaps[0][1])
    while view.page.folds():
        view.unfold(min(view.page.folds()))
    while view.page.has_coats:
        view.page.paint_code(1.0)
