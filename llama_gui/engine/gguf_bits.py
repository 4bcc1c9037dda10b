"""Bytes of the blocks of GGUF files -> numbers of few bits. `data` are uint8 ``[..., bytes]``."""

import torch
from torch import Tensor


def half(data: Tensor) -> Tensor:
    """Two bytes ``[count, 2]`` -> float32 ``[count, 1]``."""
    return data.contiguous().view(torch.float16).float()


def planes(data: Tensor, width: int) -> Tensor:
    """``[..., bytes] -> [..., 8 / width, bytes]``: the lowest `width` bits of all bytes, then the next ones."""
    shifts = torch.arange(0, 8, width, dtype=torch.uint8, device=data.device).unsqueeze(1)
    return data.unsqueeze(-2) >> shifts & (1 << width) - 1


def in_order(data: Tensor, width: int) -> Tensor:
    """``[count, bytes] -> [count, bytes * 8 / width]``: all `width` bits of the first byte, then of the next."""
    return planes(data, width).transpose(-1, -2).flatten(1)
