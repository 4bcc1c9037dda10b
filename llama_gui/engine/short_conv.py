"""Short convolutions, as LFM2 has them (https://arxiv.org/abs/2511.23404): each channel looks at the last few tokens.

What is convolved, and what comes of it, is gated by numbers that the same rows make. No number depends on how a prompt
was cut: each is the sum of as many products, in the order of the tokens.
"""

import torch
from torch import Tensor

from llama_gui.engine.layer_states import StateSpans
from llama_gui.engine.linear import Linear
from llama_gui.engine.recurrent import Recurrent


class ShortConv(Recurrent):
    """See `Recurrent`.

    `qkv`: makes gates of what goes in, gates of what comes out, and what goes in, ``[3 * width]``, side by side.
    `taps`: float32 ``[taps, width]``, the newest last.
    """

    def __init__(self, qkv: Linear, out: Linear, taps: Tensor, number: int) -> None:
        super().__init__(qkv, out, number)
        self.taps = taps

    def attend(self, x: Tensor, spans: StateSpans) -> Tensor:
        """See `Recurrent`: ``[rows, hidden] -> [rows, width]``."""
        made = self.qkv(x)
        before, behind, given = made.float().chunk(3, 1)
        return (behind * self.convolved(before * given, spans)).to(made.dtype)

    def convolved(self, inputs: Tensor, spans: StateSpans) -> Tensor:
        """``[rows, width] -> [rows, width]``, float32; writes the states that pieces lead to."""
        made = torch.empty_like(inputs)
        for span in spans.spans:
            for row, piece in span.placed():
                rows = slice(row, row + piece.rows)
                if piece.kept is not None:
                    piece.kept.mixed[self.number] = inputs[rows]
                pending = [] if piece.pending is None else [piece.pending.mixed[self.number]]
                window = torch.cat((piece.source.inputs[self.number], *pending, inputs[rows]))
                last = window[-piece.rows - len(self.taps) + 1 :]
                made[rows] = self._sums(last, piece.rows)
                if piece.target is not None:
                    piece.target.inputs[self.number] = last[piece.rows :]
        return made

    def _sums(self, window: Tensor, rows: int) -> Tensor:
        made = window[:rows] * self.taps[0]
        for tap in range(1, len(self.taps)):
            made += window[tap : tap + rows] * self.taps[tap]
        return made
