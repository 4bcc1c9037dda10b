"""A weight on its way from a file to a linear that rounds it: some output channels after the others."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class PairedRows:
    """Rows of queries or keys of which the two of a pair, which are turned against each other, lie side by side.

    GGUF files of the llama architecture, Meta's own checkpoints and folders of ERNIE and GLM have them so. The weight
    begins with `heads` of `dim` rows; what follows is no head that is turned. Of each, the first `rotated` rows are
    pairs.
    """

    heads: int
    dim: int
    rotated: int

    def in_order(self, weight: Tensor) -> Tensor:
        """As most folders order them: a head's first halves of all pairs, then the second ones."""
        whole = self.heads * self.dim
        heads = weight[:whole].view(self.heads, self.dim, *weight.shape[1:])
        pairs = heads[:, : self.rotated].unflatten(1, (-1, 2)).transpose(1, 2)
        halves = torch.cat((pairs.flatten(1, 2), heads[:, self.rotated :]), 1).flatten(0, 1)
        return torch.cat((halves, weight[whole:])) if whole < len(weight) else halves


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """Rows of several things, of which each group has some, in `parts`: all of the first group lie together.

    Qwen3-Next has what each key head of a gated delta net needs so.
    """

    groups: int
    parts: tuple[int, ...]

    def in_order(self, weight: Tensor) -> Tensor:
        """All of each thing together, the groups behind one another."""
        parts = weight.view(self.groups, -1, *weight.shape[1:]).split(self.parts, 1)
        return torch.cat([part.flatten(0, 1) for part in parts])


RowOrder = PairedRows | GroupedRows
"""How rows of a weight lie in a file, where that is not how they are multiplied."""


@dataclass(frozen=True, slots=True)
class WeightRows:
    """A weight ``[out, in]`` in `parts`, which are only read, one at a time and once.

    They may be views of a file, and differ in dtype. Where the file is GGUF, `kind` is the type that it holds the
    weight in, and `blocks` are the same rows as they lie there: uint8 ``[rows, bytes]``. Read either `parts` or
    `blocks`, never both.
    """

    out: int
    width: int
    parts: Iterable[Tensor]
    kind: str = ""
    blocks: Iterable[Tensor] = ()

    @classmethod
    def of(cls, weight: Tensor) -> Self:
        """All of `weight` ``[out, in]``."""
        return cls(weight.shape[0], weight.shape[1], [weight])

    @classmethod
    def joined(cls, weights: Sequence[Self]) -> Self:
        """Their output channels behind one another; they are of one width, and `kind` is that of the first."""
        return cls(
            sum(weight.out for weight in weights),
            weights[0].width,
            chain.from_iterable(weight.parts for weight in weights),
            weights[0].kind,
            chain.from_iterable(weight.blocks for weight in weights),
        )

    def placed(self, unit: int = 1) -> Iterator[tuple[int, Tensor]]:
        """The parts, contiguous, each with the number of channels before it, a multiple of `unit`.

        Where a part ends between two multiples of `unit`, its remainder comes with the next part.
        """
        return _placed(self.parts, unit)

    def placed_blocks(self, unit: int = 1) -> Iterator[tuple[int, Tensor]]:
        """As `placed`, of the blocks."""
        return _placed(self.blocks, unit)


def _placed(parts: Iterable[Tensor], unit: int) -> Iterator[tuple[int, Tensor]]:
    first, left = 0, torch.empty(0)
    for part in parts:
        some = torch.cat([left, part]) if len(left) else part
        whole = len(some) // unit * unit
        if whole:
            yield first, some[:whole].contiguous()
        first, left = first + whole, some[whole:].clone()  # who gave it may write the next part into it
    if len(left):
        yield first, left.contiguous()
