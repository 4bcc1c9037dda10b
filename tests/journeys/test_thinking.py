"""A model that can think first: chosen in the composer, for each chat, and asked for."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from llama_gui.ui.chat_tab import ChatTab
from llama_gui.vocabulary import EFFORTS
from tests.fakes.scripted_engine import ScriptedEngine
from tests.journeys.driving import ask, trigger


def engine_that(thinks: bool | None) -> ScriptedEngine:
    engine = ScriptedEngine()
    engine.info = replace(engine.info, thinking=thinks)
    return engine


def engine_with_efforts() -> ScriptedEngine:
    engine = engine_that(thinks=True)
    engine.info = replace(engine.info, efforts=EFFORTS)
    return engine


def choose(qtbot, tab: ChatTab, name: str) -> None:
    """In the menu that stands open."""
    menu = tab.composer.think_button.findChild(QMenu)
    assert menu is not None
    action = next(action for action in menu.actions() if action.text() == name)
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    qtbot.waitUntil(lambda: tab.composer.think_button.findChild(QMenu) is None)


def settled(qtbot, tab: ChatTab, messages: int) -> None:
    qtbot.waitUntil(lambda: len(tab.session.path()) == messages and not tab.session.answering)


def test_it_is_turned_off_for_one_chat_and_what_was_made_is_made_again_as_it_was(open_window, qtbot):
    engine = engine_that(thinks=True)
    window = open_window(engine)
    tab = window.deck.current()
    button = tab.composer.think_button
    assert button.isVisible()
    assert button.isChecked()
    assert button.text() == "Think"
    window.resize(window.minimumSizeHint().width(), 500)
    assert button.text() == ""  # the icon alone
    ask(qtbot, tab, "first")
    settled(qtbot, tab, 2)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert not button.isChecked()
    ask(qtbot, tab, "second")
    settled(qtbot, tab, 4)
    trigger(window, "new_tab")
    assert window.deck.current().composer.think_button.isChecked()
    trigger(window, "previous_tab")
    trigger(window, "thinking")
    assert button.isChecked()
    assert tab.session.settings.thinking is None
    trigger(window, "run_again")
    settled(qtbot, tab, 4)
    assert [request.thinking for request in engine.requests] == [None, False, False]


def test_one_that_does_not_by_itself_is_asked_to(open_window, qtbot):
    engine = engine_that(thinks=False)
    window = open_window(engine)
    tab = window.deck.current()
    assert not tab.composer.think_button.isChecked()
    tab.composer.think_button.setFocus()
    qtbot.keyClick(tab.composer.think_button, Qt.Key.Key_Space)
    tab.focus_composer()
    ask(qtbot, tab, "first")
    settled(qtbot, tab, 2)
    assert engine.requests[0].thinking is True


def test_where_it_cannot_be_chosen_there_is_no_button(open_window):
    window = open_window(engine_that(thinks=None))
    tab = window.deck.current()
    assert not tab.composer.think_button.isVisible()
    trigger(window, "thinking")
    assert tab.session.settings.thinking is None
    assert "no switch for thinking" in window.status.state.text()


@pytest.mark.qt_log_ignore("^This plugin does not support")
@pytest.mark.parametrize("by", ["mouse", "keys"])
def test_one_that_thinks_more_or_less_is_told_how_much(open_window, qtbot, by):
    engine = engine_with_efforts()
    window = open_window(engine)
    tab = window.deck.current()
    button = tab.composer.think_button
    ways = [
        ("Think much", "Think much", True),
        ("Answer at once", "Think", False),
        ("Think a little", "Think a little", True),
        ("Think", "Think", True),
    ]
    for asked, (name, word, is_lit) in enumerate(ways, 1):
        if by == "mouse":
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        else:
            trigger(window, "thinking")
        choose(qtbot, tab, name)
        assert (button.text(), button.isChecked()) == (word, is_lit)
        ask(qtbot, tab, name)
        settled(qtbot, tab, 2 * asked)
    assert [request.thinking for request in engine.requests] == ["high", False, "low", None]
    trigger(window, "run_again")
    settled(qtbot, tab, 8)
    assert engine.requests[-1].thinking is None


def test_what_was_chosen_for_another_model_is_understood(open_window, qtbot):
    """A chat keeps how much its model thinks; one that knows no efforts thinks, or does not."""
    window = open_window(engine_that(thinks=False))
    tab = window.deck.current()
    tab.session.set_settings(replace(tab.session.settings, thinking="high"))
    assert tab.composer.think_button.isChecked()
    assert tab.composer.think_button.text() == "Think"
    trigger(window, "thinking")
    assert tab.session.settings.thinking is None
    assert not tab.composer.think_button.isChecked()
