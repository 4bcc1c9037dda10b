"""A model that thinks between control tokens, as Magistral does: every client is told what was thought as such."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llama_gui.engine import Engine
from llama_gui.server.serve import ApiServer
from tests.fakes.tiny_llama import write_answering_model
from tests.server.conftest import Serve, ask, client_of, question
from tests.server.test_messages import body_of, both

THOUGHT, SAID = "Light is scattered.", "Because of the air."
CALLED = '[THINK]Let me look.[/THINK][TOOL_CALLS]weather[ARGS]{"days": 3}</s>'
SCHEMA = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}
TOOL: Any = {"type": "function", "function": {"name": "weather", "description": "Tells it.", "parameters": SCHEMA}}


@contextlib.contextmanager
def answering(answer: str, folder: Path, kernel_notes: Path) -> Iterator[Engine]:
    write_answering_model(folder, "magistral", answer, behind="[/INST]")
    with Engine.load(folder, device="cpu", threads=1, kernel_notes=kernel_notes) as engine:
        engine.warmup()  # its thread belongs to the engine, not to the first test
        yield engine


@pytest.fixture(scope="module")
def thinker(kernel_notes: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    answer = f"[THINK]{THOUGHT}[/THINK]{SAID}</s>"
    with answering(answer, tmp_path_factory.mktemp("thinker"), kernel_notes) as engine:
        yield engine


@pytest.fixture(scope="module")
def caller(kernel_notes: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with answering(CALLED, tmp_path_factory.mktemp("caller"), kernel_notes) as engine:
        yield engine


@pytest.fixture
def server(serve: Serve, thinker: Engine) -> ApiServer:
    return serve(thinker)


def test_openais_client_gets_it_between_tags_whole_and_streaming(server: ApiServer, thinker: Engine):
    asked: Any = {"model": thinker.info.name, "messages": question("Why?")["messages"]}
    with client_of(server) as client:
        told = f"<think>\n{THOUGHT}\n</think>\n\n{SAID}"
        assert client.chat.completions.create(**asked).choices[0].message.content == told
        chunks = [
            chunk.choices[0].delta.content or "" for chunk in client.chat.completions.create(**asked, stream=True)
        ]
        assert "".join(chunks) == told
        assert len(chunks) > 5
        more = [*asked["messages"], {"role": "assistant", "content": told}, {"role": "user", "content": "And?"}]
        ids = ask(server, {"messages": more}, "/tokenize")[1]["tokens"]
        prompt = ask(server, {"tokens": ids}, "/detokenize")[1]["content"]
        assert prompt.endswith(f"[INST]Why?[/INST][THINK]{THOUGHT}[/THINK]{SAID}</s>[INST]And?[/INST]")


def test_anthropics_clients_get_a_block_of_it(server: ApiServer):
    content = both(server, body_of("Why?"))["content"]
    assert [(block["type"], block.get("thinking", block.get("text"))) for block in content] == [
        ("thinking", THOUGHT),
        ("text", SAID),
    ]


def test_ollamas_clients_get_it_apart(server: ApiServer):
    message = ask(server, question("Why?", think=True, stream=False), "/api/chat")[1]["message"]
    assert (message["thinking"], message["content"]) == (THOUGHT, SAID)


def test_a_budget_ends_it(server: ApiServer):
    """What comes behind the mark is as the model likes: this one goes on as from the mark it wrote itself."""
    asked = question("Why?", thinking_token_budget=1, skip_special_tokens=False)
    content = ask(server, asked)[1]["choices"][0]["message"]["content"]
    assert content == f"[THINK]Light [/THINK]{SAID}"


def test_calls_behind_thoughts_are_calls(serve: Serve, caller: Engine):
    server = serve(caller)
    asked: Any = {"model": caller.info.name, "messages": question("Is it warm?")["messages"], "tools": [TOOL]}
    with client_of(server) as client:
        choice = client.chat.completions.create(**asked).choices[0]
        (call,) = choice.message.tool_calls or ()
        assert (choice.finish_reason, choice.message.content) == ("tool_calls", "<think>\nLet me look.\n</think>")
        assert (call.function.name, call.function.arguments) == ("weather", '{"days": 3}')  # type: ignore[union-attr]
    tool = {"name": "weather", "description": "Tells it.", "input_schema": SCHEMA}
    content = both(server, body_of("Is it warm?", tools=[tool]))["content"]
    assert [block["type"] for block in content] == ["thinking", "tool_use"]
    assert (content[0]["thinking"], content[1]["input"]) == ("Let me look.", {"days": 3})


def test_calls_that_must_be_and_forms_leave_no_room_for_it(server: ApiServer):
    pytest.importorskip("llguidance")
    asked = question("Is it warm?", tools=[TOOL], tool_choice="required", max_tokens=200, seed=1)
    message = ask(server, asked)[1]["choices"][0]["message"]
    assert message["tool_calls"][0]["function"]["name"] == "weather"
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"enum": [1, 2]}}}
    reply = ask(server, question("How many?", response_format=form))[1]
    assert reply["choices"][0]["message"]["content"] in ("1", "2")


@pytest.mark.parametrize("is_list", [True, False])
def test_thoughts_are_read_as_mistrals_clients_write_them(server: ApiServer, is_list: bool):
    def part(text: str) -> dict[str, Any]:
        return {"type": "thinking", "thinking": [{"type": "text", "text": text}] if is_list else text}

    def text(said: str) -> dict[str, Any]:
        return {"type": "text", "text": said}

    told = [text("Think first, like this:"), part("Your thoughts."), text("Your answer.")]
    messages = [
        {"role": "system", "content": told},
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": [part("Hm."), text("So.")]},
        {"role": "user", "content": [text("And?")]},
    ]
    ids = ask(server, {"messages": messages}, "/tokenize")[1]["tokens"]
    usual = ask(server, {"messages": [{"role": "user", "content": "Why?"}]}, "/tokenize")[1]["tokens"]
    assert ids[: len(usual)] == usual  # with the marks of the template, and once
    prompt = ask(server, {"tokens": ids}, "/detokenize")[1]["content"]
    assert prompt.endswith("[INST]Why?[/INST][THINK]Hm.[/THINK]So.</s>[INST]And?[/INST]")
    messages[-1] = {"role": "user", "content": [part("Hm.")]}
    status, reply = ask(server, {"messages": messages}, "/tokenize")
    assert (status, reply["error"]["param"]) == (400, "messages[3].content[0].type")
    messages[-1] = {"role": "assistant", "content": [{"type": "thinking", "thinking": [{"type": "image_url"}]}]}
    status, reply = ask(server, {"messages": messages}, "/tokenize")
    assert (status, reply["error"]["param"]) == (400, "messages[3].content[0].thinking[0].type")
