"""GGUF files of Gemma 4: what is not the same for all layers, what is refused, and the tokens of its vocabulary."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine import Engine
from llama_gui.engine.gguf import GgufModel
from llama_gui.errors import BrokenModelError, UnsupportedModelError
from tests.fakes.gguf_files import write_gguf, write_twin
from tests.fakes.tiny_llama import write_tiny_llama

IDS = [1, 5, 90, 17, 200, 3, 64, 65, 66, 250, 8, 9, 100, 101, 7, 12] * 6
_WIDE = {"hidden_size_per_layer_input": 32}
"""So that a row of the table for all layers is whole blocks."""


@pytest.mark.parametrize("kind", ["Q8_0", "BF16"])
def test_a_table_in_blocks_stays_in_its_file(tmp_path: Path, load: Any, kind: str):
    folder = write_tiny_llama(tmp_path / "model", "gemma4", **_WIDE)
    file = write_gguf(folder, tmp_path / "tiny.gguf", kind)
    twin = write_twin(file, folder, tmp_path / "twin")
    ours, theirs = load(folder=file), load(folder=twin)
    assert torch.equal(ours.logits(IDS), theirs.logits(IDS))
    assert ours.stats().weight_bytes == theirs.stats().weight_bytes  # the table is in neither


def test_it_can_be_held_in_few_bits(tmp_path: Path, load: Any):
    folder = write_tiny_llama(tmp_path / "model", "gemma4", **_WIDE)
    file = write_gguf(folder, tmp_path / "tiny.gguf", "Q8_0")
    exact, rounded = load(folder=file).logits(IDS), load(folder=file, dtype="int8").logits(IDS)
    assert (rounded - exact).norm() < 0.25 * exact.norm()


@pytest.mark.parametrize(
    "changes",
    [
        {"use_double_wide_mlp": False},
        {"num_kv_shared_layers": 0, "use_double_wide_mlp": False},
        {"num_global_key_value_heads": 2, "attention_k_eq_v": True},
        {"hidden_size_per_layer_input": 0},
        {"sliding_window": 7},
    ],
    ids=["not twice as wide", "nothing is borrowed", "two key heads", "no inputs", "a short window"],
)
@pytest.mark.sampled(3)
def test_what_may_differ(tmp_path: Path, load: Any, changes: dict[str, Any]):
    folder = write_tiny_llama(tmp_path / "model", "gemma4", **changes)
    file = write_gguf(folder, tmp_path / "tiny.gguf")
    assert torch.equal(load(folder=file).logits(IDS), load(folder=folder).logits(IDS))


def test_keys_of_layers_that_borrow_are_left_aside(tmp_path: Path, tiny_folder: Any, load: Any):
    folder = shutil.copytree(tiny_folder("gemma4"), tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    for part in ("k_proj", "v_proj", "k_norm"):
        weights[f"model.layers.6.self_attn.{part}.weight"] = weights[f"model.layers.2.self_attn.{part}.weight"].clone()
    save_file(weights, folder / "model.safetensors")
    file = write_gguf(folder, tmp_path / "tiny.gguf")
    assert torch.equal(load(folder=file).logits(IDS), load("gemma4").logits(IDS))


@pytest.mark.parametrize(
    ("fields", "error", "told"),
    [
        ({"expert_count": 128}, BrokenModelError, "expert_used_count is missing"),
        ({"rope.scaling.type": "yarn"}, UnsupportedModelError, r"rope\.scaling\.type is not supported"),
        ({"attention.head_count_kv": [1, 1, 1, 2, 1, 1, 1]}, UnsupportedModelError, "head_count_kv is not the same"),
        ({"attention.head_count_kv": [1, 1]}, BrokenModelError, "a list of 7 whole numbers above 0"),
        ({"feed_forward_length": [160] * 4 + [480] * 3}, UnsupportedModelError, "feed_forward_length is not the same"),
        ({"feed_forward_length": [160] * 6 + [0]}, BrokenModelError, "a list of 7 whole numbers above 0"),
        ({"attention.value_length": 16}, BrokenModelError, "value_length is 16, but it must be 32"),
        ({"attention.value_length_swa": 32}, UnsupportedModelError, "value_length is 32 beside heads of 16"),
        ({"attention.sliding_window_pattern": None}, BrokenModelError, "a list of one flag for each layer"),
        ({"attention.sliding_window_pattern": [True, False]}, BrokenModelError, "a list of 2 whole numbers|one flag"),
        ({"attention.shared_kv_layers": 6}, UnsupportedModelError, "feed_forward_length is not the same"),
        ({"attention.shared_kv_layers": 6, "feed_forward_length": 160}, BrokenModelError, "num_kv_shared_layers is 6"),
        ({"attention.shared_kv_layers": 70, "feed_forward_length": 160}, BrokenModelError, "num_kv_shared_layers"),
    ],
)
def test_what_makes_no_sense_is_told(
    tmp_path: Path, tiny_folder: Any, fields: dict[str, Any], error: type[Exception], told: str
):
    named = {f"gemma4.{name}": value for name, value in fields.items()}
    file = write_gguf(tiny_folder("gemma4"), tmp_path / "tiny.gguf", fields=named)
    with pytest.raises(error, match=told):
        GgufModel(file)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("rope_freqs.weight", r"rope_freqs\.weight does not say which of the 16 pairs"),
        ("blk.1.layer_output_scale.weight", r"blk\.1\.layer_output_scale\.weight missing"),
    ],
)
def test_what_is_missing_is_named_as_in_the_file(tmp_path: Path, tiny_folder: Any, name: str, told: str):
    file = write_gguf(tiny_folder("gemma4"), tmp_path / "tiny.gguf")
    content = file.read_bytes()
    file.write_bytes(content.replace(name.encode(), name.replace("s", "z").encode()))
    with pytest.raises(BrokenModelError, match=told):
        Engine.load(file)


def test_the_same_tokens(tmp_path: Path, tiny_folder: Any, load: Any):
    file = write_gguf(tiny_folder("gemma4"), tmp_path / "tiny.gguf")
    ours, theirs = load(folder=file).tokenizer, load("gemma4").tokenizer
    texts = (
        "a  b   c\n\n  the dog",
        "   x\n\n\n",
        "\n",
        " é 日本\t",
        '<turn|>\n<|turn>model\n<|"|>a<|"|>',
        "",
        "\r\n\n",
    )
    for text in texts:
        assert ours.encode(text) == theirs.encode(text)
        assert ours.encode_literally(text) == theirs.encode_literally(text)
        assert ours.decode(ours.encode_literally(text)) == text
    assert ours.eos_ids == theirs.eos_ids
    assert ours.special_ids == theirs.special_ids


def test_lines_without_words_are_one_token_though_nothing_merges_to_them(tmp_path: Path, tiny_folder: Any):
    """As in the real vocabulary, and as llama.cpp has it."""
    state = json.loads((tiny_folder("gemma4") / "tokenizer.json").read_text(encoding="utf-8"))
    merges = [" ".join(merge) for merge in state["model"]["merges"] if "\n" not in merge[0]]
    file = write_gguf(tiny_folder("gemma4"), tmp_path / "tiny.gguf", fields={"tokenizer.ggml.merges": merges})
    tokenizer = GgufModel(file).tokenizer()
    assert len(tokenizer.encode_literally("a\n\nb")) == 3
    assert tokenizer.decode(tokenizer.encode_literally("a\n\nb")) == "a\n\nb"
