"""What a caller gets wrong is told at once: the field, its value, and what it may be."""

from typing import Any

import pytest

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


def test_tool_calls_are_a_list():
    with pytest.raises(InvalidRequestError, match="tool_calls"):
        Message("assistant", "", tool_calls=5)  # type: ignore[arg-type]


def test_a_large_range_is_told_to_the_last_digit():
    with pytest.raises(InvalidRequestError, match=f"from 0 to {MAX_SEED}"):
        SamplingParams(seed=MAX_SEED + 1)
