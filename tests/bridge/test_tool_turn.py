"""Calls of tools in a chat: asked for, made, declined, broken off; what the model is told, and what is kept."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.chat_session import ChatSession
from llama_gui.bridge.chat_turn import MOST_ROUNDS
from llama_gui.bridge.tool_turn import DECLINED, LEAST_ROOM
from llama_gui.chats.recipe import read_recipe
from llama_gui.chats.tool_use import NOT_MADE, read_use
from llama_gui.vocabulary import ToolInfo, ToolReply, ToolServer, ToolServerState
from tests.bridge.conftest import MakeBook, MakeHost
from tests.bridge.test_chat_session import shape, stored
from tests.fakes.fake_tool_desk import CLOCK, FakeToolDesk, clock_desk
from tests.fakes.scripted_engine import ScriptedEngine

CALL = '<tool_call>\n{"name": "now", "arguments": {"zone": "Oslo"}}\n</tool_call>'
SAID = ["Let me", " look.", "\n", *(CALL[at : at + 5] for at in range(0, len(CALL), 5))]
SCRIPT = {"time?": SAID, "It is noon.": ["Noon", " it is."]}

Start = Callable[..., ChatSession]


@pytest.fixture
def start(make_book: MakeBook, make_host: MakeHost) -> Start:
    """A chat with the clock; the engine and the desk are its `engine` and `desk`."""

    def start(desk: FakeToolDesk | None = None, engine: ScriptedEngine | None = None) -> ChatSession:
        engine = engine or ScriptedEngine(SCRIPT)
        book = make_book(make_host(engine))
        book.tools = desk or clock_desk({"now": ToolReply("It is noon.")})
        book.tools.setParent(book)
        session = book.new_chat()
        session.set_tools(["clock"])
        session.engine, session.book = engine, book  # type: ignore[attr-defined]
        return session

    return start


def wait_for_question(qtbot: QtBot, session: ChatSession) -> None:
    qtbot.waitUntil(lambda: session.tool_question is not None)


def ask_the_time(qtbot: QtBot, session: ChatSession) -> None:
    """Until the call waits for the user's word."""
    session.send("time?")
    wait_for_question(qtbot, session)


def test_the_user_is_asked_the_tool_called_and_the_answer_goes_on(qtbot: QtBot, start: Start):
    session = start()
    asked, shown = [], []
    session.tool_asked.connect(asked.append)
    session.text_added.connect(lambda _node, text: shown.append(text))
    ask_the_time(qtbot, session)
    assert session.answering
    assert session.tools.calls == []
    assert session.tool_question.tool == CLOCK
    assert json.loads(session.tool_question.arguments) == {"zone": "Oslo"}
    assert shape(session.path())[1:] == [("assistant", "Let me look.", "complete"), ("tool", "", "streaming")]
    session.decide("once")
    qtbot.waitUntil(lambda: not session.answering)
    assert session.tools.calls == [("clock/now", {"zone": "Oslo"})]
    assert [question is None for question in asked] == [False, True]
    assert shape(session.path())[2:] == [("tool", "It is noon.", "complete"), ("assistant", "Noon it is.", "complete")]
    assert "tool_call" not in "".join(shown)
    first, second = session.engine.requests
    assert [tool["function"]["name"] for tool in first.tools] == ["now"]
    user, called, replied = second.messages
    assert (user.role, called.content, replied.role, replied.content) == ("user", "Let me look.", "tool", "It is noon.")
    call = called.tool_calls[0]
    assert call["function"] == {"name": "now", "arguments": {"zone": "Oslo"}}
    assert (replied.tool_call_id, replied.name) == (call["id"], "now")
    assert first.cache_key == second.cache_key == session.chat_id
    qtbot.waitUntil(lambda: session.is_settled)
    assert stored(qtbot, session.book, session.chat_id) == session.path()
    assert read_recipe(session.path()[1].recipe).written == "".join(SAID)
    assert session.settings.allowed_tools == ()


