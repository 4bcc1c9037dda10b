"""Who said what: the turns of a conversation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary.checks import check_depth, check_kind

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")

_CALLS = "a list of calls, each an object as OpenAI has it"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    `tool_calls`, `tool_call_id` and `name` are handed to the model's chat template as they are: what the assistant
    called (OpenAI's shape), which call a "tool" turn answers, and who speaks.

    Raises:
        InvalidRequestError: the role is not one of `ROLES`, the content is not text, or `tool_calls` are no calls.
    """

    role: Role
    content: str
    tool_calls: Sequence[Mapping[str, Any]] = ()
    tool_call_id: str = ""
    name: str = ""

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


def check_messages(messages: object) -> None:
    """Raise InvalidRequestError unless these are a list of `Message`: the objects of other libraries are none."""
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise InvalidRequestError("messages", messages, "a list of Message")
    for message in messages:
        if not isinstance(message, Message):
            raise InvalidRequestError("messages", message, 'a list of Message, as in [Message("user", "Hi")]')
