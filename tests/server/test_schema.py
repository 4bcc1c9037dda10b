"""Every field of a request: what is taken, what is refused, and by which name."""

import base64
import math
import re
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.server.asked import fitted
from llama_gui.server.json_body import dump, read_object
from llama_gui.server.refusal import RefusedError
from llama_gui.server.schema import read_chat, read_completion
from llama_gui.tool_calls import lenient
from llama_gui.vocabulary import Image, Message, ModelInfo
from tests.server.conftest import ServedScript, question

PNG = b"\x89PNG\r\n\x1a\n"
NAMED = {"type": "function", "function": {"name": "f"}}
STRICT = {"type": "function", "function": {"name": "f", "strict": True}}
PLAIN = {"type": "object", "properties": {"a": {"type": "string", "format": "path"}}}


def refused(read, body) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        read(body)
    assert caught.value.status == 400
    return caught.value


def test_a_name_twice_behind_many_others_is_found_at_once():
    names = ",".join(f'"{number}":1' for number in range(100_000))
    began = time.process_time()
    with pytest.raises(RefusedError, match="it has '99999' twice"):
        read_object(f'{{{names},"99999":2}}'.encode())
    assert time.process_time() - began < 2


def test_what_nests_too_deeply_is_refused():
    for depth, is_refused in ((100, False), (101, True), (900, True)):
        body = b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)
        if is_refused:
            assert "nested too deeply" in refused(read_object, body).message
        else:
            assert read_object(body)
    assert "nested too deeply" in refused(read_object, b'{"a":' + b"[" * 200 + b"]" * 200 + b"}").message
    # Arguments are a text with JSON in it, and stay one.
    arguments = '{"a":' * 900 + "1" + "}" * 900
    call = {"type": "function", "function": {"name": "f", "arguments": arguments}}
    messages = [*question("Hi")["messages"], {"role": "assistant", "tool_calls": [call]}]
    (request,) = read_chat({"messages": messages}).requests
    assert request.messages is not None
    assert request.messages[1].tool_calls[0]["function"]["arguments"] == arguments


def test_a_mark_of_utf_8_may_stand_before_the_body():
    assert read_object(b"\xef\xbb\xbf" + b'{"a": 1}') == {"a": 1}


def test_what_a_client_kept_of_an_answer_without_a_text_is_taken():
    """As vLLM takes it: the answer was thought only, or a refusal; or a tool had nothing to say."""
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": None, "refusal": "No."},
        {"role": "tool", "content": None, "tool_call_id": "a"},
    ]
    (request,) = read_chat({"messages": messages}).requests
    assert [message.content for message in request.messages or ()] == ["Hi", "", "No.", ""]


def test_images_stand_where_they_were_said():
    url = {"url": f"data:image/png;base64,{base64.b64encode(PNG).decode()}"}
    parts = [{"type": "text", "text": "Is "}, {"type": "image_url", "image_url": url}, {"type": "text", "text": "red?"}]
    (request,) = read_chat({"messages": [{"role": "user", "content": parts}]}).requests
    assert request.messages == [Message("user", "Is red?", images=[Image(PNG, 3)])]
    flat = {"type": "image_url", "image_url": url["url"], "detail": "low"}
    (request,) = read_chat({"messages": [{"role": "user", "content": [flat]}]}).requests
    assert request.messages == [Message("user", "", images=[Image(PNG)])]


@pytest.mark.parametrize(
    ("role", "url", "words"),
    [
        ("user", "https://example.org/a.png", "in base64: this server fetches nothing."),
        ("user", "data:image/png;base64,AAAA", "the bytes of an image: a PNG, JPEG, WebP, GIF or BMP file."),
        ("user", "data:image/png;base64,x", "the bytes of an image: in base64."),
        ("user", "data:image/png,x", "this server fetches nothing."),
        ("user", 5, "this server fetches nothing."),
        ("system", f"data:image/png;base64,{base64.b64encode(PNG).decode()}", "the models here read nothing else."),
    ],
)
def test_an_image_that_cannot_be_read_is_refused_in_words_that_help(role: str, url: Any, words: str):
    part = {"type": "image_url", "image_url": {"url": url}}
    error = refused(read_chat, {"messages": [{"role": role, "content": [part]}]})
    assert error.status == 400
    assert error.message.endswith(words)


