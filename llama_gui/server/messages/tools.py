"""The tools of a request, and how much they must be used -> those of a chat request."""

from collections.abc import Mapping, Sequence
from typing import Any

from llama_gui.server.refusal import wrong
from llama_gui.server.request_fields import Fields
from llama_gui.server.tools import MOST_TOOLS

_CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def chat_tools(fields: Fields) -> list[Mapping[str, Any]]:
    """Those of `tools` that the client runs itself.

    Those that Anthropic's servers run, or that only its models know, are left out. Who brings nothing else would take
    an answer without them for one with them.

    Raises:
        RefusedError: there are tools, and none of them is of the client's own; or one of these is wrong.
    """
    tools = fields.objects("tools", MOST_TOOLS) or []
    own = [tool for tool in tools if tool.get("type") in (None, "custom")]
    if tools and not own:
        raise tools[0].wrong("type", "custom, with an input_schema: this server has no tools of its own")
    told = [_chat_tool(tool) for tool in own]
    if len({tool["function"]["name"] for tool in told}) < len(told):
        raise wrong("tools", "a list with one name twice", "a list of tools with different names")
    return told


def _chat_tool(tool: Fields) -> Mapping[str, Any]:
    name, schema = tool.text("name"), tool.mapping("input_schema")
    if not name or len(name) > 128:
        raise tool.wrong("name", "a text of 1 to 128 letters")
    if schema is None or schema.get("type", "object") != "object":
        raise tool.wrong("input_schema", 'a schema of "type": "object"')
    named = {"name": name, "description": tool.text("description"), "strict": tool.get("strict")}
    told = {key: value for key, value in named.items() if value is not None}
    return {"type": "function", "function": {**told, "parameters": schema}}


def chat_choice(fields: Fields, names: Sequence[str]) -> Mapping[str, Any]:
    """`tool_choice` as a chat request has it: how much must be called, and whether it may be several at once.

    `names`: of the tools. Raises RefusedError: it is none, or of another tool.
    """
    choice = fields.inner("tool_choice")
    if choice is None:
        return {}
    kind = choice.one_of("type", (*_CHOICES, "tool"))
    if kind is None:
        raise choice.wrong("type", f"one of {', '.join((*_CHOICES, 'tool'))}")
    name = choice.text("name")
    if kind == "tool" and name not in names:
        raise choice.wrong("name", " or ".join(names) or "left out, as tools is empty")
    called = _CHOICES.get(kind) or {"type": "function", "function": {"name": name}}
    return {"tool_choice": called, "parallel_tool_calls": not choice.flag("disable_parallel_tool_use")}
