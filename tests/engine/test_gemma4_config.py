"""What Gemma 4 has besides, and what a network of it does with that."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from llama_gui.engine import Engine, GenerateRequest, SamplingParams
from llama_gui.engine.cache_layout import CachePart
from llama_gui.engine.config import load_config
from llama_gui.engine.kv_cache import token_bytes
from llama_gui.engine.layers import Spans
from llama_gui.engine.llama import Block, Segment
from llama_gui.engine.loading import load_model
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.rotary import Turns
from llama_gui.errors import LlamaGuiError
from tests.fakes.tiny_llama import write_tiny_llama

GREEDY = SamplingParams(temperature=0)


def config_of(folder: Path, shape: Any = "gemma4", **changes: Any) -> NetworkConfig:
    return load_config(write_tiny_llama(folder, shape, **changes))


def test_layers_of_two_shapes_some_of_which_borrow(tmp_path: Path):
    config = config_of(tmp_path / "model")
    layout = config.cache_layout
    assert layout.parts == (CachePart(3, 1, 16), CachePart(1, 1, 32))
    # sliding, sliding, full, sliding; the last three borrow from layers 3 and 2
    assert layout.places == ((0, 0), (0, 1), (1, 0), (0, 2), (0, 2), (0, 2), (1, 0))
    assert [config.intermediate_of(layer) for layer in range(7)] == [*4 * [160], *3 * [320]]
    assert token_bytes(config, torch.float32) == 2 * 4 * (3 * 16 + 32)


def test_what_transformers_writes_for_each_layer_says_the_same(tmp_path: Path):
    old = config_of(tmp_path / "old", "gemma4-31b")
    full = {"head_dim": 32, "num_key_value_heads": 1}
    new = config_of(tmp_path / "new", "gemma4-31b", global_head_dim=..., num_global_key_value_heads=...,
                    per_layer_config={"5": full})  # fmt: skip
    assert (old.gemma4, old.cache_layout) == (new.gemma4, new.cache_layout)
    assert old.values_are_keys(5)
    assert not old.values_are_keys(0)


def test_that_of_12b_says_less(tmp_path: Path):
    """Its layers get nothing besides, and images are seen whole, unless it says otherwise."""
    names = {"architectures": ["Gemma4UnifiedForCausalLM"], "model_type": "gemma4_unified_text"}
    silent = dict.fromkeys(("hidden_size_per_layer_input", "use_bidirectional_attention"), ...)
    found = config_of(tmp_path / "model", "gemma4-31b", **names, **silent)
    assert found.gemma4 == config_of(tmp_path / "31b", "gemma4-31b").gemma4
    assert found.gemma4 is not None
    assert (found.gemma4.layer_input, found.gemma4.sees_images_whole) == (0, True)
    assert found.whole_parts == {0}
    plain = config_of(tmp_path / "plain", "gemma4-31b", **names, use_bidirectional_attention=None)
    assert plain.gemma4 is not None
    assert not plain.gemma4.sees_images_whole


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"enable_moe_block": True}, "top_k_experts is missing"),
        ({"enable_moe_block": True, "top_k_experts": 9, "num_experts": 8}, "num_experts_per_tok is 9"),
        ({"pad_token_id": 400, "vocab_size_per_layer_input": 400}, "pad_token_id is 400"),
        ({"use_bidirectional_attention": "all"}, "use_bidirectional_attention is 'all'"),
        ({"num_kv_shared_layers": 7}, "so few that a layer of each kind keeps its own keys"),
        ({"num_kv_shared_layers": 5}, "so few that a layer of each kind keeps its own keys"),
        ({"sliding_window": None}, "sliding_window"),
        ({"per_layer_config": {"0": {"head_dim": 8}}}, "differ in another way"),
        ({"global_head_dim": 33}, "head_dim is 33"),
    ],
)
def test_what_does_not_run_is_refused(tmp_path: Path, changes: dict[str, Any], message: str):
    with pytest.raises(LlamaGuiError, match=message):
        write_tiny_llama(tmp_path / "model", "gemma4", **changes)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("shape", ["gemma4", "gemma4-31b"])
@pytest.mark.sampled(3)
def test_an_answer_is_the_same_behind_what_the_cache_holds(tmp_path: Path, shape: Any, dtype: str):
    folder = write_tiny_llama(tmp_path / "model", shape)
    prompt = [(7 * i) % 350 + 5 for i in range(200)]
    requests = [GenerateRequest(token_ids=prompt[:end], max_tokens=8, sampling=GREEDY) for end in (90, 200)]
    with Engine.load(folder, dtype=dtype) as engine:
        cold = engine.generate(requests[1]).token_ids
    with Engine.load(folder, dtype=dtype) as engine:
        engine.generate(requests[0])
        warm = engine.generate(requests[1])
    assert warm.usage.cached_tokens >= 64
    assert warm.token_ids == cold


@pytest.mark.parametrize("has_kernels", [True, False])
def test_prompts_skip_the_layers_that_borrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_kernels: bool):
    folder = write_tiny_llama(tmp_path / "model", "gemma4")
    if not has_kernels:
        monkeypatch.setattr("llama_gui.engine.native_library.load", lambda: None)
    network = load_model(folder, dtype="float32").network
    rows: list[tuple[int, int]] = []
    run = Block.__call__

    def watched(block: Block, x: Tensor, layer: int, turns: Turns, spans: Spans, *more: Any) -> Tensor:
        rows.append((layer, len(x)))
        return run(block, x, layer, turns, spans, *more)

    monkeypatch.setattr(Block, "__call__", watched)
    slot = network.new_cache(2**24).blank(300)
    network.hidden([Segment(slot, list(range(5, 105)), is_prompt=True)])
    assert rows[-3:] == [(4, 1), (5, 1), (6, 1)]
    rows.clear()
    network.hidden([Segment(slot, list(range(5, 105)), logits=0, is_prompt=True)])
    assert max(layer for layer, _ in rows) < 4
