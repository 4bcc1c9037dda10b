"""The map of branches: what it draws, and how keys and the mouse go to a message."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from llama_gui.chats.shown_path import ShownPath
from llama_gui.chats.tree import Node
from llama_gui.ui.transcript.branch_map import BranchMap

PAIRS = [("u1", None), ("a1", "u1"), ("u2", "a1"), ("a2", "u1"), ("a3", "u2"), ("ub", None), ("a4", "ub")]


def node(node_id: str, parent_id: str | None) -> Node:
    role = "user" if node_id.startswith("u") else "assistant"
    return Node(node_id, "chat", parent_id, role, f"<b>text</b> of\n{node_id}", "complete", 0.0)


@pytest.fixture
def parent(qtbot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(700, 500)
    layout = QVBoxLayout(window)
    layout.addWidget(QLineEdit())
    window.show()
    window.activateWindow()
    window.findChild(QLineEdit).setFocus()
    qtbot.waitUntil(window.findChild(QLineEdit).hasFocus)
    return window


def opened(parent: QWidget, path: ShownPath) -> BranchMap:
    branch_map = BranchMap(path.map_dots(), parent)
    branch_map.open()
    return branch_map


@pytest.fixture
def branch_map(parent) -> BranchMap:
    path = ShownPath([node(*pair) for pair in PAIRS])
    path.show("a3")
    return opened(parent, path)


def test_it_begins_at_the_end_of_what_is_shown(branch_map):
    assert branch_map.canvas.hasFocus()
    assert branch_map.words.text() == "Answer: <b>text</b> of a3"


def test_a_screen_reader_finds_the_message_and_can_go_there(branch_map, qtbot):
    face = QAccessible.queryAccessibleInterface(branch_map.canvas)
    assert face.role() == QAccessible.Role.Button
    assert face.text(QAccessible.Text.Name).endswith("of a3")
    qtbot.keyClick(branch_map.canvas, Qt.Key.Key_Up)
    assert face.text(QAccessible.Text.Name).endswith("of u2")
    with qtbot.waitSignal(branch_map.chosen) as chosen:
        branch_map.canvas.click()
    assert chosen.args == ["u2"]


def test_keys_walk_along_lines_and_across_lanes(branch_map, qtbot):
    canvas = branch_map.canvas
    keys = Qt.Key
    walked = []
    for key in (keys.Key_Up, keys.Key_Up, keys.Key_Right, keys.Key_Right, keys.Key_Right, keys.Key_Up, keys.Key_Up):
        qtbot.keyClick(canvas, key)
        walked.append(branch_map.words.text()[-2:])
    assert walked == ["u2", "a1", "a2", "a4", "a4", "ub", "ub"]
    qtbot.keyClick(canvas, keys.Key_Home)
    for key in (keys.Key_Down, keys.Key_Left, keys.Key_Down, keys.Key_Down, keys.Key_Down):
        qtbot.keyClick(canvas, key)
    assert branch_map.words.text()[-2:] == "a3"
    qtbot.keyClick(canvas, keys.Key_Home)
    qtbot.keyClick(canvas, keys.Key_End)
    assert branch_map.words.text()[-2:] == "a3"


def test_no_arrow_leaves_it(branch_map, qtbot):
    keys = Qt.Key
    for end in (keys.Key_Home, keys.Key_End):
        qtbot.keyClick(branch_map.canvas, end)
        for key in (keys.Key_Up, keys.Key_Down, keys.Key_Left, keys.Key_Right):
            for _ in range(6):
                qtbot.keyClick(branch_map.canvas, key)
                assert branch_map.isVisible()
                assert branch_map.canvas.hasFocus()


def test_enter_goes_there_and_gives_the_keyboard_back(branch_map, parent, qtbot):
    qtbot.keyClick(branch_map.canvas, Qt.Key.Key_Up)
    with qtbot.waitSignal(branch_map.chosen) as chosen:
        qtbot.keyClick(branch_map.canvas, Qt.Key.Key_Return)
    assert chosen.args == ["u2"]
    assert parent.findChild(QLineEdit).hasFocus()


def test_a_click_goes_there_and_the_mouse_tells_what_is_under_it(branch_map, qtbot):
    canvas = branch_map.canvas
    there = next(i for i, dot in enumerate(canvas._dots) if dot.node_id == "a2")
    QTest.mouseMove(canvas, QPoint(1, 1))
    QTest.mouseMove(canvas, canvas.centre(there).toPoint())
    qtbot.waitUntil(lambda: branch_map.words.text().endswith("a2"))
    QTest.mouseMove(canvas, QPoint(1, 1))
    qtbot.waitUntil(lambda: branch_map.words.text().endswith("a3"))
    with qtbot.assertNotEmitted(branch_map.chosen):
        qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(1, 1))
    with qtbot.waitSignal(branch_map.chosen) as chosen:
        qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=canvas.centre(there).toPoint())
    assert chosen.args == ["a2"]


def test_esc_and_a_lost_focus_close_it(parent, qtbot):
    path = ShownPath([node(*pair) for pair in PAIRS])
    field = parent.findChild(QLineEdit)
    first = opened(parent, path)
    qtbot.keyClick(first.canvas, Qt.Key.Key_Escape)
    assert field.hasFocus()
    second = opened(parent, path)
    with qtbot.waitSignal(second.destroyed):
        field.setFocus()


def test_a_long_chat_is_painted_where_it_is_seen(parent):
    nodes = [node(f"u{n}", f"u{n - 1}" if n else None) for n in range(3000)]
    branch_map = opened(parent, ShownPath(nodes))
    assert branch_map.height() < 400
    assert branch_map.words.text().endswith("u2999")
    image = branch_map.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    assert len({image.pixel(x, y) for x in range(0, image.width(), 2) for y in range(60, 200, 2)}) > 3
