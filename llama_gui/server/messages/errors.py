"""Errors in this protocol's shape, and whose requests get them."""

from typing import Any

from llama_gui.errors import PromptTooLongError
from llama_gui.server.asgi import Scope, header_values
from llama_gui.server.refusal import RefusedError, renamed

_PATH = "/v1/messages"

_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}

THREADS = "thread_unsupported_request"
"""The code of a refusal behind which Anthropic's own client sends the whole conversation instead."""

_CHAT_NAMES = {
    "continue_final_message": "messages",
    "stop": "stop_sequences",
    "response_format": "output_config.format",
    "reasoning_effort": "output_config.effort",
    "parallel_tool_calls": "tool_choice.disable_parallel_tool_use",
}
"""What a field is called in a chat request -> where it stands here."""


def is_of_anthropic(scope: Scope) -> bool:
    """Whether a request is one in this protocol: by its address or, where that is everybody's, by what its client says.

    So a refusal can be told before anybody has looked for a route.
    """
    path = scope["path"].rstrip("/")
    return path == _PATH or path.startswith(f"{_PATH}/") or bool(header_values(scope, b"anthropic-version"))


def error_body(refused: RefusedError, request_id: str | None = None) -> dict[str, Any]:
    """A refusal as this protocol has it."""
    kind = _KINDS.get(refused.status, "api_error" if refused.status >= 500 else "invalid_request_error")
    details = {"details": {"error_code": THREADS}} if refused.code == THREADS else {}
    told = {"type": "error", "error": {"type": kind, "message": refused.message, **details}}
    return told if request_id is None else {**told, "request_id": request_id}


def in_these_words(refused: RefusedError) -> RefusedError:
    """A refusal of a chat request for who has sent a message."""
    cause = refused.__cause__
    if isinstance(cause, PromptTooLongError):
        # By these words, and these numbers, Claude Code knows that it has to shorten the conversation.
        message = f"prompt is too long: {cause.prompt_tokens} tokens > {cause.max_context} maximum"
        return RefusedError(refused.status, message, param=refused.param, code=refused.code)
    return renamed(refused, _CHAT_NAMES)
