"""The gated feed-forward part with both weights in int8, in one go: between the products all stays in the cache.

The rows of the first product are not multiplied with their scales, except for the gate: the second product gets a scale
for each row anyway, whatever the size of the row.
"""

import torch
from torch import Tensor

from llama_gui.engine.gating import BLOCK_SIZE, silu_rows
from llama_gui.engine.int8_linear import Int8Linear, quantise_block


class Int8MLP:
    """``down(silu(gate(x)) * up(x))``, gate and up fused; neither may have a bias."""

    def __init__(self, gate_up: Int8Linear, down: Int8Linear) -> None:
        self.gate_up = gate_up
        self.down = down

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``."""
        y, scales = self.gate_up.unscaled(x)
        width = y.shape[1] // 2
        rows = max(1, BLOCK_SIZE // width)
        parts = [self._between(*part) for part in zip(y.split(rows), scales.split(rows), strict=True)]
        if len(parts) == 1:
            return self.down.of_levels(*parts[0])
        levels, scales = zip(*parts, strict=True)
        return self.down.of_levels(torch.cat(levels), torch.cat(scales))

    def _between(self, y: Tensor, scales: Tensor) -> tuple[Tensor, Tensor]:
        gate, up = y.chunk(2, 1)
        inner = gate * scales
        silu_rows(inner, inner)
        levels, new_scales = quantise_block(inner.mul_(up), self.down.dtype)
        return levels, new_scales.mul_(scales)
