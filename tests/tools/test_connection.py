"""Servers that are odd: of another time, of few words, of bad manners."""

import json
import sys

import pytest

from llama_gui.vocabulary import ToolServer
from tests.tools.conftest import Talk, odd


def test_all_pages_of_a_list_are_read(talk: Talk):
    _run, state = talk.start(odd("pages"))
    assert [tool.name for tool in state.tools] == [f"tool{n}" for n in range(6)]
    assert len(state.tools[0].description) < 10_100  # of 20,000 that it says


def test_a_list_without_an_end_is_read_for_a_while(talk: Talk):
    _run, state = talk.start(odd("endless"))
    assert len(state.tools) == 300


def test_what_it_prints_besides_is_passed_over(talk: Talk):
    run, state = talk.start(odd("banner"))
    assert state.status == "ready"
    assert talk.call(run, "tool0", deep={"a": [1, None, "ü"]}).text == json.dumps({"deep": {"a": [1, None, "ü"]}})


def test_one_that_ends_at_any_other_beginning_is_told_the_usual_one_first(talk: Talk):
    _run, state = talk.start(odd("first must be initialize"))
    assert state.status == "ready"


def test_one_that_knows_only_the_newer_beginning_is_met_in_it(talk: Talk):
    run, state = talk.start(odd("modern"))
    assert [tool.name for tool in state.tools] == ["tool0"]
    assert talk.call(run, "tool0", a=1).text == '{"a": 1}'


def test_one_without_tools_is_ready_and_offers_none(talk: Talk):
    _run, state = talk.start(odd("no tools"))
    assert (state.status, state.tools) == ("ready", ())


def test_a_reply_that_is_none_is_told_as_such(talk: Talk):
    run, _state = talk.start(odd("rubbish"))
    reply = talk.call(run, "tool0")
    assert reply.is_error
    assert "cannot be understood" in reply.text


def test_half_a_letter_does_no_harm(talk: Talk):
    run, _state = talk.start(odd("half a letter"))
    talk.call(run, "tool0").text.encode()


@pytest.mark.parametrize(
    ("command", "args", "words"),
    [
        ("no-such-program", (), "the program no-such-program is not found"),
        (
            sys.executable,
            ("-c", "import sys; sys.exit('no key')"),
            "ended with exit code 1.\nIt said last:\nno key",
        ),
        (sys.executable, ("-c", "while True: print('tick')"), "does not speak the Model Context Protocol"),
        (sys.executable, ("-c", "print('hello')"), "It wrote something that is no message: hello"),
        (sys.executable, ("a\0b",), "cannot be started: embedded null byte"),
    ],
)
def test_what_cannot_be_a_server_is_told_in_words(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, command: str, args: tuple[str, ...], words: str
):
    monkeypatch.setattr("llama_gui.tools.program._GRACE_S", 0.3)  # to the one that goes on
    _run, state = talk.start(ToolServer("mine", command, args))
    assert state.status == "failed"
    assert state.error.startswith("“mine”: ")
    assert command in state.error
    assert words in state.error


def test_a_line_that_is_too_long_ends_it(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("llama_gui.tools.program.LONGEST_LINE", 10_000)
    _run, state = talk.start(odd("pages"))  # one description has twice that
    assert state.status == "failed"
    assert "wrote a line of more than" in state.error


def test_one_that_never_answers_is_given_up(talk: Talk):
    strict = Talk(start_s=0.5)
    _run, state = strict.start(odd("silent"))
    assert state.status == "failed"
    assert "did not answer within 0.5 s" in state.error
    assert strict.client.close(4.0)


def test_one_whose_list_cannot_be_understood_fails(talk: Talk):
    _run, state = talk.start(odd("broken"))
    assert state.status == "failed"
    assert "what it sent cannot be understood" in state.error
