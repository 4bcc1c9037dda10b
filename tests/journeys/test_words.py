"""Looking at the words of an answer, with the real engine: another word is a new version, also after a restart."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from llama_gui.chats.recipe import read_recipe
from llama_gui.ui import MainWindow
from llama_gui.ui.chat_tab import ChatTab
from llama_gui.ui.words.dialog import WordDialog
from llama_gui.vocabulary import ChatSettings, SamplingParams
from tests.fakes.scripted_engine import ScriptedEngine, pieces_of
from tests.journeys.conftest import OpenWindow
from tests.journeys.driving import ask, shown, trigger
from tests.journeys.test_starter_chat import endless

SECONDS = 20_000
WARM = ChatSettings(sampling=SamplingParams(temperature=1.3, top_k=0, top_p=1.0, min_p=0.0, seed=12), max_tokens=60)
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def answered(window: MainWindow, qtbot: QtBot) -> ChatTab:
    tab = window.deck.current()
    tab.session.set_settings(WARM)
    ask(qtbot, tab, "Tell me a story")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering, timeout=SECONDS)
    return tab


def opened(window: MainWindow, qtbot: QtBot) -> WordDialog:
    trigger(window, "words")
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, WordDialog)
    qtbot.waitUntil(lambda: dialog.sheet.token_count > 0, timeout=SECONDS)
    return dialog


def test_another_word_is_a_new_version_and_stays_one(open_starter: OpenWindow, qtbot: QtBot):
    window = open_starter()
    tab = answered(window, qtbot)
    former = tab.session.path()[1]
    dialog = opened(window, qtbot)
    assert dialog.sheet.token_count == len(read_recipe(former.recipe).token_ids)
    dialog.sheet.go_to(6)
    before = former.content[: len("".join(token.text for token in dialog._words.tokens[:6]))]
    qtbot.keyClick(dialog.sheet, Qt.Key.Key_Return)
    word = dialog.choices.list.currentItem().text()
    qtbot.keyClick(dialog.choices.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: tab.session.path()[-1].id != former.id and len(tab.session.path()) == 2, timeout=SECONDS)
    qtbot.waitUntil(lambda: not tab.session.answering, timeout=SECONDS)
    made = tab.session.path()[1]
    assert tab.session.versions()[made.id] == (2, 2)
    assert made.content.startswith(before)
    assert word.strip("␣") in made.content[len(before) :]
    assert " ".join(made.content.replace("*", "").split()[:3]) in shown(tab)  # a model may make some of it bold
    assert made.content.split()[-1].strip("*_`.") in shown(tab)
    trigger(window, "previous_version")
    assert tab.session.path()[1] == former
    trigger(window, "next_version")
    qtbot.waitUntil(lambda: tab.session.is_settled)
    window.close()

    window = open_starter()
    tab = window.deck.current()
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and window._host.info is not None, timeout=SECONDS)
    assert tab.session.path()[1] == made
    again = opened(window, qtbot)
    assert tuple(token.token_id for token in again._words.tokens) == read_recipe(made.recipe).token_ids
    qtbot.keyClick(again.sheet, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)
    trigger(window, "run_again")
    qtbot.waitUntil(lambda: "letter for letter" in window.status.state.text(), timeout=SECONDS)


def test_beside_a_tab_that_is_answered(open_starter: OpenWindow, qtbot: QtBot):
    window = open_starter()
    tab = answered(window, qtbot)
    other = window.deck.new_tab()
    other.session.set_settings(endless(window))
    ask(qtbot, other, "What is this application?")
    qtbot.waitUntil(lambda: len(other.session.path()) == 2, timeout=SECONDS)
    window.deck.go_to(1)
    dialog = opened(window, qtbot)
    assert dialog.sheet.token_count == len(read_recipe(tab.session.path()[1].recipe).token_ids)
    assert other.session.answering
    dialog.reject()
    other.session.stop()
    qtbot.waitUntil(lambda: other.session.is_settled, timeout=SECONDS)


def test_why_not_is_said_above_the_field(open_window: OpenWindow, qtbot: QtBot):
    window = open_window(ScriptedEngine({"go": pieces_of("on and on " * 500)}, tokens_per_second=100))
    tab = window.deck.current()
    trigger(window, "words")  # there is no answer at all
    ask(qtbot, tab, "go")
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2)
    trigger(window, "words")
    assert tab.notice.text() == "The words can be looked at once the answer has ended."
    tab.session.stop()
    qtbot.waitUntil(lambda: tab.session.is_settled)
    tab.session.edit(tab.session.path()[1].id, "Somebody else's words")
    tab.notice.dismiss()
    trigger(window, "words")
    assert tab.notice.text().startswith("Only of answers that a model has written here")
    assert QApplication.activeModalWidget() is None