def test_seeds_may_be_negative():
    seeds = [read_chat(question("Hi", seed=seed)).requests[0].sampling.seed for seed in (-5, -(2**63))]
    assert seeds == [2**63 - 5, 0]


def test_what_is_none_to_other_servers_is_none_here():
    (request,) = read_chat(question("Hi", seed=-1, top_k=-1, max_tokens=-1)).requests
    assert (request.sampling.seed, request.sampling.top_k, request.max_tokens) == (None, 0, None)
    assert read_completion({"prompt": "Hi", "max_tokens": -1}).requests[0].max_tokens is None


def test_how_much_to_reason_is_told_to_the_template():
    (request,) = read_chat(question("Hi", reasoning_effort="low")).requests
    assert (request.chat_template_kwargs, request.thinking) == ({"reasoning_effort": "low"}, None)
    (request,) = read_chat(question("Hi", reasoning_effort="none")).requests
    assert request.thinking is False
    own = {"reasoning_effort": "high", "enable_thinking": True}
    (request,) = read_chat(question("Hi", reasoning_effort="none", chat_template_kwargs=own)).requests
    assert (request.chat_template_kwargs, request.chosen_thinking) == (own, True)


def test_as_many_of_the_best_as_are_asked_for():
    asked = read_completion({"prompt": ["Hi", "Ho"], "n": 2, "best_of": 3, "seed": 5})
    assert (len(asked.requests), asked.choices, asked.prompts) == (6, 2, 2)
    assert [request.sampling.seed for request in asked.requests] == [5, 6, 7, 5, 6, 7]
    assert read_completion({"prompt": "Hi", "n": 2, "best_of": 2, "stream": True}).choices == 2
    for fields in ({"n": 3, "best_of": 2}, {"best_of": 2, "stream": True}):
        assert refused(read_completion, {"prompt": "Hi", **fields}).param == "best_of"


def test_no_nucleus_is_the_likeliest_token():
    sampling = read_chat(question("Hi", top_p=0, temperature=1.5)).requests[0].sampling
    assert (sampling.top_p, sampling.temperature) == (None, 0)


def test_a_plain_question():
    asked = read_chat(question("Hi"))
    (request,) = asked.requests
    assert request.messages == [Message("user", "Hi")]
    assert (request.max_tokens, request.logprobs, request.overflow) == (None, 0, "error")
    assert (asked.model, asked.stream, asked.include_usage, asked.logprobs, asked.tools) == (
        None, False, False, False, None,
    )  # fmt: skip


def test_every_parameter_arrives():
    asked = read_chat(
        question(
            "Hi", model="m", temperature=0.5, top_p=0.9, top_k=7, min_p=0.1, frequency_penalty=1, presence_penalty=-1,
            repetition_penalty=1.1, logit_bias={"5": -100, "6": 1.5}, seed=3, stop=["a", "b"], max_tokens=9, n=2,
            logprobs=True, top_logprobs=4, stream=True, stream_options={"include_usage": True}, min_tokens=2,
            user="somebody", metadata={"a": "b"}, store=False, unheard_of={"x": 1}, typical_p=0.9,
        )
    )  # fmt: skip
    first, second = asked.requests
    sampling = first.sampling
    assert (sampling.temperature, sampling.top_p, sampling.top_k, sampling.min_p) == (0.5, 0.9, 7, 0.1)
    assert (sampling.frequency_penalty, sampling.presence_penalty, sampling.repetition_penalty) == (1, -1, 1.1)
    assert sampling.logit_bias == {5: -100, 6: 1.5}
    assert (sampling.seed, second.sampling.seed, sampling.typical_p) == (3, 4, 0.9)
    assert (first.stop, first.max_tokens, first.min_tokens, first.logprobs) == (("a", "b"), 9, 2, 4)
    assert (asked.model, asked.stream, asked.include_usage, asked.logprobs) == ("m", True, True, True)


