"""Chats go into files and come back."""

import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.chats.importers.reading import read_import


@pytest.fixture
def book(qtbot: QtBot, make_book, ask):
    book = make_book()
    for text in ("first question", "second question"):
        session = book.new_chat()
        ask(session, text)
        qtbot.waitUntil(lambda session=session: session.is_settled)
    qtbot.waitUntil(lambda: len(book.summaries()) == 2)
    return book


@pytest.mark.parametrize(("kind", "name"), [("markdown", "a.md"), ("html", "a.html"), ("json", "a.json")])
def test_all_chats_go_into_one_file(qtbot: QtBot, book, tmp_path: Path, kind, name):
    with qtbot.waitSignal(book.exchange.exported) as told:
        book.exchange.export(tmp_path / name, kind)
    assert told.args == [tmp_path / name, 2]
    text = (tmp_path / name).read_text("utf-8")
    assert "first question" in text
    assert "second question" in text


def test_one_chat_goes_out_and_comes_back_after_it_was_deleted_for_ever(qtbot: QtBot, book, tmp_path: Path):
    chat_id = book.summaries()[0].id
    with qtbot.waitSignal(book.exchange.exported):
        book.exchange.export(tmp_path / "one.json", "json", [chat_id])
    assert len(read_import(tmp_path / "one.json").chats) == 1
    book.close_chat(chat_id)
    book.shelving.delete(chat_id)
    with qtbot.waitSignal(book.shelving.emptied):
        book.shelving.empty_bin()
    with qtbot.waitSignal(book.exchange.imported) as told:
        book.exchange.import_from(tmp_path / "one.json")
    assert (told.args[0].added, told.args[0].messages) == (1, 2)
    qtbot.waitUntil(lambda: chat_id in {chat.id for chat in book.summaries()})


def test_many_chats_are_taken_in_by_and_by_and_counted_once(qtbot: QtBot, book, tmp_path: Path):
    chats = [
        {
            "id": f"c{n}",
            "title": f"Chat {n}",
            "mapping": {
                "m": {
                    "id": "m",
                    "message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["hi"]}},
                }
            },
        }
        for n in range(120)
    ]
    (tmp_path / "conversations.json").write_text(json.dumps(chats))
    for added, unchanged in ((120, 0), (0, 120)):
        with qtbot.waitSignal(book.exchange.imported, timeout=20_000) as told:
            book.exchange.import_from(tmp_path / "conversations.json")
        assert (told.args[0].added, told.args[0].unchanged) == (added, unchanged)


def test_what_cannot_be_read_or_written_is_said(qtbot: QtBot, book, tmp_path: Path):
    with qtbot.waitSignal(book.exchange.failed) as told:
        book.exchange.import_from(tmp_path / "not there.json")
    assert "not there.json" in told.args[0]
    with qtbot.waitSignal(book.exchange.failed) as told:
        book.exchange.export(tmp_path / "no folder" / "a.md", "markdown")
    assert "no folder" in told.args[0]


def test_a_folder_is_looked_for_where_other_programs_keep_their_chats(book, tmp_path: Path, monkeypatch):
    """LM Studio's is hidden: who looks for it in a dialog does not see it."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert book.exchange.likely_folder() == tmp_path
    (tmp_path / ".lmstudio" / "conversations").mkdir(parents=True)
    assert book.exchange.likely_folder() == tmp_path / ".lmstudio" / "conversations"
