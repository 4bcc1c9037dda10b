"""From the keyboard to the painted text and to the disk, with the real engine and the model that comes with us."""

import itertools
import json
import time

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from llama_gui.ui import MainWindow
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.vocabulary import ChatSettings, SamplingParams
from tests.journeys.conftest import RESOURCES, OpenWindow
from tests.journeys.driving import ask, ink, shown, trigger

QUESTIONS = ("What is this application?", "How do I open another tab?", "What does the temperature change?")
SECONDS = 20_000


def endless(window: MainWindow) -> ChatSettings:
    """Settings with which an answer ends only when it is stopped or the context is full."""
    assert window._host.info is not None
    generation = (RESOURCES / "starter_model" / "generation_config.json").read_text(encoding="utf-8")
    ends = json.loads(generation)["eos_token_id"]
    bias = dict.fromkeys(ends if isinstance(ends, list) else [ends], -100.0)
    return ChatSettings(sampling=SamplingParams(logit_bias=bias, seed=1, temperature=1.0))


def three_tabs(window: MainWindow) -> list[ChatTab]:
    first = window.deck.current()
    assert first is not None
    return [first, window.deck.new_tab(), window.deck.new_tab()]


def ask_everywhere(window: MainWindow, qtbot: QtBot, tabs: list[ChatTab]) -> None:
    for tab, question in zip(tabs, QUESTIONS, strict=True):
        tab.composer.set_text(question)
    for number, tab in enumerate(tabs, start=1):
        window.deck.go_to(number)
        qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)


def test_it_says_what_it_is_and_remembers_it(open_starter: OpenWindow, qtbot: QtBot):
    window = open_starter()
    tab = window.deck.current()
    pieces: list[str] = []
    tab.session.text_added.connect(lambda _node, text: pieces.append(text))
    ask(qtbot, tab, "What is this application?")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering, timeout=SECONDS)
    answer = tab.session.path()[-1]
    assert answer.status == "complete"
    assert "llama-gui" in answer.content
    assert "".join(pieces) == answer.content
    assert len(pieces) > 1  # it came in pieces, not at once
    assert ink(tab.transcript, "llama-gui") > 50
    assert "Starter model" in shown(tab)
    assert window.strip.bar.title(0) == "What is this application?"
    window.close()

    again = open_starter().deck.current()
    qtbot.waitUntil(lambda: len(again.session.path()) == 2)
    assert again.session.path()[-1] == answer
    assert answer.content.split()[-1].strip("*_`.") in shown(again)


def test_three_tabs_write_at_the_same_time_and_each_is_stopped_alone(open_starter: OpenWindow, qtbot: QtBot):
    window = open_starter()
    tabs = three_tabs(window)
    order: list[str] = []
    for tab in tabs:
        tab.session.set_settings(endless(window))
        tab.session.text_added.connect(lambda _node, _text, chat_id=tab.session.chat_id: order.append(chat_id))
    ask_everywhere(window, qtbot, tabs)
    qtbot.waitUntil(lambda: min(order.count(tab.session.chat_id) for tab in tabs) > 3, timeout=SECONDS)
    assert window.status.answering.text() == "3 answering"
    assert window._host.models.engine_of(window._host.current).stats().running == 3
    # Token by token in turn: no answer is written in one go while the others wait.
    longest = max(len(list(run)) for _, run in itertools.groupby(order[order.index(tabs[2].session.chat_id) :]))
    assert longest <= 3

    for position, stopped in enumerate(tabs):
        window.deck.go_to(position + 1)
        trigger(window, "stop")
        qtbot.waitUntil(lambda tab=stopped: not tab.session.answering, timeout=SECONDS)
        assert stopped.session.path()[-1].status == "stopped"
        running = tabs[position + 1 :]
        before = [len(tab.session.path()[-1].content) for tab in running]
        qtbot.waitUntil(
            lambda tabs=running, before=before: all(
                len(tab.session.path()[-1].content) > length for tab, length in zip(tabs, before, strict=True)
            ),
            timeout=SECONDS,
        )
        assert all(tab.session.answering for tab in running)


def test_an_answer_is_the_same_beside_others(open_starter: OpenWindow, qtbot: QtBot):
    window = open_starter()
    seeded = ChatSettings(sampling=SamplingParams(seed=7, temperature=1.2))
    alone = window.deck.current()
    alone.session.set_settings(seeded)
    ask(qtbot, alone, QUESTIONS[0])
    qtbot.waitUntil(lambda: len(alone.session.path()) == 2 and not alone.session.answering, timeout=SECONDS)
    tabs = [window.deck.new_tab() for _ in QUESTIONS]
    tabs[0].session.set_settings(seeded)
    for number, tab in enumerate(tabs, start=2):
        tab.composer.set_text(QUESTIONS[number - 2])
    for number, tab in enumerate(tabs, start=2):
        window.deck.go_to(number)
        qtbot.keyClick(tab.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: all(len(t.session.path()) == 2 and not t.session.answering for t in tabs), timeout=SECONDS)
    assert tabs[0].session.path()[-1].content == alone.session.path()[-1].content


def test_closing_mid_answer_is_quick_and_keeps_what_was_written(open_starter: OpenWindow, qtbot: QtBot):
    window = open_starter()
    tabs = three_tabs(window)
    for tab in tabs:
        tab.session.set_settings(endless(window))
    ask_everywhere(window, qtbot, tabs)
    qtbot.waitUntil(lambda: all(len(tab.session.path()) == 2 and tab.session.path()[1].content for tab in tabs))
    written = [tab.session.path()[-1].content for tab in tabs]
    started = time.monotonic()
    window.close()
    assert time.monotonic() - started < 3

    restored = open_starter().deck.tabs()
    qtbot.waitUntil(lambda: all(len(tab.session.path()) == 2 for tab in restored))
    for tab, text in zip(restored, written, strict=True):
        assert tab.session.path()[-1].content.startswith(text)
        assert tab.session.path()[-1].status in ("stopped", "interrupted")


def test_a_broken_folder_disturbs_nothing(open_starter: OpenWindow, qtbot: QtBot, tmp_path):
    window = open_starter()
    tab = window.deck.current()
    tab.session.set_settings(endless(window))
    ask(qtbot, tab, QUESTIONS[0])
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and tab.session.path()[-1].content != "", timeout=SECONDS)
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "config.json").write_text("{", encoding="utf-8")
    window.panel.picker.model_chosen.emit(str(broken))
    qtbot.waitUntil(tab.notice.isVisible, timeout=SECONDS)
    assert "config.json" in tab.notice.text()
    assert str(broken) in tab.notice.text()
    before = len(tab.session.path()[-1].content)
    qtbot.waitUntil(lambda: len(tab.session.path()[-1].content) > before, timeout=SECONDS)
    assert window.panel.picker.text() == "Starter model"
    trigger(window, "stop")
    qtbot.waitUntil(lambda: not tab.session.answering, timeout=SECONDS)
