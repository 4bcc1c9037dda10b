"""How an image is laid out for a network that reads it."""

from typing import Literal, NamedTuple

from llama_gui.engine.fields import AGAIN, Fields
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import BrokenModelError

Size = tuple[int, int]
"""Width and height in pixels."""
Resampling = Literal["bilinear", "bicubic", "lanczos"]

MOST_ROWS = 90
"""In either direction, of an image."""


class Layout(NamedTuple):
    """What becomes of an image of some size.

    `rows` and `columns`: what it is cut into, downwards and across: rows of the text network, or, with `square`,
    squares of so many pixels in either direction. `sizes`: to which it is resized, one after the other.
    """

    rows: int
    columns: int
    sizes: tuple[Size, ...]
    square: int = 0


class ImageToken:
    """Of networks whose images stand in prompts as the token that rows stand for, too."""

    __slots__ = ()
    image_token_id: int

    @property
    def mark(self) -> int:
        """The token of a prompt in whose place an image is put."""
        return self.image_token_id

    def placeholder(self, tokenizer: Tokenizer) -> str:
        """What a text has in the place of an image, with its `mark`."""
        return tokenizer.token_text(self.mark)


def no_heads(fields: Fields, hidden: int, count: int, dim: int) -> BrokenModelError:
    """The error for a network whose rows of `hidden` numbers are no heads."""
    return BrokenModelError(f"{fields.file}: rows of {hidden} numbers cannot be {count} heads of {dim}. {AGAIN}")


def check_colours(fields: Fields, mean: tuple[float, ...], deviation: tuple[float, ...]) -> None:
    """Raise BrokenModelError where these are not for red, green and blue."""
    if len(mean) != 3 or len(deviation) != 3:
        raise BrokenModelError(f"{fields.file}: the mean and the deviation of colours are no three numbers. {AGAIN}")
