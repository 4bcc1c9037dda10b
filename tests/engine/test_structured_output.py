"""Whatever the weights say, the answer follows its schema or expression; where it cannot, that is an error."""

import functools
import json
import re
import sys
from dataclasses import replace
from typing import Any

import pytest

from llama_gui.engine import AnswerState, GenerateRequest, SamplingParams
from llama_gui.errors import GenerationError, InvalidRequestError, UserError

pytest.importorskip("llguidance")

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "ü"]}, "maxItems": 3},
        "ok": {"type": "boolean"},
    },
    "required": ["name", "age", "tags", "ok"],
    "additionalProperties": False,
    "x-guidance": {"whitespace_flexible": False},
}

NESTED: dict[str, Any] = functools.reduce(lambda inner, _: {"not": inner}, range(900), {})


def request(seed: int = 0, **options: Any) -> GenerateRequest:
    sampling = SamplingParams(temperature=1.5, top_k=0, top_p=1.0, min_p=0.0, seed=seed)
    return GenerateRequest(**{"token_ids": [10, 11, 12], "max_tokens": 400, "sampling": sampling, **options})


def check_person(text: str) -> None:
    person = json.loads(text)
    assert set(person) == set(PERSON["properties"])
    assert isinstance(person["name"], str)
    assert len(person["name"]) <= 12
    assert type(person["age"]) is int
    assert 0 <= person["age"] <= 150
    assert set(person["tags"]) <= {"a", "b", "ü"}
    assert len(person["tags"]) <= 3
    assert type(person["ok"]) is bool


@pytest.mark.parametrize("shape", ["llama-3.2", "tinyllama"])  # byte-level, and SentencePiece with byte fallback
def test_the_answer_is_the_json_that_was_asked_for(load, shape: str):
    engine = load(shape)
    requests = [request(seed, json_schema=PERSON) for seed in range(12)]
    *results, free = engine.generate_batch([*requests, request(1, max_tokens=20)])
    assert free.error is None
    for result in results:
        assert result.finish_reason == "stop", result.error
        check_person(result.text)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("pattern", [r"(yes|no), [0-9]{1,3}\.", r"[a-fA-F0-9]{8}", "[äöü🦙]{5}", r"a{3}b?"])
def test_the_answer_matches_the_expression(load, pattern: str, seed: int):
    result = load().generate(request(seed, regex=pattern))
    assert result.finish_reason == "stop"
    assert re.fullmatch(pattern, result.text)


def test_greedy_and_penalties_and_guesses_too(load):
    engine = load(draft="ngram")
    sampling = SamplingParams(temperature=0, repetition_penalty=1.3, dry_multiplier=0.8)
    for _ in range(2):
        result = engine.generate(request(json_schema=PERSON, sampling=sampling, max_tokens=2000))
        if result.finish_reason == "stop":
            check_person(result.text)
        else:
            assert isinstance(result.error, GenerationError)  # a random network may count up for ever


def test_the_same_bits_beside_others_and_after_an_interruption(load):
    engine = load()
    asked = request(3, json_schema=PERSON, logprobs=1)
    whole = list(engine.submit(asked))
    jobs = [engine.submit(one) for one in (asked, request(9), request(5, regex="[ab]{20}"))]
    assert list(jobs[0]) == whole
    for job in jobs:
        job.result(60)
    state = jobs[0].answer_state
    for cut in (1, 5, len(whole) - 2):
        kept = AnswerState.from_json(replace(state, token_ids=state.token_ids[:cut]).to_json())
        assert list(engine.resume(kept)) == whole[cut:]


def test_an_answer_that_is_cut_is_an_error_and_keeps_its_text(load):
    result = load().generate(request(regex="[ab]{300}", max_tokens=10))
    assert result.finish_reason == "error"
    assert "10 tokens" in str(result.error)
    assert re.fullmatch("[ab]+", result.text)
    assert len(result.token_ids) == 10


def test_a_stop_text_that_breaks_the_grammar_is_an_error(load):
    result = load().generate(request(regex="ab{50}", stop=["bb"]))
    assert result.finish_reason == "error"
    assert result.text == "a"


def test_a_cancelled_answer_is_none(load):
    job = load().submit(request(regex="[ab]{5000}", max_tokens=4000))
    next(iter(job))
    job.cancel()
    assert job.result(60).finish_reason == "cancelled"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"regex": "("}, "regex"),
        ({"json_schema": {"type": "nonsense"}}, "json_schema"),
        ({"json_schema": {"$ref": "#/nowhere"}}, "json_schema"),
        ({"json_schema": {"type": "string", "pattern": "("}}, "json_schema"),
        ({"json_schema": {"enum": [object()]}}, "json_schema"),
        ({"json_schema": {}, "regex": "a"}, "regex"),
        ({"json_schema": NESTED}, "json_schema"),
    ],
)
def test_what_cannot_be_a_grammar(load, options: dict[str, Any], field: str):
    with pytest.raises(InvalidRequestError) as caught:
        load().submit(request(**options))
    assert caught.value.field == field


def test_why_an_expression_cannot_be_one(load):
    with pytest.raises(
        InvalidRequestError, match="look-around, including look-ahead and look-behind, is not supported"
    ):
        load().submit(request(regex="(?<=a)b"))


@pytest.mark.parametrize("asked", [{"regex": "[0-9]+"}, {"json_schema": PERSON}])
def test_an_answer_that_cannot_go_on_as_its_grammar_asks(load, asked: dict[str, Any]):
    engine = load()
    with pytest.raises(InvalidRequestError) as caught:
        engine.submit(request(answer_text="hello", **asked))
    assert caught.value.field == "answer_text"
    with pytest.raises(InvalidRequestError) as caught:
        engine.submit(request(answer_token_ids=engine.tokenizer.encode_literally("hello"), **asked))
    assert caught.value.field == "answer_token_ids"


def test_without_the_package(load, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "llguidance", None)
    with pytest.raises(UserError, match=r"pip install .llama-gui\[structured\]"):
        load().submit(request(regex="a"))
