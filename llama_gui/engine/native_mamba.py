"""State spaces by our own kernel: see `native/mamba.h`."""

import ctypes

from torch import Tensor

from llama_gui.engine.layer_states import StateSpans
from llama_gui.engine.linear import Linear
from llama_gui.engine.mamba import Mamba, MambaWeights
from llama_gui.engine.mamba_config import MambaConfig
from llama_gui.engine.native_kernels import LANES, NativeKernels
from llama_gui.engine.native_linear import NativeRouterLinear

_MOST_DIM, _MOST_TAPS = 256, 8

_Address, _Number = ctypes.c_void_p, ctypes.c_int64


class _Mamba(ctypes.Structure):
    _fields_ = (
        *((name, _Address) for name in ("taps", "bias", "slopes", "offsets", "skips", "norm", "rates")),
        ("eps", ctypes.c_double),
        *((name, _Number) for name in ("heads", "head_dim", "groups", "state_dim", "tap_count", "number")),
    )


def serves(config: MambaConfig) -> bool:
    """Whether the kernel is for heads of this width, and so long a convolution."""
    dims = config.head_dim, config.state_dim
    return config.taps <= _MOST_TAPS and config.head_dim <= _MOST_DIM and not any(dim % LANES for dim in dims)


class NativeMamba(Mamba):
    """As a `Mamba`, for activations of float32; see `serves`."""

    def __init__(
        self,
        qkv: Linear,
        rates: Linear,
        out: Linear,
        config: MambaConfig,
        weights: MambaWeights,
        number: int,
        kernels: NativeKernels,
    ) -> None:
        super().__init__(qkv, rates, out, config, weights, number)
        self._kernels = kernels
        small = (weights.taps, weights.bias, weights.slopes, weights.offsets, weights.skips, weights.norm)
        own = rates.weight.data_ptr() if isinstance(rates, NativeRouterLinear) else None
        sizes = (config.heads, config.head_dim, config.groups, config.state_dim, config.taps, number)
        addresses = (None if one is None else one.data_ptr() for one in small)
        self._mamba = _Mamba(*addresses, own, config.eps, *sizes)

    @property
    def address(self) -> int | None:
        """Where it is described, for a `NativeLayer`; None: that cannot make the rates."""
        return ctypes.addressof(self._mamba) if self._mamba.rates else None

    def read(self, mixed: Tensor, rates: Tensor, spans: StateSpans) -> Tensor:
        """See `RatedRecurrent.read`."""
        described = ctypes.addressof(self._mamba)
        return self._kernels.mamba(described, mixed, rates, *spans.table, self.inner)
