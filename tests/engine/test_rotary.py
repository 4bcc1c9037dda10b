"""Rotary embedding beside transformers' own, for every way to stretch it."""

import pytest
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama import modeling_llama as theirs

from llama_gui.engine.rope_config import RopeConfig
from llama_gui.engine.rotary import Rotary, inverse_frequencies, rotate

CPU = torch.device("cpu")
DTYPES = (torch.float32, torch.bfloat16)
HEADS, KV_HEADS, DIM = 4, 2, 16
ROPES = {
    "default": RopeConfig(10000.0),
    "linear": RopeConfig(10000.0, "linear", 4.0),
    "dynamic": RopeConfig(10000.0, "dynamic"),
    "Llama 3.1": RopeConfig(500000.0, "llama3", 8.0, 1.0, 4.0, 8192),
    "Llama 3.2": RopeConfig(500000.0, "llama3", 32.0, 1.0, 4.0, 8192),
    "Qwen with YaRN": RopeConfig(
        1e6, "yarn", 4.0, original_max_position_embeddings=32768, attention_factor=1.1386294361119891
    ),
    "YaRN, everything said": RopeConfig(
        1e4, "yarn", 8.0, original_max_position_embeddings=4096, attention_factor=0.7, beta_fast=24.0, beta_slow=2.0,
        truncate=False,
    ),
}  # fmt: skip
_NAMES = {
    "llama3": ("low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    "yarn": ("original_max_position_embeddings", "attention_factor", "beta_fast", "beta_slow", "truncate"),
}


def numbers(*shape, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def their_config(head_dim, rope, **changes):
    parameters = {"rope_type": rope.kind, "rope_theta": rope.theta}
    if rope.kind != "default":
        parameters["factor"] = rope.factor
    parameters |= {name: getattr(rope, name) for name in _NAMES.get(rope.kind, ())}
    shape = {"hidden_size": 64, "intermediate_size": 100, "num_attention_heads": HEADS, **changes}
    return LlamaConfig(**shape, head_dim=head_dim, max_position_embeddings=131072, rope_parameters=parameters)


@pytest.mark.parametrize("rope", ROPES.values(), ids=ROPES)
@pytest.mark.parametrize("head_dim", [64, 128])
def test_frequencies(rope, head_dim):
    config = their_config(head_dim, rope)
    default = theirs.LlamaRotaryEmbedding.compute_default_rope_parameters
    want, _ = (default if rope.kind == "default" else ROPE_INIT_FUNCTIONS[rope.kind])(config)
    got = inverse_frequencies(head_dim, rope)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, want, rtol=1e-6, atol=0)
    if rope.kind == "llama3":  # fast pairs left alone, slow ones divided, some blended: all three were compared
        ratio = inverse_frequencies(head_dim, RopeConfig(rope.theta)) / got
        assert {round(value, 3) for value in ratio.tolist()} > {1.0, rope.factor}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("rope", ROPES.values(), ids=ROPES)
@pytest.mark.sampled(6)
def test_tables(rope, dtype):
    positions = torch.tensor([0, 1, 7, 1023, 1024, 8191, 40000, 131071])
    want = theirs.LlamaRotaryEmbedding(their_config(64, rope))(torch.empty(0, dtype=dtype), positions[None])
    got = Rotary(64, rope, dtype, CPU).rows(positions, 131071)
    assert got.scales is None
    got.sin[..., :32].neg_()  # ours has the sign of the rotation in it
    for ours, reference in zip(got[:2], want, strict=True):
        assert (ours.shape, ours.dtype) == ((len(positions), 1, 64), dtype)
        # At position 131071 the last bit of a frequency is an angle of 0.008.
        torch.testing.assert_close(ours[:, 0], reference[0], rtol=0, atol=0.01)
        torch.testing.assert_close(ours[:6, 0], reference[0, :6], rtol=0, atol=1e-3 if dtype == torch.float32 else 0.01)


def test_growing_changes_no_row():
    rotary = Rotary(DIM, ROPES["Llama 3.2"], torch.float32, CPU)
    before = rotary.rows(torch.arange(1024), 1023)
    assert len(rotary._table.cos) == 1024
    for last, size in ((1024, 2048), (2047, 2048), (5000, 8192), (3, 8192)):
        rotary.rows(torch.tensor([last]), last)
        assert len(rotary._table.cos) == size
    for old, new in zip(before[:2], rotary.rows(torch.arange(1024), 1023)[:2], strict=True):
        assert torch.equal(old, new)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_queries_grow_beyond_the_original_context(dtype):
    from transformers.models.ministral3.modeling_ministral3 import get_llama_4_attn_scale

    rope = RopeConfig(1e6, "yarn", 16.0, original_max_position_embeddings=100, query_scale=0.1)
    positions = torch.tensor([0, 99, 100, 199, 200, 4095, 30000])
    scales = Rotary(DIM, rope, dtype, CPU).rows(positions, 30000).scales
    assert scales is not None
    assert scales.dtype == dtype
    assert scales[:2].tolist() == [1, 1]
    want = get_llama_4_attn_scale(positions[None], 0.1, 100).view(-1).to(dtype)
    torch.testing.assert_close(scales, want, rtol=1e-6 if dtype == torch.float32 else 8e-3, atol=0)
    assert Rotary.still(DIM, rope, dtype, CPU).rows(positions, 30000).scales is None


def test_rotation():
    q, k = numbers(6, HEADS, DIM), numbers(6, KV_HEADS, DIM, seed=2)
    cos, sin, _ = Rotary(DIM, ROPES["default"], torch.float32, CPU).rows(torch.arange(30, 36), 35)
    theirs_sin = torch.cat((-sin[..., : DIM // 2], sin[..., DIM // 2 :]), -1)
    tables = cos.transpose(0, 1), theirs_sin.transpose(0, 1)
    want = theirs.apply_rotary_pos_emb(q[None], k[None], *tables, unsqueeze_dim=2)
    torch.testing.assert_close((rotate(q, cos, sin)[None], rotate(k, cos, sin)[None]), want)
