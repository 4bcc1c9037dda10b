"""What slots hold of the heads of keys and values, as numbers again."""

import torch
from torch import Tensor

from llama_gui.engine.kv_cache import Slot, kept_width

TOGETHER = 64  # tokens of a block in int8


def kept_heads(slot: Slot, count: int, dim: int, layer: int = 0) -> tuple[Tensor, Tensor]:
    """Keys and values of the first tokens, float32 ``[count, kv_heads, dim]``."""
    if slot.keys.dtype != torch.int8:
        keys, values = (part[layer, :, :count].transpose(0, 1).float() for part in (slot.keys, slot.values))
        return keys, values
    keys, values = (_numbers(part[layer], dim, is_key=part is slot.keys)[:count] for part in (slot.keys, slot.values))
    return mixed(keys) / (dim & -dim), values


def mixed(heads: Tensor) -> Tensor:
    """``[..., dim]`` times Hadamard matrices as large as they fit; twice is a multiple of what it was."""
    dim, matrix = heads.shape[-1], torch.ones(1, 1)
    while len(matrix) < dim & -dim:
        matrix = torch.kron(torch.tensor([[1.0, 1.0], [1.0, -1.0]]), matrix)
    return (heads.unflatten(-1, (-1, len(matrix))) @ matrix).flatten(-2)


def rounded_queries(heads: Tensor) -> Tensor:
    """As they meet keys in int8."""
    several = mixed(heads)
    step = several.abs().amax(-1, keepdim=True) / 127
    return mixed((several / step).round() * step) / (heads.shape[-1] & -heads.shape[-1])


def _numbers(part: Tensor, dim: int, *, is_key: bool) -> Tensor:
    """Keys are mixed by a Hadamard matrix still: ``[kv_heads, capacity, kept_width] -> [capacity, kv_heads, dim]``."""
    assert part.shape[2] == kept_width(dim, torch.int8)
    blocks = part.contiguous().view(torch.uint8).view(len(part), -1, TOGETHER * part.shape[2])
    levels = blocks[:, :, : TOGETHER * dim].float() - 128
    scales = blocks[:, :, TOGETHER * dim :].contiguous().view(torch.float32)
    if is_key:
        levels = levels.unflatten(2, (dim // 4, TOGETHER, 4)).transpose(2, 3)
    else:
        levels = levels.unflatten(2, (TOGETHER // 4, dim, 4)).transpose(3, 4)
    numbers = levels.reshape(*blocks.shape[:2], TOGETHER, dim) * scales.unsqueeze(3)
    return numbers.flatten(1, 2).transpose(0, 1)
