"""What a chat asks of the model, as text: there and back, from older versions, and damaged."""

import json
from dataclasses import fields

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


def test_how_much_a_model_thinks_comes_back():
    settings = ChatSettings(thinking="high")
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
        ("thinking", ["high"]),
    ],
)
def test_a_number_that_no_request_may_have_costs_only_itself(name: str, value: object):
    values = {**json.loads(settings_to_json(ChatSettings("Be kind."))), name: value}
    assert settings_from_json(json.dumps(values)) == ChatSettings("Be kind.")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("of a newer version", {"a": 1}),
        ("sampling", 7),
        ("sampling", {"temperature": -1}),
        ("sampling", {"of a newer version": 1}),
        ("sampling", {"logit_bias": {"x": 1}}),
        ("overflow", "sideways"),
        ("overflow", ["x"]),
        ("preset", 5),
        ("stop", "x"),
        ("tools", 5),
        ("tools", [5]),
        ("allowed_tools", None),
    ],
)
def test_what_is_not_understood_costs_only_itself(name: str, value: object):
    """Else the next save would write over a system prompt that the user has typed."""
    values = {**json.loads(settings_to_json(ChatSettings("Be kind."))), name: value}
    assert settings_from_json(json.dumps(values)) == ChatSettings("Be kind.")


def test_one_parameter_out_of_its_range_costs_no_other():
    values = json.loads(settings_to_json(ChatSettings(sampling=SamplingParams(temperature=0.5, top_k=7))))
    values["sampling"] |= {"top_p": 9, "newer": 1}
    assert settings_from_json(json.dumps(values)).sampling == SamplingParams(temperature=0.5, top_k=7)


def test_no_setting_is_forgotten():
    """Each field that there is comes back with another value than its default."""
    other = {
        "system_prompt": "a", "sampling": SamplingParams(top_k=1), "max_tokens": 1, "stop": ("a",), "min_tokens": 1,
        "overflow": "error", "preset": "a", "model": "a", "documents": "a", "thinking": True, "tools": ("a",),
        "allowed_tools": ("a",),
    }  # fmt: skip
    assert other.keys() == {field.name for field in fields(ChatSettings)}
    settings = ChatSettings(**other)
    assert settings_from_json(settings_to_json(settings)) == settings


@pytest.mark.parametrize("text", ["", "[]", "7", "null", '{"system_prompt": "cut', "[" * 100_000])
def test_a_text_that_holds_no_settings_is_the_defaults(text: str):
    assert settings_from_json(text) == ChatSettings()
