"""The body of /v1/responses -> what to generate: it becomes a chat request, and is read as one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from llama_gui.server.asked import Asked
from llama_gui.server.refusal import RefusedError, renamed
from llama_gui.server.request_fields import Fields
from llama_gui.server.responses.items import chat_messages, chat_tool, chat_tool_choice, functions
from llama_gui.server.schema import read_chat

_CANNOT: dict[str, str] = {
    "previous_response_id": "this server keeps no responses: send the whole conversation as input",
    "conversation": "this server keeps no conversations: send the whole of it as input",
    "prompt": "this server keeps no prompts: send instructions and input",
    "background": "wait for the response, or stream it",
    "messages": "use input",
    "max_tokens": "use max_output_tokens",
    "max_completion_tokens": "use max_output_tokens",
    "n_predict": "use max_output_tokens",
    "response_format": "use text.format",
    "reasoning_effort": "use reasoning.effort",
    "logprobs": "use include with message.output_text.logprobs",
    "prompt_logprobs": "use /v1/completions",
    "return_token_ids": "use /v1/chat/completions",
    "return_tokens_as_token_ids": "use /v1/chat/completions",
}
_ONE = ("n", "n_cmpl", "best_of")
_LOGPROBS = "message.output_text.logprobs"

_OTHER = (
    "input", "instructions", "include", "reasoning", "text", "tools", "tool_choice", "max_output_tokens", "truncation",
    "previous_response_id", "conversation", "prompt", "background", "top_logprobs", "stream_options", *_ONE,
)  # fmt: skip
"""Fields that mean something else than in a chat request; all others are read as there."""

_CHAT_NAMES = {
    "messages": "input",
    "max_tokens": "max_output_tokens",
    "response_format": "text.format",
    "reasoning_effort": "reasoning.effort",
}


def read_response(body: Mapping[str, Any]) -> Asked:
    """The body of /v1/responses.

    Raises:
        RefusedError: see `read_chat`.
    """
    fields = Fields(body)
    for name, advice in _CANNOT.items():
        if body.get(name) not in (None, False, 0):
            raise RefusedError(400, f"{name} is not supported: {advice}.", param=name, code="unsupported_parameter")
    for name in _ONE:
        if fields.whole(name, 1, 2**31 - 1) not in (None, 1):
            raise fields.wrong(name, "1: a response holds one answer")
    tools = functions(fields)
    reasoning, text = fields.inner("reasoning") or Fields({}), fields.inner("text") or Fields({})
    chat = {name: value for name, value in body.items() if name not in (*_OTHER, *_CANNOT)} | {
        "messages": chat_messages(fields),
        "tools": [chat_tool(tool) for tool in tools],
        "tool_choice": chat_tool_choice(fields),
        "max_tokens": fields.whole("max_output_tokens", 1, 2**31 - 1),
        "reasoning_effort": reasoning.text("effort"),
        "response_format": _format(text),
        **_logprobs(fields),
    }
    truncation = fields.one_of("truncation", ("auto", "disabled")) or "disabled"
    try:
        asked = read_chat(chat)
    except RefusedError as error:
        raise in_these_words(error) from error
    requests = asked.requests
    if truncation == "auto":
        requests = tuple(replace(request, overflow="drop_oldest") for request in requests)
    repeated = _repeated(fields, tools, truncation)
    return replace(asked, protocol="responses", requests=requests, response=repeated)


def _logprobs(fields: Fields) -> dict[str, Any]:
    """What a chat request has for `include`. What else can be included, no answer of this server has."""
    given, top = fields.get("include"), fields.whole("top_logprobs", 0, 20)
    if given is not None and not (isinstance(given, list) and all(isinstance(name, str) for name in given)):
        raise fields.wrong("include", "a list of texts")
    if _LOGPROBS in (given or ()):
        return {"logprobs": True, "top_logprobs": top}
    if top:
        raise fields.wrong("top_logprobs", f"left out, unless include holds {_LOGPROBS}")
    return {}


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
        "top_logprobs": fields.get("top_logprobs") or 0,
        "top_p": fields.get("top_p"),
        "truncation": truncation,
    }


def in_these_words(error: RefusedError) -> RefusedError:
    """A refusal of a chat request for who has sent a response's."""
    return renamed(error, _CHAT_NAMES)
