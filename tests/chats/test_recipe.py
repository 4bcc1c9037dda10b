"""How an answer was made."""

import json
from dataclasses import fields, replace
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.chats.recipe import GrowingRecipe, Recipe, read_recipe, recipe_text, recipe_to_json
from llama_gui.vocabulary import (
    DEFAULT_SAMPLING,
    GenerateRequest,
    GenerateResult,
    Message,
    ModelInfo,
    SamplingParams,
    Timings,
    Usage,
)

MODEL = ModelInfo(
    "Llama",
    "/models/llama",
    "Llama",
    1,
    100,
    "int8",
    "cpu",
    replace(DEFAULT_SAMPLING, top_k=7),
    True,
    wraps_answers=True,
)
RESULT = GenerateResult("x", (1, 2), "length", Usage(10, 4, 2), Timings(0.1, 0.2, 0.3), seed=42)


def test_it_holds_every_value_as_it_was_used():
    sampling = SamplingParams(temperature=0.3, logit_bias={5: 1.0})
    request = GenerateRequest(prompt="Hi", sampling=sampling, max_tokens=2, stop=["END"])
    recipe = json.loads(recipe_text(request, MODEL, RESULT))
    assert recipe["model"] == "/models/llama"
    assert recipe["sampling"]["temperature"] == 0.3
    assert recipe["sampling"]["top_k"] == 7
    assert recipe["sampling"]["seed"] == 42
    assert recipe["sampling"]["logit_bias"] == {"5": 1.0}
    assert (recipe["max_tokens"], recipe["stop"], recipe["finish_reason"]) == (2, ["END"], "length")
    assert recipe["usage"] == {"prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 2}


def test_without_a_model_it_tells_what_was_asked():
    recipe = json.loads(recipe_text(GenerateRequest(prompt="Hi"), None, RESULT))
    assert recipe["model"] == ""
    assert recipe["sampling"]["temperature"] is None


def test_it_knows_how_many_tokens_were_there_before():
    request = GenerateRequest(prompt="Hi", answer_token_ids=(7, 8, 9))
    assert read_recipe(recipe_text(request, MODEL, RESULT)).continued_tokens == 3


# --- reading it again


def test_it_comes_back_with_all_that_another_run_needs():
    request = GenerateRequest(
        messages=[Message("user", "Hi")],
        sampling=SamplingParams(temperature=0.3, logit_bias={5: 1.0}, dry_sequence_breakers=("\n",)),
        max_tokens=9,
        min_tokens=2,
        stop=["END"],
        json_schema={"type": "object"},
        now=datetime(2026, 11, 21, 8, 0),
        chat_template_kwargs={"enable_thinking": True},
        thinking=False,
    )
    result = replace(RESULT, dropped_messages=4)
    text = recipe_text(
        request, MODEL, result, fingerprint="f1", template="t1", tokenizer="k1", prompt_token_ids=[7, 8, 9]
    )
    recipe = read_recipe(text)
    assert recipe == Recipe(
        model="/models/llama",
        name="Llama",
        dtype="int8",
        device="cpu",
        fingerprint="f1",
        template="t1",
        tokenizer="k1",
        sampling=replace(request.sampling.or_else(MODEL.sampling), seed=42),
        max_tokens=9,
        min_tokens=2,
        stop=("END",),
        json_schema={"type": "object"},
        chat_template_kwargs={"enable_thinking": True},
        thinking=False,
        wraps_answers=True,
        now="2026-11-21T08:00:00",
        prompt_token_ids=(7, 8, 9),
        token_ids=(1, 2),
        dropped_messages=4,
        finish_reason="length",
        usage=Usage(10, 4, 2),
        timings=Timings(0.1, 0.2, 0.3),
    )
    assert recipe.present == datetime(2026, 11, 21, 8, 0)
    assert recipe_to_json(recipe) == text


@pytest.mark.parametrize(("stored", "thinking"), [('"high"', "high"), ("true", True), ('"x"', None), ("[1]", None)])
def test_how_much_was_thought(stored: str, thinking: object):
    assert read_recipe(f'{{"thinking": {stored}}}').thinking == thinking


def test_an_answer_that_is_being_written_has_a_recipe_too():
    request = GenerateRequest(prompt="Hi", sampling=SamplingParams(seed=3))
    growing = GrowingRecipe(request, MODEL)
    assert read_recipe(growing.text()) == read_recipe(recipe_text(request, MODEL))
    for token_ids in ([4], [], [5, 6]):
        growing.add(token_ids)
    recipe = read_recipe(growing.text())
    assert (recipe.sampling.seed, recipe.token_ids, recipe.finish_reason) == (3, (4, 5, 6), "")


def test_the_recipe_of_an_answer_that_goes_on_begins_with_what_was_there():
    schema = {"type": "object", "title": 'Token ids: "token_ids":[9]', "default": float("nan")}
    request = GenerateRequest(
        messages=[Message("user", "Hi")], answer_token_ids=[1, 2], tools=[{"name": "é"}], json_schema=schema
    )
    growing = GrowingRecipe(request, None, given_tokens=1)
    growing.add([3])
    recipe = read_recipe(growing.text(written='<tool_call>"é"\n'))
    assert (recipe.token_ids, recipe.continued_tokens, recipe.given_tokens) == ((1, 2, 3), 2, 1)
    assert (recipe.written, recipe.tools) == ('<tool_call>"é"\n', ({"name": "é"},))
    assert recipe.json_schema is not None
    assert recipe.json_schema["title"] == schema["title"]


def test_the_first_versions_recipe_is_read():
    old = (
        '{"model": "/m", "sampling": {"temperature": 0.3, "seed": 42, "logit_bias": {"5": 1.0}}, "max_tokens": 2,'
        ' "stop": ["END"], "finish_reason": "length", "usage": {"prompt_tokens": 10}, "timings": {"decode": 0.3}}'
    )
    recipe = read_recipe(old)
    assert (recipe.model, recipe.max_tokens, recipe.stop) == ("/m", 2, ("END",))
    assert recipe.sampling == SamplingParams(temperature=0.3, seed=42, logit_bias={5: 1.0})
    assert (recipe.usage, recipe.timings) == (Usage(10), Timings(decode=0.3))
    assert recipe.token_ids == ()


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "null", "3", '"x"', "[" * 100_000),
        *('{"sampling": {"temperature": -1}}', '{"sampling": {"x": 1}}'),
        *('{"token_ids": [1, -2]}', '{"token_ids": [1.5]}', '{"token_ids": [true]}'),
        *('{"stop": ["", 3], "max_tokens": true}', '{"usage": {"prompt_tokens": NaN}, "timings": [1]}'),
        '{"model": 3, "now": [], "regex": {}, "json_schema": []}',
    ],
)
def test_what_is_damaged_is_not_known(text: str):
    assert read_recipe(text) == Recipe()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, max_examples=100)
@given(st.dictionaries(st.sampled_from([f.name for f in fields(Recipe)]), JSON))
def test_any_values_make_a_recipe_that_can_be_written(values: dict[str, object]):
    recipe = read_recipe(json.dumps(values))
    again = read_recipe(recipe_to_json(recipe))
    assert recipe_to_json(again) == recipe_to_json(recipe)  # texts: NaN inside a schema is not equal to itself
