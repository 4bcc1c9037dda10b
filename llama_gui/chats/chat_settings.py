"""What a chat asks of the model, as the text that is stored. Pure."""

import json
from dataclasses import asdict, replace

from llama_gui.chats.tree import clean_settings
from llama_gui.errors import UserError
from llama_gui.vocabulary import OVERFLOWS, ChatSettings, sampling_from_json


def settings_to_json(settings: ChatSettings) -> str:
    """The settings with clean texts."""
    return json.dumps(asdict(clean_settings(settings)))


def settings_from_json(text: str) -> ChatSettings:
    """The settings of a chat. What cannot be understood falls back to the defaults: a chat must open in any case."""
    if not text:
        return ChatSettings()
    try:
        values = json.loads(text)
        sampling = sampling_from_json(values.pop("sampling"))
        lists = {name: tuple(values[name]) for name in ("stop", "tools", "allowed_tools") if name in values}
        settings = _with_sound_parts(ChatSettings(**{**values, **lists}, sampling=sampling))
        if not _is_sound(settings):
            return ChatSettings()
        return clean_settings(settings)
    except (ValueError, TypeError, KeyError, AttributeError, UserError, RecursionError):
        return ChatSettings()


def _is_sound(settings: ChatSettings) -> bool:
    """Whether what no type checks itself can be shown and asked."""
    return isinstance(settings.preset, str) and settings.overflow in (None, *OVERFLOWS)


def _with_sound_parts(settings: ChatSettings) -> ChatSettings:
    """What is no name or no number costs only itself: every message of the chat would be refused for it."""
    return replace(
        settings,
        model=settings.model if isinstance(settings.model, str) else "",  # pyright: ignore[reportUnnecessaryIsInstance]
        documents=settings.documents if isinstance(settings.documents, str) else "",  # pyright: ignore[reportUnnecessaryIsInstance]
        max_tokens=settings.max_tokens if _is_count(settings.max_tokens, 1) else None,
        min_tokens=settings.min_tokens if _is_count(settings.min_tokens, 0) else None,
        stop=tuple(text for text in settings.stop if text),
        thinking=settings.thinking if isinstance(settings.thinking, bool) else None,
        tools=tuple(name for name in settings.tools if isinstance(name, str)),  # pyright: ignore[reportUnnecessaryIsInstance]
        allowed_tools=tuple(name for name in settings.allowed_tools if isinstance(name, str)),  # pyright: ignore[reportUnnecessaryIsInstance]
    )


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
