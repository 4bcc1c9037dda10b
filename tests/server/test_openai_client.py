"""OpenAI's own client against our server over the starter model: what it expects is what we send."""

import asyncio
import contextlib
import functools
import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import openai
import pytest

from llama_gui.engine import Engine, GenerateRequest, GenerateResult, Job, Message, SamplingParams, TokenOutput
from tests.fakes.tiny_llama import write_tiny_llama
from tests.server.conftest import Serve, ServedScript, async_client_of, client_of
from tests.server.test_connection import eventually

ASKED: list = [{"role": "user", "content": "What is this application?"}]
SAMPLING = {"temperature": 1.2, "top_p": 0.9, "seed": 5}


@pytest.fixture
def model(starter: Engine) -> str:
    return starter.info.name


@pytest.fixture(scope="module")
def library_answer(starter: Engine):
    @functools.cache
    def library_answer(max_tokens: int, seed: int = 5) -> GenerateResult:
        sampling = SamplingParams(temperature=1.2, top_p=0.9, seed=seed)
        messages = [Message("user", ASKED[0]["content"])]
        return starter.generate(GenerateRequest(messages=messages, max_tokens=max_tokens, sampling=sampling))

    return library_answer


def test_the_models_are_listed(client, model):
    assert [entry.id for entry in client.models.list()] == [model]
    assert client.models.retrieve(model).owned_by == "llama-gui"


def test_an_answer_is_the_librarys(client, model, library_answer):
    reply = client.chat.completions.create(model=model, messages=ASKED, max_tokens=30, **SAMPLING)
    expected = library_answer(30)
    assert reply.choices[0].message.content == expected.text != ""
    assert reply.choices[0].finish_reason == expected.finish_reason
    assert reply.usage.completion_tokens == expected.usage.completion_tokens
    assert reply.usage.prompt_tokens == expected.usage.prompt_tokens
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


def test_a_stream_joins_to_the_same_answer(client, model, library_answer):
    chunks = list(
        client.chat.completions.create(
            model=model, messages=ASKED, max_completion_tokens=30, stream=True,
            stream_options={"include_usage": True}, **SAMPLING,
        )
    )  # fmt: skip
    *pieces, last = chunks
    expected = library_answer(30)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in pieces) == expected.text
    assert pieces[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in pieces][-1] == expected.finish_reason
    assert last.choices == []
    assert last.usage.completion_tokens == expected.usage.completion_tokens
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_fingerprint_stands_where_a_seed_gives_equal_bits(client, model, serve: Serve):
    asked = {"model": model, "messages": ASKED, "max_tokens": 2}
    one, other = (client.chat.completions.create(**asked) for _ in range(2))
    chunks = list(client.chat.completions.create(**asked, stream=True))
    completion = client.completions.create(model=model, prompt="A", max_tokens=1)
    found = {reply.system_fingerprint for reply in (one, other, completion, *chunks)}
    assert re.fullmatch("fp_[0-9a-f]{12}", "".join(found))
    with client_of(serve(ServedScript())) as client:  # which does not promise it
        reply = client.chat.completions.create(model="Scripted", messages=ASKED)
    assert reply.system_fingerprint is None


@pytest.mark.parametrize("content", ["", "  ", []])
def test_a_message_may_be_empty(client, model, content):
    """Agents send such messages, and OpenAI and vLLM answer them."""
    messages: list = [{"role": "system", "content": "Greet."}, {"role": "user", "content": content}]
    reply = client.chat.completions.create(model=model, messages=messages, max_tokens=3, temperature=0)
    assert reply.usage.completion_tokens > 0


def test_choices_have_seeds_of_their_own(client, model, library_answer):
    reply = client.chat.completions.create(model=model, messages=ASKED, max_tokens=20, n=3, **SAMPLING)
    assert [choice.index for choice in reply.choices] == [0, 1, 2]
    assert [choice.message.content for choice in reply.choices] == [library_answer(20, seed).text for seed in (5, 6, 7)]
    one = client.chat.completions.create(model=model, messages=ASKED, max_tokens=20, **SAMPLING)
    assert reply.usage.prompt_tokens == one.usage.prompt_tokens


