"""Blocks in files: whole or not at all, never too many, the longest unused deleted first."""

import errno
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from llama_gui import prompt_folder
from llama_gui.engine.block_files import BlockFiles

BLOCK = bytes(range(256)) * 4
PLENTY = 2**30


@pytest.fixture
def files(tmp_path):
    """Files in a folder that is not there yet."""
    made = BlockFiles(tmp_path / "kept", PLENTY)
    yield made
    made.close()


def flush(files):
    """Wait until all that was handed over is in its file."""
    while files._writing:
        files._writing.popleft().result()


def write(files, *names, content=BLOCK):
    for name in names:
        files.write(name, content, time.time())
        flush(files)


def opened_again(files):
    """As the next process sees them."""
    return BlockFiles(files._folder, PLENTY)


def names_in(files):
    return sorted(path.name for path in files._folder.iterdir() if path.name != "mark")


def test_what_was_written_is_read(files):
    assert files.is_empty
    assert not files.has("000000-aa")
    write(files, "000000-aa")
    for one in (files, opened_again(files)):
        assert not one.is_empty
        assert one.has("000000-aa")
        assert not one.has("000000-bb")
        assert one.read("000000-aa", len(BLOCK)) == BLOCK
        assert one.read("000000-bb", len(BLOCK)) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:5],
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: b"x" + content[1:],
        lambda content: content[:-1] + b"x",
        lambda content: content[:12] + bytes(len(content) - 12),
    ],
)
def test_a_damaged_file_is_as_none(files, damage):
    write(files, "000000-aa")
    path = files._folder / "000000-aa.kv"
    path.write_bytes(damage(path.read_bytes()))
    assert files.read("000000-aa", len(BLOCK)) is None
    assert not files.has("000000-aa")
    write(files, "000000-aa")
    assert files.read("000000-aa", len(BLOCK)) == BLOCK


def test_a_block_of_another_size_is_as_none(files):
    write(files, "000000-aa")
    assert files.read("000000-aa", len(BLOCK) + 1) is None
    assert files.read("000000-aa", len(BLOCK) - 1) is None


def test_files_are_their_owners_alone(files):
    write(files, "000000-aa")
    if os.name == "posix":
        assert files._folder.stat().st_mode & 0o777 == 0o700
        assert (files._folder / "000000-aa.kv").stat().st_mode & 0o777 == 0o600


def test_the_longest_unused_go_first_and_ends_before_beginnings(tmp_path):
    size = len(BLOCK)
    files = BlockFiles(tmp_path, 10 * size)
    now = time.time()
    for chat, age in (("aa", 100), ("bb", 50)):
        for i in range(4):
            files.write(f"{i:06}-{chat}", BLOCK, now - age)
            flush(files)
    files.use([f"{i:06}-aa" for i in range(4)], now).result()
    write(files, *(f"{i:06}-cc" for i in range(3)))
    assert [name for name in names_in(files) if "aa" in name] == [f"{i:06}-aa.kv" for i in range(4)]
    left = [name for name in names_in(files) if "bb" in name]
    assert left == [f"{i:06}-bb.kv" for i in range(len(left))]
    assert 1 <= len(left) <= 3
    assert [files.has(f"{i:06}-bb") for i in range(4)] == [i < len(left) for i in range(4)]
    assert sum(path.stat().st_size for path in tmp_path.glob("*.kv")) <= 10 * size
    files.close()


def test_two_who_write_stay_within_one_limit(tmp_path):
    size = len(BLOCK)
    one, other = BlockFiles(tmp_path, 20 * size), BlockFiles(tmp_path, 20 * size)
    for i in range(30):
        write(one, f"{i:06}-aa")
        write(other, f"{i:06}-bb")
    assert len(names_in(one)) <= 24
    one.close()
    other.close()


def test_a_nearly_full_disk_is_left_alone(tmp_path, monkeypatch):
    files = BlockFiles(tmp_path, PLENTY)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=30 * len(BLOCK)))
    write(files, *(f"{i:06}-aa" for i in range(20)))
    assert 1 <= len(names_in(files)) <= 5
    files.close()


def test_what_nobody_needed_for_a_month_is_deleted(tmp_path):
    files = BlockFiles(tmp_path, PLENTY)
    write(files, "000000-aa", "000001-aa")
    long_ago = time.time() - 31 * 86400
    os.utime(tmp_path / "000000-aa.kv", (long_ago, long_ago))
    left_over = tmp_path / "000002-aa.0123abcd.new"
    left_over.write_bytes(b"half")
    os.utime(left_over, (long_ago, long_ago))
    (tmp_path / "notes.txt").write_text("not ours")
    again = opened_again(SimpleNamespace(_folder=tmp_path))
    assert not again.has("000000-aa")
    assert again.has("000001-aa")
    assert names_in(files) == ["000001-aa.kv", "notes.txt"]
    files.close()


