"""A chat in motion: order of things, failures, stopping, saving."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_book import ChatBook
from llama_gui.bridge.chat_session import ChatSession
from llama_gui.chats.attachments import Attachment
from llama_gui.chats.reasoning import answer_text, wraps_answers
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import Node
from llama_gui.errors import StoreError
from llama_gui.vocabulary import ChatSettings, SamplingParams
from tests.bridge.conftest import MakeBook, MakeHost
from tests.fakes.scripted_engine import ScriptedEngine

Ask = Callable[[ChatSession, str], None]


class Log:
    """What a session has said, in order."""

    def __init__(self, session: ChatSession) -> None:
        self.said: list[tuple[str, object]] = []
        self.text = ""
        session.accepted.connect(lambda: self.said.append(("accepted", None)))
        session.message_added.connect(lambda node: self.said.append((f"added {node.role}", node)))
        session.node_changed.connect(lambda node: self.said.append((f"node {node.status}", node)))
        session.failed.connect(lambda text: self.said.append(("failed", text)))
        session.returned.connect(lambda draft: self.said.append(("returned", draft.text)))
        session.answering_changed.connect(lambda yes: self.said.append(("answering", yes)))
        session.saved_changed.connect(lambda ok, text: self.said.append(("saved", (ok, text))))
        session.text_added.connect(self.add_text)

    def add_text(self, _node_id: str, text: str) -> None:
        self.text += text

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.said]

    def value(self, name: str) -> object:
        return next(value for said, value in self.said if said == name)


def stored(qtbot: QtBot, book: ChatBook, chat_id: str) -> list[Node]:
    """The nodes as they are on disk, after all that is on the lane by now."""
    got: list[list[Node]] = []
    book._store.run(lambda store: store.nodes(chat_id), got.append)
    qtbot.waitUntil(lambda: bool(got))
    return got[0]


def shape(nodes: list[Node]) -> list[tuple[str, str, str]]:
    return [(node.role, node.content, node.status) for node in nodes]


class Broken:
    """Makes the store fail like a full disk until it is mended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.text = "The disk is full."
        self.is_broken = False
        original = ChatStore.save_nodes

        def save_nodes(store: ChatStore, nodes: Iterable[Node]) -> None:
            if self.is_broken:
                raise StoreError(self.text)
            original(store, nodes)

        monkeypatch.setattr(ChatStore, "save_nodes", save_nodes)


def test_the_way_of_a_message(qtbot: QtBot, make_book: MakeBook, ask: Ask):
    book = make_book()
    session = book.new_chat()
    log = Log(session)
    ask(session, "tell me more")
    assert log.names == ["answering", "accepted", "added user", "added assistant", "node complete", "answering"]
    assert log.text == "tell me more"
    assert shape(session.path()) == [("user", "tell me more", "complete"), ("assistant", "tell me more", "complete")]
    assert session.title == "tell me more"
    qtbot.waitUntil(lambda: session.is_settled)
    assert stored(qtbot, book, session.chat_id) == session.path()


def test_the_message_is_on_disk_before_the_engine_is_asked(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook):
    on_disk: list[list[Node]] = []

    class Looking(ScriptedEngine):
        def submit(self, request, on_output=None, on_finish=None):
            other = ChatStore.open(book._store.path)
            on_disk.append(other.nodes(session.chat_id))
            other.close()
            return super().submit(request, on_output, on_finish)

    book = make_book(make_host(Looking()))
    session = book.new_chat()
    session.send("first")
    qtbot.waitUntil(lambda: not session.answering)
    assert shape(on_disk[0]) == [("user", "first", "complete")]


def test_a_second_message_carries_the_first_exchange(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook, ask: Ask):
    engine = ScriptedEngine({"one": ["1"], "two": ["2"]})
    session = make_book(make_host(engine)).new_chat()
    session.set_settings(ChatSettings("Be brief.", SamplingParams(temperature=0.5), max_tokens=9, stop=("END",)))
    ask(session, "one")
    ask(session, "two")
    request = engine.requests[-1]
    assert [(m.role, m.content) for m in request.messages or ()] == [
        ("system", "Be brief."),
        ("user", "one"),
        ("assistant", "1"),
        ("user", "two"),
    ]
    assert (request.sampling.temperature, request.max_tokens, request.stop) == (0.5, 9, ("END",))
    assert request.cache_key == session.chat_id
    assert session.title == "one"


