"""What slots hold of the heads of keys and values, as numbers again."""

import torch
from torch import Tensor

from llama_gui.engine import native_library
from llama_gui.engine.kv_cache import Slot, kept_width

TOGETHER = 64  # tokens of a block


def lies_in_blocks(dtype: torch.dtype, dim: int) -> bool:
    """Whether our kernels, as they run now, keep heads of this width so."""
    kernels = native_library.load()
    return kernels is not None and kernels.keeps_blocks(dtype, dim)


def kept_heads(slot: Slot, count: int, dim: int, layer: int = 0) -> tuple[Tensor, Tensor]:
    """Keys and values of the first tokens, float32 ``[count, kv_heads, dim]``."""
    if slot.keys.dtype != torch.int8:
        keys, values = slot.keys[layer], slot.values[layer]
        if lies_in_blocks(slot.keys.dtype, dim):
            keys, values = (_unpaired(part, is_key=part is keys) for part in (keys, values))
        return keys[:, :count].transpose(0, 1).float(), values[:, :count].transpose(0, 1).float()
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


def _unpaired(part: Tensor, *, is_key: bool) -> Tensor:
    """Keys lie in pairs of numbers, values in pairs of tokens: ``[kv_heads, capacity, dim]``, as if they did not."""
    heads, capacity, dim = part.shape
    if is_key:
        return part.reshape(heads, -1, dim // 2, TOGETHER, 2).transpose(2, 3).reshape(heads, capacity, dim)
    return part.reshape(heads, -1, TOGETHER // 2, dim, 2).transpose(3, 4).reshape(heads, capacity, dim)


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
