"""SigLIP's network for images (https://arxiv.org/abs/2303.15343), and what makes rows of its patches."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.layers import RMSNorm
from llama_gui.engine.linear import Linear
from llama_gui.engine.vision.activation import Gelu
from llama_gui.engine.vision.attention import Held, PatchAttention
from llama_gui.engine.vision.pixels import PreparedImage
from llama_gui.engine.vision.siglip_config import SiglipConfig
from llama_gui.engine.vision.tower import VisionTower, attend_in_pieces, patches_of


class LayerNorm(NamedTuple):
    """The norm with a mean and a bias, over the last dimension."""

    weight: Tensor
    bias: Tensor
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        """``[..., size] -> [..., size]``."""
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


@dataclass(frozen=True, slots=True)
class SiglipLayer:
    """One layer of it: each patch sees all."""

    attention_norm: LayerNorm
    qkv: Linear
    out: Linear
    mlp_norm: LayerNorm
    inner: Linear
    outer: Linear


@dataclass(frozen=True, slots=True)
class MeanRows:
    """Gemma 3's: each row is the mean of a square of patches, of which there are `per_side` in either direction."""

    per_side: int
    norm: RMSNorm
    projection: Linear

    def __call__(self, x: Tensor) -> Tensor:
        """``[patches, hidden] -> [rows, text_size]``."""
        size = math.isqrt(len(x)) // self.per_side
        means = x.view(self.per_side, size, self.per_side, size, -1).mean((1, 3)).flatten(0, 1)
        return self.projection(self.norm(means))


@dataclass(frozen=True, slots=True)
class ShuffledRows:
    """Idefics 3's: each row is a square of `merge` x `merge` patches behind one another (pixel shuffle)."""

    merge: int
    projection: Linear

    def __call__(self, x: Tensor) -> Tensor:
        """``[patches, hidden] -> [rows, text_size]``."""
        side = math.isqrt(len(x)) // self.merge
        grid = x.view(side, self.merge, side, self.merge, -1).transpose(1, 2)
        return self.projection(grid.flatten(0, 1).flatten(1))


class SiglipTower(VisionTower):
    """Reads images that are squares, or lie in squares below each other."""

    def __init__(
        self,
        config: SiglipConfig,
        patches: Linear,
        places: Tensor,
        layers: Sequence[SiglipLayer],
        norm: LayerNorm,
        make_rows: MeanRows | ShuffledRows,
        attention: PatchAttention,
        gelu: Gelu,
    ) -> None:
        """`patches`: of ``[3 * patch_size ** 2]`` colours. `places`: ``[patches, hidden]``, is added to them.

        `norm`: of the patches at the end; `make_rows` of what it gives.
        """
        self._config = config
        self._patches = patches
        self._places = places
        self._layers = tuple(layers)
        self._norm = norm
        self._make_rows = make_rows
        self._attention = attention
        self._gelu = gelu
        colours = torch.tensor((config.mean, config.deviation), device=places.device)
        self._mean, self._deviation = colours.mul(255).unbind()

    @property
    def linears(self) -> list[Linear]:
        """Every linear of it."""
        layers = [(layer.qkv, layer.out, layer.inner, layer.outer) for layer in self._layers]
        return [self._patches, *sum(layers, ()), self._make_rows.projection]

    def read(self, image: PreparedImage) -> Iterator[Tensor | None]:
        """See `VisionTower.read`."""
        made: list[Tensor] = []
        config, device = self._config, self._places.device
        held = self._attention.hold(len(self._places), config.num_attention_heads, config.head_dim, device)
        for pixels in image.pixels.split(self._config.image_size):
            patches = patches_of(pixels, self._config.patch_size, self._mean, self._deviation)
            x = self._patches(patches.to(self._places.dtype)) + self._places
            yield None
            for layer in self._layers:
                yield from self._run(layer, x, held)
            made.append(self._make_rows(self._norm(x)))
            yield None
        yield torch.cat(made)

    def _run(self, layer: SiglipLayer, x: Tensor, held: Held) -> Iterator[None]:
        """Change `x` ``[patches, hidden]`` to what the layer makes of it."""
        heads, dim = self._config.num_attention_heads, self._config.head_dim

        def make_heads(some: Tensor, _: slice) -> Tensor:
            return layer.qkv(layer.attention_norm(some)).unflatten(1, (3, heads, dim)).transpose(0, 1)

        def finish(some: Tensor, seen: Tensor) -> Tensor:
            some = some + layer.out(seen)
            return some + layer.outer(self._gelu(layer.inner(layer.mlp_norm(some))))

        yield from attend_in_pieces(x, make_heads, finish, held)
