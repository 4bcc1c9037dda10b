"""/v1/messages as it goes over the wire; Anthropic's own client is in test_anthropic_client.py."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams
from llama_gui.errors import PromptTooLongError
from llama_gui.server.limits import ServerLimits
from llama_gui.server.messages.errors import in_these_words
from llama_gui.server.messages.request import read_message
from llama_gui.server.refusal import RefusedError
from llama_gui.server.responses.request import read_response
from llama_gui.server.schema import read_chat
from llama_gui.server.serve import ApiServer
from llama_gui.server.served import FixedModels, LazyModels
from llama_gui.server.thinking import ThinkingSplit
from llama_gui.server.wrapping import StreamedAnswer, WholeAnswer
from tests.server.conftest import KEY, Serve, ServedScript, ask, connect, exchange, head, post, question
from tests.server.test_connection import eventually
from tests.server.test_routes import dechunk

PATH = "/v1/messages"
COUNT = "/v1/messages/count_tokens"
ASKED = "What is this application?"
SAMPLING: dict[str, Any] = {"temperature": 1.2, "top_p": 0.9, "seed": 5}
WEATHER: Any = {
    "name": "weather",
    "description": "Tell it.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}
CALL = '<tool_call>{"name": "weather", "arguments": {"city": "Århus"}}</tool_call>'


def body_of(text: str = "one two three", **fields: Any) -> dict[str, Any]:
    return {"max_tokens": 100, **question(text), **fields}


def read_events(server: ApiServer, body: dict[str, Any]) -> list[dict[str, Any]]:
    status, headers, raw = exchange(server, post(PATH, server, {**body, "stream": True}))
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    events = []
    for part in dechunk(raw).decode().split("\n\n")[:-1]:
        kind, data = part.split("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert kind == f"event: {events[-1]['type']}"
    return [event for event in events if event["type"] != "ping"]


def joined(events: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The message that a stream comes to, as clients put it together; the text of a call's input is read."""
    message: dict[str, Any] = {}
    for event in events:
        match event["type"]:
            case "message_start":
                message = {**event["message"], "content": []}
            case "content_block_start":
                assert event["index"] == len(message["content"])
                message["content"].append({**event["content_block"], "_json": ""})
            case "content_block_delta":
                block, delta = message["content"][event["index"]], event["delta"]
                into = {"input_json_delta": ("_json", "partial_json")}.get(delta["type"], ("", ""))
                kept, given = into if into[0] else (delta["type"].removesuffix("_delta"),) * 2
                block[kept] += delta[given]
            case "content_block_stop":
                block = message["content"][event["index"]]
                written = block.pop("_json")
                block |= {"input": json.loads(written)} if written else {}
            case "message_delta":
                message |= {**event["delta"], "usage": event["usage"]}
    return message


def both(server: ApiServer, body: dict[str, Any]) -> dict[str, Any]:
    """The reply to a request, which is the same whether it streams; but for its ids, which are none."""
    status, whole = ask(server, body, PATH)
    assert status == 200, whole
    replies = [whole, joined(read_events(server, body))]
    for reply in replies:
        assert reply.pop("id").startswith("msg_")
        for block in reply["content"]:
            assert block["type"] != "tool_use" or re.fullmatch("[A-Za-z0-9]{9}", block.pop("id"))
    usages = [reply.pop("usage") for reply in replies]
    assert usages[0]["output_tokens"] == usages[1]["output_tokens"]
    assert replies[0] == replies[1]
    return replies[0]


# --- what is answered


def test_a_message_is_the_librarys_answer(serve: Serve, starter: Engine):
    server = serve(starter)
    expected = starter.generate(
        GenerateRequest(
            messages=[Message("system", "Be brief."), Message("user", ASKED)],
            max_tokens=30,
            sampling=SamplingParams(temperature=1.2, top_p=0.9, seed=5),
        )
    )
    body = body_of(ASKED, system="Be brief.", max_tokens=30, **SAMPLING)
    reply = both(server, body)
    assert reply["content"] == [{"type": "text", "text": expected.text}]
    assert reply["model"] == starter.info.name
    assert reply["stop_reason"] == {"stop": "end_turn", "length": "max_tokens"}[expected.finish_reason]
    usage = ask(server, body, PATH)[1]["usage"]
    assert usage["cache_read_input_tokens"] > 0  # it was asked before
    assert usage["input_tokens"] + usage["cache_read_input_tokens"] == expected.usage.prompt_tokens
    assert usage["output_tokens"] == expected.usage.completion_tokens


