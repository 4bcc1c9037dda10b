"""The body of /v1/messages -> what to generate: it becomes a chat request, and is read as one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from llama_gui.server.asked import Asked
from llama_gui.server.messages.blocks import chat_messages
from llama_gui.server.messages.errors import THREADS, in_these_words
from llama_gui.server.messages.tools import chat_choice, chat_tools
from llama_gui.server.refusal import RefusedError
from llama_gui.server.refused_fields import Cannot, refuse_what_we_cannot
from llama_gui.server.request_fields import Fields
from llama_gui.server.sampling_fields import MOST_TOKENS
from llama_gui.server.schema import read_chat

_CHAT = "use /v1/chat/completions"

_CANNOT: Cannot = {
    "mcp_servers": ("this server asks nobody else", ([],)),
    "container": ("this server runs no code", ()),
    "compaction": ("ask for a summary", ()),
    "stop": ("use stop_sequences", ([],)),
    "max_completion_tokens": ("use max_tokens", ()),
    "n_predict": ("use max_tokens", ()),
    "response_format": ("use output_config.format", ()),
    "reasoning_effort": ("use output_config.effort", ()),
    "continue_final_message": ("let the last message be the assistant's", (False,)),
    "n": (_CHAT, (1,)),
    "n_cmpl": (_CHAT, (1,)),
    "best_of": (_CHAT, (1,)),
    "logprobs": (_CHAT, (False,)),
    "top_logprobs": (_CHAT, (0,)),
    "prompt_logprobs": (_CHAT, ()),
    "return_token_ids": (_CHAT, (False,)),
    "return_tokens_as_token_ids": (_CHAT, (False,)),
}
"""What other protocols call so, and what nobody here can do."""

_OWN = (
    "system", "messages", "tools", "tool_choice", "stop_sequences", "max_tokens", "thinking", "output_config",
    "output_format", "stream_options",
)  # fmt: skip
"""Fields that mean something else than in a chat request; all others are read as there.

What is read nowhere changes nothing about an answer: `metadata`, `service_tier`, `cache_control`, and
`context_management`, by which Anthropic's servers shorten what would be too long.
"""


def read_message(body: Mapping[str, Any]) -> Asked:
    """The body of /v1/messages; with `max_tokens` 0 the prompt is read, so that it is known next time, and no more.

    Raises:
        RefusedError: see `read_chat`.
    """
    fields = Fields(body)
    limit = fields.whole("max_tokens", 0, MOST_TOKENS)
    if limit is None:
        raise RefusedError(
            400, "max_tokens is missing: give the most tokens that are to be written.", param="max_tokens"
        )
    # The engine draws one, which is not told.
    return replace(_read(fields, body, max(limit, 1)), only_prompt=limit == 0)


def read_prompt(body: Mapping[str, Any]) -> Asked:
    """The body of /v1/messages/count_tokens: the same, but that nothing is written.

    Raises:
        RefusedError: see `read_chat`.
    """
    return _read(Fields(body), body, 1)


def _read(fields: Fields, body: Mapping[str, Any], max_tokens: int) -> Asked:
    if fields.has("thread"):
        message = "thread is not supported: this server keeps no conversations, so send the whole of it."
        raise RefusedError(400, message, param="thread", code=THREADS)
    refuse_what_we_cannot(fields, _CANNOT)
    messages, tools = chat_messages(fields), chat_tools(fields)
    output = fields.inner("output_config") or Fields({})
    chat = {name: value for name, value in body.items() if name not in (*_OWN, *_CANNOT)} | {
        "messages": messages,
        "tools": tools,
        "max_tokens": max_tokens,
        "stop": fields.get("stop_sequences"),
        "reasoning_effort": output.text("effort"),
        "response_format": _format(output.inner("format") or fields.inner("output_format")),
        "continue_final_message": messages[-1]["role"] == "assistant",
        **chat_choice(fields, [tool["function"]["name"] for tool in tools]),
    }
    try:
        asked = read_chat(chat)
    except RefusedError as error:
        raise in_these_words(error) from error
    told = _thinking(fields)
    return replace(asked, protocol="messages", requests=tuple(replace(one, **told) for one in asked.requests))


def _format(form: Fields | None) -> Mapping[str, Any] | None:
    """The form of the answer as a chat request has it; what it says is a promise in this protocol."""
    if form is None:
        return None
    schema = form.mapping("schema")
    if form.get("type") != "json_schema" or schema is None:
        raise form.wrong("type", "json_schema, with its schema")
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}


def _thinking(fields: Fields) -> dict[str, Any]:
    """Whether the model is to think, and with how many tokens at most. Who says nothing gets an answer without
    thoughts, as the protocol has it: many programs take the first block for the answer.
    """
    thinking = fields.inner("thinking")
    if thinking is None:
        return {"thinking": False}
    kinds = {"enabled": True, "disabled": False, "adaptive": None}
    kind = thinking.one_of("type", tuple(kinds))
    if kind is None:
        raise thinking.wrong("type", f"one of {', '.join(kinds)}")
    budget = thinking.whole("budget_tokens", 1, MOST_TOKENS)
    return {"thinking": kinds[kind], **({"thinking_budget": budget} if kind == "enabled" else {})}
