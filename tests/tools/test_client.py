"""A real server, by the official library, started as users start theirs."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llama_gui.tools.client import MISSING
from llama_gui.vocabulary import ToolReply
from tests.tools.conftest import Talk, odd, talking, until


class Ready(Talk):
    """With one server for all that do it no harm."""

    def __init__(self, noted: Path) -> None:
        super().__init__(start_s=60.0)  # its library takes a second and more to load
        self.noted = noted
        env = {"CANCELLED_FILE": str(noted), "TOLD": "this"}
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HF_TOKEN", "a secret")
            self.run, self.first = self.start(talking(env=env))

    def ask(self, tool: str, **arguments: Any) -> ToolReply:
        return self.call(self.run, tool, **arguments)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ready]:
    ready = Ready(tmp_path_factory.mktemp("ready") / "noted")
    assert ready.first.status == "ready"
    yield ready
    assert ready.client.close(4.0)
    assert ready.left() == []
    assert "tools" not in [thread.name for thread in threading.enumerate()]


def test_it_says_what_it_offers(ready: Ready):
    tools = {tool.name: tool for tool in ready.first.tools}
    add = tools["add"]
    assert (add.server, add.title, add.description) == ("talking", "Add up", "The sum of two numbers.")
    assert set(add.parameters["properties"]) == {"a", "b"}
    assert add.only_reads
    assert not tools["fail"].only_reads


def test_a_tool_is_called(ready: Ready):
    reply = ready.ask("add", a=2, b=3)
    assert (reply.text, reply.is_error) == ("5", False)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("fail", {}, "the cupboard is bare"),
        ("add", {"a": "two", "b": 3}, "should be a valid integer"),
        ("nothing of the kind", {}, "Unknown tool: nothing of the kind"),
    ],
)
def test_what_goes_wrong_is_told_to_the_model(ready: Ready, tool: str, arguments: dict, words: str):
    reply = ready.ask(tool, **arguments)
    assert reply.is_error
    assert words in reply.text


def test_of_pictures_and_sounds_it_is_told_that_they_came(ready: Ready):
    assert ready.ask("picture").text.splitlines() == [
        "see:",
        "[A picture came, which cannot be shown here: image/png, 300 bytes.]",
        "[A sound came, which cannot be shown here: audio/wav, 3 bytes.]",
    ]


def test_a_long_reply_is_cut(ready: Ready):
    text = ready.ask("long").text
    assert text.startswith("x" * 100_000 + "\n[150000 of 250000 characters are left out")
    assert len(text) < 100_100


def test_it_learns_of_our_environment_only_what_is_safe(ready: Ready):
    text = ready.ask("environment").text
    assert "'TOLD': 'this'" in text
    assert "PATH" in text
    assert "a secret" not in text


def test_a_cancelled_call_is_cancelled_there_too(ready: Ready):
    ready.client.call(50, ready.run, "wait", {})
    assert ready.ask("add", a=1, b=1).text == "2"  # so the other has begun
    ready.client.cancel(50)
    assert until(ready.noted.exists)
    assert ready.ask("add", a=2, b=2).text == "4"
    assert ready.replies.empty()


def test_what_it_offers_may_change(ready: Ready):
    ready.ask("grow")
    after = ready.state(ready.run)
    assert after.status == "ready"
    assert {tool.name for tool in after.tools} - {tool.name for tool in ready.first.tools} == {"grown"}
    assert ready.ask("grown").text == "new"


def test_a_call_that_takes_too_long_is_cancelled():
    talk = Talk(call_s=0.3)
    run, _state = talk.start(odd("slow"))
    reply = talk.call(run, "tool0")
    assert reply.is_error
    assert "did not reply within 0.3 s" in reply.text
    program = talk.client._connections[run].program
    assert until(lambda: "cancelled:" in program.last_words())
    assert talk.client.close(4.0)


def test_one_that_dies_takes_its_calls_along(talk: Talk):
    run, _state = talk.start(odd("dies"))
    talk.client.call(50, run, "later", {})
    talk.client.call(51, run, "now", {})
    assert {talk.replies.get(timeout=9), talk.replies.get(timeout=9)} == {
        (number, ToolReply("“odd” has ended, and the call with it.", is_error=True)) for number in (50, 51)
    }
    state = talk.state(run)
    assert (state.status, state.tools) == ("failed", ())
    assert "ended with exit code 7" in state.error
    assert state.error.endswith("the last words")
    assert talk.call(run, "later").is_error


def test_a_server_is_started_again_when_it_has_ended(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("llama_gui.tools.program._GRACE_S", 0.5)
    talk.client.start(100, odd("stubborn"))
    assert until(lambda: len(talk.left()) == 1, 30)
    talk.client.stop(100)
    talk.client.start(101, odd("plain"))
    assert talk.state(100).status == "off"
    assert talk.state(101).status == "ready"
    assert len(talk.left()) == 1


def test_one_that_is_not_wanted_any_more_is_not_started(talk: Talk):
    first, _state = talk.start(odd("plain"))
    talk.client.start(100, odd("plain"))
    talk.client.stop(100)
    talk.client.stop(first)
    assert talk.state(first).status == "off"
    assert talk.state(100).status == "off"
    assert talk.left() == []


def test_at_the_end_nothing_is_started_any_more(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    from llama_gui.tools.program import Program

    started, may_go_on = [], threading.Event()
    monkeypatch.setattr(Program, "start", started.append)
    talk.client.start(1, odd("plain"))
    assert talk.state(1).status == "failed"  # so that the thread is there
    started.clear()
    talk.client._soon(may_go_on.wait)  # as long as the library takes to load
    talk.client.start(2, odd("plain"))
    end = threading.Thread(target=talk.client.close, args=(4.0,))
    end.start()
    assert until(lambda: talk.client._loop is None)
    may_go_on.set()
    end.join()
    assert started == []
    assert talk.state(2).status == "off"


def test_without_the_library_it_says_what_to_install(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    for name in ("connection", "http", "stdio", "program", "replies"):
        monkeypatch.delitem(sys.modules, f"llama_gui.tools.{name}", raising=False)
    _run, state = talk.start(odd("plain"))
    assert (state.status, state.error) == ("failed", MISSING)
