"""What config.json and GGUF files say about Nemotron-H, whose files call each half of a layer a layer."""

import json
import shutil
from pathlib import Path
from typing import Any

import gguf
import pytest
import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine.config import load_config, network_config
from llama_gui.engine.fields import Fields
from llama_gui.engine.gguf import GgufModel
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.split_layers import SplitLayers
from llama_gui.engine.weight_shapes import parameter_count, weight_shapes
from llama_gui.errors import BrokenModelError, UnsupportedModelError
from tests.fakes.gguf_files import network_fields, tokenizer_fields, write_gguf, write_parts

NANO_2 = {
    "architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h", "hidden_size": 4480,
    "hybrid_override_pattern": "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-", "num_hidden_layers": 56,
    "intermediate_size": 15680, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
    "mamba_num_heads": 128, "mamba_head_dim": 80, "n_groups": 8, "ssm_state_size": 128, "conv_kernel": 4, "expand": 2,
    "vocab_size": 131072, "layer_norm_epsilon": 1e-05, "mlp_hidden_act": "relu2", "tie_word_embeddings": False,
    "use_conv_bias": True, "use_bias": False, "mamba_proj_bias": False,
}  # fmt: skip
"""As Nemotron Nano 9B v2, as far as other pages tell."""
NANO_3 = {
    **NANO_2, "hidden_size": 2688, "num_hidden_layers": 52, "intermediate_size": 1856, "num_attention_heads": 32,
    "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME", "num_key_value_heads": 2,
    "mamba_num_heads": 64, "mamba_head_dim": 64, "n_routed_experts": 128, "num_experts_per_tok": 6, "n_group": 1,
    "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712, "n_shared_experts": 1,
    "routed_scaling_factor": 2.5, "topk_group": 1, "norm_topk_prob": True,
}  # fmt: skip
"""As Nemotron 3 Nano 30B-A3B."""


def read(values: dict[str, Any], **changes: object) -> NetworkConfig:
    values = {name: value for name, value in (values | changes).items() if value is not ...}
    return network_config(Fields(values, Path("config.json")))


def test_halves_make_layers():
    split = SplitLayers.of(["mamba", "mlp", "mamba", "attention", "mlp", "mamba"])
    assert split == SplitLayers((0, 2, 3, 5), (1, None, 4, None), frozenset({2}))
    assert split.bare == {1, 3}
    with pytest.raises(ValueError, match="layer 2 is moe"):
        SplitLayers.of(["mamba", "moe", "moe"])
    with pytest.raises(ValueError, match="layer 0 is mlp"):
        SplitLayers.of(["mlp"])


@pytest.mark.parametrize(
    ("stored", "ours"),
    [
        ("backbone.embeddings.weight", "model.embed_tokens.weight"),
        ("backbone.norm_f.weight", "model.norm.weight"),
        ("lm_head.weight", "lm_head.weight"),
        ("backbone.layers.0.norm.weight", "model.layers.0.input_layernorm.weight"),
        ("backbone.layers.0.mixer.norm.weight", "model.layers.0.mamba.norm.weight"),
        ("backbone.layers.1.norm.weight", "model.layers.0.post_attention_layernorm.weight"),
        ("backbone.layers.1.mixer.up_proj.weight", "model.layers.0.mlp.up_proj.weight"),
        ("backbone.layers.1.mixer.experts.7.up_proj.weight", "model.layers.0.mlp.experts.7.up_proj.weight"),
        ("backbone.layers.3.mixer.q_proj.weight", "model.layers.2.self_attn.q_proj.weight"),
        ("backbone.layers.5.mixer.dt_bias", "model.layers.3.mamba.dt_bias"),
    ],
)
def test_names_both_ways(stored: str, ours: str):
    split = SplitLayers.of(["mamba", "mlp", "mamba", "attention", "mlp", "mamba"])
    assert split.of_folder(stored) == ours
    assert split.in_folder(ours) == stored
    assert split.of_folder(stored.replace("backbone", "model")) == ours, "as transformers 5 has them in memory"
    assert split.ours(split.theirs(ours)) == ours