def test_a_stream_has_the_events_that_clients_wait_for(serve: Serve):
    events = read_events(serve(), body_of())
    assert [event["type"] for event in events] == [
        "message_start",
        "content_block_start",
        *["content_block_delta"] * 3,
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    start = events[0]["message"]
    assert (start["content"], start["stop_reason"], start["usage"]["input_tokens"]) == ([], None, 3)
    assert events[-2]["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}


@pytest.mark.parametrize(
    ("fields", "reason", "sequence"),
    [
        ({"max_tokens": 3}, "max_tokens", None),
        ({"max_tokens": 300, "stop_sequences": ["nowhere", " is "]}, "stop_sequence", " is "),
    ],
)
def test_why_an_answer_ended(serve: Serve, starter: Engine, fields: dict, reason: str, sequence: str | None):
    reply = both(serve(starter), body_of(ASKED, temperature=0, **fields))
    assert (reply["stop_reason"], reply["stop_sequence"]) == (reason, sequence)
    assert sequence is None or sequence not in reply["content"][0]["text"]


def test_a_context_that_is_full_is_not_what_was_asked_for(serve: Serve, starter: Engine):
    room = starter.info.max_context
    text = "a " * (room - 60)
    body = body_of(text, max_tokens=room, ignore_eos=True, temperature=0)
    counted = ask(serve(starter), body, COUNT)[1]["input_tokens"]
    assert counted < room
    reply = ask(serve(starter), body, PATH)[1]
    assert reply["stop_reason"] == "model_context_window_exceeded"
    assert reply["usage"]["output_tokens"] == room - counted


def test_an_answer_of_nothing_has_a_block_all_the_same(serve: Serve):
    server = serve(ServedScript({"Say nothing.": [""], "Say little.": [" ", "\n"]}))
    assert both(server, body_of("Say nothing."))["content"] == [{"type": "text", "text": ""}]
    assert both(server, body_of("Say little."))["content"] == [{"type": "text", "text": " \n"}]


def test_a_prompt_may_be_read_and_no_more(serve: Serve, starter: Engine):
    """As programs warm the cache."""
    server, body = serve(starter), body_of(f"{ASKED} Quick!", max_tokens=0)
    for reply in (ask(server, body, PATH)[1], joined(read_events(server, body))):
        assert (reply["content"], reply["stop_reason"], reply["usage"]["output_tokens"]) == ([], "max_tokens", 0)
    usage = ask(server, {**body, "max_tokens": 3}, PATH)[1]["usage"]
    assert usage["cache_read_input_tokens"] > usage["input_tokens"]
    assert ask(serve(ServedScript(fail_at=0)), body, PATH)[0] == 500


def test_an_answer_goes_on_with_the_last_message(serve: Serve, starter: Engine):
    asked = [*question(ASKED)["messages"], {"role": "assistant", "content": [{"type": "text", "text": "**llama"}]}]
    body = body_of(messages=asked, temperature=0, max_tokens=4)
    expected = starter.generate(
        GenerateRequest(
            messages=[Message("user", ASKED)],
            answer_text="**llama",
            max_tokens=4,
            sampling=SamplingParams(temperature=0),
        )
    )
    server = serve(starter)
    assert both(server, body)["content"][0]["text"] == expected.text.removeprefix("**llama") != ""
    usage = ask(server, body, PATH)[1]["usage"]
    prompt = usage["input_tokens"] + usage["cache_read_input_tokens"]
    assert ask(server, body, COUNT)[1] == {"input_tokens": prompt}


def test_an_answer_has_the_form_that_is_asked_for(serve: Serve, starter: Engine):
    schema = {
        "type": "object",
        "properties": {"n": {"enum": [1, 2]}},
        "required": ["n"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "schema": schema}
    server = serve(starter)
    for fields in ({"output_config": {"format": form, "effort": "low"}}, {"output_format": form}):
        reply = both(server, body_of(ASKED, temperature=0, **fields))
        assert json.loads(reply["content"][0]["text"])["n"] in (1, 2)
    status, reply = ask(server, body_of(output_config={"format": {**form, "schema": {"uniqueItems": True}}}), PATH)
    assert (status, reply["error"]["type"]) == (400, "invalid_request_error")
    assert "output_config.format" in reply["error"]["message"]


# --- what is thought

THOUGHT = ["<th", "ink>\n", "I ", "see.", "\n", "</thi", "nk>", "\n", "\nHi", " you.", "\n"]


def test_what_is_thought_is_a_block_of_its_own(serve: Serve):
    reply = both(serve(ServedScript({"Hi?": THOUGHT})), body_of("Hi?"))
    thought = {"type": "thinking", "thinking": "I see.", "signature": "llama-gui"}
    assert reply["content"] == [thought, {"type": "text", "text": "Hi you.\n"}]


def test_the_tag_of_reasoning_may_stand_in_the_prompt(serve: Serve):
    engine = ServedScript({"Hi?": THOUGHT[2:]})
    engine.info = replace(engine.info, thinking=True, thinking_tag="<think>\n")
    server = serve(engine)
    content = both(server, body_of("Hi?", thinking={"type": "enabled", "budget_tokens": 1024}))["content"]
    assert [(b["type"], b.get("thinking", b.get("text"))) for b in content] == [
        ("thinking", "I see."), ("text", "Hi you.\n")
    ]  # fmt: skip
    engine._script["Hi?"] = ["Hi", "."]
    assert both(server, body_of("Hi?"))["content"] == [{"type": "text", "text": "Hi."}]  # it was not to think


@pytest.mark.parametrize(
    ("thinking", "expected"),
    [
        (None, False),
        ({"type": "disabled"}, False),
        ({"type": "enabled", "budget_tokens": 2048}, True),
        ({"type": "adaptive", "display": "summarized"}, None),
    ],
)
def test_whether_a_model_thinks_is_its_own_switch(thinking: Any, expected: bool | None):
    (request,) = read_message(body_of(thinking=thinking)).requests
    assert request.thinking is expected
    assert request.thinking_budget == (2048 if expected else None)


SIZES = pytest.mark.parametrize("size", [1, 2, 3, 100])


def parted(text: str, size: int, wrapping: WholeAnswer | StreamedAnswer | None = None) -> tuple[str, str, str]:
    """What is thought and said in a text that comes in pieces of this size, and what is held back to the end."""
    split = ThinkingSplit(wrapping=wrapping)
    parts = [split.push(text[at : at + size]) for at in range(0, len(text), size)]
    parts.append(split.finish())
    return "".join(p[0] for p in parts), "".join(p[1] for p in parts), split.blank


@SIZES
@pytest.mark.parametrize("kind", [WholeAnswer, StreamedAnswer, None])
@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        ("<think>\n\n</think>\n\nHi", "", "Hi"),
        ("<think>a\n\nb</think>c", "a\n\nb", "c"),
        ("<THINK> `</think>` is the tag.</THINK>\n", "`</think>` is the tag.", ""),
        ("<think>\nnever ends </thi", "never ends </thi", ""),
        ("<think>a</think>\n \n b \n", "a", "b \n"),
        ("<think>a</think><resp", "a", "<resp"),
        ("<think>a</think><responses> b </response>", "a", "<responses> b </response>"),
        ("<response>b</response>", "", "<response>b</response>"),
        (" \n<reasoning>x</reasoning> y z ", "x", "y z "),
        ("  Hi <think>x</think>", "", "  Hi <think>x</think>"),
        ("<thin ice>", "", "<thin ice>"),
        (" \n", "", ""),
    ],
)
def test_thoughts_are_told_from_answers_wherever_the_text_is_cut(
    size: int, kind: Any, text: str, thought: str, said: str
):
    blank = text if text.isspace() else ""
    assert parted(text, size, kind and kind()) == (thought, said, blank)


@SIZES
@pytest.mark.parametrize(
    ("text", "whole", "streamed"),
    [
        ("\n<response>\nb c\n</response>\n", "b c", "b c"),
        ("<Response>b</RESPONSE>", "b", "b"),
        ("<response>a <response>b</response> c</response>", "a <response>b</response> c", "same"),
        ("<response></response>", "", ""),
        # No pair around everything is none; in a stream the first tag is gone before that is known.
        ("<response>b </response> c", "<response>b </response> c", "b </response> c"),
        ("<response>b</response>, <response>c</response>", "same", "b</response>, <response>c"),
        ("<response>b <", "<response>b <", "b"),
        ("<response>b </resp", "<response>b </resp", "b"),
        ("b</response>", "b</response>", "b</response>"),
    ],
)
def test_tags_that_a_model_is_told_to_write_around_an_answer(size: int, text: str, whole: str, streamed: str):
    whole = text if whole == "same" else whole
    streamed = whole if streamed == "same" else streamed
    for kind, said in ((WholeAnswer, whole), (StreamedAnswer, streamed)):
        assert parted(f"<think>a</think>{text}", size, kind())[:2] == ("a", said)
    assert parted(f"<think>a</think>{text}", size)[:2] == ("a", text.lstrip())  # it is not told so


@pytest.mark.parametrize("is_told", [True, False])
def test_tags_that_a_person_asked_for_stay(serve: Serve, is_told: bool):
    said = "<response><id>1</id></response>\n\nThat is the XML."
    wrapped = ["<think>.</think>", "<resp", "onse>", "Ho.", "</response>"]
    engine = ServedScript({"Hi?": ["<think>I see.</think>\n", said[:3], said[3:]], "Ho?": wrapped})
    engine.info = replace(engine.info, wraps_answers=is_told)
    server = serve(engine)
    assert ask(server, body_of("Hi?"), PATH)[1]["content"][1] == {"type": "text", "text": said}
    if not is_told:
        assert both(server, body_of("Hi?"))["content"][1]["text"] == said
    expected = "Ho." if is_told else "<response>Ho.</response>"
    assert both(server, body_of("Ho?"))["content"][1]["text"] == expected


# --- what is called


def test_a_call_is_a_block_with_its_input(serve: Serve):
    pieces = [*THOUGHT[:7], "\n\nI look.", *[CALL[at : at + 5] for at in range(0, len(CALL), 5)]]
    engine = ServedScript({"Rain?": pieces})
    reply = both(serve(engine), body_of("Rain?", tools=[WEATHER]))
    assert [block["type"] for block in reply["content"]] == ["thinking", "text", "tool_use"]
    assert reply["content"][1]["text"].strip() == "I look."
    assert reply["content"][2] == {"type": "tool_use", "name": "weather", "input": {"city": "Århus"}}
    assert reply["stop_reason"] == "tool_use"
    function = {"name": "weather", "description": "Tell it.", "parameters": WEATHER["input_schema"]}
    assert engine.requests[0].tools == [{"type": "function", "function": function}]


def test_json_is_an_answer_where_all_calls_have_marks(serve: Serve):
    words = ['{"name": "wea', 'ther", "parameters"', ': {"city": "Oslo"}}']
    engine = ServedScript({"Rain?": words})
    server, body = serve(engine), body_of("Rain?", tools=[WEATHER])
    assert [block["type"] for block in both(server, body)["content"]] == ["tool_use"]
    engine.info = replace(engine.info, marks_calls=True)
    assert both(server, body)["content"] == [text_block("".join(words))]
    formed = {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}
    assert [block["type"] for block in both(server, body | formed)["content"]] == ["tool_use"]


@pytest.mark.parametrize(("only_one", "count"), [(False, 2), (True, 1)])
def test_several_calls_at_once(serve: Serve, only_one: bool, count: int):
    server = serve(ServedScript({"Rain?": [CALL, "\n", CALL.replace("Århus", "Rome")]}))
    choice = {"type": "auto", "disable_parallel_tool_use": only_one}
    content = both(server, body_of("Rain?", tools=[WEATHER], tool_choice=choice))["content"]
    assert [block["input"]["city"] for block in content] == ["Århus", "Rome"][:count]


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "weather"}])
def test_a_call_that_must_be_is_told_as_it_is_written(serve: Serve, choice: dict):
    before, end = ('{"name": "weather", "arguments": ', "}") if choice["type"] == "any" else ("", "")
    engine = ServedScript({"Rain?": [before + '{"city": "\\u00c5r', 'hus \\"x', '\\""}' + end]})
    server, body = serve(engine), body_of("Rain?", tools=[WEATHER], tool_choice=choice)
    (block,) = both(server, body)["content"]
    assert block == {"type": "tool_use", "name": "weather", "input": {"city": 'Århus "x"'}}
    deltas = [e["delta"]["partial_json"] for e in read_events(server, body) if e["type"] == "content_block_delta"]
    assert deltas == ['{"city": "\\u00c5r', 'hus \\"x', '\\""}']
    cut = {**body, "max_tokens": 2}
    whole, events = ask(server, cut, PATH)[1], read_events(server, cut)
    assert whole["content"] == [{"type": "text", "text": ""}]  # half an object is none
    assert whole["stop_reason"] == events[-2]["delta"]["stop_reason"] == "max_tokens"
    assert [e["delta"]["partial_json"] for e in events if e["type"] == "content_block_delta"] == deltas[:2]


