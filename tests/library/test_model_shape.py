"""What a shape guesses where nobody tells the real one, and what of a mixture counts."""

import pytest

from llama_gui.library.catalog import load as load_catalog
from llama_gui.library.model_shape import ModelShape
from llama_gui.paths import find_resources


def test_a_mixture_answers_as_a_model_between_all_of_it_and_what_a_token_needs():
    entries = {entry.repo: entry.shape for entry in load_catalog(find_resources() / "catalog.json")}
    assert 3.4e9 < entries["LiquidAI/LFM2-8B-A1B"].comparable_parameters < 3.7e9
    plain = entries["meta-llama/Llama-3.2-1B-Instruct"]
    assert plain.comparable_parameters == plain.parameters


@pytest.mark.parametrize("parameters", [1, 50e6, 1.2e9, 3.2e9, 8e9, 70e9, 1e15])
def test_a_guess_is_near(parameters: float):
    guessed = ModelShape.guess(round(parameters))
    if 1e9 < parameters < 1e12:
        assert guessed.parameters == pytest.approx(parameters, rel=0.2)
    assert guessed.kv_numbers > 0


@pytest.mark.parametrize(
    ("name", "parameters", "active"),
    [
        ("Qwen/Qwen3-30B-A3B-GGUF", 30.5e9, 3e9),
        ("qwen_qwen3-30b-a3b-instruct-2507-q4_k_m.gguf", 30.5e9, 3e9),
        ("granite-3.1-1b-a400m-instruct-Q8_0.gguf", 1.3e9, 0.4e9),
        ("Mixtral-8x7B-Instruct-v0.1-GGUF", 46.7e9, 11.7e9),
        ("Llama-3.2-3B-Instruct", 3.2e9, 3.2e9),
        ("Some-A7B-chat", 3.2e9, 3.2e9),  # cannot be
    ],
)
def test_a_name_tells_what_a_token_of_a_mixture_reads(name: str, parameters: float, active: float):
    shape = ModelShape.guess(round(parameters), name)
    assert shape.parameters == pytest.approx(parameters, rel=0.2)
    read = sum(matrix.numbers for matrix in shape.read_matrices.elements()) + (2 - shape.is_tied) * shape.head.numbers
    assert read == pytest.approx(active, rel=0.25)
