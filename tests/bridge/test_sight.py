"""What a model is shown of a chat's images."""

from dataclasses import replace

import pytest

from llama_gui.bridge.sight import as_seen
from llama_gui.vocabulary import GenerateRequest, Image, Message, ModelInfo, SamplingParams

PNG = Image(b"\x89PNG\r\n\x1a\n")
BLIND = ModelInfo("m", "", "a", 1, 100, "", "cpu", SamplingParams(), has_chat_template=True)
CHAT = [Message("user", "What?", images=[PNG]), Message("assistant", "A cat."), Message("user", "And?", images=[PNG])]


def test_one_that_reads_them_gets_all():
    request = GenerateRequest(messages=CHAT)
    assert as_seen(request, replace(BLIND, reads_images=True)) is request


def test_another_gets_words_in_the_place_of_all_but_the_last():
    messages = as_seen(GenerateRequest(messages=CHAT), BLIND).messages
    assert messages == [Message("user", "[Image]\n\nWhat?"), *CHAT[1:]]


def test_nobody_has_to_be_told_where_only_is_counted():
    messages = as_seen(GenerateRequest(messages=CHAT), BLIND, spares_last=False).messages
    assert messages == [Message("user", "[Image]\n\nWhat?"), CHAT[1], Message("user", "[Image]\n\nAnd?")]


@pytest.mark.parametrize("request_", [GenerateRequest(prompt="Hi"), GenerateRequest(messages=[Message("user", "Hi")])])
def test_where_there_are_none_nothing_changes(request_: GenerateRequest):
    assert as_seen(request_, BLIND) is request_
