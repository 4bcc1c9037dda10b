"""Imported chats in the store: whole or not at all, and none twice."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from llama_gui.chats.importers.reading import FoundChats, read_import
from llama_gui.chats.record import ChatRecord
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import Node
from llama_gui.errors import StoreError
from tests.chats.importers.samples import gpt_chat, gpt_entry
from tests.chats.samples import question

ENTRIES = [gpt_entry("q", "sys"), gpt_entry("a", "q", "assistant")]


def found(tmp_path: Path, *chats: object) -> FoundChats:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(chats))
    return read_import(path)


def contents(store: ChatStore) -> list[list[str]]:
    return [[node.content for node in chat.nodes] for chat in store.records()]


def test_the_same_file_twice_makes_no_doubles(store: ChatStore, tmp_path: Path):
    chats = found(tmp_path, gpt_chat(ENTRIES, "a"))
    report = store.import_chats(chats)
    assert (report.added, report.extended, report.unchanged, report.messages) == (1, 0, 0, 2)
    assert report.summary == "ChatGPT – chats added: 1, messages: 2."
    before = list(store.records())
    report = store.import_chats(chats)
    assert (report.added, report.extended, report.unchanged, report.messages) == (0, 0, 1, 0)
    assert report.summary == "ChatGPT – chats added: 0, here already: 1, messages: 0."
    assert list(store.records()) == before
    assert [hit.node_id for hit in store.search("text a")] == [before[0].nodes[1].id]


def test_a_later_export_brings_the_new_messages(store: ChatStore, tmp_path: Path):
    store.import_chats(found(tmp_path, gpt_chat(ENTRIES, "a")))
    (chat,) = store.chats()
    store.rename_chat(chat.id, "My name for it")
    report = store.import_chats(found(tmp_path, gpt_chat([*ENTRIES, gpt_entry("q2", "a")], "q2")))
    assert (report.added, report.extended, report.messages) == (0, 1, 1)
    assert contents(store) == [["text q", "text a", "text q2"]]
    stored = store.chat(chat.id)
    assert stored.title == "My name for it"
    assert stored.leaf_id == stored.nodes[-1].id


def test_the_list_has_the_times_of_the_import(store: ChatStore, tmp_path: Path):
    store.import_chats(found(tmp_path, gpt_chat(ENTRIES, "a")))
    assert [(chat.updated, chat.last_status) for chat in store.chats()] == [(1_700_000_000.5, "complete")]


def test_a_chat_in_the_bin_stays_there_and_is_named(store: ChatStore, tmp_path: Path):
    chats = found(tmp_path, gpt_chat(ENTRIES, "a"))
    store.import_chats(chats)
    store.delete_chat(store.chats()[0].id)
    assert store.import_chats(chats).skipped == ("“Trip” lies in the bin. Take it out of there to see it.",)
    assert store.chats() == []
    store.empty_bin()
    assert store.import_chats(chats).added == 1


def test_messages_with_the_ids_of_another_chat_get_their_own(store: ChatStore):
    """A copied export with another chat's id must not take that chat's messages, nor lose its own."""
    store.create_chat("mine")
    store.save_nodes([question("q", "mine"), question("a", "mine", "q")])
    nodes = (Node("q", "copy", None, "user", "other q", "complete", 1.0),)
    nodes += (Node("a", "copy", "q", "assistant", "other a", "complete", 2.0),)
    copied = ChatRecord("copy", "Copy", 1.0, nodes, leaf_id="a")
    for _ in range(2):
        store.import_chats(FoundChats("llama-gui", (copied,)))
        assert [node.content for node in store.nodes("mine")] == ["text of q", "text of a"]
        stored = store.chat("copy")
        assert [node.content for node in stored.nodes] == ["other q", "other a"]
        assert stored.nodes[1].parent_id == stored.nodes[0].id
        assert stored.leaf_id == stored.nodes[1].id


def test_a_full_disk_leaves_whole_chats(store: ChatStore):
    chats = tuple(
        ChatRecord(
            f"c{n}", "T", 1.0, tuple(replace(question(f"{n}-{m}", f"c{n}"), content="x" * 9000) for m in range(5))
        )
        for n in range(50)
    )
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages + 100}")
    with pytest.raises(StoreError, match=r"disk is full.* Chats imported before that: \d+\. Do it again"):
        store.import_chats(FoundChats("llama-gui", chats))
    assert 0 < len(store.chats()) < 50
    assert all(len(chat.nodes) == 5 for chat in store.records())
    store._connection.execute("PRAGMA max_page_count = 100000")
    store.import_chats(FoundChats("llama-gui", chats))
    assert [len(chat.nodes) for chat in store.records()] == [5] * 50
