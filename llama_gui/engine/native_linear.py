"""Linears over our own kernels: weights of eight and four bits, and of half precision with float32 around them.

A row has the same bits in calls of any size: see `native/kernels.c`.
"""

from abc import abstractmethod

import torch
from torch import Tensor

from llama_gui.engine.apart import try_apart
from llama_gui.engine.device import byte_count, only_torch_has_tiles
from llama_gui.engine.int4_levels import GROUP
from llama_gui.engine.int4_panels import OVERHEAD
from llama_gui.engine.native_kernels import LANES, NativeKernels
from llama_gui.engine.packed_weights import (
    CHANNELS_TOGETHER,
    PANEL_CHANNELS,
    SEVEN_BITS,
    BlocksPacked,
    CodedPanels,
    Int4Packed,
    Operand,
    Panels,
    fits_panels,
    pack_int4,
)
from llama_gui.engine.quantised_linear import QuantisedLinear, least_seconds
from llama_gui.engine.weight_rows import WeightRows

_MANY = 32  # rows, up to which the weight is not expanded
_CHANNELS_AT_ONCE = 1024
_TRIED_ROWS, _TRIED_CHANNELS, _TRIED_WIDTH = 64, 256, 1024


class NativeQuantisedLinear(QuantisedLinear):
    """Common part of int8 and int4: the kernels also quantise and scale the rows."""

    def __init__(self, bias: Tensor | None, dtype: torch.dtype, kernels: NativeKernels) -> None:
        super().__init__(bias, dtype)
        self.kernels = kernels

    @property
    @abstractmethod
    def operand(self) -> Operand | None:
        """How a native layer multiplies it; None: it cannot."""

    @abstractmethod
    def scaled(self, levels: Tensor, row_scales: Tensor | None) -> Tensor:
        """Int8 ``[rows, in]`` times the weight, its scales, and float32 scales ``[rows]``, where there are some."""

    def multiply(self, levels: Tensor) -> Tensor:
        """Int8 ``[rows, in]`` times the weight and its scales."""
        return self.scaled(levels.contiguous(), None)

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``; `x` of the weight's dtype or of float32."""
        if not self.is_wide(x):
            return super().__call__(x)
        y = self.scaled(*self.kernels.quantise(x.contiguous()))
        return y if self._bias is None else y.add_(self._bias)

    def is_wide(self, x: Tensor) -> bool:
        """Whether the kernels quantise it."""
        return x.dtype == self.dtype == torch.float32 and x.shape[1] % LANES == 0