def test_the_recipe_tells_how_the_answer_was_made(qtbot: QtBot, make_book: MakeBook, ask: Ask):
    session = make_book().new_chat()
    session.set_settings(ChatSettings(sampling=SamplingParams(temperature=0.5, seed=99)))
    ask(session, "a b c")
    answer = session.path()[-1]
    recipe = json.loads(answer.recipe)
    assert answer.model == "Scripted"
    assert recipe["sampling"]["temperature"] == 0.5
    assert recipe["sampling"]["top_k"] == 40  # the model's own, made explicit
    assert recipe["sampling"]["seed"] == 99
    assert recipe["finish_reason"] == "stop"
    assert recipe["usage"]["completion_tokens"] == 3
    assert session.last_result is not None


@pytest.mark.parametrize("wraps", [True, False])
def test_tags_around_an_answer_are_known_from_its_first_word_and_by_the_model_not_its_name(
    qtbot: QtBot, make_host: MakeHost, make_book: MakeBook, ask: Ask, wraps: bool
):
    written = ["<think>so</think>", "<response>", "Hi", "</response>"]
    engine = ScriptedEngine({"hello": written}, name="My favourite" if wraps else "Not Granite")
    engine.info = replace(engine.info, wraps_answers=wraps)
    session = make_book(make_host(engine)).new_chat()
    begun: list[Node] = []
    session.message_added.connect(begun.append)
    ask(session, "hello")
    assert [wraps_answers(node) for node in begun if node.role == "assistant"] == [wraps]
    assert answer_text(session.path()[-1]) == ("Hi" if wraps else "<response>Hi</response>")


def test_three_sessions_stream_at_once_and_one_is_stopped_alone(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook):
    words = {text: [f"{text}{n} " for n in range(6)] for text in "abc"}
    book = make_book(make_host(ScriptedEngine(words, hang_at=4)))
    sessions = [book.new_chat() for _ in "abc"]
    logs = [Log(session) for session in sessions]
    for session, text in zip(sessions, "abc", strict=True):
        session.send(text)
    qtbot.waitUntil(lambda: [log.text for log in logs] == ["".join(words[text][:4]) for text in "abc"])
    assert all(session.answering for session in sessions)
    sessions[1].stop()
    qtbot.waitUntil(lambda: not sessions[1].answering)
    assert sessions[0].answering
    assert sessions[2].answering
    assert shape(sessions[1].path())[-1] == ("assistant", "b0 b1 b2 b3 ", "stopped")


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_message_is_not_sent(qtbot: QtBot, make_book: MakeBook, text: str):
    session = make_book().new_chat()
    log = Log(session)
    session.send(text)
    assert log.names == ["failed"]
    assert session.path() == []


def test_while_it_answers_nothing_else_is_sent(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook):
    session = make_book(make_host(ScriptedEngine(hang_at=0))).new_chat()
    log = Log(session)
    session.send("one")
    session.send("two")
    session.regenerate()
    assert log.names == ["answering", "failed", "failed"]


def test_a_prompt_that_is_too_long_is_given_back(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook, ask: Ask):
    book = make_book(make_host(ScriptedEngine(max_context=4)))
    session = book.new_chat()
    log = Log(session)
    ask(session, "one two three four five")
    assert log.names[-3:] == ["returned", "answering", "failed"]
    assert log.value("returned") == "one two three four five"
    assert "5 tokens long" in str(log.value("failed"))
    assert shape(session.path()) == [("user", "one two three four five", "failed")]
    # The next message takes its place and is not burdened with it.
    ask(session, "one two")
    assert shape(session.path()) == [("user", "one two", "complete"), ("assistant", "one two", "complete")]
    qtbot.waitUntil(lambda: session.is_settled)
    assert shape(stored(qtbot, book, session.chat_id))[0] == ("user", "one two three four five", "failed")


def test_without_a_model_the_text_comes_back_and_can_be_sent_again_later(
    qtbot: QtBot, make_host: MakeHost, make_book: MakeBook, ask: Ask
):
    host = make_host(ScriptedEngine(), load=False)
    session = make_book(host).new_chat()
    log = Log(session)
    ask(session, "hello")
    assert log.value("failed") == "No model is open."
    assert log.value("returned") == "hello"
    with qtbot.waitSignal(host.loaded):
        host.load("/models/scripted")
    session.regenerate()
    qtbot.waitUntil(lambda: not session.answering)
    assert shape(session.path()) == [("user", "hello", "complete"), ("assistant", "hello", "complete")]


def test_a_failure_in_flight_keeps_the_text_and_the_reason(
    qtbot: QtBot, make_host: MakeHost, make_book: MakeBook, ask: Ask
):
    session = make_book(make_host(ScriptedEngine({"Hi": ["a", "b", "c"]}, fail_at=2))).new_chat()
    ask(session, "Hi")
    answer = session.path()[-1]
    assert (answer.content, answer.status) == ("ab", "failed")
    assert "not finite at token 2" in answer.error


