"""Blocks of quantised numbers -> float32. The same bits as `gguf.dequantize`; common kinds a few times as fast.

A block is a row of bytes that stands for 32 or 256 numbers which share scales. The layouts are those of ggml's
`ggml-common.h`. `blocks` are uint8 ``[count, bytes]``; the numbers come back as float32 ``[count, numbers]``.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from llama_gui.engine.gguf_bits import half, in_order, planes
from llama_gui.engine.gguf_grids import numbers_of_points

IQ4_NUMBERS = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
"""What the codes of IQ4_NL and IQ4_XS stand for: levels that lie closer around zero, where most weights are."""


def _q8_0(blocks: Tensor) -> Tensor:
    return blocks[:, 2:].view(torch.int8).float() * half(blocks[:, :2])


def _q4_0(blocks: Tensor) -> Tensor:
    numbers = planes(blocks[:, 2:], 4).flatten(1).to(torch.int8) - 8
    return numbers.float() * half(blocks[:, :2])


def _q4_1(blocks: Tensor) -> Tensor:
    return planes(blocks[:, 4:], 4).flatten(1).float() * half(blocks[:, :2]) + half(blocks[:, 2:4])


def _fives(high: Tensor, low: Tensor) -> Tensor:
    """``[count, 4]`` with the fifth bits, from the lowest on, and ``[count, 16]`` with the others: ``[count, 32]``."""
    return planes(low, 4).flatten(1) | in_order(high, 1) << 4


def _q5_0(blocks: Tensor) -> Tensor:
    return (_fives(blocks[:, 2:6], blocks[:, 6:]).to(torch.int8) - 16).float() * half(blocks[:, :2])


def _q5_1(blocks: Tensor) -> Tensor:
    return _fives(blocks[:, 4:8], blocks[:, 8:]).float() * half(blocks[:, :2]) + half(blocks[:, 2:4])


def scales_and_offsets(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """The eight scales and offsets of a block of Q4_K or Q5_K, ``[count, 8, 1]`` each: six bits, packed in 12 bytes."""
    low, high, both = blocks[:, 4:8], blocks[:, 8:12], blocks[:, 12:16]
    scales = torch.cat((low & 63, both & 15 | low >> 2 & 48), -1)
    offsets = torch.cat((high & 63, both >> 4 | high >> 2 & 48), -1)
    return (
        (half(blocks[:, :2]) * scales.float()).unsqueeze(-1),
        (half(blocks[:, 2:4]) * offsets.float()).unsqueeze(-1),
    )


def _q4_k(blocks: Tensor) -> Tensor:
    scales, offsets = scales_and_offsets(blocks)
    numbers = planes(blocks[:, 16:].unflatten(1, (4, 32)), 4).flatten(1, 2)
    return (numbers.float() * scales - offsets).flatten(1)


def _q5_k(blocks: Tensor) -> Tensor:
    scales, offsets = scales_and_offsets(blocks)
    fifth = planes(blocks[:, 16:48], 1)
    numbers = planes(blocks[:, 48:].unflatten(1, (4, 32)), 4).flatten(1, 2) | fifth << 4
    return (numbers.float() * scales - offsets).flatten(1)


def _q6_k(blocks: Tensor) -> Tensor:
    low = planes(blocks[:, :128].unflatten(1, (2, 64)), 4).reshape(-1, 8, 32)
    high = planes(blocks[:, 128:192].unflatten(1, (2, 32)), 2).flatten(1, 2)
    numbers = (low | high << 4).to(torch.int8) - 32
    scales = blocks[:, 192:208].view(torch.int8).float() * half(blocks[:, 208:])
    return (numbers.reshape(-1, 16, 16).float() * scales.unsqueeze(-1)).flatten(1)


def _quarters(data: Tensor) -> Tensor:
    """``[count, groups * 32] -> [count, groups * 8, 16]``: of each 32 bytes the lowest two bits, then the next ones."""
    return planes(data.unflatten(1, (-1, 32)), 2).flatten(1).unflatten(1, (-1, 16))


def _q2_k(blocks: Tensor) -> Tensor:
    scales = half(blocks[:, 80:82]) * (blocks[:, :16] & 15).float()
    offsets = half(blocks[:, 82:]) * (blocks[:, :16] >> 4).float()
    return (_quarters(blocks[:, 16:80]).float() * scales.unsqueeze(-1) - offsets.unsqueeze(-1)).flatten(1)


def _q3_k(blocks: Tensor) -> Tensor:
    low, high = planes(blocks[:, 96:104], 4), planes(blocks[:, 104:108], 2)
    scales = (low.flatten(1) | high.flatten(1) << 4).to(torch.int8) - 32
    thirds = planes(blocks[:, :32], 1).flatten(1).unflatten(1, (16, 16))
    numbers = (_quarters(blocks[:, 32:96]) | thirds << 2).to(torch.int8) - 4
    return (numbers.float() * (half(blocks[:, 108:]) * scales.float()).unsqueeze(-1)).flatten(1)


MXFP4_NUMBERS = (0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12)
"""The same for MXFP4, floats of four bits, each twice as large (OCP Microscaling Formats 1.0)."""


def _listed(nibbles: Tensor, numbers: tuple[int, ...] = IQ4_NUMBERS) -> Tensor:
    """The numbers that codes of four bits stand for."""
    return torch.tensor(numbers, dtype=torch.float32, device=nibbles.device)[nibbles.int()]


def _iq4_nl(blocks: Tensor) -> Tensor:
    return _listed(planes(blocks[:, 2:], 4).flatten(1)) * half(blocks[:, :2])


def _iq4_xs(blocks: Tensor) -> Tensor:
    scales = (in_order(blocks[:, 4:8], 4) | in_order(blocks[:, 2:4], 2) << 4).to(torch.int8)
    factors = half(blocks[:, :2]) * (scales - 32).float()
    return (_listed(planes(blocks[:, 8:].unflatten(1, (8, 16)), 4).flatten(2)) * factors.unsqueeze(-1)).flatten(1)


def mxfp4_scales(exponents: Tensor) -> Tensor:
    """Half of two to the power of the exponents of MXFP4's blocks, uint8 of any shape, as float32."""
    wide = exponents.int()
    return torch.where(wide < 2, 0x00200000 << wide, wide - 1 << 23).view(torch.float32)


