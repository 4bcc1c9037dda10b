"""All chats: the list, tabs, restart, shutdown."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_search import WAIT_MS
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.migrations import MIGRATIONS
from llama_gui.chats.salvage import Salvaged
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import Node, OpenTab
from llama_gui.errors import StoreError
from tests.bridge.conftest import MakeBook, MakeHost
from tests.fakes.scripted_engine import ScriptedEngine

Ask = Callable[[ChatSession, str], None]


def test_a_chat_comes_into_the_list_with_its_first_message(qtbot: QtBot, make_book: MakeBook, ask: Ask):
    book = make_book()
    session = book.new_chat()
    assert book.summaries() == []
    with qtbot.waitSignal(book.chats_changed):
        ask(session, "A question")
    assert [(s.id, s.title) for s in book.summaries()] == [(session.chat_id, "A question")]
    session.retitle("Renamed")
    qtbot.waitUntil(lambda: book.summaries()[0].title == "Renamed")


def test_an_open_chat_has_one_session(qtbot: QtBot, make_book: MakeBook):
    book = make_book()
    session = book.new_chat()
    assert book.open_chat(session.chat_id) is session
    assert book.sessions() == [session]
    book.close_chat("nobody")


def test_answering_is_told_for_each_chat(qtbot: QtBot, make_book: MakeBook, ask: Ask):
    book = make_book()
    said: list[tuple[str, bool]] = []
    book.answering_changed.connect(lambda chat_id, answering: said.append((chat_id, answering)))
    session = book.new_chat()
    ask(session, "Hi")
    assert said == [(session.chat_id, True), (session.chat_id, False)]
    assert not book.is_answering(session.chat_id)


def test_closing_a_chat_stops_it_and_lets_it_go_when_saved(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook):
    book = make_book(make_host(ScriptedEngine(hang_at=1)))
    session = book.new_chat()
    chat_id = session.chat_id
    texts: list[str] = []
    session.text_added.connect(lambda _id, text: texts.append(text))
    session.send("a b")
    qtbot.waitUntil(lambda: bool(texts))
    book.close_chat(chat_id)
    assert book.sessions() == [session]
    qtbot.waitUntil(lambda: book.sessions() == [])
    again = book.open_chat(chat_id)
    with qtbot.waitSignal(again.changed):
        pass
    assert again.path()[-1].status == "stopped"
    assert again.path()[-1].content == "a"


def test_reopening_keeps_a_session_that_is_about_to_go(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook):
    book = make_book(make_host(ScriptedEngine(hang_at=0)))
    session = book.new_chat()
    with qtbot.waitSignal(session.message_added):
        session.send("a")
    book.close_chat(session.chat_id)
    assert book.open_chat(session.chat_id) is session
    qtbot.waitUntil(lambda: session.is_settled)
    assert book.sessions() == [session]


def test_a_restart_brings_back_chats_and_tabs(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook, ask: Ask):
    book = make_book()
    first, second = book.new_chat(), book.new_chat()
    ask(first, "first")
    ask(second, "second")
    tabs = [
        OpenTab(second.chat_id, 0, "half a thought", 0.25, False),
        OpenTab(first.chat_id, 1, "", 1.0, True),
    ]
    book.save_tabs([])
    book.save_tabs(tabs)
    assert book.shutdown()
    assert book.shutdown()

    other = make_book()
    with qtbot.waitSignals([other.restored, other.chats_changed]):
        restored: list[OpenTab] = []
        other.restored.connect(restored.extend)
        other.restore()
    assert restored == tabs
    assert [s.title for s in other.summaries()] == ["second", "first"]
    session = other.open_chat(first.chat_id)
    with qtbot.waitSignal(session.changed):
        pass
    assert [node.content for node in session.path()] == ["first", "first"]


def test_tabs_that_cannot_be_kept_are_told_whatever_the_reason(qtbot: QtBot, make_book: MakeBook, monkeypatch):
    book = make_book()
    monkeypatch.setattr(ChatStore, "save_tabs", lambda *_: 1 / 0)
    assert book.keep_tabs([]) == "division by zero"
    monkeypatch.undo()
    assert book.shutdown()


def test_tabs_that_were_not_read_when_the_window_closed_stay(qtbot: QtBot, make_book: MakeBook):
    book = make_book()
    book.save_tabs([OpenTab("a", 0, "half a letter", 1.0, True)])
    assert book.shutdown()
    book = make_book()
    book.restore()
    assert book.keep_tabs([]) == ""  # what a window without tabs has, when it is closed at once
    book.save_tabs([OpenTab("b", 0, "a new thought")])
    assert book.shutdown()
    book = make_book()
    with qtbot.waitSignal(book.restored) as told:
        book.restore()
    assert [(tab.chat_id, tab.draft) for tab in told.args[0]] == [("a", "half a letter"), ("b", "a new thought")]


def test_a_chat_that_is_read_anew_keeps_what_is_not_on_disk(qtbot: QtBot, make_book: MakeBook, ask: Ask, monkeypatch):
    book = make_book()
    session = book.new_chat()
    ask(session, "A question")
    with monkeypatch.context() as patch, qtbot.waitSignal(session.saved_changed):
        patch.setattr(ChatStore, "save_nodes", raise_full)
        session.edit(session.path()[-1].id, "A better answer")
    with qtbot.waitSignal(session.changed):
        book._on_restored_backup((Salvaged(), []))
    assert [node.content for node in session.path()] == ["A question", "A better answer"]


def raise_full(*_args: object) -> None:
    raise StoreError("The disk is full.")


def test_shutdown_in_the_middle_of_answers_keeps_what_was_written(
    qtbot: QtBot, make_host: MakeHost, make_book: MakeBook, tmp_path: Path
):
    book = make_book(make_host(ScriptedEngine({text: [text, "!"] for text in "abc"}, hang_at=1)))
    sessions = [book.new_chat() for _ in "abc"]
    for session, text in zip(sessions, "abc", strict=True):
        session.send(text)
    qtbot.waitUntil(lambda: all(len(s.path()) == 2 and s.path()[1].content for s in sessions))
    assert book.shutdown(2500)
    store = ChatStore.open(tmp_path / "chats.db")
    for session, text in zip(sessions, "abc", strict=True):
        answer = store.nodes(session.chat_id)[1]
        assert (answer.content, answer.status) == (text, "stopped")
    store.close()


def test_shutdown_right_after_sending_keeps_the_message(qtbot: QtBot, make_book: MakeBook, tmp_path: Path):
    book = make_book()
    session = book.new_chat()
    session.send("typed and gone")
    assert book.shutdown()
    store = ChatStore.open(tmp_path / "chats.db")
    assert [node.content for node in store.nodes(session.chat_id)] == ["typed and gone"]
    store.close()


def test_an_answer_that_a_crash_broke_off_comes_back_as_interrupted(qtbot: QtBot, make_book: MakeBook, tmp_path: Path):
    store = ChatStore.open(tmp_path / "chats.db")
    store.create_chat("chat", "Crashed")
    store.save_node(Node("q", "chat", None, "user", "why", "complete", 1.0))
    store.save_node(Node("a", "chat", "q", "assistant", "becau", "streaming", 2.0))
    store.close()
    session = make_book().open_chat("chat")
    with qtbot.waitSignal(session.changed):
        pass
    assert [(n.content, n.status) for n in session.path()] == [("why", "complete"), ("becau", "interrupted")]


def test_a_damaged_store_is_told_and_the_book_works(qtbot: QtBot, make_book: MakeBook, ask: Ask, tmp_path: Path):
    (tmp_path / "chats.db").write_bytes(b"this is no database, but it may be precious" * 200)
    book = make_book()
    with qtbot.waitSignal(book.trouble) as blocker:
        pass
    assert "set aside" in (blocker.args or [])[0]
    session = book.new_chat()
    ask(session, "fresh")
    assert len(session.path()) == 2


def test_a_newer_store_is_refused_and_nothing_is_accepted(qtbot: QtBot, make_book: MakeBook, tmp_path: Path):
    ChatStore.open(tmp_path / "chats.db").close()
    connection = sqlite3.connect(tmp_path / "chats.db")
    connection.execute("CREATE TABLE something_new (name TEXT)")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    book = make_book()
    with qtbot.waitSignal(book.trouble) as blocker:
        pass
    assert "newer version" in (blocker.args or [])[0]
    session = book.new_chat()
    with qtbot.waitSignal(session.failed) as blocker:
        session.send("hello")
    assert "newer version" in (blocker.args or [])[0]
    assert session.path() == []
    with qtbot.waitSignal(book.restored) as blocker:
        book.restore()
    assert blocker.args == [[]]


@pytest.mark.parametrize("count", [0, 1])
def test_tabs_are_saved_soon_without_shutdown(qtbot: QtBot, make_book: MakeBook, tmp_path: Path, count: int):
    book = make_book()
    tabs = [OpenTab(f"chat{n}", n, "draft", 0.5, True) for n in range(count)]
    with qtbot.waitSignal(book._tabs_timer.timeout):
        book.save_tabs(tabs)
    with qtbot.waitSignal(book.restored) as blocker:
        book.restore()
    assert blocker.args == [tabs]


def test_tabs_that_a_full_disk_refused_are_saved_when_it_has_room(qtbot: QtBot, make_book: MakeBook, monkeypatch):
    book = make_book()
    told: list[str] = []
    book.trouble.connect(told.append)
    tabs = [OpenTab("a", 0, "half a letter", 1.0, True)]
    tries: list[int] = []

    def refuse(*_of: object) -> None:
        tries.append(1)
        raise_full()

    with monkeypatch.context() as patch:
        patch.setattr(ChatStore, "save_tabs", refuse)
        book.save_tabs(tabs)
        qtbot.waitUntil(lambda: bool(told))
        qtbot.waitUntil(lambda: len(tries) > 2)  # it is tried again, and told once

    def is_saved() -> bool:
        return book._store.wait(ChatStore.tabs, 5) == tabs

    qtbot.waitUntil(is_saved)
    with qtbot.waitSignal(book.restored) as blocker:
        book.restore()
    assert blocker.args == [tabs]
    assert len(told) == 1


def test_a_search_that_was_about_to_begin_does_not_outlive_the_store(qtbot: QtBot, make_book: MakeBook):
    book = make_book()
    book.search.find("words")
    assert book.shutdown()
    qtbot.wait(WAIT_MS + 30)


def test_a_search_that_fails_is_told(qtbot: QtBot, make_book: MakeBook, monkeypatch: pytest.MonkeyPatch):
    def search(_store: ChatStore, _text: str, _most: int) -> None:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(ChatStore, "search", search)
    book = make_book()
    with qtbot.waitSignal(book.trouble) as blocker:
        book.search.find("words")
    assert blocker.args == ["The disk is full."]
