"""Matrix products whose rows do not depend on their neighbours: a row's bits are the same in every batch.

On CPU a kernel may sum in another order for another number of rows. Measured with oneDNN's prepacked weights in torch
2.13: calls of 2 to 32 rows give equal rows in float32, bfloat16 and float16, a call of one row does not always, and
larger calls do not. So a call never carries more than `TILE` rows; how few it may carry is probed when the weight is
packed, and smaller calls are padded. Nothing of this is promised by the library: `tests/engine/test_linear.py` and
`test_exactness.py` prove it for the machine they run on, and `PackedLinear` probes it.

Without exactness the rows of prompts go through calls of exactly `PROMPT_TILE`, which are faster. At one fixed count a
row depends neither on its place nor on its neighbours, so answers still do not change each other; but what was written
as an answer has other bits when it is read again as a prompt.
"""

import logging
from collections.abc import Sequence
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.device import Precision
from llama_gui.engine.int4_linear import GROUP, Int4Linear
from llama_gui.engine.int4_linear import probe as probe_int4
from llama_gui.engine.int8_linear import Int8Linear
from llama_gui.engine.int8_linear import probe as probe_int8

TILE = 32
"""Rows in one call, at most."""

PROMPT_TILE = 128
"""Rows of prompts in one call where nobody asks for exactness."""

HEAD_PIECE_SIZE = 2**25
"""Numbers of the vocabulary projection that are quantised and packed at a time."""

_PROBED_ROW_COUNTS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 25, 31)

_log = logging.getLogger(__name__)


class Linear(Protocol):
    """``y = x W^T + b`` for rows ``x [rows, in_features] -> y [rows, out_features]``."""

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight and the bias take."""
        ...

    @property
    def is_batch_invariant(self) -> bool:
        """Whether a row's bits are the same beside any other rows."""
        ...

    def __call__(self, x: Tensor) -> Tensor:
        """Multiply; `x` is ``[rows, in_features]`` of the weight's dtype."""
        ...


class RowPlan:
    """Which rows of a step are drawn tokens: the first `writers`; the rest are of prompts. Told before each call."""

    def __init__(self) -> None:
        self.writers = 0

    def tiles(self, x: Tensor) -> list[tuple[Tensor, int]]:
        """`x` ``[rows, in]`` in parts for one call each, with the rows that each call must have at least."""
        written, read = x[: self.writers], x[self.writers :]
        parts = [(part, 1) for part in written.split(TILE) if len(part)]
        return parts + [(part, PROMPT_TILE) for part in read.split(PROMPT_TILE) if len(part)]


def _tiles(x: Tensor, plan: RowPlan | None) -> list[tuple[Tensor, int]]:
    return plan.tiles(x) if plan is not None else [(part, 1) for part in x.split(TILE)]


def _byte_count(*tensors: Tensor | None) -> int:
    return sum(t.numel() * t.element_size() for t in tensors if t is not None)


def _pad_rows(x: Tensor, rows: int) -> Tensor:
    return F.pad(x, (0, 0, 0, rows - x.shape[0])) if x.shape[0] < rows else x