class NativeInt8Linear(NativeQuantisedLinear):
    """``y = x W^T + b`` with the weight in int8, a scale for each channel.

    In panels where the CPU has AVX-512 with VNNI; on other CPUs only for weights that `fits_seven_bits` refuses.
    """

    def __init__(
        self, weight: WeightRows, bias: Tensor | None, kernels: NativeKernels, dtype: torch.dtype = torch.float32
    ) -> None:
        """Quantise `weight` ``[out, in]``; `bias` ``[out]``. The result is in `dtype`."""
        super().__init__(bias, dtype, kernels)
        self.scales = torch.empty(weight.out)
        """Of each channel."""
        self.weight: Tensor | Panels = self._rounded(weight)
        """Int8 ``[out, in]``."""

    def _rounded(self, weight: WeightRows) -> Tensor | Panels:
        if self.kernels.is_wide and fits_panels(weight.width):
            panels = Panels.empty(weight.out, weight.width)
            for first, part in weight.placed(PANEL_CHANNELS):
                for start in range(0, len(part), _CHANNELS_AT_ONCE):
                    levels, scales = self.kernels.quantise(part[start : start + _CHANNELS_AT_ONCE])
                    self.kernels.place_panels(levels, panels, first + start)
                    self.scales[first + start :][: len(scales)] = scales
            return panels
        levels = torch.empty(weight.out, weight.width, dtype=torch.int8)
        for first, part in weight.placed():
            channels = slice(first, first + len(part))
            self.kernels.quantise_into(part, levels[channels], self.scales[channels])
        return levels

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return (self.weight.numbers if isinstance(self.weight, Panels) else self.weight,)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight, its scales and the bias take."""
        return byte_count(*self.packed, self.scales, self._bias)

    @property
    def operand(self) -> Operand | None:
        """How a native layer multiplies it; None: it cannot."""
        weight, channels = self.weight, len(self.scales)
        form, width = ("int8_panels", weight.width) if isinstance(weight, Panels) else ("int8", weight.shape[1])
        return Operand(form, channels, width, self.packed, self.scales, self._bias)

    def scaled(self, levels: Tensor, row_scales: Tensor | None) -> Tensor:
        """Int8 ``[rows, in]`` times the weight and all scales."""
        return self.kernels.int8(levels, self.weight, self.scales, self.dtype, row_scales)


class NativeInt4Linear(NativeQuantisedLinear):
    """``y = x W^T + b`` with the weight in four bits; `in_features` must be a multiple of `WIDTH_UNIT`."""

    def __init__(
        self,
        weight: WeightRows,
        bias: Tensor | None,
        kernels: NativeKernels,
        dtype: torch.dtype = torch.float32,
        *,
        writes_out: bool = False,
    ) -> None:
        """Quantise `weight` ``[out, in]``; `bias` ``[out]``. The result is in `dtype`.

        `writes_out`: for many rows the weight is expanded to int8 first, see `is_faster_written_out`.
        """
        super().__init__(bias, dtype, kernels)
        self._writes_out = writes_out
        self._weight = Int4Packed.empty(weight.out, weight.width)
        self._scales = torch.empty(weight.out)
        for first, part in weight.placed(CHANNELS_TOGETHER):
            kernels.round_int4(part, self._weight, self._scales, first)

    @property
    def overhead(self) -> int:
        """That of writing the weight out."""
        return OVERHEAD if self._writes_out else 0

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return self._weight.tensors

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight, its steps, lows and scales and the bias take."""
        return byte_count(*self._weight.tensors, self._scales, self._bias)

    @property
    def operand(self) -> Operand | None:
        """How a native layer multiplies it; None: it cannot."""
        if self._writes_out:
            return None
        return Operand("int4", self._weight.channels, self._weight.width, self.packed, self._scales, self._bias)

    def scaled(self, levels: Tensor, row_scales: Tensor | None) -> Tensor:
        """Int8 ``[rows, in]`` times the weight and all scales."""
        if not self._writes_out or len(levels) <= _MANY:
            return self.kernels.int4(levels, self._weight, self._scales, self.dtype, row_scales)
        y = _multiply_written_out(self.kernels, levels, self._weight, self._scales, self.dtype)
        return y if row_scales is None else y.mul_(row_scales.unsqueeze(1))


class NativeFloatLinear:
    """What linears have in common that add up in float32, in an order that no number of rows changes."""

    @property
    def is_batch_invariant(self) -> bool:
        """True: the order of the sums is always the same."""
        return True

    @property
    def overhead(self) -> int:
        """0: a call costs nothing beside its rows."""
        return 0


class NativeBlocksLinear(NativeFloatLinear):
    """``y = x W^T + b`` with the weight in blocks, as a GGUF file has them: nothing is rounded a second time."""

    def __init__(
        self, weight: WeightRows, bias: Tensor | None, kernels: NativeKernels, dtype: torch.dtype = torch.float32
    ) -> None:
        """Take the blocks of `weight` ``[out, in]``; `bias` ``[out]``. The result is in `dtype`."""
        self._bias = bias
        self._dtype = dtype
        self.kernels = kernels
        self.blocks = self._taken(weight)

    def _taken(self, weight: WeightRows) -> BlocksPacked:
        blocks = BlocksPacked.empty(weight.kind, weight.out, weight.width)
        for first, part in weight.placed_blocks(CHANNELS_TOGETHER):
            self.kernels.place_blocks(part, blocks, first)
        return blocks

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return self.blocks.parts

    @property
    def operand(self) -> Operand:
        """How a native layer multiplies it."""
        return Operand(self.blocks.kind, self.blocks.channels, self.blocks.width, self.packed, bias=self._bias)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight with its scales and the bias take."""
        return byte_count(*self.blocks.parts, self._bias)

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``."""
        y = self.kernels.blocks(*self.kernels.quantise_blocks(x.float()), self.blocks, self._dtype)
        return y if self._bias is None else y.add_(self._bias)


class NativeSevenBitLinear(NativeBlocksLinear):
    """``y = x W^T + b`` with the weight rounded to `SEVEN_BITS`, its width a multiple of `WIDTH_UNIT`."""

    def _taken(self, weight: WeightRows) -> BlocksPacked:
        blocks = BlocksPacked.empty(SEVEN_BITS, weight.out, weight.width)
        for first, part in weight.placed(CHANNELS_TOGETHER):
            self.kernels.round_blocks(part, blocks, first)
        return blocks


