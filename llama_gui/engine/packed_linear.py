"""A product whose weight oneDNN has packed once for its own kernels: the fast one on CPUs, and exact where probed.

Up to `TILE` rows go through the linear kernel, which reads the weight at the speed of the memory; more through
`WideKernel` over the same bytes, whose rows have the same bits in calls of any size that was tried. Where the linear
kernel gives other bits (some sizes of wide weights), the wide one takes its place. On machines without the wide kernel,
all rows go through the linear one, in calls of sizes that `RowTiles` finds exact.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.device import byte_count
from llama_gui.engine.kernel_notes import KernelNote, KernelNotes
from llama_gui.engine.row_tiles import TILE, Product, RowPlan, RowTiles, SameBits, pad_rows, random_rows
from llama_gui.engine.wide_kernel import WideKernel, multiply_wide

LEAST_TILED, MOST_TILED = 2**19, 2**27
"""Sizes of weights that are probed with many rows: smaller ones are fast anyway, the largest is the vocabulary's."""

_PROBED_ROW_COUNTS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 25, 31)
_MISSING = (RuntimeError, AttributeError, NotImplementedError, OSError, KeyError)  # no such operator or library
_SETUP_SECONDS, _MOST_TIMES_SLOWER = 0.05, 40  # of a call, compared with one of `TILE` rows
_SMALL_WIDE_COUNTS = (1, 2, 4, 8, 16, TILE, 2 * TILE)


@dataclass(frozen=True, slots=True)
class Probed:
    """What was found out about one shape of weight.

    `min_rows`: in the smallest call of the linear kernel. `tiles`: calls with more than `TILE` rows. `wide_rows`: for
    which numbers of up to `TILE` rows the wide kernel takes the place of the linear one, and in calls of how many.
    """

    min_rows: int
    tiles: RowTiles
    wide: WideKernel | None = None
    wide_rows: Mapping[int, int] = field(default_factory=dict)

    def note(self) -> KernelNote:
        """The same for a later run."""
        return KernelNote(self.min_rows, self.tiles.seconds, self.wide is not None, self.wide_rows, time.time())


@dataclass(frozen=True, slots=True)
class Known:
    """By the shape of the weight, for one dtype and number of threads. `notes`: of earlier runs, and for later ones."""

    found: dict[tuple[int, ...], Probed] = field(default_factory=dict)
    notes: KernelNotes | None = None


