"""What SQLite and the system say about the chat store, in words that a person can act on."""

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from llama_gui.errors import StoreError

_OF_FULL_DISK = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_SHMOPEN,  # the index of the log could not get its first bytes
    sqlite3.SQLITE_IOERR_SHMSIZE,
)
_HARDLY_ANY = 1_000_000
"""Bytes that are as good as none."""


@contextmanager
def plain_words(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say into a `StoreError`."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise StoreError(_damaged_text(path)) from error
    except sqlite3.Error as error:
        raise StoreError(_sqlite_text(error, path)) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
            raise StoreError(_full_text(path)) from error
        reason = error.strerror or str(error)
        raise StoreError(
            f"The chat store {path} cannot be opened: {reason}. Check the folder's permissions."
        ) from error


def means_damage(error: BaseException) -> bool:
    """Whether the file itself is broken, rather than the disk or the request."""
    if isinstance(error, UnicodeDecodeError):  # SQLite quotes the damaged bytes in its message, and Python chokes on it
        return True
    codes = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    return isinstance(error, sqlite3.DatabaseError) and primary_code(error) in codes


def means_damaged_index(error: BaseException) -> bool:
    """Whether only the search index is broken, which is made of the messages and can be made again."""
    # A constraint without a name is none of our tables': the index stumbles over a rest of itself.
    codes = (sqlite3.SQLITE_CORRUPT_VTAB, sqlite3.SQLITE_CONSTRAINT)
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) in codes


def means_damaged_text(error: BaseException) -> bool:
    """Whether a title or a message is no text any more, which the search index's triggers must read to change it."""
    return isinstance(error, sqlite3.OperationalError) and "user-defined function" in str(error)


def means_refusal(error: sqlite3.Error) -> bool:
    """Whether the disk refused to write or read: it is full, or breaks."""
    return primary_code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def means_no_room(error: sqlite3.Error, folder: Path) -> bool:
    """Whether the disk that holds `folder` refused because it is full, or the user's share of it is."""
    if getattr(error, "sqlite_errorcode", None) in _OF_FULL_DISK:
        return True
    try:
        return means_refusal(error) and shutil.disk_usage(folder).free < _HARDLY_ANY
    except OSError:  # a disk that does not even say that is not full
        return False


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's error code without its refinement."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def _sqlite_text(error: sqlite3.Error, path: Path) -> str:
    if means_damaged_text(error):
        return "A text in your chats is damaged, so this was not done. It was mended as far as possible; try again."
    match primary_code(error):
        case sqlite3.SQLITE_FULL:
            return _full_text(path)
        case sqlite3.SQLITE_IOERR:
            return f"The disk refused to write or read {path}. Check that it has room and works; this is not saved."
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"Another program is using the chat store {path}, so this is not saved. Close that program."
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN:
            return f"The chat store {path} cannot be written. Check the permissions of the file and its folder."
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return _damaged_text(path)
        case _:
            return f"The chat store {path} reports: {error}."


def _full_text(path: Path) -> str:
    return f"The disk is full, so this is not saved yet. Free some space on the disk that holds {path.parent}."


def _damaged_text(path: Path) -> str:
    return (
        f"The chat store {path} is damaged. Close llama-gui, keep a copy of the file, and move it away to begin anew."
    )
