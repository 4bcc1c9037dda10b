"""Pixtral's network for images (https://arxiv.org/abs/2410.07073), and what makes rows of the text network of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.layers import RMSNorm
from llama_gui.engine.linear import Linear
from llama_gui.engine.rotary import rotate
from llama_gui.engine.vision.attention import Held, PatchAttention
from llama_gui.engine.vision.config import PixtralConfig
from llama_gui.engine.vision.pixels import PreparedImage
from llama_gui.engine.vision.tower import VisionTower, attend_in_pieces, grid_of, patches_of, piece_for


@dataclass(frozen=True, slots=True)
class PixtralLayer:
    """One layer of it: each patch sees all."""

    attention_norm: RMSNorm
    qkv: Linear
    out: Linear
    mlp_norm: RMSNorm
    gate_up: Linear
    down: Linear


@dataclass(frozen=True, slots=True)
class Projector:
    """What makes a row of `merge` x `merge` patches."""

    norm: RMSNorm
    merging: Linear
    inner: Linear
    outer: Linear


class PixtralTower(VisionTower):
    """Reads images of any form."""

    def __init__(
        self,
        config: PixtralConfig,
        patches: Linear,
        norm: RMSNorm,
        layers: Sequence[PixtralLayer],
        projector: Projector,
        attention: PatchAttention,
    ) -> None:
        """`patches`: of ``[3 * patch_size ** 2]`` colours."""
        self._config = config
        self._patches = patches
        self._norm = norm
        self._layers = tuple(layers)
        self._projector = projector
        self._attention = attention
        self._dtype, self._device = norm.dtype, norm.weight.device
        colours = torch.tensor((config.mean, config.deviation), device=self._device)
        self._mean, self._deviation = colours.mul(255).unbind()

    @property
    def linears(self) -> list[Linear]:
        """Every linear of it."""
        layers = [(layer.qkv, layer.out, layer.gate_up, layer.down) for layer in self._layers]
        projector = self._projector
        return [self._patches, *sum(layers, ()), projector.merging, projector.inner, projector.outer]

    def read(self, image: PreparedImage) -> Iterator[Tensor | None]:
        """See `VisionTower.read`."""
        pixels = patches_of(image.pixels, self._config.patch_size, self._mean, self._deviation)
        x = self._norm(self._patches(pixels.to(self._dtype)))
        yield None
        cos, sin = self._turns(image)
        held = self._attention.hold(len(x), self._config.num_attention_heads, self._config.head_dim, x.device)
        for layer in self._layers:
            yield from self._run(layer, x, held, cos, sin)
        made: list[Tensor] = []
        for part in self._merged(x, image).split(piece_for(x.device)):
            made.append(self._projected(part))
            yield None
        yield torch.cat(made)

    def _turns(self, image: PreparedImage) -> tuple[Tensor, Tensor]:
        """Half of the pairs of each head turn with the line, and half with the place in it; see `Turns`."""
        config = self._config
        steps = torch.arange(0, config.head_dim, 2, dtype=torch.int64, device=self._device).float() / config.head_dim
        frequencies = 1.0 / config.rope_theta**steps
        places, lines = grid_of(image, config.merge, self._device)
        of_line, of_place = (lines, frequencies[0::2]), (places, frequencies[1::2])
        angles = torch.cat((torch.outer(*of_line), torch.outer(*of_place)), 1)
        cos, sin = angles.cos(), angles.sin()
        return torch.cat((cos, cos), 1).unsqueeze(1), torch.cat((-sin, sin), 1).unsqueeze(1)

    def _run(self, layer: PixtralLayer, x: Tensor, held: Held, cos: Tensor, sin: Tensor) -> Iterator[None]:
        """Change `x` ``[patches, hidden]`` to what the layer makes of it."""
        heads, dim = self._config.num_attention_heads, self._config.head_dim

        def make_heads(some: Tensor, piece: slice) -> Tensor:
            q, k, v = layer.qkv(layer.attention_norm(some)).float().unflatten(1, (3, heads, dim)).unbind(1)
            return torch.stack((rotate(q, cos[piece], sin[piece]), rotate(k, cos[piece], sin[piece]), v))

        def finish(some: Tensor, seen: Tensor) -> Tensor:
            some = some + layer.out(seen)
            gate, up = layer.gate_up(layer.mlp_norm(some)).chunk(2, 1)
            gate = F.silu(gate) if self._config.activation == "silu" else F.gelu(gate)
            return some + layer.down(gate * up)

        yield from attend_in_pieces(x, make_heads, finish, held)

    def _merged(self, x: Tensor, image: PreparedImage) -> Tensor:
        """The patches of each row behind one another, number by number: ``[rows, hidden * merge ** 2]``."""
        merge = self._config.merge
        grid = self._projector.norm(x).view(image.rows, merge, image.columns, merge, -1)
        return grid.permute(0, 2, 4, 1, 3).flatten(2).flatten(0, 1)

    def _projected(self, merged: Tensor) -> Tensor:
        projector = self._projector
        return projector.outer(F.gelu(projector.inner(projector.merging(merged))))
