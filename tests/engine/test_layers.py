"""The parts of the network beside those of transformers, and rows that do not feel their neighbours."""

import math

import pytest
import torch
import torch.nn.functional as F
from transformers import LlamaConfig
from transformers.models.llama import modeling_llama as theirs

from llama_gui.engine import gating
from llama_gui.engine.attention_blocks import AttentionBlocks, causal_mask
from llama_gui.engine.gating import ACTIVATIONS, gated_rows, gelu_rows
from llama_gui.engine.layers import MLP, Attention, Heads, RMSNorm, Span
from llama_gui.engine.linear import LinearFactory
from llama_gui.engine.rope_config import RopeConfig
from llama_gui.engine.rotary import Rotary

CPU = torch.device("cpu")
DTYPES = (torch.float32, torch.bfloat16)
HEADS, KV_HEADS, DIM = 4, 2, 16
ROPE = RopeConfig(10000.0)
BLOCKS = AttentionBlocks(8, 256)


def numbers(*shape, dtype=torch.float32, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def their_config(head_dim, **changes):
    shape = {"hidden_size": 64, "intermediate_size": 100, "num_attention_heads": HEADS, **changes}
    return LlamaConfig(**shape, head_dim=head_dim, rope_parameters={"rope_type": "default", "rope_theta": 10000.0})


# --- norm and feed-forward


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("scale", [1e-4, 1.0, 300.0])  # a small one shows eps, a large one needs float32 inside
def test_norm(dtype, scale):
    x, weight = (scale * numbers(5, 64)).to(dtype), numbers(64, dtype=dtype, seed=2)
    reference = theirs.LlamaRMSNorm(64, eps=1e-5).to(dtype)
    reference.weight.data.copy_(weight)
    given = x.clone()
    torch.testing.assert_close(RMSNorm(weight, 1e-5)(x), reference(x).detach(), rtol=1e-6, atol=0)
    assert torch.equal(x, given)  # the residual goes on with it


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_mlp(dtype):
    reference = theirs.LlamaMLP(their_config(DIM)).to(dtype)
    gate, up, down = (part.weight.data for part in (reference.gate_proj, reference.up_proj, reference.down_proj))
    mlp = MLP(LinearFactory()(torch.cat((gate, up))), LinearFactory()(down))
    x = numbers(40, 64, dtype=dtype)
    tolerance = 1e-6 if dtype == torch.float32 else 4e-3
    whole = mlp(x)
    torch.testing.assert_close(whole, reference(x).detach(), rtol=tolerance, atol=tolerance)
    assert [n for n in (1, 2, 3, 31, 32, 33) if not torch.equal(mlp(x[:n]), whole[:n])] == []


@pytest.mark.parametrize("dtype", [*DTYPES, torch.float16], ids=str)
# Of no whole vectors; several rows and a single row that torch splits between threads.
@pytest.mark.parametrize(("rows", "width"), [(20, 100), (9, 8200), (3, 40000)])
@pytest.mark.parametrize("gate", ACTIVATIONS)
def test_a_row_of_the_activation_has_the_same_bits_beside_others(monkeypatch, dtype, rows, width, gate):
    monkeypatch.setattr(gating, "CLAMPED_AT", 1.5)  # so that some are beyond it
    x = numbers(rows, 2 * width, dtype=dtype).chunk(2, -1)[0]  # a part of a wider product, as in the MLP

    def activated(x):
        y = torch.empty(x.shape, dtype=dtype)
        ACTIVATIONS[gate](x, y)
        return y

    whole = activated(x)
    limited = x.float().clamp(max=1.5)
    want = {
        "silu": F.silu(x),
        "gelu": F.gelu(x, approximate="tanh"),
        "clamped": (limited * torch.sigmoid(1.702 * limited)).to(dtype),
    }
    torch.testing.assert_close(whole, want[gate])
    assert [n for n in range(rows) if not torch.equal(activated(x[n : n + 1])[0], whole[n])] == []
    assert [n for n in range(2, rows) if not torch.equal(activated(x[:n]), whole[:n])] == []


def test_gelu_of_anything():
    x = torch.tensor([[0.0, -0.0, 1e-30, -9.0, 9.0, -1e3, 374.0, 1e19, -1e19, 1e25, -1e36, float("nan")]])
    y = torch.empty_like(x)
    gelu_rows(x, y)
    torch.testing.assert_close(y, F.gelu(x, approximate="tanh"), equal_nan=True)
    gelu_rows(x, x)
    assert torch.equal(x.nan_to_num(), y.nan_to_num())


@pytest.mark.parametrize("size", [1, 250, 10**9], ids=["a row at a time", "two and a bit", "in one piece"])
def test_gate_and_up_are_multiplied_some_rows_at_a_time(monkeypatch, size):
    monkeypatch.setattr(gating, "BLOCK_SIZE", size)
    x = numbers(7, 200)
    given = x.clone()
    torch.testing.assert_close(gated_rows(x), F.silu(x[:, :100]) * x[:, 100:])
    assert torch.equal(x, given)
    want = F.gelu(x[:, :100], approximate="tanh") * x[:, 100:]
    torch.testing.assert_close(gated_rows(x, "gelu"), want)


def test_gate_and_up_that_are_kept_within_limits():
    """As gpt-oss has it, which has them in turn."""
    from transformers.models.gpt_oss import modeling_gpt_oss

    x = 6 * numbers(7, 200)
    in_turn = torch.stack(x.chunk(2, 1), 2).flatten(1)
    theirs_ = modeling_gpt_oss.GptOssExperts.__new__(modeling_gpt_oss.GptOssExperts)
    torch.nn.Module.__init__(theirs_)
    theirs_.alpha, theirs_.limit = 1.702, 7.0
    torch.testing.assert_close(gated_rows(x, "clamped"), theirs_._apply_gate(in_turn))
    assert (x > 7).any()


# --- attention


def run(attention, x, pieces, garbage=0.0):
    """`pieces`: (conversation, length), in the order in which their rows lie in `x`; all in one step."""
    rotary = Rotary(DIM, ROPE, x.dtype, CPU)
    caches, spans, positions, row = {}, [], [], 0
    for name, start, length in pieces:
        keys, values = caches.setdefault(name, torch.full((2, 1, KV_HEADS, 1024, DIM), garbage, dtype=x.dtype))
        mask = causal_mask(start, length, HEADS // KV_HEADS, BLOCKS, x)
        spans.append(Span.of(row, (start, length), [(keys, values)], mask))
        positions += range(start, start + length)
        row += length
    return attention(x, 0, rotary.rows(torch.tensor(positions), max(positions)), spans), caches


@pytest.fixture(scope="module")
def reference():
    config = their_config(DIM, num_key_value_heads=KV_HEADS)
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    return theirs.LlamaAttention(config, layer_idx=0)


def ours(reference, dtype):
    parts = [part.weight.data.to(dtype) for part in (reference.q_proj, reference.k_proj, reference.v_proj)]
    factory = LinearFactory()
    out = factory(reference.o_proj.weight.data.to(dtype))
    return Attention(factory(torch.cat(parts)), out, Heads(HEADS, KV_HEADS, DIM), BLOCKS)


@torch.no_grad()
def test_attention(reference):
    x = numbers(20, 64)
    tables = theirs.LlamaRotaryEmbedding(reference.config)(x, torch.arange(20)[None])
    causal = torch.full((20, 20), -math.inf).triu(1)[None, None]
    want, _ = reference(x[None], tables, attention_mask=causal)
    got, caches = run(ours(reference, torch.float32), x, [("a", 0, 20)])
    torch.testing.assert_close(got, want[0], rtol=1e-5, atol=1e-6)
    assert (caches["a"][:, :, :, 20:] == 0).all()  # nothing is written beyond the conversation's end


@torch.no_grad()
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_conversations_do_not_feel_each_other_nor_what_their_slots_held(reference, dtype):
    attention = ours(reference, dtype)
    x = numbers(30, 64, dtype=dtype)
    both, _ = run(attention, x, [("a", 0, 13), ("b", 0, 17)])
    for rows, pieces in ((slice(0, 13), [("a", 0, 13)]), (slice(13, 30), [("b", 0, 17)])):
        alone, _ = run(attention, x[rows], pieces, garbage=77.0)
        assert torch.equal(alone, both[rows])
