"""Backups: one a day, kept by age, never in the way."""

import contextlib
import os
import sqlite3
import stat
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.chats import backups
from llama_gui.chats.backups import fullest_backup, kept_days
from llama_gui.chats.store import ChatStore
from tests.chats.samples import question


def today(path: Path) -> Path:
    return path.parent / "backups" / f"chats-{date.today().isoformat()}.db"


def messages(backup: Path) -> list[str]:
    db = sqlite3.connect(backup)
    found = [node_id for (node_id,) in db.execute("SELECT id FROM nodes ORDER BY seq")]
    db.close()
    return found


def fill(path: Path, *node_ids: str) -> None:
    store = ChatStore.open(path)
    assert store.notice == ""
    store.create_chat("chat")
    store.save_nodes(question(node_id) for node_id in node_ids)
    store.close()


def test_closing_after_changes_makes_todays_backup(path: Path):
    fill(path, "one")
    assert messages(today(path)) == ["one"]
    fill(path, "two")
    assert messages(today(path)) == ["one", "two"]
    if os.name != "nt":
        assert stat.S_IMODE(today(path).stat().st_mode) == 0o600
        assert stat.S_IMODE(today(path).parent.stat().st_mode) == 0o700


def test_opening_makes_todays_backup_when_there_is_none(path: Path):
    fill(path, "one")
    today(path).unlink()
    store = ChatStore.open(path)
    assert messages(today(path)) == ["one"]
    store.close()


def test_closing_without_changes_writes_nothing(path: Path):
    fill(path, "one")
    before = today(path).stat().st_mtime_ns
    ChatStore.open(path).close()
    assert today(path).stat().st_mtime_ns == before


def test_an_empty_store_has_no_backup(path: Path):
    ChatStore.open(path).close()
    assert not today(path).parent.exists()


def test_a_backup_has_what_is_still_in_the_log(store: ChatStore, path: Path):
    store.create_chat("chat")
    store.save_node(question())
    assert path.with_name("chats.db-wal").stat().st_size > 0
    backups.copy_database(store._connection, path.with_name("copy.db"))
    assert messages(path.with_name("copy.db")) == ["q"]
    assert not list(path.parent.glob("*.partial"))


def test_two_processes_that_copy_at_once_do_not_meet(store: ChatStore, path: Path):
    store.create_chat("chat")
    store.save_node(question())
    target = path.with_name("copy.db")

    class Slow(sqlite3.Connection):
        def backup(self, *values, **options):
            backups.copy_database(store._connection, target)  # the other one begins later, and is done sooner
            super().backup(*values, **options)

    with contextlib.closing(sqlite3.connect(path, factory=Slow)) as slow:
        backups.copy_database(slow, target)
    assert messages(target) == ["q"]
    assert not list(path.parent.glob("*.partial*"))


def test_half_a_backup_of_a_day_long_past_is_removed(path: Path):
    fill(path, "one")
    half = today(path).with_name("chats-2020-01-01.db.12345678.partial")
    half.write_bytes(b"half")
    os.utime(half, (1, 1))
    foreign = today(path).with_name("notes.partial")
    foreign.write_bytes(b"precious")
    os.utime(foreign, (1, 1))
    fill(path, "two")
    assert not half.exists()
    assert foreign.exists()


def test_a_backup_opens_as_a_store(path: Path, tmp_path: Path):
    fill(path, "one")
    store = ChatStore.open(today(path).rename(tmp_path / "chats.db"))
    assert (store.notice, [node.id for node in store.nodes("chat")]) == ("", ["one"])
    assert len(store.search("text")) == 1
    store.close()


def test_a_backup_that_holds_more_is_not_replaced(path: Path):
    fill(path, "one", "two")
    path.unlink()
    fill(path, "three")
    assert messages(today(path)) == ["one", "two"]


def test_a_large_store_closes_at_once(path: Path, monkeypatch: pytest.MonkeyPatch):
    fill(path, "one")
    monkeypatch.setattr(backups, "CLOSING_LIMIT", 10)
    fill(path, "two")
    assert messages(today(path)) == ["one"]


