"""Blocks whose numbers are points of a grid: IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS and IQ3_S.

A code stands for four or eight numbers at once, and their signs are kept apart. The grids are the `gguf` package's.
The numbers have the same bits as its own, and are made five to ten times as fast; by our kernels faster still. As in
`gguf_blocks.py`, `blocks` are uint8 ``[count, bytes]``, and float32 ``[count, 256]`` come back.
"""

from functools import cache

import torch
from torch import Tensor

from llama_gui.engine.gguf_bits import half, in_order

_NUMBERS = 256  # of a block

GRID_KINDS = {"IQ2_XXS": (256, 8), "IQ2_XS": (512, 8), "IQ2_S": (1024, 8), "IQ3_XXS": (256, 4), "IQ3_S": (512, 4)}
"""Their codes, and for how many numbers each stands; in the order of native/gguf_grids.h."""


@cache
def points_of(kind: str) -> Tensor:
    """What each code of one of `GRID_KINDS` stands for: float32 ``[codes, numbers]``."""
    from gguf import quants  # it takes a while, and few need it

    grid = getattr(quants, kind)
    grid.init_grid()
    return torch.from_numpy(grid.grid.reshape(GRID_KINDS[kind]).copy())


@cache
def _signs_of_bytes() -> Tensor:
    """Of each of its bits: float32 ``[256, 8]``, 1 or -1."""
    bits = torch.arange(256).unsqueeze(1) >> torch.arange(8) & 1
    return 1 - 2.0 * bits


@cache
def _signs_of_sevens() -> Tensor:
    """Of seven bits and one more, which makes the number of signs even: float32 ``[128, 8]``."""
    codes = torch.arange(128)
    ones = (codes.unsqueeze(1) >> torch.arange(7) & 1).sum(1)
    return _signs_of_bytes()[codes | (ones & 1) << 7]


def _placed(points: Tensor, codes: Tensor, signs: Tensor, factors: Tensor) -> Tensor:
    """Points of codes ``[count, codes]``, with signs ``[count, 32, 8]``, times a factor for each group."""
    numbers = points[codes.int()].view(signs.shape).mul_(signs)
    return numbers.view(*factors.shape, _NUMBERS // factors.shape[1]).mul_(factors.unsqueeze(-1)).flatten(1)


def _words(data: Tensor) -> Tensor:
    """Int32 of each four bytes, which begin where they like: those of a single block are contiguous there."""
    return data.clone(memory_format=torch.contiguous_format).view(torch.int32)


def _signs_and_steps(words: Tensor) -> tuple[Tensor, Tensor]:
    """Int32 ``[count, 8]``, each four signs of seven bits and a step of four: ``[count, 32, 8]`` and ``[count, 8]``."""
    signs = (words.unsqueeze(-1) >> torch.tensor([0, 7, 14, 21]) & 127).flatten(1)
    return _signs_of_sevens()[signs], 0.5 + (words >> 28 & 15).float()


def _iq2_xxs(blocks: Tensor, points: Tensor) -> Tensor:
    """32 bits of codes, four signs of seven bits and a step of four: all of it eight times."""
    signs, steps = _signs_and_steps(_words(blocks[:, 2:])[:, 1::2])
    codes = blocks[:, 2:].unflatten(1, (8, 8))[:, :, :4].flatten(1)
    return _placed(points, codes, signs, half(blocks[:, :2]) * steps * 0.25)


def _iq2_xs(blocks: Tensor, points: Tensor) -> Tensor:
    """Codes of nine bits beside signs of seven; a step for each 16 numbers."""
    words = blocks[:, 2:66].contiguous().view(torch.int16).int()
    factors = half(blocks[:, :2]) * (0.5 + in_order(blocks[:, 66:], 4).float()) * 0.25
    return _placed(points, words & 511, _signs_of_sevens()[words >> 9 & 127], factors)


def _iq2_s(blocks: Tensor, points: Tensor) -> Tensor:
    """Codes of ten bits, two of them apart; signs of eight; a step for each 16 numbers."""
    codes = blocks[:, 2:34].int() | in_order(blocks[:, 66:74], 2).int() << 8
    factors = half(blocks[:, :2]) * (0.5 + in_order(blocks[:, 74:], 4).float()) * 0.25
    return _placed(points, codes, _signs_of_bytes()[blocks[:, 34:66].int()], factors)


def _iq3_xxs(blocks: Tensor, points: Tensor) -> Tensor:
    """Codes of eight bits for four numbers each; four signs of seven bits and a step of four, eight times."""
    signs, steps = _signs_and_steps(_words(blocks[:, 66:]))
    return _placed(points, blocks[:, 2:66], signs, half(blocks[:, :2]) * steps * 0.5)


def _iq3_s(blocks: Tensor, points: Tensor) -> Tensor:
    """Codes of nine bits for four numbers each, one bit of them apart; signs of eight; a step for each 32 numbers."""
    codes = blocks[:, 2:66].int() | in_order(blocks[:, 66:74], 1).int() << 8
    factors = half(blocks[:, :2]) * (1 + 2 * in_order(blocks[:, 106:], 4)).float()
    return _placed(points, codes, _signs_of_bytes()[blocks[:, 74:106].int()], factors)


_READERS = {"IQ2_XXS": _iq2_xxs, "IQ2_XS": _iq2_xs, "IQ2_S": _iq2_s, "IQ3_XXS": _iq3_xxs, "IQ3_S": _iq3_s}


def numbers_of_points(blocks: Tensor, kind: str, points: Tensor | None = None) -> Tensor:
    """The numbers of blocks of one of `GRID_KINDS`. `points`: others than those of the kind, for trials."""
    return _READERS[kind](blocks, points_of(kind) if points is None else points)
