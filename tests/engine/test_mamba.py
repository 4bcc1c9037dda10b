"""State spaces: our kernel beside torch."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from llama_gui.engine import Engine
from llama_gui.engine.mamba import Mamba, MambaWeights
from llama_gui.engine.mamba_config import MambaConfig
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_mamba import NativeMamba, serves
from tests.engine.rated import check_cuts, check_kept_rows, linear, numbers, read
from tests.fakes.tiny_llama import write_tiny_llama

PROMPT = torch.randint(0, 250, (60,), generator=torch.Generator().manual_seed(5)).tolist()
CONFIGS = [
    MambaConfig(frozenset({1}), taps, heads, head_dim, groups, state_dim, 1e-6, has_bias=has_bias)
    for heads, head_dim, groups, state_dim, taps, has_bias in (
        (4, 24, 2, 16, 4, True),
        (4, 16, 1, 24, 4, False),
        (3, 8, 3, 8, 2, True),
        (6, 80, 2, 40, 5, True),
        (2, 64, 1, 128, 4, True),
        (2, 256, 1, 256, 8, False),
    )
]


def weights_of(config: MambaConfig) -> MambaWeights:
    heads, mixed = config.heads, config.mixed_width
    bias = numbers(10, mixed) if config.has_bias else None
    small = (-numbers(2, heads).exp(), numbers(3, heads), numbers(4, heads))
    return MambaWeights(numbers(1, config.taps, mixed), bias, *small, numbers(11, config.inner))


@pytest.fixture
def both(kernels: NativeKernels) -> Callable[[MambaConfig], tuple[Mamba, Mamba]]:
    """Torch's and ours."""

    def make(config: MambaConfig) -> tuple[Mamba, Mamba]:
        parts = (linear(8, 8), linear(8, 8), linear(8, 8), config, weights_of(config), 0)
        return Mamba(*parts), NativeMamba(*parts, kernels)

    return make


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize(("lengths", "cuts"), [((1,), ()), ((5, 1, 23), ()), ((40,), (3, 8, 39))])
def test_our_kernel_beside_torch(both: Any, config: MambaConfig, lengths: tuple[int, ...], cuts: tuple[int, ...]):
    assert serves(config)
    torchs, ours = both(config)
    (want, states), (got, kept) = read(torchs, config, lengths, cuts), read(ours, config, lengths, cuts)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
    for one, other in zip(kept, states, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("which", [0, 1], ids=["torch", "ours"])
def test_cuts_change_no_bit(both: Any, config: MambaConfig, which: int):
    check_cuts(both(config)[which], config)


@pytest.mark.parametrize("config", CONFIGS)
def test_registers_of_both_widths_add_up_alike(both: Any, kernels: NativeKernels, config: MambaConfig):
    """Activations differ in their last bits, as the exponentials do."""
    _, ours = both(config)
    made, states = read(ours, config, (5, 1, 23))
    with kernels.narrow():
        other, kept = read(ours, config, (5, 1, 23))
    torch.testing.assert_close(other, made, rtol=1e-5, atol=1e-5)
    for one, two in zip(kept, states, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("which", [0, 1], ids=["torch", "ours"])
def test_rows_that_were_kept_lead_to_the_same_state(both: Any, which: int):
    check_kept_rows(both(CONFIGS[0])[which], CONFIGS[0])


@pytest.mark.parametrize(("heads", "state_dim"), [(32, 16), (4, 12), (2, 24)])
def test_heads_that_our_kernel_does_not_serve(load: Any, tmp_path: Any, heads: int, state_dim: int):
    """Torch's operations read them, and one at a time as all at once."""
    folder = write_tiny_llama(
        tmp_path / "model", "granite4-h", mamba_n_heads=heads, mamba_d_head=128 // heads, mamba_d_state=state_dim
    )
    engine: Engine = load(folder=folder)
    whole = engine.logits(PROMPT)
    assert whole.isfinite().all()
    torch.testing.assert_close(engine.logits(PROMPT[:30]), whole[:30], rtol=0, atol=0)
