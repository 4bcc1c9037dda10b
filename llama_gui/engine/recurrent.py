"""What a layer may have in the place of attention: something that keeps a state, and nothing of a single token."""

from abc import ABC, abstractmethod

from torch import Tensor

from llama_gui.engine.layer_states import Piece, StateSpans
from llama_gui.engine.linear import Linear


class Recurrent(ABC):
    """In the place of attention in a `Block`.

    `qkv`: makes what goes into it. `out`: goes behind it. `number`: of the layer, among those that have such a thing.
    """

    def __init__(self, qkv: Linear, out: Linear, number: int) -> None:
        self.qkv = qkv
        self.out = out
        self.number = number

    @property
    def linears(self) -> list[Linear]:
        """All of them, in the order in which rows go through."""
        return [self.qkv, self.out]

    @abstractmethod
    def attend(self, x: Tensor, spans: StateSpans) -> Tensor:
        """What comes before `out`: ``[rows, hidden] -> [rows, inner]``; writes the states that pieces lead to."""

    @abstractmethod
    def sum_up(self, piece: Piece) -> None:
        """Go on to the state behind rows that were kept, all of which turned out to be right."""
