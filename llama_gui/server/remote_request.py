"""A `GenerateRequest` -> the route and the body for a remote server, in its dialect. Pure.

What a server does not know it ignores in silence, mostly. So what would change the answer and cannot be asked for is
refused here, by name.
"""

import json
from collections.abc import Mapping
from typing import Any

from llama_gui.errors import InvalidRequestError
from llama_gui.server.endpoint import Dialect
from llama_gui.vocabulary import GenerateRequest, Message, SamplingParams, data_url, thinking_variables

_COMMON = {name: name for name in ("temperature", "top_p", "frequency_penalty", "presence_penalty", "seed")}
_USUAL = {**_COMMON, "top_k": "top_k", "min_p": "min_p", "repetition_penalty": "repetition_penalty"}
_OURS = {name: name for name in SamplingParams.__dataclass_fields__ if name != "logit_bias"}

_NAMES: dict[Dialect, dict[str, str]] = {
    "openai": _COMMON,
    "ollama": _COMMON,
    "lmstudio": {**_COMMON, "top_k": "top_k", "repetition_penalty": "repeat_penalty"},
    "vllm": {**_USUAL, "allowed_token_ids": "allowed_token_ids", "bad_words": "bad_words"},
    "sglang": _USUAL,
    "llama.cpp": {
        **_COMMON,
        "top_k": "top_k",
        "min_p": "min_p",
        "typical_p": "typical_p",
        "repetition_penalty": "repeat_penalty",
        "penalty_window": "repeat_last_n",
        "xtc_probability": "xtc_probability",
        "xtc_threshold": "xtc_threshold",
        "dry_multiplier": "dry_multiplier",
        "dry_base": "dry_base",
        "dry_allowed_length": "dry_allowed_length",
        "dry_window": "dry_penalty_last_n",
        "dry_sequence_breakers": "dry_sequence_breakers",
    },
    "llama-gui": _OURS,
    "other": _USUAL,
}
"""Dialect -> our name of a parameter -> its name there."""

_OFF: dict[str, tuple[Any, ...]] = {
    "top_k": (0,),
    "min_p": (0,),
    "repetition_penalty": (1,),
    "typical_p": (1,),
    "xtc_probability": (0,),
    "dry_multiplier": (0,),
}
"""Values that ask for nothing: no server has to know them."""

_GOES_ON: tuple[Dialect, ...] = ("vllm", "sglang", "llama-gui", "llama.cpp")
_TEMPLATES: tuple[Dialect, ...] = ("vllm", "sglang", "llama-gui", "llama.cpp")
_MIN_TOKENS: tuple[Dialect, ...] = ("vllm", "sglang", "llama-gui")
_TOKEN_IDS: tuple[Dialect, ...] = ("vllm", "sglang", "llama-gui", "llama.cpp")
_ENDINGS: dict[str, tuple[Dialect, ...]] = {
    "stop_token_ids": ("vllm", "sglang", "llama-gui"),
    "ignore_eos": ("vllm", "sglang", "llama-gui", "llama.cpp"),
    "include_stop_str_in_output": ("vllm", "llama-gui"),
    "skip_special_tokens": ("vllm", "sglang", "llama-gui"),
    "add_special_tokens": ("vllm", "llama-gui"),
    "truncate_prompt_tokens": ("vllm", "llama-gui"),
    "suffix": ("ollama", "llama-gui"),
}
"""How an answer ends and is shown, and what of the prompt is read: who knows it, each under our name."""
_BUDGET: dict[Dialect, str] = {
    "vllm": "thinking_token_budget",
    "llama-gui": "thinking_token_budget",
    "llama.cpp": "thinking_budget_tokens",
}
"""What the most tokens of reasoning are called."""
_REGEX: dict[Dialect, Any] = {
    "vllm": lambda regex: {"structured_outputs": {"regex": regex}, "guided_regex": regex},  # newer and older ones
    "sglang": lambda regex: {"regex": regex},
    "llama-gui": lambda regex: {"guided_regex": regex},
}


def remote_body(request: GenerateRequest, model: str, dialect: Dialect) -> tuple[str, dict[str, Any]]:
    """The route behind the base address, and the body.

    Raises:
        InvalidRequestError: the server cannot do what is asked.
    """
    body: dict[str, Any] = {"model": model, "stream": True, "stream_options": {"include_usage": True}}
    body |= _sampling(request.sampling, dialect)
    if request.max_tokens is not None:  # of new tokens: how many those of an answer's beginning are, nobody here knows
        body["max_completion_tokens" if dialect == "openai" else "max_tokens"] = request.max_tokens
    if request.stop:
        body["stop"] = list(request.stop)
    body |= _form(request, dialect)
    if request.min_tokens:
        _require(dialect in _MIN_TOKENS, "min_tokens", request.min_tokens, "0")
        body["min_tokens"] = request.min_tokens
    body |= _endings(request, dialect)
    _require(request.logits_processor is None, "logits_processor", "a function", "left out: it cannot be sent")
    _require(
        request.prompt_logprobs is None, "prompt_logprobs", request.prompt_logprobs, "left out: ours alone tell it"
    )
    _require(not request.answer_token_ids, "answer_token_ids", "given", "left out: give answer_text")
    if request.thinking_budget is not None:
        _require(
            dialect in _BUDGET, "thinking_budget", request.thinking_budget, "left out: this server does not know it"
        )
        body[_BUDGET[dialect]] = request.thinking_budget
    if request.messages is not None:
        return "chat/completions", body | _chat(request, dialect)
    return "completions", body | _completion(request, dialect)


