"""Opening a store: newer, damaged and foreign files, folders without permission."""

import errno
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from llama_gui.chats import opening
from llama_gui.chats.migrations import MIGRATIONS, migrate
from llama_gui.chats.rehearsal import rehearse
from llama_gui.chats.search_schema import add_functions
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import OpenTab
from llama_gui.errors import StoreError
from tests.chats.samples import question


def test_a_newer_format_is_refused_and_left_untouched(store: ChatStore, path: Path):
    store.create_chat("chat")
    store._connection.execute("CREATE TABLE something_new (name TEXT)")
    store._connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    store.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"newer version of llama-gui .* Nothing was changed"):
        ChatStore.open(path)
    assert path.read_bytes() == before
    assert {part.name for part in path.parent.iterdir()} <= {"chats.db", "backups"}


def test_a_format_that_another_process_changes_meanwhile_is_no_damage(path: Path, monkeypatch: pytest.MonkeyPatch):
    """The other process is as quick as can be: the file gets its format between two of our questions."""
    plain_connect = sqlite3.connect
    changed: list[str] = []

    def change() -> None:
        with closing(plain_connect(path, isolation_level=None)) as other:
            add_functions(other)
            migrate(other)

    def connect(*place: Any, **options: Any) -> sqlite3.Connection:
        connection = plain_connect(*place, **options)

        def on_statement(statement: str) -> None:
            if "sqlite_master" in statement and not changed:
                changed.append(statement)
                change()

        if place[0] == path:
            connection.set_trace_callback(on_statement)
        return connection

    path.parent.mkdir(exist_ok=True)
    with closing(plain_connect(path)) as other:  # empty, but in the mode in which readers hold up no writer
        other.execute("PRAGMA journal_mode = WAL")
    monkeypatch.setattr(sqlite3, "connect", connect)
    with closing(ChatStore.open(path)) as opened:
        assert opened.notice == ""
    assert changed
    assert _aside(path) == []


@pytest.mark.parametrize("bit", range(32))
@pytest.mark.sampled(12)
def test_a_damaged_format_number_is_no_other_format(store: ChatStore, path: Path, bit: int):
    store.create_chat("chat", "A title")
    store.save_node(question("1"))
    store.close()
    content = bytearray(path.read_bytes())
    number = int.from_bytes(content[60:64], "big")
    assert number == len(MIGRATIONS)
    content[60:64] = (number ^ 1 << bit).to_bytes(4, "big")
    path.write_bytes(content)
    with closing(ChatStore.open(path)) as again:
        assert "1 messages in 1 chats could be read from it and are here" in again.notice
        assert [chat.title for chat in again.chats()] == ["A title"]
        assert len(again.nodes("chat")) == 1


def _aside(path: Path) -> list[Path]:
    return sorted(path.parent.glob("chats.db.damaged-*"))


def _text_file(path: Path) -> None:
    path.write_bytes(b"just some text\n" * 500)


def _zero_page(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:8192] = bytes(4096)
    path.write_bytes(content)


def _cut_in_half(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "something").write_text("precious")


def _of_another_program(path: Path) -> None:
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE songs (name TEXT)")
    other.execute("PRAGMA user_version = 40")
    other.close()


