"""SigLIP's network (https://arxiv.org/abs/2303.15343), and how images are prepared for it: all of them are squares."""

import math
from dataclasses import dataclass
from typing import ClassVar, Self, TypedDict

from llama_gui.engine.fields import AGAIN, Fields
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.engine.vision.layout import MOST_ROWS, ImageToken, Layout, Resampling, Size, check_colours, no_heads
from llama_gui.errors import BrokenModelError

_MOST_TOKENS = 8000
"""Of an image."""
_LARGEST_EDGE = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class SiglipConfig:
    """The network. `image_size`: pixels of a square in either direction. For the others see `PixtralConfig`."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    patch_size: int
    image_size: int
    eps: float
    text_size: int
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    image_token_id: int

    @property
    def head_dim(self) -> int:
        """Numbers of a head."""
        return self.hidden_size // self.num_attention_heads

    @property
    def patches_per_side(self) -> int:
        """Patches of a square in either direction."""
        return self.image_size // self.patch_size

    def check_network(self, fields: Fields, rows_per_side: int) -> None:
        """Raise BrokenModelError where it cannot be; `fields`: what was said of it."""
        if self.hidden_size % self.num_attention_heads:
            raise no_heads(fields, self.hidden_size, self.num_attention_heads, self.head_dim)
        is_whole = 0 < rows_per_side <= MOST_ROWS and self.patches_per_side % rows_per_side == 0
        if not is_whole or not self.patches_per_side:
            sides = f"{self.patches_per_side} patches to a side cannot become {rows_per_side} rows"
            raise BrokenModelError(f"{fields.file}: {sides}. {AGAIN}")
        check_colours(fields, self.mean, self.deviation)


class Siglip(TypedDict):
    """Fields of `SiglipConfig` that any file tells in its own words."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    patch_size: int
    image_size: int
    eps: float
    mean: tuple[float, ...]
    deviation: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gemma3VisionConfig(SiglipConfig):
    """As Gemma 3 has it (https://arxiv.org/abs/2503.19786): an image is one square.

    `rows_per_side`: rows of an image in either direction, each the mean of some patches. `begin`, `end`: ids of the
    tokens that stand around an image.
    """

    rows_per_side: int
    begin: int
    end: int

    is_whole: ClassVar[bool] = True
    """Whether the rows of an image see each other in the text network."""
    is_grid: ClassVar[bool] = False
    """Whether it rotates them by their places in the image, see `placing.grid_positions`."""
    resampling: ClassVar[Resampling] = "bilinear"
    """How images are resized."""

    @property
    def mark(self) -> int:
        """The token of a prompt in whose place an image is put."""
        return self.begin

    def placeholder(self, tokenizer: Tokenizer) -> str:
        """What a text has in the place of an image, with its `mark`."""
        return f"\n\n{tokenizer.token_text(self.mark)}\n\n"

    def layout(self, height: int, width: int, most_pixels: int | None) -> Layout:
        """That of any image."""
        return Layout(self.rows_per_side, self.rows_per_side, ((self.image_size, self.image_size),))

    def checked(self, fields: Fields) -> Self:
        """The same, where it can be; raises as `PixtralConfig.checked`."""
        self.check_network(fields, self.rows_per_side)
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Idefics3Config(ImageToken, SiglipConfig):
    """As Idefics 3 and SmolVLM have it (https://arxiv.org/abs/2408.12637, https://arxiv.org/abs/2504.05299).

    An image is cut into squares, which are read one by one and behind them all of it as one more. `merge`: so many
    patches in both directions become one row. `longest_edge`: pixels of its longer side before it is cut. `splits`: if
    not, there is only the one square.
    """

    merge: int
    longest_edge: int
    splits: bool

    @property
    def rows_per_square(self) -> int:
        """Rows that become of a square."""
        return (self.patches_per_side // self.merge) ** 2

    is_whole: ClassVar[bool] = False
    """Whether the rows of an image see each other in the text network."""
    is_grid: ClassVar[bool] = False
    """Whether it rotates them by their places in the image, see `placing.grid_positions`."""
    resampling: ClassVar[Resampling] = "lanczos"
    """How images are resized."""

    def layout(self, height: int, width: int, most_pixels: int | None) -> Layout:
        """That of an image of so many pixels; for `most_pixels` see `PixtralConfig.layout`.

        Where there is a limit, images are cut into fewer squares: the models were trained for any number of them.
        """
        square, longest = self.image_size, self.longest_edge
        if most_pixels is not None:
            longest = min(longest, max(1, math.isqrt(most_pixels) // square) * square)
        first = _with_longest(width, height, longest)
        if not self.splits:
            return Layout(1, 1, (first, (square, square)), square)
        wide, high = _in_squares(*first, square)
        return Layout(high // square, wide // square, (first, (wide, high)), square)

    def written(self, rows: int, columns: int, image_token: str) -> str:
        """What a prompt has in the place of an image of so many squares, as transformers' processor writes it."""
        around, all_of_it = "<fake_token_around_image>", "<global-img>"
        square = image_token * self.rows_per_square
        if rows * columns == 1:
            return f"{around}{all_of_it}{square}{around}"
        lines = [
            "".join(f"{around}<row_{row}_col_{column}>{square}" for column in range(1, columns + 1))
            for row in range(1, rows + 1)
        ]
        return "".join(f"{line}\n" for line in lines) + f"\n{around}{all_of_it}{square}{around}"

    def checked(self, fields: Fields) -> Self:
        """The same, where it can be; raises as `PixtralConfig.checked`."""
        self.check_network(fields, self.patches_per_side // self.merge)
        squares = math.ceil(self.longest_edge / self.image_size)
        if self.longest_edge > _LARGEST_EDGE or squares**2 * self.rows_per_square > _MOST_TOKENS:
            size = f"{self.longest_edge} pixels in squares of {self.image_size}"
            raise BrokenModelError(f"{fields.file}: images of {size} are too large. {AGAIN}")
        return self


def _with_longest(width: int, height: int, longest: int) -> Size:
    """The shorter side is even, as transformers makes it."""
    ratio = width / height
    if width >= height:
        short = int(longest / ratio)
        return longest, max(1, short + short % 2)
    short = int(longest * ratio)
    return max(1, short + short % 2), longest


def _in_squares(width: int, height: int, square: int) -> Size:
    ratio = width / height
    if width >= height:
        width = math.ceil(width / square) * square
        return width, math.ceil(max(1, int(width / ratio)) / square) * square
    height = math.ceil(height / square) * square
    return math.ceil(max(1, int(height * ratio)) / square) * square, height
