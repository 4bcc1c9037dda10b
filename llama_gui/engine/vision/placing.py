"""Where images stand among the tokens of a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.engine.vision.config import VisionConfig
from llama_gui.engine.vision.pixels import ImagePreparer, PreparedImage
from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary import Image

_BREAK, _END = "[IMG_BREAK]", "[IMG_END]"
"""Stand behind each line of an image, and behind the last."""
_KEY, _KEY_BYTES, _PLACES = 1 << 62, 6, 1 << 13
"""A key is beyond all token ids: this bit, so many bytes of the digest, and the place in the image."""


@dataclass(frozen=True, slots=True)
class ImageSpan:
    """The tokens ``[start, start + length)`` of a prompt, in the place of which an image is read."""

    start: int
    length: int
    image: PreparedImage

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


class ImagePlacer:
    """Puts the tokens of images into prompts, as transformers' Pixtral processor does; in any thread."""

    def __init__(self, config: VisionConfig, tokenizer: Tokenizer, preparer: ImagePreparer) -> None:
        self._preparer = preparer
        self._image = config.image_token_id
        ends = [tokenizer.id_of(text) for text in (_BREAK, _END)]
        self._break, self._end = (self._image if found is None else found for found in ends)

    def count(self, image: Image) -> int:
        """How many tokens `image` takes. Raises InvalidRequestError where it is damaged."""
        return len(self._expanded(self._preparer.prepare(image)))

    def place(self, token_ids: Sequence[int], images: Sequence[Image]) -> PlacedImages:
        """Put an image into the place of each image token of `token_ids`, or see that it is there.

        Raises:
            InvalidRequestError: there are more images than places, or fewer; or an image is damaged.
        """
        ids: list[int] = []
        keys: list[int] = []
        spans: list[ImageSpan] = []
        left, place = list(images), 0
        while place < len(token_ids):
            if token_ids[place] != self._image or not left:
                ids.append(token_ids[place])
                keys.append(token_ids[place])
                place += 1
                continue
            image = self._preparer.prepare(left.pop(0))
            expanded = self._expanded(image)
            spans.append(ImageSpan(len(ids), len(expanded), image))
            is_there = list(token_ids[place : place + len(expanded)]) == expanded
            place += len(expanded) if is_there else 1
            ids += expanded
            keys += self._keys(image, expanded)
        if left or (images and self._image in self._others(ids, spans)):
            places = len(spans) + self._others(ids, spans).count(self._image)
            raise InvalidRequestError("images", f"{len(images)} given", f"{places}, as many as there are image tokens")
        return PlacedImages(ids, keys, tuple(spans), tuple(images))

    def _others(self, ids: Sequence[int], spans: Sequence[ImageSpan]) -> list[int]:
        """The tokens outside of `spans`."""
        within = {place for span in spans for place in range(span.start, span.end)}
        return [token_id for place, token_id in enumerate(ids) if place not in within]

    def _expanded(self, image: PreparedImage) -> list[int]:
        line = [*[self._image] * image.columns, self._break]
        return [*(line * image.rows)[:-1], self._end]

    def _keys(self, image: PreparedImage, expanded: Sequence[int]) -> list[int]:
        digest = int.from_bytes(image.digest[:_KEY_BYTES]) * _PLACES
        return [
            _KEY + digest + place if token_id == self._image else token_id for place, token_id in enumerate(expanded)
        ]
