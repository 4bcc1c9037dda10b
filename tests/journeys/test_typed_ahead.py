"""Keys that are pressed while the chats are still being read."""

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from llama_gui.ui import MainWindow
from tests.fakes.scripted_engine import ScriptedEngine
from tests.journeys.conftest import OpenWindow

start = MainWindow.start


def typed_before(monkeypatch: pytest.MonkeyPatch, text: str, *keys: Qt.Key, composed: str = "") -> None:
    """So are the keys of somebody who is faster than the store."""

    def start_late(window: MainWindow) -> None:
        QTest.qWaitForWindowActive(window)
        QTest.keyClicks(window.focusWidget(), text)
        for key in keys:
            QTest.keyClick(window.focusWidget(), key)
        if composed:
            event = QInputMethodEvent()
            event.setCommitString(composed)
            QCoreApplication.sendEvent(window.focusWidget(), event)
        start(window)

    monkeypatch.setattr(MainWindow, "start", start_late)


def draft(window: MainWindow) -> str:
    tab = window.deck.current()
    assert tab is not None
    return tab.composer.text()


def test_what_was_typed_stands_in_the_first_chat(monkeypatch: pytest.MonkeyPatch, open_window: OpenWindow):
    typed_before(monkeypatch, "What is tt", Qt.Key.Key_Backspace, Qt.Key.Key_Escape, composed="日本")
    window = open_window(ScriptedEngine())
    assert draft(window) == "What is t日本"
    tab = window.deck.current()
    assert tab is not None
    assert window.focusWidget() is tab.composer.edit
    QTest.keyClicks(window.focusWidget(), "!")
    assert draft(window) == "What is t日本!"


def test_letters_of_the_third_level_are_letters(monkeypatch: pytest.MonkeyPatch, open_window: OpenWindow):
    """As @ is on many keyboards."""

    def start_late(window: MainWindow) -> None:
        QTest.qWaitForWindowActive(window)
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_At, Qt.KeyboardModifier.GroupSwitchModifier)
        start(window)

    monkeypatch.setattr(MainWindow, "start", start_late)
    assert draft(open_window(ScriptedEngine())) == "@"


def test_enter_sends_it(monkeypatch: pytest.MonkeyPatch, open_window: OpenWindow, qtbot: QtBot):
    typed_before(monkeypatch, "Hello there", Qt.Key.Key_Return)
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    assert tab is not None
    qtbot.waitUntil(lambda: len(tab.session.path()) == 2 and not tab.session.answering)
    assert tab.session.path()[0].content == "Hello there"
    assert draft(window) == ""


def test_it_goes_behind_the_draft_of_the_last_time(monkeypatch: pytest.MonkeyPatch, open_window: OpenWindow):
    window = open_window(ScriptedEngine())
    QTest.keyClicks(window.focusWidget(), "kept")
    window.close()
    typed_before(monkeypatch, " and new")
    assert draft(open_window(ScriptedEngine())) == "kept and new"
