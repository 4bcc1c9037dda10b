"""Settings under a name."""

import pytest

from llama_gui.chats.store import ChatStore
from llama_gui.errors import StoreError
from llama_gui.vocabulary import ChatSettings, SamplingParams


def test_presets_come_back_by_name_and_the_last_of_a_name_counts(store: ChatStore):
    strict = ChatSettings("Be brief.", SamplingParams(temperature=0.0, logit_bias={3: 1.0}), 10, ("x",))
    store.save_preset("warm", ChatSettings())
    store.save_preset(" Strict\n", ChatSettings("old"))
    store.save_preset("Strict", strict)
    assert list(store.presets()) == ["Strict", "warm"]
    assert store.presets()["Strict"] == strict
    store.delete_preset("Strict")
    store.delete_preset("nobody")
    assert list(store.presets()) == ["warm"]


def test_a_preset_needs_a_name(store: ChatStore):
    with pytest.raises(StoreError, match="needs a name"):
        store.save_preset(" \n", ChatSettings())


def test_a_damaged_preset_is_the_defaults(store: ChatStore):
    store.save_preset("p", ChatSettings("x"))
    store._connection.execute("UPDATE presets SET settings = '['")
    assert store.presets() == {"p": ChatSettings()}


def test_a_renamed_preset_keeps_its_chats(store: ChatStore):
    store.save_preset("old", ChatSettings("x"))
    store.save_preset("new", ChatSettings("y"))
    for chat_id, preset in (("a", "old"), ("b", "other"), ("c", "")):
        store.create_chat(chat_id)
        store.save_settings(chat_id, ChatSettings(preset=preset))
    store.create_chat("d")
    store.rename_preset("old", " new ")
    assert store.presets() == {"new": ChatSettings("x")}
    assert [store.chat(chat_id).settings.preset for chat_id in "abcd"] == ["new", "other", "", ""]
    store.rename_preset("new", "new")
    with pytest.raises(StoreError, match="needs a name"):
        store.rename_preset("new", " ")
