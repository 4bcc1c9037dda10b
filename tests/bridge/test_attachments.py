"""Files read beside the window."""

import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge import attachments
from llama_gui.bridge.attachments import AttachmentReader
from llama_gui.chats.attachments import Attachment, ReadFiles
from llama_gui.chats.documents.child import ReadingCancelledError
from llama_gui.chats.store import ChatStore
from llama_gui.errors import StoreError
from tests.bridge.conftest import MakeBook
from tests.bridge.test_chat_book import raise_full


@pytest.fixture
def reader(qapp):
    reader = AttachmentReader()
    yield reader
    assert reader.close()
    reader.deleteLater()


@pytest.fixture
def slow(monkeypatch) -> threading.Event:
    """What is called .pdf is read until nobody wants it; set when one begins to be."""
    began = threading.Event()

    def read(path: Path, cancelled: threading.Event, *, takes_scans: bool) -> ReadFiles:
        if path.suffix == ".pdf":
            began.set()
            assert cancelled.wait(10)
            raise ReadingCancelledError
        return ReadFiles((Attachment(path.name, "text", 4),))

    monkeypatch.setattr(attachments, "read_attachments", read)
    return began


def test_a_text_does_not_wait_for_a_document(qtbot: QtBot, reader: AttachmentReader, slow: threading.Event):
    document = reader.read("/x/slow.pdf")
    text = reader.read("/x/a.txt")
    assert (document.name, document.is_document, text.is_document) == ("slow.pdf", True, False)
    with qtbot.waitSignal(text.done) as done:
        pass
    assert done.args == [text, ReadFiles((Attachment("a.txt", "text", 4),))]
    document.cancel()


def test_what_nobody_wants_any_more_tells_nothing(qtbot: QtBot, reader: AttachmentReader, slow: threading.Event):
    heard: list[object] = []
    first, second = reader.read("/x/first.pdf"), reader.read("/x/second.pdf")
    for reading in (first, second):
        reading.done.connect(lambda *_of: heard.append("done"))
        reading.failed.connect(lambda *_of: heard.append("failed"))
    qtbot.waitUntil(slow.is_set)
    slow.clear()
    second.cancel()  # never begun
    with qtbot.waitSignals([first.destroyed, second.destroyed]):
        first.cancel()
    assert not slow.is_set()
    assert heard == []


def test_why_not_is_a_sentence(qtbot: QtBot, reader: AttachmentReader, tmp_path: Path):
    reading = reader.read(str(tmp_path / "none.pdf"))
    with qtbot.waitSignal(reading.failed) as failed:
        pass
    assert failed.args[0] is reading
    assert "cannot be read" in failed.args[1]


def test_the_end_does_not_wait_for_a_document(qtbot: QtBot, reader: AttachmentReader, slow: threading.Event):
    reader.read("/x/slow.pdf")
    qtbot.waitUntil(slow.is_set)
    began = time.monotonic()
    assert reader.close(5)
    assert time.monotonic() - began < 4
    assert not reader.read("/x/late.txt").is_document  # and is never read


def test_files_of_a_draft_that_a_full_disk_refused_are_kept_when_it_has_room(
    qtbot: QtBot, make_book: MakeBook, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(attachments, "AGAIN_MS", 20)
    book, file = make_book(), Attachment("a.txt", "text", 4)
    session = book.new_chat()
    told: list[str] = []
    session.failed.connect(told.append)
    refused: list[int] = []

    def refuse(*_of: object) -> None:
        refused.append(1)
        raise StoreError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(ChatStore, "save_draft_files", refuse)
        session.draft_files.keep((file,))
        qtbot.waitUntil(lambda: len(refused) > 2)

    def is_kept() -> bool:
        return book._store.wait(lambda store: store.draft_files(session.chat_id), 5) == (file,)

    qtbot.waitUntil(is_kept)
    assert told == ["The disk is full."]


def test_files_of_a_draft_are_tried_once_more_at_the_end(
    qtbot: QtBot, make_book: MakeBook, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(attachments, "AGAIN_MS", 600_000)
    book, file = make_book(), Attachment("a.txt", "text", 4)
    session = book.new_chat()
    with monkeypatch.context() as patch:
        patch.setattr(ChatStore, "save_draft_files", raise_full)
        with qtbot.waitSignal(session.failed):
            session.draft_files.keep((file,))
    assert book.shutdown()
    with closing(ChatStore.open(book._store.path)) as store:
        assert store.draft_files(session.chat_id) == (file,)
