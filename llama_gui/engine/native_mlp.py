"""The feed-forward part by our own kernels: two linears, and the gate between them."""

from torch import Tensor

from llama_gui.engine.linear import Linear
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_linear import NativeQuantisedLinear


class NativeInt8MLP:
    """``down(silu(gate(x)) * up(x))`` on quantised rows, gate and up fused; see `Int8MLP`."""

    def __init__(self, gate_up: NativeQuantisedLinear, down: NativeQuantisedLinear) -> None:
        self.gate_up = gate_up
        self.down = down

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``, float32."""
        kernels = self.gate_up.kernels
        levels, scales = kernels.quantise(x.contiguous())
        levels, new_scales = kernels.gate_levels(self.gate_up.multiply(levels), scales)
        return self.down.scaled(levels, new_scales.mul_(scales))


class NativeMLP:
    """The same on rows of float32, between any linears."""

    def __init__(self, gate_up: Linear, down: Linear, kernels: NativeKernels) -> None:
        self.gate_up = gate_up
        self.down = down
        self._kernels = kernels

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``, float32."""
        return self.down(self._kernels.gate(self.gate_up(x)))
