"""How the rows of a product are shared out between calls, so that each row has the bits of a small call.

oneDNN chooses its blocking, and with it the order of summing, by the number of rows. For one weight there are only a
few such orders (measured: torch 2.13, AMX, bfloat16), and some large calls use that of the small ones. Which ones they
are is found out here by trial for each shape, on the machine at hand; a call of many rows does two to three times the
work of small ones in the same time.
"""

import itertools
import math
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

TILE = 32
"""Rows in one call, at most, unless a larger number was found to have the same bits."""

PROMPT_TILE = 128
"""Rows of prompts in one call where exactness is not asked for."""

CANDIDATES = (256, 512, 128, 384, 64, 192, 96)
"""Numbers of rows that are tried, the most useful first."""

_PROBE_SECONDS = 0.4
"""Time limit of the trials for one shape, of which a model has about five."""

_PROBED_SUMS, _MOST_TRIALS = 4096, 4
"""How many sums are compared, and in how many trials at most: a weight with few channels is tried with several rows."""

_FEW_RUNS, _MANY_ROWS = 3, 128
_OWN_ROWS, _FAR = 32, 2.5

Product = Callable[[Tensor, Tensor | None], Tensor]
"""``[rows, in] -> [rows, out]`` in one call, with a bias ``[out]`` or without."""


class RowPlan:
    """Which rows of a step are drawn tokens: the first `writers`; the rest belong to prompts. Set before each call."""

    def __init__(self) -> None:
        self.writers = 0

    def tiles(self, x: Tensor) -> list[tuple[Tensor, int]]:
        """`x` ``[rows, in]`` in parts for one call each, with the rows that each call must have at least."""
        written, read = x[: self.writers], x[self.writers :]
        parts = [(part, 1) for part in written.split(TILE) if len(part)]
        return parts + [(part, PROMPT_TILE) for part in read.split(PROMPT_TILE) if len(part)]


class SameBits:
    """Compares calls of many sizes with calls of `tile` rows.

    Rounding to half precision hides most differences of the sums. So there is also a trial with equal rows and a bias
    that cancels their result: what is left is the rounding error of the sum, which shows its order in every number.
    """

    def __init__(
        self, product: Product, weight: Tensor, tile: int = TILE, limit: float = math.inf, most: int = max(CANDIDATES)
    ) -> None:
        """`product`: the reference, in calls of `tile` rows. A call of over `limit` seconds counts as different.

        `most`: rows in one call.
        """
        self._limit = limit
        self._x = random_rows(weight, most)
        self._want = torch.cat([product(part, None) for part in self._x.split(tile)])
        self._trials = [
            self._trial(product, row, tile) for row in self._x[: min(_MOST_TRIALS, 1 + _PROBED_SUMS // len(weight))]
        ]

    @staticmethod
    def _trial(product: Product, row: Tensor, tile: int) -> tuple[Tensor, Tensor, Tensor]:
        rows = row.expand(tile, -1).contiguous()
        bias = -product(rows, None)[0]
        return row, bias, product(rows, bias)[:1]

    def holds(self, product: Product, rows: int) -> bool:
        """Whether a call of `product` with `rows` rows sums in the same order as one of `tile`."""
        began = time.perf_counter()
        for row, bias, error in self._trials:
            if not torch.equal(product(row.expand(rows, -1).contiguous(), bias), error.expand(rows, -1)):
                return False
            if time.perf_counter() - began > self._limit:
                return False
        return True

    def seconds(self, product: Product, rows: int) -> float | None:
        """How long a call of `rows` rows takes; None: its bits differ.

        The first call is slower and not counted: kernels are made for a number of rows when it is first met.
        """
        if not self.holds(product, rows):
            return None
        got = product(self._x[:rows], None)
        seconds: list[float] = []
        for _ in range(_FEW_RUNS if rows < _MANY_ROWS else 1):  # a short one is more easily disturbed
            began = time.perf_counter()
            product(self._x[:rows], None)
            seconds.append(time.perf_counter() - began)
        return min(seconds) if torch.equal(got, self._want[:rows]) else None


class RowTiles:
    """Which numbers of rows a call may have for one shape of weight, and the seconds that each took."""

    def __init__(self, seconds: dict[int, float] | None = None) -> None:
        """`seconds` by number of rows; with `TILE` alone every call is small."""
        self._seconds = seconds or {TILE: 1.0}
        self._plans: dict[int, tuple[int, ...]] = {}

    @classmethod
    def probe(cls, small: Product, large: Product, check: SameBits) -> "RowTiles":
        """Try `large` with more rows than `small` may have, which is exact for `TILE`."""
        began = time.perf_counter()
        seconds = {TILE: check.seconds(small, TILE) or 0.0}
        for rows in CANDIDATES:
            if time.perf_counter() - began > _PROBE_SECONDS:
                break
            taken = check.seconds(large, rows)
            if taken is not None:
                seconds[rows] = taken
        return cls(_smooth(seconds))

    @property
    def seconds(self) -> dict[int, float]:
        """What it was made of."""
        return dict(self._seconds)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of rows that a call may have, beside all up to `TILE`."""
        return tuple(sorted(self._seconds))

    def tiles(self, x: Tensor) -> list[tuple[Tensor, int]]:
        """`x` ``[rows, in]`` in parts for one call each, with the rows that each call must have at least."""
        if len(x) <= TILE:
            return [(x, 1)]
        counts = self.split(len(x))
        ends = itertools.accumulate(counts)
        return [(x[end - n : end], n if n > TILE else 1) for n, end in zip(counts, ends, strict=True)]

    def split(self, rows: int) -> tuple[int, ...]:
        """Rows of each call for `rows` in all, that take the least time; the last call may have to be filled up."""
        if rows not in self._plans:
            self._plans[rows] = self._fastest(rows)
        return self._plans[rows]

    def _fastest(self, rows: int) -> tuple[int, ...]:
        """Dynamic programming over what is left, in steps of a tile."""
        best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
        for left in range(1, -(-rows // TILE) + 1):
            rests = [(size, seconds, best[max(0, left - size // TILE)]) for size, seconds in self._seconds.items()]
            best.append(min((seconds + rest[0], (size, *rest[1])) for size, seconds, rest in rests))
        return tuple(sorted(best[-1][1], reverse=True))


def _smooth(seconds: dict[int, float]) -> dict[int, float]:
    """`seconds` without the noise of single measurements: a call costs time per row, and a little by itself.

    Only values far above that are kept: for some numbers of rows a kernel converts the weight in each call.
    """
    each = min(taken / rows for rows, taken in seconds.items())
    expected = {rows: _OWN_ROWS * each + rows * each for rows in seconds}
    return {rows: expected[rows] if taken < _FAR * expected[rows] else taken for rows, taken in seconds.items()}


def random_rows(weight: Tensor, rows: int) -> Tensor:
    """``[rows, in]`` for a weight ``[out, in]``, always the same."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(rows, weight.shape[1], generator=generator).to(weight.dtype)


def pad_rows(x: Tensor, rows: int) -> Tensor:
    """`x` ``[rows, in]`` with rows of zeros behind it, so that it has at least `rows`."""
    return F.pad(x, (0, 0, 0, rows - x.shape[0])) if x.shape[0] < rows else x
