"""/v1/responses through OpenAI's own client: over the starter model, and over scripts where calls are wanted."""

import json
import re
from dataclasses import replace
from typing import Any

import openai
import pydantic
import pytest

from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams
from llama_gui.server.refusal import RefusedError
from llama_gui.server.responses.request import read_response
from llama_gui.server.serve import ApiServer
from tests.server.conftest import Serve, ServedScript, ask, client_of, connect, exchange, post
from tests.server.test_connection import eventually
from tests.server.test_routes import dechunk

PATH = "/v1/responses"
ASKED = "What is this application?"
SAMPLING: dict[str, Any] = {"temperature": 1.2, "top_p": 0.9, "extra_body": {"seed": 5}}
WEATHER: Any = {
    "type": "function",
    "name": "weather",
    "description": "Tell it.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": False,
}


@pytest.fixture
def model(starter: Engine) -> str:
    return starter.info.name


def library_answer(engine: Engine, messages: list[Message], max_tokens: int):
    sampling = SamplingParams(temperature=1.2, top_p=0.9, seed=5)
    return engine.generate(GenerateRequest(messages=messages, max_tokens=max_tokens, sampling=sampling))


def read_events(server: ApiServer, body: dict[str, Any]) -> list[dict[str, Any]]:
    status, headers, raw = exchange(server, post(PATH, server, {**body, "stream": True}))
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    events = []
    for part in dechunk(raw).decode().split("\n\n")[:-1]:
        kind, data = part.split("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert kind == f"event: {events[-1]['type']}"
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


def test_a_response_is_the_librarys_answer(client, model, starter):
    response = client.responses.create(model=model, input=ASKED, max_output_tokens=300, **SAMPLING)
    expected = library_answer(starter, [Message("user", ASKED)], 300)
    assert response.output_text == expected.text != ""
    assert (response.status, response.error, response.store) == ("completed", None, False)
    assert (response.temperature, response.top_p, response.max_output_tokens) == (1.2, 0.9, 300)
    usage = response.usage
    assert (usage.input_tokens, usage.output_tokens) == (expected.usage.prompt_tokens, expected.usage.completion_tokens)
    assert usage.total_tokens == usage.input_tokens + usage.output_tokens
    (item,) = response.output
    assert (item.type, item.role, item.status) == ("message", "assistant", "completed")


def test_a_conversation_with_instructions(client, model, starter):
    said = {"type": "output_text", "text": "Hi.", "annotations": []}
    given = [
        {"role": "user", "content": [{"type": "input_text", "text": "Hel"}, {"type": "input_text", "text": "lo"}]},
        {"type": "message", "role": "assistant", "content": [said]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"role": "user", "content": ASKED},
    ]
    response = client.responses.create(
        model=model, instructions="Be brief.", input=given, max_output_tokens=20, **SAMPLING
    )
    system, user, last = Message("system", "Be brief."), Message("user", "Hello"), Message("user", ASKED)
    messages = [system, user, Message("assistant", "Hi."), last]
    assert response.output_text == library_answer(starter, messages, 20).text
    assert response.instructions == "Be brief."


def test_what_was_said_goes_on_as_the_client_keeps_it(client, model):
    """Output items are input items of the next request."""
    first = client.responses.create(model=model, input=ASKED, max_output_tokens=10)
    history = [{"role": "user", "content": ASKED}, *first.output, {"role": "user", "content": "And then?"}]
    assert client.responses.create(model=model, input=history, max_output_tokens=5).output_text


def test_a_response_that_is_cut_is_incomplete(client, model):
    response = client.responses.create(model=model, input=ASKED, max_output_tokens=3, temperature=0)
    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert response.output[0].status == "incomplete"
    *_, last = client.responses.create(model=model, input=ASKED, max_output_tokens=3, temperature=0, stream=True)
    assert (last.type, last.response.status) == ("response.incomplete", "incomplete")


def test_a_stream_has_the_events_that_clients_wait_for(client, model, starter):
    events = list(client.responses.create(model=model, input=ASKED, max_output_tokens=300, stream=True, **SAMPLING))
    expected = library_answer(starter, [Message("user", ASKED)], 300)
    kinds = [event.type for event in events]
    deltas = kinds.count("response.output_text.delta")
    assert deltas > 3
    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        *["response.output_text.delta"] * deltas,
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == expected.text
    assert events[-1].response.output_text == expected.text
    assert events[-1].response.usage.output_tokens == expected.usage.completion_tokens
    assert {event.item_id for event in events[3:-2]} == {events[-1].response.output[0].id}
    assert {event.response.id for event in (events[0], events[1], events[-1])} == {events[0].response.id}


def test_the_clients_own_accumulator_follows(client, model, starter):
    with client.responses.stream(model=model, input=ASKED, max_output_tokens=300, **SAMPLING) as stream:
        snapshots = [event.snapshot for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert snapshots[-1] == final.output_text == library_answer(starter, [Message("user", ASKED)], 300).text


def test_a_form_of_the_text(client, model):
    class Place(pydantic.BaseModel):
        warm: bool

    response = client.responses.parse(model=model, input=ASKED, text_format=Place, max_output_tokens=60)
    assert isinstance(response.output_parsed, Place)


# --- calls


def test_calls_and_what_comes_back(serve: Serve):
    call_text = '\n<tool_call>{"name": "weather", "arg'
    engine = ServedScript({"Rain?": ["I look.", call_text, 'uments": {"city": "Oslo"}}', "</tool_call>"]})
    with client_of(serve(engine)) as client:
        history: list[Any] = [{"role": "user", "content": "Rain?"}]
        response = client.responses.create(model="Scripted", input=history, tools=[WEATHER])
        said, call = response.output
        assert (response.status, said.content[0].text.strip(), call.type) == ("completed", "I look.", "function_call")
        assert (call.name, json.loads(call.arguments)) == ("weather", {"city": "Oslo"})
        assert re.fullmatch("[A-Za-z0-9]{9}", call.call_id)  # Mistral's templates take no other
        function = {key: value for key, value in WEATHER.items() if key != "type"}
        assert engine.requests[0].tools == [{"type": "function", "function": function}]
        with client.responses.stream(model="Scripted", input=history, tools=[WEATHER]) as stream:
            kinds = [event.type for event in stream]
            final = stream.get_final_response()
        assert [item.type for item in final.output] == ["message", "function_call"]
        assert kinds[-6:] == [
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
        history += [*response.output, {"type": "function_call_output", "call_id": call.call_id, "output": "It rains."}]
        client.responses.create(model="Scripted", input=history, tools=[WEATHER])
        _, asked, told = engine.requests[-1].messages or ()
        assert (asked.role, asked.content.strip()) == ("assistant", "I look.")  # one message, as templates want it
        assert asked.tool_calls[0]["function"] == {"name": "weather", "arguments": {"city": "Oslo"}}
        assert asked.tool_calls[0]["id"] == told.tool_call_id == call.call_id
        assert (told.role, told.content) == ("tool", "It rains.")


def kinds_of(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events]


@pytest.mark.parametrize("choice", ["required", {"type": "function", "name": "weather"}])
@pytest.mark.parametrize("is_cut", [False, True])
def test_a_call_that_must_be_is_told_as_it_is_written(serve: Serve, choice: Any, is_cut: bool):
    head, end = ('{"name": "weather", "arguments": ', "}") if choice == "required" else ("", "")
    engine = ServedScript({"Rain?": [head + '{"city":', ' "Oslo"}' + end]})
    server = serve(engine)
    body = {"input": "Rain?", "tools": [WEATHER], "tool_choice": choice, "max_output_tokens": 1 if is_cut else None}
    written, status = ('{"city":', "incomplete") if is_cut else ('{"city": "Oslo"}', "completed")
    whole, events = ask(server, body, PATH)[1], read_events(server, body)
    for response in (whole, events[-1]["response"]):
        (call,) = response["output"]
        assert (response["status"], call["status"], call["type"]) == (status, status, "function_call")
        assert (call["name"], call["arguments"]) == ("weather", written)
    deltas = [event["delta"] for event in events if "delta" in event]
    assert "".join(deltas) == written
    assert kinds_of(events) == [
        "created",
        "in_progress",
        "output_item.added",
        *["function_call_arguments.delta"] * len(deltas),
        "function_call_arguments.done",
        "output_item.done",
        status,
    ]
    assert len(deltas) == (1 if is_cut else 2)


@pytest.mark.parametrize("is_cut", [False, True])
def test_of_calls_that_must_be_only_the_last_can_be_cut(serve: Serve, is_cut: bool):
    call = '{"name": "weather", "arguments": {}}'
    engine = ServedScript({"Rain?": [f"[{call}, {call[:-2]}", "}}]"]})
    server = serve(engine)
    body = {"input": "Rain?", "tools": [WEATHER], "tool_choice": "required", "max_output_tokens": 1 if is_cut else None}
    last = ("{", "incomplete") if is_cut else ("{}", "completed")
    whole, events = ask(server, body, PATH)[1], read_events(server, body)
    for response in (whole, events[-1]["response"]):
        told = [(call["arguments"], call["status"]) for call in response["output"]]
        assert told == [("{}", "completed"), last]
        assert len({call["id"] for call in response["output"]}) == 2
    places = [event["output_index"] for event in events if event["type"].startswith("response.function_call")]
    assert places == ([0, 0, 1, 1] if is_cut else [0, 0, 1, 1, 1])


def test_of_the_tools_only_some_are_allowed(serve: Serve):
    engine = ServedScript({"Rain?": ["No."]})
    other = {**WEATHER, "name": "tides"}
    allowed = [{"type": "web_search"}, {"type": "function", "name": "tides"}]
    choice: Any = {"type": "allowed_tools", "mode": "auto", "tools": allowed}
    with client_of(serve(engine)) as client:
        response = client.responses.create(model="Scripted", input="Rain?", tools=[WEATHER, other], tool_choice=choice)
    assert response.tool_choice.to_dict() == choice
    assert [tool["function"]["name"] for tool in engine.requests[0].tools or ()] == ["tides"]


def test_the_tag_of_reasoning_begins_the_text(serve: Serve):
    engine = ServedScript()
    engine.info = replace(engine.info, thinking=True, thinking_tag="<think>\n")
    server = serve(engine)
    for output in (
        ask(server, {"input": "one"}, PATH)[1]["output"],
        read_events(server, {"input": "one"})[-1]["response"]["output"],
    ):
        assert output[0]["content"][0]["text"] == "<think>\none"
    quiet = {"input": "one", "reasoning": {"effort": "none"}}
    assert read_events(server, quiet)[-1]["response"]["output"][0]["content"][0]["text"] == "one"
    assert engine.requests[-1].thinking is False


# --- what goes wrong


def user(part: Any) -> dict[str, Any]:
    return {"input": [{"role": "user", "content": [part]}]}


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"input": None}, "input"),
        ({"input": []}, "input"),
        ({"input": 5}, "input"),
        ({"input": ["x"]}, "input[0]"),
        ({"input": [{"role": "king", "content": "x"}]}, "input[0].role"),
        ({"input": [{"content": "x"}]}, "input[0].role"),
        (user({"type": "input_image", "image_url": "/etc/passwd"}), "input[0].content[0].image_url"),
        (user({"type": "input_text"}), "input[0].content[0].type"),
        (user("x"), "input[0].content[0]"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0].type"),
        ({"input": [{"type": "function_call", "call_id": "x"}]}, "input[0].name"),
        ({"input": [{"type": "function_call_output", "output": "x"}]}, "input[0].call_id"),
        ({"instructions": 5}, "instructions"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"temperature": "warm"}, "temperature"),
        ({"truncation": "some"}, "truncation"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format"),
        ({"text": {"format": {"type": "xml"}}}, "text.format"),
        ({"reasoning": {"effort": 5}}, "reasoning.effort"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"tools": [WEATHER], "tool_choice": {"type": "file_search"}}, "tool_choice"),
        ({"tools": [WEATHER], "tool_choice": {"type": "function", "name": "g"}}, "tool_choice"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"background": True}, "background"),
        ({"prompt": {"id": "x"}}, "prompt"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"metadata": "x"}, "metadata"),
    ],
)
def test_what_is_wrong_is_named(change, param):
    with pytest.raises(RefusedError) as caught:
        read_response({"input": "Hi", **change})
    assert (caught.value.status, caught.value.param) == (400, param)
    assert "messages" not in caught.value.message