class PlainLinear:
    """`torch.nn.functional.linear` on any device.

    On CPU every call is padded to exactly `TILE` rows, because at one fixed count a row's bits depend neither on its
    place nor on its neighbours. Other devices get all rows in one call and promise nothing.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, plan: RowPlan | None = None) -> None:
        self.weight = weight
        self.bias = bias
        self._plan = plan

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight and the bias take."""
        return _byte_count(self.weight, self.bias)

    @property
    def is_batch_invariant(self) -> bool:
        """True on CPU."""
        return self.weight.device.type == "cpu"

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``."""
        if not self.is_batch_invariant:
            return F.linear(x, self.weight, self.bias)
        tiles = _tiles(x, self._plan)
        parts = [F.linear(_pad_rows(t, max(rows, TILE)), self.weight, self.bias)[: t.shape[0]] for t, rows in tiles]
        return parts[0] if len(parts) == 1 else torch.cat(parts)


class PackedLinear:
    """A weight that oneDNN has laid out once for its own kernels (CPU only).

    Source of the two private operators: torch's Inductor uses them for frozen weights. `pack` probes them.
    """

    def __init__(self, packed: Tensor, bias: Tensor | None, weight_bytes: int, plan: RowPlan | None = None) -> None:
        self._packed = packed
        self._plan = plan
        self._bias = bias
        self._weight_bytes = weight_bytes
        self.min_rows = 1

    @classmethod
    def pack(
        cls,
        weight: Tensor,
        bias: Tensor | None,
        probed: dict[tuple[int, ...], int],
        plan: RowPlan | None = None,
    ) -> "PackedLinear":
        """Pack `weight` ``[out, in]``; `probed` remembers the smallest safe row count of each shape.

        Raises:
            RuntimeError: this build or CPU lacks the operators, or they are wrong or not batch-invariant here.
        """
        packed = torch.ops.mkldnn._reorder_linear_weight(weight)
        linear = cls(packed, bias, _byte_count(weight, bias), plan)
        shape = tuple(weight.shape)
        if shape not in probed:
            probed[shape] = linear._probe(weight)
        linear.min_rows = probed[shape]
        return linear

    @property
    def weight_bytes(self) -> int:
        """Bytes that the weight and the bias take."""
        return self._weight_bytes

    @property
    def is_batch_invariant(self) -> bool:
        """True: `pack` refuses a kernel that is not."""
        return True

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``."""
        parts = [self._run(tile, rows) for tile, rows in _tiles(x, self._plan)]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _run(self, x: Tensor, least: int = 1) -> Tensor:
        rows = x.shape[0]
        x = _pad_rows(x.contiguous(), max(self.min_rows, least))
        return torch.ops.mkldnn._linear_pointwise(x, self._packed, self._bias, "none", [], "")[:rows]

    def _probe(self, weight: Tensor) -> int:
        """The smallest row count from which on every count up to `TILE` gives the same rows."""
        generator = torch.Generator().manual_seed(0)
        x = torch.randn(TILE, weight.shape[1], generator=generator).to(weight.dtype)
        full = self._run(x)
        self._compare_with_plain(x, weight, full)
        differing = [n for n in _PROBED_ROW_COUNTS if not torch.equal(self._run(x[:n]), full[:n])]
        moved = self._run(x.roll(7, 0)).roll(-7, 0)
        if not torch.equal(moved, full):
            raise RuntimeError("a row's result depends on its place")
        return min((n for n in (*_PROBED_ROW_COUNTS, TILE) if n > max(differing, default=0)), default=TILE)

    def _compare_with_plain(self, x: Tensor, weight: Tensor, full: Tensor) -> None:
        rows = slice(0, 4096)  # enough columns to see a wrong layout, without another product of the vocabulary's size
        want = F.linear(x.float(), weight[rows].float(), None if self._bias is None else self._bias[rows].float())
        error = (full[:, rows].float() - want).abs().max() / want.abs().max().clamp(min=1e-6)
        if not error < 0.05:  # also true for NaN; bfloat16 alone gives about 0.005
            raise RuntimeError(f"the packed product is wrong by {error:.3g}")


class StackedLinear:
    """The output channels of several linears behind one another."""

    def __init__(self, parts: Sequence[Linear]) -> None:
        self._parts = tuple(parts)

    @property
    def weight_bytes(self) -> int:
        """Bytes that all of them take."""
        return sum(part.weight_bytes for part in self._parts)

    @property
    def is_batch_invariant(self) -> bool:
        """Whether all of them are."""
        return all(part.is_batch_invariant for part in self._parts)

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``."""
        return torch.cat([part(x) for part in self._parts], 1)


class LinearFactory:
    """Makes the fastest linear that is exact on this machine, and says so once if that is not the packed one.

    Without `exact`, `plan` is told before each step which of its rows are drawn tokens.
    `precision`: whether the weights are quantised, and how. Raises `UnsupportedModelError` where that cannot be done,
    see `int8_linear.probe` and `int4_linear.probe`.
    """

    def __init__(self, precision: Precision | None = None, *, exact: bool = True) -> None:
        self.plan = None if exact else RowPlan()
        self._probed: dict[tuple[int, ...], int] = {}
        self._can_pack = True
        self._quantised = precision.quantised if precision is not None else None
        if self._quantised is not None:
            probe_int8()
        if precision is not None and self._quantised == "int4":
            probe_int4(precision.dtype)

    def head(self, weight: Tensor) -> Linear:
        """The vocabulary projection, of at least eight bits."""
        if not self._quantised:
            return self(weight)
        # In parts, or the largest weight of all would be in memory twice while it is packed.
        channels = max(1, HEAD_PIECE_SIZE // weight.shape[1])
        parts = [Int8Linear(part, None) for part in weight.split(channels)]
        return parts[0] if len(parts) == 1 else StackedLinear(parts)

    def __call__(self, weight: Tensor, bias: Tensor | None = None) -> Linear:
        """A linear for `weight` ``[out, in]`` and `bias` ``[out]``, on the weight's device and in its dtype."""
        if self._quantised == "int4" and weight.shape[1] % GROUP == 0:
            return Int4Linear(weight, bias)
        if self._quantised is not None:
            return Int8Linear(weight, bias)
        if weight.device.type != "cpu" or not self._can_pack:
            return PlainLinear(weight, bias, self.plan)
        try:
            return PackedLinear.pack(weight, bias, self._probed, self.plan)
        except (RuntimeError, AttributeError, NotImplementedError) as error:
            _log.warning("Prepacked weights cannot be used here (%s); plain ones are slower.", error)
            self._can_pack = False
            return PlainLinear(weight, bias, self.plan)
