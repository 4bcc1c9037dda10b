"""The networks that read images, and how an image is prepared for Pixtral's."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from llama_gui.engine.fields import AGAIN, Fields
from llama_gui.engine.vision.gemma4_config import Gemma4UnifiedConfig, Gemma4VisionConfig
from llama_gui.engine.vision.layout import MOST_ROWS, ImageToken, Layout, Resampling, check_colours, no_heads
from llama_gui.engine.vision.qwen_config import QwenVisionConfig
from llama_gui.engine.vision.siglip_config import Gemma3VisionConfig, Idefics3Config
from llama_gui.errors import BrokenModelError

Activation = Literal["silu", "gelu"]


@dataclass(frozen=True, slots=True)
class PixtralConfig(ImageToken):
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

    is_whole: ClassVar[bool] = False
    """Whether the rows of an image see each other in the text network."""
    is_grid: ClassVar[bool] = False
    """Whether it rotates them by their places in the image, see `placing.grid_positions`."""
    resampling: ClassVar[Resampling] = "bicubic"
    """How images are resized."""

    def layout(self, height: int, width: int, most_pixels: int | None) -> Layout:
        """That of an image of so many pixels. `most_pixels`: a limit beside that of the model; None: there is none."""
        ratio = max(height / self.longest_edge, width / self.longest_edge)
        if most_pixels is not None:
            ratio = max(ratio, math.sqrt(height * width / most_pixels))
        if ratio > 1:
            height, width = max(1, math.floor(height / ratio)), max(1, math.floor(width / ratio))
        side = self.patch_size * self.merge
        rows, columns = (height - 1) // side + 1, (width - 1) // side + 1
        return Layout(rows, columns, ((columns * side, rows * side),))

    def checked(self, fields: Fields) -> Self:
        """The same, where it can be; `fields`: what was said of it.

        Raises:
            BrokenModelError: it cannot.
        """
        if self.head_dim % 4 or self.head_dim * self.num_attention_heads != self.hidden_size:
            raise no_heads(fields, self.hidden_size, self.num_attention_heads, self.head_dim)
        side = self.patch_size * self.merge
        if self.longest_edge // side > MOST_ROWS:
            most = MOST_ROWS * side
            raise BrokenModelError(
                f"{fields.file}: images of {self.longest_edge} pixels are larger than {most}. {AGAIN}"
            )
        check_colours(fields, self.mean, self.deviation)
        return self


VisionConfig = (
    PixtralConfig | Gemma3VisionConfig | Gemma4VisionConfig | Gemma4UnifiedConfig | Idefics3Config | QwenVisionConfig
)