def test_two_calls_that_must_be(serve: Serve):
    call = '{"name": "weather", "arguments": {}}'
    server = serve(ServedScript({"Rain?": [f"[{call}, {call[:-2]}", "}}]"]}))
    content = both(server, body_of("Rain?", tools=[WEATHER], tool_choice={"type": "any"}))["content"]
    assert [block["input"] for block in content] == [{}, {}]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('{"a": 1e999, "b": NaN, "c": 1e3}', {"a": None, "b": None, "c": 1000.0}),
        ('{"a": "\\ud83c"}', {"a": "?"}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('{"a": ' + "[" * 500 + "]" * 500 + "}", None),
        ('{"a": ' + "[" * 50_000, None),
    ],
)
def test_input_is_json_whatever_a_model_writes(serve: Serve, written: str, expected: Any):
    server = serve(ServedScript({"Rain?": [written]}))
    body = body_of("Rain?", tools=[WEATHER], tool_choice={"type": "tool", "name": "weather"})
    status, _, raw = exchange(server, post(PATH, server, body))
    reply = json.loads(raw, parse_constant=pytest.fail)
    assert status == 200
    if expected is None:
        assert (reply["content"], reply["stop_reason"]) == ([{"type": "text", "text": ""}], "end_turn")
    else:
        assert (reply["content"][0]["input"], reply["stop_reason"]) == (expected, "tool_use")


