"""Matrix products whose rows do not depend on their neighbours: a row's bits are the same in every batch.

On CPU a kernel may sum in a different order for each number of rows. Measured with oneDNN's prepacked weights in torch
2.13: calls of 2 to 32 rows give equal rows in float32, bfloat16 and float16, a call of one row does not always, and few
larger calls do. Which calls may be used is probed when the weight is packed, see `PackedLinear`. The library promises
none of this: `tests/engine/test_linear.py` and `test_exactness.py` prove it for the machine they run on.

Without exactness the rows of prompts may go through calls of exactly `PROMPT_TILE`, which are faster where there is no
`WideKernel`. With a fixed number of rows a row depends neither on its place nor on its neighbours, so answers still do
not influence each other; but an answer has other bits when it is read again as part of a prompt.
"""

import logging
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine import int8_linear
from llama_gui.engine.card_int4 import SAME_LEVELS
from llama_gui.engine.card_kernels import CardKernels
from llama_gui.engine.card_linear import CardInt4Linear, CardInt8Linear, CardLinear
from llama_gui.engine.device import Precision, byte_count
from llama_gui.engine.gguf_blocks import FEWER_BITS, FOUR_BITS
from llama_gui.engine.int4_levels import GROUP
from llama_gui.engine.int4_linear import Int4Linear
from llama_gui.engine.int4_linear import probe as probe_int4
from llama_gui.engine.int8_linear import Int8Linear, Int8Trials
from llama_gui.engine.int8_matmul import Int8MatMul
from llama_gui.engine.int8_matmul import probe as probe_matmul
from llama_gui.engine.kernel_notes import KernelNotes
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_linear import (
    NativeBlocksLinear,
    NativeHalfLinear,
    NativeInt4Linear,
    NativeInt8Linear,
    NativeSevenBitLinear,
    is_faster_written_out,
)
from llama_gui.engine.packed_linear import Known, PackedLinear
from llama_gui.engine.packed_weights import WIDTH_UNIT, fits_panels, fits_seven_bits, stays_as_it_is
from llama_gui.engine.row_tiles import TILE, RowPlan, SameBits, pad_rows
from llama_gui.engine.weight_rows import WeightRows
from llama_gui.errors import UnsupportedModelError

HEAD_PIECE_SIZE = 2**25
"""Numbers of the vocabulary projection that are quantised and packed at a time."""

_OWN_KERNELS = (
    "On Linux and Windows with an x86-64 CPU llama-gui's own kernels can do it: install llama-gui again, on Linux a C "
    "compiler (gcc) first."
)

_CPU = torch.device("cpu")

_log = logging.getLogger(__name__)


class Linear(Protocol):
    """``y = x W^T + b`` for rows ``x [rows, in_features] -> y [rows, out_features]``."""

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        ...

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight and the bias take."""
        ...

    @property
    def is_batch_invariant(self) -> bool:
        """Whether a row's bits are the same beside any other rows."""
        ...

    @property
    def overhead(self) -> int:
        """The fixed cost of a call of many rows, as a number of rows."""
        ...

    def __call__(self, x: Tensor) -> Tensor:
        """Multiply; `x` is ``[rows, in_features]`` of the weight's dtype."""
        ...


PlacesTried = dict[tuple[tuple[int, ...], torch.dtype], bool]
"""By the shape and dtype of a weight: whether a row's bits are the same at every place of a call of `TILE` rows."""