def test_a_call_between_tags(qtbot: QtBot, start: Start):
    """Its arguments are what the tool's schema says: this zone is a text."""
    written = "<tool_call>\n<function=now>\n<parameter=zone>\n2\n</parameter>\n</function>\n</tool_call>"
    session = start(engine=ScriptedEngine({**SCRIPT, "time?": ["I look.\n", written[:20], written[20:]]}))
    ask_the_time(qtbot, session)
    session.decide("once")
    qtbot.waitUntil(lambda: not session.answering)
    assert session.tools.calls == [("clock/now", {"zone": "2"})]
    assert session.path()[1].content == "I look."


def test_always_is_asked_once(qtbot: QtBot, start: Start):
    session = start()
    ask_the_time(qtbot, session)
    session.decide("always")
    qtbot.waitUntil(lambda: not session.answering)
    assert session.settings.allowed_tools == ("clock/now",)
    asked = []
    session.tool_asked.connect(asked.append)
    session.send("time?")
    qtbot.waitUntil(lambda: not session.answering)
    assert asked == []
    assert len(session.tools.calls) == 2


def test_declined_the_model_is_told(qtbot: QtBot, start: Start):
    session = start()
    ask_the_time(qtbot, session)
    session.decide("decline")
    qtbot.waitUntil(lambda: not session.answering)
    assert session.tools.calls == []
    assert session.engine.requests[1].messages[-1].content == DECLINED
    assert session.path()[2].status == "stopped"
    assert session.path()[-1].role == "assistant"


@pytest.mark.parametrize("is_called", [False, True])
def test_stop_while_a_call_waits_or_runs(qtbot: QtBot, start: Start, is_called: bool):
    session = start(clock_desk({}))
    ask_the_time(qtbot, session)
    if is_called:
        session.decide("once")
        assert session.tools.calls
    session.stop()
    assert not session.answering
    assert session.tool_question is None
    assert session.tools.cancelled == ([1] if is_called else [])
    assert session.path()[-1].status == "stopped"
    session.tools.replied.emit(1, ToolReply("too late"))
    assert session.path()[-1].content == ""
    session.decide("once")
    assert len(session.tools.calls) == is_called
    session.send("next")
    qtbot.waitUntil(lambda: not session.answering)
    assert [m.role for m in session.engine.requests[-1].messages] == ["user", "assistant", "tool", "user"]
    assert session.engine.requests[-1].messages[2].content == NOT_MADE


def test_a_call_that_was_broken_off_is_made_later(qtbot: QtBot, start: Start):
    session = start()
    ask_the_time(qtbot, session)
    session.stop()
    session.go_on(session.path()[-1].id)
    wait_for_question(qtbot, session)
    assert shape(session.path())[-1] == ("tool", "", "streaming")
    session.decide("once")
    qtbot.waitUntil(lambda: not session.answering)
    assert session.tools.calls == [("clock/now", {"zone": "Oslo"})]
    assert shape(session.path())[2:] == [("tool", "It is noon.", "complete"), ("assistant", "Noon it is.", "complete")]
    assert len(session.engine.requests) == 2


def test_a_call_of_a_tool_that_is_not_there_any_more_is_told(qtbot: QtBot, start: Start):
    session = start()
    failures = []
    session.failed.connect(failures.append)
    ask_the_time(qtbot, session)
    session.stop()
    session.set_tools([])
    session.go_on(session.path()[-1].id)
    assert len(failures) == 1
    assert not session.answering
    assert session.path()[-1].status == "stopped"


def test_the_end_of_the_session_marks_it(qtbot: QtBot, start: Start):
    session = start(clock_desk({}))
    ask_the_time(qtbot, session)
    session.close()
    assert session.path()[-1].status == "interrupted"
    assert not session.answering


def test_errors_are_told_and_long_replies_cut(qtbot: QtBot, start: Start):
    reply = "a" * 50_000 + "the end"
    session = start(clock_desk({"now": ToolReply(reply, is_error=True)}), ScriptedEngine(SCRIPT, max_context=100))
    ask_the_time(qtbot, session)
    session.decide("once")
    qtbot.waitUntil(lambda: not session.answering)
    node = session.path()[2]
    assert node.status == "failed"
    assert len(node.content) < LEAST_ROOM + 100
    assert node.content.endswith("the end")
    assert f"{len(reply) - LEAST_ROOM} characters were left out" in node.content


