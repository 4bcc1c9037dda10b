"""Our own matrix products, compiled from `native/kernels.c` when the package is installed.

They are for x86-64 CPUs, for which torch has nothing as fast. Without AVX-512 torch's int8 products repack the weight
in every call or saturate, half precision is emulated, and the int4 product reaches a quarter of the memory's bandwidth;
with AVX-512 and VNNI torch's products take twice as long as ours to read a weight (measured on Zen 5), and with AMX
three times as long (measured on Emerald Rapids).
`native_library` loads them.

OpenMP's threads are torch's own: both libraries use the same libgomp, so `torch.set_num_threads` counts for both.
"""

import ctypes
import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.gguf_blocks import block_shape
from llama_gui.engine.gguf_grids import GRID_KINDS
from llama_gui.engine.packed_weights import (
    BLOCK_KINDS,
    BLOCK_NUMBERS,
    CHANNELS_TOGETHER,
    CODED_BYTES,
    CODES,
    PACKED_KINDS,
    PANEL_CHANNELS,
    PANEL_INPUTS,
    SEVEN_BITS,
    WIDTH_UNIT,
    BlocksPacked,
    CodedPanels,
    Int4Packed,
    Panels,
    check_channels,
    fits_panels,
    panel_count,
    width_unit,
)
from llama_gui.engine.weight_rows import WeightRows

SPAN_NUMBERS = 9
"""See `NativeKernels.attend`."""
LANES = 8
"""How many float32 numbers are computed together."""

DEQUANTISED_KINDS = ("Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q5_K", "Q6_K", "Q2_K", "Q3_K", "IQ4_NL", "IQ4_XS", "MXFP4")
"""Of a GGUF file; in the order of gguf_blocks.h."""

_KINDS = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2}
_CACHE_KINDS = {**_KINDS, torch.int8: 3}
_MOST, _WITHOUT_TILES = 3, 2
"""Of `llama_gui_use`: whatever this CPU can, and that but for AMX."""

_POINTER, _SIZE, _INT = ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int


