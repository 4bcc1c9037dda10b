"""What all networks for images have in common: an image is read in pieces, and answers of others go on meanwhile."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from llama_gui.engine.linear import Linear
from llama_gui.engine.vision.attention import Held
from llama_gui.engine.vision.pixels import PreparedImage

PIECE, CARD_PIECE = 128, 4096
"""Patches that are computed at a time on a CPU, and on a card, which takes about as long for many as for few."""


class VisionTower(ABC):
    """Reads one image at a time; not thread-safe."""

    @property
    @abstractmethod
    def linears(self) -> list[Linear]:
        """Every linear of it."""

    @abstractmethod
    def read(self, image: PreparedImage) -> Iterator[Tensor | None]:
        """None after each piece, and at last ``[rows of the image, text_size]``.

        Raises:
            RuntimeError: there is no memory for it.
        """

    @property
    def weight_bytes(self) -> int:
        """Bytes of its weights in memory, nearly."""
        return sum(linear.weight_bytes for linear in self.linears)


def piece_for(device: torch.device) -> int:
    """How many patches are computed at a time on `device`."""
    return PIECE if device.type == "cpu" else CARD_PIECE


def attend_in_pieces(
    x: Tensor,
    make_heads: Callable[[Tensor, slice], Tensor],
    finish: Callable[[Tensor, Tensor], Tensor],
    held: Held,
) -> Iterator[None]:
    """A layer in which all of `x` ``[patches, hidden]`` see each other; it is changed in place.

    `make_heads`: of some patches queries, keys and values ``[3, patches, heads, head_dim]``. `finish`: what becomes of
    some patches, and of what they have seen ``[patches, heads * head_dim]``.
    """
    size = piece_for(x.device)
    pieces = [slice(start, min(start + size, len(x))) for start in range(0, len(x), size)]
    for piece in pieces:
        held.keep(piece, make_heads(x[piece], piece))
        yield None
    for piece in pieces:
        x[piece] = finish(x[piece], held.see(piece).to(x.dtype))
        yield None


def patches_of(pixels: Tensor, size: int, mean: Tensor, deviation: Tensor, *, by_pixel: bool = False) -> Tensor:
    """Those of each patch of `size` x `size`, line by line, normed: ``[patches, 3 * size * size]``.

    `pixels` are ``[height, width, 3]``, `mean` and `deviation` are float32 ``[3]``, of numbers from 0 to 255.
    `by_pixel`: the colours of a pixel are beside each other, and else the pixels of a colour.
    """
    colours = (pixels.to(mean.device).float() - mean) / deviation
    lines = colours.unflatten(0, (-1, size)).unflatten(2, (-1, size))  # [lines, size, patches, size, 3]
    order = (0, 2, 1, 3, 4) if by_pixel else (0, 2, 4, 1, 3)
    return lines.permute(order).reshape(-1, 3 * size * size)


def grid_of(image: PreparedImage, merge: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """The place in its line, and the line, of each of the `merge` x `merge` parts of all rows, line by line."""
    lines, columns = torch.meshgrid(
        torch.arange(image.rows * merge, device=device),
        torch.arange(image.columns * merge, device=device),
        indexing="ij",
    )
    return columns.flatten(), lines.flatten()