def test_two_calls_of_one_answer_are_made_one_after_the_other(qtbot: QtBot, start: Start):
    other = ToolInfo("weather", "now", "", {})
    desk = clock_desk({"now": ToolReply("reply")}, other)
    calls = "".join(CALL.replace('"now"', f'"{name}"') for name in ("clock_now", "weather_now"))
    session = start(desk, ScriptedEngine({"time?": [calls], "reply": ["done"]}))
    session.set_tools(["clock", "weather"])
    desk.set_state("weather", ToolServerState("ready", (other,)))  # it had ended, because no chat used it
    session.send("time?")
    for _ in range(2):
        wait_for_question(qtbot, session)
        session.decide("once")
    qtbot.waitUntil(lambda: not session.answering)
    assert [key for key, _ in desk.calls] == ["clock/now", "weather/now"]
    roles = [message.role for message in session.engine.requests[1].messages]
    assert roles == ["user", "assistant", "tool", "tool"]
    called = session.engine.requests[1].messages[1]
    assert called.content == ""
    ids = [call["id"] for call in called.tool_calls]
    assert len(set(ids)) == 2
    assert [message.tool_call_id for message in session.engine.requests[1].messages[2:]] == ids
    assert [read_use(node.recipe).server for node in session.path() if node.role == "tool"] == ["clock", "weather"]


def test_a_server_that_starts_is_waited_for_and_one_that_fails_is_told(qtbot: QtBot, start: Start):
    session = start()
    failures = []
    session.failed.connect(failures.append)
    awaited = []
    session.tools_awaited.connect(awaited.append)
    session.tools.set_state("clock", ToolServerState("starting"))
    session.send("time?")
    qtbot.waitUntil(lambda: awaited == [True])
    assert session.answering
    assert session.engine.requests == []
    session.tools.set_state("clock", ToolServerState("failed", error="clock could not be started."))
    qtbot.waitUntil(lambda: not session.answering)
    assert failures == ["clock could not be started."]
    assert awaited == [True, False]
    assert session.engine.requests[0].tools is None
    assert session.path()[-1].content == "".join(SAID)  # nothing was offered, so it is text
    session.tools.set_state("clock", ToolServerState("starting"))
    session.send("once more")
    qtbot.wait(20)
    session.stop()
    assert not session.answering
    session.tools.set_state("clock", ToolServerState("ready", (CLOCK,)))
    qtbot.wait(20)
    assert len(session.engine.requests) == 1


def test_a_model_without_a_place_for_tools_is_taken_at_its_word(qtbot: QtBot, start: Start):
    session = start(engine=ScriptedEngine(SCRIPT, tools=False))
    session.send("time?")
    qtbot.waitUntil(lambda: not session.answering)
    assert session.path()[-1].content == "".join(SAID)


def test_it_does_not_go_on_for_ever(qtbot: QtBot, start: Start):
    session = start(engine=ScriptedEngine({"time?": [CALL], "It is noon.": [CALL]}))
    failures = []
    session.failed.connect(failures.append)
    ask_the_time(qtbot, session)
    session.decide("always")
    qtbot.waitUntil(lambda: not session.answering)
    assert len(session.tools.calls) == MOST_ROUNDS
    assert len(failures) == 1
    session.regenerate()
    qtbot.waitUntil(lambda: len(session.tools.calls) > MOST_ROUNDS)
    session.stop()


def test_a_call_that_was_made_again_is_the_same(qtbot: QtBot, start: Start):
    session = start()
    ask_the_time(qtbot, session)
    session.decide("always")
    qtbot.waitUntil(lambda: not session.answering)
    same = []
    session.reproduced.connect(same.append)
    session.run_again(session.path()[1].id)
    qtbot.waitUntil(lambda: not session.answering)
    assert same == [True]
    assert shape(session.path())[1:] == [
        ("assistant", "Let me look.", "complete"),
        ("tool", "It is noon.", "complete"),
        ("assistant", "Noon it is.", "complete"),
    ]
    session.regenerate()  # the last answer, which stands behind the reply
    qtbot.waitUntil(lambda: not session.answering)
    assert [message.role for message in session.engine.requests[-1].messages] == ["user", "assistant", "tool"]
    assert session.versions()[session.path()[-1].id] == (2, 2)