class NativeKernels:
    """The compiled products. All tensors are on the CPU and contiguous; a row has the same bits in calls of any size.

    Results are ``[rows, out]``, and sums of whole numbers are exact before they are multiplied with the channel's
    scale (float32 ``[out]``) and rounded once. Each raises MemoryError where there is no room for what is copied.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._use = _function(library.llama_gui_use, _INT)
        self._most = _MOST
        self._used: int = self._use(_MOST)
        rows, weight, result = (_POINTER, _SIZE, _SIZE), (_POINTER, _SIZE), (_POINTER, _POINTER, _POINTER, _INT)
        self._int8 = _function(library.llama_gui_int8, *rows, *weight, *result)
        self._int4 = _function(library.llama_gui_int4, *rows, _POINTER, _POINTER, *weight, *result)
        parts = 4 * [_POINTER]
        self._blocks = _function(library.llama_gui_blocks, _INT, *rows, *parts, _SIZE, *result[1:])
        self._place_blocks = _function(library.llama_gui_place_blocks, _POINTER, _INT, _SIZE, _SIZE, *parts)
        self._round_blocks = _function(library.llama_gui_round_blocks, _POINTER, _INT, _SIZE, _SIZE, *parts)
        self._block_rows = _function(library.llama_gui_block_rows, _INT, _SIZE, *parts, _POINTER, _SIZE, _POINTER)
        self._expand = _function(library.llama_gui_int4_expand, *3 * [_POINTER], *3 * [_SIZE], _POINTER)
        self._int8_panels = _function(library.llama_gui_int8_panels, *rows, *weight, *result)
        codes = 4 * [_POINTER]
        self._codes = _function(library.llama_gui_codes, *rows, *codes, _SIZE, *result[:2])
        self._choose_codes = _function(library.llama_gui_choose_codes, *rows, *2 * [_POINTER])
        self._code_panels = _function(library.llama_gui_code_panels, *rows, *codes)
        self._coded_rows = _function(library.llama_gui_coded_rows, _SIZE, *codes, *weight, _POINTER)
        self._place_panels = _function(library.llama_gui_place_panels, _POINTER, _SIZE, _SIZE, _POINTER)
        self._half = _function(library.llama_gui_half, *rows, _POINTER, _INT, _SIZE, _POINTER, _POINTER)
        self._quantise = _function(library.llama_gui_quantise, _POINTER, _INT, _SIZE, _SIZE, _POINTER, _POINTER)
        self._dequantise = _function(library.llama_gui_dequantise, _POINTER, _INT, _SIZE, _POINTER)
        self._dequantise_grid = _function(library.llama_gui_dequantise_grid, *rows[:1], _INT, _SIZE, *2 * [_POINTER])
        self._int4_round = _function(library.llama_gui_int4_round, _POINTER, _INT, _SIZE, _SIZE, *4 * [_POINTER])
        self._mass = _function(library.llama_gui_mass, _POINTER, _SIZE, _POINTER)
        self._rank = _function(library.llama_gui_rank, _POINTER, _SIZE, ctypes.c_float, _SIZE, *3 * [_POINTER])
        self._norm = _function(library.llama_gui_norm, *rows, _POINTER, ctypes.c_double, _POINTER)
        self._gelu = _function(library.llama_gui_gelu, _POINTER, _SIZE, _POINTER, _POINTER)
        self._dots = _function(library.llama_gui_dots, *rows, *weight, _POINTER)
        self._delta = _function(library.llama_gui_delta, *5 * [_POINTER], _SIZE, _POINTER)
        self._mamba = _function(library.llama_gui_mamba, *3 * [_POINTER], _SIZE, *2 * [_POINTER], _SIZE, _POINTER)
        conversations = (_POINTER, _SIZE, _INT)
        given = (_POINTER, _SIZE)
        states = (_POINTER, _POINTER, _SIZE)
        self._layers = _function(
            library.llama_gui_layers, _POINTER, _SIZE, *rows[:2], _POINTER, *conversations, *given, *states
        )
        heads = (_POINTER, _SIZE)
        self._attend = _function(
            library.llama_gui_attend,
            *3 * heads,
            *4 * [_SIZE],
            ctypes.c_float,
            *heads,
            _SIZE,
            _INT,
            _POINTER,
            ctypes.c_float,
            _POINTER,
        )

    @property
    def is_wide(self) -> bool:
        """Whether this CPU has AVX-512 with VNNI, which multiplies 8-bit `Panels` as fast as other CPUs seven bits."""
        return self._used & 1 == 1

    @property
    def rounds_rows(self) -> bool:
        """Whether the CPU multiplies bfloat16. If so, rows that meet `CodedPanels` or caches are rounded to it."""
        return self._used & 2 == 2

    @property
    def has_tiles(self) -> bool:
        """Whether many rows are multiplied in AMX's registers."""
        return self._used & 8 == 8

    def keeps_blocks(self, dtype: torch.dtype, head_dim: int) -> bool:
        """Whether `attend` keeps 64 tokens among each other, as it multiplies them, in a cache of `dtype`.

        Then its capacity is a multiple of 64.
        """
        return dtype == torch.int8 or (dtype == torch.bfloat16 and self.rounds_rows and head_dim % 16 == 0)

    @property
    def adds_fours(self) -> bool:
        """Whether products in 256-bit registers use VNNI, as on Intel's desktop CPUs."""
        return self._used & 4 == 4

    @contextmanager
    def narrow(self, *, in_fours: bool = False) -> Iterator[None]:
        """Within this context use no 512-bit registers, as on older CPUs. For tests and benchmarks.

        `in_fours`: as on CPUs with AVX-VNNI, if this one can.
        """
        with self._limited(int(in_fours)):
            yield

    @contextmanager
    def without_tiles(self) -> Iterator[None]:
        """Within this context use no AMX. For tests and benchmarks."""
        with self._limited(_WITHOUT_TILES):
            yield

    @contextmanager
    def _limited(self, most: int) -> Iterator[None]:
        former, self._most = self._most, most
        self._used = self._use(self._most)
        try:
            yield
        finally:
            self._most = former
            self._used = self._use(former)

    def int8(
        self,
        levels: Tensor,
        weight: Tensor | Panels,
        scales: Tensor,
        dtype: torch.dtype,
        row_scales: Tensor | None = None,
    ) -> Tensor:
        """Int8 ``[rows, in]`` from -127 to 127, times an int8 weight ``[out, in]``, or, if `is_wide`, its panels.

        `row_scales`: float32 ``[rows]`` that the results are multiplied with, too.
        """
        if isinstance(weight, Panels):
            run, numbers, out, width = self._int8_panels, weight.numbers, weight.channels, weight.width
        else:
            run, numbers, (out, width) = self._int8, weight, weight.shape
        if levels.shape[1] != width:
            raise ValueError(f"rows of {levels.shape[1]} for a weight of {width}")
        y = torch.empty(len(levels), out, dtype=dtype)
        results = (scales.data_ptr(), _address(row_scales), y.data_ptr(), _KINDS[dtype])
        _check(run(levels.data_ptr(), len(levels), width, numbers.data_ptr(), out, *results))
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
        """Int8 ``[rows, in]`` from -127 to 127, times a weight in blocks; see `quantise_blocks`.

        The sums of a block are exact, those of a channel's blocks are added up in float32, one after the other.
        """
        width = weight.width
        if levels.shape[1] != width or width % width_unit(weight.kind):
            unit = width_unit(weight.kind)
            raise ValueError(f"rows of {levels.shape[1]} for a weight of {width}, a multiple of {unit}")
        y = torch.empty(len(levels), weight.channels, dtype=dtype)
        results = (weight.channels, scales.data_ptr(), y.data_ptr(), _KINDS[dtype])
        rows = (levels.data_ptr(), len(levels), width)
        _check(self._blocks(PACKED_KINDS.index(weight.kind), *rows, *_addresses(weight), *results))
        return y

    def quantise_blocks(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Int8 levels of ``[rows, width]``, and float32 scales of each block of `BLOCK_NUMBERS`; see `quantise`.

        llama.cpp rounds rows for such weights in the same way: an outlier affects only its own block.
        """
        width = x.shape[1]
        if width % BLOCK_NUMBERS:  # the last block is shorter
            x = F.pad(x, (0, -width % BLOCK_NUMBERS))
        levels, scales = self.quantise(x.contiguous().view(-1, BLOCK_NUMBERS))
        return levels.view(x.shape)[:, :width].contiguous(), scales.view(len(x), -1)

    def place_blocks(self, rows: Tensor, to: BlocksPacked, first: int = 0) -> None:
        """Lay out rows of whole blocks, uint8 ``[channels, bytes]``, as the channels of `to` from `first` on.

        `first` is a multiple of `CHANNELS_TOGETHER`.
        """
        size, numbers = block_shape(to.kind)
        row_bytes = to.width // numbers * size
        if rows.shape[1] != row_bytes or first % CHANNELS_TOGETHER or first + len(rows) > to.channels:
            raise ValueError(f"{list(rows.shape)} bytes from {first} on, for a weight [{to.channels}, {to.width}]")
        places = _addresses(to, first // CHANNELS_TOGETHER)
        _check(self._place_blocks(rows.data_ptr(), BLOCK_KINDS.index(to.kind), len(rows), to.width, *places))

    def round_blocks(self, weight: Tensor, to: BlocksPacked, first: int = 0) -> None:
        """Place `weight` ``[channels, in]``, rounded to `SEVEN_BITS`, at the channels of `to` from `first` on.

        The same numbers as those of `seven_bits.quantise`. `first` is a multiple of `CHANNELS_TOGETHER`.
        """
        fits = weight.shape[1] == to.width and first + len(weight) <= to.channels
        if to.kind != SEVEN_BITS or to.width % WIDTH_UNIT or first % CHANNELS_TOGETHER or not fits:
            raise ValueError(f"{list(weight.shape)} from {first} on, for {to.kind} [{to.channels}, {to.width}]")
        places = _addresses(to, first // CHANNELS_TOGETHER)
        _check(self._round_blocks(weight.data_ptr(), _KINDS[weight.dtype], *weight.shape, *places))

    def block_rows(self, weight: BlocksPacked, channels: Tensor) -> Tensor:
        """The numbers of some channels (int64 ``[count]``), the same bits as `dequantise`: ``[count, in]``.

        Raises:
            IndexError: there is no such channel.
        """
        check_channels(channels, weight.channels)
        y, channels = torch.empty(len(channels), weight.width), channels.contiguous()
        rows = (channels.data_ptr(), len(channels), y.data_ptr())
        _check(self._block_rows(PACKED_KINDS.index(weight.kind), weight.width, *_addresses(weight), *rows))
        return y

    def expand(self, weight: Int4Packed, channels: slice) -> Tensor:
        """Some channels of a weight of four bits, written out in eight: ``[channels, in]``."""
        first, end, _ = channels.indices(weight.channels)
        y = torch.empty(max(0, end - first), weight.width, dtype=torch.int8)
        parts = (weight.levels.data_ptr(), weight.steps.data_ptr(), weight.lows.data_ptr())
        _check(self._expand(*parts, weight.width, first, len(y), y.data_ptr()))
        return y

    def panels(self, weight: Tensor) -> Panels:
        """All of `weight`, int8 ``[out, in]``, laid out; see `fits_panels`."""
        panels = Panels.empty(*weight.shape)
        self.place_panels(weight, panels)
        return panels

    def place_panels(self, rows: Tensor, to: Panels, first: int = 0) -> None:
        """Lay out int8 ``[channels, in]`` as the channels of `to` from `first` on, a multiple of `PANEL_CHANNELS`."""
        fits = rows.dtype == to.numbers.dtype and rows.shape[1] == to.width and first + len(rows) <= to.channels
        if not fits or first % PANEL_CHANNELS:
            raise ValueError(f"{list(rows.shape)} from {first} on, for panels [{to.channels}, {to.width}]")
        place = to.numbers[first // PANEL_CHANNELS].data_ptr()
        _check(self._place_panels(rows.data_ptr(), len(rows), to.numbers.shape[1], place))

    def coded(self, weight: WeightRows) -> CodedPanels:
        """All of `weight` ``[out, in]``, as bfloat16; see `fits_panels`."""
        panels, width, strays, count = panel_count(weight.out), weight.width, list[Tensor](), 0
        if not fits_panels(width):
            raise ValueError(f"a weight of {width} inputs, which panels cannot have")
        pair_bytes = int(CODED_BYTES * PANEL_INPUTS * PANEL_CHANNELS)
        pairs = torch.empty(panels, width // PANEL_INPUTS, pair_bytes, dtype=torch.uint8)
        tables, begins = torch.empty(panels, CODES, dtype=torch.uint8), torch.empty(panels, dtype=torch.int32)
        for first, part in weight.placed(PANEL_CHANNELS):
            rows, some = part.to(torch.bfloat16), slice(first // PANEL_CHANNELS, panel_count(first + len(part)))
            numbers = (rows.data_ptr(), len(rows), width, tables[some].data_ptr())
            counts = torch.empty(some.stop - some.start, dtype=torch.int64)
            _check(self._choose_codes(*numbers, counts.data_ptr()))
            ends = (counts + 1).cumsum(0)  # one more for the end mark of each panel
            begins[some] = ends - counts - 1
            strays.append(torch.empty(int(ends[-1]), dtype=torch.int32))
            places = (begins[some].data_ptr(), pairs[some].data_ptr(), strays[-1].data_ptr())
            _check(self._code_panels(*numbers, *places))
            begins[some] += count
            count += len(strays[-1])
        return CodedPanels(weight.out, pairs, tables, begins, torch.cat(strays))

    def coded_rows(self, weight: CodedPanels, channels: Tensor) -> Tensor:
        """The original numbers of some channels (int64 ``[count]``): bfloat16 ``[count, in]``.

        Raises:
            IndexError: there is no such channel.
        """
        check_channels(channels, weight.channels)
        y, channels = torch.empty(len(channels), weight.width, dtype=torch.bfloat16), channels.contiguous()
        rows = (channels.data_ptr(), len(channels), y.data_ptr())
        _check(self._coded_rows(weight.width, *(part.data_ptr() for part in weight.tensors), *rows))
        return y

    def half(self, x: Tensor, weight: Tensor | CodedPanels, bias: Tensor | None) -> Tensor:
        """Float32 ``[rows, in]`` times a weight in bfloat16 or float16 ``[out, in]``, plus a float32 bias ``[out]``.

        All arithmetic is float32. Where the CPU `rounds_rows` and the weight is coded, rows are rounded to bfloat16
        first, as in a network of bfloat16, and numbers below 1.2e-38 count as zero.
        """
        width = weight.width if isinstance(weight, CodedPanels) else weight.shape[1]
        if x.dtype != torch.float32 or x.shape[1] != width:
            raise ValueError(f"rows of {x.shape[1]} in {x.dtype} for a weight of {width}")
        if isinstance(weight, CodedPanels):
            y = torch.empty(len(x), weight.channels)
            places = (*(part.data_ptr() for part in weight.tensors), weight.channels)
            _check(self._codes(x.data_ptr(), len(x), width, *places, _address(bias), y.data_ptr()))
            return y
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
        _check(self._dequantise(blocks.data_ptr(), DEQUANTISED_KINDS.index(kind), count, y.data_ptr()))
        return y

    def dequantise_grid(self, blocks: Tensor, kind: str, points: Tensor) -> Tensor:
        """The same for one of `gguf_grids.GRID_KINDS`; `points`: float32, as `gguf_grids.points_of` has them."""
        if points.shape != GRID_KINDS[kind]:
            raise ValueError(f"points {list(points.shape)} for {kind}, which has {list(GRID_KINDS[kind])}")
        block_bytes, numbers = block_shape(kind)
        count = len(blocks) // block_bytes
        y, which = torch.empty(count * numbers), list(GRID_KINDS).index(kind)
        _check(self._dequantise_grid(blocks.data_ptr(), which, count, points.data_ptr(), y.data_ptr()))
        return y

    def log_mass(self, logits: Tensor) -> float:
        """As ``torch.logsumexp``, of float32 ``[vocab]``; NaN or an infinity where that is one."""
        found = (ctypes.c_double * 3)()
        _check(self._mass(logits.data_ptr(), len(logits), ctypes.addressof(found)))
        largest, total, _ = found
        return largest + math.log(total) if total > 0 else largest + total

    def rank(
        self, logits: Tensor, temperature: float, count: int
    ) -> tuple[float, float, list[float], list[int]] | None:
        """Of float32 `logits` ``[vocab]``: `log_mass`, that of ``(logits - largest) / temperature``, and the `count`
        largest (fewer than 4,096), in order, with their places; of equal ones the first come first. None: they are
        not finite.
        """
        found, count = (ctypes.c_double * 3)(), min(count, len(logits))
        values, places = (ctypes.c_float * count)(), (ctypes.c_int32 * count)()
        results = map(ctypes.addressof, (values, places, found))
        _check(self._rank(logits.data_ptr(), len(logits), temperature, count, *results))
        largest, total, cooled = found
        if not 0 < total < math.inf:
            return None
        return largest + math.log(total), math.log(cooled), list(values), list(places)

    def attend(
        self,
        q: Tensor,
        k: Tensor | None,
        v: Tensor | None,
        spans: Tensor,
        layer: int,
        window: int = 0,
        dtype: torch.dtype = torch.float32,
        sinks: Tensor | None = None,
        cap: float | None = None,
        *,
        kv_heads: int = 0,
    ) -> Tensor:
        """Write new keys and values into caches, and attend to them and those before: float32 ``[rows, heads * dim]``.

        ``q [rows, heads, dim]``, ``k`` and ``v [rows, kv_heads, dim]`` are float32, their last two dimensions
        contiguous; `dim` is a multiple of `LANES`, at most 512. Without `k` nothing is written, and `kv_heads` says how
        many there are. `spans`: int64 ``[spans, 9]``, each a stretch of rows
        of one conversation: first row, rows, tokens before them, the addresses of its keys and values
        ``[layers, kv_heads, capacity, kept_width]`` of `dtype`, how many numbers a layer and a head of them take,
        how many of its last rows attend (others are not written in the result), and how many keys all of these see; 0:
        each sees those up to its own.
        `window`: how many tokens a row sees at most, 0 for all. `sinks`: float32 ``[heads]``, a score of each head
        that stands for no value. `cap`: scores are ``cap * tanh(score / cap)``.
        All arithmetic is float32, but where the CPU `rounds_rows`, `dtype` is bfloat16 and `dim` a multiple of sixteen,
        queries and the weights of the values are rounded to bfloat16 first. In int8, see `kv_cache.kept_width`, queries
        are rounded to eight bits and weights to sixteen, and multiplied exactly.
        """
        rows, heads, dim = q.shape
        if spans.shape[1] != SPAN_NUMBERS:
            raise ValueError(f"a span of {spans.shape[1]} numbers: it has {SPAN_NUMBERS}")
        y = torch.empty(rows, heads * dim)
        inputs = [at for one in (q, k, v) for at in ((None, 0) if one is None else (one.data_ptr(), one.stride(0)))]
        sizes = (heads, kv_heads if k is None else k.shape[1], dim, window)
        conversations = (spans.data_ptr(), len(spans), layer, _CACHE_KINDS[dtype])
        _check(self._attend(*inputs, *sizes, dim**-0.5, *conversations, _address(sinks), cap or 0.0, y.data_ptr()))
        return y

    def norm(self, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        """RMS norm of float32 ``[rows, width]``, its width a multiple of `LANES`, as between the parts of a layer."""
        x, y = x.contiguous(), torch.empty(x.shape)
        _check(self._norm(x.data_ptr(), *x.shape, weight.data_ptr(), eps, y.data_ptr()))
        return y

    def gelu(self, x: Tensor, by: Tensor | None = None) -> Tensor:
        """GELU of float32 as the hyperbolic tangent approximates it; with `by`, of the same shape, times those.

        The last dimension is a multiple of `LANES`.
        """
        if x.shape[-1] % LANES or (by is not None and by.shape != x.shape):
            raise ValueError(f"{tuple(x.shape)}, by {None if by is None else tuple(by.shape)}")
        x, by, y = x.contiguous(), by if by is None else by.contiguous(), torch.empty(x.shape)
        _check(self._gelu(x.data_ptr(), x.numel(), None if by is None else by.data_ptr(), y.data_ptr()))
        return y

    def dots(self, x: Tensor, weight: Tensor) -> Tensor:
        """Float32 ``[rows, in]`` times a weight of float32 ``[out, in]``, its width a multiple of `LANES`.

        As a layer multiplies the router of a mixture; slower than other products.
        """
        if x.shape[1] != weight.shape[1] or x.shape[1] % LANES:
            raise ValueError(f"rows of {x.shape[1]} for a weight of {weight.shape[1]}, a multiple of {LANES}")
        y = torch.empty(len(x), len(weight))
        _check(self._dots(x.data_ptr(), *x.shape, weight.data_ptr(), len(weight), y.data_ptr()))
        return y

    def delta(self, net: int, mixed: Tensor, rates: Tensor, pieces: Tensor, begins: Tensor, value_width: int) -> Tensor:
        """Send rows through a gated delta net: float32 ``[rows, value_width]``, see `GatedDeltaNet.read`.

        `net`: where it is described, see `NativeDeltaNet`. `pieces`, `begins`: see `StateSpans.table`.
        """
        mixed, y = mixed.contiguous(), torch.empty(len(mixed), value_width)
        _check(self._delta(net, mixed.data_ptr(), rates.data_ptr(), *_states((pieces, begins)), y.data_ptr()))
        return y

    def mamba(self, mamba: int, mixed: Tensor, rates: Tensor, pieces: Tensor, begins: Tensor, inner: int) -> Tensor:
        """Send rows through state spaces: float32 ``[rows, inner]``, see `Mamba.read`.

        `mamba`: where they are described, see `NativeMamba`. `pieces`, `begins`: see `StateSpans.table`.
        """
        mixed, y = mixed.clone(memory_format=torch.contiguous_format), torch.empty(len(mixed), inner)
        given = (mixed.data_ptr(), rates.data_ptr(), len(mixed))
        _check(self._mamba(mamba, *given, *_states((pieces, begins)), y.data_ptr()))
        return y

    def layers(
        self,
        passes: int,
        count: int,
        x: Tensor,
        turns: int,
        spans: Tensor,
        kept: torch.dtype,
        given: Tensor | None = None,
        states: tuple[Tensor, Tensor] | None = None,
    ) -> None:
        """Send float32 rows ``x [rows, hidden]`` through `count` whole layers, in place.

        `passes` and `turns`: where they are described, see `NativeLayers`. `spans` as in `attend`, for each part of the
        caches, which are of the dtype `kept`. `given`: float32 ``[rows, width]``, of which each layer gets some. Rows
        that attend come first in `x` then; where not all do, `count` is one. `states`: see `StateSpans.table`; None:
        no layer needs any.
        """
        conversations = (spans.data_ptr(), spans.shape[1], _CACHE_KINDS[kept])
        besides = (_address(given), 0 if given is None else given.shape[1])
        _check(self._layers(passes, count, x.data_ptr(), len(x), turns, *conversations, *besides, *_states(states)))


def _function(function: "ctypes._FuncPointer", *arguments: type) -> "ctypes._FuncPointer":
    function.argtypes, function.restype = list(arguments), _INT
    return function


def _states(table: tuple[Tensor, Tensor] | None) -> tuple[int | None, int | None, int]:
    """See `StateSpans.table`."""
    pieces, begins = table or (None, None)
    return _address(pieces), _address(begins), 0 if begins is None else len(begins) - 1


def _address(tensor: Tensor | None) -> int | None:
    return None if tensor is None else tensor.data_ptr()


def _addresses(weight: BlocksPacked, block: int = 0) -> list[int]:
    return [part.data_ptr() + block * part.stride(0) for part in weight.parts]


def _check(failed: int) -> None:
    if failed:
        raise MemoryError("no memory for a copy of the rows of a product")