def test_a_backup_that_fails_is_told_and_stops_nothing(path: Path, monkeypatch: pytest.MonkeyPatch):
    fill(path, "one")
    today(path).unlink()
    today(path).parent.rmdir()
    today(path).parent.write_text("in the way")
    store = ChatStore.open(path)
    assert "could not be made" in store.notice
    assert str(today(path).parent) in store.notice
    store.save_node(question("two"))
    store.close()
    assert messages(path) == ["one", "two"]
    assert today(path).parent.read_text(encoding="utf-8") == "in the way"


_FILE_LIMIT = """
import resource, sys
from pathlib import Path
from llama_gui.chats.store import ChatStore

resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
store = ChatStore.open(Path(sys.argv[1]))
print(store.notice, len(store.nodes("chat")))
store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no file size limit to set")
def test_a_full_disk_costs_the_backup_only(path: Path):
    fill(path, *map(str, range(2000)))
    today(path).unlink()
    run = subprocess.run([sys.executable, "-c", _FILE_LIMIT, str(path)], capture_output=True, text=True, check=True)
    assert "could not be made" in run.stdout
    assert run.stdout.split()[-1] == "2000"
    assert list(today(path).parent.iterdir()) == []


# --- which are kept


def test_the_last_week_five_weeks_and_twelve_months_are_kept():
    """A year and a half of daily use, a backup each day, the old ones let go each day."""
    kept: set[date] = set()
    day = date(2025, 1, 1)
    for number in range(550):
        day = date(2025, 1, 1) + timedelta(days=number)
        kept = kept_days(kept | {day}, day)
        assert len(kept) <= 7 + 5 + 13
        ages = sorted((day - other).days for other in kept)
        assert ages[: min(7, number + 1)] == list(range(min(7, number + 1)))
        for week in range(1, 5):
            assert number < 7 * week + 7 or any(7 * week - 7 <= age < 7 * week + 7 for age in ages)
        for month in range(2, 12):
            assert number < 31 * month or any(31 * (month - 1) - 31 <= age <= 31 * month for age in ages)
    assert min(kept) < day - timedelta(days=330)


@settings(deadline=None, max_examples=50)
@given(st.sets(st.integers(-30, 900), max_size=60))
def test_of_any_days_the_last_week_is_kept_and_nothing_comes_back(ages: set[int]):
    now = date(2026, 11, 21)
    days = {now - timedelta(days=age) for age in ages}
    kept = kept_days(days, now)
    assert {day for day in days if (now - day).days < 7} <= kept <= days
    assert kept_days(kept, now) == kept


def test_a_clock_that_is_wrong_for_once_costs_no_new_backup():
    days = {date(2026, 11, 21) - timedelta(days=age) for age in range(5)}
    wrong = date(2029, 1, 1)
    assert kept_days(days | {wrong}, wrong) == days | {wrong}


def test_only_what_we_made_is_let_go(path: Path):
    fill(path, "one")
    folder = today(path).parent
    old = (folder / "chats-2001-01-01.db", folder / "chats-2001-01-02.db")
    newer = [folder / f"chats-2002-01-0{day}.db" for day in range(1, 7)]  # with today's, the seven that always stay
    for backup in (*old, *newer):
        backup.write_bytes(today(path).read_bytes())
    foreign = {
        "chats-2001-01-03.db": b"not a database",
        "chats-2001-13-45.db": today(path).read_bytes(),
        "chats-2001-01-01 copy.db": today(path).read_bytes(),
        "notes.txt": b"precious",
    }
    for name, content in foreign.items():
        (folder / name).write_bytes(content)
    (folder / "chats-2001-01-04.db").mkdir()
    fill(path, "two")
    assert not any(backup.exists() for backup in old)
    assert all(backup.exists() for backup in newer)
    assert {name: (folder / name).read_bytes() for name in foreign} == foreign
    assert (folder / "chats-2001-01-04.db").is_dir()


def test_the_fullest_sound_backup_is_found(path: Path):
    assert fullest_backup(path) is None
    fill(path, "one", "two")
    folder = today(path).parent
    today(path).rename(folder / "chats-2026-01-01.db")
    fill(path)
    (folder / "chats-2026-01-02.db").write_bytes(today(path).read_bytes()[:20_000])
    found = fullest_backup(path)
    assert found is not None
    assert (found.chats, found.messages) == (1, 2)
    before = {file.name for file in folder.iterdir()}
    fullest_backup(path)
    assert {file.name for file in folder.iterdir()} == before