def test_what_is_cut_short_calls_nothing(qtbot: QtBot, start: Start):
    session = start(engine=ScriptedEngine(SCRIPT, hang_at=len(SAID) - 1))
    session.send("time?")
    qtbot.waitUntil(lambda: bool(session.engine.requests) and session.path()[-1].content.startswith("Let me look."))
    qtbot.wait(50)
    assert session.path()[-1].content.strip() == "Let me look."
    session.stop()
    qtbot.waitUntil(lambda: not session.answering)
    assert session.path()[-1].content == "".join(SAID[:-1])
    assert session.path()[-1].status == "stopped"
    assert session.tool_question is None


def test_a_server_that_no_chat_uses_any_more_ends(qtbot: QtBot, start: Start):
    session = start()
    other = session.book.new_chat()
    other.set_tools(["clock"])
    session.set_tools([])
    assert session.tools.state("clock").status == "ready"
    other.send("hello")
    qtbot.waitUntil(lambda: other.is_settled and not other.answering)
    session.book.close_chat(other.chat_id)
    qtbot.waitUntil(lambda: session.tools.state("clock").status == "off")


def test_for_a_model_without_a_place_for_tools_no_server_is_started(qtbot: QtBot, start: Start):
    desk = clock_desk({})
    desk.set_state("clock", ToolServerState())
    session = start(desk, ScriptedEngine({"time?": ["It", " is", " late."]}, tools=False))
    session.send("time?")
    qtbot.waitUntil(lambda: not session.answering)
    assert shape(session.path())[1:] == [("assistant", "It is late.", "complete")]
    assert session.settings.tools == ("clock",)
    assert desk.started == []


def test_chats_keep_the_tools_of_a_server_that_gets_another_name(
    qtbot: QtBot, make_book: MakeBook, make_host: MakeHost
):
    book = make_book(make_host(ScriptedEngine(tools=False)))
    server = ToolServer("a/b", command="run")
    book.tools.keep(server)
    open_one, closed, other = (book.new_chat() for _ in range(3))
    for session, tools in ((open_one, ("a/b", "git")), (closed, ("git", "a/b")), (other, ("git",))):
        session.set_settings(replace(session.settings, tools=tools, allowed_tools=("a%2Fb/now", "git/now")))
        session.send("Hi")
        qtbot.waitUntil(lambda session=session: not session.answering)
    with qtbot.waitSignal(book.chat_closed):
        book.close_chat(closed.chat_id)
    book.tools.keep(ToolServer("clock", command="run"), former="a/b")
    assert open_one.settings.tools == ("clock", "git")
    assert open_one.settings.allowed_tools == ("clock/now", "git/now")
    again = book.open_chat(closed.chat_id)
    qtbot.waitUntil(lambda: again.settings.tools == ("git", "clock"))
    assert again.settings.allowed_tools == ("clock/now", "git/now")
    assert other.settings.tools == ("git",)
    qtbot.waitUntil(lambda: all(session.is_settled for session in book.sessions()))
    got: list[tuple[str, ...]] = []
    chat_id = open_one.chat_id
    book._store.run(lambda store: store.chat(chat_id).settings.tools, got.append)
    qtbot.waitUntil(lambda: bool(got))
    assert got == [("clock", "git")]


def test_what_is_called_in_thoughts_is_not_asked_for(qtbot: QtBot, start: Start):
    engine = ScriptedEngine({"time?": ["<think>", *SAID, "</think>", "No."]})
    session = start(engine=engine)
    session.send("time?")
    qtbot.waitUntil(lambda: not session.answering)
    assert session.tools.calls == []
    assert shape(session.path())[1:] == [("assistant", f"<think>{''.join(SAID)}</think>No.", "complete")]


@pytest.mark.parametrize("marks", [False, True])
def test_json_alone_is_a_call_only_where_calls_have_no_marks(qtbot: QtBot, start: Start, marks: bool):
    written = json.dumps({"name": "now", "parameters": {"zone": "Oslo"}})
    engine = ScriptedEngine({"time?": [written[:9], written[9:]], "It is noon.": ["Noon."]})
    engine.info = replace(engine.info, marks_calls=marks)
    session = start(engine=engine)
    session.send("time?")
    if not marks:
        wait_for_question(qtbot, session)
        return
    qtbot.waitUntil(lambda: not session.answering)
    assert shape(session.path())[1:] == [("assistant", written, "complete")]