class PlainLinear:
    """`torch.nn.functional.linear` on any device.

    On CPU every call is padded to exactly `TILE` rows: with a fixed number of rows a row's bits usually depend neither
    on its place nor on its neighbours, which is tested. If they do, and on other devices, all rows go into one call and
    nothing is promised.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor | None, plan: RowPlan | None = None, tried: PlacesTried | None = None
    ) -> None:
        """`weight` ``[out, in]``, `bias` ``[out]``. `tried` remembers what was found out about each shape."""
        self.weight = weight
        self.bias = bias
        self._plan = plan
        self._is_batch_invariant = weight.device.type == "cpu" and _is_same_anywhere(
            weight, {} if tried is None else tried
        )

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return (self.weight,)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight and the bias take."""
        return byte_count(self.weight, self.bias)

    @property
    def is_batch_invariant(self) -> bool:
        """The result of the test on CPU, False elsewhere."""
        return self._is_batch_invariant

    @property
    def overhead(self) -> int:
        """0: a call costs nothing beside its rows."""
        return 0

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``."""
        if not self._is_batch_invariant:
            return F.linear(x, self.weight, self.bias)
        tiles = self._plan.tiles(x) if self._plan is not None else [(part, 1) for part in x.split(TILE)]
        parts = [F.linear(pad_rows(t, max(rows, TILE)), self.weight, self.bias)[: t.shape[0]] for t, rows in tiles]
        return parts[0] if len(parts) == 1 else torch.cat(parts)


def _is_same_anywhere(weight: Tensor, tried: PlacesTried) -> bool:
    key = tuple(weight.shape), weight.dtype
    if key not in tried:

        def multiply(x: Tensor, bias: Tensor | None) -> Tensor:
            return F.linear(x, weight, bias)

        # Not timed as packed weights are: four products of a tile, which are slow where half precision is emulated.
        tried[key] = SameBits(multiply, weight, most=TILE).holds(multiply, TILE)
    return tried[key]


class StackedLinear:
    """The output channels of several linears behind one another."""

    def __init__(self, parts: Sequence[Linear]) -> None:
        self.parts = tuple(parts)

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weights as they lie in memory."""
        return tuple(weight for part in self.parts for weight in part.packed)

    @property
    def weight_bytes(self) -> int:
        """Bytes that all of them take."""
        return sum(part.weight_bytes for part in self.parts)

    @property
    def is_batch_invariant(self) -> bool:
        """Whether all of them are."""
        return all(part.is_batch_invariant for part in self.parts)

    @property
    def overhead(self) -> int:
        """That of the most expensive."""
        return max(part.overhead for part in self.parts)

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``."""
        return torch.cat([part(x) for part in self.parts], 1)


class LinearFactory:
    """Makes the fastest linear that is exact on this machine, and logs once if that is not the packed one.

    Without `exact`, `plan` is told before each step which of its rows are drawn tokens.
    `precision`: whether the weights are quantised, and how. Raises `UnsupportedModelError` where that cannot be done,
    see the functions `probe` of `int8_linear`, `int8_matmul` and `int4_linear`. `notes`: what an earlier run found out.
    `kernels`: our own, where there are some; `card`: those for cards.
    """

    def __init__(
        self,
        precision: Precision | None = None,
        device: torch.device = _CPU,
        *,
        exact: bool = True,
        notes: KernelNotes | None = None,
        kernels: NativeKernels | None = None,
        card: CardKernels | None = None,
    ) -> None:
        self._card = card
        self.plan = None if exact else RowPlan()
        self._known = Known(notes=notes)
        self._int8_trials = Int8Trials()
        self._places_tried: PlacesTried = {}
        self._can_pack = True
        precision = precision or Precision(torch.float32)
        self._quantised = precision.quantised
        self._is_on_cpu = device.type == "cpu"
        self._kernels = kernels if self._is_on_cpu else None
        self._held, self._dtype = precision.held, precision.dtype
        self._has_torch_int8 = self._quantised is None or self._probe_int8(device)
        is_torchs = self._quantised == "int4" and self._kernels is None and self._is_on_cpu
        self._columns = probe_int4() if is_torchs else None
        self._keeps_blocks = precision.as_stored and self._kernels is not None
        self._keeps_levels = precision.keeps_levels
        self._device = device
        # Blocks are only kept where it is known that expanding them to int8 is not faster.
        may_write_out = self._quantised == "int4" and not self._keeps_blocks
        self._writes_out = may_write_out and self._kernels is not None and is_faster_written_out(self._kernels)

    def takes_rows(self, width: int) -> bool:
        """Whether weights of `width` inputs go to `of_rows`, as they lie in the file, and not to a call of this."""
        return self.takes_head_rows(width) or self._rounds_to_int4(width) or self._has_card_int4

    def _has_codes(self, width: int) -> bool:
        """Whether weights in bfloat16 are held as codes (`CodedPanels`)."""
        return self._held == torch.bfloat16 and self._kernels is not None and fits_panels(width)

    @property
    def _has_card_int4(self) -> bool:
        return self._quantised == "int4" and self._card is not None

    def _rounds_to_int4(self, width: int) -> bool:
        return self._quantised == "int4" and self._kernels is not None and width % WIDTH_UNIT == 0

    def of_rows(self, weights: Sequence[WeightRows], bias: Tensor | None) -> Linear:
        """A linear for `weights` ``[out, in]`` behind one another, and `bias` ``[out]`` of all.

        Our own kernels round them as they come, lay them out, or take them as they lie in the file.
        """
        form, make = self._form, self._native
        if self._card is not None:
            form, make = self._card_form, partial(self._on_card, self._card)
        runs = [WeightRows.joined(list(run)) for _, run in groupby(weights, form)]
        biases = [None for _ in runs] if bias is None else bias.split([run.out for run in runs])
        parts = [make(run, its_bias) for run, its_bias in zip(runs, biases, strict=True)]
        return parts[0] if len(parts) == 1 else StackedLinear(parts)

    def _stays(self, weight: WeightRows) -> bool:
        return self._keeps_blocks and stays_as_it_is(weight.kind, weight.width)

    def _form(self, weight: WeightRows) -> str:
        """How it is multiplied: in blocks of its kind, as "int8", "int4" or "bfloat16".

        Weights for which a file has more bits than for most of the others get eight bits.
        """
        if self._stays(weight):
            return weight.kind
        if self._quantised is None:
            return "bfloat16"
        is_finer = self._keeps_blocks and weight.kind not in FOUR_BITS
        return "int4" if self._rounds_to_int4(weight.width) and not is_finer else "int8"

    def _card_form(self, weight: WeightRows) -> str:
        """The same on a card: as levels of its kind, as "int4" or "int8"."""
        if weight.width % GROUP == 0 and weight.kind in SAME_LEVELS:
            return weight.kind
        is_finer = self._keeps_levels and weight.kind not in FEWER_BITS
        return "int8" if weight.width % GROUP or is_finer else "int4"

    def _on_card(self, card: CardKernels, weight: WeightRows, bias: Tensor | None) -> Linear:
        if self._card_form(weight) != "int8":
            return CardInt4Linear(weight, bias, card, self._device)
        parts = [part.to(self._device, self._dtype) for part in weight.parts]
        return CardInt8Linear(torch.cat(parts), bias, card)

    def _native(self, weight: WeightRows, bias: Tensor | None) -> Linear:
        if self._kernels is None:
            raise ValueError("there are no kernels of our own")
        match self._form(weight):
            case "int4":
                return NativeInt4Linear(weight, bias, self._kernels, self._dtype, writes_out=self._writes_out)
            case "int8":
                return self._native_int8(weight, bias, self._kernels)
            case "bfloat16":
                return NativeHalfLinear(weight, bias, self._kernels)
            case _:
                return NativeBlocksLinear(weight, bias, self._kernels, self._dtype)

    def takes_head_rows(self, width: int) -> bool:
        """Whether a vocabulary projection of `width` inputs goes to `head_of_rows`, and not to `head`."""
        if self._kernels is None:
            return False
        return self._keeps_blocks or not self._has_torch_int8 or self._has_codes(width)

    def head_of_rows(self, weight: WeightRows) -> NativeInt8Linear | NativeBlocksLinear | NativeHalfLinear:
        """The vocabulary projection ``[vocab, in]``, rounded to eight bits at least, or as it lies in the file."""
        if self._kernels is None:
            raise ValueError("there are no kernels of our own")
        if self._stays(weight):
            return NativeBlocksLinear(weight, None, self._kernels, self._dtype)
        if self._quantised is None:
            return NativeHalfLinear(weight, None, self._kernels)
        return self._native_int8(weight, None, self._kernels)

    def _native_int8(
        self, weight: WeightRows, bias: Tensor | None, kernels: NativeKernels
    ) -> NativeInt8Linear | NativeSevenBitLinear:
        has_seven = fits_seven_bits(weight.width) and not kernels.is_wide
        kind = NativeSevenBitLinear if has_seven else NativeInt8Linear
        return kind(weight, bias, kernels, self._dtype)

    def head(self, weight: Tensor) -> Linear:
        """The vocabulary projection, of at least eight bits. `weight` may be of another dtype than what comes out."""
        if not self._quantised:
            return self(weight)
        # In parts; otherwise the largest weight of all would be in memory twice while it is packed.
        if self._card is not None:
            return self._int8(weight, None)
        channels = max(1, HEAD_PIECE_SIZE // weight.shape[1])
        parts = [self._int8(part.to(self._dtype), None) for part in weight.split(channels)]
        return parts[0] if len(parts) == 1 else StackedLinear(parts)

    def __call__(self, weight: Tensor, bias: Tensor | None = None) -> Linear:
        """A linear for `weight` ``[out, in]`` and `bias` ``[out]``, on the weight's device and in its dtype."""
        if self.takes_rows(weight.shape[1]):
            return self.of_rows([WeightRows.of(weight)], bias)
        if self._quantised == "int4" and self._is_on_cpu and self._kernels is None and weight.shape[1] % GROUP == 0:
            return Int4Linear(weight, bias, self._columns)
        if self._quantised is not None:
            return self._int8(weight, bias)
        if self._held is not None and self._kernels is not None:
            return NativeHalfLinear(weight, bias, self._kernels)
        if self._card is not None:
            return CardLinear(weight, bias, self._card)
        if weight.device.type != "cpu" or not self._can_pack:
            return PlainLinear(weight, bias, self.plan, self._places_tried)
        try:
            return PackedLinear.pack(weight, bias, self._known, self.plan)
        except (RuntimeError, AttributeError, NotImplementedError) as error:
            _log.warning("Prepacked weights cannot be used here (%s); plain ones are slower.", error)
            self._can_pack = False
            return PlainLinear(weight, bias, self.plan, self._places_tried)

    def _int8(self, weight: Tensor, bias: Tensor | None) -> Linear:
        if self._card is not None:
            return CardInt8Linear(weight, bias, self._card)
        if not self._is_on_cpu:
            return Int8MatMul(weight, bias)
        return Int8Linear(weight, bias, self._int8_trials)

    def _probe_int8(self, device: torch.device) -> bool:
        """Whether to use torch's int8 product: wrong on old CPUs, on most others slower than our own kernels."""
        if not self._is_on_cpu:
            if self._card is None:
                probe_matmul(device)
            return True
        if self._kernels is not None:
            return int8_linear.is_preferred()
        try:
            int8_linear.probe()
        except UnsupportedModelError as error:
            raise UnsupportedModelError(f"{error} {_OWN_KERNELS}") from error
        return True
