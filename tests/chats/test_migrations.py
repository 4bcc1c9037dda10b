"""Old files become new ones and lose nothing."""

import contextlib
import os
import sqlite3
import stat
import time
from pathlib import Path

import pytest

from llama_gui.chats.migrations import APPLICATION_ID, MIGRATIONS
from llama_gui.chats.store import ChatStore
from llama_gui.chats.tree import Node, OpenTab
from llama_gui.errors import StoreError
from llama_gui.vocabulary import ChatSettings, SamplingParams


def test_a_migration_that_fails_leaves_the_former_format(store: ChatStore, path: Path, monkeypatch: pytest.MonkeyPatch):
    store.create_chat("chat", "Title")
    store.close()

    def half_a_step(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE chats ADD COLUMN color TEXT")
        raise sqlite3.OperationalError("interrupted")

    def whole_step(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE chats ADD COLUMN color TEXT")

    monkeypatch.setattr("llama_gui.chats.migrations.MIGRATIONS", (*MIGRATIONS, half_a_step))
    with pytest.raises(StoreError, match="interrupted"):
        ChatStore.open(path)
    monkeypatch.setattr("llama_gui.chats.migrations.MIGRATIONS", (*MIGRATIONS, whole_step))
    again = ChatStore.open(path)
    assert again.chat("chat").title == "Title"
    assert again._connection.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS) + 1
    again.close()


# --- from format 1, as it was released

V1_SCHEMA = """
CREATE TABLE chats (id TEXT PRIMARY KEY, title TEXT NOT NULL, created REAL NOT NULL,
    settings TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE nodes (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    chat_id TEXT NOT NULL REFERENCES chats(id) ON DELETE CASCADE,
    parent_id TEXT REFERENCES nodes(id) ON DELETE CASCADE,
    role TEXT NOT NULL, content TEXT NOT NULL, status TEXT NOT NULL, created REAL NOT NULL,
    model TEXT NOT NULL, recipe TEXT NOT NULL, error TEXT NOT NULL) STRICT;
CREATE INDEX nodes_by_chat ON nodes(chat_id);
CREATE INDEX nodes_by_parent ON nodes(parent_id);
CREATE TABLE tabs (chat_id TEXT PRIMARY KEY, position INTEGER NOT NULL, draft TEXT NOT NULL,
    scroll REAL NOT NULL, is_current INTEGER NOT NULL) STRICT;
"""
V1_SETTINGS = '{"system_prompt": "Be kind.", "sampling": {"temperature": 0.2}, "max_tokens": 5, "stop": ["x"]}'
V1_CHATS = [
    ("c1", "Trip to 京都", 1.5, V1_SETTINGS),
    ("c2", "New chat", 2.5, ""),
    ("empty", "Nothing in it", 3.5, ""),
]
V1_NODES = [
    ("q1", "c1", None, "user", "Where is Fushimi Inari? 伏見稲荷", "complete", 10.0, "", "", ""),
    ("a1", "c1", "q1", "assistant", "South of Kyoto.", "complete", 11.0, "Llama", '{"seed": 3}', ""),
    ("a2", "c1", "q1", "assistant", "In Kyoto, half an ans", "streaming", 12.0, "Llama", "", ""),
    ("q2", "c2", None, "user", "Refused", "failed", 5.0, "", "", "too long"),
]
V1_TABS = [("c1", 0, "a draft", 0.25, 1), ("unsaved", 1, "another", 1.0, 0)]


def write_v1(path: Path) -> None:
    path.parent.mkdir(parents=True)
    db = sqlite3.connect(path)
    db.executescript(f"PRAGMA journal_mode = WAL; {V1_SCHEMA}")
    db.executemany("INSERT INTO chats VALUES (?, ?, ?, ?)", V1_CHATS)
    db.executemany(
        "INSERT INTO nodes (id, chat_id, parent_id, role, content, status, created, model, recipe, error)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        V1_NODES,
    )
    db.executemany("INSERT INTO tabs VALUES (?, ?, ?, ?, ?)", V1_TABS)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute("PRAGMA user_version = 1")
    db.commit()
    db.close()


def v1_content(path: Path) -> list[list[tuple[object, ...]]]:
    db = sqlite3.connect(path)
    columns = "id, chat_id, parent_id, role, content, status, created, model, recipe, error"
    content = [
        db.execute("SELECT id, title, created, settings FROM chats ORDER BY created").fetchall(),
        db.execute(f"SELECT {columns} FROM nodes ORDER BY seq").fetchall(),
        db.execute("SELECT * FROM tabs ORDER BY position").fetchall(),
    ]
    db.close()
    return content


def copies(path: Path) -> list[Path]:
    return sorted(path.parent.glob("chats.db.before-format-2-*"))


def test_a_file_of_format_1_loses_nothing(path: Path):
    write_v1(path)
    store = ChatStore.open(path)
    assert store.notice == ""
    first = store.chat("c1")
    assert first.title == "Trip to 京都"
    assert first.settings == ChatSettings("Be kind.", SamplingParams(temperature=0.2), 5, ("x",))
    assert first.nodes == tuple(
        Node(*row[:5], "interrupted" if row[5] == "streaming" else row[5], *row[6:]) for row in V1_NODES[:3]
    )
    assert store.chat("c2").nodes == (Node(*V1_NODES[3]),)
    assert store.tabs() == [OpenTab(*row[:4], bool(row[4])) for row in V1_TABS]
    assert [(s.id, s.updated, s.last_status, s.created) for s in store.chats()] == [
        ("c1", 12.0, "interrupted", 1.5),
        ("c2", 5.0, "failed", 2.5),
    ]
    assert [(hit.chat_id, hit.node_id) for hit in store.search("kyoto")] == [("c1", "a2"), ("c1", "a1")]
    assert [(hit.chat_id, hit.node_id) for hit in store.search("京")] == [("c1", None)]
    db = store._connection
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert db.execute("PRAGMA foreign_keys").fetchone() == (1,)
    store.close()


def test_a_sqlite_that_enforces_references_by_itself_loses_nothing_either(path: Path, monkeypatch: pytest.MonkeyPatch):
    """Then the old table would take all messages with it."""
    write_v1(path)
    connect = sqlite3.connect

    def enforcing(*args, **options) -> sqlite3.Connection:
        connection = connect(*args, **options)
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    monkeypatch.setattr(sqlite3, "connect", enforcing)
    store = ChatStore.open(path)
    assert len(store.nodes("c1")) == 3
    store.close()


def test_titles_of_format_1_are_the_users(path: Path):
    write_v1(path)
    store = ChatStore.open(path)
    assert not store.set_model_title("c1", "Other")
    assert store.set_model_title("c2", "Found")
    assert [store.chat(chat_id).title for chat_id in ("c1", "c2")] == ["Trip to 京都", "Found"]
    store.close()


def test_a_copy_is_made_before_the_format_changes(path: Path):
    write_v1(path)
    before = v1_content(path)
    ChatStore.open(path).close()
    ChatStore.open(path).close()
    (copy,) = copies(path)
    assert v1_content(copy) == before
    if os.name != "nt":
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600


@pytest.mark.parametrize("number", range(1, 40))
def test_a_step_that_fails_at_any_statement_leaves_format_1(path: Path, monkeypatch: pytest.MonkeyPatch, number: int):
    write_v1(path)
    before = v1_content(path)

    class Failing(sqlite3.Connection):
        count = 0

        def execute(self, sql, *values):
            if self.in_transaction and sqlite3.Connection.execute(self, "PRAGMA user_version").fetchone()[0] == 1:
                Failing.count += 1
                if Failing.count == number:
                    raise sqlite3.OperationalError("interrupted")
            return super().execute(sql, *values)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Failing))
    with contextlib.suppress(StoreError):
        ChatStore.open(path).close()
    monkeypatch.setattr(sqlite3, "connect", connect)
    if Failing.count == number:  # else the step has fewer statements than that
        assert v1_content(path) == before
    again = ChatStore.open(path)
    assert len(again.chat("c1").nodes) == 3
    again.close()
    assert len(copies(path)) == 1


