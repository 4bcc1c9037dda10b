"""Weights of four bits, in groups of 32 with a scale and an offset each: a third of the memory of bfloat16.

Rounded to the nearest (no calibration); torch's kernel expands the weights while it multiplies, so the input keeps its
dtype. Its rows are exact in calls of any size on the machines that were tried; `probe` tries this one.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.device import byte_count
from llama_gui.errors import UnsupportedModelError

GROUP = 32
_LEVELS = 15
_MIDDLE = 8  # the kernel's: value = (level - 8) * scale + offset
_ALIGNMENT = 16  # output channels come in blocks of so many
_PROBED_ROW_COUNTS = (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 48, 64)


class Int4Linear:
    """``y = x W^T + b`` with the weight in four bits, on CPU; `in_features` must be a multiple of `GROUP`.

    Source of the two private operators: torchao's and gpt-fast's weight-only quantisation for CPU.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        """Quantise `weight` ``[out, in]``; `bias` ``[out]``. The result has the weight's dtype."""
        self._out = weight.shape[0]
        weight = F.pad(weight, (0, 0, 0, -self._out % _ALIGNMENT))
        levels, scales, offsets = _quantise(weight)
        self._packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(levels, 1)
        # [groups, out, 2], as the kernel wants it
        self._scales = torch.stack((scales.t(), offsets.t()), 2).to(weight.dtype).contiguous()
        self._bias = bias

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return (self._packed,)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight, its scales and the bias take."""
        return byte_count(self._packed, self._scales, self._bias)

    @property
    def is_batch_invariant(self) -> bool:
        """True: `probe` refuses a kernel that is not."""
        return True

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``."""
        y = torch.ops.aten._weight_int4pack_mm_for_cpu(x.contiguous(), self._packed, GROUP, self._scales)
        y = y[:, : self._out]
        return y if self._bias is None else y + self._bias


def _quantise(weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Int32 levels ``[out, in]`` from 0 to 15, float32 scales and offsets ``[out, in / GROUP]``."""
    groups = weight.float().unflatten(1, (-1, GROUP))
    # Zero lies within each range, so that a weight of nothing stays nothing.
    low, high = groups.amin(2).clamp(max=0), groups.amax(2).clamp(min=0)
    # Rounded as the kernel will see them, so that the levels fit what they are multiplied with.
    scales = ((high - low) / _LEVELS).to(weight.dtype).float().clamp(min=torch.finfo(torch.bfloat16).tiny)
    offsets = (low + _MIDDLE * scales).to(weight.dtype).float()
    levels = (groups - offsets.unsqueeze(2)).div_(scales.unsqueeze(2)).round_().add_(_MIDDLE).clamp_(0, _LEVELS)
    return levels.flatten(1).to(torch.int32), scales, offsets


def probe(dtype: torch.dtype) -> None:
    """Multiply with numbers that four bits hold exactly, in calls of many sizes.

    Raises:
        UnsupportedModelError: this machine, or this build of torch, cannot, or its rows depend on their neighbours.
    """
    try:
        sound = _is_sound(dtype)
    except (RuntimeError, AttributeError, NotImplementedError) as error:
        raise UnsupportedModelError(
            f"int4 cannot be used on this machine ({error}). Use int8, bfloat16 or auto."
        ) from error
    if not sound:
        raise UnsupportedModelError("This machine does not multiply int4 exactly. Use int8, bfloat16 or auto.")


def _is_sound(dtype: torch.dtype) -> bool:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randint(-8, 8, (96, 512), generator=generator).to(dtype)
    weight[:, ::GROUP], weight[:, 1::GROUP] = -8, 7  # so that each scale is one
    x = torch.randn(max(_PROBED_ROW_COUNTS), 512, generator=generator).to(dtype)
    linear = Int4Linear(weight, None)
    full = linear(x)
    want = F.linear(x.float(), weight.float())
    if not (full.float() - want).abs().max() < 0.02 * want.abs().max():
        return False
    return all(torch.equal(linear(x[:rows]), full[:rows]) for rows in _PROBED_ROW_COUNTS)
