"""How an answer was made."""

import json
from dataclasses import replace

from llama_gui.chats.recipe import recipe_text
from llama_gui.vocabulary import (
    DEFAULT_SAMPLING,
    GenerateRequest,
    GenerateResult,
    ModelInfo,
    SamplingParams,
    Timings,
    Usage,
)

MODEL = ModelInfo("Llama", "/models/llama", "Llama", 1, 100, "int8", "cpu", replace(DEFAULT_SAMPLING, top_k=7), True)
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
