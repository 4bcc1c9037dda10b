"""What servers send, each in its own way, and what is made of it."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.server.remote_chunks import MOST_CALLS, AnswerReader, error_text
from llama_gui.server.sse import EventReader
from llama_gui.vocabulary import Usage

RECORDED = Path(__file__).parent / "recorded"


def read(*values: Any) -> tuple[str, AnswerReader]:
    reader = AnswerReader()
    text = "".join(piece.text for value in values for piece in reader.read(value))
    return text + "".join(piece.text for piece in reader.finish()), reader


def recorded(name: str) -> list[Any]:
    reader = EventReader()
    events = reader.feed((RECORDED / f"{name}.sse").read_bytes()) + reader.finish()
    return [json.loads(event) for event in events if event != "[DONE]"]


@pytest.mark.parametrize(
    ("name", "text", "reason", "usage"),
    [
        ("openai", "Grüße 東京!", "stop", Usage(24, 16, 58)),
        ("vllm", "안녕", "length", Usage(12, 0, 2)),
        ("vllm_reasoning", "<think>\n 用户询问\n</think>\n\nFour.", "stop", Usage(9, 0, 4)),
        ("sglang", "提供帮助", None, Usage(7, 0, 2)),
        ("llamacpp", "Hello", "length", Usage(43, 0, 1)),
        ("llamacpp_reasoning", "<think>\n it handles\n</think>\n\n", "length", Usage(17, 0, 29)),
        ("llamacpp_python", "Set the", "length", None),
        ("ollama", "<think>\nThe user\n</think>\n\nHi.", "stop", Usage(11, 0, 5)),
        ("lmstudio", "\nHi", "stop", None),
        ("openwebui", "<think>\nHm.\n</think>\n\nYes", "stop", Usage(5, 0, 3)),
        ("openrouter", "Ok", "stop", Usage(3, 0, 1)),
        (
            "tools",
            '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>\n'
            '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
            "stop",
            None,
        ),
    ],
)
def test_recorded_answers(name, text, reason, usage):
    found, reader = read(*recorded(name))
    assert (found, reader.finish_reason, reader.usage, reader.error) == (text, reason, usage, "")


@pytest.mark.parametrize(
    ("name", "words"), [("vllm_broken", "EngineCore encountered"), ("llamacpp_broken", "context shift is disabled")]
)
def test_recorded_failures(name, words):
    text, reader = read(*recorded(name))
    assert (text, reader.finish_reason) == ("Half of", None)
    assert words in reader.error


def test_probabilities():
    pieces = [piece for value in recorded("openai") for piece in AnswerReader().read(value)]
    assert [(piece.text, piece.logprob) for piece in pieces[:2]] == [("Gr", -0.5), ("üße", -0.25)]
    assert [(top.text, top.logprob) for top in pieces[0].tops] == [("Gr", -0.5), ("He", -1.5)]
    assert math.isnan(pieces[2].logprob)


def test_completions_and_their_probabilities():
    logprobs = {"tokens": ["a", "b"], "token_logprobs": [-1, None], "top_logprobs": [{"a": -1, "c": -2}, None]}
    value = {"choices": [{"text": "ab", "index": 0, "logprobs": logprobs, "finish_reason": "length"}]}
    pieces = AnswerReader().read(value)
    assert [(piece.text, len(piece.tops)) for piece in pieces] == [("a", 2), ("b", 0)]


def test_a_whole_reply_of_a_server_that_does_not_stream():
    message = {"role": "assistant", "content": "Hi", "reasoning_content": "Hm"}
    text, reader = read({"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}})
    assert (text, reader.finish_reason, reader.usage) == ("<think>\nHm\n</think>\n\nHi", "stop", Usage(3, 0, 0))


def calls_in(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"delta": {"tool_calls": list(entries)}}]}


def call(call_id: str | None, name: str | None, arguments: str, **index: int) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **index}


OSLO = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
CET = '<tool_call>\n{"name": "time", "arguments": {"zone": "CET"}}\n</tool_call>'


@pytest.mark.parametrize("index", [{}, {"index": 0}])
@pytest.mark.parametrize("together", [False, True])
def test_calls_without_an_index_of_their_own_are_told_apart_by_their_ids(index: dict[str, int], together: bool):
    """Gemini, older versions of Ollama, proxies."""
    weather = call("call_1", "weather", '{"city":"Oslo"}', **index), call("call_2", "time", '{"zone":"CET"}', **index)
    chunks = [calls_in(*weather)] if together else [calls_in(entry) for entry in weather]
    assert read(*chunks)[0] == f"{OSLO}\n{CET}"


@pytest.mark.parametrize("repeated", [("call_1", "weather"), ("call_1", None), (None, "weather"), ("call_other", None)])
def test_a_call_that_comes_in_parts_stays_one(repeated: tuple[str | None, str | None]):
    """Some repeat id and name with each part; vLLM had versions that drew an id for each."""
    parts = call("call_1", "weather", '{"city":', index=0), call(*repeated, '"Oslo"}', index=0)
    assert read(*map(calls_in, parts))[0] == OSLO


def test_a_server_that_calls_without_end_is_heard_so_far():
    calls = [calls_in(call(f"call_{number}", "weather", "{}")) for number in range(MOST_CALLS + 9)]
    assert read(*calls)[0].count("<tool_call>") == MOST_CALLS


def test_content_in_parts():
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}, {"type": "text", "text": "Hi"}]
    assert read({"choices": [{"delta": {"content": content}}]})[0] == "<think>\nHm\n</think>\n\nHi"


def test_a_filter_is_no_end():
    text, reader = read({"choices": [{"delta": {"content": "Half"}, "finish_reason": "content_filter"}]})
    assert text == "Half"
    assert "filter" in reader.error


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"error": {"message": "Incorrect API key", "type": "x", "code": "invalid_api_key"}}, "Incorrect API key"),
        (
            {"error": {"code": 400, "message": "too long", "type": "exceed_context_size_error", "n_ctx": 4096}},
            "too long",
        ),
        ({"error": {"code": 500}}, "500"),
        ({"error": {}}, "an error without words"),
        ({"error": 'model "x" not found, try pulling it first'}, 'model "x" not found, try pulling it first'),
        ({"object": "error", "message": "m does not exist", "type": "NotFoundError", "code": 404}, "m does not exist"),
        ({"object": "error"}, "an error without words"),
        ({"message": "no Route matched"}, "no Route matched"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required"),
        ({"error": "two\nlines\x1b[31m\u202e and more"}, "two lines [31m and more"),
        ({"error": "x" * 5000}, "x" * 500 + "…"),
        ({"choices": []}, ""),
        ({"error": None, "choices": []}, ""),
        ([], ""),
        ("words", ""),
    ],
)
def test_errors_in_all_shapes(value, words):
    assert error_text(value) == words


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "delta", "message", "content", "reasoning", "tool_calls", "function", "name", "arguments",
                 "index", "usage", "prompt_tokens", "logprobs", "tokens", "token_logprobs", "token", "top_logprobs",
                 "finish_reason", "error", "detail", "text", "type", "thinking", "prompt_tokens_details"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.parametrize("rounds", [100, pytest.param(2000, marks=pytest.mark.campaign)])
def test_no_value_breaks_the_reader(rounds: int):
    @given(st.lists(junk, max_size=3))
    @settings(max_examples=rounds, deadline=None)
    def check(values: list[Any]):
        text, reader = read(*values, *({"choices": [value]} for value in values))
        assert isinstance(text, str)
        assert isinstance(reader.error, str)
        assert reader.usage is None or reader.usage.prompt_tokens >= 0

    check()
