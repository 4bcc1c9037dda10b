"""Opening the chat store's file: its owner, version and soundness are checked before anything is changed."""

import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from llama_gui.chats.backups import backup_at_opening, backup_before_migration, free_name, fullest_backup
from llama_gui.chats.bin import KEPT_S, purge
from llama_gui.chats.log_check import empty_damaged_log, keep_damaged_log, log_of
from llama_gui.chats.migrations import (
    APPLICATION_ID,
    MIGRATIONS,
    check_version,
    is_misnumbered,
    migrate,
    version_of,
)
from llama_gui.chats.plain_words import (
    means_damage,
    means_damaged_text,
    means_no_room,
    means_refusal,
    plain_words,
    primary_code,
)
from llama_gui.chats.rehearsal import rehearse
from llama_gui.chats.restoring import offer_backup
from llama_gui.chats.rows import readable_text
from llama_gui.chats.salvage import Salvaged, drop_copies, salvage
from llama_gui.chats.search_schema import add_functions, mend_search
from llama_gui.errors import StoreError
from llama_gui.files import sync_folder

BUSY_TIMEOUT_S = 2.0
_RECOVERING, _RECOVERED = ".recovering", ".recovered"
"""Behind the name of the store: what is being read of a damaged one, and what was read of it, all of it."""

_PARTS = ("-wal", "-shm", "")
"""The files of a store, the one that gives the others their meaning last."""
_OF_DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH)
"""What SQLite says where a table, an index or a trigger is another than we made: a file in order says none of it."""
_INDEXED = (("nodes", "id"), ("nodes", "chat_id"), ("nodes", "parent_id"), ("chats", "id"))


class DamagedError(Exception):
    """The file is not a chat store that can be read."""


def open_file(path: Path) -> tuple[sqlite3.Connection, str]:
    """The open file, and what the user should know: that it was damaged and what became of it, or ''.

    Raises:
        StoreError: a newer version has written it, or there is no room for a copy before its format changes, or for
            what can be read of a damaged one.
    """
    drop_copies(path.parent)
    finished, lost, anew = _finish_recovery(path), keep_damaged_log(path), ""
    try:
        connection = connect(path)
    except DamagedError as error:
        connection, anew = _begin_anew(path, error)
    except sqlite3.OperationalError as error:
        if not means_refusal(error):
            raise
        connection, refused = _connect_to_read(path, error), _refusal_text(path, error)
        if lost:
            empty_damaged_log(connection)
        return connection, " ".join(filter(None, (finished, lost, refused)))
    if lost:
        empty_damaged_log(connection)
    return connection, " ".join(filter(None, (finished, lost, anew, backup_at_opening(connection, path))))


def _refusal_text(path: Path, error: sqlite3.Error) -> str:
    if means_no_room(error, path.parent):
        return (
            "The disk is full. Your chats can be read, but nothing new is saved until you free some space on the disk "
            f"that holds {path.parent}."
        )
    return (
        f"The disk refused to write or read {path}. Your chats can be read, but what is new may not be saved. Check "
        "that the disk works and has room, and copy your chats to another one."
    )


def _begin_anew(path: Path, error: DamagedError) -> tuple[sqlite3.Connection, str]:
    """Put what can be read of the damaged file in its place, and the file aside. It stays until all of that is read."""
    reason = " ".join(str(error).split())
    recovering = _beside(path, _RECOVERING)
    try:
        with plain_words(path):
            found = _recover(path, recovering)
            backup = fullest_backup(path)
            holds_more = backup is not None and backup.messages > found.messages
            if holds_more:
                offer_backup(path)  # first: from the next line on, another start only finishes this, and would not look
            os.replace(recovering, _beside(path, _RECOVERED))
    except StoreError as fault:
        with suppress(OSError):
            _drop(recovering)
        raise StoreError(
            f"The chat store {path} is damaged ({reason}), and what can be read of it cannot be saved. {fault} Then "
            "start again; nothing was changed."
        ) from fault
    aside = _take_recovered(path)
    notice = f"The chat store was damaged ({reason}). It was set aside as {aside}."
    if found.messages:
        notice += f" {found.messages} messages in {found.chats} chats could be read from it and are here."
    else:
        notice += " Nothing could be read from it, and an empty one was begun."
    if backup is not None and holds_more:
        notice += (
            f" The backup {backup.path} of {backup.day:%Y-%m-%d} holds more: {backup.messages} messages in "
            f"{backup.chats} chats."
        )
    return connect(path), notice


def _recover(path: Path, recovering: Path) -> Salvaged:
    _drop(recovering)  # what a killed process has left
    with closing(connect(recovering)) as connection:
        return salvage(path, connection)


def _drop(recovering: Path) -> None:
    for part in _PARTS:
        _beside(recovering, part).unlink(missing_ok=True)


def _finish_recovery(path: Path) -> str:
    """Do what an end of the process left to be done, once all of a damaged file was read; what to tell of it."""
    if not _beside(path, _RECOVERED).exists():
        return ""
    aside = _take_recovered(path)
    return f"The chat store was damaged. It was set aside as {aside}, and what could be read from it is here."