def test_null_is_the_same_as_nothing():
    fields = ("temperature", "stop", "logit_bias", "tools", "tool_choice", "response_format", "n", "stream", "seed")
    assert read_chat(question(**dict.fromkeys(fields))) == read_chat(question())


def test_the_newer_name_of_the_limit_counts():
    assert read_chat(question(max_tokens=5, max_completion_tokens=7)).requests[0].max_tokens == 7


def test_one_stop_text_is_a_list_of_one():
    assert read_chat(question(stop="\n")).requests[0].stop == ("\n",)
    assert read_chat(question(stop="")).requests[0].stop == ()
    assert read_chat(question(stop=["a", "", "b"])).requests[0].stop == ("a", "b")


def test_messages_in_all_their_forms():
    call = {"id": "abc", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    asked = read_chat(
        {
            "messages": [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "abc", "content": "42"},
                {"role": "assistant", "content": "", "name": "bot"},
            ]
        }
    )
    assert asked.requests[0].messages == [
        Message("system", "Be brief."),
        Message("user", "one two"),
        Message(
            "assistant",
            "",
            tool_calls=({"id": "abc", "type": "function", "function": {"name": "f", "arguments": {"x": 1}}},),
        ),
        Message("tool", "42", tool_call_id="abc"),
        Message("assistant", "", name="bot"),
    ]


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"x": {}}}}}
OTHER = {"type": "function", "function": {"name": "g"}}


