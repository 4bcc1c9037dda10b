"""What sampling needs of logits that lie on a card: their mass and the likeliest tokens, found there.

A vocabulary of 128,000 takes half a megabyte for each answer and token, and searching it on the CPU longer than a card
needs for the step. So only these numbers are fetched; whoever needs more of a row (penalties, a grammar) fetches it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

RANKS = 64
"""How many of the likeliest tokens are fetched: as many as `sampling.candidates` looks at first."""


@dataclass(frozen=True, slots=True)
class RankedRow:
    """Logits of one place. All but `logits` is on the CPU.

    `logits`: float32 ``[tokens]`` on the card, valid until the next step. `mass`: the logarithm of the sum of their
    exponentials; `cooled`: the same of ``(logits - best) / temperature``. `values` and `ids` ``[RANKS or fewer]``: the
    largest and their places, in order.
    """

    logits: Tensor
    mass: float
    cooled: float
    values: Tensor
    ids: Tensor

    def whole(self) -> Tensor:
        """All logits, on the CPU."""
        return self.logits.cpu()


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
        count = (told.shape[1] - 2) // 2
        ids = told[:, 2 + count :].long()
        return [
            RankedRow(row[: self._tokens], mass, cooled, values, its_ids)
            for row, (mass, cooled), values, its_ids in zip(
                logits, told[:, :2].tolist(), told[:, 2 : 2 + count], ids, strict=True
            )
        ]


def temperatures_on(device: torch.device, temperatures: Sequence[float]) -> Tensor:
    """``[rows, 1]``, as `Ranker.rank` takes them."""
    return torch.tensor(temperatures, dtype=torch.float32).unsqueeze(1).to(device)
