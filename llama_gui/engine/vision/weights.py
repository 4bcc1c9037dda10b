"""The weights of a network for images, as its layers take them."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from llama_gui.engine.checkpoint import Shape, WeightSource
from llama_gui.engine.device import Precision, has_native_bfloat16
from llama_gui.engine.kernel_notes import KernelNotes
from llama_gui.engine.linear import Linear, LinearFactory
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.vision.activation import Gelu
from llama_gui.engine.vision.attention import NativeAttention, PatchAttention, TorchAttention

PROJECTOR = "multi_modal_projector."
"""How the names of weights begin that make rows of the text network."""


class VisionWeights:
    """Reads them from an open checkpoint, which it checks first: every name and shape.

    `precision`: without any rounding of weights.

    Raises:
        BrokenModelError, UnsupportedModelError: see `Checkpoint`.
    """

    def __init__(
        self,
        checkpoint: WeightSource,
        shapes: Mapping[str, Shape],
        precision: Precision,
        device: torch.device,
        notes: KernelNotes | None = None,
        kernels: NativeKernels | None = None,
        *,
        row_norm_shift: float = 1.0,
    ) -> None:
        """`row_norm_shift`: is added to the weight of Gemma's norm of rows, which counts from 1 in folders."""
        self._checkpoint = checkpoint
        self._shapes = shapes
        self._precision = precision
        self._device = device
        self._kernels = kernels
        self._linear = LinearFactory(precision, device, notes=notes, kernels=kernels)
        self.row_norm_shift = row_norm_shift
        checkpoint.check(shapes)

    @property
    def attention(self) -> PatchAttention:
        """How patches see each other: in half precision where that is fast."""
        precision, kernels = self._precision, self._kernels
        if precision.table_dtype != torch.bfloat16:
            return TorchAttention(precision.dtype)
        if kernels is not None and self._device.type == "cpu" and NativeAttention.serves(kernels, precision.dtype):
            return NativeAttention(kernels)
        has_halves = self._device.type != "cpu" or has_native_bfloat16()
        return TorchAttention(torch.bfloat16 if has_halves else precision.dtype)

    @property
    def gelu(self) -> Gelu:
        """As layers activate."""
        return Gelu(self._kernels if self._device.type == "cpu" else None)

    def plain(self, name: str) -> Tensor:
        """A weight that multiplies or adds number by number."""
        return self._checkpoint.weight(name, self._precision.dtype, self._device)

    def linear(self, prefix: str, names: Sequence[str], *, has_bias: bool = False) -> Linear:
        """The weights `names` behind one another."""
        weights = [f"{prefix}{name}.weight" for name in names]
        bias = torch.cat([self.plain(f"{prefix}{name}.bias") for name in names]) if has_bias else None
        if self._linear.takes_rows(self._shapes[weights[0]][-1]):
            return self._linear.of_rows([self._checkpoint.rows(name) for name in weights], bias)
        dtype = self._precision.table_dtype
        return self._linear(torch.cat([self._checkpoint.borrowed(name, dtype, self._device) for name in weights]), bias)

    def patches(self, name: str, bias: str = "", *more: str) -> Linear:
        """A convolution whose pieces do not overlap, as the product that it is.

        Of one over several pictures ``[out, 3, pictures, height, width]``, or one for each, all are the same here. It
        may be stored as a product, too.
        """
        parts = [self._checkpoint.weight(part, torch.float32, self._device) for part in (name, *more)]
        whole = sum((part.sum(2) if part.dim() == 5 else part for part in parts), torch.zeros(()))
        return self._linear(whole.to(self._precision.table_dtype).flatten(1), self.plain(bias) if bias else None)

    def turned(self, name: str) -> Linear:
        """A matrix that is stored ``[in, out]``."""
        return self._linear(self._table(name).t().contiguous())

    def _table(self, name: str) -> Tensor:
        return self._checkpoint.weight(name, self._precision.table_dtype, self._device)