def _mxfp4(blocks: Tensor) -> Tensor:
    numbers = _listed(planes(blocks[:, 1:], 4).flatten(1), MXFP4_NUMBERS)
    return numbers * mxfp4_scales(blocks[:, :1])


def _by_the_package(name: str) -> Callable[[Tensor], Tensor]:
    def dequantise(blocks: Tensor) -> Tensor:
        import gguf  # it takes a while, and few need it

        kind = gguf.GGMLQuantizationType[name]
        with np.errstate(all="ignore"):  # factors that are no numbers are found by who reads them
            return torch.from_numpy(gguf.dequantize(blocks.numpy(), kind))

    return dequantise


_OTHERS = {
    "IQ1_S": (50, 256),
    "IQ1_M": (56, 256),
    "TQ1_0": (54, 256),
    "TQ2_0": (66, 256),
}
"""Bytes and numbers of a block. Of these kinds the package makes 20 to 150 million numbers a second."""

_BLOCKS: dict[str, tuple[int, int, Callable[[Tensor], Tensor]]] = {
    "Q8_0": (34, 32, _q8_0),
    "Q4_0": (18, 32, _q4_0),
    "Q4_1": (20, 32, _q4_1),
    "Q5_0": (22, 32, _q5_0),
    "Q5_1": (24, 32, _q5_1),
    "Q4_K": (144, 256, _q4_k),
    "Q5_K": (176, 256, _q5_k),
    "Q6_K": (210, 256, _q6_k),
    "Q2_K": (84, 256, _q2_k),
    "Q3_K": (110, 256, _q3_k),
    "IQ4_NL": (18, 32, _iq4_nl),
    "IQ4_XS": (136, 256, _iq4_xs),
    "MXFP4": (17, 32, _mxfp4),
    "IQ2_XXS": (66, 256, partial(numbers_of_points, kind="IQ2_XXS")),
    "IQ2_XS": (74, 256, partial(numbers_of_points, kind="IQ2_XS")),
    "IQ2_S": (82, 256, partial(numbers_of_points, kind="IQ2_S")),
    "IQ3_XXS": (98, 256, partial(numbers_of_points, kind="IQ3_XXS")),
    "IQ3_S": (110, 256, partial(numbers_of_points, kind="IQ3_S")),
    **{name: (*shape, _by_the_package(name)) for name, shape in _OTHERS.items()},
}
_PLAIN = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}

KINDS = (*_PLAIN, *_BLOCKS)
"""The types of tensors that we read."""


FOUR_BITS = tuple(kind for kind, (size, numbers, _) in _BLOCKS.items() if 8 * size <= 5 * numbers)
"""Those of about four bits a number, or fewer."""

FEWER_BITS = tuple(kind for kind, (size, numbers, _) in _BLOCKS.items() if 8 * size < 4 * numbers)
"""Those of fewer than four: what four bits lose is little beside what they have lost."""


MXFP4_EXPONENTS = range(253)
"""Of blocks of MXFP4: 6, the largest number of four bits, times 2 to the power of the next one would be infinite."""

FACTORS = {
    "Q4_K": slice(0, 4),
    "Q5_K": slice(0, 4),
    "Q6_K": slice(208, 210),
    "Q4_0": slice(0, 2),
    "Q3_K": slice(108, 110),
    "IQ4_NL": slice(0, 2),
    "IQ4_XS": slice(0, 2),
    "Q2_K": slice(80, 84),
    "MXFP4": slice(0, 1),
}
"""Where a block has its numbers in half precision, of those kinds that are multiplied as they are; MXFP4 its exponent.
"""


def is_quantised(kind: str) -> bool:
    """Whether tensors of this type are dequantised when they are read."""
    return kind not in _PLAIN


def block_shape(kind: str) -> tuple[int, int]:
    """Bytes and numbers of a block of a quantised `kind`."""
    size, numbers, _ = _BLOCKS[kind]
    return size, numbers


def numbers_of(data: Tensor, kind: str) -> Tensor:
    """The numbers of whole blocks: uint8 ``[bytes] -> [numbers]``, in the file's dtype or in float32."""
    if kind in _PLAIN:
        return data.view(_PLAIN[kind])
    block_bytes, _, dequantise = _BLOCKS[kind]
    return dequantise(data.view(-1, block_bytes)).flatten()
