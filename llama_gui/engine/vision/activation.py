"""GELU in networks for images, as the hyperbolic tangent approximates it: by our own kernel, or by torch."""

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.native_kernels import LANES, NativeKernels


class Gelu:
    """`kernels`: on a CPU that has them, where it takes a third of torch's time."""

    def __init__(self, kernels: NativeKernels | None) -> None:
        self._kernels = kernels

    def __call__(self, x: Tensor, by: Tensor | None = None) -> Tensor:
        """``[rows, width] -> [rows, width]``; with `by`, of the same shape, times those."""
        if self._kernels is not None and x.dtype == torch.float32 and x.shape[-1] % LANES == 0:
            return self._kernels.gelu(x, by)
        y = F.gelu(x, approximate="tanh")
        return y if by is None else y * by