def test_choices_stream_together(client, model, library_answer):
    texts = ["", ""]
    for chunk in client.chat.completions.create(
        model=model, messages=ASKED, max_tokens=20, n=2, stream=True, **SAMPLING
    ):
        texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert texts == [library_answer(20, seed).text for seed in (5, 6)]


def test_probabilities_are_told(client, model, library_answer):
    reply = client.chat.completions.create(
        model=model, messages=ASKED, max_tokens=12, logprobs=True, top_logprobs=3, temperature=0
    )
    tokens = reply.choices[0].logprobs.content
    assert b"".join(bytes(token.bytes) for token in tokens).decode() == reply.choices[0].message.content
    assert all(token.logprob <= 0 and len(token.top_logprobs) == 3 for token in tokens)
    assert all(token.top_logprobs[0].token == token.token for token in tokens)  # greedy takes the likeliest
    drawn = library_answer(12)
    assert len(tokens) == len(drawn.token_ids)


def test_a_stream_tells_probabilities_too(client, model):
    whole = client.chat.completions.create(model=model, messages=ASKED, max_tokens=12, logprobs=True, temperature=0)
    tokens = [
        token
        for chunk in client.chat.completions.create(
            model=model, messages=ASKED, max_tokens=12, logprobs=True, temperature=0, stream=True
        )
        if chunk.choices[0].logprobs
        for token in chunk.choices[0].logprobs.content
    ]
    assert tokens == whole.choices[0].logprobs.content


def test_completions_write_on(client, model, starter):
    request = GenerateRequest(prompt="The side bar", max_tokens=5, sampling=SamplingParams(temperature=0))
    expected = starter.generate(request)
    reply = client.completions.create(model=model, prompt="The side bar", max_tokens=5, temperature=0, logprobs=2)
    assert reply.choices[0].text == expected.text
    logprobs = reply.choices[0].logprobs
    assert len(logprobs.tokens) == len(logprobs.token_logprobs) == len(logprobs.text_offset) == 5
    assert [offset for offset in logprobs.text_offset if offset > len(expected.text)] == []
    streamed = client.completions.create(model=model, prompt="The side bar", max_tokens=5, temperature=0, stream=True)
    assert "".join(chunk.choices[0].text for chunk in streamed) == expected.text


def test_completions_take_several_prompts_and_token_ids(client, model, starter):
    ids = starter.tokenizer.encode("A tab", add_special_tokens=True)
    texts = client.completions.create(model=model, prompt=["A tab", "A seed"], max_tokens=2, temperature=0, n=2)
    assert [choice.index for choice in texts.choices] == [0, 1, 2, 3]
    assert texts.choices[0].text == texts.choices[1].text
    assert client.completions.create(model=model, prompt=ids, max_tokens=2, temperature=0).choices[0].text == (
        texts.choices[0].text
    )
    assert texts.usage.completion_tokens == 8


def test_stop_texts_end_the_answer(client, model):
    free = client.chat.completions.create(model=model, messages=ASKED, temperature=0, max_tokens=40)
    word = free.choices[0].message.content.split()[3]
    cut = client.chat.completions.create(model=model, messages=ASKED, temperature=0, max_tokens=40, stop=[word])
    assert cut.choices[0].finish_reason == "stop"
    assert cut.choices[0].message.content == free.choices[0].message.content.partition(word)[0]


def test_biases_change_what_is_drawn(client, model, starter):
    free = starter.generate(
        GenerateRequest(prompt="The side bar", max_tokens=1, sampling=SamplingParams(temperature=0))
    )
    bias = {str(free.token_ids[0]): -100}
    reply = client.completions.create(model=model, prompt="The side bar", max_tokens=1, temperature=0, logit_bias=bias)
    assert reply.choices[0].text != free.text


