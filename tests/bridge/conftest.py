"""A host with a scripted engine, a store on a lane, a book over both; each is shut down and must have ended."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.store_lane import StoreLane
from tests.fakes.scripted_engine import ScriptedEngine, loader

MakeHost = Callable[..., EngineHost]
MakeBook = Callable[..., ChatBook]


@pytest.fixture
def make_host(qtbot: QtBot) -> Iterator[MakeHost]:
    hosts: list[EngineHost] = []

    def make(*engines: ScriptedEngine | Exception, load: bool = True) -> EngineHost:
        host = EngineHost(loader(*engines))
        hosts.append(host)
        if load:
            with qtbot.waitSignal(host.loaded):
                host.load("/models/scripted")
        return host

    yield make
    for host in hosts:
        assert host.shutdown()


@pytest.fixture
def make_book(qtbot: QtBot, make_host: MakeHost, tmp_path: Path) -> Iterator[MakeBook]:
    books: list[ChatBook] = []

    def make(host: EngineHost | None = None) -> ChatBook:
        host = host or make_host(ScriptedEngine())  # first: it turns the event loop, and the store's news come with it
        store = StoreLane(tmp_path / "chats.db")
        book = ChatBook(store, host)
        store.setParent(book)
        books.append(book)
        return book

    yield make
    for book in books:
        assert book.shutdown()


@pytest.fixture
def ask(qtbot: QtBot) -> Callable[[ChatSession, str], None]:
    """Send a message and wait for the end of its answer."""

    def ask(session: ChatSession, text: str) -> None:
        session.send(text)
        qtbot.waitUntil(lambda: not session.answering)

    return ask