def allowed_tools(mode: str, *names: str) -> dict:
    """A choice of tools as OpenAI's clients send it."""
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"temperature": "warm"}, "temperature"),
        ({"temperature": -1}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"top_p": -0.1}, "top_p"),
        ({"top_p": 1.5}, "top_p"),
        ({"top_k": 1.5}, "top_k"),
        ({"min_p": []}, "min_p"),
        ({"seed": -(2**63) - 1}, "seed"),
        *(({"chat_template_kwargs": {name: 1}}, "chat_template_kwargs") for name in ("messages", "self", "now")),
        ({"seed": 2**63}, "seed"),
        ({"n": 10**6}, "n"),
        ({"n": 0}, "n"),
        ({"max_tokens": -2}, "max_tokens"),
        ({"top_k": -2}, "top_k"),
        ({"reasoning_effort": 1}, "reasoning_effort"),
        ({"best_of": 0}, "best_of"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 2**63}, "max_tokens"),
        ({"max_completion_tokens": "9"}, "max_completion_tokens"),
        ({"min_tokens": 9, "max_tokens": 2}, "min_tokens"),
        ({"stop": 5}, "stop"),
        ({"stop": ["a", 5]}, "stop"),
        ({"stop": ["a"] * 65}, "stop"),
        ({"stop": ["a" * 1001]}, "stop"),
        ({"stream": "yes"}, "stream"),
        ({"stream": 1}, "stream"),
        ({"stream_options": []}, "stream_options"),
        ({"stream_options": {"include_usage": "yes"}}, "stream_options.include_usage"),
        ({"logprobs": 5}, "logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"logit_bias": [1]}, "logit_bias"),
        ({"logit_bias": {"cat": 1}}, "logit_bias"),
        ({"logit_bias": {"-1": 1}}, "logit_bias"),
        ({"logit_bias": {"1": 101}}, "logit_bias.1"),
        ({"logit_bias": {"1": "x"}}, "logit_bias.1"),
        ({"logit_bias": {str(i): 1 for i in range(2000)}}, "logit_bias"),
        ({"model": 5}, "model"),
        ({"messages": None}, "messages"),
        ({"messages": "Hi"}, "messages"),
        ({"messages": ["Hi"]}, "messages[0]"),
        ({"messages": [{"content": "Hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "king", "content": "Hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "function", "content": "Hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": ["Hi"]}]}, "messages[0].content[0]"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "/etc/passwd"}}]}]},
            "messages[0].content[0].image_url.url",
        ),
        ({"messages": [{"role": "user", "content": "x", "name": 1}]}, "messages[0].name"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "messages[0].tool_calls[0].function"),
        ({"messages": [{"role": "assistant", "function_call": {}}]}, "messages[0].function_call"),
        ({"messages": [{"role": "user", "content": "x"}] * 10_001}, "messages"),
        ({"response_format": "json"}, "response_format"),
        ({"response_format": {"type": "xml"}}, "response_format.type"),
        ({"response_format": {}}, "response_format.type"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
        ({"response_format": {"type": "json_object"}, "guided_json": {}}, "response_format"),
        ({"tools": {}}, "tools"),
        ({"tools": [{"type": "web"}]}, "tools[0].type"),
        ({"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}] * 2}, "tools"),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "parameters": []}}]},
            "tools[0].function.parameters",
        ),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": "some"}, "tool_choice"),
        ({"tool_choice": {"type": "function", "function": {"name": "g"}}}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": 5}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "allowed_tools"}}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": allowed_tools("auto")}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": allowed_tools("auto", "g")}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": allowed_tools("some", "f")}, "tool_choice.allowed_tools.mode"),
        ({"chat_template_kwargs": 5}, "chat_template_kwargs"),
        ({"functions": [{"name": "f"}]}, "functions"),
        ({"function_call": {"name": "f"}}, "function_call"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"web_search_options": {}}, "web_search_options"),
        ({"echo": True}, "echo"),
        ({"grammar": "root ::= x"}, "grammar"),
        ({"ignore_eos": 1}, "ignore_eos"),
        ({"ignore_eos": True, "guided_json": {}}, "ignore_eos"),
        ({"structured_outputs": {"grammar": "root ::= x"}}, "structured_outputs.grammar"),
        ({"structured_outputs": {"structural_tag": "x"}}, "structured_outputs.structural_tag"),
        ({"structured_outputs": {"json": 5}}, "structured_outputs.json"),
        ({"structured_outputs": {"json": "{"}}, "structured_outputs.json"),
        ({"guided_json": "[]"}, "guided_json"),
        ({"structured_outputs": {"choice": []}}, "structured_outputs.choice"),
        ({"structured_outputs": {"regex": "a", "choice": ["a"]}}, "structured_outputs.choice"),
        ({"structured_outputs": {"regex": "a"}, "guided_json": {}}, "structured_outputs.regex"),
        ({"guided_choice": [""]}, "guided_choice"),
        ({"guided_choice": "a"}, "guided_choice"),
    ],
)
def test_what_is_wrong_is_named(change, param):
    error = refused(read_chat, {**question(), **change})
    assert error.param == param
    assert len(error.message) < 400


@pytest.mark.parametrize(
    "change", [{"modalities": ["text"]}, {"echo": False}, {"best_of": 1}, {"function_call": "none"}, {"suffix": ""}]
)
def test_what_asks_for_nothing_is_no_fault(change):
    assert read_chat({**question(), **change}) == read_chat(question())


def test_forms_of_answers():
    assert read_chat(question(response_format={"type": "text"})).form.schema is None
    assert read_chat(question(response_format={"type": "json_object"})).form.schema == {"type": "object"}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "array"}}}
    assert read_chat(question(response_format=form)).form.schema == {"type": "array"}
    assert read_chat(question(guided_regex="[ab]+")).requests[0].regex == "[ab]+"


def test_objects_of_an_answer_hold_what_their_schema_names():
    """As with vLLM and llama.cpp: a small model would write more and more properties."""
    schema = {"type": "object", "properties": {"a": {"properties": {"b": {}}}, "c": {"additionalProperties": True}}}
    made = read_chat(question(guided_json=schema)).form.schema
    assert made == {
        "type": "object",
        "properties": {
            "a": {"properties": {"b": {}}, "additionalProperties": False},
            "c": {"additionalProperties": True},
        },
        "additionalProperties": False,
    }
    named = {"json": schema, "disable_additional_properties": True}
    assert read_chat(question(structured_outputs=named)).form.schema == made
    assert read_chat(question(response_format={"type": "json_object"})).form.schema == {"type": "object"}


