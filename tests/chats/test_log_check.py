"""A log that the end of a process has left, in order, torn and with single wrong bits."""

import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from llama_gui.chats import opening
from llama_gui.chats.log_check import empty_damaged_log, keep_damaged_log, loses_commits
from llama_gui.chats.store import ChatStore
from llama_gui.errors import StoreError
from tests.chats.samples import question

_HEADER, _FRAME = 32, 24 + 4096
_QUESTIONS = 5


@pytest.fixture
def left(path: Path, tmp_path: Path) -> Path:
    """A store as a killed process leaves it: its last questions are in the log only."""
    store = ChatStore.open(path)
    store.create_chat("chat")
    store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for number in range(_QUESTIONS):
        store.save_node(question(f"q{number}"))
    with_log = killed(path, tmp_path / "left")
    store.close()
    return with_log


def killed(path: Path, folder: Path) -> Path:
    """The open store as it would be found after the end of this process."""
    folder.mkdir()
    for file in (path, log_of(path)):
        shutil.copyfile(file, folder / file.name)
    return folder / path.name


def copies_of(path: Path) -> list[Path]:
    name = re.compile(r"chats\.db\.damaged-log-\d{8}-\d{6}(-\d+)?")
    return [file for file in path.parent.iterdir() if name.fullmatch(file.name)]


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def change(path: Path, how: Callable[[bytearray], object]) -> bytes:
    content = bytearray(log_of(path).read_bytes())
    how(content)
    log_of(path).write_bytes(content)
    return bytes(content)


def flip(place: int) -> Callable[[bytearray], object]:
    return lambda content: content.__setitem__(place, content[place] ^ 1)


def zero(start: int, end: int) -> Callable[[bytearray], object]:
    return lambda content: content.__setitem__(slice(start, end), bytes(end - start))


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(flip(_HEADER + 24 + 1000), id="bit in a page"),
        pytest.param(flip(_HEADER + _FRAME + 16), id="bit in a checksum"),
        pytest.param(flip(9), id="bit in the size of pages"),
        pytest.param(flip(17), id="bit in the salts of the log"),
        pytest.param(flip(25), id="bit in the checksum of the log"),
        pytest.param(flip(_HEADER + _FRAME + 8), id="bit in the salts of a frame"),
        pytest.param(zero(8192, 12288), id="block of zeros"),
        pytest.param(zero(4096, 4608), id="sector of zeros"),
    ],
)
def test_commits_behind_damage_are_told_of_and_kept(left: Path, how: Callable[[bytearray], object]):
    damaged, before = change(left, how), left.read_bytes()
    store = ChatStore.open(left)
    assert len(store.nodes("chat")) < _QUESTIONS
    assert store.notice.startswith("The log of the chat store was damaged")
    [copy] = copies_of(left)
    assert str(copy) in store.notice
    assert (copy.read_bytes(), log_of(copy).read_bytes()) == (before, damaged)
    assert copy.stat().st_mode & 0o077 == 0
    store.close()
    assert ChatStore.open(left).notice == ""


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(lambda content: None, id="in order"),
        pytest.param(lambda content: content.__delitem__(slice(-1000, None)), id="its last frame is not whole"),
        pytest.param(lambda content: content.extend(bytes(2 * _FRAME)), id="room for more behind it"),
        pytest.param(lambda content: content.clear(), id="empty"),
        pytest.param(lambda content: content.__delitem__(slice(10, None)), id="not even a header"),
    ],
)
def test_what_the_end_of_a_process_leaves_is_no_damage(left: Path, how: Callable[[bytearray], object]):
    change(left, how)
    store = ChatStore.open(left)
    assert store.notice == ""
    store.close()
    assert not list(left.parent.glob("*.damaged-*"))


