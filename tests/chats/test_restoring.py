"""After damage the fullest backup is offered until it is answered, and comes back beside what is there."""

import errno
import os
from datetime import date
from pathlib import Path

import pytest

from llama_gui.chats import opening
from llama_gui.chats.attachments import Attachment
from llama_gui.chats.backups import Backup, copy_database
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import ChatTree, Node, OpenTab
from llama_gui.errors import StoreError
from tests.chats.samples import question
from tests.chats.test_salvage import break_page, fill


def offered(path: Path) -> Backup | None:
    store = ChatStore.open(path)
    backup = store.offered_backup()
    store.close()
    return backup


def test_a_backup_is_offered_at_each_start_until_it_is_answered(path: Path):
    fill(path)
    assert offered(path) is None
    path.write_bytes(b"text" * 5000)
    first = offered(path)
    assert first is not None
    assert (first.chats, first.messages) == (5, 200)
    store = ChatStore.open(path)
    assert store.offered_backup() == first
    store.refuse_backup()
    assert store.offered_backup() is None
    store.close()
    assert offered(path) is None
    assert first.path.exists()


def test_a_process_that_ends_once_all_is_read_has_the_backup_offered(path: Path, monkeypatch: pytest.MonkeyPatch):
    fill(path)
    offered(path)
    path.write_bytes(b"text" * 5000)
    replace_file = os.replace

    def end(source: Path, target: Path) -> None:
        replace_file(source, target)
        if str(target).endswith(".recovered"):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", end)
        with pytest.raises(KeyboardInterrupt):
            ChatStore.open(path)
    backup = offered(path)
    assert backup is not None
    assert backup.messages == 200


def test_a_disk_without_room_for_the_offer_leaves_all_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch):
    fill(path)
    offered(path)
    damaged = b"text" * 5000
    path.write_bytes(damaged)

    def refuse(_: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(opening, "offer_backup", refuse)
        with pytest.raises(StoreError, match=r"is damaged .* The disk is full.* nothing was changed"):
            ChatStore.open(path)
    assert path.read_bytes() == damaged
    assert not list(path.parent.glob("chats.db.recover*"))
    assert offered(path) is not None


def test_a_backup_comes_back_beside_what_was_written_since(path: Path):
    wanted = fill(path)
    path.write_bytes(b"text" * 5000)
    store = ChatStore.open(path)
    store.create_chat("new")
    store.save_node(question("n", "new"))
    backup = store.offered_backup()
    assert backup is not None
    found = store.restore_backup(backup)
    assert (found.chats, found.messages) == (5, 200)
    assert {chat.id for chat in store.chats()} == {"new", "c0", "c1", "c2", "c3", "c4"}
    assert store.nodes("c2") == [node for node in wanted.values() if node.chat_id == "c2"]
    assert store.chat("c2").settings.system_prompt == "prompt 2"
    assert list(store.presets()) == ["mine"]
    assert store.offered_backup() is None
    assert store._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    store.close()


def test_the_gaps_of_a_chat_are_filled_in_order(path: Path):
    wanted = fill(path)
    break_page(path, path.stat().st_size // 4096 // 2)
    store = ChatStore.open(path)
    before = sum(len(store.nodes(chat.id)) for chat in store.chats())
    assert 0 < before < len(wanted)
    later: dict[str, Node] = {}
    for chat in store.chats():  # each goes on
        node = question(f"later-{chat.id}", chat.id, store.nodes(chat.id)[-1].id, 99.0)
        store.save_node(node)
        later[chat.id] = node
    backup = store.offered_backup()
    assert backup is not None
    assert store.restore_backup(backup).messages == len(wanted) - before
    for chat in store.chats():
        nodes = store.nodes(chat.id)
        assert [node.id for node in nodes] == [
            *(node.id for node in wanted.values() if node.chat_id == chat.id),
            f"later-{chat.id}",
        ]
        assert [node.parent_id for node in nodes[1:-1]] == [node.id for node in nodes[:-2]]
        ChatTree(nodes)
    assert store._connection.execute("PRAGMA foreign_key_check").fetchall() == []
    store.close()


def test_a_chat_of_thousands_of_messages_comes_back_too(path: Path):
    store = ChatStore.open(path)
    store.create_chat("long")
    nodes = [question(f"n{n}", "long", f"n{n - 1}" if n else None, float(n)) for n in range(1500)]
    store.save_nodes(nodes)
    copy = path.with_name("copy.db")
    copy_database(store._connection, copy)
    store.save_node(question("later", "long", "n1499", 2000.0))
    assert store.restore_backup(Backup(copy, date(2026, 11, 22), 1, 1500)).messages == 0
    assert [node.id for node in store.nodes("long")] == [*(node.id for node in nodes), "later"]
    store.close()


def test_files_of_an_old_draft_do_not_come_beside_a_new_one(path: Path):
    store = ChatStore.open(path)
    for chat_id in ("a", "b", "c"):
        store.create_chat(chat_id)
        store.save_node(question(f"q-{chat_id}", chat_id))
        store.save_draft_files(chat_id, [Attachment("old 1.txt", "1", 1), Attachment("old 2.txt", "2", 1)])
    copy = path.with_name("copy.db")
    copy_database(store._connection, copy)
    store.save_draft_files("a", [Attachment("new.txt", "new", 3)])
    store.save_draft_files("b", [])
    store.save_draft_files("c", [])
    store.save_tabs([OpenTab("b", 0, "a new draft without files")])
    store.restore_backup(Backup(copy, date(2026, 11, 22), 3, 3))
    found = {chat_id: [file.name for file in store.draft_files(chat_id)] for chat_id in ("a", "b", "c")}
    assert found == {"a": ["new.txt"], "b": [], "c": ["old 1.txt", "old 2.txt"]}
    store.close()