def test_no_call_where_none_may_be(serve: Serve):
    engine = ServedScript({"Rain?": ["No."]})
    both(serve(engine), body_of("Rain?", tools=[WEATHER], tool_choice={"type": "none"}))
    assert engine.requests[0].tools is None


def test_a_program_may_bring_the_tools_of_many_servers():
    many = [{**WEATHER, "name": f"weather{number}"} for number in range(1024)]
    (request,) = read_message(body_of(tools=many)).requests
    assert len(request.tools or ()) == 1024
    functions = [{"type": "function", "function": {"name": tool["name"]}} for tool in many]
    assert len(read_chat(question(tools=functions)).requests[0].tools or ()) == 1024
    responses = [{"type": "function", "name": tool["name"]} for tool in many]
    assert len(read_response({"input": "Hi", "tools": responses}).requests[0].tools or ()) == 1024
    with pytest.raises(RefusedError, match="at most 1024"):
        read_message(body_of(tools=[*many, WEATHER]))


def test_tools_that_only_anthropic_has_are_left_out_among_others(serve: Serve):
    web = {"type": "web_search_20250305", "name": "web_search"}
    (request,) = read_message(body_of(tools=[web, {**WEATHER, "type": "custom", "cache_control": {}}])).requests
    assert [tool["function"]["name"] for tool in request.tools or ()] == ["weather"]