def test_every_weight_has_a_name_of_its_own():
    config = read(NANO_3)
    assert config.split is not None
    names = [*weight_shapes(config)]
    stored = [config.split.in_folder(name) for name in names]
    assert len({*stored}) == len(names)
    assert [config.split.of_folder(name) for name in stored] == names


def test_without_experts():
    config = read(NANO_2)
    mamba, split = config.mamba, config.split
    assert mamba is not None
    assert split is not None
    assert config.num_hidden_layers == 31
    assert len(split.attending) == 4
    assert len(mamba.layers) == 27
    assert len(split.bare) == 6
    assert (mamba.heads, mamba.head_dim, mamba.groups, mamba.state_dim, mamba.inner) == (128, 80, 8, 128, 10240)
    assert mamba.eps == config.rms_norm_eps == 1e-5
    assert config.gate == "squared"
    assert config.rope.is_still
    assert config.experts is None
    assert 8.7e9 < parameter_count(config) < 9.1e9


def test_with_experts():
    config = read(NANO_3)
    experts = config.experts
    assert experts is not None
    assert (experts.count, experts.chosen, experts.inner, experts.shared) == (128, 6, 1856, 3712)
    assert (experts.scale, experts.by_sigmoid, experts.normalises) == (2.5, True, True)
    assert experts.matrices == 2
    assert config.num_hidden_layers == 29
    assert 31e9 < parameter_count(config) < 32.5e9
    bare = next(iter(config.split.bare)) if config.split else -1
    assert config.experts_of(bare) is None
    assert config.is_bare(bare)


def test_lists_say_the_same_as_letters():
    letters = {"M": "linear_attention", "*": "full_attention", "E": "moe"}
    listed = [letters[letter] for letter in NANO_3["hybrid_override_pattern"]]
    for name in ("layers_block_type", "layer_types"):
        assert read(NANO_3, hybrid_override_pattern=..., **{name: listed}) == read(NANO_3)


@pytest.mark.parametrize("values", [NANO_2, NANO_3])
def test_as_transformers_writes_it(values: dict[str, Any]):
    from transformers import NemotronHConfig

    written = json.loads(
        NemotronHConfig(**{name: value for name, value in values.items() if name != "model_type"}).to_json_string()
    )
    assert "hybrid_override_pattern" not in written
    config = network_config(Fields(written, Path("config.json")))
    assert config == read(values, eos_token_id=2, max_position_embeddings=written["max_position_embeddings"])


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"hybrid_override_pattern": "M-?*"}, BrokenModelError, "hybrid_override_pattern"),
        ({"hybrid_override_pattern": ""}, BrokenModelError, "hybrid_override_pattern"),
        ({"hybrid_override_pattern": 7}, BrokenModelError, "hybrid_override_pattern"),
        ({"layers_block_type": ["mamba", {}]}, BrokenModelError, "layers_block_type"),
        ({"hybrid_override_pattern": "M-M-"}, BrokenModelError, "one of them is attention"),
        ({"hybrid_override_pattern": "M--*"}, UnsupportedModelError, "layer 2 is mlp"),
        ({"hybrid_override_pattern": "M-*E"}, UnsupportedModelError, "some layers are mlp and others moe"),
        ({"mlp_hidden_act": "silu"}, UnsupportedModelError, "silu"),
        ({"use_bias": True}, UnsupportedModelError, "use_bias"),
        ({"mamba_num_heads": 100}, BrokenModelError, "mamba_n_groups"),
    ],
)
def test_what_we_do_not_run(changes: dict[str, object], error: type[Exception], said: str):
    with pytest.raises(error, match=said):
        read(NANO_2, **changes)


