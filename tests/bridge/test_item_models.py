"""The chat list as an item model."""

from collections.abc import Callable
from datetime import date, datetime, timedelta

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.bridge.item_models import ChatListItemModel, ChatRole, group_label
from tests.bridge.conftest import MakeBook

TODAY = date(2026, 3, 2)


@pytest.mark.parametrize(
    ("days_ago", "label"),
    [
        (-1, "Today"),
        (0, "Today"),
        (1, "Yesterday"),
        (2, "Last 7 days"),
        (6, "Last 7 days"),
        (7, "Older"),
        (900, "Older"),
    ],
)
def test_group_labels_follow_the_calendar(days_ago: int, label: str):
    day = TODAY - timedelta(days=days_ago)
    for hour in (0, 23):
        assert group_label(datetime(day.year, day.month, day.day, hour, 59).timestamp(), TODAY) == label


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
    rows = [model.index(row) for row in range(model.rowCount())]
    assert [row.data() for row in rows] == ["second", "first"]
    assert rows[0].data(ChatRole.CHAT_ID) == second.chat_id
    assert rows[0].data(ChatRole.GROUP) == "Today"
    assert rows[0].data(ChatRole.ANSWERING) is False
    assert rows[0].data(Qt.ItemDataRole.DecorationRole) is None
    assert model.index_of(first.chat_id).row() == 1
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
    qtbot.waitUntil(lambda: session.is_settled and model.rowCount() == 1)
    resets: list[None] = []
    changes: list[list[int]] = []
    model.modelReset.connect(lambda: resets.append(None))
    model.dataChanged.connect(lambda _first, _last, roles: changes.append(list(roles)))
    session.retitle("Other")
    qtbot.waitUntil(lambda: model.index(0).data() == "Other")
    changes.clear()
    session.send("second")
    assert [ChatRole.ANSWERING] in changes
    assert model.index(0).data(ChatRole.ANSWERING) is True
    qtbot.waitUntil(lambda: not session.answering)
    assert resets == []