def _chat(request: GenerateRequest, dialect: Dialect) -> dict[str, Any]:
    messages = [message_fields(message) for message in request.messages or ()]
    body: dict[str, Any] = {"messages": messages}
    if request.answer_text:
        _require(dialect in _GOES_ON, "answer_text", "given", "left out: this server cannot go on with an answer")
        messages.append({"role": "assistant", "content": request.answer_text})
        if dialect != "llama.cpp":  # which goes on with a last message of the assistant by itself
            body |= {"continue_final_message": True, "add_generation_prompt": False}
    if request.tools:
        body["tools"] = [dict(tool) for tool in request.tools]
    variables = dict(request.chat_template_kwargs or {})
    if variables:
        _require(dialect in _TEMPLATES, "chat_template_kwargs", variables, "left out")
    if dialect in _TEMPLATES:  # where it cannot be chosen, it is as the model does it
        variables = {**thinking_variables(request.thinking), **variables}
    if variables:
        body["chat_template_kwargs"] = variables
    if request.logprobs:
        body |= {"logprobs": True, "top_logprobs": min(request.logprobs, 20)}
    return body


def _completion(request: GenerateRequest, dialect: Dialect) -> dict[str, Any]:
    if request.prompt is not None:
        body: dict[str, Any] = {"prompt": request.prompt + request.answer_text}
    else:
        _require(dialect in _TOKEN_IDS, "token_ids", "given", "left out: this server reads texts")
        _require(not request.answer_text, "answer_text", "given", "left out when token_ids are given")
        body = {"prompt": list(request.token_ids or ())}
    return body | ({"logprobs": min(request.logprobs, 20)} if request.logprobs else {})


def message_fields(message: Message) -> dict[str, Any]:
    """A message as the protocol has it: the arguments of calls are text there."""
    fields: dict[str, Any] = {"role": message.role, "content": _content(message)}
    if message.tool_calls:
        fields["tool_calls"] = [_call_fields(call) for call in message.tool_calls]
        fields["content"] = message.content or None
    if message.tool_call_id:
        fields["tool_call_id"] = message.tool_call_id
    if message.name:
        fields["name"] = message.name
    return fields


def _content(message: Message) -> str | list[dict[str, Any]]:
    """A text; with images its parts, in order."""
    if not message.images:
        return message.content
    parts: list[dict[str, Any]] = []
    done = 0
    for image in message.images:
        if text := message.content[done : image.place]:
            parts.append({"type": "text", "text": text})
        done = image.place
        parts.append({"type": "image_url", "image_url": {"url": data_url(image.data)}})
    if text := message.content[done:]:
        parts.append({"type": "text", "text": text})
    return parts


def _call_fields(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    function = dict(function) if isinstance(function, Mapping) else {}
    arguments = function.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {**call, "type": "function", "function": {**function, "arguments": text}}


def _sampling(sampling: SamplingParams, dialect: Dialect) -> dict[str, Any]:
    names, body = _NAMES[dialect], dict[str, Any]()
    for name in _OURS:
        value = getattr(sampling, name)
        if value is None or (name not in names and value in _OFF.get(name, ())):
            continue
        _require(name in names, name, value, "at its default: this server does not know it")
        if name == "top_k" and value == 0 and dialect in ("vllm", "sglang"):
            value = -1  # their word for "off"
        body[names[name]] = list(value) if isinstance(value, tuple) else value
    if sampling.logit_bias:
        _require(dialect != "ollama", "logit_bias", "given", "left out: this server does not know it")
        body["logit_bias"] = {str(token_id): bias for token_id, bias in sampling.logit_bias.items()}
    return body


def _form(request: GenerateRequest, dialect: Dialect) -> dict[str, Any]:
    """The form that the answer must have."""
    if request.json_schema is not None:
        form = {"name": "answer", "schema": dict(request.json_schema), "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": form}}
    if request.regex is not None:
        _require(dialect in _REGEX, "regex", request.regex, "left out: this server follows JSON schemas only")
        return _REGEX[dialect](request.regex)
    return {}


def _endings(request: GenerateRequest, dialect: Dialect) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for name, dialects in _ENDINGS.items():
        value, default = getattr(request, name), GenerateRequest.__dataclass_fields__[name].default
        if value != default:
            _require(dialect in dialects, name, value, "at its default: this server does not know it")
            body[name] = list(value) if isinstance(value, tuple) else value
    return body


def _require(condition: bool, name: str, value: object, allowed: str) -> None:
    if not condition:
        raise InvalidRequestError(name, value, allowed)
