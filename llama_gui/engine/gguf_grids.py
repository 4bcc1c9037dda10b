"""Blocks whose numbers are points of a grid: IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS and IQ3_S.

A code stands for four or eight numbers at once, and their signs are kept apart. The grids are the `gguf` package's.
The numbers have the same bits as its own, and are made five to ten times as fast. As in `gguf_blocks.py`, `blocks` are
uint8 ``[count, bytes]``, and float32 ``[count, 256]`` come back.
"""

from functools import cache

import numpy as np
import torch
from torch import Tensor

from llama_gui.engine.gguf_bits import half, in_order


@cache
def _grid(name: str) -> Tensor:
    """What each code of a kind stands for: float32 ``[codes, numbers]``."""
    from gguf import quants  # it takes a while, and few need it

    kind = getattr(quants, name)
    kind.init_grid()
    return torch.from_numpy(kind.grid.reshape(kind.grid_shape).copy())


@cache
def _signs_of_bytes() -> Tensor:
    """Of each of its bits: float32 ``[256, 8]``, 1 or -1."""
    bits = torch.arange(256).unsqueeze(1) >> torch.arange(8) & 1
    return 1 - 2.0 * bits


@cache
def _signs_of_sevens() -> Tensor:
    """Of seven bits and one more, which makes the number of signs even: float32 ``[128, 8]``."""
    from gguf import quants

    return _signs_of_bytes()[torch.from_numpy(np.frombuffer(quants.IQ2_XXS.ksigns, np.uint8).astype(np.int64))]


def _placed(name: str, codes: Tensor, signs: Tensor, factors: Tensor) -> Tensor:
    """The points of codes ``[count, codes]``, with signs ``[count, 32, 8]``, times a factor for each group."""
    numbers = _grid(name)[codes.int()].view(signs.shape).mul_(signs)
    return numbers.view(*factors.shape, -1).mul_(factors.unsqueeze(-1)).flatten(1)


def _signs_and_steps(words: Tensor) -> tuple[Tensor, Tensor]:
    """Int32 ``[count, 8]``, each four signs of seven bits and a step of four: ``[count, 32, 8]`` and ``[count, 8]``."""
    signs = (words.unsqueeze(-1) >> torch.tensor([0, 7, 14, 21]) & 127).flatten(1)
    return _signs_of_sevens()[signs], 0.5 + (words >> 28 & 15).float()


def iq2_xxs(blocks: Tensor) -> Tensor:
    """32 bits of codes, four signs of seven bits and a step of four: all of it eight times."""
    signs, steps = _signs_and_steps(blocks[:, 2:].contiguous().view(torch.int32)[:, 1::2])
    codes = blocks[:, 2:].unflatten(1, (8, 8))[:, :, :4].flatten(1)
    return _placed("IQ2_XXS", codes, signs, half(blocks[:, :2]) * steps * 0.25)


def iq2_xs(blocks: Tensor) -> Tensor:
    """Codes of nine bits beside signs of seven; a step for each 16 numbers."""
    words = blocks[:, 2:66].contiguous().view(torch.int16).int()
    factors = half(blocks[:, :2]) * (0.5 + in_order(blocks[:, 66:], 4).float()) * 0.25
    return _placed("IQ2_XS", words & 511, _signs_of_sevens()[words >> 9 & 127], factors)


def iq2_s(blocks: Tensor) -> Tensor:
    """Codes of ten bits, two of them apart; signs of eight; a step for each 16 numbers."""
    codes = blocks[:, 2:34].int() | in_order(blocks[:, 66:74], 2).int() << 8
    factors = half(blocks[:, :2]) * (0.5 + in_order(blocks[:, 74:], 4).float()) * 0.25
    return _placed("IQ2_S", codes, _signs_of_bytes()[blocks[:, 34:66].int()], factors)


def iq3_xxs(blocks: Tensor) -> Tensor:
    """Codes of eight bits for four numbers each; four signs of seven bits and a step of four, eight times."""
    signs, steps = _signs_and_steps(blocks[:, 66:].contiguous().view(torch.int32))
    return _placed("IQ3_XXS", blocks[:, 2:66], signs, half(blocks[:, :2]) * steps * 0.5)


def iq3_s(blocks: Tensor) -> Tensor:
    """Codes of nine bits for four numbers each, one bit of them apart; signs of eight; a step for each 32 numbers."""
    codes = blocks[:, 2:66].int() | in_order(blocks[:, 66:74], 1).int() << 8
    factors = half(blocks[:, :2]) * (1 + 2 * in_order(blocks[:, 106:], 4)).float()
    return _placed("IQ3_S", codes, _signs_of_bytes()[blocks[:, 74:106].int()], factors)
