"""How images are prepared for Gemma 4: they keep their form, and become as many rows as there may be."""

import math
from dataclasses import dataclass
from typing import ClassVar, Self, TypedDict

from llama_gui.engine.fields import AGAIN, Fields
from llama_gui.engine.vision.layout import ImageToken, Layout, Resampling, no_heads
from llama_gui.errors import BrokenModelError

MOST_GEMMA4_ROWS = 280
"""Of an image, where nothing else is said."""
_MOST_ROWS = 1120
"""The most that its models know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gemma4ImageConfig(ImageToken):
    """What all of its models have in common. `hidden_size`: numbers of a row before they become `text_size`.

    `patch_size`, `merge`: see `PixtralConfig`. `places`: so many patches, or rows in the network without layers, in
    either direction have an embedding of their place. `most_rows`: of an image. `eps`: of the norm of rows. `begin`,
    `end`: ids of the tokens that stand around an image. `is_whole`: its rows see each other in the text network.
    `is_gguf`: its weights lie as llama.cpp's converter leaves them: those of a patch colour by colour, not pixel by
    pixel, and limits as lists of one.
    """

    hidden_size: int
    patch_size: int
    merge: int
    places: int
    most_rows: int
    eps: float
    text_size: int
    image_token_id: int
    begin: int
    end: int
    is_whole: bool
    is_gguf: bool = False

    is_grid: ClassVar[bool] = False
    """Whether the text network rotates rows by their places in the image, see `placing.grid_positions`."""
    resampling: ClassVar[Resampling] = "bicubic"
    """How images are resized."""

    @property
    def side(self) -> int:
        """Pixels that become a row, in either direction."""
        return self.patch_size * self.merge

    def layout(self, height: int, width: int, most_pixels: int | None) -> Layout:
        """That of an image of so many pixels, made larger or smaller; for `most_pixels` see `PixtralConfig.layout`."""
        most = self.most_rows
        if most_pixels is not None:
            most = max(1, min(most, most_pixels // self.side**2))
        longer = math.sqrt(most * self.side**2 / (height * width))
        rows, columns = (math.floor(longer * size / self.side) for size in (height, width))
        if not rows:
            rows, columns = 1, min(math.floor(width / height), most)
        elif not columns:
            rows, columns = min(math.floor(height / width), most), 1
        return Layout(rows, columns, ((columns * self.side, rows * self.side),))

    def check_rows(self, fields: Fields, in_a_row: int) -> None:
        """Raise BrokenModelError where there are not enough places for an image; `in_a_row`: that many to a row."""
        if self.most_rows > _MOST_ROWS:
            raise BrokenModelError(f"{fields.file}: images of {self.most_rows} tokens are too large. {AGAIN}")
        if self.places < self.most_rows * in_a_row:
            raise BrokenModelError(
                f"{fields.file}: {self.places} places are too few for images of {self.most_rows} tokens. {AGAIN}"
            )


class Gemma4Images(TypedDict):
    """Fields of `Gemma4ImageConfig` that both networks are told in the same words."""

    patch_size: int
    merge: int
    most_rows: int
    eps: float
    text_size: int
    image_token_id: int
    begin: int
    end: int
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Gemma4VisionConfig(Gemma4ImageConfig):
    """Of E2B, E4B, 26B-A4B and 31B, which have a network for images.

    `clips`: what goes into each linear and comes out of it is kept within limits, which the files tell. `standardizes`:
    rows are moved and stretched, number by number, before their norm.
    """

    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    head_dim: int
    rope_theta: float
    clips: bool
    standardizes: bool

    def checked(self, fields: Fields) -> Self:
        """The same, where it can be; raises as `PixtralConfig.checked`."""
        if self.head_dim % 4:
            raise no_heads(fields, self.hidden_size, self.num_attention_heads, self.head_dim)
        self.check_rows(fields, self.merge)
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Gemma4UnifiedConfig(Gemma4ImageConfig):
    """Of 12B, which makes a row of a piece of the image at once ("unified")."""

    def checked(self, fields: Fields) -> Self:
        """The same, where it can be; raises as `PixtralConfig.checked`."""
        self.check_rows(fields, 1)
        return self
