"""Gemma 4's networks for images, as transformers has them: one with layers, and one that does without."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from llama_gui.engine.layers import RMSNorm
from llama_gui.engine.linear import Linear
from llama_gui.engine.rotary import rotate
from llama_gui.engine.vision.activation import Gelu
from llama_gui.engine.vision.attention import Held, PatchAttention
from llama_gui.engine.vision.gemma4_config import Gemma4UnifiedConfig, Gemma4VisionConfig
from llama_gui.engine.vision.pixels import PreparedImage
from llama_gui.engine.vision.siglip import LayerNorm
from llama_gui.engine.vision.tower import VisionTower, attend_in_pieces, grid_of, patches_of, piece_for


class Limits(NamedTuple):
    """Within which numbers are kept that go into a linear, and those that come out of it."""

    input_min: float
    input_max: float
    output_min: float
    output_max: float


class LimitedLinear(NamedTuple):
    """A linear with `limits`; None: it has none."""

    linear: Linear
    limits: Limits | None = None

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, in] -> [rows, out]``."""
        if self.limits is None:
            return self.linear(x)
        limits = self.limits
        return self.linear(x.clamp(limits.input_min, limits.input_max)).clamp(limits.output_min, limits.output_max)


@dataclass(frozen=True, slots=True)
class Gemma4Layer:
    """One layer of it: each patch sees all. There is a norm before and behind either part of it."""

    attention_norm: RMSNorm
    q: LimitedLinear
    k: LimitedLinear
    v: LimitedLinear
    q_norm: RMSNorm
    k_norm: RMSNorm
    v_norm: RMSNorm
    out: LimitedLinear
    attended_norm: RMSNorm
    mlp_norm: RMSNorm
    gate: LimitedLinear
    up: LimitedLinear
    down: LimitedLinear
    done_norm: RMSNorm

    @property
    def linears(self) -> list[Linear]:
        """Every linear of it."""
        return [one.linear for one in (self.q, self.k, self.v, self.out, self.gate, self.up, self.down)]


@dataclass(frozen=True, slots=True)
class Gemma4Rows:
    """What makes rows of the text network. `moved`, `stretched`: number by number; None: they are not."""

    norm: RMSNorm
    projection: Linear
    moved: Tensor | None = None
    stretched: Tensor | None = None

    def __call__(self, x: Tensor) -> Tensor:
        """``[rows, hidden] -> [rows, text_size]``."""
        if self.moved is not None and self.stretched is not None:
            x = (x - self.moved) * self.stretched
        return self.projection(self.norm(x))


