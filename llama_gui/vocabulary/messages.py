"""Who said what: the turns of a conversation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary.checks import check_depth, check_kind, keep
from llama_gui.vocabulary.images import Image

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")

_CALLS = "a list of calls, each an object as OpenAI has it"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    `tool_calls`, `tool_call_id` and `name` are handed to the model's chat template as they are: what the assistant
    called (OpenAI's shape), which call a "tool" turn answers, and who speaks. `images`: those that go along with what
    the user says, in order, for models that read them (`ModelInfo.reads_images`).

    Raises:
        InvalidRequestError: the role is not one of `ROLES`, the content is not text, `tool_calls` are no calls, or
            `images` are none of the user's, or stand behind the text.
    """

    role: Role
    content: str
    tool_calls: Sequence[Mapping[str, Any]] = ()
    tool_call_id: str = ""
    name: str = ""
    images: Sequence[Image] = ()

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise InvalidRequestError("role", self.role, f"one of {', '.join(ROLES)}")
        if not isinstance(self.content, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequestError("content", self.content, "text")
        check_kind("tool_calls", self.tool_calls, Sequence, _CALLS)
        for call in self.tool_calls or ():
            if not isinstance(call, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidRequestError("tool_calls", call, _CALLS)
        check_depth("tool_calls", self.tool_calls)
        check_images(self.images)
        keep(self, "images", tuple(self.images))
        places = [image.place for image in self.images]
        if places and (self.role != "user" or places != sorted(places) or places[-1] > len(self.content)):
            raise InvalidRequestError("images", f"at {places} of {self.role}", "within a text of the user, in order")

    def with_marks(self, mark: str) -> Self:
        """The same with `mark` in the place of each image."""
        text = self.content
        for image in reversed(self.images):
            text = f"{text[: image.place]}{mark}{text[image.place :]}"
        return replace(self, content=text, images=()) if self.images else self


def check_images(images: object) -> None:
    """Raise InvalidRequestError unless these are a list of `Image`."""
    allowed = "a list of Image, as in [Image(data)]"
    if not isinstance(images, Sequence) or isinstance(images, str | bytes):
        raise InvalidRequestError("images", type(images).__name__, allowed)
    for image in images:
        if not isinstance(image, Image):
            raise InvalidRequestError("images", type(image).__name__, allowed)


def check_messages(messages: object) -> None:
    """Raise InvalidRequestError unless these are a list of `Message`: the objects of other libraries are none."""
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise InvalidRequestError("messages", messages, "a list of Message")
    for message in messages:
        if not isinstance(message, Message):
            raise InvalidRequestError("messages", message, 'a list of Message, as in [Message("user", "Hi")]')