@pytest.mark.parametrize(
    ("fields", "is_strict"),
    [
        ({"guided_json": PLAIN}, True),
        ({"structured_outputs": {"json": PLAIN}}, True),
        ({"json_schema": PLAIN}, False),
        ({"response_format": {"type": "json_object", "schema": PLAIN}}, False),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": PLAIN}}}, False),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": PLAIN, "strict": False}}}, False),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": PLAIN, "strict": True}}}, True),
        ({"tools": [TOOL], "tool_choice": "required"}, False),
        ({"tools": [TOOL], "tool_choice": NAMED}, False),
        ({"tools": [STRICT], "tool_choice": "required"}, True),
        ({"tools": [TOOL, {**STRICT, "function": {**STRICT["function"], "name": "g"}}], "tool_choice": NAMED}, False),
        ({"tools": [STRICT], "json_schema": PLAIN}, True),
    ],
)
def test_schemas_are_followed_in_all_only_where_that_is_asked_for(fields, is_strict: bool):
    asked = read_chat(question(**fields))
    assert asked.form.schema is not None
    assert asked.requests[0].json_schema == (asked.form.schema if is_strict else lenient(asked.form.schema))


def test_forms_as_vllm_has_them():
    def form(**fields):
        (request,) = read_chat(question(**fields)).requests
        return request.json_schema, request.regex

    for schema in ({"type": "array"}, '{"type": "array"}'):
        assert form(structured_outputs={"json": schema}) == form(guided_json=schema) == ({"type": "array"}, None)
    assert form(structured_outputs={"json_object": True}) == ({"type": "object"}, None)
    assert form(structured_outputs={"regex": "[ab]+", "whitespace_pattern": None}) == (None, "[ab]+")
    choice = ["yes (a.b)", "no"]
    expression = form(guided_choice=choice)[1]
    assert form(structured_outputs={"choice": choice}) == (None, expression)
    assert [text for text in (*choice, "yes (aXb)", "n", "no ") if re.fullmatch(expression, text)] == choice
    assert form(structured_outputs={}) == form(structured_outputs=None) == (None, None)


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_of_the_tools_only_some_are_allowed(mode: str):
    asked = read_chat(question(tools=[TOOL, OTHER], tool_choice=allowed_tools(mode, "g")))
    assert asked.tools is not None
    assert (asked.tools.choice, asked.tools.names, asked.requests[0].tools) == (mode, {"g"}, [OTHER])
    grammar = asked.requests[0].json_schema
    assert (grammar is None) == (mode == "auto")
    if grammar is not None:
        assert [entry["properties"]["name"] for entry in grammar["$defs"]["call"]["anyOf"]] == [{"const": "g"}]


def test_tools_and_how_much_they_must_be_called():
    auto = read_chat(question(tools=[TOOL]))
    assert auto.tools is not None
    assert (auto.tools.choice, auto.tools.names, auto.requests[0].tools) == ("auto", {"f"}, [TOOL])
    assert auto.form.schema is None
    assert read_chat(question(tools=[TOOL], tool_choice="none")).tools is None
    assert read_chat(question(tools=[TOOL], tool_choice="none")).requests[0].tools is None
    assert read_chat(question(tools=[])).tools is None
    named = read_chat(question(tools=[TOOL, OTHER], tool_choice={"type": "function", "function": {"name": "f"}}))
    # A small model would write what nobody asked for; so it is where the call is the model's choice, too.
    assert named.form.schema == {**TOOL["function"]["parameters"], "additionalProperties": False}
    required = read_chat(question(tools=[TOOL, OTHER], tool_choice="required")).form.schema
    calls = required["$defs"]["call"]["anyOf"]
    assert [entry["properties"]["name"] for entry in calls] == [{"const": "f"}, {"const": "g"}]