def test_frames_of_an_earlier_log_are_no_commits(path: Path):
    """SQLite begins a log anew at its front, and leaves what is behind."""
    store = ChatStore.open(path)
    store.create_chat("chat")
    for number in range(50):
        store.save_node(question(f"q{number}"))
    store._connection.execute("PRAGMA wal_checkpoint(RESTART)")
    before = len(log_of(path).read_bytes())
    store.save_node(question("last"))
    assert len(log_of(path).read_bytes()) == before
    assert not loses_commits(log_of(path))
    store.close()


def test_without_room_for_a_copy_nothing_is_changed(left: Path, monkeypatch: pytest.MonkeyPatch):
    damaged, before = change(left, flip(_HEADER + 24)), left.read_bytes()

    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("llama_gui.chats.log_check.shutil.copyfile", full)
    with pytest.raises(
        StoreError, match=r"log of the chat store .* is damaged.* The disk is full.* nothing was changed"
    ):
        ChatStore.open(left)
    assert (left.read_bytes(), log_of(left).read_bytes()) == (before, damaged)
    assert not list(left.parent.glob("*.damaged-*"))


def test_damage_is_told_of_once(left: Path, tmp_path: Path):
    """What is saved after it stands in front of the damaged log's rest, if that is not removed."""
    change(left, flip(_HEADER + 24 + 1000))
    store = ChatStore.open(left)
    assert store.notice
    store.create_chat("new")
    store.save_node(replace(question("later"), chat_id="new"))
    again = killed(left, tmp_path / "again")
    store.close()
    store = ChatStore.open(again)
    assert (store.notice, [node.id for node in store.nodes("new")]) == ("", ["later"])
    store.close()


def test_a_log_that_cannot_be_emptied_now_stays_as_it_is(path: Path):
    with closing(ChatStore.open(path)) as store:
        store.create_chat("chat")
        store._connection.execute("BEGIN IMMEDIATE")  # SQLite refuses then, as it does without room
        before = log_of(path).read_bytes()
        empty_damaged_log(store._connection)
        assert log_of(path).read_bytes() == before
        store._connection.execute("COMMIT")
        empty_damaged_log(store._connection)
        assert log_of(path).read_bytes() == b""


def test_the_same_damage_is_kept_once(left: Path):
    """An application that is killed while it opens has changed nothing, and finds the same again."""
    change(left, flip(_HEADER + 24 + 1000))
    told = {keep_damaged_log(left) for _ in range(3)}
    assert len(told) == 1
    assert len(copies_of(left)) == 1


def test_copies_of_damaged_logs_do_not_fill_the_disk(left: Path):
    """The oldest stay, and the one that was just made; what else lies beside the store is not touched."""
    others = [left.with_name(f"chats.db.damaged-{name}") for name in ("20260101-000000", "log-mine", "log-of-may")]
    for other in others:
        other.write_text("not ours to remove")
    logs: list[bytes] = []
    for number in range(12):
        logs.append(change(left, flip(_HEADER + 24 + number)))
        before = set(copies_of(left))
        notice = keep_damaged_log(left)
        assert [str(copy) in notice for copy in set(copies_of(left)) - before] == [True]
    kept = {log_of(copy).read_bytes() for copy in copies_of(left)}
    assert kept == {*logs[:4], logs[-1]}
    assert all(other.exists() for other in others)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_CORRUPT])
def test_a_damaged_log_is_told_of_beside_what_else_is_wrong(left: Path, monkeypatch: pytest.MonkeyPatch, code: int):
    change(left, flip(_HEADER + 24 + 1000))
    check, faults = opening._check_indexes, [code]

    def refuse_once(connection: sqlite3.Connection) -> None:
        if faults:
            error = sqlite3.OperationalError("something else is wrong")
            error.sqlite_errorcode = faults.pop()
            raise error
        check(connection)

    monkeypatch.setattr(opening, "_check_indexes", refuse_once)
    with closing(ChatStore.open(left)) as store:
        assert store.notice.startswith("The log of the chat store was damaged")
        assert re.search(r"disk refused to write or read|chat store was damaged \(something", store.notice)
