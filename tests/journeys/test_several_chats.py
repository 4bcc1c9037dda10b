"""Several chats of the side bar at once: chosen by Ctrl and Shift, moved, put away, dragged into groups, and undone."""

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QDrag, QDragMoveEvent, QDropEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QMenu, QStyle

from llama_gui.bridge.item_models import ChatRole
from llama_gui.chats.tree import Node
from llama_gui.ui import chat_dragging
from tests.fakes.scripted_engine import ScriptedEngine
from tests.journeys.driving import name_it

NAMES = ("Oslo", "Rome", "Bern", "Cork")


@pytest.fixture
def window(open_window, qtbot):
    """Four chats of today, the last one on top, below an empty one in its tab."""
    window = open_window(ScriptedEngine({}))

    def fill(store):
        for number, name in enumerate(NAMES):
            store.rename_chat(name, name)
            store.save_node(Node(f"u{name}", name, None, "user", "hello", "complete", 1_700_000_000 + number))

    window._book._store.run(fill, lambda _: window._book.refresh())
    qtbot.waitUntil(lambda: len(window._book.summaries()) == len(NAMES))
    return window


def click(window, qtbot, name, keys=Qt.KeyboardModifier.NoModifier):
    view = window.sidebar.view
    place = view.visualRect(window.chats.index_of(name)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, keys, place)


def choose(window, qtbot, *names):
    for name in names:
        click(window, qtbot, name, Qt.KeyboardModifier.ControlModifier)
    assert set(window.sidebar.view.chosen()) == set(names)


def groups(window) -> dict[str, set[str]]:
    """The chats below each heading."""
    found: dict[str, set[str]] = {}
    for row in range(window.chats.rowCount()):
        index = window.chats.index(row)
        members = found.setdefault(index.data(ChatRole.GROUP), set())
        if not index.data(ChatRole.HEADING):
            members.add(index.data(ChatRole.CHAT_ID))
    return found


def entry(menu: QMenu, text: str):
    return next(action for action in menu.actions() if action.text().partition("\t")[0] == text)


@pytest.fixture
def pop_up(window, monkeypatch):
    """Opens the menu of a chat with a right click."""
    menus: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, place: menus.append(menu))  # offscreen, nothing can pop up

    def right_click(name: str) -> QMenu:
        viewport = window.sidebar.view.viewport()
        place = window.sidebar.view.visualRect(window.chats.index_of(name)).center()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, viewport.mapToGlobal(place))
        QApplication.sendEvent(viewport, event)
        return menus[-1]

    return right_click


def undo(window):
    window.sidebar.bar.accepted.emit()


def drop(window, qtbot, dragged, target):
    """Hold chats over a row and let them fall, as a mouse does between two windows of the system."""
    view = window.sidebar.view
    data, none = chat_dragging.packed(dragged), Qt.KeyboardModifier.NoModifier
    place = view.visualRect(target).center()
    event = QDragMoveEvent(place, Qt.DropAction.MoveAction, data, Qt.MouseButton.LeftButton, none)
    view.dragMoveEvent(event)
    assert event.isAccepted()
    drop = QDropEvent(QPointF(place), Qt.DropAction.MoveAction, data, Qt.MouseButton.LeftButton, none)
    view.dropEvent(drop)


def test_ctrl_chooses_chats_without_opening_them_and_a_plain_click_opens_again(window, qtbot):
    front = window.deck.current()
    choose(window, qtbot, "Oslo", "Bern")
    assert window.deck.current() is front
    click(window, qtbot, "Oslo", Qt.KeyboardModifier.ControlModifier)
    assert window.sidebar.view.chosen() == ["Bern"]
    click(window, qtbot, "Rome")
    assert window.deck.current().session.chat_id == "Rome"
    assert window.sidebar.view.chosen() == ["Rome"]


def test_shift_chooses_what_lies_between_but_no_heading(window, qtbot):
    window._book.shelving.move("Rome", "Trips")
    window._book.shelving.move("Oslo", "Walks")
    qtbot.waitUntil(lambda: {"folder:Trips", "folder:Walks"} <= set(groups(window)))
    click(window, qtbot, "Rome")
    click(window, qtbot, "Oslo", Qt.KeyboardModifier.ShiftModifier)
    view = window.sidebar.view
    assert view.chosen() == ["Rome", "Oslo"]
    assert not any(index.data(ChatRole.HEADING) for index in view.selectedIndexes())
    assert window.deck.current().session.chat_id == "Rome"


def test_what_is_chosen_stays_so_when_the_list_is_read_again_and_esc_ends_it(window, qtbot):
    choose(window, qtbot, "Oslo", "Bern")
    window._book.shelving.rename("Rome", "Naples")
    qtbot.waitUntil(lambda: window.chats.index_of("Rome").data() == "Naples")
    assert set(window.sidebar.view.chosen()) == {"Oslo", "Bern"}
    window._book.shelving.pin("Cork", True)  # the rows are others
    qtbot.waitUntil(lambda: groups(window).get("pinned") == {"Cork"})
    assert set(window.sidebar.view.chosen()) == {"Oslo", "Bern"}
    assert QApplication.focusWidget() is window.sidebar.view
    qtbot.keyClick(window.sidebar.view, Qt.Key.Key_Escape)
    assert window.sidebar.view.chosen() == []  # the chat in front is in no list yet