class Gemma4Tower(VisionTower):
    """Reads images of any form; a row is the mean of a square of patches."""

    def __init__(
        self,
        config: Gemma4VisionConfig,
        patches: Linear,
        places: Tensor,
        layers: Sequence[Gemma4Layer],
        make_rows: Gemma4Rows,
        attention: PatchAttention,
        gelu: Gelu,
    ) -> None:
        """`patches`: of ``[3 * patch_size ** 2]`` colours. `places`: ``[2, places, hidden]``, across and downwards."""
        self._config = config
        self._patches = patches
        self._places = places
        self._layers = tuple(layers)
        self._make_rows = make_rows
        self._attention = attention
        self._gelu = gelu
        self._middle = torch.full((3,), 127.5, device=places.device)

    @property
    def linears(self) -> list[Linear]:
        """Every linear of it."""
        layers = [linear for layer in self._layers for linear in layer.linears]
        return [self._patches, *layers, self._make_rows.projection]

    def read(self, image: PreparedImage) -> Iterator[Tensor | None]:
        """See `VisionTower.read`."""
        config, places = self._config, self._places
        columns, lines = grid_of(image, config.merge, places.device)
        pixels = patches_of(image.pixels, config.patch_size, self._middle, self._middle, by_pixel=not config.is_gguf)
        x = self._patches(pixels.to(places.dtype)) + places[0][columns] + places[1][lines]
        yield None
        cos, sin = self._turns(columns, lines)
        held = self._attention.hold(len(x), config.num_attention_heads, config.head_dim, x.device)
        for layer in self._layers:
            yield from self._run(layer, x, held, cos, sin)
        squares = x.view(image.rows, config.merge, image.columns, config.merge, -1)
        yield self._make_rows(squares.float().mean((1, 3)).flatten(0, 1) * math.sqrt(config.hidden_size))

    def _turns(self, columns: Tensor, lines: Tensor) -> tuple[Tensor, Tensor]:
        """One half of each head turns with the place in the line, and the other with the line; see `Turns`."""
        half = self._config.head_dim // 2
        steps = torch.arange(0, half, 2, dtype=torch.float32, device=lines.device) / half
        angles = torch.stack((columns, lines), 1).unsqueeze(2) * (1.0 / self._config.rope_theta**steps)
        cos, sin = angles.cos(), angles.sin()
        return torch.cat((cos, cos), 2).unsqueeze(1), torch.cat((-sin, sin), 2).unsqueeze(1)

    def _run(self, layer: Gemma4Layer, x: Tensor, held: Held, cos: Tensor, sin: Tensor) -> Iterator[None]:
        """Change `x` ``[patches, hidden]`` to what the layer makes of it."""
        heads, dim = self._config.num_attention_heads, self._config.head_dim

        def turned(one: Tensor, piece: slice) -> Tensor:
            return rotate(one.float().unflatten(2, (2, dim // 2)), cos[piece], sin[piece]).flatten(2)

        def make_heads(some: Tensor, piece: slice) -> Tensor:
            normed = layer.attention_norm(some)
            q, k, v = (linear(normed).unflatten(1, (heads, dim)) for linear in (layer.q, layer.k, layer.v))
            # Scores are products as they are, and attention divides them by a root.
            q = turned(layer.q_norm(q), piece) * math.sqrt(dim)
            return torch.stack((q, turned(layer.k_norm(k), piece), layer.v_norm(v).float()))

        def finish(some: Tensor, seen: Tensor) -> Tensor:
            some = some + layer.attended_norm(layer.out(seen))
            normed = layer.mlp_norm(some)
            return some + layer.done_norm(layer.down(self._gelu(layer.gate(normed), layer.up(normed))))

        yield from attend_in_pieces(x, make_heads, finish, held)


class Gemma4UnifiedTower(VisionTower):
    """Makes a row of the pixels of a square, which sees no other."""

    def __init__(
        self,
        config: Gemma4UnifiedConfig,
        patches: Linear,
        places: Tensor,
        norms: tuple[LayerNorm, LayerNorm, LayerNorm],
        make_rows: Gemma4Rows,
    ) -> None:
        """`patches`, `places`: see `Gemma4Tower`. `norms`: of pixels, of what is made of them, and with places."""
        self._config = config
        self._patches = patches
        self._places = places
        self._norms = norms
        self._make_rows = make_rows
        self._black, self._white = torch.tensor(((0.0,) * 3, (255.0,) * 3), device=places.device).unbind()

    @property
    def linears(self) -> list[Linear]:
        """Every linear of it."""
        return [self._patches, self._make_rows.projection]

    def read(self, image: PreparedImage) -> Iterator[Tensor | None]:
        """See `VisionTower.read`."""
        config, places = self._config, self._places
        columns, lines = grid_of(image, 1, places.device)
        pixels = patches_of(image.pixels, config.side, self._black, self._white, by_pixel=not config.is_gguf)
        of_pixels, of_squares, of_places = self._norms
        made: list[Tensor] = []
        for piece in torch.arange(len(pixels), device=places.device).split(piece_for(places.device)):
            x = of_squares(self._patches(of_pixels(pixels[piece].to(places.dtype))))
            x = of_places(x + (places[0][columns[piece]] + places[1][lines[piece]]))
            made.append(self._make_rows(x))
            yield None
        yield torch.cat(made)
