"""Qwen's networks for images, and how an image is prepared for them: it keeps its form, as with Pixtral."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from llama_gui.engine.fields import AGAIN, Fields
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.engine.vision.layout import ImageToken, Layout, Resampling, check_colours, no_heads
from llama_gui.errors import BrokenModelError, InvalidRequestError

QwenKind = Literal["qwen2", "qwen2.5", "qwen3"]

MOST_ROWS = 4096
"""Of an image, that is half of the places that `placing` has for one."""
_MOST_RATIO = 200
"""Of the longer side to the shorter, as in transformers."""
_AROUND = "<|vision_start|>", "<|vision_end|>"


@dataclass(frozen=True, slots=True, kw_only=True)
class QwenVisionConfig(ImageToken):
    """As Qwen2-VL has it (https://arxiv.org/abs/2409.12191), Qwen2.5-VL (https://arxiv.org/abs/2502.13923) or Qwen3-VL.

    `merge`: so many patches in both directions become one row. `text_size`: numbers of a row. `least_pixels`,
    `most_pixels`: of an image. `window`: in layers that are not among `whole_layers`, patches see each other in squares
    of so many pixels; 0: everywhere all do. `places_per_side`: of the grid of learned places, 0: there is none.
    `deep_layers`: those behind which rows are made that the text network gets in its first layers. `text_layers`: how
    many it has. `parts_pictures`, `parts_heads`: the files hold what is of each picture of a film in a weight of its
    own, and queries, keys and values. For the others see `PixtralConfig`.
    """

    kind: QwenKind
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    patch_size: int
    merge: int
    text_size: int
    text_layers: int
    least_pixels: int
    most_pixels: int
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    image_token_id: int
    window: int = 0
    whole_layers: tuple[int, ...] = ()
    places_per_side: int = 0
    deep_layers: tuple[int, ...] = ()
    parts_pictures: bool = False
    parts_heads: bool = False

    is_whole: ClassVar[bool] = False
    """Whether the rows of an image see each other in the text network."""
    is_grid: ClassVar[bool] = True
    """Whether it rotates them by their places in the image, see `placing.grid_positions`."""
    resampling: ClassVar[Resampling] = "bicubic"
    """How images are resized."""

    @property
    def head_dim(self) -> int:
        """Numbers of a head."""
        return self.hidden_size // self.num_attention_heads

    @property
    def side(self) -> int:
        """Pixels of a row in either direction."""
        return self.patch_size * self.merge

    @property
    def window_rows(self) -> int:
        """Rows of a window in either direction."""
        return self.window // self.side

    def placeholder(self, tokenizer: Tokenizer) -> str:
        """What a text has in the place of an image, with its `mark`."""
        return tokenizer.token_text(self.mark).join(_AROUND)

    def layout(self, height: int, width: int, most_pixels: int | None) -> Layout:
        """That of an image of so many pixels; for `most_pixels` see `PixtralConfig.layout`.

        Raises:
            InvalidRequestError: it is far too long for its height, or the other way round.
        """
        if max(height, width) > _MOST_RATIO * min(height, width):
            allowed = f"one whose longer side is at most {_MOST_RATIO} times as long as the other"
            raise InvalidRequestError("image", f"of {width} x {height} pixels", allowed)
        limits = [self.most_pixels, MOST_ROWS * self.side**2, *([] if most_pixels is None else [most_pixels])]
        least, most, side = self.least_pixels, min(limits), self.side
        sides = [round(edge / side) for edge in (height, width)]
        if sides[0] * sides[1] * side**2 > most:
            ratio = math.sqrt(height * width / most)
            sides = [max(1, math.floor(edge / ratio / side)) for edge in (height, width)]
        elif sides[0] * sides[1] * side**2 < least:
            ratio = math.sqrt(least / (height * width))
            sides = [math.ceil(edge * ratio / side) for edge in (height, width)]
        rows, columns = sides
        return Layout(rows, columns, ((columns * side, rows * side),))

    def checked(self, fields: Fields) -> Self:
        """The same, where it can be; raises as `PixtralConfig.checked`."""
        if self.hidden_size % self.num_attention_heads or self.head_dim % 4:
            raise no_heads(fields, self.hidden_size, self.num_attention_heads, self.head_dim)
        if self.window and (self.window % self.side or not self.window_rows):
            raise BrokenModelError(f"{fields.file}: windows of {self.window} pixels are not of whole rows. {AGAIN}")
        if not self.side**2 <= self.least_pixels <= self.most_pixels:
            sizes = f"from {self.least_pixels} to {self.most_pixels} pixels"
            raise BrokenModelError(f"{fields.file}: images {sizes} cannot be cut into rows. {AGAIN}")
        deep = self.deep_layers
        if (
            len(deep) >= self.text_layers
            or list(deep) != sorted({*deep})
            or max(deep, default=0) >= self.num_hidden_layers
        ):
            raise BrokenModelError(
                f"{fields.file}: layers {[*deep]} cannot be those behind which rows are made. {AGAIN}"
            )
        check_colours(fields, self.mean, self.deviation)
        return self
