"""Images in a request: bytes in base64, in the data: URLs of OpenAI's protocol or alone."""

import base64
import binascii
from typing import Any

from llama_gui.errors import InvalidRequestError
from llama_gui.server.refusal import wrong
from llama_gui.server.request_fields import Fields
from llama_gui.vocabulary import IMAGE_KINDS, Image

_ALLOWED = f"a data: URL with the bytes of {IMAGE_KINDS} in base64: this server fetches nothing"


def image_of_part(part: Fields, place: int) -> Image:
    """The image of a part of the type image_url (or input_image, which is flat) at that place of its message's text.

    Raises:
        RefusedError: it has none, or one that this server does not read.
    """
    inner = part.inner("image_url") if isinstance(part.get("image_url"), dict) else None
    name, fields = ("url", inner) if inner is not None else ("image_url", part)
    url = fields.get(name)
    if not isinstance(url, str):
        raise fields.wrong(name, _ALLOWED)
    scheme, _, data = url.partition(",")
    if not scheme.lower().startswith("data:") or not scheme.lower().endswith(";base64"):
        raise wrong(fields.path_of(name), url[:80], _ALLOWED)
    return image_of_text(data, fields.path_of(name), place)


def image_of_text(text: object, path: str, place: int = 0) -> Image:
    """The image whose bytes are `text`, in base64; `path` names the field. Raises as `image_of_part`."""
    if not isinstance(text, str):
        raise wrong(path, text, f"the bytes of {IMAGE_KINDS} in base64")
    try:
        return Image(base64.b64decode(text, validate=True), place)
    except (binascii.Error, ValueError, InvalidRequestError) as error:
        allowed = error.allowed if isinstance(error, InvalidRequestError) else "in base64"
        raise wrong(path, text[:20], f"the bytes of an image: {allowed}") from error


def part_of_text(text: object, path: str) -> dict[str, Any]:
    """The part of a chat request for an image whose bytes are `text`, in base64. Raises as `image_of_part`."""
    image = image_of_text(text, path)
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{text}"}}