# --- what is read


def messages_of(*messages: Any, **fields: Any) -> list[Message]:
    (request,) = read_message(body_of(messages=list(messages), **fields)).requests
    return list(request.messages or ())


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def text_block(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **fields}


USE = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}}
CALLED: dict[str, Any] = {
    "role": "assistant",
    "content": [{"type": "thinking", "thinking": "Hm.", "signature": "x"}, text_block("I look."), USE],
}


def result(content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "toolu_1", "content": content, **fields}


def test_blocks_are_joined_so_that_words_stay_apart():
    cached = text_block("one", cache_control={"type": "ephemeral"})
    system = [
        text_block("x-anthropic-billing-header: cc_version=1;"),
        text_block("a"),
        text_block("\nb"),
        text_block(""),
    ]
    assert messages_of(user(cached, text_block("two\n"), text_block("three")), system=system) == [
        Message("system", "a\nb"),
        Message("user", "one\ntwo\nthree"),
    ]
    assert messages_of(user(text_block("Hi")), system="") == [Message("user", "Hi")]


def test_a_call_and_its_reply():
    replies = [result([text_block("rain"), text_block("wind")]), text_block("And then?")]
    call = {"id": "toolu_1", "type": "function", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}
    assert messages_of(user(text_block("Rain?")), CALLED, user(*replies)) == [
        Message("user", "Rain?"),
        Message("assistant", "I look.", tool_calls=(call,)),
        Message("tool", "rain\nwind", tool_call_id="toolu_1", name="weather"),
        Message("user", "And then?"),
    ]


def test_thoughts_go_along_while_the_model_calls_and_no_longer():
    asked, replied = user(text_block("Rain?")), user(result("rain"))
    said = {"role": "assistant", "content": [*CALLED["content"][:2]]}
    assert messages_of(asked, CALLED, replied)[1].content == "<think>\nHm.\n</think>\n\nI look."
    assert messages_of(asked, CALLED, replied, said, user(text_block("Well?")))[1].content == "I look."
    assert messages_of(asked, said, asked)[1].content == "I look."
    hidden = {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}, USE]}
    assert messages_of(asked, hidden, replied)[1].content == ""


def test_what_is_no_text_in_a_reply_is_told_of():
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x"}}
    paper = {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}}
    found = {"type": "search_result", "title": "T", "source": "S", "content": [text_block("words")]}
    plain = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "data"}, "title": "D"}
    reply = result([picture, paper, found, plain, {"type": "tool_reference", "tool_name": "g"}])
    told = messages_of(user(text_block("?")), CALLED, user(reply), user(found, plain))
    assert told[2].content.split("\n") == [
        "[A picture came, which cannot be shown here: image/png.]",
        "[A file came, which cannot be read here: of no type.]",
        "T", "S", "words", "D", "data", "[g]",
    ]  # fmt: skip
    assert told[3] == Message("user", "T\nS\nwords\nD\ndata")
    empty = {"type": "tool_result", "tool_use_id": "other"}
    assert messages_of(user(empty))[0] == Message("tool", "", tool_call_id="other")


def test_turns_of_one_role_in_a_row_are_one():
    hi, there = {"role": "user", "content": "Hi"}, user(text_block("there"))
    well, call = {"role": "assistant", "content": "Well."}, {"role": "assistant", "content": [USE]}
    told = messages_of(hi, there, well, CALLED, call, user(result("rain")), user(result("wind"), text_block("?")), hi)
    assert [(m.role, m.content) for m in told] == [
        ("user", "Hi\nthere"), ("assistant", "Well.\nI look."), ("tool", "rain"),
        ("tool", "wind"), ("user", "?\nHi"),
    ]  # fmt: skip
    assert len(told[1].tool_calls) == 2


