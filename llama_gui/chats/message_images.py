"""The images of a message, out of what is kept of its files. Pure."""

import base64
import json
from dataclasses import replace
from typing import Any

from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary import Image, Message, media_type_of

_BREAK = "\n\n"


def image_entry(name: str, size: int, data: bytes) -> dict[str, Any]:
    """What is kept of an image among the files of a message: it stands before the user's words, and has none."""
    return {"name": name, "size": size, "start": 0, "length": 0, "image": base64.b64encode(data).decode("ascii")}


def image_of(entry: Any) -> bytes:
    """The bytes of a file of a message; b"": it is no image. Raises ValueError or TypeError for what is damaged."""
    return base64.b64decode(entry.get("image") or "", validate=True)


def file_name(name: str, data: bytes) -> str:
    """The name of an image with the ending of what its bytes are, as it may be kept as another kind than it came."""
    mine = image_ending(data)
    base, dot, ending = name.rpartition(".")
    return name if ending.lower().replace("jpeg", "jpg") == mine else f"{base if dot else name}.{mine}"


def image_ending(data: bytes) -> str:
    """How the name of an image ends, by its bytes: png, jpg and so on."""
    return media_type_of(data).removeprefix("image/").replace("jpeg", "jpg")


def images_in(content: str, where: str) -> tuple[Image, ...]:
    """The images of a message, before the user's words; none where they cannot be read.

    `where`: see `message_files.compose`.
    """
    try:
        values = json.loads(where) if where else {}
        begin = values.get("text", 0)
        place = begin if isinstance(begin, int) and 0 <= begin <= len(content) else 0
        found = [image_of(entry) for entry in values.get("files", ())]
        return tuple(Image(data, place) for data in found if data)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, InvalidRequestError):
        return ()


def joined_messages(first: Message, second: Message) -> Message:
    """Two turns of one role as one; its images stand where they stood."""
    moved = len(first.content) + len(_BREAK)
    images = [*first.images, *(replace(image, place=image.place + moved) for image in second.images)]
    return Message(first.role, f"{first.content}{_BREAK}{second.content}", images=images)


def without_images(message: Message) -> Message:
    """The same for who reads none: words stand where they stood."""
    return message.with_marks("[Image]\n\n")
