"""The starter model that ships: complete, small, and readable by the reference libraries."""

import json
import struct
from math import prod
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from llama_gui.library import shelf
from llama_gui.paths import find_resources

STARTER = find_resources() / "starter_model"
FILES = (
    "README.md",
    "chat_template.jinja",
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "training/corpus.py",
    "training/train.py",
)


def read_json(name: str) -> dict[str, Any]:
    return json.loads((STARTER / name).read_text(encoding="utf-8"))


def tensors() -> dict[str, dict[str, Any]]:
    """The safetensors header, read without the library: 8 bytes of length, then JSON."""
    with (STARTER / "model.safetensors").open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    return header


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(STARTER / "tokenizer.json"))


@pytest.mark.parametrize("name", FILES)
def test_the_file_ships(name: str):
    assert (STARTER / name).is_file()


def test_the_weights_are_small():
    size = (STARTER / "model.safetensors").stat().st_size
    parameters = sum(prod(tensor["shape"]) for tensor in tensors().values())
    assert size <= 16 * 2**20
    assert 4_000_000 <= parameters <= 8_000_000
    assert {tensor["dtype"] for tensor in tensors().values()} == {"BF16"}


def test_the_config_is_a_plain_llama_that_fits_the_weights():
    config = read_json("config.json")
    shapes = {name: tensor["shape"] for name, tensor in tensors().items()}
    heads, kv_heads, width = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    assert config["architectures"] == ["LlamaForCausalLM"]
    assert config["tie_word_embeddings"]
    assert "lm_head.weight" not in shapes
    assert heads % kv_heads == 0
    assert heads > kv_heads
    assert shapes["model.embed_tokens.weight"] == [config["vocab_size"], config["hidden_size"]]
    assert shapes["model.layers.0.self_attn.q_proj.weight"] == [heads * width, config["hidden_size"]]
    assert shapes["model.layers.0.self_attn.k_proj.weight"] == [kv_heads * width, config["hidden_size"]]
    assert shapes["model.layers.0.mlp.up_proj.weight"] == [config["intermediate_size"], config["hidden_size"]]
    assert f"model.layers.{config['num_hidden_layers'] - 1}.input_layernorm.weight" in shapes
    assert f"model.layers.{config['num_hidden_layers']}.input_layernorm.weight" not in shapes


def test_answers_end_at_the_end_of_the_turn(tokenizer: Tokenizer):
    ends = read_json("generation_config.json")["eos_token_id"]
    assert tokenizer.token_to_id("<|eot_id|>") in ends
    assert tokenizer.token_to_id("<|end_of_text|>") in ends
    assert read_json("config.json")["eos_token_id"] == ends


@pytest.mark.parametrize(
    "text",
    [
        "How do I open a new tab?",
        "  two spaces, a\ttab\nand lines\r\n\n",
        "Grüße, façade, ñandú, Łódź",
        "Привет, как дела?",
        "你好，世界。日本語のテキスト 한국어",
        "مرحبا שלום नमस्ते ไทย ქართული",
        "🦙👩‍👩‍👧🏽 emoji and \u200b marks ∑∫√",
        "def f(x):\n    return {'a': x ** 2}  # code",
        "".join(chr(code) for code in range(32, 127)),
        "\x00\x01\x7f",
        "",
    ],
)
def test_any_text_survives_the_tokenizer(tokenizer: Tokenizer, text: str):
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    assert tokenizer.decode(ids, skip_special_tokens=False) == text
    assert all(0 <= token < read_json("config.json")["vocab_size"] for token in ids)


def test_the_vocabulary_matches_the_config(tokenizer: Tokenizer):
    assert tokenizer.get_vocab_size() == read_json("config.json")["vocab_size"]


def test_the_template_renders_with_transformers():
    transformers = pytest.importorskip("transformers")
    reference = transformers.AutoTokenizer.from_pretrained(STARTER)
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "  Hi "},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "Bye"},
    ]
    text = reference.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert text == (
        "<|begin_of_text|>"
        "<|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\nHello!<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    )
    ids = reference.apply_chat_template(messages, add_generation_prompt=True)["input_ids"]
    assert ids.count(reference.bos_token_id) == 1
    assert reference.decode(ids) == text


def test_the_shelf_knows_it():
    entry = shelf.scan([], STARTER)[0]
    assert entry.is_starter
    assert Path(entry.path) == STARTER