def test_what_asks_for_nothing_is_taken():
    harmless = {
        "store": True, "include": ["reasoning.encrypted_content"], "metadata": {"a": "b"}, "background": False,
        "previous_response_id": None, "truncation": "disabled", "user": "u", "service_tier": "auto", "stream": False,
        "text": {"format": {"type": "text"}, "verbosity": "low"}, "reasoning": {"summary": "auto"}, "tools": [],
        "prompt_cache_key": "x", "parallel_tool_calls": True, "tool_choice": "auto", "max_output_tokens": None,
    }  # fmt: skip
    asked = read_response({"input": "Hi", **harmless})
    assert asked.requests == read_response({"input": "Hi"}).requests
    assert asked.response is not None
    assert (asked.response["store"], asked.response["metadata"]) == (False, {"a": "b"})
    assert read_response({"input": "Hi", "truncation": "auto"}).requests[0].overflow == "drop_oldest"


def test_tools_of_other_kinds_are_left_out_among_functions():
    """As Codex sends them."""
    tools = [{"type": "web_search"}, WEATHER, {"type": "namespace", "name": "agents", "tools": []}]
    asked = read_response({"input": "Hi", "tools": tools})
    assert asked.requests == read_response({"input": "Hi", "tools": [WEATHER]}).requests
    assert asked.response is not None
    assert asked.response["tools"] == [WEATHER]


