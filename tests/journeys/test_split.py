"""Two chats side by side, in the whole window."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QLineEdit

from llama_gui.settings import UserSettings
from tests.fakes.scripted_engine import ScriptedEngine, pieces_of
from tests.journeys.driving import announcements, ask, shown, trigger
from tests.mouse import double_click

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
LONG = pieces_of("and so it goes on " * 400)
PAGES = pieces_of("and so it goes on " * 120)
PATIENCE_MS = 20_000


def titles(window) -> list[str]:
    """The chats that are seen, from the left; the one in front in capitals."""
    seen = sorted(window.deck.panes.seen(), key=lambda tab: tab.x())
    assert [tab.isVisible() for tab in window.deck.tabs()] == [tab in seen for tab in window.deck.tabs()]
    assert [not tab.header.isHidden() for tab in seen] == [len(seen) > 1] * len(seen)
    assert len(seen) < 2 or [tab.header.is_front for tab in seen] == [tab is window.deck.current() for tab in seen]
    return [tab.header.title.upper() if tab is window.deck.current() else tab.header.title for tab in seen]


def open_chats(window, qtbot, *names: str) -> list:
    """Tabs with an answer each; the last one is in front."""
    tabs = []
    for name in names:
        tab = window.deck.current() if not tabs else window.deck.new_tab()
        ask(qtbot, tab, name)
        qtbot.waitUntil(lambda tab=tab: tab.session.is_settled and "Again" in shown(tab), timeout=PATIENCE_MS)
        tabs.append(tab)
    return tabs


@pytest.fixture
def chats(open_window, qtbot):
    """A window with the chats one, two and three, of which two is beside one and in front."""
    window = open_window(ScriptedEngine())
    window.actions_["sidebar"].trigger()
    tabs = open_chats(window, qtbot, "one", "two", "three")
    window.deck.go_to(2)
    window.deck.go_to(1)
    trigger(window, "split_view")
    assert titles(window) == ["one", "TWO"]
    return window, *tabs


def test_both_answers_are_drawn_while_they_stream(open_window, qtbot):
    window = open_window(ScriptedEngine({"left": LONG, "right": LONG}, tokens_per_second=100))
    left = window.deck.current()
    ask(qtbot, left, "left")
    trigger(window, "split_view")  # a new chat: there is no other
    right = window.deck.current()
    assert right is not left
    ask(qtbot, right, "right")
    qtbot.waitUntil(lambda: all(shown(tab).count("and so") > 3 for tab in (left, right)), timeout=PATIENCE_MS)
    grown = [len(shown(tab)) for tab in (left, right)]
    qtbot.waitUntil(
        lambda: all(len(shown(tab)) > former for tab, former in zip((left, right), grown, strict=True)),
        timeout=PATIENCE_MS,
    )
    trigger(window, "chat_beside")
    trigger(window, "stop")
    qtbot.waitUntil(lambda: not left.session.answering)
    assert right.session.answering
    right.session.stop()
    qtbot.waitUntil(lambda: not right.session.answering)
    # The end was seen, though another chat is in front.
    assert not any(window.strip.bar.has_dot(tab.session.chat_id) for tab in (left, right))


def test_keys_and_settings_are_for_the_one_with_the_keyboard(chats, qtbot):
    window, one, two, _three = chats
    assert window.focusWidget() is two.composer.edit
    trigger(window, "chat_beside")
    assert (titles(window), window.focusWidget()) == (["ONE", "two"], one.composer.edit)
    window.panel.settings_edited.emit(window.panel._settings.__class__(system_prompt="Be brief."))
    assert (one.session.settings.system_prompt, two.session.settings.system_prompt) == ("Be brief.", "")
    qtbot.mouseClick(two.transcript.viewport(), Qt.MouseButton.LeftButton)
    assert titles(window) == ["one", "TWO"]
    assert (window.focusWidget(), window.panel.system_prompt.toPlainText()) == (two.transcript, "")
    # A button keeps no keyboard; its chat comes to the front all the same, before it does what it does.
    in_front = []
    one.composer.meter.clicked.disconnect()
    one.composer.meter.clicked.connect(lambda: in_front.append(window.deck.current()))
    qtbot.mouseClick(one.composer.meter, Qt.MouseButton.LeftButton)
    assert (in_front, titles(window)) == ([one], ["ONE", "two"])
    assert window.strip.bar._beside == two.session.chat_id


def test_another_tab_takes_the_place_of_the_one_in_front(chats, qtbot):
    window = chats[0]
    window.deck.go_to(3)
    assert titles(window) == ["one", "THREE"]
    window.deck.go_to(1)
    assert titles(window) == ["ONE", "three"]
    window.deck.go_to(2)
    assert titles(window) == ["TWO", "three"]


def test_one_is_alone_for_a_while(chats, qtbot):
    window, _one, two, _three = chats
    for name, then in (
        ("split_view", ["TWO"]),
        ("split_view", ["one", "TWO"]),
        ("chat_beside", ["ONE", "two"]),
        ("split_view", ["ONE"]),
        ("next_tab", ["TWO"]),
        ("split_view", ["one", "TWO"]),
        ("split_view", ["TWO"]),
        ("tab_3", ["THREE"]),
        ("split_view", ["three", "TWO"]),
    ):
        trigger(window, name)
        assert titles(window) == then
    assert window.focusWidget() is two.composer.edit


def test_either_is_closed_and_its_tab_stays_or_goes(chats, qtbot):
    window, one, two, three = chats
    qtbot.mouseClick(two.header.close_button, Qt.MouseButton.LeftButton)
    assert (titles(window), len(window.deck.tabs())) == (["ONE"], 3)
    assert window.focusWidget() is one.composer.edit
    assert not window.actions_["chat_beside"].isEnabled()
    trigger(window, "split_view")
    assert titles(window) == ["one", "TWO"]
    trigger(window, "close_tab")
    assert (titles(window), len(window.deck.tabs())) == (["ONE"], 2)
    trigger(window, "split_view")
    assert titles(window) == ["one", "THREE"]
    trigger(window, "split_view")
    assert titles(window) == ["THREE"]
    window.deck.show_beside(one.session.chat_id)
    window.keeping.delete(three.session.chat_id)
    assert titles(window) == ["ONE"]


def test_scroll_place_selection_and_draft_stay(open_window, qtbot):
    window = open_window(ScriptedEngine({"long": PAGES}))
    one = open_chats(window, qtbot, "long", "two")[0]
    window.deck.go_to(1)
    one.transcript.verticalScrollBar().setValue(200)
    read = one.transcript.scroll_place()
    cursor = one.transcript.cursorForPosition(QPoint(5, 40))
    cursor.movePosition(QTextCursor.MoveOperation.NextWord, QTextCursor.MoveMode.KeepAnchor, 4)
    one.transcript.setTextCursor(cursor)
    selected, first_line = cursor.selectedText(), one.transcript.top_position()
    one.composer.set_text("a draft")
    for name in ("split_view", "chat_beside", "split_view", "next_tab", "split_view", "chat_beside", "split_view"):
        trigger(window, name)
        qtbot.wait(1)
    assert titles(window) == ["LONG"]
    assert one.transcript.textCursor().selectedText() == selected
    assert one.composer.text() == "a draft"
    assert one.transcript.scroll_place() == pytest.approx(read, abs=0.02)
    assert abs(one.transcript.top_position() - first_line) < 120  # within a line or two


def test_a_narrow_window_has_one_until_it_is_wide_again(chats, qtbot):
    window = chats[0]
    window.resize(640, 600)
    qtbot.waitUntil(lambda: titles(window) == ["TWO"])
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: titles(window) == ["one", "TWO"])
    trigger(window, "split_view")
    window.resize(640, 600)
    qtbot.waitUntil(lambda: window.width() == 640)
    for _ in range(2):
        trigger(window, "split_view")
        assert titles(window) == ["TWO"]
        assert "no room for two" in window.status.state.text()
    trigger(window, "chat_beside")
    assert titles(window) == ["ONE"]
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: titles(window) == ["ONE", "two"])


@pytest.mark.parametrize(
    ("width", "seen", "left"),
    [(1100, ["two", "ONE"], ["sidebar"]), (905, ["two", "ONE"], []), (640, ["TWO"], ["sidebar", "panel"])],
)
def test_the_sides_make_room_for_two_where_that_helps(open_window, qtbot, width, seen, left):
    window = open_window(ScriptedEngine())
    open_chats(window, qtbot, "one", "two")
    window.resize(width, 700)
    qtbot.waitUntil(lambda: window.width() == width)
    sides = {"sidebar": window.sidebar, "panel": window.panel}
    for side in sides.values():
        side.show()
    trigger(window, "split_view")
    assert titles(window) == seen
    assert [name for name, side in sides.items() if not side.isHidden()] == left


def test_what_made_room_for_two_comes_back_and_is_not_remembered(open_window, qtbot):
    window = open_window(ScriptedEngine())
    open_chats(window, qtbot, "one", "two")
    window.resize(1100, 700)
    qtbot.waitUntil(lambda: window.width() == 1100)
    trigger(window, "split_view")
    assert window.panel.isHidden()
    assert window._kept.now().settings_panel_open
    trigger(window, "split_view")
    assert not window.panel.isHidden()
    trigger(window, "split_view")
    window.deck.close_current()
    assert not window.panel.isHidden()
    trigger(window, "settings_panel")
    trigger(window, "split_view")
    trigger(window, "split_view")
    assert window.panel.isHidden(), "the user has folded it away"


def test_two_chats_are_found_again_where_the_sides_have_made_room(open_window, qtbot):
    settings = UserSettings(panel_width=480)
    window = open_window(ScriptedEngine(), settings=settings)
    open_chats(window, qtbot, "one", "two")
    trigger(window, "split_view")
    assert titles(window) == ["two", "ONE"]
    assert window.panel.isHidden()
    window.close()
    again = open_window(ScriptedEngine(), settings=window.kept_settings[-1])
    qtbot.waitUntil(lambda: titles(again) == ["two", "ONE"])
    trigger(again, "split_view")
    assert not again.panel.isHidden()


def test_no_chat_is_begun_that_could_not_be_seen(open_window, qtbot):
    window = open_window(ScriptedEngine())
    open_chats(window, qtbot, "one")
    window.resize(640, 600)
    qtbot.waitUntil(lambda: window.width() == 640)
    trigger(window, "split_view")
    assert titles(window) == ["ONE"]
    assert len(window.deck.tabs()) == 1
    assert "no room for two" in window.status.state.text()
    assert window.status._over.interval() == 4_000


def test_the_line_between_them_is_moved_and_both_are_found_again(chats, open_window, qtbot):
    window, one, _two, _three = chats
    divider, width = window.deck.panes._divider, one.width()
    qtbot.mousePress(divider, Qt.MouseButton.LeftButton, pos=divider.rect().center())
    qtbot.mouseMove(divider, divider.rect().center() + QPoint(60, 0))
    qtbot.mouseRelease(divider, Qt.MouseButton.LeftButton)
    assert one.width() == pytest.approx(width + 60, abs=2)
    trigger(window, "chat_beside")
    window.close()
    kept = window.kept_settings[-1]
    again = open_window(ScriptedEngine(), settings=kept)
    qtbot.waitUntil(lambda: titles(again) == ["ONE", "two"])
    assert again.deck.panes.seen()[0].width() / again.deck.panes.width() == pytest.approx(kept.split_share, abs=0.01)
    double_click(again.deck.panes._divider)
    assert again.kept_settings[-1].split_share == 0.5
    again.close()
    gone = open_window(ScriptedEngine(), settings=UserSettings(split_chats=("gone", "too")))
    qtbot.waitUntil(lambda: titles(gone) == ["ONE"])


def test_a_tab_is_dragged_to_a_half(chats, qtbot):
    window = chats[0]
    panes, bar = window.deck.panes, window.strip.bar

    def drop(number: int, part: float) -> None:
        start = bar.tabRect(number).center()
        end = bar.mapFromGlobal(panes.mapToGlobal(QPoint(round(part * panes.width()), 300)))
        qtbot.mousePress(bar, Qt.MouseButton.LeftButton, pos=start)
        qtbot.mouseMove(bar, end)
        assert panes._hint.isVisible()
        qtbot.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=end)
        assert not panes._hint.isVisible()

    drop(2, 0.2)
    assert titles(window) == ["THREE", "two"]
    drop(1, 0.2)
    assert titles(window) == ["TWO", "three"]
    trigger(window, "split_view")
    drop(0, 0.8)
    assert titles(window) == ["two", "ONE"]


def test_what_had_the_keyboard_and_hides_leaves_it_in_its_chat(open_window, qtbot):
    window = open_window(ScriptedEngine({"long": PAGES}))
    one, _two = open_chats(window, qtbot, "long", "two")
    window.deck.show_beside(one.session.chat_id)
    one.transcript.verticalScrollBar().setValue(0)
    qtbot.waitUntil(one.jump_button.isVisible)
    one.jump_button.setFocus()
    qtbot.keyClick(one.jump_button, Qt.Key.Key_Space)
    qtbot.waitUntil(one.jump_button.isHidden)
    assert (window.deck.current(), window.focusWidget()) == (one, one.composer.edit)


def test_a_tab_has_a_menu(chats, qtbot):
    window, _one, two, three = chats
    rest = ["Rename", "", "Close tab", "Close the other tabs", "Reopen closed tab"]
    for tab, entries in ((three, ["Show beside", *rest]), (two, ["Show alone", *rest])):
        menu = window._split.show_menu(tab.session.chat_id, window.mapToGlobal(QPoint(200, 30)))
        assert [action.text() for action in menu.actions()] == entries
        menu.actions()[0].trigger()
        menu.close()
    assert titles(window) == ["TWO"]


def test_the_menu_of_a_tab_names_its_chat_and_closes_the_others(chats, qtbot):
    window, one, _two, _three = chats
    chat_id = one.session.chat_id
    menu = window._split.show_menu(chat_id, window.mapToGlobal(QPoint(200, 30)))
    next(action for action in menu.actions() if action.text() == "Rename").trigger()
    menu.close()
    field = window.sidebar.view.findChild(QLineEdit)
    qtbot.keyClicks(field, "Oslo")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: one.session.title == "Oslo")
    trigger(window, "split_view")
    window.deck.go_to(3)
    menu = window._split.show_menu(chat_id, window.mapToGlobal(QPoint(200, 30)))
    fronts = []
    window.deck.current_changed.connect(fronts.append)
    close_others, reopen = menu.actions()[-2:]
    assert not reopen.isEnabled()
    close_others.trigger()
    menu.close()
    assert [tab.session.chat_id for tab in window.deck.tabs()] == [chat_id]
    assert set(fronts) == {one}, "none of the others comes to the front on its way out"
    menu = window._split.show_menu(chat_id, window.mapToGlobal(QPoint(200, 30)))
    menu.actions()[-1].trigger()
    menu.close()
    assert len(window.deck.tabs()) == 2


def test_what_is_announced_names_its_chat(chats, qtbot, monkeypatch):
    window, one, two, _three = chats
    heard = announcements(monkeypatch)
    trigger(window, "chat_beside")
    assert heard == ["one"]
    one.session.regenerate()
    two.session.regenerate()
    qtbot.waitUntil(lambda: len(heard) == 3, timeout=PATIENCE_MS)
    assert sorted(heard) == ["The answer is finished.", "one", "two: The answer is finished."]


def test_a_mirrored_window_begins_on_the_right(qapp, open_window, qtbot):
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    try:
        window = open_window(ScriptedEngine())
        one, two = open_chats(window, qtbot, "one", "two")
        window.deck.go_to(1)
        trigger(window, "split_view")
        assert titles(window) == ["TWO", "one"]
        panes, width = window.deck.panes, one.width()
        qtbot.mousePress(panes._divider, Qt.MouseButton.LeftButton)
        qtbot.mouseMove(panes._divider, panes._divider.rect().center() - QPoint(30, 0))
        qtbot.mouseRelease(panes._divider, Qt.MouseButton.LeftButton)
        assert one.width() == pytest.approx(width + 30, abs=2)
        assert (one.x(), two.x()) == (two.width() + 1, 0)
        assert panes.is_first_half(panes.mapToGlobal(QPoint(panes.width() - 20, 50)))
    finally:
        qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
