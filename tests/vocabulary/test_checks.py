"""What a caller gets wrong is told at once: the field, its value, and what it may be."""

from typing import Any

import numpy as np
import pytest
import torch

from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary import MAX_SEED, GenerateRequest, Message, SamplingParams

WRONG_REQUESTS: list[tuple[str, Any]] = [
    ("messages", [{"role": "user", "content": "as the objects of another library"}]),
    ("messages", "a text"),
    ("messages", 5),
    ("prompt", 5),
    ("prompt", b"bytes"),
    ("token_ids", 5),
    ("sampling", None),
    ("sampling", {"temperature": 1.0}),
    ("stop", None),
    ("stop", "END"),
    ("stop", 5),
    ("stop", [""]),
    ("cache_key", 5),
    ("logits_processor", "greedy"),
    ("tools", 5),
    ("now", "today"),
    ("chat_template_kwargs", ["enable_thinking"]),
    ("answer_token_ids", None),
    ("answer_text", None),
    ("json_schema", "{}"),
    ("regex", 5),
    ("overflow", "drop"),
    ("thinking", "hard"),
    ("thinking", 1),
    ("thinking", ["low"]),
    ("max_tokens", True),
]


@pytest.mark.parametrize(("field", "value"), WRONG_REQUESTS)
def test_a_request_of_wrong_parts(field: str, value: Any):
    prompt = {} if field in ("messages", "prompt", "token_ids") else {"prompt": "a"}
    with pytest.raises(InvalidRequestError) as caught:
        GenerateRequest(**prompt, **{field: value})
    assert caught.value.field == field
    assert field in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("logit_bias", [1]),
        ("logit_bias", 5),
        ("allowed_token_ids", 5),
        ("banned_token_ids", 5),
        ("dry_sequence_breakers", 5),
        ("temperature", "1"),
        ("temperature", float("nan")),
        ("top_k", 1.0),
    ],
)
def test_sampling_of_wrong_parts(field: str, value: Any):
    with pytest.raises(InvalidRequestError) as caught:
        SamplingParams(**{field: value})
    assert caught.value.field == field


@pytest.mark.parametrize("calls", [5, "calls", [5], [None]])
def test_tool_calls_are_a_list_of_objects(calls: Any):
    with pytest.raises(InvalidRequestError, match="tool_calls"):
        Message("assistant", "", tool_calls=calls)


def test_a_large_range_is_told_to_the_last_digit():
    with pytest.raises(InvalidRequestError, match=f"from 0 to {MAX_SEED}"):
        SamplingParams(seed=MAX_SEED + 1)


@pytest.mark.parametrize("field", ["token_ids", "answer_token_ids"])
@pytest.mark.parametrize("ids", ["12", b"12", [True], [1.5], [-1], np.array(3), np.array([[1, 2]]), ["a"]])
def test_what_is_no_list_of_token_ids(field: str, ids: Any):
    prompt = {} if field == "token_ids" else {"prompt": "a"}
    with pytest.raises(InvalidRequestError, match="token ids") as caught:
        GenerateRequest(**prompt, **{field: ids})
    assert caught.value.field == field


@pytest.mark.parametrize("ids", [[1, 2], range(1, 3), {1, 2}, np.array([1, 2]), torch.tensor([1, 2]), iter([1, 2])])
def test_every_list_of_token_ids_becomes_a_tuple(ids: Any):
    assert GenerateRequest(token_ids=ids).token_ids == (1, 2)


def test_what_can_be_read_only_once_is_kept():
    assert GenerateRequest(prompt="a", stop=(text for text in "xy")).stop == ("x", "y")  # type: ignore[arg-type]
    params = SamplingParams(banned_token_ids=(token_id for token_id in (3, 4)))  # type: ignore[arg-type]
    assert params.banned_token_ids == (3, 4)


def test_what_changes_later_changes_nothing():
    stop, bias = ["x"], {1: 1.0}
    request = GenerateRequest(prompt="a", stop=stop, sampling=SamplingParams(logit_bias=bias))
    stop.append("y")
    bias[2] = 2.0
    assert (request.stop, request.sampling.logit_bias) == (("x",), {1: 1.0})


def test_the_numbers_of_other_libraries():
    request = GenerateRequest(prompt="a", max_tokens=np.int32(5), logprobs=np.uint8(1))  # type: ignore[arg-type]
    assert (type(request.max_tokens), request.max_tokens, type(request.logprobs)) == (int, 5, int)
    params = SamplingParams(temperature=np.float32(0.5), seed=np.int64(3))  # type: ignore[arg-type]
    assert (type(params.temperature), params.temperature, type(params.seed)) == (float, 0.5, int)


@pytest.mark.parametrize("names", [{"messages": 1}, {"self": 1}, {1: 2}])
def test_names_that_no_template_can_be_given(names: dict[Any, Any]):
    with pytest.raises(InvalidRequestError, match="chat_template_kwargs"):
        GenerateRequest(messages=[Message("user", "Hi")], chat_template_kwargs=names)


def test_what_is_nested_too_deep():
    nested: list[Any] = []
    for _ in range(900):
        nested = [nested]
    with pytest.raises(InvalidRequestError, match="tool_calls"):
        Message("assistant", "", tool_calls=nested)
    with pytest.raises(InvalidRequestError, match="chat_template_kwargs"):
        GenerateRequest(messages=[Message("user", "Hi")], chat_template_kwargs={"documents": nested})


@pytest.mark.parametrize(("field", "high"), [("top_p", 1), ("typical_p", 1), ("repetition_penalty", 100)])
@pytest.mark.parametrize("value", [0, -1, 101])
def test_a_range_is_told_alike_from_both_its_ends(field: str, high: int, value: float):
    with pytest.raises(InvalidRequestError, match=f"{field} is {value}, .* a number above 0, up to {high}"):
        SamplingParams(**{field: value})
