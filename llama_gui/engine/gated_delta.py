"""Gated delta nets: linear attention that forgets, and corrects what it holds (Yang et al. 2024,
https://arxiv.org/abs/2412.06464), as Qwen3.5 has it.

Each head holds a matrix. A token lets it fade, looks up what it holds for the token's key, puts it right towards the
token's value, and reads it with the token's query. Tokens go through one after the other, whatever step they come in:
so the bits do not depend on how a prompt was cut. (Other programs multiply blocks of tokens, whose bits do.)
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.delta_config import DeltaConfig
from llama_gui.engine.layer_states import LayerState, Piece
from llama_gui.engine.linear import Linear
from llama_gui.engine.recurrent import RatedRecurrent

_LEAST_NORM = 1e-6
"""Is added to the sum of the squares of queries and keys."""


@dataclass(frozen=True, slots=True)
class DeltaWeights:
    """The small weights of a layer, float32.

    `taps` ``[taps, mixed_width]``: of the convolution, the newest last. `slopes`, `offsets` ``[value_heads]``: how fast
    a head forgets is ``slope * softplus(rate + offset)``, to be exponentiated; slopes are below zero. `norm`
    ``[value_dim]``: of what a head reads.
    """

    taps: Tensor
    slopes: Tensor
    offsets: Tensor
    norm: Tensor
    eps: float


class GatedDeltaNet(RatedRecurrent):
    """See `Recurrent`.

    `qkv`: makes queries, keys, values and output gates ``[mixed_width + value_width]``, side by side. `rates`: float32,
    makes how much each head corrects, and how much it forgets ``[2 * value_heads]``.
    """

    def __init__(
        self, qkv: Linear, rates: Linear, out: Linear, config: DeltaConfig, weights: DeltaWeights, number: int
    ) -> None:
        super().__init__(qkv, rates, out, number, config.value_width)
        self.config = config
        self.weights = weights

    def _read(self, mixed: Tensor, rates: Tensor, piece: Piece) -> Tensor:
        """One token at a time: ``[rows, value_width]`` in float32."""
        config, taps = self.config, self.weights.taps
        inputs, memory = self._held(piece.source)
        seen, gates = mixed.split((config.mixed_width, config.value_width), 1)
        window = torch.cat((inputs, seen))
        corrects, forgets = rates.chunk(2, 1)
        read: list[Tensor] = []
        for token in range(len(mixed)):
            convolved = F.silu((window[token : token + len(taps)] * taps).sum(0))
            fade = (self.weights.slopes * F.softplus(forgets[token] + self.weights.offsets)).exp()
            memory, found = self._step(memory, convolved, fade.view(-1, 1, 1), corrects[token].sigmoid().view(-1, 1))
            read.append((found * F.silu(gates[token].view_as(found))).flatten())
        if piece.target is not None:
            to_inputs, to_memory = self._held(piece.target)
            to_inputs.copy_(window[len(mixed) :])
            to_memory.copy_(memory)
        return torch.stack(read)

    def _step(self, memory: Tensor, convolved: Tensor, fade: Tensor, corrects: Tensor) -> tuple[Tensor, Tensor]:
        """Of one token: the new memory, and what is read from it, normed, ``[value_heads, value_dim]``."""
        config = self.config
        queries, keys, values = convolved.split((config.key_width, config.key_width, config.value_width))
        served = config.key_of(torch.arange(config.value_heads, device=memory.device))
        q, k = (_normed(x.view(config.key_heads, -1))[served].unsqueeze(2) for x in (queries, keys))
        memory = memory * fade
        wrong = values.view(config.value_heads, -1) - (memory * k).sum(1)
        memory = memory + k * (wrong * corrects)[:, None]
        found = (memory * q).sum(1) / config.key_dim**0.5
        scale = found.square().mean(1, keepdim=True).add_(self.weights.eps).rsqrt_()
        return memory, found * scale * self.weights.norm

    def _held(self, state: LayerState) -> tuple[Tensor, Tensor]:
        return state.inputs[self.number], state.memory[self.number]


def _normed(x: Tensor) -> Tensor:
    """Of each row: divided by its length."""
    return x * x.square().sum(1, keepdim=True).add_(_LEAST_NORM).rsqrt_()
