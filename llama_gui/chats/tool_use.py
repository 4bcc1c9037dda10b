"""Calls of tools as a chat keeps them: a message of the role "tool" knows what was called, and says what came. Pure."""

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from llama_gui.vocabulary import ToolInfo

_MOST_NAME = 64
"""Letters of a function's name in OpenAI's protocol."""
_ODD = re.compile(r"[^A-Za-z0-9_-]")
NOT_MADE = "There is no reply: the call was not made, or did not come to its end."


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call. `called`: what the model calls the tool that is `tool` at `server`; `arguments`: JSON text.

    Nine letters of an id are what the templates of Mistral want.
    """

    id: str
    server: str
    tool: str
    called: str
    arguments: str
    title: str = ""

    def call(self) -> Mapping[str, Any]:
        """The call as a message of the assistant has it: OpenAI's shape, but for the arguments, which are no text."""
        return {"id": self.id, "type": "function", "function": {"name": self.called, "arguments": self.values()}}

    def values(self) -> dict[str, Any]:
        """The arguments by name; none where they are no JSON object."""
        try:
            values = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return {}
        return values if isinstance(values, dict) else {}


def new_use(tool: ToolInfo, called: str, arguments: str) -> ToolUse:
    """A call that is made now."""
    return ToolUse(secrets.token_hex(5)[:9], tool.server, tool.name, called, arguments, tool.title)


def use_to_json(use: ToolUse) -> str:
    """The text that a message keeps as its recipe."""
    return json.dumps(asdict(use), ensure_ascii=False)


def read_use(text: str) -> ToolUse | None:
    """What `use_to_json` wrote; None for anything else."""
    try:
        values = json.loads(text)
        use = ToolUse(**values)
    except (ValueError, TypeError, RecursionError):
        return None
    return use if all(isinstance(part, str) for part in values.values()) else None


def offered(tools: Sequence[ToolInfo]) -> dict[str, ToolInfo]:
    """The tools by the names that a model is told: of those that two servers have, the server's stands before it."""
    plain = [_function_name(tool.name) for tool in tools]
    found: dict[str, ToolInfo] = {}
    for name, tool in zip(plain, tools, strict=True):
        name = name if plain.count(name) == 1 else _function_name(f"{tool.server}_{tool.name}")
        number = 2
        while name in found:
            name = f"{name[: _MOST_NAME - 4]}_{number}"
            number += 1
        found[name] = tool
    return found


def schemas(tools: Mapping[str, ToolInfo]) -> list[dict[str, Any]]:
    """The tools as chat templates and servers read them."""
    return [
        {
            "type": "function",
            "function": {"name": name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for name, tool in tools.items()
    ]


def _function_name(text: str) -> str:
    return _ODD.sub("_", text)[:_MOST_NAME] or "tool"
