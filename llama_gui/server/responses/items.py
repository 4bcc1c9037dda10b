"""The items of a request -> the messages of a chat request, which are read as any others."""

from collections.abc import Mapping
from typing import Any

from llama_gui.server.images import image_of_part
from llama_gui.server.refusal import wrong
from llama_gui.server.request_fields import Fields
from llama_gui.server.tools import MOST_TOOLS

MOST_ITEMS = 10_000

_ROLES = ("user", "assistant", "system", "developer")
_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
"""Kind of a part -> where its text stands."""

_Message = dict[str, Any]


def chat_messages(fields: Fields) -> list[_Message]:
    """`instructions` and `input` as chat messages.

    Raises:
        RefusedError: they are missing, or hold something that is no text, no call and no answer to one.
    """
    instructions, given = fields.text("instructions"), fields.get("input")
    messages: list[_Message] = [{"role": "system", "content": instructions}] if instructions else []
    if isinstance(given, str):
        return [*messages, {"role": "user", "content": given}]
    if not given or not isinstance(given, list):
        raise fields.wrong("input", "a text, or a list of items that is not empty")
    for item in fields.objects("input", MOST_ITEMS) or ():
        message = _message(item)
        if message is not None:
            _append(messages, message)
    return messages


def _append(messages: list[_Message], message: _Message) -> None:
    """Calls belong to the assistant's message before them, and templates want one system message, the first."""
    last = messages[-1] if messages else {}
    if message.get("tool_calls") and last.get("role") == "assistant":
        last["tool_calls"] = [*last.get("tool_calls", ()), *message["tool_calls"]]
    elif message["role"] == "system" and len(messages) == 1 and last["role"] == "system":
        last["content"] += f"\n\n{message['content']}"
    else:
        messages.append(message)


def _message(item: Fields) -> _Message | None:
    kind = item.get("type") if item.has("type") else "message"
    if kind == "message":
        role = item.one_of("role", _ROLES)
        if role is None:
            raise item.wrong("role", f"one of {', '.join(_ROLES)}")
        if role == "user" and isinstance(item.get("content"), list):
            return {"role": role, "content": _parts(item)}
        return {"role": "system" if role == "developer" else role, "content": _text(item, "content")}
    if kind == "function_call":
        call = {"name": _needed(item, "name"), "arguments": item.text("arguments") or "{}"}
        return {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": _needed(item, "call_id"), "type": "function", "function": call}],
        }
    if kind == "function_call_output":
        return {"role": "tool", "tool_call_id": _needed(item, "call_id"), "content": _text(item, "output")}
    if kind == "reasoning":  # of an earlier answer: chat templates leave it out, too
        return None
    raise item.wrong("type", "one of message, function_call, function_call_output, reasoning")


def _needed(item: Fields, name: str) -> str:
    text = item.text(name)
    if not text:
        raise item.wrong(name, "a text that is not empty")
    return text


def _text(item: Fields, name: str) -> str:
    """A text, or its parts one behind the other."""
    value = item.get(name)
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise item.wrong(name, "a text, or a list of parts with text")
    return "".join(_part(part, item.path_of(f"{name}[{index}]")) for index, part in enumerate(value))


def _parts(item: Fields) -> str | list[dict[str, Any]]:
    """What the user says: a text, or where there are images a list of parts as a chat request has them."""
    found: list[dict[str, Any]] = []
    for index, part in enumerate(item.get("content")):
        if isinstance(part, dict) and part.get("type") == "input_image":
            image_of_part(Fields(part, item.path_of(f"content[{index}].")), 0)  # or it is refused in these words
            found.append(part)
        else:
            found.append({"type": "text", "text": _part(part, item.path_of(f"content[{index}]"))})
    if any(part["type"] == "input_image" for part in found):
        return found
    return "".join(part["text"] for part in found)


def _part(part: object, path: str) -> str:
    if not isinstance(part, dict):
        raise wrong(path, part, "an object")
    fields = Fields(part, f"{path}.")
    kind = fields.one_of("type", tuple(_TEXTS))
    text = fields.text(_TEXTS[kind]) if kind is not None else None
    if text is None:
        raise fields.wrong("type", "input_text or output_text, with its text, or input_image: nothing else is read")
    return text


def functions(fields: Fields) -> list[Fields]:
    """Those of `tools` that the model is offered.

    Codex brings searches and groups of tools among its functions, whatever the server: they are left out, and the
    response does not list them. Who brings nothing else would take an answer without them for one with them.

    Raises:
        RefusedError: there are tools, and none of them is a function.
    """
    tools = fields.objects("tools", MOST_TOOLS) or []
    found = [tool for tool in tools if tool.get("type") == "function"]
    if tools and not found:
        raise tools[0].wrong("type", "function: this server has no tools of its own")
    return found


def chat_tool(tool: Fields) -> Mapping[str, Any]:
    """A function as a chat request has it."""
    names = ("name", "description", "parameters", "strict")
    return {"type": "function", "function": {name: tool.get(name) for name in names if tool.has(name)}}


def chat_tool_choice(fields: Fields) -> Any:
    """`tool_choice` as a chat request has it. Of the tools that it allows, those that are no functions are left out."""
    if not isinstance(fields.get("tool_choice"), dict):
        return fields.get("tool_choice")
    choice = fields.inner("tool_choice") or Fields({})
    if choice.get("type") == "allowed_tools":
        allowed = [
            _named(entry) for entry in choice.objects("tools", MOST_TOOLS) or () if entry.get("type") == "function"
        ]
        return {"type": "allowed_tools", "allowed_tools": {"mode": choice.get("mode"), "tools": allowed}}
    if choice.get("type") == "function":
        return _named(choice)
    raise fields.wrong("tool_choice", "none, auto, required, or an object of the type function or allowed_tools")


def _named(entry: Fields) -> Mapping[str, Any]:
    return {"type": "function", "function": {"name": entry.get("name")}}
