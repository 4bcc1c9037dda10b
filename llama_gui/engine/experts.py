"""A mixture of experts in the place of an MLP: a router sends each row through a few of many MLPs.

Rows are gathered by expert, so that a step reads the weights of each expert that it needs once. What a row gets depends
on no other row: the results of its experts are added in the order of their numbers.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from llama_gui.engine.int8_mlp import Int8MLP
from llama_gui.engine.layers import MLP
from llama_gui.engine.linear import Linear


class Router:
    """Which experts a row goes through, and with which weights, all in float32.

    As in transformers (`MixtralTopKRouter` and its kin): the softmax over all experts, of which the largest are taken.
    """

    def __init__(self, linear: Linear, chosen: int, *, normalises: bool) -> None:
        """`linear`: float32, a channel for each expert. For the others see `ExpertConfig`."""
        self.linear = linear
        self.chosen = chosen
        self.normalises = normalises

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """``[rows, hidden] ->`` weights (float32) and numbers (int64) of the experts, ``[rows, chosen]`` each."""
        weights, numbers = self.linear(x.float()).softmax(1).topk(self.chosen, 1)
        return (weights / weights.sum(1, keepdim=True) if self.normalises else weights), numbers


class Experts:
    """The sum of what the chosen experts make of a row, each times its weight."""

    def __init__(self, router: Router, experts: Sequence[MLP | Int8MLP]) -> None:
        self.router = router
        self.experts = tuple(experts)

    @property
    def linears(self) -> list[Linear]:
        """All of them, the router first."""
        return [self.router.linear, *(linear for expert in self.experts for linear in expert.linears)]

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``."""
        weights, numbers = self.router(x)
        y = torch.zeros(x.shape, device=x.device)
        dtype = x.dtype
        for number in numbers.unique().tolist():  # in their order
            rows, places = (numbers == number).nonzero(as_tuple=True)
            made = self.experts[number](x[rows])
            y.index_add_(0, rows, made.float() * weights[rows, places].unsqueeze(1))
            dtype = made.dtype
        return y.to(dtype)
