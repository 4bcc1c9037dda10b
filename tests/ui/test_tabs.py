"""The tab strip: titles, dots, closing, dragging."""

import pytest
from PySide6.QtCore import QPoint, Qt

from llama_gui.ui.tab_strip import TabStrip
from llama_gui.ui.tabs import TabBar
from llama_gui.ui.widgets import plain_tip


@pytest.fixture
def bar(qtbot, icons) -> TabBar:
    bar = TabBar(icons)
    qtbot.addWidget(bar)
    for number in range(3):
        bar.add(f"c{number}", f"Chat {number}")
    bar.resize(640, 44)
    bar.show()
    return bar


def test_close_by_x_and_by_middle_click(bar, qtbot):
    with qtbot.waitSignal(bar.close_requested) as closed:
        qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.close_rect(1).center())
    assert closed.args == [1]
    assert bar.currentIndex() == 0
    with qtbot.waitSignal(bar.close_requested) as closed:
        qtbot.mouseClick(bar, Qt.MouseButton.MiddleButton, pos=bar.tabRect(2).center())
    assert closed.args == [2]


def test_a_click_selects(bar, qtbot):
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(2).topLeft() + QPoint(20, 20))
    assert bar.currentIndex() == 2


def test_dragging_moves_the_tab(bar, qtbot):
    start = bar.tabRect(0).topLeft() + QPoint(20, 20)
    with qtbot.waitSignal(bar.tabMoved):
        qtbot.mousePress(bar, Qt.MouseButton.LeftButton, pos=start)
        qtbot.mouseMove(bar, bar.tabRect(1).center() + QPoint(20, 0))
        qtbot.mouseRelease(bar, Qt.MouseButton.LeftButton)
    assert [bar.chat_id(index) for index in range(3)] == ["c1", "c0", "c2"]
    assert bar.title(1) == "Chat 0"


def test_titles_are_shown_letter_by_letter(bar):
    bar.set_title("c0", "<b>R&D</b> & more")
    assert bar.title(0) == "<b>R&D</b> & more"
    assert "<b>" not in plain_tip(bar.title(0))
    assert "&amp;" in plain_tip(bar.title(0))


def test_dots_make_room(bar):
    width = bar.tabRect(1).width()
    bar.set_dot("c1", True)
    assert bar.has_dot("c1")
    assert bar.tabRect(1).width() > width
    bar.set_dot("c1", False)
    assert bar.tabRect(1).width() == width


def test_a_chat_that_asks_shows_another_dot(bar):
    pictures = []
    for asks in (False, True, False):
        bar.set_dot("c1", True, asks=asks)
        pictures.append(bar.grab(bar.tabRect(1)).toImage())
    assert pictures[0] == pictures[2] != pictures[1]


def test_many_tabs_shrink(bar):
    bar.set_room(640)
    for number in range(3, 12):
        bar.add(f"c{number}", "A rather long title for a tab")
    assert bar.tabSizeHint(5).width() == 128
    assert not bar.grab().isNull()


def test_a_narrow_tab_has_its_x_only_in_front_or_under_the_mouse(bar, qtbot):
    bar.set_room(300)
    for number in range(3, 8):
        bar.add(f"c{number}", "A rather long title for a tab")
    place = bar.close_rect(3).center()
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=place)  # as a finger does, which hovers nowhere
    assert (bar.count(), bar.currentIndex()) == (8, 3)
    with qtbot.waitSignal(bar.close_requested):
        qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=place)
    bar.setCurrentIndex(0)
    qtbot.mouseMove(bar, bar.close_rect(4).center())
    with qtbot.waitSignal(bar.close_requested):
        qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.close_rect(4).center())


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_each_title_is_measured_once_for_a_painting(bar, monkeypatch):
    for number in range(40):
        bar.add(f"more{number}", "A chat with a long name")
    bar.resize(640, bar.height())
    measured: list[int] = []
    measure = bar._wanted_width
    monkeypatch.setattr(bar, "_wanted_width", lambda index: measured.append(index) or measure(index))
    bar.repaint()
    assert sorted(measured) == list(range(bar.count()))


def test_the_button_for_a_new_tab_stands_beside_a_short_one(qtbot, icons):
    strip = TabStrip(icons)
    qtbot.addWidget(strip)
    strip.resize(700, 44)
    strip.show()
    strip.bar.add("c", "a")
    qtbot.waitUntil(lambda: 0 < strip.new_button.x() - strip.bar.tabRect(0).right() < 16)


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_tabs_that_are_too_many_are_in_a_list(qtbot, icons):
    strip = TabStrip(icons)
    qtbot.addWidget(strip)
    strip.resize(700, 44)
    strip.show()
    for number in range(3):
        strip.bar.add(f"c{number}", f"Chat {number}")
    assert strip.list_button.isHidden()
    for number in range(3, 14):
        strip.bar.add(f"c{number}", f"The long name & of chat {number}")
    qtbot.waitUntil(strip.list_button.isVisible)
    assert strip.list_button.geometry().right() <= 700
    strip.bar.set_dot("c4", True)
    menu = strip.show_list()
    actions = menu.actions()
    assert len(actions) == 14
    assert actions[13].text() == "The long name && of chat 13"
    assert [not action.icon().isNull() for action in actions[:5]] == [True, False, False, False, True]
    actions[13].trigger()
    assert strip.bar.chat_id(strip.bar.currentIndex()) == "c13"
    menu.close()
    for _ in range(12):
        strip.bar.removeTab(1)
    qtbot.waitUntil(strip.list_button.isHidden)
