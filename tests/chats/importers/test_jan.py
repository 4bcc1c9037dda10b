"""Jan's threads: a folder for each, two files in it."""

import json
from pathlib import Path
from typing import Any

import pytest

from llama_gui.chats.importers.reading import read_import
from llama_gui.chats.tree import ChatTree
from llama_gui.errors import StoreError

THREAD = {
    "id": "01JABC",
    "object": "thread",
    "title": "Kites",
    "assistants": [
        {"id": "jan", "name": "Jan", "instructions": "Fly.", "model": {"id": "llama3.2-1b", "engine": "llamacpp"}}
    ],
    "created": 1_730_000_000_123,
    "updated": 1_730_000_000,
    "metadata": {"is_favorite": True},
}


def message(number: int, role: str, text: str, **metadata: Any) -> dict[str, Any]:
    return {
        "id": f"m{number}",
        "object": "thread.message",
        "thread_id": "01JABC",
        "role": role,
        "content": [{"type": "text", "text": {"value": text, "annotations": []}}],
        "status": "ready",
        "created_at": 1_730_000_000_000 + number,
        "completed_at": 1_730_000_000_000 + number,
        "metadata": metadata,
    }


def write(folder: Path, messages: list[Any], **thread: Any) -> Path:
    folder.mkdir(parents=True)
    (folder / "thread.json").write_text(json.dumps(THREAD | thread), encoding="utf-8")
    lines = [line if isinstance(line, str) else json.dumps(line) for line in messages]
    (folder / "messages.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def shown(path: Path) -> list[tuple[str, str, str]]:
    (chat,) = read_import(path).chats
    return [(node.role, node.content, node.model) for node in ChatTree(chat.nodes).path(chat.leaf_id)]


def test_a_thread_is_a_chat(tmp_path: Path):
    folder = write(tmp_path / "01JABC", [message(1, "user", "What flies?"), message(2, "assistant", "A kite.")])
    for picked in (folder, folder / "thread.json", folder / "messages.jsonl"):
        found = read_import(picked)
        (chat,) = found.chats
        assert (found.kind, found.skipped, found.left_out) == ("Jan", (), ())
        assert (chat.title, chat.created, chat.pinned) == ("Kites", 1_730_000_000.123, True)
        assert chat.settings.system_prompt == "Fly."
        assert shown(picked) == [("user", "What flies?", ""), ("assistant", "A kite.", "llama3.2-1b")]
    assert read_import(folder).chats[0].id == read_import(folder / "thread.json").chats[0].id


def test_a_thread_without_a_date_is_as_old_as_its_first_message(tmp_path: Path):
    (chat,) = read_import(write(tmp_path / "t", [message(1, "user", "Hi")], created=None)).chats
    assert chat.created == chat.nodes[0].created == 1_730_000_000.001


def test_a_folder_of_threads_beside_other_files(tmp_path: Path):
    for name in ("a", "b"):
        write(tmp_path / "threads" / name, [message(1, "user", name)], id=name)
    write(tmp_path / "threads" / "empty", [], id="empty")
    (tmp_path / "settings.json").write_text("{}", encoding="utf-8")
    found = read_import(tmp_path)
    assert [chat.nodes[0].content for chat in found.chats] == ["a", "b"]
    assert any("no messages" in text for text in found.skipped)
    assert any("settings.json" in text for text in found.skipped)


VERSIONS = [
    message(1, "user", "What flies?", parentId=None, activeChildId="m2"),
    message(2, "assistant", "A kite.", parentId="m1"),
    message(3, "assistant", "A bird.", parentId="m1"),
    message(4, "user", "More.", parentId="m2"),
    message(5, "user", "Other.", parentId="m2"),
]


def test_versions_become_branches_and_what_jan_shows_is_shown(tmp_path: Path):
    folder = write(tmp_path / "t", VERSIONS)
    assert [text for _, text, _ in shown(folder)] == ["What flies?", "A kite.", "Other."]
    (chat,) = read_import(folder).chats
    tree = ChatTree(chat.nodes)
    assert [node.content for node in tree.children(chat.nodes[0].id)] == ["A kite.", "A bird."]


def test_an_answer_that_hangs_on_nothing_hangs_on_its_question(tmp_path: Path):
    lost = [message(1, "user", "Q", parentId=None), message(2, "assistant", "A", parentId=None)]
    assert [text for _, text, _ in shown(write(tmp_path / "t", lost))] == ["Q", "A"]


def test_circles_and_strange_values_do_no_harm(tmp_path: Path):
    circle = [message(1, "user", "a", parentId="m2"), message(2, "assistant", "b", parentId="m1", activeChildId="m1")]
    (chat,) = read_import(write(tmp_path / "circle", circle)).chats
    assert {node.content for node in chat.nodes} == {"a", "b"}
    strange = [{"role": ["user"]}, 5, {"role": "user", "content": "plain", "metadata": []}, {"id": True}, None]
    found = read_import(write(tmp_path / "strange", strange, assistants=3, title=None, created="x", id=None))
    assert [node.content for node in found.chats[0].nodes] == ["plain"]
    assert "2 × damaged line was left out." in found.left_out


def test_what_is_no_text_is_left_out_and_counted(tmp_path: Path):
    answer = message(2, "assistant", "Yes")
    answer["content"][:0] = [{"type": "reasoning", "text": {"value": "hm"}}, {"type": "tool_call", "tool_name": "x"}]
    question = message(1, "user", "Look")
    question["content"].append({"type": "image_url", "image_url": {"url": "data:"}})
    found = read_import(write(tmp_path / "t", [question, answer, message(3, "system", "no"), '{"id": "cut of']))
    assert [node.content for node in found.chats[0].nodes] == ["Look", "Yes"]
    assert found.left_out == (
        "1 × call of a tool was left out.",
        "1 × damaged line was left out.",
        "1 × file or picture was left out.",
        "1 × note of the model's reasoning was left out.",
    )


def test_a_thread_without_its_messages_is_told(tmp_path: Path):
    folder = write(tmp_path / "t", [])
    (folder / "messages.jsonl").unlink()
    with pytest.raises(StoreError, match="holds no chats"):
        read_import(folder / "thread.json")
