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
    size, matrix = dim & -dim, torch.ones(1, 1)
    while len(matrix) < size:
        matrix = torch.kron(torch.tensor([[1.0, 1.0], [1.0, -1.0]]), matrix)
    keys, values = (_numbers(part[layer], dim, is_key=part is slot.keys)[:count] for part in (slot.keys, slot.values))
    return (keys.unflatten(2, (-1, size)) @ matrix / size).flatten(2), values


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