def test_the_keys_delete_all_that_are_chosen_and_undo_brings_them_back(window, qtbot):
    choose(window, qtbot, "Oslo", "Bern", "Cork")
    qtbot.keyClick(window.sidebar.view, Qt.Key.Key_Delete, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: [chat.id for chat in window._book.summaries()] == ["Rome"])
    assert "3 chats are in the bin" in window.sidebar.bar.text()
    undo(window)
    qtbot.waitUntil(lambda: len(window._book.summaries()) == len(NAMES))


def add_chat(window, qtbot):
    """Another chat comes into the list, as one that somebody else writes into the store."""

    def fill(store):
        store.rename_chat("Nice", "Nice")
        store.save_node(Node("uNice", "Nice", None, "user", "hello", "complete", 1_700_000_100))

    window._book._store.run(fill, lambda _: window._book.refresh())
    qtbot.waitUntil(lambda: window.chats.index_of("Nice").isValid())


@pytest.mark.parametrize("left", ["Oslo", ""])
@pytest.mark.parametrize("renewed", [False, True])
def test_the_keys_delete_no_chat_that_is_chosen_no_longer(window, qtbot, left, renewed):
    choose(window, qtbot, *filter(None, (left, "Rome")))
    view = window.sidebar.view
    click(window, qtbot, "Rome", Qt.KeyboardModifier.ControlModifier)
    if renewed:
        add_chat(window, qtbot)
    assert view.chosen() == ([left] if left else [])
    assert (view.current_chat(), QApplication.focusWidget()) == ("Rome", view)
    wanted: list[list[str]] = []
    view.delete_wanted.connect(wanted.append)
    qtbot.keyClick(view, Qt.Key.Key_Delete, Qt.KeyboardModifier.ControlModifier)
    assert wanted == ([[left]] if left else [])


def test_a_menu_on_chosen_chats_is_for_all_and_one_beside_them_for_its_own(window, qtbot, pop_up):
    choose(window, qtbot, "Oslo", "Bern")
    menu = pop_up("Bern")
    texts = [action.text() for action in menu.actions() if action.text()]
    assert texts == ["Pin these chats", "Move to folder", "Export…", "Archive these chats", "Delete these chats"]
    entry(menu, "Archive these chats").trigger()
    qtbot.waitUntil(lambda: {chat.id for chat in window._book.archived()} == {"Oslo", "Bern"})
    undo(window)
    qtbot.waitUntil(lambda: not window._book.archived())
    assert entry(pop_up("Rome"), "Rename")


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_chosen_chats_go_into_a_new_folder_and_into_one_file(window, qtbot, pop_up):
    choose(window, qtbot, "Oslo", "Rome")
    menu = pop_up("Oslo")
    with qtbot.waitSignal(window.keeping.export_wanted) as wanted:
        window.keeping.export_wanted.disconnect(window.exchange.ask_where_to)
        entry(menu, "Export…").trigger()
    assert set(wanted.args[0]) == {"Oslo", "Rome"}
    entry(entry(menu, "Move to folder").menu(), "New folder…").trigger()
    name_it(qtbot, "Trips")
    qtbot.waitUntil(lambda: groups(window).get("folder:Trips") == {"Oslo", "Rome"})
    undo(window)
    qtbot.waitUntil(lambda: "folder:Trips" not in groups(window))


def test_chats_fall_into_the_group_that_they_are_dropped_on(window, qtbot):
    window._book.shelving.move("Rome", "Trips")
    window._book.shelving.pin("Cork", True)
    qtbot.waitUntil(lambda: {"folder:Trips", "pinned"} <= set(groups(window)))
    before = groups(window)
    drop(window, qtbot, ["Cork", "Bern"], window.chats.index_of("Rome"))
    qtbot.waitUntil(lambda: groups(window).get("folder:Trips") == {"Rome", "Cork", "Bern"})
    assert "pinned" not in groups(window)
    assert window.sidebar.bar.text() == "2 chats are in “Trips”."
    undo(window)
    qtbot.waitUntil(lambda: groups(window) == before)
    drop(window, qtbot, ["Rome"], window.chats.index_of("Oslo"))
    qtbot.waitUntil(lambda: "folder:Trips" not in groups(window))
    assert window.sidebar.bar.text() == "“Rome” was moved."
    undo(window)
    qtbot.waitUntil(lambda: groups(window) == before)
    drop(window, qtbot, ["Oslo"], window.chats.index_of("Rome"))
    qtbot.waitUntil(lambda: groups(window).get("folder:Trips") == {"Rome", "Oslo"})
    assert window.sidebar.bar.text() == "“Oslo” is in “Trips”."
    undo(window)
    qtbot.waitUntil(lambda: groups(window) == before)
    drop(window, qtbot, ["Rome"], window.chats.index_of("Cork"))
    qtbot.waitUntil(lambda: groups(window)["pinned"] == {"Rome", "Cork"})
    window._book.shelving.archive("Bern", True)
    qtbot.waitUntil(lambda: "archive" in groups(window))
    drop(window, qtbot, ["Rome", "Oslo"], window.chats.index(window.chats.rowCount() - 1))
    qtbot.waitUntil(lambda: len(window._book.archived()) == 3)
    assert window.sidebar.bar.text() == "2 chats are in the archive."


