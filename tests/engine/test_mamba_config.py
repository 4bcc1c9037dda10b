"""What config.json and GGUF files say about state spaces."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from llama_gui.engine.config import network_config
from llama_gui.engine.fields import Fields
from llama_gui.engine.gguf import GgufModel
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.weight_shapes import parameter_count
from llama_gui.errors import BrokenModelError, UnsupportedModelError
from tests.fakes.gguf_files import write_gguf

KINDS = ["attention" if layer % 10 == 5 else "mamba" for layer in range(40)]
H_TINY = {
    "architectures": ["GraniteMoeHybridForCausalLM"], "model_type": "granitemoehybrid", "hidden_size": 1536,
    "num_hidden_layers": 40, "num_attention_heads": 12, "num_key_value_heads": 4, "vocab_size": 100352,
    "intermediate_size": 512, "shared_intermediate_size": 1024, "num_local_experts": 64, "num_experts_per_tok": 6,
    "layer_types": KINDS, "mamba_n_heads": 48, "mamba_d_head": 64, "mamba_d_state": 128, "mamba_n_groups": 1,
    "mamba_d_conv": 4, "mamba_expand": 2, "mamba_conv_bias": True, "mamba_proj_bias": False, "rms_norm_eps": 1e-05,
    "position_embedding_type": "nope", "tie_word_embeddings": True, "embedding_multiplier": 12,
    "residual_multiplier": 0.22, "attention_multiplier": 0.0078125, "logits_scaling": 6, "rope_theta": 10000,
}  # fmt: skip
"""As Granite 4.0 H Tiny, as far as other pages tell."""
DENSE = {"num_local_experts": 0, "shared_intermediate_size": 4096}


def read(**changes: object) -> NetworkConfig:
    values = {name: value for name, value in (H_TINY | changes).items() if value is not ...}
    return network_config(Fields(values, Path("config.json")))


def test_a_mixture():
    config = read()
    mamba, experts = config.mamba, config.experts
    assert mamba is not None
    assert config.recurrent is mamba
    assert sorted({*range(40)} - mamba.layers) == [5, 15, 25, 35]
    assert (mamba.heads, mamba.head_dim, mamba.groups, mamba.state_dim, mamba.taps) == (48, 64, 1, 128, 4)
    assert (mamba.inner, mamba.mixed_width, mamba.made_width) == (3072, 3328, 6448)
    assert mamba.has_bias
    assert mamba.eps == 1e-5, "it is not divided by the multiplier of what layers add"
    assert config.rms_norm_eps == 1e-5 / 0.22**2
    assert experts is not None
    assert (experts.count, experts.chosen, experts.inner, experts.shared) == (64, 6, 512, 1024)
    assert experts.normalises
    assert 6.8e9 < parameter_count(config) < 7.1e9


def test_without_experts():
    config = read(**DENSE)
    assert config.experts is None
    assert config.intermediate_size == 4096
    assert config.mamba is not None
    assert 1.4e9 < parameter_count(config) < 1.6e9


@pytest.mark.parametrize("kind", ["nope", None, ..., "rope"])
def test_whether_heads_are_rotated(kind: object):
    assert read(position_embedding_type=kind).rope.is_still == (kind != "rope")


def test_how_wide_heads_are():
    mamba = read(mamba_d_head="auto", mamba_n_heads=24).mamba
    assert mamba is not None
    assert mamba.head_dim == 128


@pytest.mark.parametrize("names", [("mamba", "attention"), ("linear_attention", "full_attention")])
def test_both_names_of_kinds(names: tuple[str, str]):
    config = read(layer_types=[names[kind == "attention"] for kind in KINDS])
    assert config.mamba == read().mamba


def test_where_all_layers_attend_it_is_none():
    config = read(layer_types=["attention"] * 40)
    assert config.mamba is None
    assert config.experts is not None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"layer_types": KINDS[:39]}, "layer_types"),
        ({"layer_types": [*KINDS[:39], "conv"]}, "each full_attention or mamba"),
        ({"layer_types": ["mamba"] * 40}, "one of them is full_attention"),
        ({"layer_types": ...}, "layer_types"),
        ({"layer_types": [{}] * 40}, "layer_types|mamba"),
        ({"mamba_n_heads": 47}, "mamba_n_heads is 47, .* as many as heads of 64 are in 3072"),
        ({"mamba_n_groups": 5}, r"a multiple of mamba_n_groups \(5\)"),
        ({"mamba_d_conv": 1}, "mamba_d_conv"),
        ({"mamba_d_state": 0}, "mamba_d_state"),
        ({"mamba_d_head": "wide"}, "mamba_d_head"),
        ({"mamba_expand": -2}, "mamba_expand"),
        ({"shared_intermediate_size": 0}, "shared_intermediate_size"),
        ({"num_experts_per_tok": 65}, "num_experts_per_tok"),
    ],
)
def test_what_cannot_be(changes: dict[str, object], said: str):
    with pytest.raises(BrokenModelError, match=said):
        read(**changes)


def test_as_transformers_writes_it():
    from transformers import GraniteMoeHybridConfig

    values = {name: value for name, value in H_TINY.items() if name != "model_type"}
    written = json.loads(GraniteMoeHybridConfig(**values).to_json_string())
    assert written["time_step_limit"][1] != math.inf, "it is no JSON"
    assert network_config(Fields(written, Path("config.json"))) == read(eos_token_id=2)


@pytest.mark.parametrize(
    "changes",
    [{"mamba_proj_bias": True}, {"time_step_limit": [0.001, 0.1]}, {"time_step_limit": [0, 1]}, {"time_step_limit": 7}],
)
def test_what_is_not_supported(changes: dict[str, object]):
    with pytest.raises(UnsupportedModelError, match=next(iter(changes))):
        read(**changes)


@pytest.mark.parametrize("limit", [None, [0.0, math.inf], [0, math.inf], [0.0, {"__float__": "Infinity"}], [0, None]])
def test_limits_that_limit_nothing(limit: object):
    assert read(time_step_limit=limit).mamba is not None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"granitehybrid.attention.head_count_kv": [0, 2, 0]}, "head_count_kv"),
        ({"granitehybrid.attention.head_count_kv": [0, 2, 1, 0]}, "head_count_kv"),
        ({"granitehybrid.attention.head_count_kv": [0, 0, 0, 0]}, "head_count_kv"),
        ({"granitehybrid.attention.head_count_kv": 2}, "head_count_kv"),
        ({"granitehybrid.ssm.inner_size": 130}, "inner_size"),
        ({"granitehybrid.ssm.inner_size": 32}, "mamba_expand|mamba_n_heads"),
        ({"granitehybrid.ssm.state_size": None}, "state_size"),
    ],
)
def test_files_that_cannot_be(tiny_folder: Any, tmp_path: Path, changed: dict[str, object], said: str):
    file = write_gguf(tiny_folder("granite4-h"), tmp_path / "tiny.gguf", fields=changed)
    with pytest.raises(BrokenModelError, match=said):
        _ = GgufModel(file).config


def test_files_say_whether_heads_are_rotated(tiny_folder: Any, tmp_path: Path):
    for turns in (True, False):
        changed = {"granitehybrid.rope.scaling.finetuned": turns}
        file = write_gguf(tiny_folder("granite4-h"), tmp_path / "tiny.gguf", fields=changed)
        assert GgufModel(file).config.rope.is_still != turns
