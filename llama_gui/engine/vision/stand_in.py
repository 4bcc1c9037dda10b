"""Images in the texts of messages, until a chat template was run over them. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from llama_gui.errors import UserError
from llama_gui.vocabulary import Image, Message

STAND_IN = "\U0010ffff"
"""Stands for an image in a text: a code point that is no character."""


def marked(messages: Sequence[Message]) -> list[Message]:
    """The same with `STAND_IN` for each image, and without images."""
    return [_without_stand_ins(message).with_marks(STAND_IN) for message in messages]


def _without_stand_ins(message: Message) -> Message:
    if STAND_IN not in message.content:
        return message
    return replace(message, content=message.content.replace(STAND_IN, "\ufffd"))


def reads_none(model: str) -> UserError:
    """The error for who shows images to `model`, which reads none."""
    return UserError(f"{model} reads no images. Choose a model that does, or leave them out.")


def images_of(messages: Sequence[Message]) -> list[Image]:
    """Those of all messages, in order."""
    return [image for message in messages for image in message.images]