def test_what_is_dragged_are_the_chosen_chats_and_nothing_else_is_taken(window, qtbot, monkeypatch):
    carried = []
    none = Qt.KeyboardModifier.NoModifier

    def let_fall(drag, *_actions):
        data = drag.mimeData()
        event = QDropEvent(QPointF(), Qt.DropAction.MoveAction, data, Qt.MouseButton.LeftButton, none)
        carried.extend(chat_dragging.chats_in(event))

    monkeypatch.setattr(QDrag, "exec", let_fall)
    choose(window, qtbot, "Oslo", "Bern")
    window.sidebar.view.startDrag(Qt.DropAction.MoveAction)
    assert set(carried) == {"Oslo", "Bern"}
    view = window.sidebar.view
    place = view.visualRect(window.chats.index_of("Rome")).center()
    foreign = QMimeData()
    foreign.setText("Oslo")
    event = QDragMoveEvent(place, Qt.DropAction.MoveAction, foreign, Qt.MouseButton.LeftButton, none)
    view.dragMoveEvent(event)
    assert not event.isAccepted()


def test_chosen_chats_are_pinned_together_and_undo_unpins_those_that_were_not(window, qtbot):
    window._book.shelving.pin("Rome", True)
    qtbot.waitUntil(lambda: groups(window).get("pinned") == {"Rome"})
    chats = [chat for chat in window._book.summaries() if chat.id in ("Rome", "Bern")]
    entry(window.keeping.menu_for_all(chats), "Pin these chats").trigger()
    qtbot.waitUntil(lambda: groups(window).get("pinned") == {"Rome", "Bern"})
    window.sidebar.bar.accepted.emit()
    qtbot.waitUntil(lambda: groups(window).get("pinned") == {"Rome"})
    chats = [chat for chat in window._book.summaries() if chat.pinned]
    entry(window.keeping.menu_for_all(chats), "Unpin these chats").trigger()
    qtbot.waitUntil(lambda: "pinned" not in groups(window))


def test_no_row_is_lit_below_chats_that_are_dragged(window, qtbot, monkeypatch):
    view = window.sidebar.view
    lit = []
    paint = view.itemDelegate().paint

    def look(painter, option, index):
        if option.state & QStyle.StateFlag.State_MouseOver:
            lit.append(index.data())
        paint(painter, option, index)

    monkeypatch.setattr(view.itemDelegate(), "paint", look)
    none, data = Qt.KeyboardModifier.NoModifier, chat_dragging.packed(["Oslo"])
    place = view.visualRect(window.chats.index_of("Rome")).center()
    view.dragMoveEvent(QDragMoveEvent(place, Qt.DropAction.MoveAction, data, Qt.MouseButton.LeftButton, none))
    view.viewport().grab()
    assert not lit


@pytest.mark.parametrize("heading", ["today", "folder:Trips", "nothing"])
def test_only_chats_can_be_dragged_and_no_row_is_chosen_by_a_mouse_that_is_held_elsewhere(
    window, qtbot, monkeypatch, heading
):
    dragged = []
    window._book.shelving.move("Rome", "Trips")
    qtbot.waitUntil(lambda: "folder:Trips" in groups(window))
    view = window.sidebar.view
    monkeypatch.setattr(type(view), "startDrag", lambda view, _actions: dragged.append(view.chosen()))
    click(window, qtbot, "Oslo")
    rows = [window.chats.index(row) for row in range(window.chats.rowCount())]
    places = {row.data(ChatRole.GROUP): view.visualRect(row).center() for row in rows if row.data(ChatRole.HEADING)}
    start = places.get(heading, view.viewport().rect().bottomLeft() + QPoint(9, -9))
    hold_and_move(view, start, dragged)
    assert not dragged
    assert not view.has_several()
    hold_and_move(view, view.visualRect(window.chats.index_of("Bern")).center(), dragged)
    assert dragged == [["Bern"]]


def hold_and_move(view, start, dragged):
    """Press, move up until something is dragged, and let go."""
    left = Qt.MouseButton.LeftButton
    send_mouse(view, QEvent.Type.MouseButtonPress, start, left)
    for step in range(1, 6):
        if not dragged:
            send_mouse(view, QEvent.Type.MouseMove, start - QPoint(0, 9 * step), left)
    send_mouse(view, QEvent.Type.MouseButtonRelease, start - QPoint(0, 45), Qt.MouseButton.NoButton)


def send_mouse(view, kind, place, held):
    button = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else Qt.MouseButton.LeftButton
    where = QPointF(view.viewport().mapToGlobal(place))
    event = QMouseEvent(kind, QPointF(place), where, button, held, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(view.viewport(), event)
