"""The input that each layer of Gemma 4 gets of each token besides (per-layer embeddings, first in Gemma 3n).

A token has a row of numbers for all layers in a table, to which a projection of its embedding is added. What a layer
has made lets some of its own numbers through, and adds what comes of them.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from llama_gui.engine.file_rows import RowSource
from llama_gui.engine.gating import gated_rows
from llama_gui.engine.layers import RMSNorm
from llama_gui.engine.linear import Linear


class LayerInput:
    """What one layer does with its own: ``x + norm(out(gelu(gate(x)) * given))``."""

    def __init__(self, gate: Linear, out: Linear, norm: RMSNorm, width: int) -> None:
        """`width`: how many numbers are its own."""
        self.width = width
        self.gate = gate
        self.out = out
        self.norm = norm

    @property
    def linears(self) -> list[Linear]:
        """Both of them."""
        return [self.gate, self.out]

    def __call__(self, x: Tensor, given: Tensor) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``; `given`: ``[rows, width]``."""
        return x + self.norm(self.out(gated_rows(torch.cat((self.gate(x), given), 1), "gelu")))


class LayerInputs:
    """Makes those of all layers. `table`: ``[vocabulary, layers * width]``, `scale` times what is added of it."""

    def __init__(self, table: RowSource, scale: float, projection: Linear, norm: RMSNorm) -> None:
        self._table = table
        self._scale = scale
        self._norm = norm
        self.projection = projection
        self.width = len(norm.weight)

    def __call__(self, ids: Sequence[int], x: Tensor) -> Tensor:
        """Those of tokens `ids`, whose embeddings are ``x [rows, hidden]``: ``[rows, layers * width]``.

        Raises:
            BrokenModelError: the table cannot be read.
        """
        looked_up = self._table.look_up(ids).to(device=x.device, dtype=x.dtype) * self._scale
        projected = self._norm(self.projection(x).view(-1, self.width)).view(looked_up.shape)
        return ((projected + looked_up) * 0.5**0.5).to(x.dtype)
