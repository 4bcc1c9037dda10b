"""The end of the window: nothing that was written goes without a word."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from llama_gui.chats.store import ChatStore
from llama_gui.errors import StoreError
from llama_gui.ui import MainWindow
from tests.fakes.scripted_engine import ScriptedEngine


def full(*_args: object) -> None:
    raise StoreError("The disk is full. Free some space.")


def answer(qtbot: QtBot, window: MainWindow, button: QMessageBox.StandardButton) -> None:
    box = window.findChildren(QMessageBox)[-1]
    assert (box.text(), box.informativeText()) == (
        "What you have written is not saved.",
        "The disk is full. Free some space.",
    )
    qtbot.mouseClick(box.button(button), Qt.MouseButton.LeftButton)


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_a_draft_that_cannot_be_saved_is_asked_about(open_window, qtbot, monkeypatch):
    window = open_window(ScriptedEngine())
    tab = window.deck.current()
    with monkeypatch.context() as patch:
        patch.setattr(ChatStore, "save_tabs", full)
        qtbot.keyClicks(tab.composer.edit, "A long letter")
        qtbot.waitUntil(lambda: "The disk is full." in tab.notice.text())  # while it is typed
        window.close()
        assert window.isVisible()
        answer(qtbot, window, QMessageBox.StandardButton.Cancel)
        assert window.isVisible()
        window.close()
        answer(qtbot, window, QMessageBox.StandardButton.Retry)
        assert window.isVisible()
    answer(qtbot, window, QMessageBox.StandardButton.Retry)
    assert not window.isVisible()
    assert open_window(ScriptedEngine()).deck.current().draft().text == "A long letter"


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_a_draft_may_go_when_the_user_says_so(open_window, qtbot, monkeypatch):
    monkeypatch.setattr(ChatStore, "save_tabs", full)
    window = open_window(ScriptedEngine())
    qtbot.keyClicks(window.deck.current().composer.edit, "A long letter")
    window.close()
    answer(qtbot, window, QMessageBox.StandardButton.Discard)
    assert not window.isVisible()


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_a_long_paste_is_asked_about_though_it_is_a_file(open_window, qtbot, monkeypatch):
    monkeypatch.setattr(ChatStore, "save_tabs", full)
    window = open_window(ScriptedEngine())
    composer = window.deck.current().composer
    composer._paste("Many words. " * 2000)
    assert composer.text() == ""
    window.close()
    answer(qtbot, window, QMessageBox.StandardButton.Cancel)
    assert window.isVisible()
    window.close()
    answer(qtbot, window, QMessageBox.StandardButton.Discard)


def test_an_empty_window_closes_also_on_a_full_disk(open_window, monkeypatch):
    monkeypatch.setattr(ChatStore, "save_tabs", full)
    window = open_window(ScriptedEngine())
    window.close()
    assert not window.isVisible()
