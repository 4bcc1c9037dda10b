"""Presets over a store on its lane."""

from dataclasses import replace

from llama_gui.bridge.presets import differing
from llama_gui.vocabulary import ChatSettings, SamplingParams

WARM = ChatSettings("Be kind.", SamplingParams(temperature=1.2))


def names(presets, qtbot, expected):
    qtbot.waitUntil(lambda: list(presets.presets()) == expected)


def test_they_are_saved_renamed_deleted_and_brought_back(qtbot, make_book):
    presets = make_book().presets
    said, renamed = [], []
    presets.done.connect(lambda what, name: said.append((what, name)))
    presets.renamed.connect(lambda *names: renamed.append(names))
    presets.save(
        "Warm",
        replace(WARM, model="/models/llama", documents="/home/me", tools=("files",), allowed_tools=("files/read",)),
    )
    names(presets, qtbot, ["Warm"])
    assert presets.presets()["Warm"] == replace(WARM, preset="Warm")
    assert presets.presets()["Warm"].preset == "Warm"
    assert presets.presets()["Warm"].system_prompt == "Be kind."
    presets.save("Warm", ChatSettings(max_tokens=5))
    qtbot.waitUntil(lambda: presets.presets()["Warm"].max_tokens == 5)
    presets.undo()
    qtbot.waitUntil(lambda: presets.presets()["Warm"].system_prompt == "Be kind.")
    presets.rename("Warm", "  Kind  ")
    names(presets, qtbot, ["Kind"])
    presets.delete("Kind")
    names(presets, qtbot, [])
    presets.undo()
    presets.undo()
    names(presets, qtbot, ["Kind"])
    presets.delete("nobody")
    assert said == [("replaced", "Warm"), ("deleted", "Kind")]
    assert renamed == [("Warm", "Kind")]


def test_a_name_is_needed(qtbot, make_book):
    presets = make_book().presets
    with qtbot.waitSignal(presets.failed) as failed:
        presets.save(" ", WARM)
    assert "needs a name" in failed.args[0]


def test_a_new_chat_begins_with_them_and_they_are_saved_with_its_first_message(qtbot, make_book, make_host, ask):
    book = make_book()
    first = book.new_chat()
    book.first_settings = ChatSettings("Be kind.", preset="Warm")
    session = book.new_chat()
    assert first.settings == ChatSettings()
    assert session.settings == book.first_settings
    ask(session, "hello")
    qtbot.waitUntil(lambda: session.is_settled)
    chat_id = session.chat_id
    book.close_chat(chat_id)
    book.first_settings = ChatSettings()
    again = book.open_chat(chat_id)
    qtbot.waitUntil(lambda: len(again.path()) == 2)
    assert again.settings == ChatSettings("Be kind.", preset="Warm")


def test_differing():
    assert differing(ChatSettings("a", preset="p"), ChatSettings("a")) == []
    changed = ChatSettings("b", SamplingParams(top_k=3), stop=("x",))
    assert differing(changed, ChatSettings()) == ["system_prompt", "stop", "top_k"]
