"""A damaged store gives back what can be read of it."""

import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import ChatTree, Node, OpenTab
from llama_gui.vocabulary import ChatSettings
from tests.chats.samples import answer, question


def fill(path: Path, chats: int = 5, each: int = 40, size: int = 300) -> dict[str, Node]:
    store = ChatStore.open(path)
    nodes: dict[str, Node] = {}
    for chat in range(chats):
        store.create_chat(f"c{chat}", f"Title {chat}")
        store.save_settings(f"c{chat}", ChatSettings(f"prompt {chat}"))
        parent = None
        for number in range(each):
            node = replace(question(f"{chat}-{number}", f"c{chat}", parent, float(number)), content=f"{number} " * size)
            nodes[node.id], parent = node, node.id
        store.save_nodes(node for node in nodes.values() if node.chat_id == f"c{chat}")
    store.save_preset("mine", ChatSettings("x"))
    store.save_tabs([OpenTab("c1", 0, "draft")])
    store.close()
    return nodes


def without_backups(path: Path) -> None:
    for backup in (path.parent / "backups").iterdir():
        backup.unlink()


def break_page(path: Path, number: int) -> None:
    with path.open("r+b") as file:
        file.seek(number * 4096)
        file.write(b"\xa5" * 4096)


def pages_of(path: Path, table: str) -> list[int]:
    """Numbers from 0 of the table's own pages, as far as this SQLite can say."""
    db = sqlite3.connect(path)
    root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    db.close()
    return [root - 1]


def test_a_broken_page_costs_the_messages_on_it(path: Path):
    wanted = fill(path)
    without_backups(path)
    pages = path.stat().st_size // 4096
    break_page(path, pages // 2)
    store = ChatStore.open(path)
    found = [node for chat in store.chats() for node in store.nodes(chat.id)]
    assert "could be read from it and are here" in store.notice
    assert len(store.notice.splitlines()) == 1
    assert f"{len(found)} messages in {len(store.chats())} chats" in store.notice
    assert len(found) > 0.8 * len(wanted)
    for node in found:
        assert node.content == wanted[node.id].content
    for chat in store.chats():
        assert chat.title == f"Title {chat.id[1:]}"
        assert store.chat(chat.id).settings.system_prompt == f"prompt {chat.id[1:]}"
        ChatTree(store.nodes(chat.id))
    assert store.tabs() == [OpenTab("c1", 0, "draft")]
    assert list(store.presets()) == ["mine"]
    assert store._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert store._connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert not list(path.parent.glob(".salvage-*"))
    store.close()


def test_lost_titles_are_made_again_from_the_first_message(path: Path):
    fill(path)
    without_backups(path)
    break_page(path, pages_of(path, "chats")[0])
    store = ChatStore.open(path)
    assert len(store.chats()) == 5
    assert all(chat.title.startswith("0 0 0") for chat in store.chats())
    assert len(store.nodes("c3")) == 40
    store.close()


@pytest.mark.parametrize("table", ["nodes", "sqlite_master"])
@pytest.mark.parametrize("byte", [b"\xa5", b"\0"])
def test_messages_without_a_root_come_over(path: Path, table: str, byte: bytes):
    wanted = fill(path, chats=6, each=120, size=100)
    without_backups(path)
    with path.open("r+b") as file:
        file.seek(pages_of(path, "nodes")[0] * 4096 if table == "nodes" else 0)
        file.write(byte * 4096)
    with closing(ChatStore.open(path)) as store:
        assert "720 messages in 6 chats could be read from it and are here" in store.notice
        assert {chat.title for chat in store.chats()} == {f"Title {chat}" for chat in range(6)}
        found = {node.id: node for chat in store.chats() for node in store.nodes(chat.id)}
        assert found == wanted
        assert store.chat("c3").settings.system_prompt == "prompt 3"
        assert store._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert not list(path.parent.glob(".salvage-*"))


def test_what_was_deleted_for_ever_is_not_found_on_free_pages(path: Path):
    store = ChatStore.open(path)
    store._connection.execute("PRAGMA secure_delete = OFF")
    for chat in ("chat", "gone"):
        store.create_chat(chat, chat)
        store.save_nodes(replace(question(f"{chat}{n}", chat), content=f"{chat} {n} " * 100) for n in range(200))
    store.delete_chat("gone")
    store.empty_bin()
    store.close()
    without_backups(path)
    assert b"gone 196" in path.read_bytes()
    break_page(path, pages_of(path, "nodes")[0])
    with closing(ChatStore.open(path)) as again:
        assert [chat.id for chat in again.chats()] == ["chat"]
        assert len(again.nodes("chat")) == 200
        assert again.chats(deleted=True) == []


def test_bin_and_branches_come_over(path: Path):
    store = ChatStore.open(path)
    store.create_chat("chat", "Title")
    store.save_nodes([question(), answer("a1"), answer("a2")])
    store.set_leaf("chat", "a1")
    store.delete_branch("a2")
    store.pin_chat("chat")
    store.create_chat("gone")
    store.save_node(question("g", "gone"))
    store.delete_chat("gone")
    store._connection.execute("PRAGMA user_version = -1")
    store.close()
    again = ChatStore.open(path)
    assert [node.id for node in again.nodes("chat")] == ["q", "a1"]
    assert again.chat("chat").leaf_id == "a1"
    assert [branch.node_id for branch in again.deleted_branches()] == ["a2"]
    assert [chat.pinned for chat in again.chats()] == [True]
    assert [chat.id for chat in again.chats(deleted=True)] == ["gone"]
    again.close()


def test_a_backup_that_holds_more_is_named_and_kept(path: Path):
    fill(path)
    (backup,) = (path.parent / "backups").iterdir()
    before = backup.read_bytes()
    path.write_bytes(b"text" * 5000)
    store = ChatStore.open(path)
    assert "Nothing could be read from it" in store.notice
    assert f"The backup {backup} of " in store.notice
    assert "200 messages in 5 chats" in store.notice
    store.create_chat("new")
    store.save_node(question("n", "new"))
    store.close()
    assert backup.read_bytes() == before


def test_any_damage_gives_a_sound_store(path: Path):
    wanted = fill(path, chats=3, each=10, size=100)
    sound = path.read_bytes()
    draw = random.Random(7)
    recovered = 0
    for _ in range(40):
        content = bytearray(sound)
        for _ in range(draw.choice([1, 3, 60])):
            page = draw.randrange(len(content) // 4096) * 4096
            content[page + draw.choice([0, 3, 5, 8, 100, draw.randrange(4096)])] = draw.randrange(256)
        path.write_bytes(content)
        store = ChatStore.open(path)
        found = [node for chat in store.chats() for node in ChatTree(store.nodes(chat.id)).path()]
        recovered += bool(store.notice and found)
        assert all(node.id in wanted or store.notice for node in found)
        assert store._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",) or not store.notice
        store._closed = True  # no backup of a damaged one
        store._connection.close()
        for part in path.parent.iterdir():
            if part.is_file():
                part.unlink()
    assert recovered > 5
