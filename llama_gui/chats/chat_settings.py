"""What a chat asks of the model, as the text that is stored. Pure."""

import json
from dataclasses import asdict

from llama_gui.chats.tree import clean_settings
from llama_gui.errors import UserError
from llama_gui.vocabulary import ChatSettings, sampling_from_json


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
        return clean_settings(settings)
    except (ValueError, TypeError, KeyError, AttributeError, UserError, RecursionError):
        return ChatSettings()
