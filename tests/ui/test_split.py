"""Two chats side by side: which are shown, and the line between them."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget

from llama_gui.ui.split.divider import Divider
from llama_gui.ui.split.shown_chats import ShownChats
from llama_gui.ui.tabs import TabBar
from tests.mouse import double_click

ONE = ShownChats(("a",), "a")
TWO = ShownChats(("a", "b"), "a")


def test_the_first_chat_is_shown_alone():
    assert ShownChats().choose("a") == ONE
    assert (ONE.beside, TWO.beside, ShownChats().beside) == ("", "b", "")


def test_another_takes_the_place_of_the_one_in_front():
    assert ONE.choose("c") == ShownChats(("c",), "c")
    assert TWO.choose("c") == ShownChats(("c", "b"), "c")
    assert TWO.choose("b").choose("c") == ShownChats(("a", "c"), "c")


def test_of_two_the_one_that_is_chosen_is_in_front_where_it_is():
    assert TWO.choose("b") == ShownChats(("a", "b"), "b")


def test_either_is_left():
    assert TWO.leave("a") == ShownChats(("b",), "b")
    assert TWO.leave("b") == ONE


@pytest.mark.parametrize(
    ("shown", "chat", "first", "then"),
    [
        (ONE, "c", False, ("a", "c")),
        (ONE, "c", True, ("c", "a")),
        (TWO, "c", False, ("a", "c")),
        (TWO, "c", True, ("c", "b")),
        (TWO, "a", False, ("b", "a")),
        (TWO, "a", True, ("a", "b")),
        (TWO, "b", True, ("b", "a")),
    ],
)
def test_a_chat_is_put_on_a_side(shown: ShownChats, chat: str, first: bool, then: tuple[str, ...]):
    assert shown.put(chat, "a", first=first) == ShownChats(then, chat)


def test_the_line_is_dragged_and_clicked_twice(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    divider = Divider(parent)
    divider.setGeometry(97, 0, 7, 50)
    divider.show()
    wanted: list[int] = []
    divider.dragged.connect(wanted.append)
    qtbot.mouseMove(divider, QPoint(5, 5))
    with qtbot.waitSignal(divider.rested):
        qtbot.mousePress(divider, Qt.MouseButton.LeftButton, pos=QPoint(3, 5))
        qtbot.mouseMove(divider, QPoint(23, 5))
        qtbot.mouseRelease(divider, Qt.MouseButton.LeftButton, pos=QPoint(23, 5))
    assert wanted == [120]
    with qtbot.waitSignal(divider.halves_wanted):
        double_click(divider, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(3, 5))
    wanted.clear()
    divider.setFocus()
    middle = divider.geometry().center().x()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left):
        with qtbot.waitSignal(divider.rested):
            qtbot.keyClick(divider, key)
    assert wanted == [middle + 24, middle - 24]
    with qtbot.waitSignal(divider.halves_wanted):
        qtbot.keyClick(divider, Qt.Key.Key_Return)


def test_a_tab_is_dragged_out_of_the_strip_and_back(qtbot, icons):
    bar = TabBar(icons)
    qtbot.addWidget(bar)
    for number in range(2):
        bar.add(f"c{number}", f"Chat {number}")
    bar.show()
    heard: list[str] = []
    bar.carried.connect(lambda _place: heard.append("carried"))
    bar.drag_ended.connect(lambda: heard.append("ended"))
    bar.dropped.connect(lambda chat, former, _place: heard.append(f"{chat} after {former}"))
    start, below = bar.tabRect(1).center(), bar.tabRect(1).center() + QPoint(0, 200)
    qtbot.mousePress(bar, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(bar, below)
    qtbot.mouseMove(bar, start)
    qtbot.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=start)
    assert heard == ["carried", "ended"]
    bar.setCurrentIndex(0)
    qtbot.mousePress(bar, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(bar, below)
    qtbot.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=below)
    assert heard[2:] == ["carried", "ended", "c1 after c0"]