@pytest.mark.parametrize("changes", [{"moe_latent_size": 1024}, {"n_group": 8}, {"topk_group": 4}, {"mlp_bias": True}])
def test_mixtures_that_we_do_not_run(changes: dict[str, object]):
    with pytest.raises(UnsupportedModelError, match=next(iter(changes))):
        read(NANO_3, **changes)


@pytest.mark.parametrize("shape", ["nemotron-h", "nemotron-h-moe"])
def test_files_say_the_same_as_folders(tiny_folder: Any, tmp_path: Path, shape: Any):
    folder = tiny_folder(shape)
    whole, file = load_config(folder), GgufModel(write_gguf(folder, tmp_path / "tiny.gguf")).config
    assert file.split == whole.split
    assert file.mamba is not None
    assert whole.mamba is not None
    assert (file.mamba.layers, file.mamba.inner) == (whole.mamba.layers, whole.mamba.inner)
    assert file.rms_norm_eps == whole.rms_norm_eps
    assert whole.experts or file.intermediate_size == whole.intermediate_size
    assert (file.experts and file.experts.scale) == (whole.experts and whole.experts.scale)


def test_layers_that_guess_further_tokens_are_left_aside(tiny_folder: Any, load: Any, tmp_path: Path):
    """One more block, with attention and experts in one."""
    folder = tiny_folder("nemotron-h-moe")
    fields = network_fields(json.loads((folder / "config.json").read_text()), "nemotron_h_moe")
    more = {
        "nemotron_h_moe.block_count": 8,
        "nemotron_h_moe.nextn_predict_layers": 1,
        "nemotron_h_moe.attention.head_count_kv": [*fields["nemotron_h_moe.attention.head_count_kv"], 2],
        "nemotron_h_moe.feed_forward_length": [*fields["nemotron_h_moe.feed_forward_length"], 48],
    }
    plain = load(folder=write_gguf(folder, tmp_path / "plain.gguf"))
    other = load(folder=write_gguf(folder, tmp_path / "other.gguf", fields=more))
    assert torch.equal(plain.logits([*range(20)]), other.logits([*range(20)]))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"nemotron_h.attention.head_count_kv": [0, 0, 0]}, "head_count_kv"),
        ({"nemotron_h.feed_forward_length": 160}, "feed_forward_length"),
        ({"nemotron_h.attention.layer_norm_epsilon": None}, "layer_norm_epsilon"),
        ({"nemotron_h.ssm.inner_size": 190}, "inner_size"),
    ],
)
def test_files_that_cannot_be(tiny_folder: Any, tmp_path: Path, changed: dict[str, object], said: str):
    file = write_gguf(tiny_folder("nemotron-h"), tmp_path / "tiny.gguf", fields=changed)
    with pytest.raises(BrokenModelError, match=said):
        _ = GgufModel(file).config


def test_what_is_missing_is_named_as_in_the_folder(tiny_folder: Any, load: Any, tmp_path: Path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_folder("nemotron-h"), folder)
    weights = load_file(folder / "model.safetensors")
    del weights["backbone.layers.4.norm.weight"]
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(BrokenModelError, match=r"backbone\.layers\.4\.norm\.weight missing"):
        load(folder=folder)


def test_what_is_missing_is_named_as_in_the_file(tiny_folder: Any, load: Any, tmp_path: Path):
    folder = tiny_folder("nemotron-h")
    file = write_gguf(folder, tmp_path / "tiny.gguf")
    kept = [tensor for tensor in gguf.GGUFReader(file).tensors if tensor.name != "blk.4.attn_norm.weight"]
    tensors = {tensor.name: (tensor.data.copy(), tensor.tensor_type.name) for tensor in kept}
    metadata = network_fields(json.loads((folder / "config.json").read_text()), "nemotron_h") | tokenizer_fields(
        folder, "gpt-2"
    )
    other = write_parts(tmp_path / "other.gguf", "nemotron_h", metadata, tensors)
    with pytest.raises(BrokenModelError, match=r"blk\.4\.attn_norm\.weight missing"):
        load(folder=other)