def _negative_version(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = -5")
    connection.close()


def _without_a_table(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE nodes")
    connection.close()


DAMAGES = {
    _text_file: False,
    _zero_page: True,
    _cut_in_half: True,
    _folder: False,
    _of_another_program: False,
    _negative_version: True,
    _without_a_table: False,
}
"""How a file is damaged, and whether messages can be read from it then."""


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_set_aside_and_never_erased(store: ChatStore, path: Path, damage):
    store.create_chat("chat")
    for number in range(40):
        store.save_node(replace(question(str(number)), content="x" * 2000))
    store.close()
    damage(path)
    before = path.read_bytes() if path.is_file() else None
    for _ in range(2):  # the second time within the same second needs another name
        again = ChatStore.open(path)
        assert again.notice.startswith("The chat store was damaged (")
        assert bool(again.chats()) is DAMAGES[damage]
        assert ("and are here" in again.notice) is (len(again.nodes("chat")) > 0)
        again.create_chat("another")
        again.close()
        path.unlink()
        aside = _aside(path)[0]
        assert str(_aside(path)[-1]) in again.notice
        if before is None:
            assert (aside / "something").read_text(encoding="utf-8") == "precious"
            _folder_again(path)
        else:
            assert aside.read_bytes() == before
            path.write_bytes(before)
    assert len(_aside(path)) == 2


def _folder_again(path: Path) -> None:
    path.mkdir()
    (path / "something").write_text("precious")


def test_random_damage_never_ends_in_a_crash_or_a_loss(store: ChatStore, path: Path):
    store.create_chat("chat")
    for number in range(20):
        store.save_node(replace(question(str(number)), content="x" * 900))
    store.close()
    sound = path.read_bytes()
    draw = random.Random(5)
    for _ in range(60):
        content = bytearray(sound)
        for _ in range(draw.choice([1, 8, 200])):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content)
        kept = {part.read_bytes() for part in _aside(path)}
        try:
            again = ChatStore.open(path)
        except StoreError:
            assert path.read_bytes() == content
            continue
        if again.notice:
            assert {part.read_bytes() for part in _aside(path)} - kept <= {bytes(content)}
        again.close()
        for part in path.parent.iterdir():
            if part.is_file():
                part.unlink()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_without_permission_is_told(tmp_path: Path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(StoreError, match=r"permissions|Permission"):
        ChatStore.open(folder / "chats.db")


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot be opened: .*\."):
        ChatStore.open(tmp_path / "file" / "chats.db")


def _root_of(path: Path, name: str) -> int:
    connection = sqlite3.connect(path)
    page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
    connection.close()
    return (page - 1) * 4096


@pytest.mark.parametrize("name", ["nodes_by_chat", "nodes_by_parent", "sqlite_autoindex_chats_1"])
def test_a_broken_index_costs_no_message(store: ChatStore, path: Path, name):
    """SQLite's quick check says that all is well, and the chat could not be opened ever again."""
    store.create_chat("chat")
    for number in range(400):
        store.save_node(replace(question(str(number)), content=f"message {number}"))
    store.close()
    content = bytearray(path.read_bytes())
    index, tabs = _root_of(path, name), _root_of(path, "tabs")
    content[index : index + 4096] = content[tabs : tabs + 4096]
    path.write_bytes(content)
    again = ChatStore.open(path)
    assert "400 messages in 1 chats could be read from it and are here" in again.notice
    assert len(again.nodes("chat")) == 400
    again.close()


def test_a_damaged_letter_costs_that_letter(store: ChatStore, path: Path):
    """One bit, in texts of which most of the file is made."""
    store.create_chat("chat", "A title")
    store.create_chat("other", "Another one")
    store.save_nodes([replace(question("1"), content="Good morning"), replace(question("2"), chat_id="other")])
    store.save_tabs([OpenTab("chat", 0, "a draft")])
    store.close()
    _damage(path, b"A title", b"Good morning", b"a draft")
    again = ChatStore.open(path)
    assert again.notice == ""
    assert {chat.title for chat in again.chats()} == {"\N{REPLACEMENT CHARACTER} title", "Another one"}
    assert [node.content for node in again.nodes("chat")] == ["\N{REPLACEMENT CHARACTER}ood morning"]
    assert [tab.draft for tab in again.tabs()] == ["\N{REPLACEMENT CHARACTER} draft"]
    assert len(list(again.records())) == 2
    again.close()


def _damage(path: Path, *texts: bytes) -> None:
    content = path.read_bytes()
    for text in texts:
        assert text in content
        content = content.replace(text, bytes([text[0] ^ 0x80]) + text[1:])
    path.write_bytes(content)


def test_what_has_a_damaged_letter_can_be_changed_at_the_second_try_and_deleted(store: ChatStore, path: Path):
    """SQLite's triggers read the old text to take it out of the search index."""
    for chat_id, title in (("chat", "A title"), ("gone", "Deleted")):
        store.create_chat(chat_id, title)
        store.save_node(replace(question(chat_id), chat_id=chat_id, content=f"Good morning, {chat_id}"))
    store.delete_chat("gone")
    store.close()
    _damage(path, b"A title", b"Deleted", b"Good morning, gone")
    with closing(ChatStore.open(path)) as again:
        with pytest.raises(StoreError, match=r"It was mended as far as possible; try again\."):
            again.rename_chat("chat", "Another title")
        again.rename_chat("chat", "Another title")
        assert [hit.chat_id for hit in again.search("another")] == ["chat"]
        assert again.empty_bin() == 1
        assert again.chats(deleted=True) == []
        assert [hit.node_id for hit in again.search("morning")] == ["chat"]


def test_a_damaged_letter_in_what_the_opening_deletes_costs_nothing_else(store: ChatStore, path: Path):
    store.create_chat("gone", "Deleted")
    store.save_node(replace(question("1"), chat_id="gone"))
    store.create_chat("chat", "A title")
    store.save_node(question("2"))
    store._connection.execute("UPDATE chats SET deleted = 1.0 WHERE id = 'gone'")
    store.close()
    _damage(path, b"Deleted")
    with closing(ChatStore.open(path)) as again:
        assert (again.notice, [chat.id for chat in again.chats()]) == ("", ["chat"])
        assert again.chats(deleted=True) == []


def _change_schema(path: Path, old: str, new: str) -> None:
    """As a wrong bit does it, which SQLite does not see."""
    content = path.read_bytes()
    assert len(old) == len(new)
    assert old.encode() in content
    path.write_bytes(content.replace(old.encode(), new.encode(), 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("leaf_id TEXT, last_seq INTEGER, updated REAL", "leaf_id TEXT, last_seq INTEGER, upeated REAL"),
        ("title_source TEXT", "tktle_source TEXT"),
        ("SET last_seq = new.seq", "SET lcst_seq = new.seq"),
        ("WHERE seq = new.seq AND new.deleted IS NULL", "WHERE seq = nev.seq AND new.deleted IS NULL"),
        ("draft TEXT NOT NULL", "drift TEXT NOT NULL"),
        ("size INTEGER NOT NULL, text TEXT", "cize INTEGER NOT NULL, text TEXT"),
        ("using fts5(content", "using ftr5(content"),
        ("parent_id TEXT REFERENCES", "parent_kd TEXT REFERENCES"),
        ("id TEXT NOT NULL UNIQUE, chat_id", "kd TEXT NOT NULL UNIQUE, chat_id"),
    ],
)
def test_a_wrong_bit_in_how_a_table_is_described_is_damage(store: ChatStore, path: Path, old: str, new: str):
    store.create_chat("chat", "A title")
    store.save_nodes([question("1"), question("2", parent_id="1")])
    store.save_tabs([OpenTab("chat", 0, "a draft")])
    store.close()
    if old.startswith("using"):
        old, new = old.replace("using", "USING"), new.replace("using", "USING")
    if old.startswith("id TEXT NOT NULL UNIQUE"):
        old, new = "seq INTEGER PRIMARY KEY, " + old, "seq INTEGER PRIMARY KEY, " + new
    _change_schema(path, old, new)
    with closing(ChatStore.open(path)) as again:
        assert "2 messages in 1 chats could be read from it and are here" in again.notice
        assert [node.content for node in again.nodes("chat")] == ["text of 1", "text of 2"]
        again.create_chat("new")
        again.save_node(question("3", "new"))
    assert len(_aside(path)) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("llama_spaced(new.content)", "llama_spaged(new.content)"),
        ("INSERT INTO title_index (rowid, title)", "INSERT INTO title_index (rowid, titde)"),
    ],
)
def test_a_wrong_bit_in_what_keeps_the_search_is_mended(store: ChatStore, path: Path, old: str, new: str):
    store.create_chat("chat", "A title")
    store.save_node(question("1"))
    store.close()
    _change_schema(path, old, new)
    with closing(ChatStore.open(path)) as again:
        assert again.notice == ""
        again.create_chat("new", "Fine weather")
        again.save_node(question("3", "new"))
        assert [hit.chat_id for hit in again.search("weather")] == ["new"]
        assert len(again.search("text")) == 2


