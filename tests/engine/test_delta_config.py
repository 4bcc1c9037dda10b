"""What config.json and GGUF files say of gated delta nets, and what of them is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine.config import network_config
from llama_gui.engine.delta_config import LINEAR
from llama_gui.engine.fields import Fields
from llama_gui.engine.gguf import GgufModel
from llama_gui.engine.recurrent_config import ATTENDS
from llama_gui.engine.weight_shapes import parameter_count
from llama_gui.errors import BrokenModelError, UnsupportedModelError
from tests.fakes.gguf_files import network_fields, stored_tensors, tokenizer_fields, write_gguf, write_parts
from tests.fakes.tiny_llama import write_tiny_llama

IDS = [1, 5, 90, 17, 200, 3, 64, 65, 66, 250, 8, 9, 100, 101, 7, 12]

ROPE = {
    "rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25, "mrope_section": [11, 11, 10],
    "mrope_interleaved": True,
}  # fmt: skip


def read(**changes: Any) -> Any:
    """The config of 27B, as its folder has it."""
    text = {
        "model_type": "qwen3_5_text", "hidden_size": 5120, "intermediate_size": 17408, "num_hidden_layers": 64,
        "num_attention_heads": 24, "num_key_value_heads": 4, "linear_num_value_heads": 48, "vocab_size": 248320,
        "rope_parameters": ROPE, "tie_word_embeddings": False, **changes,
    }  # fmt: skip
    values = {"architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5", "text_config": text}
    return network_config(Fields(values, Path("config.json")))


def test_the_shape_of_27b():
    config = read()
    delta = config.delta
    assert delta is not None
    assert sorted({*range(64)} - delta.layers) == [*range(3, 64, 4)]
    assert (delta.key_width, delta.value_width, delta.mixed_width) == (2048, 6144, 10240)
    assert [delta.number_of(layer) for layer in (0, 1, 4, 62)] == [0, 1, 3, 47]
    assert 26.8e9 < parameter_count(config) < 27e9
    assert (config.rotary_dim, config.rope.axes[:4], config.norm_shift) == (64, (0, 1, 2, 0), 1.0)
    part = config.cache_layout.parts[0]
    assert (part.layers, config.cache_layout.places[3], config.cache_layout.places[63]) == (16, (0, 0), (0, 15))


def test_the_key_of_a_value():
    delta = read(linear_num_key_heads=2, linear_num_value_heads=6).delta
    heads = torch.arange(6)
    assert delta.key_of(heads).tolist() == [0, 0, 0, 1, 1, 1]


def test_layers_that_are_named():
    kinds = [ATTENDS, LINEAR, LINEAR, ATTENDS]
    assert read(num_hidden_layers=4, layer_types=kinds).delta.layers == {1, 2}
    assert read(num_hidden_layers=4, full_attention_interval=2).delta.layers == {0, 2}


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"attn_output_gate": False}, UnsupportedModelError, "attn_output_gate is False, which is not supported"),
        ({"layer_types": [LINEAR] * 63}, BrokenModelError, "layer_types .* must be a list of 64 names"),
        ({"layer_types": [LINEAR, "mamba"] * 32}, BrokenModelError, "each full_attention or linear_attention"),
        ({"layer_types": [LINEAR] * 64}, BrokenModelError, "such that one of them is full_attention"),
        ({"linear_num_value_heads": 40}, BrokenModelError, r"a multiple of linear_num_key_heads \(16\)"),
        ({"linear_conv_kernel_dim": 0}, BrokenModelError, "linear_conv_kernel_dim is 0"),
    ],
)
def test_what_cannot_be(changes: Any, error: Any, says: str):
    with pytest.raises(error, match=says):
        read(**changes)


def test_a_folder_with_a_layer_that_guesses(tiny_folder: Any, load: Any, tmp_path: Path):
    folder = shutil.copytree(tiny_folder("qwen3.5"), tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    weights |= {"mtp.fc.weight": torch.ones(64, 128), "mtp.layers.0.self_attn.q_proj.weight": torch.ones(64, 64)}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert torch.equal(load(folder=folder).logits(IDS), load("qwen3.5").logits(IDS))


def test_a_file_with_a_block_that_guesses(tiny_folder: Any, load: Any, tmp_path: Path):
    """As newer converters write it: the last block has the tensors of one that attends, and more."""
    folder = tiny_folder("qwen3.5")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tensors = stored_tensors(folder, config, "qwen35")
    last = {name.replace("blk.3.", "blk.5."): weight for name, weight in tensors.items() if name.startswith("blk.3.")}
    tensors |= last | {"blk.5.nextn.eh_proj.weight": torch.ones(64, 128)}
    fields = network_fields(config, "qwen35") | tokenizer_fields(folder, "qwen35")
    fields |= {"qwen35.block_count": 6, "qwen35.nextn_predict_layers": 1}
    fields |= {"qwen35.attention.recurrent_layers": [True, True, True, False, True, False]}
    stored = {name: (weight.contiguous().numpy(), "F32") for name, weight in tensors.items()}
    file = write_parts(tmp_path / "guesses.gguf", "qwen35", fields, stored)
    plain = write_gguf(folder, tmp_path / "plain.gguf")
    assert GgufModel(file).config.num_hidden_layers == 5
    assert torch.equal(load(folder=file).logits(IDS), load(folder=plain).logits(IDS))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"nextn_predict_layers": 5}, "nextn_predict_layers is 5, but it must be below 5, how many blocks there are"),
        ({"ssm.inner_size": 97}, "ssm.inner_size is 97, but it must be a multiple of the 4 heads"),
        ({"ssm.group_count": 3}, r"linear_num_value_heads .*a multiple of linear_num_key_heads \(3\)"),
        ({"ssm.state_size": None}, "ssm.state_size"),
    ],
)
def test_fields_of_a_file_that_cannot_be(tiny_folder: Any, tmp_path: Path, fields: dict[str, Any], says: str):
    changed = {f"qwen35.{name}": value for name, value in fields.items()}
    with pytest.raises(BrokenModelError, match=says):
        GgufModel(write_gguf(tiny_folder("qwen3.5"), tmp_path / "tiny.gguf", fields=changed))


def test_a_quantised_file(load: Any, tmp_path: Path):
    """What decides how much is forgotten stays in float32, however few bits the file has for it."""
    sizes = {"hidden_size": 256, "intermediate_size": 512, "linear_value_head_dim": 64, "num_hidden_layers": 4}
    folder = write_tiny_llama(tmp_path / "model", "qwen3.5", seed=1, **sizes)  # others enlarge roundings more
    file = write_gguf(folder, tmp_path / "tiny.gguf", "Q8_0")
    kinds = {tensor.name: tensor.tensor_type for tensor in gguf.GGUFReader(file).tensors}
    assert kinds["blk.0.ssm_alpha.weight"] == gguf.GGMLQuantizationType.Q8_0
    assert kinds["blk.0.ssm_conv1d.weight"] == gguf.GGMLQuantizationType.F32
    exact = load(folder=folder, dtype="float32").logits(IDS)
    got = load(folder=file, dtype="auto").logits(IDS)
    assert (got - exact).norm() < 0.2 * exact.norm()
    assert np.corrcoef(got.flatten(), exact.flatten())[0, 1] > 0.97
