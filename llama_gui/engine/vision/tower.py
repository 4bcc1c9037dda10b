"""Pixtral's network for images (https://arxiv.org/abs/2410.07073), and what makes rows of the text network of it.

An image is read in pieces, a few lines of it in one layer at a time: answers of others go on between them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.layers import RMSNorm
from llama_gui.engine.linear import Linear
from llama_gui.engine.rotary import Turns, rotate
from llama_gui.engine.vision.config import Activation, VisionConfig
from llama_gui.engine.vision.pixels import PreparedImage

PIECE = 128
"""Patches that are computed at a time."""


@dataclass(frozen=True, slots=True)
class VisionLayer:
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


class VisionTower:
    """Reads one image at a time; not thread-safe."""

    def __init__(
        self,
        config: VisionConfig,
        patches: Linear,
        norm: RMSNorm,
        layers: Sequence[VisionLayer],
        projector: Projector,
        attention_dtype: torch.dtype,
    ) -> None:
        """`patches`: of ``[3 * patch_size ** 2]`` colours. `attention_dtype`: in which patches see each other."""
        self._config = config
        self._patches = patches
        self._norm = norm
        self._layers = tuple(layers)
        self._projector = projector
        self._attention_dtype = attention_dtype
        self._dtype, self._device = norm.dtype, norm.weight.device
        colours = torch.tensor((config.mean, config.deviation), device=self._device)
        self._mean, self._deviation = colours.mul(255).unbind()

    @property
    def linears(self) -> list[Linear]:
        """Every linear of it."""
        layers = [(layer.qkv, layer.out, layer.gate_up, layer.down) for layer in self._layers]
        projector = self._projector
        return [self._patches, *sum(layers, ()), projector.merging, projector.inner, projector.outer]

    @property
    def weight_bytes(self) -> int:
        """Bytes of its weights in memory, nearly."""
        return sum(linear.weight_bytes for linear in self.linears)

    def read(self, image: PreparedImage) -> Iterator[Tensor | None]:
        """None after each piece, and at last ``[rows of the image, text_size]``.

        Raises:
            RuntimeError: there is no memory for it.
        """
        x = self._embedded(image)
        yield None
        turns = self._turns(image)
        for layer in self._layers:
            yield from self._run(layer, x, turns)
        made: list[Tensor] = []
        for part in self._merged(x, image).split(PIECE):
            made.append(self._projected(part))
            yield None
        yield torch.cat(made)

    def rows(self, image: PreparedImage) -> Tensor:
        """The same at once."""
        *_, rows = self.read(image)
        assert rows is not None
        return rows

    def _embedded(self, image: PreparedImage) -> Tensor:
        """``[patches, hidden]``, line by line."""
        size = self._config.patch_size
        colours = (image.pixels.to(self._device).float() - self._mean) / self._deviation
        lines = colours.unflatten(0, (-1, size)).unflatten(2, (-1, size))  # [lines, size, patches, size, 3]
        pixels = lines.permute(0, 2, 4, 1, 3).reshape(-1, 3 * size * size).to(self._dtype)
        return self._norm(self._patches(pixels))

    def _turns(self, image: PreparedImage) -> Turns:
        """Half of the pairs of each head turn with the line, and half with the place in it."""
        config = self._config
        steps = torch.arange(0, config.head_dim, 2, dtype=torch.int64, device=self._device).float() / config.head_dim
        frequencies = 1.0 / config.rope_theta**steps
        lines, places = torch.meshgrid(
            torch.arange(image.rows * config.merge, device=self._device),
            torch.arange(image.columns * config.merge, device=self._device),
            indexing="ij",
        )
        of_line, of_place = (
            torch.outer(lines.flatten(), frequencies[0::2]),
            torch.outer(places.flatten(), frequencies[1::2]),
        )
        angles = torch.cat((of_line, of_place), 1)
        cos, sin = angles.cos(), angles.sin()
        return Turns(torch.cat((cos, cos), 1).unsqueeze(1), torch.cat((-sin, sin), 1).unsqueeze(1))

    def _run(self, layer: VisionLayer, x: Tensor, turns: Turns) -> Iterator[None]:
        """Change `x` ``[patches, hidden]`` to what the layer makes of it."""
        heads, dim = self._config.num_attention_heads, self._config.head_dim
        seen_by = x.new_empty(3, heads, len(x), dim, dtype=self._attention_dtype)
        pieces = [slice(start, start + PIECE) for start in range(0, len(x), PIECE)]
        for piece in pieces:
            q, k, v = layer.qkv(layer.attention_norm(x[piece])).float().unflatten(1, (3, heads, dim)).unbind(1)
            cos, sin = turns.cos[piece], turns.sin[piece]
            seen_by[:, :, piece] = torch.stack((rotate(q, cos, sin), rotate(k, cos, sin), v)).transpose(1, 2)
            yield None
        queries, keys, values = (one.unsqueeze(0) for one in seen_by)
        for piece in pieces:
            seen = F.scaled_dot_product_attention(queries[:, :, piece], keys, values)
            x[piece] += layer.out(seen[0].transpose(0, 1).flatten(1).to(self._dtype))
            gate, up = layer.gate_up(layer.mlp_norm(x[piece])).chunk(2, 1)
            x[piece] += layer.down(_activated(gate, self._config.activation) * up)
            yield None

    def _merged(self, x: Tensor, image: PreparedImage) -> Tensor:
        """The patches of each row behind one another, number by number: ``[rows, hidden * merge ** 2]``."""
        merge = self._config.merge
        grid = self._projector.norm(x).view(image.rows, merge, image.columns, merge, -1)
        return grid.permute(0, 2, 4, 1, 3).flatten(2).flatten(0, 1)

    def _projected(self, merged: Tensor) -> Tensor:
        projector = self._projector
        return projector.outer(F.gelu(projector.inner(projector.merging(merged))))


def _activated(gate: Tensor, activation: Activation) -> Tensor:
    return F.silu(gate) if activation == "silu" else F.gelu(gate)