class PackedLinear:
    """A weight packed by oneDNN (CPU only).

    Source of the private operators: torch's Inductor uses them for frozen weights. `pack` probes them.
    """

    def __init__(self, packed: Tensor, bias: Tensor | None, weight_bytes: int, plan: RowPlan | None = None) -> None:
        self._packed = packed
        self._wide: Tensor | None = None
        self._plan = plan
        self._bias = bias
        self._weight_bytes = weight_bytes
        self._found = Probed(1, RowTiles())

    @classmethod
    def pack(cls, weight: Tensor, bias: Tensor | None, known: Known, plan: RowPlan | None = None) -> "PackedLinear":
        """Pack `weight` ``[out, in]``; `known` remembers what was found out about each shape.

        Raises:
            RuntimeError: this build or CPU lacks the operators, or they are wrong or not batch-invariant here.
        """
        packed = torch.ops.mkldnn._reorder_linear_weight(weight, 1)  # for one row: the layout that both kernels share
        linear = cls(packed, bias, byte_count(weight, bias), plan)
        shape = tuple(weight.shape)
        if shape not in known.found:
            known.found[shape] = linear._find_out(weight, known.notes)
        linear._use(known.found[shape])
        return linear

    @property
    def packed(self) -> tuple[Tensor, ...]:
        """The weight as it lies in memory."""
        return (self._packed,)

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight and the bias take."""
        return self._weight_bytes

    @property
    def is_batch_invariant(self) -> bool:
        """True: `pack` refuses a kernel that is not."""
        return True

    @property
    def overhead(self) -> int:
        """0: a call costs nothing beside its rows."""
        return 0

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``."""
        # With the wide kernel exactness costs no speed, so the plan for inexact prompts is not needed.
        plan = None if self._wide is not None else self._plan
        tiles = self._found.tiles.tiles(x) if plan is None else plan.tiles(x)
        parts = [self._run(tile, least) for tile, least in tiles]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _run(self, x: Tensor, least: int = 1) -> Tensor:
        rows, x = len(x), x.contiguous()
        found = self._found
        if self._wide is not None and (least > TILE or rows in found.wide_rows):
            least = least if least > TILE else found.wide_rows[rows]
            return multiply_wide(pad_rows(x, least), self._wide, self._bias)[:rows]
        return self._multiply(pad_rows(x, max(found.min_rows, least)), self._bias)[:rows]

    def _multiply(self, x: Tensor, bias: Tensor | None) -> Tensor:
        return torch.ops.mkldnn._linear_pointwise.default(x, self._packed, bias, "none", [], "")

    def _use(self, found: Probed) -> None:
        self._found = found
        self._wide = found.wide.view(self._packed) if found.wide is not None else None

    # --- probing

    def _find_out(self, weight: Tensor, notes: KernelNotes | None) -> Probed:
        self._compare_with_plain(weight)
        shape = tuple(weight.shape)
        note = notes.find(shape) if notes is not None else None
        found = self._believe(weight, note) if note is not None else None
        if found is None:
            found = self._probe(weight)
            if notes is not None:
                notes.add(shape, found.note())
        return found

    def _believe(self, weight: Tensor, note: KernelNote) -> Probed | None:
        """The note as probed values; None: its kernel is missing here."""
        try:
            wide = WideKernel.of(weight, self._packed) if note.is_wide else None
        except _MISSING:
            return None
        return Probed(note.min_rows, RowTiles(dict(note.seconds)), wide, note.wide_rows)

    def _probe(self, weight: Tensor) -> Probed:
        if not LEAST_TILED <= weight.numel() <= MOST_TILED:
            return Probed(self._probe_few(SameBits(self._multiply, weight, most=TILE)), RowTiles())
        wide = self._probe_wide(weight)
        if wide is not None:
            return wide
        check = SameBits(self._multiply, weight)
        return Probed(self._probe_few(check), RowTiles.probe(self._multiply, self._multiply, check))

    def _probe_few(self, check: SameBits) -> int:
        """The smallest row count from which on every count up to `TILE` gives the same rows."""
        if check.seconds(self._multiply, TILE) is None:
            raise RuntimeError("a row's result depends on its place")
        differing = [n for n in _PROBED_ROW_COUNTS if check.seconds(self._multiply, n) is None]
        return min((n for n in (*_PROBED_ROW_COUNTS, TILE) if n > max(differing, default=0)), default=TILE)

    def _compare_with_plain(self, weight: Tensor) -> None:
        x = random_rows(weight, TILE)
        rows = slice(0, 4096)  # enough columns to see a wrong layout, without another product of the vocabulary's size
        want = F.linear(x.float(), weight[rows].float(), None if self._bias is None else self._bias[rows].float())
        error = (self._run(x)[:, rows].float() - want).abs().max() / want.abs().max().clamp(min=1e-6)
        if not error < 0.05:  # also true for NaN; bfloat16 alone gives about 0.005
            raise RuntimeError(f"the packed product is wrong by {error:.3g}")

    def _probe_wide(self, weight: Tensor) -> Probed | None:
        """What was found of the wide kernel; None: there is none here, or its rows differ, too."""
        try:
            kernel = WideKernel.of(weight, self._packed)
            view = kernel.view(self._packed)

            def multiply(x: Tensor, bias: Tensor | None) -> Tensor:
                return multiply_wide(x, view, bias)

            # Up to two trials: a machine that stalls for a moment must not decide which bits an answer has.
            wide = self._compare_wide(weight, multiply) or self._compare_wide(weight, multiply)
        except _MISSING:
            return None
        return Probed(1, wide[0], kernel, wide[1]) if wide is not None else None

    def _compare_wide(self, weight: Tensor, multiply: Product) -> tuple[RowTiles, dict[int, int]] | None:
        """Calls of the wide kernel for more than `TILE` rows and, where the linear one's bits are others, for fewer.

        For some numbers of rows the wide kernel needs another layout and would convert the weight in each call.
        """
        x = random_rows(weight, TILE)
        limit = _SETUP_SECONDS + _MOST_TIMES_SLOWER * _seconds(self._multiply, x)
        tile = next((n for n in (TILE, 2 * TILE) if _seconds(multiply, random_rows(weight, n)) < limit), None)
        if tile is None:
            return None
        check = SameBits(multiply, weight, tile, limit)
        small = {n: check.seconds(multiply, n) for n in _SMALL_WIDE_COUNTS}
        calls = {n: seconds for n, seconds in small.items() if seconds is not None}
        few = {n for n in range(1, TILE + 1) if not check.holds(self._multiply, n)}
        few |= {n for n in _PROBED_ROW_COUNTS if check.seconds(self._multiply, n) is None}
        if few and max(calls, default=0) < max(few):
            return None
        rows = {n: min((seconds, size) for size, seconds in calls.items() if size >= n)[1] for n in few}
        tiles = RowTiles.probe(multiply if TILE in few else self._multiply, multiply, check)
        return (tiles, rows) if len(tiles.sizes) > 1 else None


def _seconds(product: Product, x: Tensor) -> float:
    began = time.perf_counter()
    product(x, None)
    return time.perf_counter() - began
