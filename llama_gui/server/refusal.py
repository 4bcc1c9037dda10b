"""Why a request is refused: a status, and the body that OpenAI's clients know how to read."""

import logging
import reprlib
from collections.abc import Mapping
from typing import Any

from llama_gui.errors import (
    BrokenModelError,
    ChatTemplateError,
    EngineClosedError,
    GenerationError,
    InvalidRequestError,
    ModelError,
    NotEnoughMemoryError,
    PromptTooLongError,
    UserError,
)

_log = logging.getLogger(__name__)

OUR_FIELDS = {
    "role": "messages",
    "content": "messages",
    "repetition_penalty": "repetition_penalty",
    "logprobs": "top_logprobs",
    "images": "messages",
    "image": "messages",
    "request": "prompt",
    "token id": "prompt",
    "token_ids": "prompt",
}
"""What the engine calls a field -> what the protocol calls it, where that differs."""


def _brief(value: object) -> str:
    """What somebody sent, in a line: the whole of it may be megabytes."""
    brief = reprlib.Repr()
    brief.maxstring = brief.maxother = 60
    brief.maxlevel, brief.maxlist, brief.maxdict = 2, 4, 4
    return brief.repr(value)


class RefusedError(Exception):
    """The request gets this answer and nothing else. `param` names the field, `code` is for programs."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.code = code or ("invalid_value" if param else None)
        self.headers = headers or {}

    @property
    def body(self) -> dict[str, Any]:
        """OpenAI's shape of an error."""
        kind = _KINDS.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


_KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class StoppingError(RefusedError):
    """The server is being stopped."""

    def __init__(self) -> None:
        super().__init__(503, "The server was stopped before the answer was finished.", code="server_stopped")


def wrong(param: str, value: object, allowed: str) -> RefusedError:
    """A field with a value that cannot be."""
    return RefusedError(
        400, f"{param} is {_brief(value)}, but it must be {allowed}.", param=param, code="invalid_value"
    )


def refusal_of(error: BaseException, model_path: str = "", *, is_chat: bool = True) -> RefusedError:
    """What the caller is told about `error`. Where the model lies on our disk is nobody's business."""
    text = str(error).replace(model_path, "the model") if model_path else str(error)
    prompt = "messages" if is_chat else "prompt"
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, PromptTooLongError):
        return RefusedError(400, _too_long(error, prompt), param=prompt, code="context_length_exceeded")
    if isinstance(error, InvalidRequestError) and error.field in ("answer_text", "answer_token_ids"):
        text = "The last message cannot be continued: a stop text is in it, or it does not begin the form asked for."
        return RefusedError(400, text, param="continue_final_message")
    if isinstance(error, InvalidRequestError):
        param = _param(error.field, prompt)
        if error.field == "token_ids":  # nobody has sent a field of that name
            text = text.replace(error.field, param, 1)
        return RefusedError(400, text, param=param, code="invalid_value")
    if isinstance(error, ChatTemplateError):
        return RefusedError(400, text, param="messages", code="chat_template")
    if isinstance(error, EngineClosedError):
        return RefusedError(503, "The model was closed before the answer was finished.", code="model_closed")
    if isinstance(error, NotEnoughMemoryError):
        return RefusedError(503, text, code="not_enough_memory", headers={"Retry-After": "30"})
    if isinstance(error, GenerationError):
        return RefusedError(500, text, code="generation_failed")
    # The tokenizer fails on a text with a BrokenModelError: that is no fault of the caller's.
    if isinstance(error, BrokenModelError | ModelError):
        return RefusedError(500, text, code="model_unusable")
    if isinstance(error, UserError):
        return RefusedError(400, text, code="unsupported")
    _log.error("A request failed", exc_info=error)
    return RefusedError(500, "Something went wrong inside llama-gui. Please report this.", code="bug")


def _too_long(error: PromptTooLongError, prompt: str) -> str:
    """As OpenAI and vLLM say it: by these words litellm and others know that a shorter prompt helps."""
    room = ", and the answer needs room, too" if error.is_answered else ""
    return (
        f"This model's maximum context length is {error.max_context} tokens{room}. "
        f"However, your {prompt} resulted in {error.prompt_tokens} tokens. Please reduce the length of the {prompt}."
    )


def renamed(error: RefusedError, names: Mapping[str, str]) -> RefusedError:
    """A refusal of a chat request in the words of another protocol: `names` are its fields by those of the chat's."""
    new = names.get((error.param or "").split("[")[0].split(".")[0])
    if new is None:
        return error
    # A sentence that begins with the field quotes behind it what was given there.
    param = str(error.param)
    message = error.message.replace(param, new, 1 if error.message.startswith(param) else -1)
    return RefusedError(error.status, message, param=new, code=error.code, headers=error.headers)


def unloadable(error: Exception, name: str) -> RefusedError:
    """What the caller is told when a model cannot be loaded. The reason names files and is for the server's owner."""
    if isinstance(error, RefusedError | NotEnoughMemoryError) or not isinstance(error, UserError):
        return refusal_of(error)
    _log.error("The model %s cannot be loaded: %s", name, error)
    return RefusedError(500, f"The model {name!r} cannot be loaded.", code="model_unusable")


def _param(field: str, prompt: str) -> str:
    if field == "prompt":
        return prompt
    name = field.split("[")[0].removesuffix(" token id")
    return OUR_FIELDS.get(name, name)
