"""Copies of the chat store, made by SQLite's own backup: a copy of an open file would miss what is in its log."""

import contextlib
import filecmp
import glob
import logging
import os
import re
import secrets
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from llama_gui.chats.migrations import APPLICATION_ID
from llama_gui.chats.plain_words import plain_words
from llama_gui.errors import StoreError

FOLDER = "backups"
CLOSING_LIMIT = 50_000_000
"""Bytes of a store that is still copied while the application closes: half a second on a slow disk."""

_log = logging.getLogger(__name__)
_PARTIAL = ".partial"
_SILENT_S = 60.0
_ALWAYS_KEPT = 7
_HEADER_ID = slice(68, 72)  # where SQLite's file format has the application's id


@dataclass(frozen=True, slots=True)
class Backup:
    """A sound backup: its file, its day, how many chats and messages it holds."""

    path: Path
    day: date
    chats: int
    messages: int


def copy_database(connection: sqlite3.Connection, target: Path) -> None:
    """A whole copy, or none: it gets its name when all of it is on the disk. Only the owner can read it.

    Until then it has one of its own: another process may copy the same just now.
    """
    partial = target.with_name(f"{target.name}.{secrets.token_hex(4)}{_PARTIAL}")
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        copy = sqlite3.connect(partial, isolation_level=None)
        try:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
        finally:
            copy.close()
        os.replace(partial, target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _drop_partials(folder: Path, start: str) -> None:
    """Remove the halves of copies, by the start of their names, to which nobody writes: the computer went off then."""
    for partial in folder.glob(f"{glob.escape(start)}*{_PARTIAL}*"):  # and SQLite's journal of it
        with contextlib.suppress(FileNotFoundError):  # its maker was quicker
            if abs(time.time() - partial.stat().st_mtime) > _SILENT_S:
                partial.unlink()


def backup_before_migration(connection: sqlite3.Connection, path: Path, number: int) -> None:
    """Copy the file beside itself before it gets the format `number`. One that was copied already is not again.

    Raises:
        StoreError: the copy could not be made, so the file must stay as it is.
    """
    name = f"{path.name}.before-format-{number}"
    copies = [other for other in path.parent.glob(f"{glob.escape(name)}-*") if _PARTIAL not in other.name]
    copy = free_name(path.with_name(f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"))
    try:
        with plain_words(path):
            _drop_partials(path.parent, name)
            copy_database(connection, copy)
    except StoreError as error:
        raise StoreError(
            f"Your chats are to be brought to a new format, but first a copy of {path} must be made, and that failed. "
            f"{error} Then start again; nothing was changed."
        ) from error
    with contextlib.suppress(FileNotFoundError):
        if any(other.is_file() and filecmp.cmp(copy, other, shallow=False) for other in copies):
            copy.unlink()


def free_name(path: Path) -> Path:
    """`path`, or with a number behind it where there is something already."""
    number, free = 1, path
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free


# --- one a day


def backup_at_opening(connection: sqlite3.Connection, path: Path) -> str:
    """Make today's backup unless it is there, and let old ones go. What the user should know: '' or why not."""
    if _backup_of(path, date.today()).exists() or _is_empty(connection):
        return ""
    return _backup(connection, path)


def backup_at_closing(connection: sqlite3.Connection, path: Path) -> str:
    """Bring today's backup up to date, unless the store is so large that closing would take long.

    One that holds more than the store now stays: the store may be what was saved from a damaged one.
    """
    size = _number(connection, "PRAGMA page_count") * _number(connection, "PRAGMA page_size")
    target = _backup_of(path, date.today())
    earlier = _read(date.today(), target) if target.exists() and size <= CLOSING_LIMIT else None
    messages = _number(connection, "SELECT COUNT(*) FROM nodes")
    if messages == 0 or (size > CLOSING_LIMIT and target.exists()) or (earlier and earlier.messages > messages):
        return ""
    return _backup(connection, path)


def _backup(connection: sqlite3.Connection, path: Path) -> str:
    target = _backup_of(path, date.today())
    try:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        _drop_partials(target.parent, path.stem)
        copy_database(connection, target)
        _prune(path, date.today())
    except (OSError, sqlite3.Error) as error:
        _log.warning("no backup in %s: %s", target.parent, error)
        return (
            f"Today's backup of your chats could not be made in {target.parent} ({error}). The chats themselves are "
            "saved. Free some space, or check the folder's permissions; it is tried again at the next start."
        )
    return ""


def _backup_of(path: Path, day: date) -> Path:
    return path.parent / FOLDER / f"{path.stem}-{day.isoformat()}.db"


def _is_empty(connection: sqlite3.Connection) -> bool:
    return _number(connection, "SELECT COUNT(*) FROM (SELECT 1 FROM nodes LIMIT 1)") == 0


def _number(connection: sqlite3.Connection, query: str) -> int:
    return connection.execute(query).fetchone()[0]


# --- which are kept


def kept_days(days: Iterable[date], today: date) -> set[date]:
    """Which backups stay: all of the last 7 days, the newest of each week for 5 weeks, of each month for 12 months.

    So do the newest 7, however old they are, and days that lie in the future: a clock that is wrong, now or then, costs
    no backup that a right one would have kept longest.
    """
    newest_first = sorted(days, reverse=True)
    kept = {day for day in newest_first if today - day < timedelta(days=7)}.union(newest_first[:_ALWAYS_KEPT])
    weeks: dict[tuple[int, int], date] = {}
    months: dict[tuple[int, int], date] = {}
    for day in newest_first:
        if today - day < timedelta(weeks=5):
            weeks.setdefault(day.isocalendar()[:2], day)
        if today - day < timedelta(days=366):
            months.setdefault((day.year, day.month), day)
    return kept.union(weeks.values(), months.values())


def _prune(path: Path, today: date) -> None:
    made = _made_by_us(path)
    for day in made.keys() - kept_days(made, today):
        made[day].unlink(missing_ok=True)


def _made_by_us(path: Path) -> dict[date, Path]:
    """Day -> backup of this store. Name and header must be ours: what somebody else has put there is left alone."""
    found: dict[date, Path] = {}
    folder = path.parent / FOLDER
    name = re.compile(re.escape(path.stem) + r"-(\d{4}-\d{2}-\d{2})\.db")
    for file in folder.iterdir() if folder.is_dir() else ():
        match = name.fullmatch(file.name)
        try:
            if match and file.is_file() and not file.is_symlink() and _has_our_header(file):
                found[date.fromisoformat(match[1])] = file
        except (ValueError, OSError):  # no day of the calendar, or not for us to read
            continue
    return found


def _has_our_header(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(100)[_HEADER_ID] == APPLICATION_ID.to_bytes(4, "big")


# --- what they hold


def fullest_backup(path: Path) -> Backup | None:
    """The sound backup of this store with the most messages; of equals the newest."""
    backups = [_read(day, file) for day, file in _made_by_us(path).items()]
    return max((b for b in backups if b), key=lambda backup: (backup.messages, backup.day), default=None)


def _read(day: date, path: Path) -> Backup | None:
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                return None
            chats = _number(connection, "SELECT COUNT(DISTINCT chat_id) FROM nodes")
            return Backup(path, day, chats, _number(connection, "SELECT COUNT(*) FROM nodes"))
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError):
        return None
