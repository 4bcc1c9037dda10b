"""What a layer may have in the place of attention: something that keeps a state, and nothing of a single token."""

from abc import ABC, abstractmethod

import torch
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


class RatedRecurrent(Recurrent):
    """One whose heads forget as fast as each token says: `rates`, which makes that, is float32.

    `inner`: how many numbers of a row go into `out`.
    """

    def __init__(self, qkv: Linear, rates: Linear, out: Linear, number: int, inner: int) -> None:
        super().__init__(qkv, out, number)
        self.rates = rates
        self.inner = inner

    @property
    def linears(self) -> list[Linear]:
        """See `Recurrent`."""
        return [self.qkv, self.rates, self.out]

    def attend(self, x: Tensor, spans: StateSpans) -> Tensor:
        """See `Recurrent`."""
        mixed, rates = self.qkv(x), self.rates(x.float())
        for span in spans.spans:
            for row, piece in span.placed():
                if piece.kept is not None:
                    piece.kept.mixed[self.number] = mixed[row : row + piece.rows]
                    piece.kept.rates[self.number] = rates[row : row + piece.rows]
        return self.read(mixed, rates, spans)

    def read(self, mixed: Tensor, rates: Tensor, spans: StateSpans) -> Tensor:
        """Of what `qkv` and `rates` have made of some rows, which stays as it is: ``[rows, inner]``, see `attend`."""
        read = mixed.new_empty(len(mixed), self.inner)
        for span in spans.spans:
            for row, piece in span.placed():
                rows = slice(row, row + piece.rows)
                given, own = mixed[rows].float(), rates[rows]
                if piece.pending is not None:
                    before, rates_before = piece.pending.of(self.number)
                    given, own = torch.cat((before, given)), torch.cat((rates_before, own))
                read[rows] = self._read(given, own, piece)[-piece.rows :]
        return read

    @abstractmethod
    def _read(self, mixed: Tensor, rates: Tensor, piece: Piece) -> Tensor:
        """The same of one piece, and of what is pending before, one token at a time, in float32."""
