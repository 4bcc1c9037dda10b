"""The chat list as an item model."""

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.bridge.item_models import ChatListItemModel, ChatRole, HitItemModel
from llama_gui.chats.search import SearchHit
from tests.bridge.conftest import MakeBook


def test_rows_follow_the_book(qtbot: QtBot, make_book: MakeBook, ask: Callable[[ChatSession, str], None]):
    book = make_book()
    model = ChatListItemModel(book)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert model.rowCount() == 0
    first, second = book.new_chat(), book.new_chat()
    with qtbot.waitSignal(model.modelReset):
        ask(first, "first")
    with qtbot.waitSignal(model.modelReset):
        ask(second, "second")
    heading, *rows = [model.index(row) for row in range(model.rowCount())]
    assert heading.data() == "Today"
    assert heading.data(ChatRole.HEADING)
    assert not heading.flags() & Qt.ItemFlag.ItemIsSelectable
    assert [row.data() for row in rows] == ["second", "first"]
    assert rows[0].data(ChatRole.CHAT_ID) == second.chat_id
    assert rows[0].data(ChatRole.GROUP) == "today"
    assert rows[0].data(ChatRole.ANSWERING) is False
    assert rows[0].data(Qt.ItemDataRole.DecorationRole) is None
    assert model.index_of(first.chat_id).row() == 2
    assert not model.index_of("nobody").isValid()
    assert model.data(QModelIndex()) is None
    assert tester.model() is model


def test_a_new_name_or_an_answer_changes_the_row_and_resets_nothing(
    qtbot: QtBot, make_book: MakeBook, ask: Callable[[ChatSession, str], None]
):
    book = make_book()
    session = book.new_chat()
    model = ChatListItemModel(book)
    ask(session, "first")
    qtbot.waitUntil(lambda: session.is_settled and model.rowCount() == 2)
    resets: list[None] = []
    changes: list[list[int]] = []
    model.modelReset.connect(lambda: resets.append(None))
    model.dataChanged.connect(lambda _first, _last, roles: changes.append(list(roles)))
    session.retitle("Other")
    qtbot.waitUntil(lambda: model.index(1).data() == "Other")
    changes.clear()
    session.send("second")
    assert [ChatRole.ANSWERING] in changes
    assert model.index(1).data(ChatRole.ANSWERING) is True
    qtbot.waitUntil(lambda: not session.answering)
    assert resets == []


def test_a_name_given_in_a_row_is_told_and_nothing_else_changes(qtbot: QtBot, make_book, ask):
    book = make_book()
    session = book.new_chat()
    model = ChatListItemModel(book)
    ask(session, "first")
    qtbot.waitUntil(lambda: model.index_of(session.chat_id).isValid())
    index = model.index_of(session.chat_id)
    with qtbot.waitSignal(model.renamed) as told:
        assert model.setData(index, "  A better\nname ")
    assert told.args == [session.chat_id, "A better name"]
    with qtbot.assertNotEmitted(model.renamed):
        assert not model.setData(index, "   ")
        assert not model.setData(index, "first")


def test_a_group_is_folded_and_remembered(qtbot: QtBot, make_book, ask):
    book = make_book()
    session = book.new_chat()
    model = ChatListItemModel(book)
    ask(session, "first")
    book.shelving.move(session.chat_id, "Home")
    qtbot.waitUntil(lambda: model.index(0).data() == "Home")
    with qtbot.waitSignal(model.folded_changed) as told:
        model.fold("folder:Home", True)
    assert told.args == [("archive", "folder:Home")]
    assert model.rowCount() == 1
    assert model.index(0).data(ChatRole.COUNT) == 1
    model.fold("folder:Home", False)
    assert model.rowCount() == 2


def test_finds_are_rows():
    model = HitItemModel()
    model.show([SearchHit("c", "n", "Trip", "the tram climbs", ((4, 4),)), SearchHit("d", None, "Tram", "Tram", ())])
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert model.index(0).data() == "Trip"
    assert model.index(0).data(Qt.ItemDataRole.AccessibleTextRole) == "Trip: the tram climbs"
    assert model.index(1).data(ChatRole.HIT).chat_id == "d"
    assert model.data(QModelIndex()) is None
