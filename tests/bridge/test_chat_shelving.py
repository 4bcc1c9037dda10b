"""Chats as a whole: what is done is in the list at once, and can be had back."""

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.store_lane import StoreLane
from tests.fakes.scripted_engine import ScriptedEngine


@pytest.fixture
def chat(qtbot: QtBot, make_book, ask):
    book = make_book()
    session = book.new_chat()
    ask(session, "The tram climbs the hill")
    qtbot.waitUntil(lambda: session.is_settled and bool(book.summaries()))
    return book, session.chat_id


def test_pin_move_archive_and_name(qtbot: QtBot, chat):
    book, chat_id = chat
    book.shelving.pin(chat_id, True)
    book.shelving.move(chat_id, "Home")
    book.shelving.rename(chat_id, "Lisbon")
    qtbot.waitUntil(lambda: book.summaries()[0].title == "Lisbon")
    assert (book.summaries()[0].pinned, book.summaries()[0].folder) == (True, "Home")
    book.shelving.rename_folder("Home", "Travel")
    qtbot.waitUntil(lambda: book.summaries()[0].folder == "Travel")
    book.shelving.archive(chat_id, True)
    qtbot.waitUntil(lambda: not book.summaries())
    assert [archived.id for archived in book.archived()] == [chat_id]


def test_what_is_deleted_lies_in_the_bin_until_it_is_emptied(qtbot: QtBot, chat):
    book, chat_id = chat
    with qtbot.waitSignal(book.shelving.deleted) as told:
        book.shelving.delete(chat_id)
    assert told.args == [chat_id]
    qtbot.waitUntil(lambda: not book.summaries())
    with qtbot.waitSignal(book.shelving.bin_read) as told:
        book.shelving.read_bin()
    assert [deleted.id for deleted in told.args[0].chats] == [chat_id]
    with qtbot.waitSignal(book.shelving.restored):
        book.shelving.restore(chat_id)
    qtbot.waitUntil(lambda: bool(book.summaries()))
    book.shelving.delete(chat_id)
    with qtbot.waitSignal(book.shelving.emptied) as told:
        book.shelving.empty_bin()
    assert told.args == [1]


def test_what_models_have_kept_of_chats_goes_with_the_bin(qtbot: QtBot, make_host, tmp_path):
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "000000-aa.kv").write_bytes(b"keys and values")
    book = ChatBook(StoreLane(tmp_path / "kept.db"), make_host(ScriptedEngine()), prompt_cache=prompts)
    book.shelving.delete("no such chat")
    assert prompts.exists()
    with qtbot.waitSignal(book.shelving.emptied):
        book.shelving.empty_bin()
    assert not prompts.exists()
    assert book.shutdown()


def test_a_deleted_branch_is_in_the_bin_and_comes_back(qtbot: QtBot, chat):
    book, chat_id = chat
    session = book.session(chat_id)
    with qtbot.waitSignal(session.edits.branch_deleted):
        session.edits.delete_branch(session.path()[1].id)
    with qtbot.waitSignal(book.shelving.bin_read) as told:
        book.shelving.read_bin()
    (branch,) = told.args[0].branches
    assert branch.chat_id == chat_id
    with qtbot.waitSignal(book.shelving.restored) as told:
        book.shelving.restore_branch(branch)
    assert told.args == [chat_id]


def test_a_search_tells_only_of_the_last_words(qtbot: QtBot, chat):
    book, chat_id = chat
    heard: list[tuple[str, list]] = []
    book.search.found.connect(lambda text, hits: heard.append((text, hits)))
    book.search.find("nothing like it")
    book.search.find("tram hil")
    qtbot.waitUntil(lambda: bool(heard))
    assert [text for text, _ in heard] == ["tram hil"]
    assert {hit.chat_id for hit in heard[0][1]} == {chat_id}
    book.search.find("")
    qtbot.wait(200)
    assert len(heard) == 1


def test_what_the_store_did_last_is_not_told_when_it_is_closed(chat):
    """Whoever hears of it looks into the bin again."""
    book, chat_id = chat
    told = []
    for signal in (book.shelving.deleted, book.shelving.restored, book.shelving.emptied):
        signal.connect(told.append)
        signal.connect(book.shelving.read_bin)
    book.shelving.delete(chat_id)
    book.shelving.restore(chat_id)
    book.shelving.empty_bin()
    assert book.shutdown()
    assert told == []