def test_json_mode_gives_json(client, model):
    schema = {
        "type": "object",
        "properties": {"city": {"enum": ["Oslo", "Rome"]}, "warm": {"type": "boolean"}},
        "required": ["city", "warm"],
        "additionalProperties": False,
    }
    form: dict = {"type": "json_schema", "json_schema": {"name": "place", "schema": schema, "strict": True}}
    reply = client.chat.completions.create(model=model, messages=ASKED, seed=1, max_tokens=200, response_format=form)
    assert json.loads(reply.choices[0].message.content)["city"] in ("Oslo", "Rome")
    assert reply.choices[0].finish_reason == "stop"


def test_one_of_some_texts(client, model):
    choices = ["Yes, (a+b).", "Nö 😀", "C:\\x [y] {z}^$|?*"]
    for fields in ({"guided_choice": choices}, {"structured_outputs": {"choice": choices}}):
        reply = client.chat.completions.create(model=model, messages=ASKED, max_tokens=50, extra_body=fields)
        assert reply.choices[0].message.content in choices
        assert reply.choices[0].finish_reason == "stop"
    for text in choices:  # each of them can be followed
        reply = client.chat.completions.create(
            model=model, messages=ASKED, max_tokens=50, extra_body={"guided_choice": [text]}
        )
        assert reply.choices[0].message.content == text


def test_json_that_is_cut_says_so(client, model):
    schema = {"type": "object", "properties": {"a": {"type": "string", "minLength": 500}}, "required": ["a"]}
    form: dict = {"type": "json_schema", "json_schema": {"name": "long", "schema": schema}}
    reply = client.chat.completions.create(model=model, messages=ASKED, seed=1, max_tokens=8, response_format=form)
    assert reply.choices[0].finish_reason == "length"
    assert reply.choices[0].message.content


@pytest.mark.parametrize("stream", [False, True])
def test_an_expression_that_is_cut_says_so(client, model, stream: bool):
    reply = client.chat.completions.create(
        model=model, messages=ASKED, seed=1, max_tokens=4, stream=stream, extra_body={"guided_regex": "[a-z]{50}"}
    )
    chunks = list(reply) if stream else [reply]
    assert chunks[-1].choices[0].finish_reason == "length"


CITY: dict = {"type": "object", "properties": {"city": {"const": "Oslo"}}, "required": ["city"]}
CITY_FORM = {"type": "json_schema", "json_schema": {"name": "place", "schema": CITY}}
BEGUN = [*ASKED, {"role": "assistant", "content": "This is"}]
GO_ON = {"continue_final_message": True, "add_generation_prompt": False}


@pytest.mark.parametrize(
    "change",
    [
        {"response_format": CITY_FORM, "stop": ["city"]},
        {"extra_body": {"allowed_token_ids": [20], "banned_token_ids": [20]}},
        {"messages": BEGUN, "response_format": CITY_FORM, "extra_body": GO_ON},
        {"messages": BEGUN, "stop": ["is"], "extra_body": GO_ON},
    ],
)
def test_what_can_have_no_answer_is_the_callers_fault(client, model, change):
    with pytest.raises(openai.BadRequestError) as raised:
        client.chat.completions.create(**{"model": model, "messages": ASKED, "max_tokens": 50, "seed": 1, **change})
    assert "answer_token_ids" not in raised.value.message


@pytest.mark.parametrize("stream", [False, True])
def test_what_an_answer_goes_on_from_belongs_to_the_prompt(client, model, starter, stream: bool):
    asked = {"model": model, "messages": BEGUN, "temperature": 0, "extra_body": GO_ON, "max_tokens": 4}
    if stream:
        asked |= {"stream": True, "stream_options": {"include_usage": True}}
    for _ in range(2):  # the second time the cache knows it
        reply = client.chat.completions.create(**asked)
        usage = list(reply)[-1].usage if stream else reply.usage
        plain = len(starter.apply_chat_template([Message("user", ASKED[0]["content"])], tokenize=True))
        assert (usage.completion_tokens, usage.prompt_tokens) == (4, plain + starter.count("This is"))
        assert usage.prompt_tokens_details.cached_tokens <= usage.prompt_tokens
    assert usage.prompt_tokens_details.cached_tokens