def test_a_copy_never_takes_the_place_of_another(path: Path, monkeypatch: pytest.MonkeyPatch):
    """Of another process, which makes its own in the same second."""
    monkeypatch.setattr(time, "strftime", lambda _form: "20260101-000000")
    write_v1(path)
    other = path.with_name("chats.db.before-format-2-20260101-000000")
    other.write_bytes(b"what there was before")
    before = v1_content(path)
    ChatStore.open(path).close()
    assert other.read_bytes() == b"what there was before"
    assert v1_content(path.with_name(f"{other.name}-2")) == before


def test_half_a_copy_of_an_earlier_try_is_removed(path: Path):
    write_v1(path)
    for name in ("20200101-000000.partial", "20200101-000000.12345678.partial-journal"):
        half = path.with_name(f"chats.db.before-format-2-{name}")
        half.write_text("half")
        os.utime(half, (1, 1))
    ChatStore.open(path).close()
    assert [copy.suffix for copy in copies(path)] == [copies(path)[0].suffix]
    assert not list(path.parent.glob("*.partial*"))


def test_without_room_for_the_copy_nothing_is_changed(path: Path, monkeypatch: pytest.MonkeyPatch):
    write_v1(path)
    before = v1_content(path)

    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("llama_gui.chats.backups.os.replace", full)
    with pytest.raises(StoreError, match=r"first a copy of .* nothing was changed"):
        ChatStore.open(path)
    assert v1_content(path) == before
    assert copies(path) == []
