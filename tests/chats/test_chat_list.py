"""The list of chats: titles, order, folders, which path is shown."""

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llama_gui.chats import chat_list
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import ChatSummary
from tests.chats.samples import answer, question


@pytest.fixture
def three(store: ChatStore) -> ChatStore:
    """Chats a, b, c with a message each; c is the newest."""
    for number, chat_id in enumerate("abc"):
        store.create_chat(chat_id, chat_id.upper())
        store.save_node(question(f"q{chat_id}", chat_id, created=float(number)))
    return store


def ids(summaries: list[ChatSummary]) -> list[str]:
    return [summary.id for summary in summaries]


def test_a_pinned_chat_says_so_and_can_be_let_go(three: ChatStore):
    three.pin_chat("a")
    assert {s.id: s.pinned for s in three.chats()} == {"a": True, "b": False, "c": False}
    three.pin_chat("a", False)
    assert not any(s.pinned for s in three.chats())


def test_folders_are_there_as_long_as_a_chat_is_in_them(three: ChatStore):
    three.move_chat("a", "Work \n stuff")
    three.move_chat("b", "art")
    assert three.folders() == ["art", "Work stuff"]
    assert {s.id: s.folder for s in three.chats()} == {"a": "Work stuff", "b": "art", "c": ""}
    three.rename_folder("art", "Work stuff")
    assert three.folders() == ["Work stuff"]
    three.delete_chat("a")
    three.move_chat("b", "")
    assert three.folders() == []


def test_archived_chats_have_a_list_of_their_own(three: ChatStore):
    three.archive_chat("b")
    assert ids(three.chats()) == ["c", "a"]
    assert ids(three.chats(archived=True)) == ["b"]
    assert three.chats(archived=True)[0].archived
    three.archive_chat("b", False)
    assert ids(three.chats()) == ["c", "b", "a"]


def test_a_title_of_the_model_never_replaces_the_users(store: ChatStore):
    store.create_chat("chat", "First words of it")
    assert store.set_model_title("chat", "A better title")
    assert store.chat("chat").title == "A better title"
    store.create_chat("chat", "First words again")
    assert store.chat("chat").title == "A better title"
    store.rename_chat("chat", "Mine")
    assert not store.set_model_title("chat", "Another")
    assert store.chat("chat").title == "Mine"


def test_chats_that_nobody_has_named_wait_for_a_title(three: ChatStore):
    three.rename_chat("a", "Mine")
    three.set_model_title("b", "Found")
    assert three.untitled_chats() == ["c"]
    three.delete_chat("c")
    assert three.untitled_chats() == []


def test_the_shown_path_comes_back(store: ChatStore):
    store.create_chat("chat")
    store.save_nodes([question(), answer("a1"), answer("a2")])
    assert store.chat("chat").leaf_id is None
    store.set_leaf("chat", "a1")
    assert store.chat("chat").leaf_id == "a1"
    store.delete_branch("a1")
    assert store.chat("chat").leaf_id is None


def test_the_list_follows_each_message(store: ChatStore):
    store.create_chat("chat")
    assert store.chats() == []
    store.save_node(question())
    store.save_node(answer())
    assert [(s.updated, s.last_status) for s in store.chats()] == [(2.0, "streaming")]
    store.save_node(replace(answer(), status="complete"))
    store.save_node(replace(question(), status="failed"))
    assert [(s.updated, s.last_status) for s in store.chats()] == [(2.0, "complete")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_any_text_is_a_folder_or_none(store: ChatStore, name: str):
    store.create_chat("chat")
    store.save_node(question())
    store.move_chat("chat", name)
    folder = store.chats()[0].folder
    assert len(folder) <= chat_list.MAX_NAME
    assert store.folders() == ([folder] if folder else [])


def test_a_chat_list_of_many_reads_no_message(store: ChatStore):
    plan = store._connection.execute("EXPLAIN QUERY PLAN " + chat_list._CHATS.format("1")).fetchall()
    assert "nodes" not in json.dumps(plan)
