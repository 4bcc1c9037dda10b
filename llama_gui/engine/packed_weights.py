"""Weights in few bits as our own kernels multiply them: `CHANNELS_TOGETHER` channels lie side by side."""

from dataclasses import dataclass, replace
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.int4_levels import GROUP

WIDTH_UNIT = 2 * GROUP
"""Weights of four bits come so many at a time: a width must be a multiple."""

CHANNELS_TOGETHER = 8
"""Of a weight of four to seven bits."""

PANEL_CHANNELS = 32
"""Channels of a panel, see `Panels`."""

PANEL_INPUTS = 4
"""That lie together in panels of either kind: a width must be a multiple."""

_MOST_PANEL_INPUTS = 2**19
"""A stray has 17 bits for its pair, and the last of these numbers stands behind all; see `native/coded_panels.h`."""

CODES = 16
"""Upper bytes of a panel of `CodedPanels` that have one."""

CODED_BYTES = 1.5
"""Of a number there."""

_MOST_STRAYS = 1 / 256
"""Of all numbers: more cost what the codes save."""

BLOCK_KINDS = ("Q4_K", "Q5_K", "Q6_K", "Q4_0", "Q3_K", "IQ4_NL", "IQ4_XS", "Q2_K", "MXFP4")
"""What is multiplied as it lies in a GGUF file."""

SEVEN_BITS = "Q7_K"
"""Our own kind, named in the manner of the others; see `seven_bits.py`."""

PACKED_KINDS = (*BLOCK_KINDS, SEVEN_BITS)
"""In the order of blocks.h."""

OPERAND_FORMS = ("int8", "int8_panels", "int4", "bfloat16", "float16", "codes", *PACKED_KINDS)
"""In the order of layer.h."""

BLOCK_NUMBERS = 256
"""Of a block, which lies within a row of a weight; eight blocks of the file where those are smaller.

The last block of a row of MXFP4 and `SEVEN_BITS` may have fewer, a multiple of `WIDTH_UNIT`.
"""

_PART_BYTES = {
    "Q4_K": (128, 0, 16, 4),
    "Q5_K": (128, 32, 16, 4),
    "Q6_K": (128, 64, 16, 2),
    "Q4_0": (128, 0, 0, 16),
    "Q3_K": (64, 32, 16, 2),
    "IQ4_NL": (128, 0, 0, 16),
    "IQ4_XS": (128, 0, 8, 2),
    "Q2_K": (64, 0, 16, 4),
    "MXFP4": (128, 0, 0, 8),
    SEVEN_BITS: (256, 0, 8, 4),
}


