"""generation_config.json: what is read, and what each mistake says."""

import json

import pytest

from llama_gui.engine.generation_defaults import GenerationDefaults, load_generation_defaults
from llama_gui.errors import BrokenModelError
from llama_gui.vocabulary import SamplingParams


@pytest.fixture
def recommended(tmp_path):
    def recommended(**values):
        (tmp_path / "generation_config.json").write_text(json.dumps(values))
        return load_generation_defaults(tmp_path)

    return recommended


def test_a_model_without_recommendations(tmp_path):
    assert load_generation_defaults(tmp_path) == GenerationDefaults(SamplingParams(), frozenset())


def test_recommendations(recommended):
    got = recommended(temperature=0.6, top_k=20, top_p=0.9, repetition_penalty=1.1, eos_token_id=[1, 2], pad=3)
    assert got.sampling == SamplingParams(temperature=0.6, top_k=20, top_p=0.9, repetition_penalty=1.1)
    assert got.eos_token_ids == {1, 2}


def test_do_sample_false_is_greedy(recommended):
    assert recommended(do_sample=False, temperature=0.6).sampling.temperature == 0
    assert recommended(do_sample=True, temperature=0.6).sampling.temperature == 0.6


def test_tokens_that_a_model_must_not_write(recommended):
    assert recommended(suppress_tokens=[9, 7]).sampling.banned_token_ids == (7, 9)
    assert recommended(suppress_tokens=[]).sampling.banned_token_ids is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("suppress_tokens", "<image|>"), ("top_p", 1.5), ("temperature", "hot"), ("eos_token_id", "</s>")],
)
def test_impossible_recommendations(recommended, name, value):
    with pytest.raises(BrokenModelError, match=rf"generation_config\.json: {name} is {value!r}"):
        recommended(**{name: value})