@pytest.mark.parametrize(
    ("schema", "grammar"),
    [
        ({}, {"type": "object", "properties": {}, "additionalProperties": False}),
        ({"properties": {"x": {}}}, {"type": "object", "properties": {"x": {}}, "additionalProperties": False}),
        ({"type": ["string", "object"]}, {"type": "object"}),
    ],
)
def test_arguments_are_an_object_whatever_their_schema_says(schema: dict[str, Any], grammar: dict[str, Any]):
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    named = read_chat(question(tools=[tool], tool_choice={"type": "function", "function": {"name": "f"}}))
    assert named.form.schema == grammar
    required = read_chat(question(tools=[tool], tool_choice="required")).form.schema
    assert required is not None
    assert required["$defs"]["0"] == grammar


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_models_that_write_lists_may_make_several_calls(choice: str):
    body = question(tools=[TOOL], tool_choice=choice, response_format={"type": "json_object"})
    one_by_one, listing = (replace(ServedScript().info, lists_calls=lists) for lists in (False, True))

    def ways(info: ModelInfo, **fields: Any) -> list[str]:
        schema = fitted(read_chat({**body, **fields}), info).requests[0].json_schema
        return [way.get("$ref", "a list") for way in schema["anyOf"]]

    answer = ["#/$defs/answer"] if choice == "auto" else []
    assert ways(listing) == ["#/$defs/call", "a list", *answer]
    assert ways(one_by_one) == ways(listing, parallel_tool_calls=False) == ["#/$defs/call", *answer]
    for free in (question(tools=[TOOL]), question(), question(tools=[TOOL], tool_choice=NAMED)):
        assert fitted(read_chat(free), listing) == read_chat(free)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"guided_regex": "a"}, "guided_regex"),
        ({"regex": "a"}, "regex"),
        ({"guided_choice": ["a"]}, "guided_choice"),
        ({"structured_outputs": {"choice": ["a"]}}, "structured_outputs.choice"),
    ],
)
@pytest.mark.parametrize("choice", ["required", NAMED])
def test_a_call_that_must_be_made_has_no_second_form(fields, field: str, choice):
    error = refused(read_chat, question(tools=[TOOL], tool_choice=choice, **fields))
    assert error.param == field
    assert error.message == (
        f"{field} asks for another form of the answer than the call for which tool_choice asks: leave one out."
    )
    auto = read_chat(question(tools=[TOOL], **fields))
    assert (auto.requests[0].regex, auto.requests[0].json_schema) == (auto.form.regex, None)


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"tool_choice": "required"}, "tools"), ({"json_schema": {}}, "json_schema"), ({"regex": "a"}, "regex")],
)
def test_an_answer_with_a_form_ends(fields, field: str):
    error = refused(read_chat, question(tools=[TOOL], ignore_eos=True, **fields))
    assert error.message == f"ignore_eos is True, but it must be false where {field} gives the answer a form."


def test_a_form_beside_tools_is_that_of_what_is_said():
    """OpenAI's Agents SDK and LangChain's agents ask for both."""
    place = {"type": "object", "properties": {"at": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "string"}}}
    form = {"type": "json_schema", "json_schema": {"name": "place", "schema": place}}
    schema = read_chat(question(tools=[TOOL], response_format=form)).form.schema
    assert schema["anyOf"] == [{"$ref": "#/$defs/call"}, {"$ref": "#/$defs/answer"}]
    assert schema["$defs"]["answer"]["properties"] == {"at": {"$ref": "#/$defs/answer/$defs/x"}}
    must, alone = (
        read_chat(question(tools=[TOOL], tool_choice="required", **more)) for more in ({"response_format": form}, {})
    )
    assert must.requests == alone.requests  # nothing is said then
    none = read_chat(question(tools=[TOOL], tool_choice="none", response_format=form))
    assert none.form.schema == {**place, "additionalProperties": False}


@pytest.mark.parametrize(
    ("prompt", "count"),
    [("Hi", 1), (["Hi", "Ho"], 2), ([1, 2, 3], 1), ([[1, 2], [3]], 2), (["Hi", [1]], 2), (["same", "same"], 2)],
)
def test_prompts_of_completions(prompt, count):
    asked = read_completion({"prompt": prompt})
    assert (len(asked.requests), asked.prompts, asked.requests[0].max_tokens) == (count, count, 16)


