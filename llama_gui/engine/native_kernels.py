"""Our own matrix products, compiled from `native/kernels.c` when the package is installed.

They serve x86-64 CPUs for which torch has nothing fast: without AVX512 its products of eight bits repack the weight in
every call or saturate, those of half precision are emulated, and that of four bits reaches a quarter of the memory's
speed. Where the library was not compiled, does not load or adds up wrong, `load` says None, and torch's do.

OpenMP's threads are torch's own: both libraries use the same libgomp, so `torch.set_num_threads` counts for both.
"""

import ctypes
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.gguf_blocks import block_shape, numbers_of
from llama_gui.engine.int4_levels import GROUP, quantise
from llama_gui.paths import native_kernels

WIDTH_UNIT = 2 * GROUP
"""Weights of four bits come so many at a time: a width must be a multiple."""

CHANNELS_TOGETHER = 8
"""Of a weight of four bits."""

BLOCK_KINDS = ("Q4_K", "Q5_K", "Q6_K")
"""What is multiplied as it lies in a GGUF file; in the order of block_products.h."""

BLOCK_NUMBERS = 256
"""Of a block, which lies within a row of a weight."""

_PART_BYTES = {"Q4_K": (128, 0, 16, 4), "Q5_K": (128, 32, 16, 4), "Q6_K": (128, 64, 16, 2)}

LANES = 8
"""Numbers of float32 that are computed together."""

_BLOCKS = ("Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q5_K", "Q6_K")  # in the order of gguf_blocks.h
_KINDS = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2}
_ROW_COUNTS = (1, 2, 3, 5, 8, 13, 40)
_POINTER, _SIZE, _INT = ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int