class NativeHalfLinear(NativeFloatLinear):
    """``y = x W^T + b`` for float32 rows and a weight in bfloat16 or float16.

    Lossless for a checkpoint in half precision: half the memory of float32, or three eighths of it in codes.
    """

    def __init__(self, weight: Tensor | WeightRows, bias: Tensor | None, kernels: NativeKernels) -> None:
        """`weight` ``[out, in]``: a tensor is kept without a copy, `WeightRows` are put into codes; `bias` ``[out]``.

        The latter must fit panels (`fits_panels`), and are taken as bfloat16.
        """
        self.weight = weight.contiguous() if isinstance(weight, Tensor) else _coded(weight, kernels)
        self._bias = None if bias is None else bias.float()
        self.kernels = kernels

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return self.weight.tensors if isinstance(self.weight, CodedPanels) else (self.weight,)

    @property
    def operand(self) -> Operand:
        """How a native layer multiplies it."""
        weight = self.weight
        if isinstance(weight, CodedPanels):
            return Operand("codes", weight.channels, weight.width, self.packed, bias=self._bias)
        form, (channels, width) = str(weight.dtype).removeprefix("torch."), weight.shape
        return Operand(form, channels, width, self.packed, bias=self._bias)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight and the bias take."""
        return byte_count(*self.packed, self._bias)

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``, float32."""
        return self.kernels.half(x.contiguous(), self.weight, self._bias)


class NativeRouterLinear(NativeFloatLinear):
    """``y = x W^T + b`` for float32 rows and a small weight of float32, its width a multiple of `LANES`."""

    def __init__(self, weight: Tensor, kernels: NativeKernels, bias: Tensor | None = None) -> None:
        """`weight` ``[out, in]`` and `bias` ``[out]`` of float32, kept without a copy."""
        self.weight = weight.contiguous()
        self.bias = bias
        self.kernels = kernels

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return (self.weight,)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight and the bias take."""
        return byte_count(self.weight, self.bias)

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``, float32."""
        y = self.kernels.dots(x.contiguous(), self.weight)
        return y if self.bias is None else y.add_(self.bias)


def _coded(weight: WeightRows, kernels: NativeKernels) -> CodedPanels | Tensor:
    """In codes, or as it is if too much of it has no code."""
    coded = kernels.coded(weight)
    return kernels.coded_rows(coded, torch.arange(coded.channels)) if coded.has_many_strays else coded


def is_faster_written_out(kernels: NativeKernels) -> bool:
    """Whether many rows are multiplied faster by expanding the weight for torch's int8 product.

    It is with AMX only, where our own kernels do not use it. Elsewhere both are about as fast, so noise would decide,
    and a wrong yes rules out `NativeLayer`.
    """
    return only_torch_has_tiles() and try_apart(lambda: _is_measured_faster(kernels))


def _is_measured_faster(kernels: NativeKernels) -> bool:
    groups = torch.ones(_TRIED_CHANNELS, _TRIED_WIDTH // GROUP)
    weight = pack_int4(torch.full((_TRIED_CHANNELS, _TRIED_WIDTH), 15), 8 * groups, 7 * groups)  # 127, the largest
    levels, scales = torch.full((_TRIED_ROWS, _TRIED_WIDTH), 127).to(torch.int8), torch.ones(_TRIED_CHANNELS)
    ours = least_seconds(lambda: kernels.int4(levels, weight, scales, torch.float32))
    try:
        theirs = least_seconds(lambda: _multiply_written_out(kernels, levels, weight, scales, torch.float32))
        exact = torch.equal(
            _multiply_written_out(kernels, levels, weight, scales, torch.float32),
            kernels.int4(levels, weight, scales, torch.float32),
        )
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return exact and theirs < ours


def _multiply_written_out(
    kernels: NativeKernels, levels: Tensor, weight: Int4Packed, scales: Tensor, dtype: torch.dtype
) -> Tensor:
    y = torch.empty(len(levels), len(scales), dtype=dtype)
    for start in range(0, len(scales), _CHANNELS_AT_ONCE):
        channels = slice(start, start + _CHANNELS_AT_ONCE)
        product = torch._int_mm(levels, kernels.expand(weight, channels).t())
        y[:, channels] = product.float().mul_(scales[channels])
    return y
