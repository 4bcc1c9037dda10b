"""The feed-forward part of Gemma 4's mixtures: an MLP that all rows go through, and experts beside it."""

from collections.abc import Sequence

from torch import Tensor

from llama_gui.engine.experts import Experts
from llama_gui.engine.int8_mlp import Int8MLP
from llama_gui.engine.layers import MLP, RMSNorm
from llama_gui.engine.linear import Linear


class Gemma4Mixture:
    """Both have norms of their own before and behind them, and so has the router, which sees what nothing has normed.

    `norms`: of what goes to the router, of what goes into experts, of what the MLP has made, of what experts have made.
    """

    def __init__(self, mlp: MLP | Int8MLP, experts: Experts, norms: tuple[RMSNorm, RMSNorm, RMSNorm, RMSNorm]) -> None:
        self.mlp = mlp
        self.experts = experts
        self.norms = norms

    @property
    def linears(self) -> Sequence[Linear]:
        """All of them, those of the MLP first, and those of the last expert last."""
        return [*self.mlp.linears, *self.experts.linears]

    def __call__(self, normed: Tensor, x: Tensor) -> Tensor:
        """``[rows, hidden]`` as the MLP's norm has made them, and as they were ``-> [rows, hidden]``."""
        of_router, of_experts, behind_mlp, behind_experts = self.norms
        mixed = self.experts.mix(of_experts(x), *self.experts.router(of_router(x)))
        return behind_mlp(self.mlp(normed)) + behind_experts(mixed)
