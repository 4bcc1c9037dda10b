"""Gated delta nets: our kernel beside torch."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from llama_gui.engine import Engine
from llama_gui.engine.delta_config import DeltaConfig
from llama_gui.engine.gated_delta import DeltaWeights, GatedDeltaNet
from llama_gui.engine.native_delta import NativeDeltaNet, serves
from llama_gui.engine.native_kernels import NativeKernels
from tests.engine.rated import check_cuts, check_kept_rows, linear, numbers, read
from tests.fakes.tiny_llama import write_tiny_llama

PROMPT = torch.randint(0, 250, (700,), generator=torch.Generator().manual_seed(5)).tolist()
CONFIGS = [
    DeltaConfig(frozenset({1}), taps, key_heads, heads, key_dim, value_dim, in_turn=in_turn)
    for key_heads, heads, key_dim, value_dim, taps, in_turn in (
        (2, 4, 16, 24, 4, False),
        (2, 4, 16, 24, 4, True),
        (1, 3, 8, 8, 2, False),
        (3, 3, 24, 40, 5, False),
        (1, 2, 128, 128, 4, False),
        (1, 1, 256, 256, 1, False),
    )
]


def weights_of(config: DeltaConfig) -> DeltaWeights:
    heads = config.value_heads
    taps = numbers(1, config.taps, config.mixed_width)
    return DeltaWeights(taps, -numbers(2, heads).exp(), numbers(3, heads), numbers(4, config.value_dim), 1e-6)


@pytest.fixture
def nets(kernels: NativeKernels) -> Callable[[DeltaConfig], tuple[GatedDeltaNet, GatedDeltaNet]]:
    """Torch's and ours."""

    def make(config: DeltaConfig) -> tuple[GatedDeltaNet, GatedDeltaNet]:
        parts = (linear(8, 8), linear(8, 8), linear(8, 8), config, weights_of(config), 0)
        return GatedDeltaNet(*parts), NativeDeltaNet(*parts, kernels)

    return make


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize(("lengths", "cuts"), [((1,), ()), ((5, 1, 23), ()), ((40,), (3, 8, 39))])
def test_our_kernel_beside_torch(nets: Any, config: DeltaConfig, lengths: tuple[int, ...], cuts: tuple[int, ...]):
    assert serves(config)
    torchs, ours = nets(config)
    (want, states), (got, kept) = read(torchs, config, lengths, cuts), read(ours, config, lengths, cuts)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
    for one, other in zip(kept, states, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("which", [0, 1], ids=["torch", "ours"])
def test_cuts_change_no_bit(nets: Any, config: DeltaConfig, which: int):
    check_cuts(nets(config)[which], config)


@pytest.mark.parametrize("which", [0, 1], ids=["torch", "ours"])
def test_rows_that_were_kept_lead_to_the_same_state(nets: Any, which: int):
    check_kept_rows(nets(CONFIGS[0])[which], CONFIGS[0])


@pytest.mark.parametrize(("key_dim", "value_dim"), [(16, 20), (12, 16), (264, 16), (16, 264)])
def test_heads_that_our_kernel_does_not_serve(load: Any, tmp_path: Any, key_dim: int, value_dim: int):
    folder = write_tiny_llama(
        tmp_path / "model", "qwen3.5", linear_key_head_dim=key_dim, linear_value_head_dim=value_dim, num_hidden_layers=4
    )
    engine: Engine = load(folder=folder)
    whole = engine.logits(PROMPT[:50])
    assert whole.isfinite().all()
    assert torch.equal(engine.logits(PROMPT[:20]), whole[:20])
