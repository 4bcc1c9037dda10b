"""The chats on disk: round trips, order, recovery, errors in plain words."""

import contextlib
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llama_gui.chats import store as store_module
from llama_gui.chats.record import ChatRecord
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import ChatTree, OpenTab, clean_text
from llama_gui.errors import StoreError
from llama_gui.vocabulary import ChatSettings, SamplingParams
from tests.chats.samples import answer, question


def test_messages_come_back_as_they_were_and_in_order(store: ChatStore, path: Path):
    store.create_chat("chat", "Title")
    nodes = [question(), answer(), question("q2", parent_id="a", created=0.5)]
    for node in nodes:
        store.save_node(node)
    changed = replace(nodes[1], content="longer", status="failed", error="why", recipe="{}", model="Other")
    store.save_node(changed)
    store.close()
    again = ChatStore.open(path)
    assert again.nodes("chat") == [nodes[0], changed, nodes[2]]
    assert again.chat("chat").title == "Title"
    assert again.chat("chat").nodes == (nodes[0], changed, nodes[2])
    again.close()


def test_several_messages_are_saved_all_or_none(store: ChatStore):
    store.create_chat("chat")
    with pytest.raises(StoreError):
        store.save_nodes([question(), question("orphan", parent_id="nobody")])
    assert store.nodes("chat") == []


def test_the_list_is_newest_first_and_without_empty_chats(store: ChatStore):
    for number, chat_id in enumerate(["old", "new", "empty"]):
        store.create_chat(chat_id, chat_id.title())
        if chat_id != "empty":
            store.save_node(question(f"q{number}", chat_id, created=10.0 + number))
    assert [(s.id, s.title, s.updated, s.last_status) for s in store.chats()] == [
        ("new", "New", 11.0, "complete"),
        ("old", "Old", 10.0, "complete"),
    ]
    store.save_node(replace(question("late", "old", "q0", created=99.0), status="failed"))
    assert [(s.id, s.last_status) for s in store.chats()] == [("old", "failed"), ("new", "complete")]


def test_a_chat_that_exists_keeps_its_title_and_a_rename_changes_it(store: ChatStore):
    store.create_chat("chat")
    store.create_chat("chat", "First words")
    store.create_chat("chat", "Other")
    assert store.chat("chat").title == "First words"
    store.rename_chat("chat", "Mine")
    assert store.chat("chat").title == "Mine"
    store.rename_chat("other", "Made by it")
    assert store.chat("other").title == "Made by it"


def test_an_unknown_chat_is_an_empty_one(store: ChatStore):
    assert store.chat("nobody") == store_module.StoredChat("New chat", ChatSettings(), ())


def test_settings_come_back(store: ChatStore):
    sampling = SamplingParams(
        temperature=0.2, logit_bias={3: -1.5}, seed=2**63 - 1, banned_token_ids=(5,), dry_sequence_breakers=("\n",)
    )
    wanted = ChatSettings("Be kind.", sampling, 5, ("x",))
    store.create_chat("chat")
    store.save_settings("chat", wanted)
    assert store.chat("chat").settings == wanted


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"sampling": {"temperature": -1}, "stop": []}', '{"sampling": 1}', '{"x": 1}']
)
def test_settings_that_nobody_understands_do_not_hide_the_chat(store: ChatStore, path: Path, text: str):
    store.create_chat("chat", "Title")
    store.save_node(question())
    store._connection.execute("UPDATE chats SET settings = ?", (text,))
    assert store.chat("chat").settings == ChatSettings()
    assert len(store.chat("chat").nodes) == 1


def test_a_broken_message_does_not_hide_the_others(store: ChatStore):
    """A parent that is gone, a circle, a role and a status that nobody knows."""
    store.create_chat("chat")
    store.save_nodes([question(), answer(), question("q2", parent_id="a"), question("q3", parent_id="q2")])
    db = store._connection
    db.execute("PRAGMA foreign_keys = OFF")
    db.execute("UPDATE nodes SET parent_id = 'nobody', role = 'robot' WHERE id = 'a'")
    db.execute("UPDATE nodes SET parent_id = 'q3', status = 'odd' WHERE id = 'q2'")
    tree = ChatTree(store.chat("chat").nodes)
    assert [node.id for node in tree.path()] == ["q", "a", "q2", "q3"]
    assert (tree["a"].role, tree["q2"].status) == ("user", "interrupted")


def test_tabs_replace_those_before(store: ChatStore):
    store.save_tabs([OpenTab("a", 0, "draft \ud800", 0.5, True), OpenTab("b", 1)])
    tabs = [OpenTab("b", 0, "", 0.0, False), OpenTab("c", 1, "text\nmore", 1.0, True)]
    store.save_tabs(tabs)
    assert store.tabs() == tabs


