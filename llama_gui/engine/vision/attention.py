"""How the patches of an image see each other: all of them at once, whatever piece of them is computed."""

from abc import ABC, abstractmethod

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.native_attention import serves
from llama_gui.engine.native_kernels import NativeKernels

_BLOCK = 64
"""Patches that lie among each other in a native cache, see `NativeKernels.keeps_blocks`."""
_PAIRS, _TILE = 16, 32
"""Heads are a multiple of so many numbers there, and of so many where CPUs multiply tiles."""


class Held(ABC):
    """The queries, keys and values of an image's patches in one layer after the other."""

    @abstractmethod
    def keep(self, piece: slice, heads: Tensor) -> None:
        """Take those of some patches, ``[3, patches, heads, head_dim]``."""

    @abstractmethod
    def see(self, piece: slice) -> Tensor:
        """What these have seen once all were kept: ``[patches, heads * head_dim]``."""


class PatchAttention(ABC):
    """Makes room for images. Of one that is read, another may be begun."""

    @abstractmethod
    def hold(self, patches: int, heads: int, head_dim: int, device: torch.device) -> Held:
        """For an image of so many patches."""


class TorchAttention(PatchAttention):
    """Torch's, in `dtype`."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._dtype = dtype

    def hold(self, patches: int, heads: int, head_dim: int, device: torch.device) -> Held:
        """See `PatchAttention`."""
        return _TorchHeld(torch.empty(3, heads, patches, head_dim, dtype=self._dtype, device=device))


class _TorchHeld(Held):
    def __init__(self, held: Tensor) -> None:
        self._held = held

    def keep(self, piece: slice, heads: Tensor) -> None:
        self._held[:, :, piece] = heads.transpose(1, 2)

    def see(self, piece: slice) -> Tensor:
        queries, keys, values = (one.unsqueeze(0) for one in self._held)
        seen = F.scaled_dot_product_attention(queries[:, :, piece], keys, values)
        return seen[0].transpose(0, 1).flatten(1)


class NativeAttention(PatchAttention):
    """By our own kernel on CPUs that multiply bfloat16, where it takes half the time that torch's takes (Zen 4)."""

    def __init__(self, kernels: NativeKernels) -> None:
        self._kernels = kernels

    @staticmethod
    def serves(kernels: NativeKernels, dtype: torch.dtype) -> bool:
        """Whether it is quicker than torch's for activations of `dtype`."""
        return serves(dtype, _PAIRS) and kernels.keeps_blocks(torch.bfloat16, _PAIRS)

    def hold(self, patches: int, heads: int, head_dim: int, device: torch.device) -> Held:
        """See `PatchAttention`."""
        return _NativeHeld(self._kernels, patches, heads, head_dim)


class _NativeHeld(Held):
    """Heads are made wider with zeros where the kernel would not take them, or would be several times slower."""

    def __init__(self, kernels: NativeKernels, patches: int, heads: int, head_dim: int) -> None:
        unit = _TILE if kernels.has_tiles else _PAIRS
        width = -(-head_dim // unit) * unit
        room = -(-patches // _BLOCK) * _BLOCK
        self._kernels = kernels
        self._dim = head_dim
        # The kernel divides by the root of the width that it sees.
        self._scale = (width / head_dim) ** 0.5
        self._held = torch.zeros(patches, 3, heads, width)
        self._keys, self._values = torch.zeros(2, 1, heads, room, width, dtype=torch.bfloat16)

    def keep(self, piece: slice, heads: Tensor) -> None:
        held = self._held[piece]
        held[..., : self._dim] = heads.transpose(0, 1)
        if self._scale != 1:
            held[:, 0] *= self._scale
        self._run(piece, attending=0)

    def see(self, piece: slice) -> Tensor:
        seen = self._run(piece, attending=len(self._held[piece]))
        return seen.unflatten(1, (self._held.shape[2], -1))[..., : self._dim].flatten(1)

    def _run(self, piece: slice, attending: int) -> Tensor:
        """Write keys and values into their places, though they be there, and let the last patches attend."""
        queries, keys, values = self._held[piece].unbind(1)
        places = (self._keys.data_ptr(), self._values.data_ptr(), self._keys.stride(0), self._keys.stride(1))
        span = (0, len(queries), piece.start, *places, attending, len(self._held))
        spans = torch.tensor([span], dtype=torch.int64)
        return self._kernels.attend(queries, keys, values, spans, 0, dtype=torch.bfloat16)