def test_the_rehearsal_leaves_nothing_behind(store: ChatStore, path: Path):
    store.create_chat("chat", "A title")
    store.save_node(question("1"))
    store.save_tabs([OpenTab("chat", 0, "a draft")])
    before = list(store._connection.iterdump())
    for _ in range(2):
        rehearse(store._connection, path)
    assert list(store._connection.iterdump()) == before
    assert not store._connection.in_transaction


def _filled_and_damaged(store: ChatStore, path: Path) -> bytes:
    store.create_chat("chat")
    store.save_nodes(question(str(number)) for number in range(100))
    store.close()
    shutil.rmtree(path.parent / "backups")
    _zero_page(path)
    return path.read_bytes()


@pytest.mark.parametrize("place", ["copyfile", "new file"])
def test_a_damaged_file_stays_while_there_is_no_room_for_what_can_be_read_of_it(
    store: ChatStore, path: Path, monkeypatch: pytest.MonkeyPatch, place: str
):
    before = _filled_and_damaged(store, path)

    def refuse(*_of: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    class Full(sqlite3.Connection):
        def executemany(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if "recovering" in self.execute("PRAGMA database_list").fetchone()[2]:
                return self.execute("this is what fails")
            return super().executemany(sql, *values)

        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if sql == "this is what fails":
                super().execute("PRAGMA max_page_count = 1")
                return super().execute("CREATE TABLE more AS SELECT zeroblob(1000000)")
            return super().execute(sql, *values)

    with monkeypatch.context() as patch:
        if place == "copyfile":
            patch.setattr(shutil, "copyfile", refuse)
        else:
            connect = sqlite3.connect
            patch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Full))
        with pytest.raises(StoreError, match=r"is damaged .* The disk is full.* nothing was changed"):
            ChatStore.open(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name], "what was begun takes no more room"
    with closing(ChatStore.open(path)) as again:
        assert "100 messages in 1 chats could be read from it and are here" in again.notice
        assert len(again.nodes("chat")) == 100
    assert [file.read_bytes() for file in _aside(path)] == [before]


