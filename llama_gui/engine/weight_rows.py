"""A weight on its way from a file to a linear that rounds it: some output channels after the others."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class WeightRows:
    """A weight ``[out, in]`` in `parts`, which are only read, one at a time and once.

    They may be views of a file, and of other dtypes than each other.
    """

    out: int
    width: int
    parts: Iterable[Tensor]

    @classmethod
    def of(cls, weight: Tensor) -> Self:
        """All of `weight` ``[out, in]``."""
        return cls(weight.shape[0], weight.shape[1], [weight])

    def placed(self, unit: int = 1) -> Iterator[tuple[int, Tensor]]:
        """The parts, contiguous, each with the number of channels before it, a multiple of `unit`.

        Where a part ends between two multiples, what is left of it comes with the next.
        """
        first, left = 0, torch.empty(0, self.width)
        for part in self.parts:
            some = torch.cat([left, part]) if len(left) else part
            whole = len(some) // unit * unit
            if whole:
                yield first, some[:whole].contiguous()
            first, left = first + whole, some[whole:].clone()  # who gave it may write the next part into it
        if len(left):
            yield first, left.contiguous()