def test_what_the_developer_says_is_one_message():
    texts = [{"role": "developer", "content": "two"}, {"role": "user", "content": "Hi"}]
    (request,) = read_response({"instructions": "one", "input": texts}).requests
    assert request.messages == [Message("system", "one\n\ntwo"), Message("user", "Hi")]


def test_errors_have_the_clients_shape(client, model):
    for change, error, param in (
        ({"model": "nobody"}, openai.NotFoundError, "model"),
        ({"input": "long " * 4000}, openai.BadRequestError, "input"),
        ({"previous_response_id": "resp_1"}, openai.BadRequestError, "previous_response_id"),
    ):
        with pytest.raises(error) as caught:
            client.responses.create(**{"model": model, "input": "Hi", **change})
        assert caught.value.param == param


def test_an_answer_that_fails_has_no_false_end(serve: Serve):
    server = serve(ServedScript(fail_at=2))
    status, reply = ask(server, {"input": "one two three"}, PATH)
    assert (status, reply["error"]["code"]) == (500, "generation_failed")
    last = read_events(server, {"input": "one two three"})[-1]
    assert (last["type"], last["response"]["status"]) == ("response.failed", "failed")
    assert "not finite" in last["response"]["error"]["message"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_goes_away_frees_its_place(serve: Serve, stream: bool):
    engine = ServedScript(hang_at=1)
    server = serve(engine)
    gate = server._routes.generator.gate  # type: ignore[union-attr]
    with connect(server) as client:
        client.sendall(post(PATH, server, {"input": "one two", "stream": stream}))
        assert eventually(lambda: gate.taken == 1 and bool(engine._jobs))
    assert eventually(lambda: gate.taken == 0 and not engine._jobs)


INCLUDED: dict[str, Any] = {"include": ["message.output_text.logprobs"], "top_logprobs": 2}


def test_how_likely_the_tokens_were(client, model, starter):
    asked: Any = {"model": model, "input": ASKED, "max_output_tokens": 12, "temperature": 0}
    response = client.responses.create(**asked, **INCLUDED)
    part = response.output[0].content[0]
    expected = starter.generate(
        GenerateRequest(
            messages=[Message("user", ASKED)], max_tokens=12, sampling=SamplingParams(temperature=0), logprobs=2
        )
    )
    assert "".join(entry.token for entry in part.logprobs) == part.text == expected.text
    assert bytes(byte for entry in part.logprobs for byte in entry.bytes).decode() == part.text
    assert all(len(entry.top_logprobs) == 2 for entry in part.logprobs)
    assert response.top_logprobs == 2
    events = list(client.responses.create(**asked, **INCLUDED, stream=True))
    streamed = [entry for e in events if e.type == "response.output_text.delta" for entry in e.logprobs]
    (done,) = [event for event in events if event.type == "response.output_text.done"]
    assert [e.token for e in streamed] == [e.token for e in done.logprobs] == [e.token for e in part.logprobs]
    assert events[-1].response.output[0].content[0].logprobs == part.logprobs
    assert client.responses.create(**asked).output[0].content[0].logprobs == []


@pytest.mark.parametrize("stream", [False, True])
def test_the_tokens_of_a_call_are_no_messages(serve: Serve, stream: bool):
    pieces = ["I look.", "\n<tool", '_call>{"name": "weather", "arguments": {}}', "</tool_call>"]
    server = serve(ServedScript({"Rain?": pieces}))
    body = {"input": "Rain?", "tools": [WEATHER], **INCLUDED, "top_logprobs": 0}
    response = read_events(server, body)[-1]["response"] if stream else ask(server, body, PATH)[1]
    message, call = response["output"]
    assert call["type"] == "function_call"
    assert [entry["token"] for entry in message["content"][0]["logprobs"]][:1] == ["t0"]
    assert len(message["content"][0]["logprobs"]) <= 2


def test_other_servers_fields_are_read_as_in_a_chat():
    fields = {"stop_token_ids": [5], "bad_words": ["a"], "n_predict": None, "n": 1, "truncate_prompt_tokens": 9}
    (request,) = read_response({"input": "Hi", **fields}).requests
    assert (request.stop_token_ids, request.sampling.bad_words, request.truncate_prompt_tokens) == ((5,), ("a",), 9)
    changes: list[tuple[dict[str, Any], str]] = [
        ({"n": 2}, "n"), ({"best_of": 2}, "best_of"), ({"mirostat": 2}, "mirostat"), ({"include": "x"}, "include"),
        ({"top_logprobs": 2}, "top_logprobs"), ({"max_tokens": 5}, "max_tokens"), ({"messages": []}, "messages"),
        ({"response_format": {"type": "text"}}, "response_format"), ({"return_token_ids": True}, "return_token_ids"),
        ({"reasoning_effort": "low"}, "reasoning_effort"), ({"logprobs": True}, "logprobs"),
    ]  # fmt: skip
    for change, param in changes:
        with pytest.raises(RefusedError) as caught:
            read_response({"input": "Hi", **change})
        assert caught.value.param == param