@pytest.mark.parametrize(
    ("change", "error", "param"),
    [
        ({"model": "nobody"}, openai.NotFoundError, "model"),
        ({"temperature": 3000}, openai.BadRequestError, "temperature"),
        ({"messages": []}, openai.BadRequestError, "messages"),
        ({"messages": [{"role": "user", "content": "long " * 4000}]}, openai.BadRequestError, "messages"),
        ({"logit_bias": {"99999999": 1}}, openai.BadRequestError, "logit_bias"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, openai.BadRequestError, "tools"),
        ({"extra_body": {"echo": True}}, openai.BadRequestError, "echo"),
        ({"extra_body": {"guided_json": {"type": "digit"}}}, openai.BadRequestError, "guided_json"),
        ({"extra_body": {"structured_outputs": {"regex": "("}}}, openai.BadRequestError, "structured_outputs.regex"),
    ],
)
def test_errors_name_the_field(client, model, change, error, param):
    with pytest.raises(error) as caught:
        client.chat.completions.create(**{"model": model, "messages": ASKED, "max_tokens": 5, **change})
    assert caught.value.param == param
    assert caught.value.code
    assert "/resources/" not in caught.value.message


def test_a_token_that_is_none_is_one_of_the_prompt(client, model):
    with pytest.raises(openai.BadRequestError, match="prompt is 99999999, but it must be") as caught:
        client.completions.create(model=model, prompt=[1, 99999999])
    assert caught.value.param == "prompt"


def test_a_prompt_that_is_too_long_is_told_in_words_that_clients_know(client, model):
    with pytest.raises(openai.BadRequestError, match="This model's maximum context length is 2048 tokens") as chat:
        client.chat.completions.create(model=model, messages=[{"role": "user", "content": "long " * 4000}])
    assert chat.value.code == "context_length_exceeded"
    assert "reduce the length of the messages" in chat.value.message
    with pytest.raises(openai.BadRequestError, match="reduce the length of the prompt") as completion:
        client.completions.create(model=model, prompt="long " * 4000)
    assert completion.value.param == "prompt"
    with pytest.raises(openai.BadRequestError, match="reduce the length of the input") as response:
        client.responses.create(model=model, input="long " * 4000)
    assert response.value.param == "input"


def test_a_wrong_key_is_an_authentication_error(server, model):
    with client_of(server, "sk-wrong-wrong") as wrong, pytest.raises(openai.AuthenticationError):
        wrong.models.list()


def test_sixty_four_streams_at_once_are_complete_and_right(server, model, starter):
    expected = starter.generate_batch(
        [
            GenerateRequest(
                messages=[Message("user", ASKED[0]["content"])],
                max_tokens=5,
                sampling=SamplingParams(temperature=1.2, seed=seed),
            )
            for seed in range(64)
        ]
    )

    async def stream(client: openai.AsyncOpenAI, seed: int) -> tuple[str, str | None]:
        chunks: AsyncIterator = await client.chat.completions.create(
            model=model, messages=ASKED, max_tokens=5, temperature=1.2, seed=seed, stream=True
        )
        seen = [chunk.choices[0] async for chunk in chunks]
        return "".join(choice.delta.content or "" for choice in seen), seen[-1].finish_reason

    async def all_streams() -> list[tuple[str, str | None]]:
        async with async_client_of(server) as client:
            return await asyncio.gather(*(stream(client, seed) for seed in range(64)))

    assert asyncio.run(all_streams()) == [(answer.text, answer.finish_reason) for answer in expected]


TOOL_TEMPLATE = (
    "{% if tools %}Tools: {{ tools | tojson }}\n{% endif %}{% for message in messages %}{{ message.role }}: "
    "{{ message.content }}{% for call in message.tool_calls %}<tool_call>{{ call.function | tojson }}</tool_call>"
    "{% endfor %}\n{% endfor %}assistant:"
)
ADD: dict = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two digits.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"enum": [1, 2]}, "b": {"enum": [3, 4]}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
    },
}