def _take_recovered(path: Path) -> Path:
    aside = set_aside(path)
    os.replace(_beside(path, _RECOVERED), path)
    sync_folder(path.parent)
    return aside


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def connect(path: Path) -> sqlite3.Connection:
    """Open or make the file, and bring it to the newest format and a clean state.

    Raises:
        DamagedError: it cannot be read, or is another program's.
        StoreError: a newer version has written it, or there is no room for a copy before its format changes.
    """
    if path.is_dir():
        raise DamagedError("a folder lies in its place")
    last_used = _last_used(path)
    # Made by us first, because SQLite would let everybody read it.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    connection.text_factory = readable_text  # else one damaged letter in a title hides the whole list
    try:
        _check_owner(connection)
        check_version(connection)
        _check_soundness(connection)
        _set_up(connection, path)
        _check_use(connection, path)
        try:
            _tidy(connection, last_used)
        except sqlite3.OperationalError as error:
            if not means_damaged_text(error):
                raise
            mend_search(connection)
            _tidy(connection, last_used)
        _check_indexes(connection)
    except BaseException as error:
        connection.close()
        if means_damage(error):
            raise DamagedError(str(error)) from error
        raise
    return connection


def _connect_to_read(path: Path, error: sqlite3.Error) -> sqlite3.Connection:
    """Open the file where the disk has no room for what opening writes: its chats can be read at least.

    With the lock of an only user SQLite keeps the index of the log in memory; beside the log there is no room for it.
    What is written is saved as soon as there is room again.

    Raises:
        sqlite3.Error: `error`, where that cannot be done either, or the file must be brought to another format first.
    """
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    connection.text_factory = readable_text
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        _check_owner(connection)
        if version_of(connection) != len(MIGRATIONS):
            raise error
        add_functions(connection)
        _check_soundness(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        with suppress(sqlite3.Error):
            _tidy(connection, _last_used(path))
    except (sqlite3.Error, DamagedError):
        connection.close()
        raise error from None
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection, path: Path) -> None:
    add_functions(connection)
    connection.execute("PRAGMA foreign_keys = OFF")  # which some builds of SQLite begin with
    connection.execute("PRAGMA journal_mode = WAL")
    # Commits survive the end of the process; only a power cut can take the last ones, and never damages the file.
    connection.execute("PRAGMA synchronous = NORMAL")
    if version_of(connection) > 0:
        migrate(connection, lambda number: backup_before_migration(connection, path, number))
    else:
        migrate(connection)
    connection.execute("PRAGMA foreign_keys = ON")


def _last_used(path: Path) -> float:
    """When the store was last written to, in seconds since 1970; now, where it is new."""
    times: list[float] = []
    for file in (path, log_of(path)):
        with suppress(FileNotFoundError):  # another process may remove the log just now
            times.append(file.stat().st_mtime)
    return max(times, default=time.time())


def _tidy(connection: sqlite3.Connection, last_used: float) -> None:
    """Mark the answers that were being written when the last process ended, and let go what is long in the bin.

    Days after `last_used` do not count: a clock that is wrong for once must not empty the bin.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("UPDATE nodes SET status = 'interrupted' WHERE status = 'streaming'")
        purge(connection, min(time.time(), last_used) - KEPT_S)
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        # A table has gone, or is another than we made.
        if primary_code(error) == sqlite3.SQLITE_ERROR and not means_damaged_text(error):
            raise DamagedError(str(error)) from error
        raise


def _check_owner(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")  # number and content of one moment: another process may be bringing it to a new format
    try:
        _check_header(connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _check_header(connection: sqlite3.Connection) -> None:
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    is_empty = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0] == 0
    if owner != APPLICATION_ID and not is_empty:
        raise DamagedError("it is a database of another program")
    if (version_of(connection) < 1) is not is_empty or is_misnumbered(connection):
        raise DamagedError("its format number does not go with its content")


def _check_soundness(connection: sqlite3.Connection) -> None:
    answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if answer != "ok":
        raise DamagedError(answer)


def _check_indexes(connection: sqlite3.Connection) -> None:
    """Walk through the indexes, of which `quick_check` reads little: a part of one that is broken is found now, when
    all that it points to can be salvaged, and not by the chat that cannot be opened any more.
    """
    for table, column in _INDEXED:
        connection.execute(f"SELECT MAX(LENGTH({column})) FROM {table}").fetchone()  # is read from the index alone


def _check_use(connection: sqlite3.Connection, path: Path) -> None:
    """Whether all that is done with a store can be done; what is wrong with the search is mended."""
    try:
        rehearse(connection, path)
    except sqlite3.Error as error:
        if primary_code(error) not in _OF_DAMAGE:
            raise
        try:
            mend_search(connection)
            rehearse(connection, path)
        except sqlite3.Error as lasting:
            if primary_code(lasting) not in _OF_DAMAGE:
                raise
            raise DamagedError(str(lasting)) from lasting


def set_aside(path: Path) -> Path:
    """Rename the file and what belongs to it. Another file is never overwritten."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = free_name(path.with_name(f"{path.name}.damaged-{stamp}"))
    for ending in _PARTS:
        part = _beside(path, ending)
        if part.exists():
            part.rename(_beside(aside, ending))
    return aside
