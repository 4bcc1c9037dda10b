"""Images that go along with a message."""

import base64
import hashlib
from dataclasses import dataclass, field

from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary.checks import check_number, keep

_MOST_BYTES = 64 * 2**20

_BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
)
IMAGE_KINDS = "a PNG, JPEG, WebP, GIF or BMP file"
IMAGE_ENDINGS: tuple[str, ...] = ("png", "jpg", "jpeg", "webp", "gif", "bmp")


def media_type_of(data: bytes) -> str:
    """What kind of image these bytes begin like, as "image/png"; "": none that is read here."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for beginning, kind in _BEGINNINGS if data.startswith(beginning)), "")


def data_url(data: bytes) -> str:
    """The bytes of an image as an address that holds them, as web pages and OpenAI's protocol take it."""
    return f"data:{media_type_of(data)};base64,{base64.b64encode(data).decode('ascii')}"


@dataclass(frozen=True, slots=True)
class Image:
    """An image, as the bytes of its file; of an animation the first picture counts.

    `place`: before which character of the message's text it stands.

    Raises:
        InvalidRequestError: these are the bytes of something else, or too many; or `place` is no place.
    """

    data: bytes = field(repr=False)
    place: int = 0
    digest: bytes = field(init=False, repr=False, compare=False)
    """Of `data`."""

    def __post_init__(self) -> None:
        if not isinstance(self.data, bytes) or not media_type_of(self.data):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequestError("image", f"{type(self.data).__name__} that are none", IMAGE_KINDS)
        if len(self.data) > _MOST_BYTES:
            raise InvalidRequestError("image", f"{len(self.data)} bytes", f"{_MOST_BYTES} bytes at most")
        keep(self, "place", check_number("place", self.place, 0, integer=True))
        keep(self, "digest", hashlib.blake2b(self.data, digest_size=16).digest())

    @property
    def media_type(self) -> str:
        """What kind it is, as "image/png"."""
        return media_type_of(self.data)
