"""What a chat asks of the model, as text: there and back, from older versions, and damaged."""

import json

import pytest

from llama_gui.chats.chat_settings import settings_from_json, settings_to_json
from llama_gui.vocabulary import ChatSettings, SamplingParams


def test_they_come_back():
    settings = ChatSettings(
        "Be kind.",
        SamplingParams(temperature=0.5),
        5,
        ("x",),
        model="/models/llama",
        documents="/home/me",
        tools=("files",),
        allowed_tools=("files/read",),
        thinking=False,
    )
    assert settings_from_json(settings_to_json(settings)) == settings


def test_those_of_a_version_without_models_or_documents_have_none():
    values = json.loads(settings_to_json(ChatSettings("Be kind.")))
    del values["model"], values["documents"], values["thinking"]
    assert settings_from_json(json.dumps(values)) == ChatSettings("Be kind.")


@pytest.mark.parametrize("name", ["model", "documents"])
@pytest.mark.parametrize("value", [None, 5, ["x"], {}])
def test_a_name_that_is_none_costs_only_itself(name: str, value: object):
    values = {**json.loads(settings_to_json(ChatSettings("Be kind."))), name: value}
    assert settings_from_json(json.dumps(values)) == ChatSettings("Be kind.")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_tokens", "x"),
        ("max_tokens", 0),
        ("max_tokens", True),
        ("min_tokens", -1),
        ("min_tokens", 1.5),
        ("stop", [""]),
        ("thinking", "yes"),
        ("thinking", 1),
    ],
)
def test_a_number_that_no_request_may_have_costs_only_itself(name: str, value: object):
    values = {**json.loads(settings_to_json(ChatSettings("Be kind."))), name: value}
    assert settings_from_json(json.dumps(values)) == ChatSettings("Be kind.")
