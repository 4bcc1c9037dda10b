"""The networks for images of Qwen2-VL, Qwen2.5-VL and Qwen3-VL, and what makes rows of their patches."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
import torch.nn.functional as F
from torch import Tensor

from llama_gui.engine.layers import RMSNorm
from llama_gui.engine.linear import Linear
from llama_gui.engine.rotary import rotate
from llama_gui.engine.vision.activation import Gelu
from llama_gui.engine.vision.attention import PatchAttention
from llama_gui.engine.vision.pixels import PreparedImage
from llama_gui.engine.vision.qwen_config import QwenVisionConfig
from llama_gui.engine.vision.siglip import LayerNorm
from llama_gui.engine.vision.tower import VisionTower, attend_in_pieces, patches_of, piece_for

Norm = RMSNorm | LayerNorm
_THETA = 10000.0
_QUICK = 1.702
"""The slope of the sigmoid in Qwen2-VL's activation, which comes near that of GELU."""


@dataclass(frozen=True, slots=True)
class QwenLayer:
    """One layer. `inner`: gate and up in Qwen2.5-VL's."""

    attention_norm: Norm
    qkv: Linear
    out: Linear
    mlp_norm: Norm
    inner: Linear
    outer: Linear


@dataclass(frozen=True, slots=True)
class QwenMerger:
    """What makes a row of the patches of a square, which lie behind one another.

    `norms_rows`: the norm is of all of them together, and not of each.
    """

    norm: Norm
    inner: Linear
    outer: Linear
    norms_rows: bool = False

    def __call__(self, x: Tensor, merge: int) -> Tensor:
        """``[patches, hidden] -> [rows, text_size]``."""
        squares = x.unflatten(0, (-1, merge**2))
        rows = self.norm(squares.flatten(1)) if self.norms_rows else self.norm(x).view_as(squares).flatten(1)
        return self.outer(F.gelu(self.inner(rows)))