def test_the_system_may_speak_in_the_midst():
    """As Claude Code lets it."""
    early, late = {"role": "system", "content": "early"}, {"role": "system", "content": [text_block("late")]}
    told = messages_of(early, user(text_block("Hi")), late, system="first")
    assert told == [Message("system", "first\n\nearly"), Message("user", "Hi"), Message("system", "late")]
    assert messages_of(early, user(text_block("Hi")))[0] == Message("system", "early")


def test_what_asks_for_nothing_is_taken():
    harmless = {
        "metadata": {"user_id": "u"}, "service_tier": "auto", "stream": False, "tools": [], "stop_sequences": [],
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}, "mcp_servers": [],
        "cache_control": {"type": "ephemeral"}, "thinking": None, "output_config": {}, "container": None, "n": 1,
        "tool_choice": {"type": "auto"}, "logprobs": False, "inference_geo": "eu", "betas": ["x"],
    }  # fmt: skip
    assert read_message(body_of(**harmless)).requests == read_message(body_of()).requests


def test_other_servers_fields_are_read_as_in_a_chat():
    fields = {"top_k": 5, "min_p": 0.1, "seed": 3, "bad_words": ["a"], "truncate_prompt_tokens": 9}
    (request,) = read_message(body_of(**fields, stop_sequences=["x"])).requests
    sampling = request.sampling
    assert (sampling.top_k, sampling.min_p, sampling.seed, sampling.bad_words) == (5, 0.1, 3, ("a",))
    assert (request.truncate_prompt_tokens, request.stop, request.overflow) == (9, ("x",), "error")


