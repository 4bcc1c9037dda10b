"""Anthropic's own client against our server: what it expects is what we send."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any, Literal

import anthropic
import pydantic
import pytest

from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams
from llama_gui.server.limits import ServerLimits
from llama_gui.server.serve import ApiServer
from tests.server.conftest import KEY, Serve, ServedScript

ASKED: list[Any] = [{"role": "user", "content": "What is this application?"}]
GREEDY: Any = {"extra_body": {"temperature": 0}}  # the protocol has it, the client no more
WEATHER: Any = {
    "name": "weather",
    "description": "Tell it.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
CALL = '<tool_call>{"name": "weather", "arguments": {"city": "Århus"}}</tool_call>'


def options(server: ApiServer) -> dict[str, Any]:
    return {"base_url": server.url.removesuffix("/v1"), "api_key": KEY, "max_retries": 0}


@pytest.fixture
def ask(server: ApiServer) -> Iterator[anthropic.Anthropic]:
    http = anthropic.DefaultHttpxClient(
        verify=False
    )  # to read all certificates of the web takes longer than most tests
    with anthropic.Anthropic(**options(server), http_client=http) as client:
        yield client


def client_of(server: ApiServer) -> anthropic.Anthropic:
    return anthropic.Anthropic(**options(server), http_client=anthropic.DefaultHttpxClient(verify=False))


@pytest.fixture
def model(starter: Engine) -> str:
    return starter.info.name


def library_answer(engine: Engine, max_tokens: int):
    sampling = SamplingParams(temperature=0)
    messages = [Message("user", ASKED[0]["content"])]
    return engine.generate(GenerateRequest(messages=messages, max_tokens=max_tokens, sampling=sampling))


def test_an_answer_is_the_librarys(ask: anthropic.Anthropic, model: str, starter: Engine):
    reply = ask.messages.create(model=model, messages=ASKED, max_tokens=30, **GREEDY)
    expected = library_answer(starter, 30)
    assert reply.content[0].text == expected.text != ""
    assert reply.usage.output_tokens == expected.usage.completion_tokens
    assert reply._request_id
    assert ask.messages.count_tokens(model=model, messages=ASKED).input_tokens == expected.usage.prompt_tokens


def test_the_clients_own_accumulator_follows(ask: anthropic.Anthropic, model: str, starter: Engine):
    with ask.messages.stream(model=model, messages=ASKED, max_tokens=30, **GREEDY) as stream:
        said = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert said == final.content[0].text == library_answer(starter, 30).text
    assert final.stop_reason in ("end_turn", "max_tokens")
    assert final.usage.output_tokens > 0


def test_the_models_are_listed(ask: anthropic.Anthropic, model: str):
    assert [entry.id for entry in ask.models.list()] == [model]
    assert ask.models.retrieve(model).display_name == model


class Count(pydantic.BaseModel):
    n: Literal[1, 2]


def test_an_answer_is_read_as_what_it_must_be(ask: anthropic.Anthropic, model: str):
    reply = ask.messages.parse(model=model, messages=ASKED, max_tokens=300, output_format=Count, **GREEDY)
    assert reply.parsed_output.n in (1, 2)


@pytest.mark.parametrize("stream", [False, True])
def test_its_tool_runner_goes_through_a_whole_turn(serve: Serve, stream: bool):
    @anthropic.beta_tool
    def weather(city: str) -> str:
        """Tell it."""
        return json.dumps({"asked": city})

    engine = ServedScript({"Rain?": ["I look.\n", CALL[:20], CALL[20:]], '{"asked": "\\u00c5rhus"}': ["It", " rains."]})
    with client_of(serve(engine)) as client:
        asked: Any = {"model": "Scripted", "max_tokens": 50, "messages": [{"role": "user", "content": "Rain?"}]}
        runner: Any = client.beta.messages.tool_runner(tools=[weather], stream=stream, **asked)
        replies = [turn.get_final_message() if stream else turn for turn in runner]
    assert [reply.stop_reason for reply in replies] == ["tool_use", "end_turn"]
    assert replies[0].content[1].input == {"city": "Århus"}
    assert replies[1].content[0].text == "It rains."
    _, asked_for, told = engine.requests[-1].messages or ()
    assert asked_for.content.strip() == "I look."
    assert asked_for.tool_calls[0]["id"] == told.tool_call_id
    assert (told.role, told.name) == ("tool", "weather")


def test_input_that_comes_in_pieces(serve: Serve):
    engine = ServedScript({"Rain?": ['{"ci', 'ty": "Å', 'rhus \\"', 'x\\" 🎉"', "}"]})
    with client_of(serve(engine)) as client:
        choice: Any = {"type": "tool", "name": "weather"}
        asked: Any = {"model": "Scripted", "max_tokens": 50, "messages": [{"role": "user", "content": "Rain?"}]}
        with client.messages.stream(tools=[WEATHER], tool_choice=choice, **asked) as stream:
            snapshots = [event.snapshot for event in stream if event.type == "input_json"]
            (block,) = stream.get_final_message().content
    assert block.input == {"city": 'Århus "x" 🎉'}
    assert len(snapshots) == 5
    assert snapshots[-1] == block.input


def test_what_is_thought_goes_back_as_it_came(serve: Serve):
    thought = ["<think>\nLet me ", "see.\n</think>\n\n", CALL]
    engine = ServedScript({"Rain?": thought, "It rains.": ["Wet."]})
    with client_of(serve(engine)) as client:
        history: list[Any] = [{"role": "user", "content": "Rain?"}]
        asked: Any = {"model": "Scripted", "max_tokens": 2000, "tools": [WEATHER]}
        thinking: Any = {"type": "enabled", "budget_tokens": 1024}
        reply = client.messages.create(messages=history, thinking=thinking, **asked)
        assert [block.type for block in reply.content] == ["thinking", "tool_use"]
        result = {"type": "tool_result", "tool_use_id": reply.content[1].id, "content": "It rains."}
        history += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": [result]}]
        assert client.messages.create(messages=history, thinking=thinking, **asked).content[0].text == "Wet."
    assert engine.requests[-1].thinking is True
    assert (engine.requests[-1].messages or ())[1].content == "<think>\nLet me see.\n</think>\n\n"


def test_errors_are_those_that_the_client_knows(ask: anthropic.Anthropic, model: str):
    for change, error, words in (
        ({"model": "nobody"}, anthropic.NotFoundError, "There is no model"),
        ({"messages": [{"role": "user", "content": "long " * 4000}]}, anthropic.BadRequestError, "prompt is too long"),
        ({"mcp_servers": [{"url": "x"}]}, anthropic.BadRequestError, "mcp_servers"),
    ):
        asked: Any = {"model": model, "messages": ASKED, "max_tokens": 5, "extra_body": change, **change}
        asked = {name: value for name, value in asked.items() if name != "mcp_servers"}
        with pytest.raises(error, match=words) as caught:
            ask.messages.create(**asked)
        assert caught.value.request_id
    with pytest.raises(anthropic.AuthenticationError):
        ask.with_options(api_key="sk-wrong").messages.create(model=model, messages=ASKED, max_tokens=5)


def test_an_answer_that_fails_in_the_midst_is_an_error(serve: Serve):
    with client_of(serve(ServedScript(fail_at=2))) as client:
        asked: Any = {"model": "Scripted", "messages": ASKED, "max_tokens": 9}
        with pytest.raises(anthropic.APIStatusError, match="not finite"), client.messages.stream(**asked) as stream:
            stream.until_done()


def test_many_at_once_get_each_their_own(serve: Serve):
    server = serve(ServedScript(tokens_per_second=500), limits=ServerLimits(streams=4, queue=64))
    texts = [f"question number {number} of many ß🎉" for number in range(30)]

    async def ask_one(client: anthropic.AsyncAnthropic, text: str) -> str:
        asked: Any = {"model": "Scripted", "messages": [{"role": "user", "content": text}], "max_tokens": 50}
        async with client.messages.stream(**asked) as stream:
            return "".join([piece async for piece in stream.text_stream])

    async def ask_all() -> list[str]:
        http = anthropic.DefaultAsyncHttpxClient(verify=False)
        async with anthropic.AsyncAnthropic(**options(server), http_client=http) as client:
            return await asyncio.gather(*(ask_one(client, text) for text in texts))

    assert asyncio.run(ask_all()) == texts