def test_an_answer_that_was_being_written_is_marked_at_the_next_opening(store: ChatStore, path: Path):
    store.create_chat("chat")
    store.save_nodes([question(), answer(content="half an ans")])
    store.close()
    again = ChatStore.open(path)
    assert [(n.content, n.status) for n in again.nodes("chat")] == [
        ("text of q", "complete"),
        ("half an ans", "interrupted"),
    ]
    again.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_text_is_stored_as_it_is_shown(store: ChatStore, text: str):
    store.create_chat("chat")
    store.save_node(replace(question(), content=text, error=text))
    store.rename_chat("chat", text)
    store.save_settings("chat", ChatSettings(system_prompt=text))
    chat = store.chat("chat")
    assert (chat.title, chat.nodes[0].content, chat.nodes[0].error) == (clean_text(text),) * 3
    assert chat.settings.system_prompt == clean_text(text)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_the_owner_can_read_it(store: ChatStore, path: Path):
    store.create_chat("chat")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for part in path.parent.iterdir():
        assert stat.S_IMODE(part.stat().st_mode) == 0o600


# --- trouble


def test_a_full_disk_is_told_in_our_words_and_costs_nothing(store: ChatStore):
    store.create_chat("chat")
    store.save_node(question())
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match=r"^The disk is full, so this is not saved yet\. Free some space"):
        store.save_node(replace(question("big", parent_id="q"), content="x" * 100_000))
    assert [node.id for node in store.nodes("chat")] == ["q"]
    store._connection.execute(f"PRAGMA max_page_count = {pages + 1000}")
    store.save_node(replace(question("big", parent_id="q"), content="x" * 100_000))
    assert [node.id for node in store.nodes("chat")] == ["q", "big"]


_FILE_LIMIT = """
import resource, sys
from pathlib import Path
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import Node
from llama_gui.errors import StoreError

store = ChatStore.open(Path(sys.argv[1]))
store.create_chat("chat")
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
saved = 0
try:
    while True:
        store.save_node(Node(str(saved), "chat", None, "user", "x" * 5000, "complete", 1.0))
        saved += 1
except StoreError as error:
    print(saved, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no file size limit to set")
def test_a_disk_that_refuses_to_write_is_told_in_our_words(path: Path):
    run = subprocess.run([sys.executable, "-c", _FILE_LIMIT, str(path)], capture_output=True, text=True, check=True)
    saved, text = run.stdout.split(" ", 1)
    assert text.startswith("The disk refused to write or read")
    assert int(saved) > 5
    store = ChatStore.open(path)
    assert len(store.nodes("chat")) == int(saved)
    assert store.notice == ""
    store.close()


class FailingConnection:
    """A connection whose n-th statement fails once."""

    def __init__(self, connection: sqlite3.Connection, fail_at: int) -> None:
        self._connection = connection
        self._remaining = fail_at
        self.has_failed = False

    def __getattr__(self, name: str):
        return getattr(self._connection, name)

    def _count(self) -> None:
        self._remaining -= 1
        if self._remaining == 0:
            self.has_failed = True
            raise sqlite3.OperationalError("disk I/O error")

    def execute(self, *args):
        self._count()
        return self._connection.execute(*args)

    def executemany(self, *args):
        self._count()
        return self._connection.executemany(*args)


IMPORTED = ChatRecord("new", "N", 1.0, (question("n1", "new"), question("n2", "new", "n1")))
WORKS: dict[str, Callable[[ChatStore], object]] = {
    "save": lambda store: store.save_nodes([answer(), question("q2", parent_id="a")]),
    "tabs": lambda store: store.save_tabs([OpenTab("after", 0)]),
    "rename": lambda store: store.rename_chat("chat", "After"),
    "delete": lambda store: store.delete_chat("chat"),
    "branch": lambda store: store.delete_branch("q"),
    "restore": lambda store: store.restore_branch("gone"),
    "empty bin": lambda store: store.empty_bin(),
    "preset": lambda store: store.save_preset("p", ChatSettings()),
    "import": lambda store: store.import_chat(IMPORTED),
}


@pytest.mark.parametrize("fail_at", range(1, 10))
@pytest.mark.parametrize("work", WORKS)
@pytest.mark.sampled(40)
def test_each_statement_may_fail_and_the_next_try_succeeds(store: ChatStore, path: Path, fail_at: int, work: str):
    store.create_chat("chat", "Before")
    store.save_nodes([question(), question("gone")])
    store.delete_branch("gone")
    store.save_tabs([OpenTab("before", 0)])
    failing = FailingConnection(store._connection, fail_at)
    broken = ChatStore(failing, path)  # type: ignore[arg-type]

    def state():
        bin_ = store.chats(deleted=True), store.deleted_branches()
        return list(store.records()), bin_, store.tabs(), store.presets(), store.search("text"), store.chats()

    before = state()
    with contextlib.suppress(StoreError):
        WORKS[work](broken)
    if not failing.has_failed:
        assert fail_at > 3  # it has fewer statements than that
        return
    assert state() == before
    WORKS[work](broken)
    assert state() != before


def test_a_lock_of_another_program_is_told(store: ChatStore, path: Path):
    store._connection.execute("PRAGMA busy_timeout = 1")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="Another program is using the chat store"):
        store.create_chat("chat")
    other.execute("ROLLBACK")
    other.close()
    store.create_chat("chat")


def test_the_name_of_a_model_that_is_no_unicode_costs_no_answer(store: ChatStore):
    """Files and servers have such names, and SQLite would refuse the whole message."""
    store.create_chat("chat")
    store.save_nodes([question(), replace(answer(), model="caf\udce9", recipe='{"name": "caf\udce9"}')])
    saved = store.nodes("chat")[1]
    assert (saved.content, saved.model) == ("answer", "caf\ufffd")
