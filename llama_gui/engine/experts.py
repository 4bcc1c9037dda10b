"""A mixture of experts in the place of an MLP: a router sends each row through a few of many MLPs.

Rows are gathered by expert, so that a step reads the weights of each expert that it needs once. What a row gets depends
on no other row: the results of its experts are added in the order of their numbers.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.int8_mlp import Int8MLP
from llama_gui.engine.layers import MLP
from llama_gui.engine.linear import Linear

LEAST_SUM = 1e-12
"""Of weights that are divided by their sum: where a correction chooses, it may be 0. It stands again in experts.h."""


class Router:
    """Which experts a row goes through, and with which weights, all in float32.

    As in transformers (`MixtralTopKRouter` and its kin): the softmax over all experts, of which the largest are taken.
    With `by_sigmoid` it is the sigmoid of each logit (`Lfm2MoeTopKRouter`).
    """

    def __init__(
        self,
        linear: Linear,
        chosen: int,
        *,
        normalises: bool,
        correction: Tensor | None = None,
        by_sigmoid: bool = False,
        scales: Tensor | None = None,
    ) -> None:
        """`linear`: float32, a channel for each expert. For the others see `ExpertConfig`.

        `correction`, `scales`: float32 ``[experts]``, see `ExpertNames`.
        """
        self.linear = linear
        self.chosen = chosen
        self.normalises = normalises
        self.correction = correction
        self.by_sigmoid = by_sigmoid
        self.scales = scales

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """``[rows, hidden] ->`` weights (float32) and numbers (int64) of the experts, ``[rows, chosen]`` each."""
        logits = self.linear(x.float())
        weights = _sigmoid(logits) if self.by_sigmoid else logits.softmax(1)
        if self.correction is None:
            weights, numbers = weights.topk(self.chosen, 1)
        else:
            numbers = (weights + self.correction).topk(self.chosen, 1).indices
            weights = weights.gather(1, numbers)
        if self.normalises:
            weights = weights / weights.sum(1, keepdim=True).clamp_(min=LEAST_SUM)
        return (weights if self.scales is None else weights * self.scales[numbers]), numbers


def _sigmoid(logits: Tensor) -> Tensor:
    """As the softmax beside 0: that goes row by row, and torch's own has other bits at the end of its numbers."""
    return F.pad(logits.reshape(-1, 1), (0, 1)).softmax(1)[:, 0].view_as(logits)


class SharedExpert:
    """An MLP that all rows go through. `gate`: float32 ``[1, hidden]``, see `ExpertNames.shared_gate`."""

    def __init__(self, mlp: MLP | Int8MLP, gate: Linear | None) -> None:
        self.mlp = mlp
        self.gate = gate

    @property
    def linears(self) -> list[Linear]:
        """All of them."""
        return [*([] if self.gate is None else [self.gate]), *self.mlp.linears]

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``, float32."""
        made = self.mlp(x).float()
        if self.gate is None:
            return made
        return made * _sigmoid(self.gate(x.float()))


class Experts:
    """The sum of what the chosen experts make of a row, each times its weight, and of what a shared one does."""

    def __init__(self, router: Router, experts: Sequence[MLP | Int8MLP], shared: SharedExpert | None = None) -> None:
        self.router = router
        self.experts = tuple(experts)
        self.shared = shared

    @property
    def linears(self) -> list[Linear]:
        """All of them, the router first, and those of the last expert last."""
        shared = [] if self.shared is None else self.shared.linears
        return [self.router.linear, *shared, *(linear for expert in self.experts for linear in expert.linears)]

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``."""
        return self.mix(x, *self.router(x))

    def mix(self, x: Tensor, weights: Tensor, numbers: Tensor) -> Tensor:
        """The same, with what a router has said: which experts of each row, and how much of them."""
        y = torch.zeros(x.shape, device=x.device)
        dtype = x.dtype
        for number in numbers.unique().tolist():  # in their order
            rows, places = (numbers == number).nonzero(as_tuple=True)
            made = self.experts[number](x[rows])
            y.index_add_(0, rows, made.float() * weights[rows, places].unsqueeze(1))
            dtype = made.dtype
        if self.shared is not None:
            y += self.shared(x)
        return y.to(dtype)
