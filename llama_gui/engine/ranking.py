"""What sampling needs of logits: their mass and the likeliest tokens, found by a card or by our own kernels.

A vocabulary of 128,000 takes half a megabyte for each answer and token, and searching it on the CPU longer than a card
needs for the step. So of what lies there only these numbers are fetched; whoever needs more of a row (penalties, a
grammar) fetches it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from llama_gui.engine.native_kernels import NativeKernels

RANKS = 64
"""How many of the likeliest tokens are told: as many as `sampling.candidates` looks at first."""


@dataclass(frozen=True, slots=True)
class RankedRow:
    """Logits of one place: what is told of them, and where all of them are.

    `size`: how many tokens there are. `mass`: the logarithm of the sum of their exponentials; `cooled`: the same of
    ``(logits - best) / temperature``. `values`, `ids`: the largest ``RANKS`` or fewer and their places, in order.
    `step`: float32 ``[rows, head]`` where they lie, of which this is row `row`; on a card valid until the next step.
    """

    size: int
    mass: float
    cooled: float
    values: Sequence[float]
    ids: Sequence[int]
    step: Tensor
    row: int

    def tells(self, count: int) -> bool:
        """Whether the `count` likeliest are told, or all there are."""
        return len(self.values) >= min(count, self.size)

    def whole(self) -> Tensor:
        """All logits ``[size]``, on the CPU."""
        return self.step[self.row, : self.size].cpu()


class Ranker:
    """Ranks the first `tokens` logits of each row: the network's head may have more rows than there are tokens."""

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens

    def width(self, rows: int) -> int:
        """Of what `rank` returns for a head of so many rows."""
        return 2 + 2 * min(RANKS, self._tokens, rows)

    def rank(self, logits: Tensor, temperatures: Tensor) -> Tensor:
        """Float32 ``[rows, width]`` of float32 `logits` ``[rows, head]``; `temperatures` ``[rows, 1]`` are not 0.

        Nothing in it waits for the card. Ids are exact in float32 below 16 million.
        """
        logits = logits[:, : self._tokens]
        values, ids = logits.topk(min(RANKS, logits.shape[1]), 1)
        mass = logits.logsumexp(1, keepdim=True)
        cooled = ((logits - values[:, :1]) / temperatures).logsumexp(1, keepdim=True)
        return torch.cat((mass, cooled, values, ids.float()), 1)

    def rows(self, logits: Tensor, ranks: Tensor) -> list[RankedRow]:
        """Those of `logits`, of which `rank` has made `ranks`. Waits for the card."""
        told = ranks.cpu()
        size, count = min(self._tokens, logits.shape[1]), (told.shape[1] - 2) // 2
        # Numbers of Python: of so few, torch takes longer for each operation than Python for all.
        numbers, ids = told[:, : 2 + count].tolist(), told[:, 2 + count :].int().tolist()
        return [
            RankedRow(size, mass, cooled, values, its_ids, logits, row)
            for row, ((mass, cooled, *values), its_ids) in enumerate(zip(numbers, ids, strict=True))
        ]


def ranked(logits: Tensor, temperature: float, count: int, kernels: NativeKernels) -> RankedRow | None:
    """The `count` likeliest of float32 `logits` ``[vocab]`` on the CPU, and the rest; None: they are not finite."""
    found = kernels.rank(logits.contiguous(), temperature, count)
    return None if found is None else RankedRow(len(logits), *found, logits.unsqueeze(0), 0)


def temperatures_on(device: torch.device, temperatures: Sequence[float]) -> Tensor:
    """``[rows, 1]``, as `Ranker.rank` takes them."""
    return torch.tensor(temperatures, dtype=torch.float32).unsqueeze(1).to(device)
