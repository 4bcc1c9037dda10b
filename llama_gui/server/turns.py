"""The messages of a request -> the engine's messages."""

import json
from collections.abc import Mapping
from typing import Any

from llama_gui.server.images import image_of_part
from llama_gui.server.json_body import is_too_deep
from llama_gui.server.refusal import RefusedError, wrong
from llama_gui.server.request_fields import Fields
from llama_gui.vocabulary import Image, Message, Role

MOST_MESSAGES = 10_000

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",  # OpenAI's newer name
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}

_THOUGHTS: dict[Role, str] = {"assistant": "<think>\n{}\n</think>\n\n", "system": "[THINK]{}[/THINK]"}
"""How a part of the type "thinking" stands in a text: what a model thought, and how Mistral's is told to do that."""

_IMAGES = ("image_url", "input_image")
"""Types of parts that are images, in the chat's protocol and in that of responses."""


def read_messages(fields: Fields) -> list[Message]:
    """The conversation of a chat request.

    Raises:
        RefusedError: it is missing or empty, or a message is not as it must be.
    """
    entries = fields.objects("messages", MOST_MESSAGES)
    if not entries:
        raise RefusedError(400, "messages is missing or empty: give at least one message.", param="messages")
    return [_message(entry) for entry in entries]


def _message(entry: Fields) -> Message:
    named = entry.one_of("role", tuple(_ROLES))
    if named is None:
        raise entry.wrong("role", f"one of {', '.join(_ROLES)}")
    role = _ROLES[named]
    calls = tuple(_tool_call(call) for call in entry.objects("tool_calls", 128) or ()) if role == "assistant" else ()
    if entry.has("function_call"):
        raise entry.wrong("function_call", "left out: use tool_calls")
    images: list[Image] = []
    content = _content(entry, _THOUGHTS.get(role), images if role == "user" else None)
    if content is None and role in ("system", "user"):
        raise entry.wrong("content", "a text, or a list of parts of the type text")
    if content is None and role == "assistant":  # it has only called, thought, or refused
        content = entry.text("refusal")
    return Message(
        role,
        content or "",
        tool_calls=calls,
        tool_call_id=(entry.text("tool_call_id") or "") if role == "tool" else "",
        name=entry.text("name") or "",
        images=images,
    )


def _content(entry: Fields, thoughts: str | None, images: list[Image] | None) -> str | None:
    value = entry.get("content")
    return None if value is None else _text_of(value, entry.path_of("content"), thoughts, images)


def _text_of(value: object, path: str, thoughts: str | None = None, images: list[Image] | None = None) -> str:
    """A text, or its parts one behind the other. `thoughts`: see `_THOUGHTS`.

    `images`: gets those among the parts; None: there can be none.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise wrong(path, value, "a text, or a list of parts of the type text")
    text = ""
    for index, part in enumerate(value):
        if images is not None and isinstance(part, dict) and part.get("type") in _IMAGES:
            images.append(image_of_part(Fields(part, f"{path}[{index}]."), len(text)))
        else:
            text += _part(part, f"{path}[{index}]", thoughts)
    return text


def _part(part: object, path: str, thoughts: str | None) -> str:
    if not isinstance(part, dict):
        raise wrong(path, part, "an object")
    fields = Fields(part, f"{path}.")
    kind = fields.get("type")
    if kind == "thinking" and thoughts is not None:
        return thoughts.format(_text_of(fields.get(kind), f"{path}.{kind}"))
    if kind not in ("text", "refusal"):
        raise fields.wrong("type", "text, or image_url in what the user says: the models here read nothing else")
    text = fields.text(kind)
    if text is None:
        raise fields.wrong(kind, "a text")
    return text


def _tool_call(call: Fields) -> Mapping[str, Any]:
    """As chat templates read it: the arguments are an object, not the text of one."""
    function = call.inner("function")
    if function is None:
        raise call.wrong("function", "an object with name and arguments")
    name = function.text("name")
    if not name:
        raise function.wrong("name", "a text that is not empty")
    return {
        "id": call.text("id") or "",
        "type": "function",
        "function": {"name": name, "arguments": _arguments(function)},
    }


def _arguments(function: Fields) -> Any:
    value = function.get("arguments")
    if isinstance(value, dict):
        return value
    text = function.text("arguments") or "{}"
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return text  # what a model wrote once may be no JSON; it said so all the same
    return parsed if isinstance(parsed, dict) and not is_too_deep(parsed) else text
