"""The log beside the store (SQLite's `-wal`), checked before it is opened: SQLite reads it to the first frame that is
damaged, and passes over all that was committed behind it without a word.

The format is that of https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
"""

import os
import shutil
import struct
import time
from collections.abc import Iterator
from pathlib import Path

from llama_gui.chats.backups import free_name
from llama_gui.chats.plain_words import plain_words
from llama_gui.errors import StoreError

_HEADER, _FRAME = struct.Struct(">8I"), struct.Struct(">6I")
_MAGIC = 0x377F0682
_BIG = 1
"""The bit of the magic number that tells in which order the bytes of words are summed."""
_PAGES = {1 << power for power in range(9, 17)}


def keep_damaged_log(path: Path) -> str:
    """Keep a copy of the store at `path` and its log where commits of the log are behind damage; what to tell of it.

    Raises:
        StoreError: the copy cannot be made; nothing was changed.
    """
    log = path.with_name(f"{path.name}-wal")
    # Twice, because another process may be writing to it just now.
    if not (loses_commits(log) and loses_commits(log)):
        return ""
    copy = free_name(path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"))
    try:
        with plain_words(path):
            _copy(log, copy.with_name(f"{copy.name}-wal"))  # first: without it the other says nothing
            _copy(path, copy)
    except StoreError as error:
        raise StoreError(
            f"The log of the chat store {path} is damaged, and first a copy of both must be made, which failed. "
            f"{error} Then start again; nothing was changed."
        ) from error
    return (
        "The log of the chat store was damaged, so what you did last, before the program ended, may be missing. A copy "
        f"of the store and its log as they were is kept as {copy}."
    )


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


def _copy(source: Path, target: Path) -> None:
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        shutil.copyfile(source, target)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