def test_regenerating_shows_a_new_answer_and_keeps_the_old(
    qtbot: QtBot, make_host: MakeHost, make_book: MakeBook, ask: Ask
):
    engine = ScriptedEngine({"Hi": ["first"]})
    session = make_book(make_host(engine)).new_chat()
    ask(session, "Hi")
    engine._script["Hi"] = ["second"]
    session.regenerate()
    qtbot.waitUntil(lambda: not session.answering)
    assert shape(session.path())[1:] == [("assistant", "second", "complete")]
    assert [node.content for node in session._path.tree.children(session.path()[0].id)] == ["first", "second"]
    assert engine.requests[0].messages == engine.requests[1].messages


def test_regenerating_that_is_refused_shows_the_old_answer_again(
    qtbot: QtBot, make_host: MakeHost, make_book: MakeBook, ask: Ask
):
    engine = ScriptedEngine({"Hi": ["first"]})
    session = make_book(make_host(engine)).new_chat()
    ask(session, "Hi")
    engine.info = replace(engine.info, max_context=1)
    log = Log(session)
    session.regenerate()
    qtbot.waitUntil(lambda: not session.answering)
    assert shape(session.path()) == [("user", "Hi", "complete"), ("assistant", "first", "complete")]
    assert "returned" not in log.names
    assert "failed" in log.names


def test_a_question_that_is_too_long_says_what_takes_the_room(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook):
    session = make_book(make_host(ScriptedEngine(max_context=20))).new_chat()
    log = Log(session)
    session.send("What is this?", (Attachment("notes.md", "words " * 50, 300),))
    qtbot.waitUntil(lambda: not session.answering)
    assert "“notes.md”. Take it out, or attach a part of it." in log.value("failed")
    assert session.path()[-1].error == log.value("failed")


def test_there_must_be_something_to_regenerate(qtbot: QtBot, make_book: MakeBook):
    session = make_book().new_chat()
    log = Log(session)
    session.regenerate()
    assert log.names == ["failed"]


def test_stop_before_the_model_has_loaded_withdraws_the_question(
    qtbot: QtBot, make_host: MakeHost, make_book: MakeBook
):
    engine = ScriptedEngine()
    host = make_host(engine, load=False)
    session = make_book(host).new_chat()
    log = Log(session)
    with qtbot.waitSignal(host.loaded):
        host.load("/models/scripted")
        session.send("one")
        session.stop()
        qtbot.waitUntil(lambda: not session.answering)
    assert shape(session.path()) == [("user", "one", "complete")]
    assert "failed" not in log.names
    assert engine.requests == []


def test_a_message_that_nobody_answered_is_shown_after_a_restart(qtbot: QtBot, make_book: MakeBook, ask: Ask):
    session = make_book().new_chat()
    ask(session, "one")
    session.send("two")
    session.stop()
    qtbot.waitUntil(lambda: not session.answering)
    assert [node.content for node in session.path()] == ["one", "one", "two"]
    again = make_book().open_chat(session.chat_id)
    qtbot.waitUntil(lambda: again.is_loaded)
    assert [node.content for node in again.path()] == ["one", "one", "two"]


def test_a_message_that_cannot_be_saved_is_not_accepted(
    qtbot: QtBot, make_book: MakeBook, ask: Ask, monkeypatch: pytest.MonkeyPatch
):
    broken = Broken(monkeypatch)
    broken.is_broken = True
    session = make_book().new_chat()
    log = Log(session)
    ask(session, "precious")
    assert log.names == ["answering", "answering", "failed"]
    assert log.value("failed") == "The disk is full."
    broken.is_broken = False
    ask(session, "precious")
    assert shape(session.path())[0] == ("user", "precious", "complete")


def test_an_answer_that_cannot_be_saved_is_kept_and_saved_later(
    qtbot: QtBot, make_host: MakeHost, make_book: MakeBook, monkeypatch: pytest.MonkeyPatch
):
    broken = Broken(monkeypatch)
    book = make_book(make_host(ScriptedEngine({"Hi": ["a", "b"]}, hang_at=1)))
    session = book.new_chat()
    log = Log(session)
    session.send("Hi")
    qtbot.waitUntil(lambda: log.text == "a")
    broken.is_broken = True
    session.stop()
    qtbot.waitUntil(lambda: ("saved", (False, "The disk is full.")) in log.said)
    assert not session.is_settled
    assert session.path()[-1].status == "stopped"
    broken.is_broken = False
    qtbot.waitUntil(lambda: session.is_settled)
    assert log.said[-1] == ("saved", (True, ""))
    assert stored(qtbot, book, session.chat_id) == session.path()


