"""Where images stand among the tokens of a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.engine.vision.config import Gemma3VisionConfig, Idefics3Config, VisionConfig
from llama_gui.engine.vision.gemma4_config import Gemma4ImageConfig
from llama_gui.engine.vision.pixels import ImagePreparer, PreparedImage
from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary import Image

LINE_ENDS = ("[IMG_BREAK]", "[IMG_END]")
"""Stand behind each line of an image, and behind the last, in Pixtral's manner."""
_KEY, _KEY_BYTES, _PLACES = 1 << 62, 6, 1 << 13
"""A key is beyond all token ids: this bit, so many bytes of the digest, and the place in the image."""


@dataclass(frozen=True, slots=True)
class ImageSpan:
    """The tokens ``[start, start + length)`` of a prompt, in the place of which an image is read.

    `is_whole`: each of them sees all the others, so they are run together. `is_grid`: their positions are those of a
    grid, see `grid_positions`.
    """

    start: int
    length: int
    image: PreparedImage
    is_whole: bool = False
    is_grid: bool = False

    @property
    def end(self) -> int:
        """Behind its last token."""
        return self.start + self.length


@dataclass(frozen=True, slots=True)
class PlacedImages:
    """A prompt with `images`. `keys`: its tokens as the network and its cache know them.

    `token_ids` has the image token wherever a row of an image is read, `keys` a number there that no other row has.
    """

    token_ids: list[int]
    keys: list[int]
    spans: tuple[ImageSpan, ...]
    images: tuple[Image, ...]


def is_key(token_id: int) -> bool:
    """Whether this stands for a row of an image."""
    return token_id >= _KEY


def grid_positions(spans: Sequence[ImageSpan], start: int, count: int) -> Tensor | None:
    """By which `count` tokens from `start` on are rotated, int64 ``[3, count]``; None: by their places.

    `spans`: the images of the conversation. As in Qwen2-VL (https://arxiv.org/abs/2409.12191): rows of an image are at
    the same time, but in lines and places of them, and what follows goes on behind the longer side.
    """
    grids = [span for span in spans if span.is_grid and span.start < start + count]
    if not grids:
        return None
    places = torch.arange(start, start + count)
    made, shift = places.repeat(3, 1), 0
    for span in grids:
        rows, columns = span.image.rows, span.image.columns
        inside, behind, first = (places >= span.start) & (places < span.end), places >= span.end, span.start + shift
        numbers = places[inside] - span.start
        zeros = torch.zeros_like(numbers)
        made[:, inside] = first + torch.stack((zeros, numbers // columns, numbers % columns))
        shift += max(rows, columns) - span.length
        made[:, behind] = places[behind] + shift
    return made


class ImagePlacer:
    """Puts the tokens of images into prompts, as transformers' processors do; in any thread."""

    def __init__(self, config: VisionConfig, tokenizer: Tokenizer, preparer: ImagePreparer) -> None:
        self._config = config
        self._preparer = preparer
        self._tokenizer = tokenizer
        self._line_ends = [found for text in LINE_ENDS if (found := tokenizer.id_of(text)) is not None]

    def count(self, image: Image) -> int:
        """How many tokens `image` takes. Raises InvalidRequestError where it is damaged."""
        return len(self._expanded(self._preparer.prepare(image))[0])

    def place(self, token_ids: Sequence[int], images: Sequence[Image]) -> PlacedImages:
        """Put an image into the place of each mark in `token_ids`, or see that it is there.

        Raises:
            InvalidRequestError: there are more images than places, or fewer; or an image is damaged.
        """
        ids: list[int] = []
        keys: list[int] = []
        spans: list[ImageSpan] = []
        left, place, behind_last, marks = list(images), 0, 0, 0
        while place < len(token_ids):
            is_mark = token_ids[place] == self._config.mark
            marks += is_mark
            if not is_mark or not left:
                ids.append(token_ids[place])
                keys.append(token_ids[place])
                place += 1
                continue
            image = self._preparer.prepare(left.pop(0))
            expanded, are_rows = self._expanded(image)
            # A mark may stand behind others of its image's tokens, where all of them are there.
            before = expanded.index(self._config.mark)
            if place - before >= behind_last and list(token_ids[place - before :][: len(expanded)]) == expanded:
                del ids[len(ids) - before :], keys[len(keys) - before :]
                place += len(expanded) - before
            else:
                place += 1
            behind_last = place
            first, behind = are_rows.index(True), len(are_rows) - are_rows[::-1].index(True)
            spans.append(
                ImageSpan(len(ids) + first, behind - first, image, self._config.is_whole, self._config.is_grid)
            )
            ids += expanded
            digest = int.from_bytes(image.digest[:_KEY_BYTES]) * _PLACES + _KEY
            keys += [digest + n if is_row else i for n, (i, is_row) in enumerate(zip(expanded, are_rows, strict=True))]
        if images and marks != len(images):
            raise InvalidRequestError("images", f"{len(images)} given", f"{marks}, as many as there are image tokens")
        return PlacedImages(ids, keys, tuple(spans), tuple(images))

    def _expanded(self, image: PreparedImage) -> tuple[list[int], list[bool]]:
        """Its tokens, and in the place of which of them its rows stand."""
        config, count = self._config, image.rows * image.columns
        if isinstance(config, Idefics3Config):
            text = self._tokenizer.token_text(config.image_token_id)
            written = config.written(image.rows, image.columns, text)
            ids: list[int] = []
            for between in written.split(text):
                ids += self._tokenizer.encode(between, add_special_tokens=False) if between else []
                ids.append(config.image_token_id)
            del ids[-1]
            return ids, [token == config.image_token_id for token in ids]
        if isinstance(config, Gemma3VisionConfig | Gemma4ImageConfig):
            ids = [config.begin, *[config.image_token_id] * count, config.end]
            return ids, [False, *[True] * count, False]
        if len(self._line_ends) < len(LINE_ENDS):
            return [config.image_token_id] * count, [True] * count
        behind, at_last = self._line_ends
        ids = [*([*[config.image_token_id] * image.columns, behind] * image.rows)[:-1], at_last]
        return ids, [*[True] * image.columns, False] * image.rows