class _Order:
    """In which order patches are computed: those of a row together, and the rows of a window.

    `places` int64 ``[patches]``: where each lies in the image, line by line. `lines`, `columns`: the same, of patches.
    `windows`: how many patches each has. `back` ``[rows]``: in which order rows are those of the image again.
    """

    def __init__(self, config: QwenVisionConfig, image: PreparedImage, device: torch.device) -> None:
        merge, rows, columns = config.merge, image.rows, image.columns
        size = config.window_rows or max(rows, columns)
        across = -(-columns // size)
        row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
        window = (row // size * across + column // size).flatten()
        order = window.argsort(stable=True)
        self.windows = (window.bincount() * merge**2).tolist()
        self.back = order.argsort().to(device)
        down, right = torch.meshgrid(torch.arange(merge), torch.arange(merge), indexing="ij")
        self.lines = (row.flatten()[order, None] * merge + down.flatten()).flatten().to(device)
        self.columns = (column.flatten()[order, None] * merge + right.flatten()).flatten().to(device)
        self.places = self.lines * (columns * merge) + self.columns


class QwenTower(VisionTower):
    """Reads images of any form."""

    def __init__(
        self,
        config: QwenVisionConfig,
        patches: Linear,
        places: Tensor | None,
        layers: Sequence[QwenLayer],
        mergers: Sequence[QwenMerger],
        attention: PatchAttention,
        gelu: Gelu,
    ) -> None:
        """`patches`: of ``[3 * patch_size ** 2]`` colours. `places`: ``[places_per_side ** 2, hidden]``, or None.

        `mergers`: behind the last layer, and behind each of `QwenVisionConfig.deep_layers`.
        """
        self._config = config
        self._patches = patches
        self._places = places
        self._layers = tuple(layers)
        self._mergers = tuple(mergers)
        self._attention = attention
        self._gelu = gelu
        norm = layers[0].attention_norm
        self._dtype, self._device = norm.weight.dtype, norm.weight.device
        colours = torch.tensor((config.mean, config.deviation), device=self._device)
        self._mean, self._deviation = colours.mul(255).unbind()

    @property
    def linears(self) -> list[Linear]:
        """Every linear of it."""
        layers = [(layer.qkv, layer.out, layer.inner, layer.outer) for layer in self._layers]
        mergers = [(merger.inner, merger.outer) for merger in self._mergers]
        return [self._patches, *sum([*layers, *mergers], ())]

    def read(self, image: PreparedImage) -> Iterator[Tensor | None]:
        """See `VisionTower.read`. Rows have those of all mergers behind one another."""
        config, order = self._config, _Order(self._config, image, self._device)
        pixels = patches_of(image.pixels, config.patch_size, self._mean, self._deviation)
        x = self._patches(pixels[order.places].to(self._dtype))
        if self._places is not None:
            x = x + self._learned(self._places, image)[order.places].to(x.dtype)
        yield None
        turns, made = self._turns(order), list[Tensor]()
        held = self._attention.hold(len(x), config.num_attention_heads, config.head_dim, x.device)
        for number, layer in enumerate(self._layers):
            make_heads, finish = self._halves(layer, turns)
            if config.window and number not in config.whole_layers:
                yield from _attend_in_windows(x, order.windows, make_heads, finish)
            else:
                yield from attend_in_pieces(x, make_heads, finish, held)
            if number in config.deep_layers:
                yield from self._merge(self._mergers[1 + len(made)], x, made)
        yield from self._merge(self._mergers[0], x, made)
        *deep, last = made
        yield torch.cat((last, *deep), 1)[order.back]

    def _merge(self, merger: QwenMerger, x: Tensor, made: list[Tensor]) -> Iterator[None]:
        """Put what becomes of all patches behind what is `made`."""
        square = self._config.merge**2
        parts: list[Tensor] = []
        for some in x.split(max(1, piece_for(x.device) // square) * square):
            parts.append(merger(some, self._config.merge))
            yield None
        made.append(torch.cat(parts))

    def _learned(self, places: Tensor, image: PreparedImage) -> Tensor:
        """What is added to the patches of an image, line by line: the grid of `places`, stretched over it."""
        side, merge = self._config.places_per_side, self._config.merge
        grid = places.float().t().view(1, -1, side, side)
        size = image.rows * merge, image.columns * merge
        return F.interpolate(grid, size, mode="bilinear", align_corners=True)[0].flatten(1).t()

    def _turns(self, order: _Order) -> tuple[Tensor, Tensor]:
        """A quarter of a head's numbers turn with the line, against a third one, the others with the place in it.

        See `Turns`.
        """
        half = self._config.head_dim // 2
        steps = torch.arange(0, half, 2, dtype=torch.int64, device=self._device).float() / half
        frequencies = 1.0 / _THETA**steps
        angles = torch.cat((torch.outer(order.lines, frequencies), torch.outer(order.columns, frequencies)), 1)
        cos, sin = angles.cos(), angles.sin()
        return torch.cat((cos, cos), 1).unsqueeze(1), torch.cat((-sin, sin), 1).unsqueeze(1)

    def _halves(
        self, layer: QwenLayer, turns: tuple[Tensor, Tensor]
    ) -> tuple[Callable[[Tensor, slice], Tensor], Callable[[Tensor, Tensor], Tensor]]:
        """What `layer` does before some patches see others, and what behind it, see `attend_in_pieces`."""
        config, (cos, sin) = self._config, turns

        def make_heads(some: Tensor, piece: slice) -> Tensor:
            heads = layer.qkv(layer.attention_norm(some)).float()
            q, k, v = heads.unflatten(1, (3, config.num_attention_heads, config.head_dim)).unbind(1)
            return torch.stack((rotate(q, cos[piece], sin[piece]), rotate(k, cos[piece], sin[piece]), v))

        def finish(some: Tensor, seen: Tensor) -> Tensor:
            some = some + layer.out(seen)
            return some + layer.outer(self._activated(layer.inner(layer.mlp_norm(some))))

        return make_heads, finish

    def _activated(self, inner: Tensor) -> Tensor:
        match self._config.kind:
            case "qwen2":
                return inner * torch.sigmoid(_QUICK * inner)
            case "qwen2.5":
                gate, up = inner.chunk(2, 1)
                return F.silu(gate) * up
            case "qwen3":
                return self._gelu(inner)


def _attend_in_windows(
    x: Tensor,
    windows: Sequence[int],
    make_heads: Callable[[Tensor, slice], Tensor],
    finish: Callable[[Tensor, Tensor], Tensor],
) -> Iterator[None]:
    """As `attend_in_pieces`, but patches see only those of their window; `windows`: how many patches each has."""
    start = 0
    for length, group in groupby(windows):
        count = sum(1 for _ in group)
        at_once = max(1, piece_for(x.device) // length)
        for first in range(0, count, at_once):
            end = start + min(at_once, count - first) * length
            piece = slice(start, end)
            heads = make_heads(x[piece], piece).to(x.dtype).unflatten(1, (-1, length)).transpose(2, 3)
            queries, keys, values = heads  # [windows, heads, patches, head_dim]
            seen = F.scaled_dot_product_attention(queries, keys, values)
            x[piece] = finish(x[piece], seen.transpose(1, 2).flatten(0, 1).flatten(1))
            start = end
            yield None