def test_streaming_text_is_on_disk_while_it_streams(qtbot: QtBot, make_host: MakeHost, make_book: MakeBook):
    book = make_book(make_host(ScriptedEngine({"Hi": ["a", "b", "c"]}, hang_at=2)))
    session = book.new_chat()
    session.send("Hi")
    qtbot.waitUntil(
        lambda: shape(stored(qtbot, book, session.chat_id))[1:] == [("assistant", "ab", "streaming")], timeout=3000
    )


def test_settings_and_title_come_back(qtbot: QtBot, make_book: MakeBook, ask: Ask):
    book = make_book()
    session = book.new_chat()
    settings = ChatSettings("Be kind.", SamplingParams(temperature=0.1, logit_bias={5: 2.0}), 77, ("A", "B"))
    session.set_settings(settings)
    ask(session, "hello")
    session.retitle("  A new\nname ")
    qtbot.waitUntil(lambda: session.is_settled)
    book.close_chat(session.chat_id)
    assert book.sessions() == []
    again = book.open_chat(session.chat_id)
    with qtbot.waitSignal(again.changed):
        pass
    assert again.settings == settings
    assert again.title == "A new name"
    assert shape(again.path()) == [("user", "hello", "complete"), ("assistant", "hello", "complete")]


def test_a_name_given_while_the_first_message_is_saved_stays(qtbot: QtBot, make_book: MakeBook):
    book = make_book()
    session = book.new_chat()
    session.send("hello")
    session.retitle("Mine")
    qtbot.waitUntil(lambda: session.is_settled)
    assert session.title == "Mine"
    qtbot.waitUntil(lambda: [summary.title for summary in book.summaries()] == ["Mine"])


def test_a_message_sent_before_the_chat_was_read_comes_after_what_is_there(qtbot: QtBot, make_book: MakeBook, ask: Ask):
    book = make_book()
    session = book.new_chat()
    ask(session, "one")
    qtbot.waitUntil(lambda: session.is_settled)
    book.close_chat(session.chat_id)
    again = book.open_chat(session.chat_id)
    ask(again, "two")
    assert [node.content for node in again.path()] == ["one", "one", "two", "two"]


def test_stop_before_the_chat_was_read_gives_the_text_back(qtbot: QtBot, make_book: MakeBook):
    session = make_book().open_chat("unknown")
    log = Log(session)
    session.send("early")
    session.stop()
    assert log.value("returned") == "early"
    with qtbot.waitSignal(session.changed):
        pass
    assert session.path() == []


def test_a_queued_message_that_stop_gave_back_is_not_taken_for_the_next_one(qtbot: QtBot, make_book: MakeBook):
    session = make_book().open_chat("unknown")
    log = Log(session)
    session.send("one")
    session.queue_message("two")
    session.stop()
    session.send_queued()
    session.stop()
    assert [value for name, value in log.said if name == "returned"] == ["one", "two"]
    log.said.clear()
    session.send("three")  # the composer holds it, and waits to be told that it may forget it
    qtbot.waitUntil(lambda: len(session.path()) == 2 and session.is_settled)
    assert log.names.count("accepted") == 1


def test_a_chat_that_cannot_be_read_says_so(qtbot: QtBot, make_book: MakeBook, monkeypatch: pytest.MonkeyPatch):
    def fail(_store: ChatStore, _chat_id: str) -> None:
        raise StoreError("The disk refused.")

    with monkeypatch.context() as patch:
        patch.setattr(ChatStore, "chat", fail)
        session = make_book().open_chat("some")
        log = Log(session)
        session.send("early")
        qtbot.waitUntil(lambda: "failed" in log.names)
    assert log.value("failed") == "This chat could not be read. The disk refused."
    assert not session.answering
    session.send("again")  # which tries to read it again
    qtbot.waitUntil(lambda: len(session.path()) == 2 and session.is_settled)
    assert not session.answering


def test_what_cannot_be_stored_is_cleaned_at_the_door(qtbot: QtBot, make_book: MakeBook, ask: Ask):
    book = make_book()
    session = book.new_chat()
    ask(session, "a\ud800b\0c")
    assert session.path()[0].content == "a\ufffdb\u2400c"
    qtbot.waitUntil(lambda: session.is_settled)
    assert stored(qtbot, book, session.chat_id) == session.path()
