"""The networks that read images, and how an image is prepared for each."""

import math
from dataclasses import dataclass
from typing import Literal, Self

from llama_gui.engine.fields import AGAIN, Fields
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import BrokenModelError

Activation = Literal["silu", "gelu"]
Grid = tuple[int, int, int, int]
"""Rows that become of an image, downwards and across; and the width and height in pixels in which it is read."""

_MOST_ROWS = 90
"""In either direction, of an image."""


@dataclass(frozen=True, slots=True)
class PixtralConfig:
    """A network in the manner of Pixtral (https://arxiv.org/abs/2410.07073): images keep their form.

    `merge`: so many patches in both directions become one row. `text_size`: numbers of a row. `text_eps`: of the norm
    behind the network. `longest_edge`: the most pixels of either side of an image. `mean`, `deviation`: of its colours.
    `image_token_id`: of the token in whose place rows stand.
    """

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    head_dim: int
    patch_size: int
    activation: Activation
    rope_theta: float
    merge: int
    text_size: int
    text_eps: float
    projector_bias: bool
    longest_edge: int
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    image_token_id: int

    @property
    def is_whole(self) -> bool:
        """Whether the rows of an image see each other in the text network."""
        return False

    @property
    def is_bilinear(self) -> bool:
        """How images are resized; if not so, bicubically."""
        return False

    @property
    def mark(self) -> int:
        """The token of a prompt in whose place an image is put."""
        return self.image_token_id

    def placeholder(self, tokenizer: Tokenizer) -> str:
        """What a text has in the place of an image, with its `mark`."""
        return tokenizer.token_text(self.mark)

    def grid(self, height: int, width: int, most_pixels: int | None) -> Grid:
        """That of an image of so many pixels. `most_pixels`: a limit beside that of the model; None: there is none."""
        ratio = max(height / self.longest_edge, width / self.longest_edge)
        if most_pixels is not None:
            ratio = max(ratio, math.sqrt(height * width / most_pixels))
        if ratio > 1:
            height, width = max(1, math.floor(height / ratio)), max(1, math.floor(width / ratio))
        side = self.patch_size * self.merge
        rows, columns = (height - 1) // side + 1, (width - 1) // side + 1
        return rows, columns, columns * side, rows * side

    def checked(self, fields: Fields) -> Self:
        """The same, where it can be; `fields`: what was said of it.

        Raises:
            BrokenModelError: it cannot.
        """
        if self.head_dim % 4 or self.head_dim * self.num_attention_heads != self.hidden_size:
            raise _no_heads(fields, self.hidden_size, self.num_attention_heads, self.head_dim)
        side = self.patch_size * self.merge
        if self.longest_edge // side > _MOST_ROWS:
            most = _MOST_ROWS * side
            raise BrokenModelError(
                f"{fields.file}: images of {self.longest_edge} pixels are larger than {most}. {AGAIN}"
            )
        _check_colours(fields, self.mean, self.deviation)
        return self


@dataclass(frozen=True, slots=True)
class SiglipConfig:
    """A network in the manner of SigLIP (https://arxiv.org/abs/2303.15343), as Gemma 3 has it: all images are squares.

    `image_size`: their pixels in either direction. `rows_per_side`: rows of an image in either direction, each the mean
    of some patches. `begin`, `end`: ids of the tokens that stand around an image. For the others see `PixtralConfig`.
    """

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    patch_size: int
    image_size: int
    eps: float
    rows_per_side: int
    text_size: int
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    image_token_id: int
    begin: int
    end: int

    @property
    def head_dim(self) -> int:
        """Numbers of a head."""
        return self.hidden_size // self.num_attention_heads

    @property
    def patches_per_side(self) -> int:
        """Patches of an image in either direction."""
        return self.image_size // self.patch_size

    @property
    def is_whole(self) -> bool:
        """Whether the rows of an image see each other in the text network."""
        return True

    @property
    def is_bilinear(self) -> bool:
        """How images are resized; if not so, bicubically."""
        return True

    @property
    def mark(self) -> int:
        """The token of a prompt in whose place an image is put."""
        return self.begin

    def placeholder(self, tokenizer: Tokenizer) -> str:
        """What a text has in the place of an image, with its `mark`."""
        return f"\n\n{tokenizer.token_text(self.mark)}\n\n"

    def grid(self, height: int, width: int, most_pixels: int | None) -> Grid:
        """That of any image."""
        return self.rows_per_side, self.rows_per_side, self.image_size, self.image_size

    def checked(self, fields: Fields) -> Self:
        """The same, where it can be; raises as `PixtralConfig.checked`."""
        if self.hidden_size % self.num_attention_heads:
            raise _no_heads(fields, self.hidden_size, self.num_attention_heads, self.head_dim)
        if self.patches_per_side % self.rows_per_side or not 0 < self.rows_per_side <= _MOST_ROWS:
            sides = f"{self.patches_per_side} patches to a side cannot become {self.rows_per_side} rows"
            raise BrokenModelError(f"{fields.file}: {sides}. {AGAIN}")
        _check_colours(fields, self.mean, self.deviation)
        return self


VisionConfig = PixtralConfig | SiglipConfig


def _no_heads(fields: Fields, hidden: int, count: int, dim: int) -> BrokenModelError:
    return BrokenModelError(f"{fields.file}: rows of {hidden} numbers cannot be {count} heads of {dim}. {AGAIN}")


def _check_colours(fields: Fields, mean: tuple[float, ...], deviation: tuple[float, ...]) -> None:
    if len(mean) != 3 or len(deviation) != 3:
        raise BrokenModelError(f"{fields.file}: the mean and the deviation of colours are no three numbers. {AGAIN}")
