"""The bodies of /api/chat and /api/generate -> what to generate: they become a chat or a completion request."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from llama_gui.server.asked import Asked, Protocol
from llama_gui.server.images import part_of_text
from llama_gui.server.refusal import RefusedError, renamed
from llama_gui.server.refused_fields import Cannot, refuse_what_we_cannot
from llama_gui.server.request_fields import Fields
from llama_gui.server.sampling_fields import MOST_TOKENS
from llama_gui.server.schema import read_chat, read_completion
from llama_gui.server.turns import MOST_MESSAGES

_CANNOT: Cannot = {
    "template": ("use raw, with the prompt as you want it", ("",)),
    "context": ("send the whole conversation to /api/chat", ([],)),
    "logprobs": ("use /v1/chat/completions", (False,)),
    "top_logprobs": ("use /v1/chat/completions", (0,)),
}
_DRAWING = (
    "seed", "temperature", "top_k", "top_p", "min_p", "typical_p", "repeat_last_n", "repeat_penalty",
    "presence_penalty", "frequency_penalty", "mirostat", "stop",
)  # fmt: skip
"""The options that concern an answer. The others say how a model is loaded, which is not for clients to say here."""
_LEVELS = ("low", "medium", "high")
_NAMES = {
    **{name: f"options.{name}" for name in _DRAWING},
    "max_tokens": "options.num_predict",
    "repetition_penalty": "options.repeat_penalty",
    "penalty_window": "options.repeat_last_n",
    "response_format": "format",
    "reasoning_effort": "think",
    "continue_final_message": "messages",
}
"""What a field is called in a chat or completion request -> where it stands here."""


def wants_only_a_load(body: Mapping[str, Any]) -> bool:
    """Whether nothing is asked: then the model is to be got ready, as Ollama has it."""
    return not any(body.get(name) for name in ("messages", "prompt", "system", "suffix"))


def read_ollama_chat(body: Mapping[str, Any]) -> Asked:
    """The body of /api/chat.

    Raises:
        RefusedError: a field is missing, wrong, or asks for what this server cannot do.
    """
    fields = Fields(body)
    refuse_what_we_cannot(fields, _CANNOT)
    messages = [_message(entry) for entry in fields.objects("messages", MOST_MESSAGES) or ()]
    last = messages[-1] if messages else {}
    goes_on = last.get("role") == "assistant" and len(messages) > 1 and bool(last.get("content"))
    more = {"continue_final_message": goes_on and not last.get("tool_calls")}
    return _chat(fields, messages, "ollama-chat", tools=fields.get("tools"), **more)


def read_ollama_generate(body: Mapping[str, Any]) -> Asked:
    """The body of /api/generate: a question, or with `raw` or `suffix` a text that is gone on with.

    Raises:
        RefusedError: see `read_ollama_chat`.
    """
    fields = Fields(body)
    refuse_what_we_cannot(fields, _CANNOT)
    prompt, system = fields.text("prompt") or "", fields.text("system")
    if fields.flag("raw") or fields.text("suffix"):
        if not prompt and not fields.text("suffix"):
            raise fields.wrong("prompt", "a text that is not empty where raw is given: that is gone on with")
        refuse_what_we_cannot(fields, {"images": ("without raw and suffix", ([],))})
        asked = read_completion({**_common(fields), "prompt": prompt, "suffix": fields.get("suffix")})
        return _as_asked(fields, asked, "ollama-generate")
    turns = [("system", system), ("user", prompt)]
    messages = [{"role": role, "content": text} for role, text in turns if text or role == "user"]
    messages[-1]["content"] = _with_images(fields, prompt)
    return _chat(fields, messages, "ollama-generate")


def in_words_of_chat(refused: RefusedError) -> RefusedError:
    """A refusal of a chat request for who has sent the body of /api/chat."""
    return renamed(refused, _NAMES)


def in_words_of_generate(refused: RefusedError) -> RefusedError:
    """A refusal of a chat or completion request for who has sent the body of /api/generate, which has no messages."""
    return renamed(refused, {**_NAMES, "messages": "prompt", "continue_final_message": "prompt"})


def _chat(fields: Fields, messages: list[dict[str, Any]], protocol: Protocol, **more: Any) -> Asked:
    think = fields.get("think")
    level = None if isinstance(think, bool) else think
    if level is not None and level not in _LEVELS:
        raise fields.wrong("think", f"true, false, or one of {', '.join(_LEVELS)}")
    asked = read_chat({**_common(fields), "messages": messages, "reasoning_effort": level, **more})
    thinking = think if isinstance(think, bool) or think is None else True
    requests = tuple(replace(request, thinking=thinking) for request in asked.requests)
    return _as_asked(fields, replace(asked, requests=requests), protocol)


def _as_asked(fields: Fields, asked: Asked, protocol: Protocol) -> Asked:
    """In this protocol a prompt that is too long loses its oldest turns, unless that is not wanted."""
    if fields.has("truncate") and not fields.flag("truncate"):
        return replace(asked, protocol=protocol)
    requests = tuple(replace(request, overflow="drop_oldest") for request in asked.requests)
    return replace(asked, protocol=protocol, requests=requests)


def _common(fields: Fields) -> dict[str, Any]:
    """What both kinds have."""
    options = fields.inner("options") or Fields({})
    limit = options.whole("num_predict", -2, MOST_TOKENS)
    return {
        **{name: options.get(name) for name in _DRAWING},
        "model": fields.text("model"),
        "max_tokens": limit if limit is not None and limit > 0 else -1,  # no limit, and so is 0
        "stream": not fields.has("stream") or fields.flag("stream"),
        "response_format": _format(fields),
    }


def _format(fields: Fields) -> Mapping[str, Any] | None:
    form = fields.get("format")
    if form in (None, ""):
        return None
    if form == "json":
        return {"type": "json_object"}
    if not isinstance(form, dict):
        raise fields.wrong("format", "json, or a JSON schema")
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": form}}


def _message(entry: Fields) -> dict[str, Any]:
    """As a chat request has it. Thoughts are left out, as templates do."""
    calls = [{**call.with_defaults(), "type": "function"} for call in entry.objects("tool_calls", 128) or ()]
    said = {name: entry.get(name) for name in ("role", "content", "tool_call_id") if entry.has(name)}
    named = {"name": entry.text("tool_name")} if entry.has("tool_name") else {}
    said["content"] = _with_images(entry, said.get("content", ""))
    return {**said, **named, **({"tool_calls": calls} if calls else {})}


def _with_images(fields: Fields, text: Any) -> Any:
    """The content of a message: its text, behind those of `images` that go along."""
    images = fields.get("images") or []
    if not isinstance(images, list):
        raise fields.wrong("images", "a list of images")
    parts = [part_of_text(image, fields.path_of(f"images[{index}]")) for index, image in enumerate(images)]
    return [*parts, {"type": "text", "text": text}] if parts else text
