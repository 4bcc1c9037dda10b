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
        settings = ChatSettings(**{**values, "stop": tuple(values["stop"])}, sampling=sampling)
        if not isinstance(settings.model, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            settings = replace(settings, model="")
        if not _is_sound(settings):
            return ChatSettings()
        return clean_settings(settings)
    except (ValueError, TypeError, KeyError, AttributeError, UserError, RecursionError):
        return ChatSettings()


def _is_sound(settings: ChatSettings) -> bool:
    """Whether what no type checks itself can be shown and asked."""
    return isinstance(settings.preset, str) and settings.overflow in (None, *OVERFLOWS)
