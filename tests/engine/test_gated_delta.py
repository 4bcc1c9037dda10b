"""Gated delta nets: our kernel beside torch."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from llama_gui.engine import Engine
from llama_gui.engine.delta_config import DeltaConfig
from llama_gui.engine.gated_delta import DeltaWeights, GatedDeltaNet
from llama_gui.engine.layer_states import SlotStates, StateShape, StateSpan, StateSpans
from llama_gui.engine.linear import Linear, LinearFactory
from llama_gui.engine.native_delta import NativeDeltaNet, serves
from llama_gui.engine.native_kernels import NativeKernels
from tests.fakes.tiny_llama import write_tiny_llama

CPU = torch.device("cpu")
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


def numbers(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def weights_of(config: DeltaConfig) -> DeltaWeights:
    heads = config.value_heads
    taps = numbers(1, config.taps, config.mixed_width)
    return DeltaWeights(taps, -numbers(2, heads).exp(), numbers(3, heads), numbers(4, config.value_dim), 1e-6)


def linear(out: int, width: int) -> Linear:
    return LinearFactory(device=CPU)(numbers(5, out, width), None)


@pytest.fixture
def nets(kernels: NativeKernels) -> Callable[[DeltaConfig], tuple[GatedDeltaNet, GatedDeltaNet]]:
    """Torch's and ours."""

    def make(config: DeltaConfig) -> tuple[GatedDeltaNet, GatedDeltaNet]:
        parts = (linear(8, 8), linear(8, 8), linear(8, 8), config, weights_of(config), 0)
        return GatedDeltaNet(*parts), NativeDeltaNet(*parts, kernels)

    return make


def started(config: DeltaConfig) -> SlotStates:
    """The states of a conversation that has been read for a while."""
    states = SlotStates(StateShape.of(config), CPU)
    states.current.memory.copy_(numbers(6, *states.current.memory.shape))
    states.current.inputs.copy_(numbers(7, *states.current.inputs.shape))
    return states


def read(net: GatedDeltaNet, lengths: tuple[int, ...], cuts: tuple[int, ...] = ()) -> tuple[Tensor, list[Tensor]]:
    """What rows of some conversations become, and all states to which they lead."""
    rows, config = sum(lengths), net.config
    mixed, rates = numbers(8, rows, config.mixed_width + config.value_width), numbers(9, rows, 2 * config.value_heads)
    spans, row = list[StateSpan](), 0
    for length in lengths:
        spans.append(StateSpan(row, started(config).pieces(length, cuts)))
        row += length
    made = net.read(mixed, rates, StateSpans(spans))
    targets = [piece.target for span in spans for piece in span.pieces]
    return made, [part for target in targets for part in (target.memory, target.inputs)]


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize(("lengths", "cuts"), [((1,), ()), ((5, 1, 23), ()), ((40,), (3, 8, 39))])
def test_our_kernel_beside_torch(nets: Any, config: DeltaConfig, lengths: tuple[int, ...], cuts: tuple[int, ...]):
    assert serves(config)
    torchs, ours = nets(config)
    (want, states), (got, kept) = read(torchs, lengths, cuts), read(ours, lengths, cuts)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
    for one, other in zip(kept, states, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("which", [0, 1], ids=["torch", "ours"])
def test_cuts_change_no_bit(nets: Any, config: DeltaConfig, which: int):
    net = nets(config)[which]
    whole, (*_, memory, inputs) = read(net, (40,))
    for cuts in ((1,), (8, 16), (3, 4, 5, 38)):
        cut, (*_, last, left) = read(net, (40,), cuts)
        assert torch.equal(cut, whole)
        assert torch.equal(last, memory)
        assert torch.equal(left, inputs)


@pytest.mark.parametrize("which", [0, 1], ids=["torch", "ours"])
def test_rows_that_were_kept_lead_to_the_same_state(nets: Any, which: int):
    net: GatedDeltaNet = nets(CONFIGS[0])[which]
    hidden = numbers(8, 7, 8)
    net.qkv = linear(net.config.mixed_width + net.config.value_width, 8)
    net.rates = linear(2 * net.config.value_heads, 8)
    guessed, certain = started(net.config), started(net.config)
    net.attend(hidden, StateSpans([StateSpan(0, guessed.pieces(2, (), 5))]))
    guessed.advance(0, 2)
    guessed.advance(2, 1)
    guessed.advance(3, 1)
    piece = guessed.unsettled()
    assert piece is not None
    net.sum_up(piece)
    guessed.settle(piece)
    net.attend(hidden[:4], StateSpans([StateSpan(0, certain.pieces(4))]))
    certain.advance(0, 4)
    assert torch.equal(guessed.current.memory, certain.current.memory)
    assert torch.equal(guessed.current.inputs, certain.current.inputs)


@pytest.mark.parametrize(("key_dim", "value_dim"), [(16, 20), (12, 16), (264, 16), (16, 264)])
def test_heads_that_our_kernel_does_not_serve(load: Any, tmp_path: Any, key_dim: int, value_dim: int):
    folder = write_tiny_llama(
        tmp_path / "model", "qwen3.5", linear_key_head_dim=key_dim, linear_value_head_dim=value_dim, num_hidden_layers=4
    )
    engine: Engine = load(folder=folder)
    whole = engine.logits(PROMPT[:50])
    assert whole.isfinite().all()
    assert torch.equal(engine.logits(PROMPT[:20]), whole[:20])