def only(block: Any) -> dict[str, Any]:
    return {"messages": [user(block)]}


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"max_tokens": None}, "max_tokens"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": "Hi"}, "messages"),
        ({"messages": ["x"]}, "messages[0]"),
        ({"messages": [{"role": "king", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": {"type": "text"}}]}, "messages[0].content"),
        (only("x"), "messages[0].content[0]"),
        (only({"type": "text"}), "messages[0].content[0].text"),
        (only({"type": "image", "source": {"type": "url"}}), "messages[0].content[0].source"),
        (only({"type": "image", "source": {"type": "base64"}}), "messages[0].content[0].source.data"),
        (only({"type": "document", "source": {"type": "base64"}}), "messages[0].content[0].type"),
        (only({"type": "document"}), "messages[0].content[0].type"),
        (only(USE), "messages[0].content[0].type"),
        (only({"type": "tool_result", "content": "x"}), "messages[0].content[0].tool_use_id"),
        (only(result(5)), "messages[0].content[0].content"),
        (only(result([{"type": "audio"}])), "messages[0].content[0].content[0].type"),
        ({"messages": [CALLED]}, "messages[0].content"),
        ({"messages": [{"role": "system", "content": ""}]}, "messages[0].content"),
        ({"messages": [user(text_block("Hi")), {"role": "assistant", "content": ""}]}, "messages[1].content"),
        ({"messages": [{"role": "assistant", "content": "Hi"}]}, "messages"),
        ({"messages": [{"role": "assistant", "content": [{**USE, "id": ""}]}]}, "messages[0].content[0].id"),
        ({"messages": [{"role": "assistant", "content": [{**USE, "input": "{}"}]}]}, "messages[0].content[0].input"),
        (
            {"messages": [{"role": "assistant", "content": [{"type": "server_tool_use"}]}]},
            "messages[0].content[0].type",
        ),
        ({"system": 5}, "system"),
        ({"system": [{"type": "image"}]}, "system[0].type"),
        ({"temperature": "warm"}, "temperature"),
        ({"stop_sequences": "x" * 2000}, "stop_sequences"),
        ({"stop_sequences": ["don't stop", 5]}, "stop_sequences"),
        ({"thinking": True}, "thinking"),
        ({"thinking": {}}, "thinking.type"),
        ({"thinking": {"type": "hard"}}, "thinking.type"),
        ({"thinking": {"type": "enabled", "budget_tokens": "all"}}, "thinking.budget_tokens"),
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools[0].type"),
        ({"tools": [{**WEATHER, "name": ""}]}, "tools[0].name"),
        ({"tools": [{**WEATHER, "name": [[]]}]}, "tools[0].name"),
        ({"tools": [{"name": "weather"}]}, "tools[0].input_schema"),
        ({"tools": [{**WEATHER, "input_schema": {"type": "string"}}]}, "tools[0].input_schema"),
        ({"tools": [WEATHER, WEATHER]}, "tools"),
        ({"tools": [WEATHER], "tool_choice": "auto"}, "tool_choice"),
        ({"tools": [WEATHER], "tool_choice": {"type": "some"}}, "tool_choice.type"),
        ({"tools": [WEATHER], "tool_choice": {}}, "tool_choice.type"),
        ({"tools": [WEATHER], "tool_choice": {"type": "tool", "name": "tides"}}, "tool_choice.name"),
        ({"tools": [WEATHER], "tool_choice": {"type": "tool"}}, "tool_choice.name"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        ({"output_config": {"format": {"type": "grammar"}}}, "output_config.format.type"),
        ({"output_config": {"effort": 5}}, "output_config.effort"),
        ({"mcp_servers": [{"url": "x"}]}, "mcp_servers"),
        ({"thread": {"type": "create"}}, "thread"),
        ({"compaction": {"type": "summarize"}}, "compaction"),
        ({"container": "c"}, "container"),
        ({"stop": ["x"]}, "stop"),
        ({"n": 2}, "n"),
        ({"response_format": {"type": "text"}}, "response_format"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], param: str):
    with pytest.raises(RefusedError) as caught:
        read_message(body_of(**change))
    assert (caught.value.status, caught.value.param) == (400, param)
    assert param in caught.value.message
    # No other protocol's words, and what was given as it was given.
    assert not re.search("function|continue_final|stop_sequences'|sequences_", caught.value.message)


# --- counting, and which model


def test_what_is_counted_is_what_is_read(serve: Serve, starter: Engine):
    server = serve(starter)
    bodies = [body_of(ASKED), body_of(ASKED, system="Be kind."), body_of("<|im_start|> ß 🎉" * 5)]
    for body in bodies:
        usage = ask(server, {**body, "max_tokens": 1}, PATH)[1]["usage"]
        without = {name: value for name, value in body.items() if name != "max_tokens"}
        prompt = usage["input_tokens"] + usage["cache_read_input_tokens"]
        assert ask(server, without, COUNT) == (200, {"input_tokens": prompt})
    scripted = serve()
    assert ask(scripted, body_of(tools=[WEATHER]), COUNT)[1] == {"input_tokens": 4}
    status, reply = ask(scripted, {"messages": []}, COUNT)
    assert (status, reply["type"]) == (400, "error")


def test_one_of_ours_stands_in_for_anthropics(serve: Serve):
    one, two = ServedScript(name="one"), ServedScript(name="two")
    models = LazyModels({"one": "/1", "two": "/2"}, {"/1": one, "/2": two}.__getitem__)
    server = serve(one, models)
    two_runs = serve(two)  # in a thread of its own
    assert ask(server, body_of(model="two"), PATH)[1]["model"] == "two"
    for name in ("claude-haiku-4-5-20251001", "Claude"):
        for path, check in ((PATH, "model"), (COUNT, "input_tokens")):
            status, reply = ask(server, body_of(model=name), path)
            assert status == 200
            assert reply[check] == {"model": "two", "input_tokens": 3}[check]  # the one that is in memory
    assert ask(server, body_of(), PATH)[1]["model"] == "one"
    for path in (PATH, COUNT):
        status, reply = ask(server, body_of(model="sonnet"), path)
        assert (status, reply["error"]["type"]) == (404, "not_found_error")
        assert "one, two" in reply["error"]["message"]
    assert ask(server, question(model="claude-haiku-4-5"))[0] == 404  # nobody sends that to OpenAI by himself
    assert two_runs.is_running
    named = ServedScript(name="claude-like")
    assert ask(serve(named, FixedModels.of(named)), body_of(model="claude-like"), PATH)[1]["model"] == "claude-like"


def test_the_models_as_this_protocol_lists_them(serve: Serve):
    server = serve()
    status, headers, raw = exchange(server, head("/v1/models", server, anthropic_version="2023-06-01"))
    listed = json.loads(raw)
    assert (status, listed["has_more"], listed["first_id"], listed["last_id"]) == (200, False, "Scripted", "Scripted")
    assert headers["request-id"] == headers["x-request-id"]
    (entry,) = listed["data"]
    assert (entry["type"], entry["id"], entry["display_name"]) == ("model", "Scripted", "Scripted")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry["created_at"])
    _, _, raw = exchange(server, head("/v1/models/Scripted", server, anthropic_version="2023-06-01"))
    assert json.loads(raw) == entry
    assert json.loads(exchange(server, head("/v1/models", server))[2])["object"] == "list"


# --- what goes wrong


def test_every_refusal_has_this_protocols_shape(serve: Serve):
    server = serve(limits=ServerLimits(body_bytes=2000, header_bytes=4000))
    given = post(PATH, server, body_of())
    for request, status, kind in (
        (post(PATH, server, body_of(max_tokens=None)), 400, "invalid_request_error"),
        (post(PATH, server, b"{"), 400, "invalid_request_error"),
        (post(PATH, server, body_of(), Authorization="Bearer wrong"), 401, "authentication_error"),
        (post(PATH, server, body_of(), Host="evil.example"), 403, "permission_error"),
        (post(f"{PATH}/batches", server, body_of()), 404, "not_found_error"),
        (post("/v1/other", server, body_of(), Anthropic_Version="2023-06-01"), 404, "not_found_error"),
        (head(PATH, server), 405, "invalid_request_error"),
        (post(PATH, server, body_of("x" * 3000)), 413, "request_too_large"),
        (given.replace(b"application/json", b"text/plain"), 415, "invalid_request_error"),
        (post(PATH, server, body_of(), X_Long="x" * 5000), 431, "invalid_request_error"),
    ):
        got, headers, raw = exchange(server, request)
        reply = json.loads(raw)
        assert (got, reply["type"], reply["error"]["type"]) == (status, "error", kind)
        assert reply["error"]["message"]
        assert reply["request_id"] == headers["request-id"] == headers["x-request-id"]
    reply = json.loads(exchange(server, post("/v1/other", server, body_of()))[2])
    assert "type" not in reply  # OpenAI's


def test_a_base_address_with_v1_is_explained(serve: Serve):
    status, reply = ask(serve(), body_of(), "/v1/v1/messages")
    assert status == 404
    assert "must not end with /v1" in reply["error"]["message"]


def test_the_key_may_come_as_anthropics_clients_send_it(serve: Serve):
    server = serve()
    for keys, expected in (
        ({"Authorization": "", "X_Api_Key": KEY}, 200),
        ({"Authorization": "Bearer other", "X_Api_Key": KEY}, 200),
        ({"X_Api_Key": "other"}, 200),  # with the right one beside it, as some send the keys of two
        ({"Authorization": "", "X_Api_Key": "other"}, 401),
        ({"Authorization": "", "X_Api_Key": ""}, 401),
        ({"Authorization": f"Basic {KEY}"}, 401),
    ):
        assert exchange(server, post(PATH, server, body_of(), **keys))[0] == expected


def test_a_prompt_that_is_too_long_is_told_in_the_words_that_clients_look_for(serve: Serve):
    """Claude Code shortens the conversation then."""
    server = serve(ServedScript(max_context=10))
    status, reply = ask(server, body_of("word " * 12), PATH)
    assert (status, reply["error"]["type"]) == (400, "invalid_request_error")
    assert reply["error"]["message"] == "prompt is too long: 12 tokens > 10 maximum"
    assert in_these_words(RefusedError(400, "other")).message == "other"
    assert isinstance(PromptTooLongError(12, 10), Exception)


def test_an_answer_that_fails_has_no_false_end(serve: Serve):
    server = serve(ServedScript(fail_at=2))
    status, reply = ask(server, body_of(), PATH)
    assert (status, reply["error"]["type"]) == (500, "api_error")
    events = read_events(server, body_of())
    assert [event["type"] for event in events[-2:]] == ["content_block_delta", "error"]
    assert events[-1]["error"]["type"] == "api_error"
    assert "not finite" in events[-1]["error"]["message"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_goes_away_frees_its_place(serve: Serve, stream: bool):
    engine = ServedScript(hang_at=1)
    server = serve(engine)
    gate = server._routes.generator.gate  # type: ignore[union-attr]
    with connect(server) as client:
        client.sendall(post(PATH, server, body_of(stream=stream)))
        assert eventually(lambda: gate.taken == 1 and bool(engine._jobs))
    assert eventually(lambda: gate.taken == 0 and not engine._jobs)


def test_who_waits_is_told_that_he_is_not_forgotten(serve: Serve):
    server = serve(ServedScript(hang_at=1), limits=ServerLimits(ping_seconds=0.05))
    data = b""
    with connect(server) as client:
        client.sendall(post(PATH, server, body_of(stream=True)))
        while data.count(b'event: ping\ndata: {"type":"ping"}\n\n') < 3:
            data += client.recv(65536)


def test_a_call_that_is_written_for_long_is_waited_for(serve: Serve):
    """Until it is whole nothing is told of it, though the model writes."""
    pieces = ["<tool_call>", *["x"] * 100_000]
    server = serve(ServedScript({"Rain?": pieces}), limits=ServerLimits(ping_seconds=0.05))
    chat = {"type": "function", "function": {"name": "weather"}}
    for path, body, ping in (
        (PATH, body_of("Rain?", tools=[WEATHER], max_tokens=100_000), b"event: ping\n"),
        ("/v1/chat/completions", question("Rain?", tools=[chat]), b": still here\n\n"),
    ):
        data = b""
        with connect(server) as client:
            client.sendall(post(path, server, {**body, "stream": True}))
            while data.count(ping) < 3:
                more = client.recv(65536)
                assert more
                data += more