@dataclass(frozen=True, slots=True)
class Int4Packed:
    """A weight ``[out, in]`` of four bits, `in` a multiple of `WIDTH_UNIT`; see `pack_int4`.

    ``value = level * step + low`` in whole numbers. `CHANNELS_TOGETHER` channels lie side by side, with zeros behind
    the last. `levels`: uint8 ``[blocks, in * 4]``. `steps` (uint8) and `lows` (int8): ``[blocks, in / 4]``.
    """

    channels: int
    levels: Tensor
    steps: Tensor
    lows: Tensor

    @property
    def width(self) -> int:
        """Of the weight."""
        return self.levels.shape[1] // 4

    @property
    def tensors(self) -> tuple[Tensor, Tensor, Tensor]:
        """All that it holds."""
        return self.levels, self.steps, self.lows

    @classmethod
    def empty(cls, channels: int, width: int) -> Self:
        """With room for a weight ``[channels, width]``."""
        blocks = -(-channels // CHANNELS_TOGETHER)
        return cls(
            channels,
            torch.empty(blocks, width * 4, dtype=torch.uint8),
            torch.empty(blocks, width // 4, dtype=torch.uint8),
            torch.empty(blocks, width // 4, dtype=torch.int8),
        )


@dataclass(frozen=True, slots=True)
class BlocksPacked:
    """A weight ``[out, in]`` as a GGUF file has it, nothing lost of it, or in seven bits.

    `in` is a multiple of `width_unit`, `kind` one of `PACKED_KINDS`. `parts`: uint8 ``[blocks of channels, bytes]``
    each, `CHANNELS_TOGETHER` channels side by side; what they are says `block_products.h`.
    """

    kind: str
    channels: int
    width: int
    parts: tuple[Tensor, ...]

    @classmethod
    def empty(cls, kind: str, channels: int, width: int) -> Self:
        """With room for a weight ``[channels, width]``."""
        blocks = -(-channels // CHANNELS_TOGETHER)
        sizes = (CHANNELS_TOGETHER * size for size in _row_bytes(kind, width))
        return cls(kind, channels, width, tuple(torch.empty(blocks, size, dtype=torch.uint8) for size in sizes))

    def leading(self, channels: int) -> Self:
        """The first `channels`, a multiple of `CHANNELS_TOGETHER`, in the same memory."""
        blocks = channels // CHANNELS_TOGETHER
        return replace(self, channels=channels, parts=tuple(part[:blocks] for part in self.parts))


@dataclass(frozen=True, slots=True)
class Panels:
    """A weight ``[channels, width]`` of eight bits as registers of 512 bits multiply it.

    `PANEL_CHANNELS` channels lie side by side, with zeros behind the last, and four inputs of each together. `numbers`:
    int8 ``[panels, width / 4, PANEL_CHANNELS, 4]``.
    """

    channels: int
    numbers: Tensor

    @property
    def width(self) -> int:
        """Of the weight."""
        return self.numbers.shape[1] * self.numbers.shape[3]

    @classmethod
    def empty(cls, channels: int, width: int) -> Self:
        """With room for a weight ``[channels, width]``; see `fits_panels`."""
        shape = (panel_count(channels), width // PANEL_INPUTS, PANEL_CHANNELS, PANEL_INPUTS)
        return cls(channels, torch.empty(shape, dtype=torch.int8))

    def leading(self, channels: int) -> Self:
        """The first `channels`, a multiple of `PANEL_CHANNELS`, in the same memory."""
        return type(self)(channels, self.numbers[: panel_count(channels)])

    def rows(self, channels: Tensor) -> Tensor:
        """The numbers of some channels (int64 ``[count]``): ``[count, width]``.

        Raises:
            IndexError: there is no such channel.
        """
        check_channels(channels, self.channels)
        lanes = self.numbers.view(torch.int32).squeeze(3)
        return lanes[channels // PANEL_CHANNELS, :, channels % PANEL_CHANNELS].view(torch.int8)


@dataclass(frozen=True, slots=True)
class CodedPanels:
    """A weight ``[channels, width]`` of bfloat16, nothing lost of it, in three quarters of its bytes.

    The upper byte of most numbers is one of `CODES` for the `PANEL_CHANNELS` channels of a panel, and held as a code of
    four bits; the others are strays. See `native/coded_panels.h` for where what lies, and for the source.

    `pairs`: uint8 ``[panels, width / 4, 192]``. `tables`: uint8 ``[panels, CODES]``. `begins`: int32 ``[panels]``, of
    each panel's `strays`: int32, in the order of their places, -1 behind the last.
    """

    channels: int
    pairs: Tensor
    tables: Tensor
    begins: Tensor
    strays: Tensor

    @property
    def width(self) -> int:
        """Of the weight."""
        return self.pairs.shape[1] * PANEL_INPUTS

    @property
    def tensors(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """All that it holds."""
        return self.pairs, self.tables, self.begins, self.strays

    def leading(self, channels: int) -> Self:
        """The first `channels`, a multiple of `PANEL_CHANNELS`, in the same memory."""
        panels = panel_count(channels)
        return type(self)(channels, self.pairs[:panels], self.tables[:panels], self.begins[:panels], self.strays)

    @property
    def has_many_strays(self) -> bool:
        """Whether the numbers themselves would take less, or be multiplied faster: those of no network known to us."""
        return len(self.strays) - len(self.begins) > _MOST_STRAYS * self.channels * self.width


@dataclass(frozen=True, slots=True)
class Operand:
    """A weight ``[channels, width]`` as our own kernels are told of it.

    `form`: one of `OPERAND_FORMS`. `parts`: what it lies in. `scales` (of whole numbers) and `bias`: float32
    ``[channels]``.
    """

    form: str
    channels: int
    width: int
    parts: tuple[Tensor, ...]
    scales: Tensor | None = None
    bias: Tensor | None = None


def check_channels(channels: Tensor, count: int) -> None:
    """IndexError where some of them (int64) are not among `count`."""
    if len(channels) and not 0 <= int(channels.min()) <= int(channels.max()) < count:
        raise IndexError(f"channels from {int(channels.min())} to {int(channels.max())} of {count}")


def panel_count(channels: int) -> int:
    """Panels of so many channels."""
    return -(-channels // PANEL_CHANNELS)


def fits_panels(width: int) -> bool:
    """Whether rows of `width` numbers can be laid out in `Panels`, or in `CodedPanels`."""
    return width % PANEL_INPUTS == 0 and width < _MOST_PANEL_INPUTS


def stays_as_it_is(kind: str, width: int) -> bool:
    """Whether rows of `width` numbers that a GGUF file holds as `kind` are multiplied as they lie there."""
    return kind in BLOCK_KINDS and width % width_unit(kind) == 0


def fits_seven_bits(width: int) -> bool:
    """Whether weights become `SEVEN_BITS`. Narrow ones lose less with eight bits and a scale for each channel."""
    return width % WIDTH_UNIT == 0 and width >= BLOCK_NUMBERS


def width_unit(kind: str) -> int:
    """What the width of a weight of one of `PACKED_KINDS` is a multiple of."""
    return WIDTH_UNIT if kind in ("MXFP4", SEVEN_BITS) else BLOCK_NUMBERS


def row_blocks(width: int) -> int:
    """Blocks of a row."""
    return -(-width // BLOCK_NUMBERS)


def block_bytes(kind: str, width: int = BLOCK_NUMBERS) -> float:
    """Bytes that a number of one of `PACKED_KINDS` takes in memory, in rows of `width`."""
    return sum(_row_bytes(kind, width)) / width


def _row_bytes(kind: str, width: int) -> list[int]:
    """Of each part. What blocks have, the last one, comes whole also where a block is shorter."""
    *parts, last = _PART_BYTES[kind]
    return [*(width * size // BLOCK_NUMBERS for size in parts), row_blocks(width) * last]


def pack_int4(levels: Tensor, steps: Tensor, lows: Tensor) -> Int4Packed:
    """Levels from 0 to 15 ``[out, in]``, steps and lows ``[out, in / GROUP]``, of any dtype.

    Four inputs of each channel lie together, and of each pair of groups the first one is in the lower bits.
    """
    out, width = levels.shape
    pairs = _padded(levels.to(torch.uint8)).unflatten(1, (-1, 2, GROUP))
    packed = torch.bitwise_or(pairs[:, :, 0], pairs[:, :, 1] << 4)
    fours = packed.view(torch.int32).unflatten(0, (-1, CHANNELS_TOGETHER))  # [blocks, 8, in / 64, 8]
    return Int4Packed(
        out,
        fours.permute(0, 2, 3, 1).contiguous().view(torch.uint8).view(-1, width * 4),
        _side_by_side(_padded(steps.to(torch.uint8))),
        _side_by_side(_padded(lows.to(torch.int8))),
    )


def _padded(rows: Tensor) -> Tensor:
    return F.pad(rows, (0, 0, 0, -len(rows) % CHANNELS_TOGETHER))


def _side_by_side(groups: Tensor) -> Tensor:
    pairs = groups.unflatten(1, (-1, 2)).unflatten(0, (-1, CHANNELS_TOGETHER))  # [blocks, 8, in / 64, 2]
    return pairs.transpose(1, 2).flatten(1).contiguous()
