"""The gated feed-forward part on int8 rows, some rows at a time: between the products they stay in the cache.

The rows of the first product are not multiplied with their scales, except for the gate: the second product gets a scale
for each row anyway, whatever the size of the row.
"""

from torch import Tensor

from llama_gui.engine.gating import ACTIVATIONS, Gate, blocks_of_rows
from llama_gui.engine.linear import Linear
from llama_gui.engine.quantised_linear import QuantisedLinear, quantise_into, room_for_levels


class Int8MLP:
    """``down(act(gate(x)) * up(x))``, gate and up fused; neither may have a bias, and `gate` not be of both."""

    def __init__(self, gate_up: QuantisedLinear, down: QuantisedLinear, gate: Gate = "silu") -> None:
        self.gate_up = gate_up
        self.down = down
        self.gate: Gate = gate

    @property
    def linears(self) -> list[Linear]:
        """Both of them."""
        return [self.gate_up, self.down]

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``."""
        y, scales = self.gate_up.unscaled(x)
        shape = (len(y), y.shape[1] // 2)
        levels, new_scales = room_for_levels(shape, self.down.dtype, x.device)
        activation = ACTIVATIONS[self.gate]
        for rows in blocks_of_rows(shape):
            gate, up = y[rows].chunk(2, 1)
            inner = gate * scales[rows]
            activation(inner, inner)
            quantise_into(inner.mul_(up), levels[rows], new_scales[rows])
        return self.down.of_levels(levels, new_scales.mul_(scales))
