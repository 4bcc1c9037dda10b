"""Deleting: the bin, what comes back, what goes for ever."""

import time
from pathlib import Path

import pytest

from llama_gui.chats.bin import KEPT_S
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import OpenTab
from tests.chats.samples import answer, question


@pytest.fixture
def filled(store: ChatStore) -> ChatStore:
    """One chat: q, under it a1 and a2, under a1 q2 and a3."""
    store.create_chat("chat", "Title")
    store.save_nodes([question(), answer("a1"), question("q2", parent_id="a1"), answer("a3", "q2"), answer("a2")])
    return store


def ids(store: ChatStore) -> list[str]:
    return [node.id for node in store.nodes("chat")]


def age(store: ChatStore, seconds: float) -> None:
    """Make everything in the bin older."""
    for table in ("chats", "nodes"):
        store._connection.execute(f"UPDATE {table} SET deleted = deleted - ?", (seconds,))


def test_a_deleted_chat_is_in_the_bin_and_comes_back_whole(filled: ChatStore):
    before = filled.chat("chat")
    filled.delete_chat("chat")
    assert filled.chats() == []
    (summary,) = filled.chats(deleted=True)
    assert summary.deleted == pytest.approx(time.time(), abs=5)
    filled.restore_chat("chat")
    assert filled.chats(deleted=True) == []
    assert filled.chat("chat") == before
    assert filled.chats()[0].deleted is None


def test_deleting_twice_does_not_begin_the_30_days_again(filled: ChatStore):
    filled.delete_chat("chat")
    age(filled, 1000)
    before = filled.chats(deleted=True)
    filled.delete_chat("chat")
    assert filled.chats(deleted=True) == before


def test_a_deleted_branch_comes_back_without_what_was_deleted_before(filled: ChatStore):
    assert filled.delete_branch("a3") == 1
    assert filled.delete_branch("a1") == 2
    assert ids(filled) == ["q", "a2"]
    assert [(b.node_id, b.title, b.beginning) for b in filled.deleted_branches()] == [
        ("a1", "Title", "answer"),
        ("a3", "Title", "answer"),
    ]
    assert filled.restore_branch("a1") == 2
    assert ids(filled) == ["q", "a1", "q2", "a2"]
    assert filled.restore_branch("a3") == 1
    assert ids(filled) == ["q", "a1", "q2", "a3", "a2"]
    assert filled.deleted_branches() == []


def test_a_part_of_a_branch_comes_back_with_what_it_hangs_on(filled: ChatStore):
    filled.delete_branch("a3")
    filled.delete_branch("q")
    assert ids(filled) == []
    assert filled.restore_branch("a3") == 4
    assert ids(filled) == ["q", "a1", "q2", "a3"]


def test_unknown_messages_are_no_branch(filled: ChatStore):
    assert filled.delete_branch("nobody") == 0
    assert filled.restore_branch("nobody") == 0
    assert filled.restore_branch("q") == 0
    assert len(ids(filled)) == 5


def test_a_chat_whose_messages_are_all_deleted_leaves_the_list_and_returns(filled: ChatStore):
    filled.delete_branch("q")
    assert filled.chats() == []
    filled.restore_branch("q")
    assert filled.chats()[0].updated == 2.0


def test_an_answer_that_ends_under_a_deleted_message_is_deleted_too(filled: ChatStore):
    filled.delete_branch("q2")
    filled.save_node(answer("late", "q2"))
    filled.save_node(answer("late", "q2", "more of it"))
    assert ids(filled) == ["q", "a1", "a2"]
    filled.restore_branch("q2")
    assert ids(filled) == ["q", "a1", "q2", "a3", "a2", "late"]


def test_the_bin_is_emptied_by_age(filled: ChatStore):
    filled.create_chat("old")
    filled.save_node(question("qo", "old"))
    filled.save_tabs([OpenTab("old", 0)])
    filled.delete_chat("old")
    filled.delete_branch("q2")
    age(filled, 100)
    filled.delete_branch("a2")
    assert filled.empty_bin(time.time() - 50) == 3
    assert filled.chats(deleted=True) == []
    assert filled.tabs() == []
    assert [b.node_id for b in filled.deleted_branches()] == ["a2"]
    assert filled.empty_bin() == 1
    assert ids(filled) == ["q", "a1"]
    assert filled.empty_bin() == 0


def test_after_30_days_the_next_opening_empties_the_bin(filled: ChatStore, path: Path):
    filled.delete_branch("a2")
    age(filled, KEPT_S - 60)
    filled.close()
    again = ChatStore.open(path)
    assert len(again.deleted_branches()) == 1
    age(again, 120)
    again.close()
    again = ChatStore.open(path)
    assert again.deleted_branches() == []
    assert ids(again) == ["q", "a1", "q2", "a3"]
    again.close()


def test_a_clock_that_is_wrong_for_once_empties_no_bin(filled: ChatStore, path: Path, monkeypatch: pytest.MonkeyPatch):
    filled.delete_branch("a2")
    filled.close()
    with monkeypatch.context() as patch:
        years_ahead = time.time() + 100 * KEPT_S
        patch.setattr(time, "time", lambda: years_ahead)
        again = ChatStore.open(path)
        assert len(again.deleted_branches()) == 1
        again.close()
    again = ChatStore.open(path)
    assert len(again.deleted_branches()) == 1
    again.close()


def test_a_very_long_chat_can_be_deleted_for_ever(store: ChatStore):
    """SQLite goes down from a message to those under it at most 1000 deep."""
    store.create_chat("chat")
    store.save_nodes([question(str(n), parent_id=str(n - 1) if n else None) for n in range(1500)])
    assert store.delete_branch("700") == 800
    assert store.empty_bin() == 800
    store.delete_chat("chat")
    assert store.empty_bin() == 1
    assert store.nodes("chat") == []
    assert store.search("text") == []