def test_a_disk_that_takes_nothing_is_asked_once(tmp_path, monkeypatch, caplog):
    tried = []

    def full(*_arguments, **_options):
        tried.append(1)
        raise OSError(errno.ENOSPC, "No space left on device")

    files = BlockFiles(tmp_path, PLENTY)
    monkeypatch.setattr(os, "replace", full)
    write(files, "000000-aa", "000001-aa")
    assert tried == [1]
    assert not files.is_usable
    assert caplog.text.count("cannot be kept") == 1
    assert names_in(files) == []
    files.close()


def test_a_folder_that_is_a_file_holds_nothing(tmp_path, caplog):
    place = tmp_path / "file"
    place.write_text("mine")
    files = BlockFiles(place, PLENTY)
    assert files.is_empty
    write(files, "000000-aa")
    assert not files.is_usable
    assert place.read_text() == "mine"
    assert "cannot be kept" in caplog.text
    files.close()


def test_few_blocks_wait_for_a_slow_disk(files, monkeypatch):
    at_work, go_on = [], []

    def slow(self, name, content):
        at_work.append(name)
        while not go_on:
            time.sleep(0.005)
        put(self, name, content)

    put = BlockFiles._put
    monkeypatch.setattr(BlockFiles, "_put", slow)
    told = []
    files.on_done = lambda: told.append(1)
    count = 0
    while files.has_room:
        files.write(f"{count:06}-aa", BLOCK, time.time())
        count += 1
    assert 1 < count < 10
    assert told == []
    go_on.append(True)
    flush(files)
    assert files.has_room
    assert len(told) == len(names_in(files)) == count
    assert at_work == [f"{i:06}-aa" for i in range(count)]


def test_closing_does_not_wait_for_all(files, monkeypatch):
    go_on = []

    def slow(self, name, content):
        while not go_on:
            time.sleep(0.005)
        put(self, name, content)

    put = BlockFiles._put
    monkeypatch.setattr(BlockFiles, "_put", slow)
    for i in range(3):
        files.write(f"{i:06}-aa", BLOCK, time.time())
    while not (files._writing[0].running()):
        time.sleep(0.005)
    go_on.append(True)
    files.close()
    assert 1 <= len(names_in(files)) <= 3
    assert not [path for path in Path(files._folder).iterdir() if path.suffix == ".new"]


def test_what_is_handed_over_before_the_folder_is_emptied_is_not_written(files, monkeypatch):
    write(files, "000000-aa")
    assert not files.notice_emptied()
    at_work, go_on, is_wanted = [], [], BlockFiles._is_wanted

    def slow(self, emptied):
        at_work.append(1)
        while not go_on:
            time.sleep(0.005)
        return is_wanted(self, emptied)

    monkeypatch.setattr(BlockFiles, "_is_wanted", slow)
    files.write("000001-aa", BLOCK, time.time())
    files.write("000002-aa", BLOCK, time.time())
    while not at_work:
        time.sleep(0.005)
    prompt_folder.empty(files._folder)
    go_on.append(True)
    flush(files)
    assert not files._folder.exists()
    assert files.notice_emptied()
    assert not files.notice_emptied()
    assert files.is_empty
    write(files, "000000-bb")
    assert names_in(files) == ["000000-bb.kv"]
    assert not files.notice_emptied()


def test_what_could_not_be_deleted_goes_with_the_next_look(files):
    write(files, "000000-aa")
    (files._folder / "mark").unlink()  # as when another program holds the file
    again = opened_again(files)
    assert again.is_empty
    assert names_in(files) == []


def test_two_who_begin_at_once_agree_in_the_end(tmp_path):
    first = prompt_folder.begin(tmp_path / "kept")
    assert first == prompt_folder.begin(tmp_path / "kept") == prompt_folder.mark_of(tmp_path / "kept")
    prompt_folder.empty(tmp_path / "kept")
    assert prompt_folder.mark_of(tmp_path / "kept") == ""
    assert prompt_folder.begin(tmp_path / "kept") not in ("", first)
    prompt_folder.empty(tmp_path / "nothing")


def test_a_full_disk_gets_its_room_back(tmp_path, monkeypatch, caplog):
    files = BlockFiles(tmp_path, PLENTY)
    write(files, *(f"{i:06}-aa" for i in range(20)))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))

    def full(self, name, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(BlockFiles, "_put", full)
    write(files, "000020-aa")
    assert len(names_in(files)) <= 2
    assert "cannot be kept" in caplog.text
    files.close()


def test_what_is_too_much_or_too_old_goes_at_the_next_start(files):
    write(files, *(f"{i:06}-aa" for i in range(10)))
    less = BlockFiles(files._folder, 3 * len(BLOCK))
    less.tidy()
    flush(less)
    assert names_in(files) == ["000008-aa.kv", "000009-aa.kv"]
    less.close()
    less.tidy()
    assert less._writer is None
    assert not less.is_usable
