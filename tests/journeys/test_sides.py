"""The two sides of the window: dragged, within limits, and found again."""

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtWidgets import QMenu, QSplitter

from llama_gui.ui import window_library
from llama_gui.ui.fold_group import FOLD_EDGE
from llama_gui.ui.model_menu import ModelMenu
from llama_gui.ui.models.window import ModelsWindow
from llama_gui.ui.preferences import PreferencesDialog
from llama_gui.ui.side_foot import FootRow
from llama_gui.ui.transcript.welcome import Suggestion
from tests.fakes.scripted_engine import ScriptedEngine
from tests.journeys.driving import trigger


def drag(qtbot, splitter: QSplitter, number: int, by: int) -> None:
    handle = splitter.handle(number)
    start = handle.rect().center()
    qtbot.mousePress(handle, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(handle, start + QPoint(by, 0))
    qtbot.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=start + QPoint(by, 0))


def test_the_sides_are_dragged_and_found_again(open_window, qtbot):
    window = open_window(ScriptedEngine())
    splitter = window.findChild(QSplitter)
    assert (window.sidebar.width(), window.panel.width()) == (236, 272)
    drag(qtbot, splitter, 1, 60)
    drag(qtbot, splitter, 2, -100)
    narrow, wide = window.sidebar.width(), window.panel.width()
    assert 290 <= narrow <= 300
    assert 365 <= wide <= 375
    trigger(window, "sidebar")
    trigger(window, "sidebar")
    assert window.sidebar.width() == narrow
    trigger(window, "sidebar")
    qtbot.waitUntil(lambda: window.kept_settings[-1].panel_width == wide)
    drag(qtbot, splitter, 2, -900)
    window.close()
    kept = window.kept_settings[-1]
    assert (kept.sidebar_width, kept.panel_width) == (narrow, 480)
    again = open_window(ScriptedEngine(), settings=kept)
    trigger(again, "sidebar")
    qtbot.waitUntil(lambda: (again.sidebar.width(), again.panel.width()) == (narrow, 480))


@pytest.mark.qt_log_ignore("^This plugin does not support")
@pytest.mark.parametrize(("row", "opened"), [("Models", ModelsWindow), ("Preferences", PreferencesDialog)])
def test_the_side_bar_leads_to_models_and_preferences(open_window, qtbot, row, opened):
    window = open_window(ScriptedEngine())
    window.deck.current().focus_composer()
    foot = next(found for found in window.sidebar.findChildren(FootRow) if found.text() == row)
    assert foot.isVisible()
    qtbot.mouseClick(foot, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.findChild(opened) is not None and window.findChild(opened).isVisible())
    assert window.focusWidget() is window.deck.current().composer.edit
    window.findChild(opened).close()


@pytest.mark.parametrize(("action", "field"), [("models", "picker"), ("presets", "presets")])
def test_a_menu_opens_at_its_field_also_where_that_was_hidden(open_window, qtbot, qapp, monkeypatch, action, field):
    places: list[QPoint] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, place: places.append(place))  # offscreen, nothing can pop up
    window = open_window(ScriptedEngine())
    window.resize(700, 700)
    qtbot.waitUntil(window.panel.isHidden)
    trigger(window, action)
    picker = getattr(window.panel, field)
    qapp.processEvents()  # what is laid out a moment later
    assert window.panel.isVisible()
    assert places[-1].x() == picker.mapToGlobal(QPoint(0, 0)).x()


def test_a_click_on_the_model_in_the_status_line_opens_the_menu_of_models(open_window, qtbot, monkeypatch):
    menus: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, place: menus.append(menu))
    window = open_window(ScriptedEngine())
    qtbot.mouseClick(window.status.costs, Qt.MouseButton.LeftButton)
    assert isinstance(menus[-1], ModelMenu)


def test_groups_of_parameters_stay_as_they_were_folded(open_window, qtbot):
    window = open_window(ScriptedEngine())
    assert [name for name, group in window.panel.groups.items() if group.is_open()] == ["basics"]
    window.panel.groups["penalties"].headline.click()
    window.panel.groups["basics"].headline.click()
    window.close()
    again = open_window(ScriptedEngine(), settings=window.kept_settings[-1])
    assert [name for name, group in again.panel.groups.items() if group.is_open()] == ["penalties"]


def test_the_window_fills_the_screen_and_comes_back(open_window, qtbot):
    window = open_window(ScriptedEngine())
    size = window.size()
    trigger(window, "full_screen")
    assert window.isFullScreen()
    trigger(window, "full_screen")
    assert not window.isFullScreen()
    qtbot.waitUntil(lambda: window.size() == size)


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_the_window_of_models_is_no_larger_than_the_screen(open_window, monkeypatch):
    monkeypatch.setattr(window_library, "fitted", lambda size, _window: size.boundedTo(QSize(1024, 400)))
    window = open_window(ScriptedEngine())
    trigger(window, "find_models")
    assert window.library.models_window.height() == 400
    window.library.models_window.close()


@pytest.mark.parametrize("width", [1280, 700, 500])
def test_the_greeting_is_as_wide_as_the_composer_below_it(open_window, qtbot, width):
    window = open_window(ScriptedEngine())
    window.resize(width, 820)
    qtbot.waitUntil(lambda: window.width() == width)
    tab = window.deck.current()
    idea = next(button for button in tab.welcome.findChildren(Suggestion) if button.isVisible())
    for zoom in (1.0, 1.5):
        window._looks.set_zoom(zoom)
        qtbot.waitUntil(lambda: idea.width() == tab.composer.width())
        assert idea.mapToGlobal(QPoint()).x() == tab.composer.mapToGlobal(QPoint()).x()


def test_the_ring_of_a_headline_leaves_room_around_its_words(open_window):
    window = open_window(ScriptedEngine())
    group = window.panel.groups["basics"]
    words = window.panel.rows["temperature"].mapToGlobal(QPoint()).x()
    ring = group.headline.mapToGlobal(QPoint()).x()
    assert words - ring == FOLD_EDGE
    assert words == window.panel.picker.mapToGlobal(QPoint()).x()
