"""What a chat asks of the model, as the text that is stored. Pure."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from llama_gui.chats.tree import clean_settings
from llama_gui.errors import UserError
from llama_gui.vocabulary import EFFORTS, OVERFLOWS, ChatSettings, Effort, SamplingParams, sampling_from_json

_NOT_UNDERSTOOD = (ValueError, TypeError, AttributeError, UserError)


def settings_to_json(settings: ChatSettings) -> str:
    """The settings with clean texts."""
    return json.dumps(asdict(clean_settings(settings)))


def settings_from_json(text: str) -> ChatSettings:
    """The settings of a chat. What of them cannot be understood costs only itself: a chat must open in any case, and
    what is read here is what is saved next.
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return ChatSettings()
    if not isinstance(values, dict):
        return ChatSettings()
    overflow = values.get("overflow")
    return clean_settings(
        ChatSettings(
            system_prompt=_text(values, "system_prompt"),
            sampling=_sampling(values.get("sampling")),
            max_tokens=_count(values, "max_tokens", 1),
            stop=_texts(values, "stop"),
            min_tokens=_count(values, "min_tokens", 0),
            overflow=overflow if overflow in OVERFLOWS else None,
            preset=_text(values, "preset"),
            model=_text(values, "model"),
            documents=_text(values, "documents"),
            thinking=read_thinking(values.get("thinking")),
            tools=_texts(values, "tools"),
            allowed_tools=_texts(values, "allowed_tools"),
        )
    )


def read_thinking(value: Any) -> bool | Effort | None:
    """`GenerateRequest.thinking` as it was stored; None for what it cannot be."""
    if isinstance(value, bool):
        return value
    return next((effort for effort in EFFORTS if effort == value), None)


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _texts(values: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = values.get(name)
    return tuple(text for text in value if isinstance(text, str) and text) if isinstance(value, list) else ()


def _count(values: Mapping[str, Any], name: str, least: int) -> int | None:
    value = values.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= least else None


def _sampling(values: Any) -> SamplingParams:
    if not isinstance(values, dict):
        return SamplingParams()
    try:
        return sampling_from_json(values)
    except _NOT_UNDERSTOOD:
        sound = {name: value for name, value in values.items() if _can_be_sampled_with(name, value)}
    try:
        return sampling_from_json(sound)
    except _NOT_UNDERSTOOD:  # each alone can be, and all together cannot
        return SamplingParams()


def _can_be_sampled_with(name: str, value: Any) -> bool:
    try:
        sampling_from_json({name: value})
    except _NOT_UNDERSTOOD:
        return False
    return True
