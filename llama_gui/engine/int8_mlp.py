"""The gated feed-forward part on rows of eight bits, in one go: between the products all stays in the cache.

The rows of the first product are not multiplied with their scales, except for the gate: the second product gets a scale
for each row anyway, whatever the size of the row.
"""

from torch import Tensor

from llama_gui.engine.gating import silu_rows
from llama_gui.engine.quantised_linear import QuantisedLinear, join_rows, quantise_block, rows_at_a_time


class Int8MLP:
    """``down(silu(gate(x)) * up(x))``, gate and up fused; neither may have a bias."""

    def __init__(self, gate_up: QuantisedLinear, down: QuantisedLinear) -> None:
        self.gate_up = gate_up
        self.down = down

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``."""
        y, scales = self.gate_up.unscaled(x)
        rows = rows_at_a_time(y.shape[1] // 2)
        parts = [self._between(*part) for part in zip(y.split(rows), scales.split(rows), strict=True)]
        return self.down.of_levels(*join_rows(parts))

    def _between(self, y: Tensor, scales: Tensor) -> tuple[Tensor, Tensor]:
        gate, up = y.chunk(2, 1)
        inner = gate * scales
        silu_rows(inner, inner)
        levels, new_scales = quantise_block(inner.mul_(up), self.down.dtype)
        return levels, new_scales.mul_(scales)
