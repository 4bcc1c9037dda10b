"""State spaces of Mamba-2 (Dao and Gu 2024, https://arxiv.org/abs/2405.21060), as Granite 4.0's hybrids have them.

Each head holds a matrix. A token lets it fade, adds its value under its key, and reads it with its query. Tokens go
through one after the other, whatever step they come in: so the bits do not depend on how a prompt was cut. (Other
programs multiply blocks of tokens, whose bits do.)
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.layer_states import Piece
from llama_gui.engine.linear import Linear
from llama_gui.engine.mamba_config import MambaConfig
from llama_gui.engine.recurrent import RatedRecurrent


@dataclass(frozen=True, slots=True)
class MambaWeights:
    """The small weights of a layer, float32.

    `taps` ``[taps, mixed_width]``: of the convolution, the newest last; `bias` ``[mixed_width]``. `slopes`, `offsets`,
    `skips` ``[heads]``: a token counts ``softplus(rate + offset)``, slopes, which are below zero, say how fast a head
    forgets, and skips how much of a value is read without being held. `norm` ``[inner]``: of what all heads read.
    """

    taps: Tensor
    bias: Tensor | None
    slopes: Tensor
    offsets: Tensor
    skips: Tensor
    norm: Tensor


class Mamba(RatedRecurrent):
    """See `Recurrent`.

    `qkv`: makes gates, values, keys, queries and rates ``[made_width]``, side by side. `rates`: float32, makes the last
    again, ``[heads]``: they are exponentiated, and those of `qkv` may be of rounded weights.
    """

    def __init__(
        self, qkv: Linear, rates: Linear, out: Linear, config: MambaConfig, weights: MambaWeights, number: int
    ) -> None:
        super().__init__(qkv, rates, out, number, config.inner)
        self.config = config
        self.weights = weights

    def _read(self, mixed: Tensor, rates: Tensor, piece: Piece) -> Tensor:
        """One token at a time: ``[rows, inner]`` in float32. Torch's activations of several have other bits."""
        config, weights = self.config, self.weights
        before, memory = piece.source.inputs[self.number], piece.source.memory[self.number]
        gates, seen, _ = mixed.split((config.inner, config.mixed_width, config.heads), 1)
        window = torch.cat((before, seen))
        read: list[Tensor] = []
        for token in range(len(mixed)):
            convolved = self._activated((window[token : token + config.taps] * weights.taps).sum(0))
            times = F.softplus(rates[token] + weights.offsets).unsqueeze(1)
            memory, found = self._step(memory, convolved, times)
            read.append(self._normed(found.flatten() * F.silu(gates[token])))
        if piece.target is not None:
            piece.target.inputs[self.number] = window[len(mixed) :]
            piece.target.memory[self.number] = memory
        return torch.stack(read)

    def _activated(self, convolved: Tensor) -> Tensor:
        bias = self.weights.bias
        return F.silu(convolved if bias is None else convolved + bias)

    def _step(self, memory: Tensor, convolved: Tensor, times: Tensor) -> tuple[Tensor, Tensor]:
        """Of one token: the new memory, and what is read from it, ``[heads, head_dim]``."""
        config, weights = self.config, self.weights
        shared = config.groups * config.state_dim
        values, keys, queries = convolved.split((config.inner, shared, shared))
        values = values.view(config.heads, -1)
        k, q = (x.view(config.groups, -1).repeat_interleave(config.heads // config.groups, 0) for x in (keys, queries))
        fade = (weights.slopes.unsqueeze(1) * times).exp()
        memory = memory * fade.unsqueeze(2) + k.unsqueeze(2) * (times * values).unsqueeze(1)
        return memory, (memory * q.unsqueeze(2)).sum(1) + weights.skips.unsqueeze(1) * values

    def _normed(self, read: Tensor) -> Tensor:
        """The heads of each group as one."""
        groups = read.view(self.config.groups, -1)
        scale = groups.square().mean(1, keepdim=True).add_(self.config.eps).rsqrt_()
        return (groups * scale).flatten() * self.weights.norm