@pytest.fixture(scope="module")
def tool_engine(kernel_notes: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A tiny model whose template shows tools and calls."""
    with tiny_with(TOOL_TEMPLATE, kernel_notes, tmp_path_factory.mktemp("tools")) as engine:
        yield engine


@contextlib.contextmanager
def tiny_with(template: str, kernel_notes: Path, folder: Path) -> Iterator[Engine]:
    """A tiny model with this chat template."""
    model = write_tiny_llama(folder / "tiny")
    (model / "chat_template.jinja").write_text(template)
    with Engine.load(model, dtype="float32", kernel_notes=kernel_notes) as engine:
        engine.warmup()
        yield engine


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "add"}}])
@pytest.mark.parametrize("stream", [False, True])
def test_a_model_that_knows_tools_calls_one_when_it_must(serve: Serve, tool_engine: Engine, choice, stream):
    with client_of(serve(tool_engine)) as client:
        asked: dict = {"model": "tiny", "messages": ASKED, "tools": [ADD], "seed": 1, "max_tokens": 150}
        if stream:
            with client.chat.completions.stream(**asked, tool_choice=choice) as events:
                pieces = [e.arguments_delta for e in events if e.type == "tool_calls.function.arguments.delta"]
            reply = events.get_final_completion()
            assert len(pieces) > 3
        else:
            reply = client.chat.completions.create(**asked, tool_choice=choice)
        (call,), reason = reply.choices[0].message.tool_calls, reply.choices[0].finish_reason
        assert (call.function.name, reason) == ("add", "tool_calls")
        assert set(json.loads(call.function.arguments)) == {"a", "b"}
        more = [*ASKED, {"role": "assistant", "content": None, "tool_calls": [call.to_dict()]},
                {"role": "tool", "tool_call_id": call.id, "content": "5"}]  # fmt: skip
        client.chat.completions.create(model="tiny", messages=more, tools=[ADD], max_tokens=3)


@pytest.mark.parametrize("begins", ['{"name": "add"', '{"at":'])
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_beside_tools_has_its_form_or_calls(serve: Serve, tool_engine: Engine, begins: str, stream: bool):
    pytest.importorskip("llguidance")
    place = {"type": "object", "properties": {"at": {"$ref": "#/$defs/x"}}, "required": ["at"],
             "additionalProperties": False, "$defs": {"x": {"enum": ["Oslo", "Rome"]}}}  # fmt: skip
    form: dict = {"type": "json_schema", "json_schema": {"name": "place", "schema": place}}
    asked: dict = {"model": "tiny", "messages": ASKED, "tools": [ADD], "response_format": form, "max_tokens": 150}
    with client_of(serve(Forcing(tool_engine, begins))) as client:
        if stream:
            with client.chat.completions.stream(**asked, seed=1) as events:
                reply = events.get_final_completion()
        else:
            reply = client.chat.completions.create(**asked, seed=1)
    choice = reply.choices[0]
    if "name" in begins:
        assert (choice.message.tool_calls[0].function.name, choice.finish_reason) == ("add", "tool_calls")
        assert set(json.loads(choice.message.tool_calls[0].function.arguments)) == {"a", "b"}
    else:
        assert (choice.message.tool_calls or [], choice.finish_reason) == ([], "stop")
        assert json.loads(choice.message.content)["at"] in ("Oslo", "Rome")


@pytest.mark.parametrize("choice", ["auto", "required", {"type": "function", "function": {"name": "add"}}])
def test_arguments_that_are_no_object_are_refused(serve: Serve, tool_engine: Engine, choice):
    tool: dict = {"type": "function", "function": {"name": "add", "parameters": {"type": "digit"}}}
    with client_of(serve(tool_engine)) as client:
        asked: dict = {"model": "tiny", "messages": ASKED, "tools": [tool], "tool_choice": choice}
        with pytest.raises(openai.BadRequestError, match='a schema of "type": "object"') as caught:
            client.chat.completions.create(**asked)
        assert caught.value.param == "tools[0].function.parameters"


@pytest.mark.parametrize(
    ("choice", "param"), [("auto", "response_format"), ("required", "tools"), ("none", "response_format")]
)
def test_of_tools_and_a_form_that_is_refused_which_cannot_be_followed(serve: Serve, tool_engine: Engine, choice, param):
    cannot = {"properties": {"a": {"$ref": "#/$defs/missing"}}}
    form: dict = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", **cannot}}}
    tool = {"type": "function", "function": {"name": "add", "parameters": cannot if param == "tools" else {}}}
    with client_of(serve(tool_engine)) as client:
        asked: dict = {"model": "tiny", "messages": ASKED, "tools": [tool], "tool_choice": choice}
        with pytest.raises(openai.BadRequestError, match=f"{param} is .* but it must be one that can be ") as caught:
            client.chat.completions.create(**asked, response_format=form)
        assert caught.value.param == param


@pytest.mark.parametrize("is_strict", [False, True])
def test_what_a_schema_says_that_nobody_here_can_follow_is_passed_over_unless_it_is_strict(
    serve: Serve, tool_engine: Engine, is_strict: bool
):
    """Pydantic says `uniqueItems` of a set, and `path` of a path."""
    pytest.importorskip("llguidance")
    one = {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2, "uniqueItems": True}
    schema = {"type": "object", "properties": {"one": one}, "required": ["one"]}
    form: dict = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": is_strict}}
    tool = {"type": "function", "function": {"name": "add", "parameters": schema, "strict": is_strict}}
    asked: dict = {"model": "tiny", "messages": ASKED, "max_tokens": 300, "seed": 1}
    with client_of(serve(tool_engine)) as client:

        def answers() -> list[str | None]:
            said = client.chat.completions.create(**asked, response_format=form).choices[0].message
            called = client.chat.completions.create(**asked, tools=[tool], tool_choice="required").choices[0].message
            return [said.content, *(call.function.arguments for call in called.tool_calls or ())]

        if is_strict:
            with pytest.raises(openai.BadRequestError, match="uniqueItems"):
                answers()
        else:
            assert [set(json.loads(text or "")) for text in answers()] == [{"one"}] * 2


class Forcing:
    """An engine whose answers say a text first; the rest is the model's own."""

    def __init__(self, engine: Engine, text: str) -> None:
        self._engine = engine
        self._ids = engine.tokenizer.encode_literally(text)

    def __getattr__(self, name: str):
        return getattr(self._engine, name)

    def submit(self, request: GenerateRequest, *callbacks):
        prompt = len(self._engine.apply_chat_template(request.messages, tools=request.tools, tokenize=True))

        def process(known, logits):
            place = len(known) - prompt
            if place < len(self._ids):
                logits[self._ids[place]] = 1e9
            return logits

        return self._engine.submit(replace(request, logits_processor=process), *callbacks)


@pytest.mark.parametrize("stream", [False, True])
def test_calls_that_must_be_are_several_where_the_model_writes_lists(serve: Serve, tmp_path, kernel_notes, stream):
    pytest.importorskip("llguidance")
    lists = "{% if message.tool_calls %}[TOOL_CALLS]{{ message.tool_calls | tojson }}{% endif %}"
    template = TOOL_TEMPLATE.replace("{{ message.content }}", f"{{{{ message.content }}}}{lists}", 1)
    said = ({"a": 1, "b": 3}, {"a": 2, "b": 4})
    text = json.dumps([{"name": "add", "arguments": arguments} for arguments in said])
    asked: dict = {"model": "tiny", "messages": ASKED, "tools": [ADD], "tool_choice": "required", "max_tokens": 200}
    with tiny_with(template, kernel_notes, tmp_path) as engine, client_of(serve(Forcing(engine, text))) as client:
        if stream:
            with client.chat.completions.stream(**asked) as events:
                events.until_done()
            choice = events.get_final_completion().choices[0]
        else:
            choice = client.chat.completions.create(**asked).choices[0]
        calls = choice.message.tool_calls or []
        assert choice.finish_reason == "tool_calls"
        assert [(call.function.name, json.loads(call.function.arguments)) for call in calls] == [
            ("add", arguments) for arguments in said
        ]
        assert len({call.id for call in calls}) == 2
        one = client.chat.completions.create(**asked, parallel_tool_calls=False).choices[0].message
        assert len(one.tool_calls or []) == 1


@pytest.mark.parametrize("strict", [True, None])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.sampled(2)
def test_a_call_that_the_model_begins_by_itself_is_well_formed(serve: Serve, tool_engine: Engine, strict, stream):
    pytest.importorskip("llguidance")
    tool = {"type": "function", "function": {**ADD["function"], **({"strict": strict} if strict else {})}}
    with client_of(serve(Forcing(tool_engine, 'Well.<tool_call>\n{"'))) as client:
        asked: dict = {"model": "tiny", "messages": ASKED, "tools": [tool], "seed": 1, "max_tokens": 150}
        reply = client.chat.completions.create(**asked, stream=stream)
        if stream:
            deltas = [chunk.choices[0].delta for chunk in reply]
            (call,) = [call for delta in deltas for call in delta.tool_calls or ()]
            text = "".join(delta.content or "" for delta in deltas)
        else:
            (call,), text = reply.choices[0].message.tool_calls, reply.choices[0].message.content
        assert text.startswith("Well.")
        assert call.function.name == "add"
        arguments = json.loads(call.function.arguments)
        assert (arguments["a"] in (1, 2), arguments["b"] in (3, 4), len(arguments)) == (True, True, 2)


@pytest.mark.parametrize("stream", [False, True])
def test_what_is_called_in_thoughts_stays_text(serve: Serve, stream: bool):
    said = ["<think>", "<tool_call>", '{"name": "add", "arguments": {}}', "</tool_call>", "</think>", "No."]
    server = serve(ServedScript({"?": said}))
    with client_of(server) as client:
        question: list = [{"role": "user", "content": "?"}]
        reply = client.chat.completions.create(model="Scripted", messages=question, tools=[ADD], stream=stream)
        if stream:
            deltas = [chunk.choices[0].delta for chunk in reply]
            assert not any(delta.tool_calls for delta in deltas)
            assert "".join(delta.content or "" for delta in deltas) == "".join(said)
        else:
            message = reply.choices[0].message
            assert (message.content, message.tool_calls) == ("".join(said), None)


def test_clients_and_tabs_share_the_engine(server, model, starter):
    """What a tab submits runs in the same batch as what clients ask for, and neither changes the other."""

    def request(seed: int) -> GenerateRequest:
        sampling = SamplingParams(temperature=1.2, top_p=0.9, seed=seed)
        return GenerateRequest(messages=[Message("user", ASKED[0]["content"])], max_tokens=20, sampling=sampling)

    alone = [starter.generate(request(seed)).text for seed in range(8)]
    rows: list[int] = []  # of each step that wrote for a tab

    def note(_job: Job, _output: TokenOutput) -> None:
        # The first step waits for the clients, who have a longer way.
        assert rows or eventually(lambda: server._routes.generator.gate.taken == 4)
        rows.append(starter.stats().batch_size)

    async def ask(client: openai.AsyncOpenAI, seed: int) -> str:
        reply = await client.chat.completions.create(
            model=model, messages=ASKED, max_tokens=20, temperature=1.2, top_p=0.9, seed=seed
        )
        return reply.choices[0].message.content or ""

    async def both() -> tuple[list[str], list[str]]:
        async with async_client_of(server) as client:
            asked = [asyncio.create_task(ask(client, seed)) for seed in range(4)]
            jobs = [starter.submit(request(seed), note) for seed in range(4, 8)]
            texts = await asyncio.gather(*asked)
            return texts, [(await asyncio.to_thread(job.result)).text for job in jobs]

    texts, tabs = asyncio.run(both())
    assert texts + tabs == alone
    assert max(rows) > 4  # more than the tabs' own
