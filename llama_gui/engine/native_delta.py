"""Gated delta nets by our own kernel: see `native/gated_delta.h`."""

import ctypes

from torch import Tensor

from llama_gui.engine.delta_config import DeltaConfig
from llama_gui.engine.gated_delta import DeltaWeights, GatedDeltaNet
from llama_gui.engine.layer_states import StateSpans
from llama_gui.engine.linear import Linear
from llama_gui.engine.native_kernels import LANES, NativeKernels
from llama_gui.engine.native_linear import NativeRouterLinear

_MOST_DIM, _MOST_TAPS = 256, 8

_Address, _Number = ctypes.c_void_p, ctypes.c_int64


class _DeltaNet(ctypes.Structure):
    _fields_ = (
        *((name, _Address) for name in ("convolution", "slopes", "offsets", "norm", "rates")),
        ("eps", ctypes.c_double),
        *(
            (name, _Number)
            for name in ("key_heads", "value_heads", "key_dim", "value_dim", "taps", "number", "is_in_turn")
        ),
    )


def serves(config: DeltaConfig) -> bool:
    """Whether the kernel is for heads of this width, and so long a convolution."""
    return config.taps <= _MOST_TAPS and all(
        dim <= _MOST_DIM and dim % LANES == 0 for dim in (config.key_dim, config.value_dim)
    )


class NativeDeltaNet(GatedDeltaNet):
    """As a `GatedDeltaNet`, for activations of float32; see `serves`."""

    def __init__(
        self,
        qkv: Linear,
        rates: Linear,
        out: Linear,
        config: DeltaConfig,
        weights: DeltaWeights,
        number: int,
        kernels: NativeKernels,
    ) -> None:
        super().__init__(qkv, rates, out, config, weights, number)
        self._kernels = kernels
        small = (weights.taps, weights.slopes, weights.offsets, weights.norm)
        own = rates.weight.data_ptr() if isinstance(rates, NativeRouterLinear) else None
        heads = (config.key_heads, config.value_heads, config.key_dim, config.value_dim)
        addresses = (one.data_ptr() for one in small)
        self._net = _DeltaNet(*addresses, own, weights.eps, *heads, config.taps, number, config.in_turn)

    @property
    def address(self) -> int | None:
        """Where it is described, for a `NativeLayer`; None: that cannot make the rates."""
        return ctypes.addressof(self._net) if self._net.rates else None

    def read(self, mixed: Tensor, rates: Tensor, spans: StateSpans) -> Tensor:
        """See `RatedRecurrent.read`."""
        return self._kernels.delta(ctypes.addressof(self._net), mixed, rates, *spans.table, self.inner)