@pytest.mark.parametrize(
    "prompt", [None, "", [], [""], [[]], 5, [5, "x"], [-1], [[-1]], [2**40], [1.5], [True], ["x"] * 65, {"a": 1}]
)
def test_prompts_that_are_none(prompt):
    assert refused(read_completion, {"prompt": prompt}).param.startswith("prompt")


def test_completions_count_all_their_answers():
    assert refused(read_completion, {"prompt": ["a"] * 33, "n": 2}).param == "prompt"
    assert refused(read_completion, {"prompt": "a", "logprobs": 21}).param == "logprobs"
    assert refused(read_completion, {"prompt": "a", "tools": [TOOL]}).param == "tools"
    assert read_completion({"prompt": "a", "logprobs": 0}).logprobs
    assert len(read_completion({"prompt": ["a"] * 32, "n": 2}).requests) == 64


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"5",
        b"null",
        b'{"a": 1, "a": 2}',
        b'{"m": {"a": 1, "a": 2}}',
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e400}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": ' + b"[" * 200_000,
        b'{"a":' * 200_000,
        b"\xef\xbb\xbf",
        '{"a": 1}'.encode("utf-16"),
        b'{"a": "\xff"}',
        b'{"a": 1} trailing',
        b'{"a": "\x01"}',
    ],
)
def test_bodies_that_are_no_json(body: bytes):
    error = refused(read_object, body)
    assert error.code == "invalid_json"
    assert len(error.message) < 400


def test_half_a_surrogate_does_not_break_what_goes_out():
    value = read_object(b'{"a": "\\ud800"}')
    assert dump(value) == b'{"a":"?"}'


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = [
    "model", "messages", "prompt", "temperature", "top_p", "top_k", "min_p", "frequency_penalty", "logit_bias", "seed",
    "stop", "max_tokens", "max_completion_tokens", "n", "logprobs", "top_logprobs", "stream", "stream_options",
    "response_format", "tools", "tool_choice", "parallel_tool_calls", "chat_template_kwargs", "guided_json",
    "allowed_token_ids", "dry_sequence_breakers", "min_tokens", "echo", "functions", "guided_regex", "best_of",
    "reasoning_effort", "structured_outputs", "guided_choice",
]  # fmt: skip


@pytest.mark.parametrize("rounds", [50, pytest.param(1000, marks=pytest.mark.campaign)])
def test_any_json_is_read_or_refused_by_name(rounds: int):
    @given(st.dictionaries(st.sampled_from(NAMES), values, max_size=6), st.booleans())
    @settings(max_examples=rounds, deadline=None)
    def check(body, is_chat: bool):
        body = {**(question() if is_chat else {"prompt": "x"}), **body}
        asked, error = None, None
        try:
            asked = (read_chat if is_chat else read_completion)(body)
        except RefusedError as refusal:
            error = refusal
        if asked is not None:
            assert 1 <= len(asked.requests) <= 64
            assert all(math.isfinite(request.sampling.temperature or 0) for request in asked.requests)
        else:
            assert error is not None
            assert error.status == 400
            assert error.param is not None
            assert error.param.split(".")[0].split("[")[0] in {*NAMES, "message"}

    check()


def test_an_answer_goes_on_from_its_beginning():
    messages = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "One, two"}]
    fields = {"messages": messages, "continue_final_message": True}
    (request,) = read_chat({**fields, "add_generation_prompt": False}).requests
    assert (request.messages, request.answer_text) == ([Message("user", "Count.")], "One, two")
    for wrong, param in (
        ({"messages": messages[:1]}, "continue_final_message"),
        ({"messages": messages[1:]}, "continue_final_message"),
        ({"messages": [messages[0], {"role": "assistant", "content": ""}]}, "continue_final_message"),
        ({"add_generation_prompt": True}, "add_generation_prompt"),
        ({"continue_final_message": "yes"}, "continue_final_message"),
    ):
        assert refused(read_chat, {**fields, **wrong}).param == param