_log = logging.getLogger(__name__)


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
    """A weight ``[out, in]`` as a GGUF file has it, nothing lost of it; `in` is a multiple of `BLOCK_NUMBERS`.

    `kind` is one of `BLOCK_KINDS`. `parts`: uint8 ``[blocks of channels, bytes]`` each, `CHANNELS_TOGETHER` channels
    side by side; what they are says `block_products.h`.
    """

    kind: str
    channels: int
    width: int
    parts: tuple[Tensor, ...]

    @classmethod
    def empty(cls, kind: str, channels: int, width: int) -> Self:
        """With room for a weight ``[channels, width]``."""
        blocks, of_channel = -(-channels // CHANNELS_TOGETHER), CHANNELS_TOGETHER * (width // BLOCK_NUMBERS)
        sizes = _PART_BYTES[kind]
        parts = tuple(torch.empty(blocks, of_channel * size, dtype=torch.uint8) for size in sizes)
        return cls(kind, channels, width, parts)


def block_bytes(kind: str) -> float:
    """Bytes that a number of one of `BLOCK_KINDS` takes in memory."""
    return sum(_PART_BYTES[kind]) / BLOCK_NUMBERS


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


class NativeKernels:
    """The compiled products. All tensors are on the CPU and contiguous; a row has the same bits in calls of any size.

    Results are ``[rows, out]``, and sums of whole numbers are exact before they are multiplied with the channel's
    scale (float32 ``[out]``) and rounded once. Each raises MemoryError where there is no room for what is copied.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        rows, weight, result = (_POINTER, _SIZE, _SIZE), (_POINTER, _SIZE), (_POINTER, _POINTER, _POINTER, _INT)
        self._int8 = _function(library.llama_gui_int8, *rows, *weight, *result)
        self._int4 = _function(library.llama_gui_int4, *rows, _POINTER, _POINTER, *weight, *result)
        parts = 4 * [_POINTER]
        self._blocks = _function(library.llama_gui_blocks, _INT, *rows, *parts, _SIZE, *result[1:])
        self._place_blocks = _function(library.llama_gui_place_blocks, _POINTER, _INT, _SIZE, _SIZE, *parts)
        self._block_rows = _function(library.llama_gui_block_rows, _INT, _SIZE, *parts, _POINTER, _SIZE, _POINTER)
        self._expand = _function(library.llama_gui_int4_expand, *3 * [_POINTER], *3 * [_SIZE], _POINTER)
        self._half = _function(library.llama_gui_half, *rows, _POINTER, _INT, _SIZE, _POINTER, _POINTER)
        self._quantise = _function(library.llama_gui_quantise, _POINTER, _INT, _SIZE, _SIZE, _POINTER, _POINTER)
        self._dequantise = _function(library.llama_gui_dequantise, _POINTER, _INT, _SIZE, _POINTER)
        self._int4_round = _function(library.llama_gui_int4_round, _POINTER, _INT, _SIZE, _SIZE, *4 * [_POINTER])
        self._gate = _function(library.llama_gui_gate, *rows, *4 * [_POINTER])
        heads = (_POINTER, _SIZE)
        self._attend = _function(
            library.llama_gui_attend, *3 * heads, *4 * [_SIZE], ctypes.c_float, *heads, _SIZE, _INT, _POINTER
        )

    def int8(
        self, levels: Tensor, weight: Tensor, scales: Tensor, dtype: torch.dtype, row_scales: Tensor | None = None
    ) -> Tensor:
        """Int8 ``[rows, in]`` from -127 to 127, times an int8 weight ``[out, in]``.

        `row_scales`: float32 ``[rows]`` that the results are multiplied with, too.
        """
        y = torch.empty(len(levels), len(weight), dtype=dtype)
        sizes = (len(levels), levels.shape[1], weight.data_ptr(), len(weight))
        results = (scales.data_ptr(), _address(row_scales), y.data_ptr(), _KINDS[dtype])
        _check(self._int8(levels.data_ptr(), *sizes, *results))
        return y

    def int4(
        self, levels: Tensor, weight: Int4Packed, scales: Tensor, dtype: torch.dtype, row_scales: Tensor | None = None
    ) -> Tensor:
        """Int8 ``[rows, in]`` from -127 to 127, times a weight of four bits; `row_scales` as in `int8`."""
        if levels.shape[1] != weight.width or weight.width % WIDTH_UNIT:
            raise ValueError(f"rows of {levels.shape[1]} for a weight of {weight.width}, a multiple of {WIDTH_UNIT}")
        y = torch.empty(len(levels), weight.channels, dtype=dtype)
        parts = (weight.levels.data_ptr(), weight.steps.data_ptr(), weight.lows.data_ptr(), weight.channels)
        results = (scales.data_ptr(), _address(row_scales), y.data_ptr(), _KINDS[dtype])
        _check(self._int4(levels.data_ptr(), len(levels), levels.shape[1], *parts, *results))
        return y

    def blocks(self, levels: Tensor, scales: Tensor, weight: BlocksPacked, dtype: torch.dtype) -> Tensor:
        """Int8 ``[rows, in]`` from -127 to 127, times a weight of a GGUF file; see `quantise_blocks`.

        The sums of a block are exact, those of a channel's blocks are added up in float32, one after the other.
        """
        width = weight.width
        if levels.shape[1] != width or width % BLOCK_NUMBERS:
            raise ValueError(f"rows of {levels.shape[1]} for a weight of {width}, a multiple of {BLOCK_NUMBERS}")
        y = torch.empty(len(levels), weight.channels, dtype=dtype)
        results = (weight.channels, scales.data_ptr(), y.data_ptr(), _KINDS[dtype])
        rows = (levels.data_ptr(), len(levels), width)
        _check(self._blocks(BLOCK_KINDS.index(weight.kind), *rows, *_addresses(weight), *results))
        return y

    def quantise_blocks(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Int8 levels of ``[rows, width]``, and float32 scales of each block of `BLOCK_NUMBERS`; see `quantise`.

        As llama.cpp rounds rows for such weights: an outlier spoils its own block only.
        """
        levels, scales = self.quantise(x.contiguous().view(-1, BLOCK_NUMBERS))
        return levels.view(x.shape), scales.view(len(x), -1)

    def place_blocks(self, rows: Tensor, to: BlocksPacked, first: int = 0) -> None:
        """Lay out rows of whole blocks, uint8 ``[channels, bytes]``, as the channels of `to` from `first` on.

        `first` is a multiple of `CHANNELS_TOGETHER`.
        """
        row_bytes = to.width // BLOCK_NUMBERS * block_shape(to.kind)[0]
        if rows.shape[1] != row_bytes or first % CHANNELS_TOGETHER or first + len(rows) > to.channels:
            raise ValueError(f"{list(rows.shape)} bytes from {first} on, for a weight [{to.channels}, {to.width}]")
        places = _addresses(to, first // CHANNELS_TOGETHER)
        _check(self._place_blocks(rows.data_ptr(), BLOCK_KINDS.index(to.kind), len(rows), to.width, *places))

    def block_rows(self, weight: BlocksPacked, channels: Tensor) -> Tensor:
        """The numbers of some channels (int64 ``[count]``), the same bits as `dequantise`: ``[count, in]``.

        Raises:
            IndexError: there is no such channel.
        """
        if len(channels) and not 0 <= int(channels.min()) <= int(channels.max()) < weight.channels:
            raise IndexError(f"channels from {int(channels.min())} to {int(channels.max())} of {weight.channels}")
        y, channels = torch.empty(len(channels), weight.width), channels.contiguous()
        rows = (channels.data_ptr(), len(channels), y.data_ptr())
        _check(self._block_rows(BLOCK_KINDS.index(weight.kind), weight.width, *_addresses(weight), *rows))
        return y

    def expand(self, weight: Int4Packed, channels: slice) -> Tensor:
        """Some channels of a weight of four bits, written out in eight: ``[channels, in]``."""
        first, end, _ = channels.indices(weight.channels)
        y = torch.empty(max(0, end - first), weight.width, dtype=torch.int8)
        parts = (weight.levels.data_ptr(), weight.steps.data_ptr(), weight.lows.data_ptr())
        _check(self._expand(*parts, weight.width, first, len(y), y.data_ptr()))
        return y

    def half(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Float32 ``[rows, in]`` times a weight in bfloat16 or float16 ``[out, in]``, plus a float32 bias ``[out]``.

        All arithmetic is float32.
        """
        if x.dtype != torch.float32 or x.shape[1] != weight.shape[1]:
            raise ValueError(f"rows of {x.shape[1]} in {x.dtype} for a weight of {weight.shape[1]}")
        y = torch.empty(len(x), len(weight))
        sizes = (len(x), x.shape[1], weight.data_ptr(), _KINDS[weight.dtype], len(weight))
        _check(self._half(x.data_ptr(), *sizes, _address(bias), y.data_ptr()))
        return y

    def quantise(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Int8 levels of ``[rows, width]``, and a float32 scale for each row ``[rows]``; see `quantise_rows`.

        A row that holds NaN or infinity gets NaN for its scale.
        """
        levels, scales = torch.empty(x.shape, dtype=torch.int8), torch.empty(len(x))
        self.quantise_into(x, levels, scales)
        return levels, scales

    def quantise_into(self, x: Tensor, levels: Tensor, scales: Tensor) -> None:
        """As `quantise`, into int8 ``[rows, width]`` and float32 ``[rows]``."""
        _check(self._quantise(x.data_ptr(), _KINDS[x.dtype], *x.shape, levels.data_ptr(), scales.data_ptr()))

    def round_int4(self, weight: Tensor, to: Int4Packed, scales: Tensor, first: int = 0) -> None:
        """Place `weight` ``[channels, in]``, rounded, at the channels of `to` and `scales` from `first` on.

        `scales` are float32 ``[out]``, `first` is a multiple of `CHANNELS_TOGETHER`. The same numbers as those of
        `int4_levels.quantise`.
        """
        if weight.shape[1] != to.width or first % CHANNELS_TOGETHER or first + len(weight) > to.channels:
            raise ValueError(f"{list(weight.shape)} from {first} on, for a weight [{to.channels}, {to.width}]")
        block = first // CHANNELS_TOGETHER
        places = (to.levels[block], to.steps[block], to.lows[block], scales[first])
        addresses = [place.data_ptr() for place in places]
        _check(self._int4_round(weight.data_ptr(), _KINDS[weight.dtype], *weight.shape, *addresses))

    def dequantise(self, blocks: Tensor, kind: str) -> Tensor:
        """The numbers of whole blocks of a quantised `kind`, the same as those of `gguf_blocks.numbers_of`."""
        block_bytes, numbers = block_shape(kind)
        count = len(blocks) // block_bytes
        y = torch.empty(count * numbers)
        _check(self._dequantise(blocks.data_ptr(), _BLOCKS.index(kind), count, y.data_ptr()))
        return y

    def gate(self, x: Tensor) -> Tensor:
        """``silu(gate) * up`` of gate and up side by side: float32 ``[rows, 2 * width] -> [rows, width]``."""
        y = torch.empty(len(x), x.shape[1] // 2)
        _check(self._gate(x.data_ptr(), *y.shape, None, None, None, y.data_ptr()))
        return y

    def gate_levels(self, x: Tensor, row_scales: Tensor) -> tuple[Tensor, Tensor]:
        """``silu(gate * row_scale) * up`` of ``[rows, 2 * width]``, quantised as by `quantise`."""
        levels, scales = torch.empty(len(x), x.shape[1] // 2, dtype=torch.int8), torch.empty(len(x))
        addresses = (row_scales.data_ptr(), levels.data_ptr(), scales.data_ptr(), None)
        _check(self._gate(x.data_ptr(), *levels.shape, *addresses))
        return levels, scales

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        spans: Tensor,
        layer: int,
        window: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Write new keys and values into caches, and attend to them and those before: float32 ``[rows, heads * dim]``.

        ``q [rows, heads, dim]``, ``k`` and ``v [rows, kv_heads, dim]`` are float32, their last two dimensions
        contiguous; `dim` is a multiple of `LANES`, at most 256. `spans`: int64 ``[spans, 7]``, each a stretch of rows
        of one conversation: first row, rows, tokens before them, the addresses of its keys and values
        ``[layers, kv_heads, capacity, dim]`` of `dtype`, and how many numbers a layer and a head of them take.
        `window`: how many tokens a row sees at most, 0 for all. All arithmetic is float32.
        """
        rows, heads, dim = q.shape
        y = torch.empty(rows, heads * dim)
        inputs = (q.data_ptr(), q.stride(0), k.data_ptr(), k.stride(0), v.data_ptr(), v.stride(0))
        sizes = (heads, k.shape[1], dim, window)
        conversations = (spans.data_ptr(), len(spans), layer, _KINDS[dtype])
        _check(self._attend(*inputs, *sizes, dim**-0.5, *conversations, y.data_ptr()))
        return y


def load() -> NativeKernels | None:
    """The kernels, tried once for each file that they come from; None: there are none here."""
    path = native_kernels()
    try:
        return None if path is None else _tried(path, path.stat().st_mtime_ns)
    except FileNotFoundError:  # it is being compiled anew
        return None


@cache
def _tried(path: Path, _changed: int) -> NativeKernels | None:
    try:
        library = ctypes.CDLL(str(path))
        kernels = NativeKernels(library) if library.llama_gui_can_run() else None
    except (OSError, AttributeError) as error:
        _log.warning("The kernels in %s cannot be loaded, torch's are used: %s", path, error)
        return None
    if kernels is not None and not (adds_right(kernels) and attends_right(kernels)):
        _log.warning("The kernels in %s add up wrong on this machine, torch's are used.", path)
        return None
    return kernels


def adds_right(kernels: NativeKernels) -> bool:
    """Whether the largest numbers that there are, and others, are multiplied as they should be."""
    generator = torch.Generator().manual_seed(0)

    def whole(low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high + 1, shape, generator=generator)

    x, out, width = whole(-127, 127, max(_ROW_COUNTS), 1152), 37, 1152
    weight, scales = whole(-128, 127, out, width), torch.rand(out, generator=generator)
    x[0], x[1], weight[0], weight[1] = 127, -127, -128, 127
    steps, lows = whole(1, 17, out, width // GROUP), whole(-128, 0, out, width // GROUP)
    lows = torch.minimum(lows, 127 - 15 * steps)
    small = whole(0, 15, out, width)
    written = torch.addcmul(lows.unsqueeze(2), small.unflatten(1, (-1, GROUP)), steps.unsqueeze(2)).flatten(1)
    packed, levels = pack_int4(small, steps, lows), x.to(torch.int8)
    int8, floats = weight.to(torch.int8), torch.randn(len(x), width, generator=generator)
    wants = [(x.double() @ w.double().t()).float() * scales for w in (weight, written)]
    halves = [torch.randn(out, width, generator=generator).to(dtype) for dtype in (torch.bfloat16, torch.float16)]
    if not all(_rounds_right(kernels, half) for half in halves):
        return False
    if not all(_dequantises_right(kernels, kind) for kind in _BLOCKS):
        return False
    if not all(_multiplies_blocks_right(kernels, kind) for kind in BLOCK_KINDS):
        return False
    sums = [kernels.half(floats, half, scales) for half in halves]
    if not torch.equal(kernels.expand(packed, slice(None)).long(), written):
        return False
    exact = [floats.double() @ half.double().t() + scales.double() for half in halves]
    if any((got - want).abs().max() > 1e-3 for got, want in zip(sums, exact, strict=True)):
        return False
    return all(
        torch.equal(kernels.int8(levels[:rows], int8, scales, torch.float32), wants[0][:rows])
        and torch.equal(kernels.int4(levels[:rows], packed, scales, torch.float32), wants[1][:rows])
        and all(
            torch.equal(kernels.half(floats[:rows], half, scales), sum_[:rows])
            for half, sum_ in zip(halves, sums, strict=True)
        )
        for rows in _ROW_COUNTS
    )


def _rounds_right(kernels: NativeKernels, weight: Tensor) -> bool:
    found = quantise(weight.float())
    want, got = pack_int4(found.levels, found.steps, found.lows), Int4Packed.empty(*weight.shape)
    scales = torch.empty(len(weight))
    kernels.round_int4(weight, got, scales)
    pairs = zip((scales, *got.tensors), (found.scales, *want.tensors), strict=True)
    return all(torch.equal(ours, theirs) for ours, theirs in pairs)


def _dequantises_right(kernels: NativeKernels, kind: str) -> bool:
    size = 40 * block_shape(kind)[0]
    blocks = torch.randint(256, (size,), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    ours, theirs = kernels.dequantise(blocks, kind), numbers_of(blocks, kind)
    return torch.equal(ours.nan_to_num(), theirs.nan_to_num())


def _multiplies_blocks_right(kernels: NativeKernels, kind: str) -> bool:
    generator = torch.Generator().manual_seed(0)
    out, width, size = 37, 3 * BLOCK_NUMBERS, block_shape(kind)[0]
    blocks = torch.randint(256, (out, width // BLOCK_NUMBERS, size), dtype=torch.uint8, generator=generator)
    blocks[0] = 255  # the largest sums
    factors = torch.rand(*blocks.shape[:2], 2, generator=generator).half().view(torch.uint8)
    places = slice(208, 210) if kind == "Q6_K" else slice(0, 4)
    blocks[..., places] = factors[..., : places.stop - places.start]
    packed, rows = BlocksPacked.empty(kind, out, width), blocks.flatten(1)
    kernels.place_blocks(rows, packed)
    values = numbers_of(rows.flatten(), kind).view(out, width)
    if not torch.equal(kernels.block_rows(packed, torch.arange(out)), values):
        return False
    x = torch.randint(-127, 128, (max(_ROW_COUNTS), width), generator=generator).to(torch.int8)
    x[0], x[1] = 127, -127
    scales = torch.rand(len(x), width // BLOCK_NUMBERS, generator=generator)
    scaled = x.double() * scales.double().repeat_interleave(BLOCK_NUMBERS, 1)
    whole = kernels.blocks(x, scales, packed, torch.float32)
    room = 1e-6 * (scaled.abs() @ values.double().abs().t())
    return bool(((whole - scaled @ values.double().t()).abs() <= room).all()) and all(
        torch.equal(kernels.blocks(x[:count], scales[:count], packed, torch.float32), whole[:count])
        for count in _ROW_COUNTS
    )


def attends_right(kernels: NativeKernels) -> bool:
    """Whether rows are quantised, gated and attended to as torch does it, and alike in every cut of a conversation."""
    generator = torch.Generator().manual_seed(0)
    rows, (heads, kv_heads, dim), window = 300, (4, 2, 72), 90
    x = torch.randn(5, 2 * 64, generator=generator)
    levels, scales = kernels.quantise(x)
    gated = F.silu(x[:, :64]) * x[:, 64:]
    gated_levels, gated_scales = kernels.gate_levels(x, torch.ones(5))
    if (levels * scales.unsqueeze(1) - x).abs().max() > 0.51 * scales.max():
        return False
    if not torch.allclose(kernels.gate(x), gated, atol=1e-5):
        return False
    if (gated_levels * gated_scales.unsqueeze(1) - gated).abs().max() > 0.51 * gated_scales.max():
        return False

    q, k, v = (torch.randn(rows, count, dim, generator=generator) for count in (heads, kv_heads, kv_heads))
    places = torch.arange(rows)
    behind = places.unsqueeze(1) - places
    for size in (0, window):
        mask = (behind >= 0) & (behind < (size or rows))
        want = F.scaled_dot_product_attention(
            *(part.transpose(0, 1) for part in (q, k, v)), attn_mask=mask, enable_gqa=True
        )
        for dtype, error in ((torch.float32, 1e-5), (torch.bfloat16, 0.05), (torch.float16, 0.01)):
            whole = _attend_in_pieces(kernels, (q, k, v), [rows], size, dtype)
            if not torch.allclose(whole, want.transpose(0, 1).flatten(1), atol=error):
                return False
            if not torch.equal(_attend_in_pieces(kernels, (q, k, v), [1, 250, 17, *32 * [1]], size, dtype), whole):
                return False
    return True


def _attend_in_pieces(
    kernels: NativeKernels, qkv: tuple[Tensor, Tensor, Tensor], pieces: Sequence[int], window: int, dtype: torch.dtype
) -> Tensor:
    q, k, v = qkv
    keys, values = torch.zeros(2, *k.transpose(0, 1).shape, dtype=dtype)
    done, parts = 0, list[Tensor]()
    for length in pieces:
        span = torch.tensor([[0, length, done, keys.data_ptr(), values.data_ptr(), 0, keys.stride(0)]])
        some = slice(done, done + length)
        parts.append(kernels.attend(q[some], k[some], v[some], span, 0, window, dtype))
        done += length
    return torch.cat(parts)


def _function(function: "ctypes._FuncPointer", *arguments: type) -> "ctypes._FuncPointer":
    function.argtypes, function.restype = list(arguments), _INT
    return function


def _address(tensor: Tensor | None) -> int | None:
    return None if tensor is None else tensor.data_ptr()


def _addresses(weight: BlocksPacked, block: int = 0) -> list[int]:
    return [part.data_ptr() + block * part.stride(0) for part in weight.parts]


def _check(failed: int) -> None:
    if failed:
        raise MemoryError("no memory for a copy of the rows of a product")
