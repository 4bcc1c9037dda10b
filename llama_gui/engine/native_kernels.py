"""Our own matrix products, compiled from `native/kernels.c` when the package is installed.

They serve x86-64 CPUs for which torch has nothing fast: without AVX512 its products of eight bits repack the weight in
every call or saturate, those of half precision are emulated, and that of four bits reaches a quarter of the memory's
speed. Where the library was not compiled, does not load or adds up wrong, `load` says None, and torch's do.

OpenMP's threads are torch's own: both libraries use the same libgomp, so `torch.set_num_threads` counts for both.
"""

import ctypes
import logging
from dataclasses import dataclass

import torch
from torch import Tensor

from llama_gui.engine.int4_levels import GROUP
from llama_gui.paths import native_kernels

WIDTH_UNIT = 2 * GROUP
"""Weights of four bits come so many at a time: a width must be a multiple."""

_KINDS = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2}
_ROW_COUNTS = (1, 2, 3, 5, 8, 13, 40)
_POINTER, _SIZE, _INT = ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Int4Packed:
    """A weight ``[out, in]`` of four bits, `in` a multiple of `WIDTH_UNIT`; see `pack_int4`.

    ``value = level * step + low`` in whole numbers. `levels`: uint8 ``[out, in / 2]``. `steps` (uint8) and `lows`
    (int8): ``[out, in / GROUP]``.
    """

    levels: Tensor
    steps: Tensor
    lows: Tensor

    @property
    def width(self) -> int:
        """Of the weight."""
        return 2 * self.levels.shape[1]


def pack_int4(levels: Tensor, steps: Tensor, lows: Tensor) -> Int4Packed:
    """Levels from 0 to 15 ``[out, in]``, steps and lows ``[out, in / GROUP]``, of any dtype.

    The first of each pair of groups goes into the lower bits.
    """
    pairs = levels.to(torch.uint8).unflatten(1, (-1, 2, GROUP))
    packed = torch.bitwise_or(pairs[:, :, 0], pairs[:, :, 1] << 4).flatten(1)
    return Int4Packed(packed, steps.to(torch.uint8), lows.to(torch.int8))


class NativeKernels:
    """The compiled products. All tensors are on the CPU and contiguous; a row has the same bits in calls of any size.

    Results are ``[rows, out]``, and sums of whole numbers are exact before they are multiplied with the channel's
    scale (float32 ``[out]``) and rounded once. Each raises MemoryError where there is no room for what is copied.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._int8 = _function(
            library.llama_gui_int8, _POINTER, _SIZE, _SIZE, _POINTER, _SIZE, _POINTER, _POINTER, _INT
        )
        self._int4 = _function(
            library.llama_gui_int4,
            *(_POINTER, _SIZE, _SIZE),
            *(_POINTER, _POINTER, _POINTER, _SIZE),
            *(_POINTER, _POINTER, _INT),
        )
        self._expand = _function(library.llama_gui_int4_expand, _POINTER, _POINTER, _POINTER, _SIZE, _SIZE, _POINTER)
        self._half = _function(
            library.llama_gui_half, _POINTER, _SIZE, _SIZE, _POINTER, _INT, _SIZE, _POINTER, _POINTER
        )

    def int8(self, levels: Tensor, weight: Tensor, scales: Tensor, dtype: torch.dtype) -> Tensor:
        """Int8 ``[rows, in]`` from -127 to 127, times an int8 weight ``[out, in]``."""
        y = torch.empty(len(levels), len(weight), dtype=dtype)
        sizes = (len(levels), levels.shape[1], weight.data_ptr(), len(weight))
        _check(self._int8(levels.data_ptr(), *sizes, scales.data_ptr(), y.data_ptr(), _KINDS[dtype]))
        return y

    def int4(self, levels: Tensor, weight: Int4Packed, scales: Tensor, dtype: torch.dtype) -> Tensor:
        """Int8 ``[rows, in]`` from -127 to 127, times a weight of four bits."""
        y = torch.empty(len(levels), len(weight.levels), dtype=dtype)
        parts = (weight.levels.data_ptr(), weight.steps.data_ptr(), weight.lows.data_ptr(), len(weight.levels))
        sizes = (len(levels), levels.shape[1])
        _check(self._int4(levels.data_ptr(), *sizes, *parts, scales.data_ptr(), y.data_ptr(), _KINDS[dtype]))
        return y

    def expand(self, weight: Int4Packed, channels: slice) -> Tensor:
        """Some channels of a weight of four bits, written out in eight: ``[channels, in]``."""
        parts = (weight.levels[channels], weight.steps[channels], weight.lows[channels])
        y = torch.empty(len(parts[0]), weight.width, dtype=torch.int8)
        _check(self._expand(*(part.data_ptr() for part in parts), weight.width, len(y), y.data_ptr()))
        return y

    def half(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Float32 ``[rows, in]`` times a weight in bfloat16 or float16 ``[out, in]``, plus a float32 bias ``[out]``.

        All arithmetic is float32.
        """
        y = torch.empty(len(x), len(weight))
        sizes = (len(x), x.shape[1], weight.data_ptr(), _KINDS[weight.dtype], len(weight))
        _check(self._half(x.data_ptr(), *sizes, None if bias is None else bias.data_ptr(), y.data_ptr()))
        return y


def load() -> NativeKernels | None:
    """The kernels, tried; None: there are none here."""
    path = native_kernels()
    if path is None:
        return None
    try:
        library = ctypes.CDLL(str(path))
        kernels = NativeKernels(library) if library.llama_gui_can_run() else None
    except (OSError, AttributeError) as error:
        _log.warning("The kernels in %s cannot be loaded, torch's are used: %s", path, error)
        return None
    if kernels is not None and not adds_right(kernels):
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


def _function(function: "ctypes._FuncPointer", *arguments: type) -> "ctypes._FuncPointer":
    function.argtypes, function.restype = list(arguments), _INT
    return function


def _check(failed: int) -> None:
    if failed:
        raise MemoryError("no memory for a copy of the rows of a product")
