"""The store on its own thread."""

import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from llama_gui.bridge.store_lane import StoreLane
from llama_gui.chats.store import ChatStore
from llama_gui.errors import BugError, StoreError


def test_everything_happens_on_one_other_thread(qtbot: QtBot, tmp_path: Path):
    lane = StoreLane(tmp_path / "chats.db")
    threads: list[int] = []

    def note(store: ChatStore) -> None:
        store.create_chat("chat")  # SQLite itself refuses a thread that has not opened the file
        threads.append(threading.get_ident())

    for _ in range(3):
        lane.run(note)
    assert lane.close()
    assert lane.close()
    assert len(threads) == 3
    assert set(threads) != {threading.get_ident()}
    assert len(set(threads)) == 1
    with pytest.raises(BugError, match="closed"):
        lane.run(note)


def test_close_leaves_one_file_without_a_log(qtbot: QtBot, tmp_path: Path):
    lane = StoreLane(tmp_path / "chats.db")
    lane.run(lambda store: store.create_chat("chat"))
    assert lane.close()
    assert [part.name for part in tmp_path.iterdir()] == ["chats.db"]


def test_a_store_that_does_not_open_fails_each_task_in_its_words(qtbot: QtBot, tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    lane = StoreLane(tmp_path / "file" / "chats.db")
    errors: list[Exception] = []
    with qtbot.waitSignal(lane.open_failed) as blocker:
        lane.run(ChatStore.chats, None, errors.append)
        lane.run(ChatStore.tabs, None, errors.append)
    qtbot.waitUntil(lambda: len(errors) == 2)
    assert all(isinstance(error, StoreError) for error in errors)
    assert [[str(error)] for error in errors] == [blocker.args] * 2
    assert lane.close()


def test_a_store_that_was_set_aside_is_told_once(qtbot: QtBot, tmp_path: Path):
    (tmp_path / "chats.db").write_bytes(b"no database " * 100)
    lane = StoreLane(tmp_path / "chats.db")
    with qtbot.waitSignal(lane.notice) as blocker:
        pass
    assert "set aside" in (blocker.args or [])[0]
    assert lane.close()


def test_what_is_waited_for_comes_or_says_why(qtbot: QtBot, tmp_path: Path):
    lane = StoreLane(tmp_path / "chats.db")
    assert lane.wait(ChatStore.chats, 5.0) == []
    assert lane.close()
    broken = StoreLane(tmp_path / "chats.db" / "no.db")
    with pytest.raises(StoreError), qtbot.waitSignal(broken.open_failed):
        broken.wait(ChatStore.chats, 5.0)
    assert broken.close()


@pytest.mark.parametrize("error", [StoreError("full"), ValueError("a fault of ours")])
def test_who_waits_hears_any_error_at_once(qtbot: QtBot, tmp_path: Path, error: Exception):
    lane = StoreLane(tmp_path / "chats.db")

    def work(_store: ChatStore) -> None:
        raise error

    with pytest.raises(type(error)):
        lane.wait(work, 10)
    assert lane.close()
