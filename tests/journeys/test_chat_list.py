"""The side bar, used by mouse and keys: name, pin, fold, put away, throw away, have back, search, export, import."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QMessageBox, QToolButton

from llama_gui.bridge.item_models import ChatRole
from llama_gui.chats.attachments import Draft
from llama_gui.chats.search import SearchHit
from llama_gui.ui.bin_dialog import BinDialog
from llama_gui.ui.chat_delegates import more_room
from llama_gui.ui.theme import theme_of
from tests.chats.importers.test_jan import VERSIONS
from tests.chats.importers.test_jan import write as write_thread
from tests.fakes.scripted_engine import ScriptedEngine
from tests.journeys.driving import ask, name_it, shown, trigger

SCRIPT = {text: ["The tram ", "climbs the ", "hill."] for text in ("first", "second")}


@pytest.fixture
def window(open_window, qtbot):
    """Two chats, each in its tab; the second in front."""
    window = open_window(ScriptedEngine(SCRIPT))
    for text in ("first", "second"):
        if text == "second":
            trigger(window, "new_tab")
        tab = window.deck.current()
        ask(qtbot, tab, text)
        qtbot.waitUntil(lambda tab=tab: tab.session.is_settled and len(tab.session.path()) == 2)
    qtbot.waitUntil(lambda: len(window._book.summaries()) == 2)
    return window


def titles(window) -> list[str]:
    model = window.chats
    return [model.index(row).data() for row in range(model.rowCount())]


def entry(menu, text):
    return next(action for action in menu.actions() if action.text().partition("\t")[0] == text)


def menu_of(window, title):
    chat = next(chat for chat in window._book.summaries() if chat.title == title)
    return window.keeping.chat_menu(chat)


def test_the_menu_of_a_chat_calls_its_keys_as_the_list_of_keys_does(window):
    keys = dict(action.text().split("\t") for action in menu_of(window, "first").actions() if "\t" in action.text())
    assert keys == {"Open": "Enter", "Rename": "F2", "Delete": "Ctrl+Del"}


def test_a_name_is_given_in_the_row(window, qtbot):
    view = window.sidebar.view
    view.setCurrentIndex(window.chats.index(2))
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_F2)
    field = view.findChild(QLineEdit)
    field.selectAll()
    qtbot.keyClicks(field, "Lisbon in spring")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "Lisbon in spring" in titles(window))
    assert window.strip.bar.tabText(0) == "Lisbon in spring"


@pytest.mark.parametrize("row", [1, 2])
def test_who_clicks_a_chat_goes_on_writing_in_it_whichever_was_in_front(window, qtbot, row):
    view, index = window.sidebar.view, window.chats.index(row)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(index).center())
    tab = window.deck.current()
    assert tab.session.title == index.data()
    assert window.focusWidget() is tab.composer.edit


def test_f2_names_the_chat_in_front_from_anywhere_and_in_the_list_that_of_the_row(window, qtbot):
    window.keeping.toggle_pin(window.deck.current().session.chat_id)
    qtbot.waitUntil(lambda: titles(window)[0] == "Pinned")
    window.chats.fold("pinned", True)
    trigger(window, "sidebar")
    view, composer = window.sidebar.view, window.deck.current().composer.edit
    composer.setFocus()
    qtbot.keyClick(composer, Qt.Key.Key_F2)
    qtbot.keyClicks(QApplication.focusWidget(), "Oslo")
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: titles(window) == ["Pinned", "Oslo", "Today", "first"])
    view.setCurrentIndex(window.chats.index(3))
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_F2)
    qtbot.keyClicks(QApplication.focusWidget(), "Rome")
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: titles(window) == ["Pinned", "Oslo", "Today", "Rome"])


@pytest.mark.parametrize(("begin", "length"), [(4, 0), (1, 2), (3, -2)])
def test_a_name_is_typed_on_while_the_list_changes(window, qtbot, begin, length):
    view, (newest, oldest) = window.sidebar.view, window._book.summaries()
    view.rename(oldest.id)
    field = view.indexWidget(view.currentIndex())
    qtbot.keyClicks(field, "Rome")
    field.setSelection(begin, length) if length else field.setCursorPosition(begin)
    cursor, marked = field.cursorPosition(), field.selectedText()
    window.keeping.toggle_pin(newest.id)
    qtbot.waitUntil(lambda: titles(window)[0] == "Pinned")
    field = QApplication.focusWidget()
    assert (field.text(), field.cursorPosition(), field.selectedText()) == ("Rome", cursor, marked)
    field.deselect()
    field.end(False)
    qtbot.keyClicks(field, " in May")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "Rome in May" in titles(window))


def test_f2_does_nothing_in_a_chat_in_which_nothing_was_said(window, qtbot):
    trigger(window, "sidebar")
    tab = window.deck.new_tab()
    qtbot.keyClick(tab.composer.edit, Qt.Key.Key_F2)
    assert window.sidebar.isHidden()
    assert QApplication.focusWidget() is tab.composer.edit


def test_a_name_that_is_being_typed_is_not_begun_again(window, qtbot):
    """Qt complains of a second editor; the whole test fails by that."""
    window.sidebar.view.rename(window._book.summaries()[0].id)
    field = window.sidebar.view.findChild(QLineEdit)
    qtbot.keyClicks(field, "Oslo")
    qtbot.keyClick(field, Qt.Key.Key_F2)
    assert field.text() == "Oslo"
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "Oslo" in titles(window))


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_after_a_name_the_keyboard_is_where_it_was(window, qtbot, key):
    """What is typed next would choose a chat by its first letter, and a space would open it."""
    composer = window.deck.current().composer.edit
    view = window.sidebar.view
    for before in (composer, view):
        before.setFocus()
        trigger(window, "rename_chat")
        qtbot.keyClicks(QApplication.focusWidget(), "Oslo")
        qtbot.keyClick(QApplication.focusWidget(), key)
        qtbot.waitUntil(lambda: view.state() != view.State.EditingState)
        qtbot.wait(50)
        assert QApplication.focusWidget() is before


def test_a_click_elsewhere_ends_a_name_and_takes_the_keyboard(window, qtbot):
    composer = window.deck.current().composer.edit
    trigger(window, "rename_chat")
    qtbot.keyClicks(QApplication.focusWidget(), "Oslo")
    composer.setFocus(Qt.FocusReason.MouseFocusReason)
    qtbot.waitUntil(lambda: "Oslo" in titles(window))
    assert QApplication.focusWidget() is composer


def test_pin_folder_and_archive_by_the_menu(window, qtbot):
    entry(menu_of(window, "first"), "Pin").trigger()
    qtbot.waitUntil(lambda: titles(window) == ["Pinned", "first", "Today", "second"])
    window._book.shelving.move(window.chats.chat_at(window.chats.index(3)).id, "Home")
    qtbot.waitUntil(lambda: titles(window) == ["Pinned", "first", "Home", "second"])
    folders = entry(menu_of(window, "first"), "Move to folder").menu()
    assert [action.text() for action in folders.actions() if action.text()] == ["Home", "New folder…"]
    view = window.sidebar.view
    view.setCurrentIndex(window.chats.index(2))
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert titles(window) == ["Pinned", "first", "Home"]
    assert window.kept_settings[-1].folded_groups == ("archive", "folder:Home")
    qtbot.keyClick(view, Qt.Key.Key_Right)
    entry(menu_of(window, "second"), "Archive").trigger()
    qtbot.waitUntil(lambda: titles(window) == ["Pinned", "first", "Archive"])
    window.sidebar.bar._action.click()
    qtbot.waitUntil(lambda: titles(window) == ["Pinned", "first", "Home", "second"])


def right_click(window, qtbot, title: str) -> None:
    view = window.sidebar.view
    index = window.chats.index(titles(window).index(title))
    place = view.visualRect(index).center()
    view.setFocus()
    qtbot.mousePress(view.viewport(), Qt.MouseButton.RightButton, pos=place)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, view.viewport().mapToGlobal(place))
    QApplication.sendEvent(view.viewport(), event)
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.RightButton, pos=place)


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_the_sign_at_the_end_of_a_row_opens_its_menu_and_nothing_else(window, qtbot, monkeypatch, direction):
    menus: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, place: menus.append(menu))  # offscreen, nothing can pop up
    view, tab = window.sidebar.view, window.deck.current()
    view.setLayoutDirection(direction)
    tab.focus_composer()

    def click_sign_of(title: str) -> None:
        row = view.visualRect(window.chats.index(titles(window).index(title)))
        x = row.left() + 14 if view.isRightToLeft() else row.right() - 14
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, row.center().y()))

    click_sign_of("Today")
    assert [action.text() for action in menus[-1].actions()] == ["Archive these chats", "Delete these chats"]
    menus[-1].aboutToHide.emit()
    click_sign_of("first")
    assert "Rename" in [action.text().partition("\t")[0] for action in menus[-1].actions()]
    menus[-1].aboutToHide.emit()
    assert window.deck.current() is tab
    assert window.focusWidget() is tab.composer.edit
    window._book.shelving.move(window.chats.chat_at(window.chats.index(1)).id, "Home")
    qtbot.waitUntil(lambda: "Home" in titles(window))
    before = titles(window)
    click_sign_of("Home")
    assert "Rename folder…" in [action.text() for action in menus[-1].actions()]
    assert titles(window) == before  # it is not folded


def test_the_sign_is_painted_where_the_mouse_is(window, qtbot):
    view, row = window.sidebar.view, window.sidebar.view.visualRect(window.chats.index(1))
    sign = more_room(row, view).adjusted(2, 8, -6, -8)  # without the round corners of the row

    def ink() -> int:
        picture = view.viewport().grab(sign).toImage()
        ground = picture.pixelColor(0, 0)
        return sum(picture.pixelColor(x, y) != ground for x in range(sign.width()) for y in range(sign.height()))

    assert ink() == 0
    qtbot.mouseMove(view.viewport(), row.center())
    qtbot.waitUntil(lambda: ink() > 5)


def test_the_open_chat_stays_marked_whatever_is_done_by_menus(window, qtbot, monkeypatch):
    menus: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, place: menus.append(menu))  # offscreen, nothing can pop up
    view = window.sidebar.view
    assert view.currentIndex().data() == "second"
    heading = view.visualRect(window.chats.index(0)).center()
    for place in (heading, view.viewport().rect().bottomRight()):
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert view.selectionModel().selectedIndexes() == [view.currentIndex()]
    right_click(window, qtbot, "first")
    assert view.currentIndex().data() == "first"  # whose menu it is
    menus[-1].aboutToHide.emit()
    assert view.currentIndex().data() == "second"
    trigger(window, "new_tab")
    assert not view.selectionModel().hasSelection()
    right_click(window, qtbot, "first")
    menus[-1].aboutToHide.emit()
    assert not view.selectionModel().hasSelection()
    trigger(window, "close_tab")
    for title in ("first", "second"):
        for done in ("Pin", "Unpin"):
            right_click(window, qtbot, title)
            before = titles(window)
            menus[-1].aboutToHide.emit()
            entry(menus[-1], done).trigger()
            qtbot.waitUntil(lambda before=before: titles(window) != before)
            assert view.selectionModel().selectedIndexes() == [view.currentIndex()]
            assert view.currentIndex().data() == "second"


def test_a_folder_is_given_another_name(window, qtbot):
    window._book.shelving.move(window.deck.current().session.chat_id, "Home")
    qtbot.waitUntil(lambda: titles(window)[0] == "Home")
    entry(window.keeping._folder_menu("Home"), "Rename folder…").trigger()
    name_it(qtbot, "Travel")
    qtbot.waitUntil(lambda: titles(window)[0] == "Travel")


def test_a_chat_is_begun_in_a_folder(window, qtbot):
    window._book.shelving.move(window.deck.current().session.chat_id, "Home")
    qtbot.waitUntil(lambda: titles(window)[0] == "Home")
    entry(window.keeping._folder_menu("Home"), "New chat in this folder").trigger()
    tab = window.deck.current()
    assert tab.session.path() == []
    ask(qtbot, tab, "third")
    qtbot.waitUntil(lambda: titles(window) == ["Home", "third", "second", "Today", "first"])
    assert tab.session.title == "third"


def group_menu(window, monkeypatch, group: str) -> QMenu:
    menus: list[QMenu] = []
    with monkeypatch.context() as patch:
        patch.setattr(QMenu, "popup", lambda menu, place: menus.append(menu))  # offscreen, nothing can pop up
        window.sidebar.view.menu_wanted.emit(group, QPoint())
    return menus[-1]


def test_all_chats_of_a_day_are_put_away_and_had_back(window, qtbot, monkeypatch):
    entry(group_menu(window, monkeypatch, "today"), "Archive these chats").trigger()
    qtbot.waitUntil(lambda: titles(window) == ["Archive"])
    assert window.sidebar.bar._label.text() == "2 chats are in the archive."
    entry(group_menu(window, monkeypatch, "archive"), "Take these chats out of the archive").trigger()
    qtbot.waitUntil(lambda: titles(window) == ["Today", "second", "first"])
    entry(group_menu(window, monkeypatch, "today"), "Delete these chats").trigger()
    qtbot.waitUntil(lambda: titles(window) == [])
    assert [tab.session.path() for tab in window.deck.tabs()] == [[]]  # their tabs are closed
    window.sidebar.bar._action.click()
    qtbot.waitUntil(lambda: titles(window) == ["Today", "second", "first"])
    qtbot.waitUntil(lambda: tab_titles(window) == ["first", "SECOND"])


def tab_titles(window) -> list[str]:
    """In the order of the strip, the one in front in capitals; "" where nothing was said yet."""
    front = window.deck.current()
    names = [(tab, tab.session.title if tab.session.path() else "") for tab in window.deck.tabs()]
    return [name.upper() if tab is front else name for tab, name in names]


def delete_all_of_today(window, qtbot, monkeypatch):
    entry(group_menu(window, monkeypatch, "today"), "Delete these chats").trigger()
    qtbot.waitUntil(lambda: titles(window) == [])


def test_the_tabs_of_deleted_chats_come_back_where_they_were(window, qtbot, monkeypatch):
    third = window.deck.new_tab()
    third.composer.set_draft(Draft("not sent yet"))
    window.strip.bar.moveTab(2, 1)
    window.deck.go_to(1)
    assert tab_titles(window) == ["FIRST", "", "second"]
    delete_all_of_today(window, qtbot, monkeypatch)
    assert window.deck.tabs() == [third]
    window.sidebar.bar._action.click()
    qtbot.waitUntil(lambda: tab_titles(window) == ["FIRST", "", "second"])
    assert window.deck.tabs()[1] is third


@pytest.mark.parametrize("what", ["draft", "settings"])
def test_the_tab_that_came_in_between_stays_when_something_was_written_in_it(window, qtbot, monkeypatch, what):
    delete_all_of_today(window, qtbot, monkeypatch)
    tab = window.deck.current()
    if what == "draft":
        tab.composer.set_draft(Draft("a new thought"))
    else:
        tab.session.set_settings(replace(tab.session.settings, system_prompt="Be brief."))
    window.sidebar.bar._action.click()
    qtbot.waitUntil(lambda: tab_titles(window) == ["first", "SECOND", ""])
    assert window.deck.tabs()[2] is tab


def test_chats_side_by_side_are_so_again_when_their_deletion_is_undone(window, qtbot, monkeypatch):
    window.deck.show_beside(window.deck.tabs()[0].session.chat_id)
    shown_before = window.deck.shown()
    delete_all_of_today(window, qtbot, monkeypatch)
    window.sidebar.bar._action.click()
    qtbot.waitUntil(lambda: len(window.deck.tabs()) == 2)
    assert window.deck.shown() == shown_before


def test_an_answer_that_nobody_has_seen_is_unread_again_when_the_deletion_of_its_chat_is_undone(window, qtbot):
    behind = window.deck.tabs()[0]
    behind.session.send("second")
    qtbot.waitUntil(lambda: behind.session.is_settled and len(behind.session.path()) == 4)
    chat_id = behind.session.chat_id
    assert window.strip.bar.has_dot(chat_id)
    entry(menu_of(window, "first"), "Delete").trigger()
    qtbot.waitUntil(lambda: "first" not in titles(window))
    window.sidebar.bar._action.click()
    qtbot.waitUntil(lambda: len(window.deck.tabs()) == 2)
    assert window.strip.bar.has_dot(chat_id)
    window.deck.open_chat(chat_id)
    assert not window.strip.bar.has_dot(chat_id)


@pytest.mark.parametrize("title", ["first", "second"])
def test_the_tab_of_one_deleted_chat_comes_back_where_it_was(window, qtbot, title):
    before = tab_titles(window)
    entry(menu_of(window, title), "Delete").trigger()
    qtbot.waitUntil(lambda: title not in titles(window))
    window.sidebar.bar._action.click()
    qtbot.waitUntil(lambda: tab_titles(window) == before)


def test_a_folder_is_deleted_with_its_chats_but_not_with_the_pinned_one(window, qtbot, monkeypatch):
    for chat in window._book.summaries():
        window._book.shelving.move(chat.id, "Home")
    entry(menu_of(window, "first"), "Pin").trigger()
    qtbot.waitUntil(lambda: titles(window) == ["Pinned", "first", "Home", "second"])
    window.chats.fold("folder:Home", True)
    entry(group_menu(window, monkeypatch, "folder:Home"), "Delete these chats").trigger()
    qtbot.waitUntil(lambda: titles(window) == ["Pinned", "first"])
    assert window.sidebar.bar._label.text() == "1 chat is in the bin."


def test_pin_and_folder_by_the_palette(window, qtbot, monkeypatch):
    menus: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, place: menus.append(menu))  # offscreen, nothing can pop up
    trigger(window, "pin_chat")
    qtbot.waitUntil(lambda: titles(window) == ["Pinned", "second", "Today", "first"])
    trigger(window, "pin_chat")
    qtbot.waitUntil(lambda: titles(window)[0] == "Today")
    trigger(window, "move_chat")
    assert not menus  # there is no folder yet, so its name is asked for at once
    name_it(qtbot, " ")
    trigger(window, "move_chat")
    name_it(qtbot, "Home & garden")
    qtbot.waitUntil(lambda: titles(window) == ["Home & garden", "second", "Today", "first"])
    trigger(window, "previous_tab")
    trigger(window, "move_chat")
    (menu,) = menus
    assert [action.text() for action in menu.actions() if action.text()] == ["Home && garden", "New folder…"]
    menu.actions()[0].trigger()
    qtbot.waitUntil(lambda: sorted(titles(window)) == ["Home & garden", "first", "second"])


def test_with_an_empty_chat_nothing_is_done_and_it_is_said_why(window, monkeypatch):
    monkeypatch.setattr(QMenu, "popup", lambda menu, place: pytest.fail("nothing is to be chosen"))
    trigger(window, "new_tab")
    names = ("pin_chat", "move_chat", "rename_chat", "archive_chat", "delete_chat", "export_chat", "export_pdf")
    for name in names:
        window.status.state.setText("")
        trigger(window, name)
        assert window.status.state.text() == "Nothing has been said in this chat yet.", name
        assert titles(window)[0] == "Today"
        assert len(window.deck.tabs()) == 3
        assert not any(dialog.isVisible() for dialog in window.findChildren(QFileDialog))
        assert not window.sidebar.bar.isVisible()


def test_a_deleted_chat_closes_its_tab_and_comes_back_with_it(window, qtbot):
    chat_id = window.deck.current().session.chat_id
    window.deck.current().composer.set_text("half a thought")
    view = window.sidebar.view
    view.setCurrentIndex(window.chats.index_of(chat_id))
    qtbot.keyClick(view, Qt.Key.Key_Delete)
    qtbot.keyClick(view, Qt.Key.Key_Delete, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: "second" not in titles(window))
    assert [tab.session.title for tab in window.deck.tabs()] == ["first"]
    trigger(window, "reopen_tab")
    assert len(window.deck.tabs()) == 1
    assert "bin" in window.sidebar.bar.text()
    window.sidebar.bar._action.click()
    qtbot.waitUntil(lambda: "second" in titles(window))
    assert window.deck.current().session.chat_id == chat_id
    qtbot.waitUntil(lambda: "The tram" in shown(window.deck.current()))
    assert window.deck.current().composer.text() == "half a thought"


def test_the_bin_gives_back_and_is_emptied(window, qtbot):
    trigger(window, "delete_chat")
    qtbot.waitUntil(lambda: "second" not in titles(window))
    trigger(window, "bin")
    dialog = window.findChild(BinDialog)
    qtbot.waitUntil(lambda: dialog.list.count() == 1)
    qtbot.mouseClick(dialog.restore_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.list.count() == 0 and "second" in titles(window))
    for chat in window._book.summaries():
        window.keeping.delete(chat.id)
    qtbot.waitUntil(lambda: dialog.list.count() == 2)
    dialog.list.setFocus()
    qtbot.keySequence(dialog.list, "Ctrl+A")
    qtbot.mouseClick(dialog.restore_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.list.count() == 0 and len(titles(window)) == 3)
    window.keeping.delete(window._book.summaries()[0].id)
    qtbot.waitUntil(lambda: dialog.list.count() == 1)
    qtbot.mouseClick(dialog.empty_button, Qt.MouseButton.LeftButton)
    box = dialog.findChild(QMessageBox)
    qtbot.mouseClick(box.button(QMessageBox.StandardButton.Discard), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.list.count() == 0)
    assert len(titles(window)) == 2
    dialog.accept()


def test_nothing_is_offered_in_the_place_of_a_way_back(window, qtbot):
    ran: list[str] = []
    trigger(window, "archive_chat")
    window.keeping.offer("A model is here.", "Use it", lambda: ran.append("model"))
    assert window.sidebar.bar.text() == "“second” is in the archive."
    window.sidebar.bar._action.click()
    qtbot.waitUntil(lambda: titles(window) == ["Today", "second", "first"])
    window.keeping.offer("A model is here.", "Use it", lambda: ran.append("model"))
    window.sidebar.bar._action.click()
    assert ran == ["model"]


def test_a_bin_that_was_closed_is_read_no_more(window, qtbot):
    shelving = window._book.shelving
    with qtbot.waitSignal(shelving.bin_read):  # else that reading may end after the dialog
        trigger(window, "bin")
    dialog = window.findChild(BinDialog)
    with qtbot.waitSignal(dialog.destroyed):
        dialog.accept()
    with qtbot.assertNotEmitted(shelving.bin_read, wait=200), qtbot.waitSignal(shelving.changed):
        shelving.pin(window._book.summaries()[0].id, True)


def test_a_search_shows_the_message(window, qtbot):
    trigger(window, "search")
    field = window.sidebar.search
    qtbot.keyClicks(field, "tram hil")
    qtbot.waitUntil(lambda: window.sidebar.hits.isVisible() and window.sidebar.hits.model().rowCount() == 2)
    qtbot.keyClick(field, Qt.Key.Key_Down)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert window.deck.current().session.title == "first"
    qtbot.keyClicks(field, " nowhere")
    qtbot.waitUntil(lambda: not window.sidebar.hits.isVisible())
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert window.sidebar.view.isVisible()
    assert field.text() == ""


def test_down_leads_from_the_empty_search_into_the_list(window, qtbot):
    trigger(window, "search")
    qtbot.waitUntil(window.sidebar.search.hasFocus)
    qtbot.keyClick(window.sidebar.search, Qt.Key.Key_Up)
    assert window.sidebar.search.hasFocus()
    qtbot.keyClick(window.sidebar.search, Qt.Key.Key_Down)
    qtbot.waitUntil(window.sidebar.view.hasFocus)


def test_a_search_ends_with_a_click_on_its_cross(window, qtbot):
    field = window.sidebar.search
    qtbot.keyClicks(field, "tram")
    qtbot.waitUntil(window.sidebar.hits.isVisible)
    qtbot.mouseClick(field.findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert field.text() == ""
    assert window.sidebar.view.isVisible()


def test_esc_leaves_the_words_of_a_search_and_then_the_field(window, qtbot):
    field, before = window.sidebar.search, QApplication.focusWidget()
    assert before is not None
    trigger(window, "search")
    qtbot.keyClicks(field, "tram")
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert (field.text(), QApplication.focusWidget()) == ("", field)
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is before


def test_enter_waits_for_the_search_of_what_was_typed(window, qtbot):
    """Typed quickly, Enter comes before the finds, or while those of other words are shown."""
    chats = window._book
    for summary, name in zip(chats.summaries(), ("Porto", "Lisbon"), strict=True):
        window.keeping.rename(summary.id, name)
    qtbot.waitUntil(lambda: set(titles(window)) >= {"Porto", "Lisbon"})
    trigger(window, "search")
    field = window.sidebar.search
    for name in ("Lisbon", "Porto", "Lisbon"):
        field.selectAll()
        qtbot.keyClicks(field, name)
        qtbot.keyClick(field, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda name=name: window.deck.current().session.title == name)
    field.selectAll()
    qtbot.keyClicks(field, "Porto")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.keyClick(field, Qt.Key.Key_Backspace)  # Enter was for other words
    qtbot.waitUntil(lambda: window.sidebar._answered == "Port")
    assert window.deck.current().session.title == "Lisbon"


def test_a_find_in_a_closed_chat_opens_it_at_the_message(window, qtbot):
    chat_id = window.deck.tabs()[0].session.chat_id
    node_id = window.deck.tabs()[0].session.path()[1].id
    window.deck.close_at(0)
    qtbot.waitUntil(lambda: window._book.session(chat_id) is None)
    window.sidebar.hit_chosen.emit(SearchHit(chat_id, node_id, "", "", ()))
    tab = window.deck.current()
    qtbot.waitUntil(lambda: bool(tab.session.path()) and tab.pages._wanted_message == "")
    assert tab.session.chat_id == chat_id


def test_a_file_that_cannot_be_read_is_not_being_read_for_ever(window, qtbot, tmp_path: Path):
    with qtbot.waitSignal(window.exchange.failed):
        window.exchange.import_from(str(tmp_path / "b.bin"))
    assert window.status.state.text() == ""
    assert "b.bin" in window.deck.current().notice.text()


def test_a_find_is_lit_in_its_message_and_the_search_keeps_the_keyboard(window, qtbot):
    tab = window.deck.tabs()[0]
    text = "\n\n".join(f"Line {number} about a tram." for number in range(400)).replace("Line 300", "Amber 300")
    tab.messages._session.edits.edit_answer(tab.session.path()[1].id, text)
    qtbot.waitUntil(lambda: tab.session.is_settled)
    trigger(window, "search")
    field = window.sidebar.search
    qtbot.keyClicks(field, "about amber")
    qtbot.waitUntil(lambda: window.sidebar.hits.isVisible() and window.sidebar.hits.model().rowCount() == 1)
    assert "Amber 300 about" in window.sidebar.hits.model().index(0).data(ChatRole.HIT).snippet
    qtbot.keyClick(field, Qt.Key.Key_Return)
    view = tab.transcript
    qtbot.waitUntil(lambda: view.textCursor().hasSelection())
    start = view.textCursor().selectionStart()
    assert view.document().findBlock(start).text() == "Amber 300 about a tram."
    assert view.viewport().rect().contains(view.cursorRect(view.cursor_at(start)))
    assert tab.find_bar.isVisible()
    assert view.textCursor().selectedText() == tab.find_bar.field.text()
    assert view.extraSelections()
    assert not tab.find_bar.field.hasFocus()


def test_an_export_is_imported_again(window, qtbot, tmp_path: Path):
    trigger(window, "export_all")
    dialog = window.findChild(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "all.json"))
    dialog.reject()
    qtbot.waitUntil((tmp_path / "all.json").exists)
    window.exchange.import_from(str(tmp_path / "all.json"))
    qtbot.waitUntil(lambda: window.findChild(QMessageBox) is not None)
    box = window.findChild(QMessageBox)
    assert "here already: 2" in box.text()
    box.reject()


@pytest.mark.qt_log_ignore("^This plugin does not support")
def test_a_folder_of_jan_comes_in_by_the_menu(window, qtbot, tmp_path: Path):
    for name in ("a", "b"):
        write_thread(tmp_path / "threads" / name, VERSIONS, id=name, title=f"Kites {name}")
    qtbot.mouseClick(window.sidebar.more_button, Qt.MouseButton.LeftButton)
    menu = next(menu for menu in window.findChildren(QMenu) if menu.isVisible())
    entry(menu, "Import a folder of chats…").trigger()
    menu.close()
    dialog = window.findChild(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "threads"))
    dialog.reject()
    qtbot.waitUntil(lambda: window.findChild(QMessageBox) is not None)
    window.findChild(QMessageBox).reject()
    qtbot.waitUntil(lambda: {"Kites a", "Kites b"} <= set(titles(window)))


def test_an_export_with_another_ending_is_refused(window, qtbot, tmp_path: Path):
    window.exchange.export_to(str(tmp_path / "all.docx"))
    assert "all.docx" in window.deck.current().notice.text()


def test_one_chat_goes_out_as_pdf(window, qtbot, tmp_path: Path):
    chat = window.deck.current().session.chat_id
    window.exchange.ask_where_to([]).reject()
    window.exchange.export_to(str(tmp_path / "all.pdf"))
    assert "of one chat also in .pdf" in window.deck.current().notice.text()
    dialog = window.exchange.ask_where_to([chat])
    assert any("*.pdf" in name for name in dialog.nameFilters())
    dialog.reject()
    trigger(window, "export_pdf")
    dialog = next(dialog for dialog in window.findChildren(QFileDialog) if dialog.isVisible())
    assert dialog.selectedFiles()[0].endswith("second.pdf")
    dialog.reject()
    window.exchange.export_to(str(tmp_path / "one.pdf"))
    qtbot.waitUntil((tmp_path / "one.pdf").exists)
    assert (tmp_path / "one.pdf").read_bytes().startswith(b"%PDF-")
    qtbot.waitUntil(lambda: "one.pdf" in window.status.state.text())


def test_a_name_is_typed_on_while_its_chat_begins_to_answer(window, qtbot):
    tab = window.deck.current()
    window.sidebar.view.rename(tab.session.chat_id)
    qtbot.keyClicks(QApplication.focusWidget(), "Ro")
    with qtbot.waitSignal(window.chats.dataChanged):
        tab.session.send("third")
    qtbot.keyClicks(QApplication.focusWidget(), "me")
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "Rome" in titles(window))
    qtbot.waitUntil(lambda: tab.session.is_settled)


def test_a_find_takes_the_room_of_its_lines(window, qtbot):
    chat = next(chat for chat in window._book.summaries() if chat.title == "first")
    long_title = "first of all the many letters that I wrote to the landlord"
    window.keeping._shelving.rename(chat.id, long_title)
    qtbot.waitUntil(lambda: long_title in titles(window))
    window.sidebar.begin_search()
    qtbot.keyClicks(window.sidebar.search, "first")
    hits = window.sidebar.hits

    def heights() -> list[int]:
        return [hits.visualRect(hits.model().index(row, 0)).height() for row in range(hits.model().rowCount())]

    qtbot.waitUntil(lambda: heights() == [57])  # a title and a line of the message
    window.sidebar.search.selectAll()
    qtbot.keyClicks(window.sidebar.search, "many")
    qtbot.waitUntil(lambda: heights() == [52])  # a title of two lines
    hits.setFixedWidth(600)
    qtbot.waitUntil(lambda: heights() == [34])


def test_a_find_marks_the_words_in_its_title_wherever_they_stand(window, qtbot):
    delegate = window.sidebar.hits.itemDelegate()
    title = "Of all the many letters that I wrote to the landlord"
    for words, seen in (("all", "Of all the"), ("landlord", "to the landlord")):
        place = (title.index(words), len(words))
        line = delegate._title_line(SearchHit("c", "n", title, "", (), title_ranges=(place,)), 220)
        assert seen in line.text()
        (mark,) = line.formats()
        assert line.text()[mark.start : mark.start + mark.length] == words
        assert mark.format.foreground().color() == theme_of(window.sidebar.hits).color("accent")


def test_a_title_that_fits_keeps_its_beginning(window):
    title = "Weekend in the hills of Bern"
    hit = SearchHit("c", "n", title, "", (), title_ranges=((title.index("Bern"), 4),))
    assert window.sidebar.hits.itemDelegate()._title_line(hit, 600).text() == title
