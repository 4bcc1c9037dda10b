"""An idle model names chats, and steps aside for the user."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.engine_host import EngineHost
from llama_gui.bridge.store_lane import StoreLane
from llama_gui.bridge.titler import Titler
from llama_gui.chats.attachments import Attachment
from llama_gui.chats.title import title_request
from tests.fakes.scripted_engine import ScriptedEngine


class LargeEngine(ScriptedEngine):
    """One that is large enough to name chats."""

    def __init__(self, **options) -> None:
        super().__init__(**options)
        self.info = replace(self.info, parameters=1_000_000_000)


class Titles(dict):
    """Answers the request for a title with `title`, and nothing else."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title

    def get(self, question, otherwise=None):
        return [self.title] if "Give this conversation a title" in question else otherwise


def engine_that_says(title: str, **options) -> LargeEngine:
    engine = LargeEngine(**options)
    engine._script = Titles(title)
    return engine


@pytest.fixture
def make(qtbot: QtBot, make_host, make_book, ask):
    def make(engine: ScriptedEngine):
        host = make_host(engine)
        book = make_book(host)
        book.titler.set_on(False)
        session = book.new_chat()
        ask(session, "where does the tram go")
        qtbot.waitUntil(lambda: session.is_settled and bool(book.summaries()))
        return book, host, session

    return make


def titler_of(book, host) -> Titler:
    return Titler(book, host, book._store, book, idle_ms=10)


def test_a_chat_gets_a_title_in_its_tab_and_in_the_list(qtbot: QtBot, make):
    book, host, session = make(engine_that_says('**Title: "Trams of Lisbon"**'))
    titler = titler_of(book, host)
    with qtbot.waitSignal(titler.named) as told:
        titler.set_on(True)
    assert told.args == [session.chat_id, "Trams of Lisbon"]
    assert session.title == "Trams of Lisbon"
    qtbot.waitUntil(lambda: book.summaries()[0].title == "Trams of Lisbon")
    titler.stop()


@pytest.mark.parametrize("said", ["", "I am sorry, I cannot.", "<think>", "A title that goes on and on " * 5])
def test_what_is_no_title_is_not_asked_for_again(qtbot: QtBot, make, said):
    engine = engine_that_says(said or " ")
    book, host, session = make(engine)
    titler = titler_of(book, host)
    with qtbot.waitSignal(titler.named):
        titler.set_on(True)
    assert session.title == "where does the tram go"
    asked = len(engine.requests)
    qtbot.wait(100)
    assert len(engine.requests) == asked
    titler.stop()


def test_the_users_name_counts(qtbot: QtBot, make):
    engine = engine_that_says("Trams")
    book, host, session = make(engine)
    session.retitle("Mine")
    qtbot.waitUntil(lambda: book.summaries()[0].title == "Mine")
    titler = titler_of(book, host)
    titler.set_on(True)
    qtbot.wait(100)
    assert len(engine.requests) == 1
    titler.stop()


def test_a_model_for_embeddings_is_not_asked(qtbot: QtBot, make):
    engine = engine_that_says("Trams")
    engine.info = replace(engine.info, embeds=True)
    book, host, _ = make(engine)
    titler = titler_of(book, host)
    titler.set_on(True)
    qtbot.wait(100)
    assert len(engine.requests) == 1
    titler.stop()


@pytest.mark.parametrize("always", [{"thinking_tag": "<think>"}, {"marks_thoughts": True}])
def test_a_model_that_always_thinks_is_not_asked(qtbot: QtBot, make, always):
    engine = engine_that_says("Trams")
    engine.info = replace(engine.info, **always)
    book, host, _ = make(engine)
    titler = titler_of(book, host)
    titler.set_on(True)
    qtbot.wait(100)
    assert len(engine.requests) == 1
    engine.info = replace(engine.info, thinking=True)  # it can do without
    titler.set_on(True)
    qtbot.waitUntil(lambda: len(engine.requests) == 2)
    titler.stop()


class TitleQuestions:
    """The requests for a title."""

    def __contains__(self, question: str) -> bool:
        return "Give this conversation a title" in question


def test_it_steps_aside_when_the_user_asks_and_goes_on_later(qtbot: QtBot, make):
    engine = engine_that_says("Trams of Lisbon", hang_at=0, hang_on=TitleQuestions())
    book, host, session = make(engine)
    titler = titler_of(book, host)
    titler.set_on(True)
    qtbot.waitUntil(lambda: len(engine.requests) == 2)
    assert titler._ticket is not None
    session.send("and back?")
    assert titler._ticket is None
    qtbot.waitUntil(lambda: session.is_settled)
    assert session.title == "where does the tram go"
    qtbot.waitUntil(lambda: len(engine.requests) == 4)
    titler.stop()


def test_another_model_in_memory_names_where_the_current_one_is_too_small(qtbot: QtBot, tmp_path):
    small, large = ScriptedEngine(), engine_that_says("Trams of Lisbon")
    host = EngineHost(lambda order: large if order.key == "large" else small)
    store = StoreLane(tmp_path / "chats.db")
    book = ChatBook(store, host)
    book.titler.set_on(False)
    for key in ("large", "small"):
        with qtbot.waitSignal(host.loaded):
            host.load(key)
    session = book.new_chat()
    session.send("where does the tram go")
    qtbot.waitUntil(lambda: session.is_settled and bool(book.summaries()))
    titler = titler_of(book, host)
    with qtbot.waitSignal(titler.named):
        titler.set_on(True)
    assert (host.current, session.title) == ("small", "Trams of Lisbon")
    titler.stop()
    assert book.shutdown()


def test_the_title_is_of_what_was_asked_and_not_of_the_files_beside_it(qtbot: QtBot, make_host, make_book):
    host = make_host(engine := engine_that_says("Trams of Lisbon"))
    book = make_book(host)
    book.titler.set_on(False)
    session = book.new_chat()
    session.send("where does the tram go", [Attachment("map.txt", "secret paths", 12)])
    qtbot.waitUntil(lambda: session.is_settled and bool(book.summaries()))
    titler = titler_of(book, host)
    with qtbot.waitSignal(titler.named):
        titler.set_on(True)
    asked = title_request("where does the tram go", session.path()[1].content)
    assert (engine.requests[-1].messages or ())[0].content == asked
    assert engine.requests[-1].thinking is False  # a title has no room for thoughts
    titler.stop()


def test_a_small_model_is_not_asked(qtbot: QtBot, make):
    engine = ScriptedEngine()
    book, host, _session = make(engine)
    titler = titler_of(book, host)
    titler.set_on(True)
    qtbot.wait(100)
    assert len(engine.requests) == 1
    titler.stop()
