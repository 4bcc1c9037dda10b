"""A shape counts what the engine's network holds."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from llama_gui.engine.config import load_config, network_config
from llama_gui.engine.fields import Fields
from llama_gui.engine.weight_shapes import weight_shapes
from llama_gui.errors import BrokenModelError
from llama_gui.library.fit import Machine, estimate, resolve
from llama_gui.library.quantisation import is_fp8
from llama_gui.library.shape_reader import shape_of
from llama_gui.paths import find_resources
from tests.fakes.fp8_folders import LAYOUTS
from tests.fakes.tiny_llama import CPU_SHAPES, FAMILY_SHAPES, SHAPES, STRANGE_SHAPES, write_tiny_llama


@pytest.mark.parametrize("shape", [*SHAPES, *FAMILY_SHAPES, *STRANGE_SHAPES, *CPU_SHAPES])
def test_it_counts_as_the_engine_does(tmp_path: Path, shape: Any):
    folder = write_tiny_llama(tmp_path, shape)
    counted = shape_of(json.loads((folder / "config.json").read_text(encoding="utf-8")))
    config = load_config(folder)
    assert counted.parameters == sum(math.prod(size) for size in weight_shapes(config).values())
    kept = sum(part.layers * part.kv_heads * part.head_dim for part in config.cache_layout.parts)
    assert counted.kv_numbers == 2 * kept


def test_of_a_model_that_reads_pictures_the_part_for_text_counts():
    # As Google's folder of 4B has it.
    text = {"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text", "num_hidden_layers": 34,
            "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024}  # fmt: skip
    config = {"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": text}
    network = network_config(Fields(config, Path("config.json")))
    assert network.max_position_embeddings == 131072
    assert (len(network.sliding_layers), network.rope.factor, network.rope.theta) == (29, 8.0, 1e6)
    parameters = sum(math.prod(size) for size in weight_shapes(network).values())
    assert shape_of(config).parameters == parameters == 3_880_263_168


def test_the_starter_model():
    config = json.loads((find_resources() / "starter_model" / "config.json").read_text(encoding="utf-8"))
    assert 4_000_000 <= shape_of(config).parameters <= 8_000_000


@pytest.mark.parametrize("value", [None, 0, -1, "8", 1.5, True, 2**40])
def test_what_cannot_be_is_told(value: Any):
    config = dict.fromkeys(
        ("num_attention_heads", "hidden_size", "vocab_size", "intermediate_size", "num_hidden_layers"), 8
    )
    with pytest.raises(BrokenModelError, match="num_hidden_layers"):
        shape_of(config | {"num_hidden_layers": value})


def test_absurd_numbers_of_experts_and_layers_cost_nothing():
    config = {
        "model_type": "mixtral", "vocab_size": 10, "hidden_size": 64, "intermediate_size": 64,
        "num_hidden_layers": 2**31 - 1, "num_attention_heads": 2, "num_local_experts": 2**31 - 1,
        "num_experts_per_tok": 2,
    }  # fmt: skip
    shape = shape_of(config)
    assert shape.parameters > 2**70
    assert len(shape.matrices) <= 4
    with pytest.raises(BrokenModelError, match=r"num_experts_per_tok is 9, but there are 8 experts"):
        shape_of({**config, "num_local_experts": 8, "num_experts_per_tok": 9})


def test_of_gpt_oss_most_weights_are_in_four_bits():
    """As OpenAI's folder of 20B has it."""
    config = {
        "architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", "attention_bias": True, "head_dim": 64,
        "hidden_size": 2880, "intermediate_size": 2880, "num_attention_heads": 64, "num_key_value_heads": 8,
        "num_hidden_layers": 24, "num_local_experts": 32, "num_experts_per_tok": 4, "vocab_size": 201088,
        "quantization_config": {"quant_method": "mxfp4"},
    }  # fmt: skip
    shape = shape_of(config)
    assert (shape.parameters, shape.stored) == (20_914_757_184, "int4")
    machine = Machine(24 * 10**9, 16 * 10**9, has_kernels=True, bandwidth=50e9)
    found = estimate(shape, machine, resolve("auto", machine, shape.stored))
    assert (found.dtype, found.verdict) == ("int4", "runs")
    assert 12e9 < found.needed < 14e9
    assert shape_of({**config, "quantization_config": None}).stored == ""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_weights_in_fp8_become_as_many_bits(layout: str):
    told = LAYOUTS[layout]
    plain = {"model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288, "num_attention_heads": 32,
             "num_hidden_layers": 36, "num_key_value_heads": 8, "vocab_size": 151936}  # fmt: skip
    inside = {"model_type": "mistral3", "text_config": {**plain, "model_type": "ministral3"}}
    machine = Machine(24 * 10**9, 16 * 10**9, has_kernels=True)
    for config in (plain, inside):
        shape = shape_of({**config, told.key: told.config})
        assert shape.stored == "int8"
        assert shape.parameters == shape_of(config).parameters
        found = estimate(shape, machine, resolve("auto", machine, shape.stored))
        assert (found.dtype, found.verdict) == ("int8", "runs")
        assert 8e9 < found.weights < 9e9


@pytest.mark.parametrize(
    "told",
    [
        {"quant_method": "awq"},
        {"quant_method": "modelopt", "quant_algo": "NVFP4"},
        {"quant_method": "compressed-tensors"},
        {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"type": "int", "num_bits": 8}}}},
        {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"type": "float", "num_bits": 4}}}},
        {"quant_method": "compressed-tensors", "config_groups": {"a": None, "b": {"weights": 8}}},
        "fp8 or so",
        [8],
        None,
    ],
    ids=str,
)
def test_other_weights_in_few_bits_are_not_taken_for_fp8(told: Any):
    assert not is_fp8({"quantization_config": told})
