"""What tests of recurrent layers with rates need: conversations of random numbers, and what a layer makes of them."""

import torch
from torch import Tensor

from llama_gui.engine.layer_states import SlotStates, StateShape, StateSpan, StateSpans
from llama_gui.engine.linear import Linear, LinearFactory
from llama_gui.engine.network_config import Recurrence
from llama_gui.engine.recurrent import RatedRecurrent

CPU = torch.device("cpu")


def numbers(seed: int, *shape: int) -> Tensor:
    """Normally distributed."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def linear(out: int, width: int) -> Linear:
    """One of random weights."""
    return LinearFactory(device=CPU)(numbers(5, out, width), None)


def started(config: Recurrence) -> SlotStates:
    """The states of a conversation that has been read for a while."""
    states = SlotStates(StateShape.of(config), CPU)
    states.current.memory.copy_(numbers(6, *states.current.memory.shape))
    states.current.inputs.copy_(numbers(7, *states.current.inputs.shape))
    return states


def read(
    layer: RatedRecurrent, config: Recurrence, lengths: tuple[int, ...], cuts: tuple[int, ...] = ()
) -> tuple[Tensor, list[Tensor]]:
    """What rows of some conversations become, and all states to which they lead."""
    rows, shape = sum(lengths), StateShape.of(config)
    mixed, rates = numbers(8, rows, shape.mixed), numbers(9, rows, shape.rates)
    spans, row = list[StateSpan](), 0
    for length in lengths:
        spans.append(StateSpan(row, started(config).pieces(length, cuts)))
        row += length
    given = mixed.clone()
    made = layer.read(mixed, rates, StateSpans(spans))
    assert torch.equal(mixed, given), "it stays as it is"
    targets = [piece.target for span in spans for piece in span.pieces if piece.target is not None]
    return made, [part for target in targets for part in (target.memory, target.inputs)]


def check_cuts(layer: RatedRecurrent, config: Recurrence) -> None:
    """Wherever a prompt is cut, its bits are the same."""
    whole, (*_, memory, inputs) = read(layer, config, (40,))
    for cuts in ((1,), (8, 16), (3, 4, 5, 38)):
        cut, (*_, last, left) = read(layer, config, (40,), cuts)
        assert torch.equal(cut, whole)
        assert torch.equal(last, memory)
        assert torch.equal(left, inputs)


def check_kept_rows(layer: RatedRecurrent, config: Recurrence) -> None:
    """Guesses that were right lead to the state that certain tokens lead to."""
    hidden, shape = numbers(8, 7, 8), StateShape.of(config)
    layer.qkv, layer.rates = linear(shape.mixed, 8), linear(shape.rates, 8)
    guessed, certain = started(config), started(config)
    layer.attend(hidden, StateSpans([StateSpan(0, guessed.pieces(2, (), 5))]))
    guessed.advance(0, 2)
    guessed.advance(2, 1)
    guessed.advance(3, 1)
    behind = layer.attend(hidden[4:], StateSpans([StateSpan(0, guessed.pieces(1, (), 2))]))
    whole = layer.attend(hidden, StateSpans([StateSpan(0, certain.pieces(7))]))
    assert torch.equal(behind, whole[4:])
    guessed.advance(4, 1)
    layer.attend(hidden[:5], StateSpans([StateSpan(0, certain.pieces(5))]))
    certain.advance(0, 5)
    assert torch.equal(guessed.current.memory, certain.current.memory)
    assert torch.equal(guessed.current.inputs, certain.current.inputs)
