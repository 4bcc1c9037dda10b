"""LM Studio's conversation files."""

import json
from pathlib import Path

import pytest

from llama_gui.chats.importers.reading import read_import
from llama_gui.chats.tree import ChatTree
from llama_gui.errors import StoreError
from tests.chats.importers.conftest import ReadJson
from tests.chats.importers.samples import studio_answer, studio_chat, studio_user

MESSAGES = [
    studio_user("What flies?", "What sails?"),
    studio_answer("A kite.", "A bird.", "A plane.", selected=1),
    studio_user("More."),
]


def test_versions_become_branches_and_the_selected_ones_the_shown_path(read_json: ReadJson):
    found = read_json(studio_chat(MESSAGES))
    (chat,) = found.chats
    assert found.kind == "LM Studio"
    assert (chat.title, chat.created, chat.pinned) == ("Kites", 1_730_000_000.123, True)
    assert chat.settings.system_prompt == "Fly."
    tree = ChatTree(chat.nodes)
    path = tree.path(chat.leaf_id)
    assert [(node.role, node.content, node.model) for node in path] == [
        ("user", "What flies?", ""),
        ("assistant", "A bird.", "llama-3.2-1b"),
        ("user", "More.", ""),
    ]
    assert [node.content for node in tree.children(path[1].parent_id)] == ["A kite.", "A bird.", "A plane."]
    assert [node.content for node in tree.children(path[0].parent_id)] == ["What flies?", "What sails?"]
    assert found.left_out == ("3 × note of the model's reasoning was left out.",)


def test_files_and_tools_are_left_out(read_json: ReadJson):
    message = studio_user("Look")
    message["versions"][0]["content"].append({"type": "file", "fileIdentifier": "x.png"})
    answer = studio_answer("Yes")
    answer["versions"][0]["steps"].insert(0, {"type": "toolStatus", "callId": 1})
    found = read_json(studio_chat([message, answer]))
    assert [node.content for node in found.chats[0].nodes] == ["Look", "Yes"]
    assert found.left_out[:2] == ("1 × call of a tool was left out.", "1 × file or picture was left out.")


@pytest.mark.parametrize("selected", [-1, 99, None, "1", 1.5, True])
def test_a_selection_that_is_none_means_some_version(read_json: ReadJson, selected: object):
    messages = [studio_user("a", "b"), studio_answer("c")]
    messages[0]["currentlySelected"] = selected
    (chat,) = read_json(studio_chat(messages)).chats
    assert len(ChatTree(chat.nodes).path(chat.leaf_id)) == 2


def test_a_folder_of_conversations_is_read_file_by_file(tmp_path: Path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "1.conversation.json").write_text(json.dumps(studio_chat(MESSAGES)))
    (tmp_path / "inner" / "2.conversation.json").write_text(json.dumps(studio_chat(MESSAGES, createdAt=5)))
    (tmp_path / "settings.json").write_text("{}")
    found = read_import(tmp_path)
    assert (found.kind, len(found.chats)) == ("LM Studio", 2)
    assert "settings.json holds no chats" in found.skipped[0]


def test_a_folder_without_conversations_is_told(tmp_path: Path):
    with pytest.raises(StoreError, match="no chats in the folder"):
        read_import(tmp_path)
