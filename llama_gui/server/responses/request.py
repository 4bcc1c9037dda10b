"""The body of /v1/responses -> what to generate: it becomes a chat request, and is read as one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from llama_gui.server.refusal import RefusedError
from llama_gui.server.request_fields import Fields
from llama_gui.server.responses.items import chat_messages, chat_tool, chat_tool_choice, functions
from llama_gui.server.schema import Asked, read_chat

_CANNOT: dict[str, str] = {
    "previous_response_id": "this server keeps no responses: send the whole conversation as input",
    "conversation": "this server keeps no conversations: send the whole of it as input",
    "prompt": "this server keeps no prompts: send instructions and input",
    "background": "wait for the response, or stream it",
    "top_logprobs": "use /v1/chat/completions",
}

_SAME = (
    "model", "stream", "temperature", "top_p", "parallel_tool_calls", "seed", "top_k", "min_p", "typical_p",
    "repetition_penalty", "presence_penalty", "frequency_penalty", "logit_bias", "stop", "min_tokens",
    "chat_template_kwargs",
)  # fmt: skip
"""Fields that a chat request has under the same name; those behind `parallel_tool_calls` are servers' own."""

_CHAT_NAMES = {"messages": "input", "max_tokens": "max_output_tokens", "response_format": "text.format"}


def read_response(body: Mapping[str, Any]) -> Asked:
    """The body of /v1/responses.

    Raises:
        RefusedError: see `read_chat`.
    """
    fields = Fields(body)
    for name, advice in _CANNOT.items():
        if body.get(name) not in (None, False, 0):
            raise RefusedError(400, f"{name} is not supported: {advice}.", param=name, code="unsupported_parameter")
    tools = functions(fields)
    reasoning, text = fields.inner("reasoning") or Fields({}), fields.inner("text") or Fields({})
    chat = {name: body[name] for name in _SAME if name in body} | {
        "messages": chat_messages(fields),
        "tools": [chat_tool(tool) for tool in tools],
        "tool_choice": chat_tool_choice(fields),
        "max_tokens": fields.whole("max_output_tokens", 1, 2**31 - 1),
        "reasoning_effort": reasoning.text("effort"),
        "response_format": _format(text),
    }
    truncation = fields.one_of("truncation", ("auto", "disabled")) or "disabled"
    try:
        asked = read_chat(chat)
    except RefusedError as error:
        raise renamed(error) from error
    requests = asked.requests
    if truncation == "auto":
        requests = tuple(replace(request, overflow="drop_oldest") for request in requests)
    return replace(asked, requests=requests, response=_repeated(fields, tools, truncation))


def _format(text: Fields) -> Mapping[str, Any] | None:
    """The form of the text as a chat request has it: the schema stands one level deeper there."""
    form = text.mapping("format")
    if form is None or form.get("type") != "json_schema":
        return form
    return {"type": "json_schema", "json_schema": form}


def _repeated(fields: Fields, tools: Sequence[Fields], truncation: str) -> Mapping[str, Any]:
    """What a response says of its request."""
    parallel = fields.get("parallel_tool_calls")
    return {
        "instructions": fields.get("instructions"),
        "max_output_tokens": fields.get("max_output_tokens"),
        "metadata": fields.mapping("metadata") or {},
        "parallel_tool_calls": parallel is None or bool(parallel),
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None, **(fields.mapping("reasoning") or {})},
        "store": False,
        "temperature": fields.get("temperature"),
        "text": {"format": {"type": "text"}, **(fields.mapping("text") or {})},
        "tool_choice": fields.get("tool_choice") or "auto",
        "tools": [tool.with_defaults(parameters=None, strict=None) for tool in tools],
        "top_p": fields.get("top_p"),
        "truncation": truncation,
    }


def renamed(error: RefusedError) -> RefusedError:
    """A refusal of a chat request in the words of this protocol."""
    old = (error.param or "").split("[")[0].split(".")[0]
    new = _CHAT_NAMES.get(old)
    if new is None:
        return error
    message = error.message.replace(str(error.param), new)
    return RefusedError(error.status, message, param=new, code=error.code, headers=error.headers)
