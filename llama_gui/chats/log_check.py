"""The log beside the store (SQLite's `-wal`), checked before it is opened: SQLite reads it to the first frame that is
damaged, and passes over all that was committed behind it without a word.

The format is that of https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
"""

import filecmp
import os
import re
import shutil
import sqlite3
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from llama_gui.chats.backups import free_name
from llama_gui.chats.plain_words import plain_words
from llama_gui.errors import StoreError

_HEADER, _FRAME = struct.Struct(">8I"), struct.Struct(">6I")
_MAGIC = 0x377F0682
_BIG = 1
"""The bit of the magic number that tells in which order the bytes of words are summed."""
_PAGES = {1 << power for power in range(9, 17)}
_DAMAGED = ".damaged-log-"
"""Behind the name of the store, before the time of a copy of it; a store set aside has another name, and stays."""
_MOST_COPIES = 5


def keep_damaged_log(path: Path) -> str:
    """Keep a copy of the store at `path` and its log where commits of the log are behind damage; what to tell of it.

    Raises:
        StoreError: the copy cannot be made; nothing was changed.
    """
    log = log_of(path)
    # Twice, because another process may be writing to it just now.
    if not (loses_commits(log) and loses_commits(log)):
        return ""
    try:
        with plain_words(path):
            copy = _kept_copy(path)
    except StoreError as error:
        raise StoreError(
            f"The log of the chat store {path} is damaged, and first a copy of both must be made, which failed. "
            f"{error} Then start again; nothing was changed."
        ) from error
    return (
        "The log of the chat store was damaged, so what you did last, before the program ended, may be missing. A copy "
        f"of the store and its log as they were is kept as {copy}."
    )


def empty_damaged_log(connection: sqlite3.Connection) -> None:
    """Bring what SQLite takes of a damaged log into the store, and begin it anew.

    SQLite would write on behind the last good frame, and what lies further behind would look lost after every kill.
    """
    with suppress(sqlite3.Error):  # no room, say: then it is told of again at the next start
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def loses_commits(log: Path) -> bool:
    """Whether the file holds commits behind a frame that SQLite does not take.

    A last commit that is damaged itself looks like one that was never completed, and is none.
    """
    try:
        content = memoryview(log.read_bytes())
    except OSError:  # there is none, as after every orderly end
        return False
    if len(content) <= _HEADER.size:
        return False
    magic, _, page, _, *salts, first, second = _HEADER.unpack(content[: _HEADER.size])
    order = ">" if magic & _BIG else "<"
    sums = _summed(content[: _HEADER.size - 8], order, (0, 0))
    if magic & ~_BIG != _MAGIC or page not in _PAGES or sums != (first, second):
        return True  # then SQLite takes nothing of it
    is_damaged = False
    for frame in _frames(content, page):
        _, commit, *own, first, second = _FRAME.unpack(frame[: _FRAME.size])
        if own != salts:
            # Left from before the log was begun anew, if not damaged: then no frame behind it has the salts of now.
            is_damaged = True
        elif is_damaged and commit:
            return True
        elif not is_damaged:
            sums = _summed(frame[_FRAME.size :], order, _summed(frame[:8], order, sums))
            is_damaged = sums != (first, second)
    return False


def _frames(content: memoryview, page: int) -> Iterator[memoryview]:
    size = _FRAME.size + page
    for start in range(_HEADER.size, len(content) - size + 1, size):
        yield content[start : start + size]


def _summed(words: memoryview, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    for one, other in struct.iter_unpack(f"{order}II", words):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second


def _kept_copy(path: Path) -> Path:
    """A copy of the store and its log; one that is there already is not made again.

    An application that is killed at every start must not fill the disk with them: of too many the newest but this one
    goes. The oldest holds what was lost first.
    """
    copies = _copies(path)
    for copy in copies:
        if _is_same(log_of(path), log_of(copy)) and _is_same(path, copy):
            return copy
    copy = free_name(path.with_name(f"{path.name}{_DAMAGED}{time.strftime('%Y%m%d-%H%M%S')}"))
    _copy(log_of(path), log_of(copy))  # first: without it the other says nothing
    _copy(path, copy)
    for surplus in copies[_MOST_COPIES - 1 :]:
        for file in (surplus, log_of(surplus)):
            with suppress(OSError):  # somebody is looking at it
                file.unlink()
    return copy


def _copies(path: Path) -> list[Path]:
    """The whole copies that were made of this store, the oldest first."""
    name = re.compile(re.escape(path.name + _DAMAGED) + r"(\d{8}-\d{6})(?:-(\d+))?")
    found = [
        (match[1], int(match[2] or 1), file) for file in path.parent.iterdir() if (match := name.fullmatch(file.name))
    ]
    return [file for *_, file in sorted(found) if file.is_file() and log_of(file).is_file()]


def _is_same(one: Path, other: Path) -> bool:
    return filecmp.cmp(one, other, shallow=False)


def log_of(path: Path) -> Path:
    """Where the log of the store at `path` lies."""
    return path.with_name(f"{path.name}-wal")


def _copy(source: Path, target: Path) -> None:
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        shutil.copyfile(source, target)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
