"""Mixtures of experts: who goes where, what is refused, and files whose weights stay in blocks."""

import json
import shutil

import pytest
import torch

from llama_gui.engine import Engine, native_library
from llama_gui.engine.experts import Experts, Router
from llama_gui.engine.layers import MLP
from llama_gui.engine.linear import LinearFactory
from llama_gui.errors import BrokenModelError, UnsupportedModelError
from tests.fakes.gguf_files import write_gguf
from tests.fakes.tiny_llama import write_tiny_llama

IDS = [90, 17, 200, 64, 65, 66, 250, 100, 101, 12] * 5
SIZES = {"hidden_size": 256, "intermediate_size": 256, "num_hidden_layers": 2, "head_dim": 64}
MIXTURES = ("mixtral", "qwen2-moe", "qwen3-moe", "granite-moe", "ernie-moe", "gpt-oss")


@pytest.fixture
def experts():
    generator = torch.Generator().manual_seed(3)
    make = LinearFactory()

    def linear(out, width):
        return make(torch.randn(out, width, generator=generator) / width**0.5)

    router = Router(linear(8, 32), 3, normalises=False)
    return Experts(router, [MLP(linear(48, 32), linear(32, 24)) for _ in range(8)])


def test_a_row_is_the_weighted_sum_of_what_its_experts_make_of_it(experts):
    x = torch.randn(20, 32, generator=torch.Generator().manual_seed(4))
    made = torch.stack([expert(x) for expert in experts.experts], 1)
    probabilities = experts.router.linear(x).softmax(1)
    least = probabilities.sort(1).values[:, -3:-2]
    want = (made * torch.where(probabilities >= least, probabilities, 0).unsqueeze(2)).sum(1)
    torch.testing.assert_close(experts(x), want)


def test_a_row_has_the_same_bits_beside_any_others(experts):
    x = torch.randn(70, 32, generator=torch.Generator().manual_seed(5))
    whole = experts(x)
    for rows in (slice(0, 1), slice(69, 70), slice(3, 40), slice(None, None, 7)):
        assert torch.equal(experts(x[rows]), whole[rows])


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        *((shape, "Q4_K") for shape in MIXTURES),
        *(("qwen3-moe", kind) for kind in ("Q6_K", "Q8_0")),
        *(
            pytest.param(shape, kind, marks=pytest.mark.campaign)
            for shape in MIXTURES
            for kind in ("Q6_K", "Q8_0")
            if shape != "qwen3-moe"
        ),
    ],
)
@pytest.mark.sampled(3)
def test_stacks_of_a_file_stay_in_blocks(tmp_path, load, shape, kind):
    inner = {"moe_intermediate_size": 256} if shape in ("qwen2-moe", "qwen3-moe", "ernie-moe") else {}
    inner |= {"shared_expert_intermediate_size": 512} if shape == "qwen2-moe" else {}
    folder = write_tiny_llama(tmp_path / "model", shape, **SIZES, **inner)
    file = write_gguf(folder, tmp_path / "tiny.gguf", kind)
    engine = load(folder=file, dtype="auto")
    if native_library.load() is not None and kind != "Q8_0":
        assert engine.info.source.endswith(f", {kind} as it is")
    want = load(folder=file, dtype="float32").logits(IDS)
    got = engine.logits(IDS)
    # Which experts a row goes through is decided by small differences, now and then.
    assert ((got - want).norm(dim=1) / want.norm(dim=1)).median() < 0.1


@pytest.mark.parametrize(
    ("shape", "changes", "error", "text"),
    [
        ("qwen3-moe", {"mlp_only_layers": [0]}, UnsupportedModelError, "mlp_only_layers is [0], so some layers"),
        ("qwen3-moe", {"decoder_sparse_step": 2}, UnsupportedModelError, "decoder_sparse_step is 2, so some layers"),
        ("qwen3-moe", {"num_experts_per_tok": 17}, BrokenModelError, "num_experts_per_tok is 17, but it must be at"),
        ("mixtral", {"num_local_experts": ...}, BrokenModelError, "num_experts is missing"),
        ("mixtral", {"num_local_experts": 10**6}, BrokenModelError, "num_local_experts is 1000000, but it must be"),
        ("granite-moe", {"num_local_experts": 4}, BrokenModelError, "router.layer.weight has the shape [8, 64]"),
    ],
)
def test_what_cannot_be_is_named(tmp_path, tiny_folder, shape, changes, error, text):
    folder = tmp_path / "model"
    shutil.copytree(tiny_folder(shape), folder)
    config = json.loads((folder / "config.json").read_text()) | changes
    config = {name: value for name, value in config.items() if value is not ...}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(error) as caught:
        Engine.load(folder, device="cpu")
    assert text in str(caught.value)


def test_a_missing_stack_is_named_as_in_the_file(tmp_path, tiny_folder):
    fields = {"llama.expert_count": 8, "llama.expert_used_count": 2}
    file = write_gguf(tiny_folder("tinyllama"), tmp_path / "tiny.gguf", fields=fields)
    with pytest.raises(BrokenModelError, match=r"blk\.0\.ffn_gate_inp\.weight, blk\.0\.ffn_gate_exps\.weight"):
        Engine.load(file, device="cpu")
