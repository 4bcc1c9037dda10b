"""What config.json and GGUF files say about short convolutions."""

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

KINDS = ["conv", "conv", "full_attention", "conv"]
LFM2 = {
    "architectures": ["Lfm2ForCausalLM"], "model_type": "lfm2", "hidden_size": 2048, "num_hidden_layers": 16,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 65536, "block_ff_dim": 12288,
    "block_auto_adjust_ff_dim": True, "block_ffn_dim_multiplier": 1.0, "block_multiple_of": 256, "conv_L_cache": 3,
    "conv_bias": False, "norm_eps": 1e-05, "rope_theta": 1000000.0, "full_attn_idxs": [2, 5, 8, 10, 12, 14],
    "max_position_embeddings": 128000, "tie_embedding": True,
}  # fmt: skip
"""As LFM2-1.2B was published first."""
LFM2_MOE = {
    "architectures": ["Lfm2MoeForCausalLM"], "model_type": "lfm2_moe", "hidden_size": 2048, "num_hidden_layers": 24,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 65536, "intermediate_size": 7168,
    "moe_intermediate_size": 1792, "num_dense_layers": 2, "num_experts": 32, "num_experts_per_tok": 4,
    "use_expert_bias": True, "norm_topk_prob": True, "routed_scaling_factor": 1.0, "norm_eps": 1e-05,
    "layer_types": [*KINDS, *KINDS, *KINDS, *KINDS, *KINDS, *KINDS], "rope_theta": 1000000.0,
}  # fmt: skip


def read(values: dict[str, Any], **changes: object) -> NetworkConfig:
    values = {name: value for name, value in (values | changes).items() if value is not ...}
    return network_config(Fields(values, Path("config.json")))


def test_the_first_files():
    config = read(LFM2)
    assert config.conv is not None
    assert config.recurrent is config.conv
    assert (config.conv.taps, config.conv.width) == (3, 2048)
    assert sorted(config.conv.layers) == [0, 1, 3, 4, 6, 7, 9, 11, 13, 15]
    assert config.conv.number_of(9) == 6
    assert (config.intermediate_size, config.rms_norm_eps, config.rope.theta) == (8192, 1e-5, 1e6)
    assert config.qk_norm
    assert config.tie_word_embeddings
    assert parameter_count(config) == 1_170_340_608  # as many as the model has


@pytest.mark.parametrize(
    ("changes", "inner"),
    [
        ({"block_auto_adjust_ff_dim": False}, 12288),
        ({"block_ff_dim": ..., "intermediate_size": 10000}, 6912),
        ({"block_ff_dim": 6912, "block_ffn_dim_multiplier": 1.5}, 6912),
        ({"block_multiple_of": 1000}, 9000),
    ],
)
def test_how_wide_its_mlps_are(changes: dict[str, object], inner: int):
    from transformers import Lfm2Config
    from transformers.models.lfm2.modeling_lfm2 import Lfm2MLP

    config = read(LFM2, **changes)
    assert config.intermediate_size == inner
    values = {name: value for name, value in (LFM2 | changes).items() if value is not ...}
    theirs = Lfm2MLP(Lfm2Config(**values | {"hidden_size": 8}))
    assert len(theirs.w1.weight) == inner


def test_mixtures():
    config = read(LFM2_MOE)
    assert config.experts is not None
    assert config.conv is not None
    assert config.experts.by_sigmoid
    assert config.experts.normalises
    assert config.experts.names.correction
    assert (config.experts.count, config.experts.chosen, config.experts.inner) == (32, 4, 1792)
    assert (config.experts.plain_layers, config.intermediate_size) == (2, 7168)
    assert len(config.conv.layers) == 18
    without = read(LFM2_MOE, use_expert_bias=False).experts
    assert without is not None
    assert not without.names.correction


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"layer_types": KINDS}, "layer_types"),
        ({"layer_types": [*KINDS[:3], "mamba"] * 4}, "each full_attention or conv"),
        ({"layer_types": ["conv"] * 16}, "one of them is full_attention"),
        ({"full_attn_idxs": "all"}, "one of them is full_attention"),
        ({"conv_L_cache": 1}, "conv_L_cache"),
        ({"conv_L_cache": "3"}, "conv_L_cache"),
        ({"block_ff_dim": -1}, "block_ff_dim"),
        ({"norm_eps": 0}, "norm_eps"),
    ],
)
def test_what_cannot_be(changes: dict[str, object], said: str):
    with pytest.raises(BrokenModelError, match=said):
        read(LFM2, **changes)


@pytest.mark.parametrize(
    ("values", "changes"), [(LFM2, {"conv_bias": True}), (LFM2_MOE, {"routed_scaling_factor": 2.5})]
)
def test_what_is_not_supported(values: dict[str, Any], changes: dict[str, object]):
    with pytest.raises(UnsupportedModelError, match=next(iter(changes))):
        read(values, **changes)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"lfm2.attention.head_count_kv": [0, 0, 2, 0]}, "head_count_kv"),
        ({"lfm2.attention.head_count_kv": [0, 0, 2, 0, 1, 0]}, "head_count_kv"),
        ({"lfm2.attention.head_count_kv": [0, 0, 0, 0, 0, 0]}, "head_count_kv"),
        ({"lfm2.attention.head_count_kv": 2}, "head_count_kv"),
        ({"lfm2.shortconv.l_cache": None}, "l_cache"),
    ],
)
def test_files_that_cannot_be(tiny_folder: Any, tmp_path: Path, changed: dict[str, object], said: str):
    file = write_gguf(tiny_folder("lfm2"), tmp_path / "tiny.gguf", fields=changed)
    with pytest.raises(BrokenModelError, match=said):
        _ = GgufModel(file).config


def test_files_say_how_experts_are_chosen(tiny_folder: Any, tmp_path: Path):
    def file(number: int) -> Path:
        changed = {"lfm2moe.expert_gating_func": number}
        return write_gguf(tiny_folder("lfm2-moe"), tmp_path / "tiny.gguf", fields=changed)

    for number, by_sigmoid in ((1, False), (2, True)):
        experts = GgufModel(file(number)).config.experts
        assert experts is not None
        assert experts.by_sigmoid == by_sigmoid
    with pytest.raises(UnsupportedModelError, match="expert_gating_func"):
        _ = GgufModel(file(3)).config