@pytest.mark.parametrize("is_moved", [False, True])
def test_a_process_that_ends_while_a_damaged_file_is_replaced_costs_nothing(
    store: ChatStore, path: Path, monkeypatch: pytest.MonkeyPatch, is_moved: bool
):
    before = _filled_and_damaged(store, path)
    replace_file = os.replace

    def end(source: Path, target: Path) -> None:
        if target == path:  # the last step; the one before is done, or is not
            if not is_moved:
                _aside(path)[0].rename(path)
            raise KeyboardInterrupt
        replace_file(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", end)
        with pytest.raises(KeyboardInterrupt):
            ChatStore.open(path)
    assert path.exists() is not is_moved
    with closing(ChatStore.open(path)) as again:
        assert "was damaged" in again.notice
        assert len(again.nodes("chat")) == 100
    assert [file.read_bytes() for file in _aside(path)] == [before]
    assert not list(path.parent.glob("chats.db.recover*"))


def test_copies_that_a_killed_process_has_left_are_removed(store: ChatStore, path: Path):
    store.close()
    for name, age in (("old", 3600), ("new", 1)):
        copy = path.parent / f".salvage-{name}"
        copy.mkdir()
        (copy / "copy.db").write_bytes(b"private")
        os.utime(copy, (time.time() - age,) * 2)
    ChatStore.open(path).close()
    assert [copy.name for copy in path.parent.glob(".salvage-*")] == [".salvage-new"]


_NO_ROOM = """
import resource, sys
from pathlib import Path
from llama_gui.chats.store import ChatStore
from llama_gui.errors import StoreError
from tests.chats.samples import question

resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))  # no file can grow, as on a full disk
store = ChatStore.open(Path(sys.argv[1]))
print(store.notice)
print([node.id for node in store.nodes("chat")], [hit.chat_id for hit in store.search("words")])
try:
    store.save_node(question("second", parent_id="q"))
except StoreError as error:
    print(type(error).__name__)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.save_node(question("third", parent_id="q"))
store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no file size limit to set")
@pytest.mark.parametrize("was_killed", [False, True])
def test_without_room_on_the_disk_chats_can_be_read(path: Path, tmp_path: Path, was_killed: bool):
    store = ChatStore.open(path)
    store.create_chat("chat")
    store.save_node(replace(question("q"), content="some words"))
    full = tmp_path / "full" / "chats.db"
    full.parent.mkdir()
    if not was_killed:
        store.close()
    for file in path.parent.glob("chats.db*"):
        if not file.name.endswith("-shm"):
            shutil.copyfile(file, full.with_name(file.name))
    store.close()
    run = subprocess.run([sys.executable, "-c", _NO_ROOM, str(full)], capture_output=True, text=True, check=True)
    notice, read, refused = run.stdout.splitlines()
    assert notice.startswith("The disk is full. Your chats can be read, but nothing new is saved until")
    assert str(full.parent) in notice
    assert (read, refused) == ("['q'] ['chat']", "StoreError")
    store = ChatStore.open(full)
    assert ([node.id for node in store.nodes("chat")], store.notice) == (["q", "third"], "")
    store.close()


@pytest.mark.parametrize(
    ("code", "free", "told"),
    [
        (sqlite3.SQLITE_FULL, 10**9, "The disk is full. Your chats can be read"),
        (sqlite3.SQLITE_IOERR_WRITE, 10**9, "The disk is full. Your chats can be read"),
        (sqlite3.SQLITE_IOERR_SHMOPEN, 10**9, "The disk is full. Your chats can be read"),
        (sqlite3.SQLITE_IOERR_SHMSIZE, 10**9, "The disk is full. Your chats can be read"),
        (sqlite3.SQLITE_IOERR_TRUNCATE, 4096, "The disk is full. Your chats can be read"),
        (sqlite3.SQLITE_IOERR_READ, 10**9, "The disk refused to write or read"),
        (sqlite3.SQLITE_IOERR_FSYNC, 10**9, "The disk refused to write or read"),
        (sqlite3.SQLITE_IOERR_READ, None, "The disk refused to write or read"),
    ],
)
def test_a_disk_that_breaks_is_not_called_full(
    store: ChatStore, path: Path, monkeypatch: pytest.MonkeyPatch, code: int, free: int | None, told: str
):
    store.create_chat("chat")
    store.save_node(question("q"))
    store.close()

    def refuse(_connection: sqlite3.Connection) -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = code
        raise error

    def disk_usage(_folder: Path) -> Any:
        if free is None:
            raise OSError(errno.EIO, "Input/output error")
        return SimpleNamespace(free=free)

    monkeypatch.setattr(opening, "_check_indexes", refuse)
    monkeypatch.setattr(shutil, "disk_usage", disk_usage)
    with closing(ChatStore.open(path)) as again:
        assert again.notice.startswith(told)
        assert [chat.id for chat in again.chats()] == ["chat"]
