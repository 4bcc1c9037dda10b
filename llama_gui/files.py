"""Files that are written whole or not at all: settings, keys, lists, notes, exports."""

import contextlib
import errno
import os
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

PRIVATE = 0o600
"""For its owner's eyes only."""
SHARED = 0o666
"""For whoever the user lets see new files."""

_WAITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)  # seconds


def write_whole(path: Path, content: bytes, mode: int = PRIVATE) -> None:
    """Let `path` hold `content`; its folder is made when it is missing. See `open_whole`."""
    _make_folder(path.parent)
    with open_whole(path, mode) as file:
        file.write(content)


@contextlib.contextmanager
def open_whole(path: Path, mode: int = PRIVATE, *, synced: bool = True) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` at the end of the ``with``, unless that raises.

    A crash or a power cut at any moment leaves the old content or the new one. Nobody whom `mode` keeps out can read
    it at any moment. Where `path` is a link, the file that it leads to is written. `synced` False: nobody waits for
    the disk, and what a power cut leaves may be anything: for content that has a checksum and can be made anew.

    Raises:
        OSError: it cannot be written; then nothing has changed.
    """
    target = Path(os.path.realpath(path))
    with _fresh_beside(target, mode) as (file, fresh):
        yield file
        _finish(file, synced=synced)
        _replace(fresh, target)


def make_whole(path: Path, content: bytes, mode: int = PRIVATE) -> None:
    """As `write_whole`, but only where there is nothing yet: of several programs that try at once, one succeeds.

    Raises:
        FileExistsError: there is something already; it stays as it is, and is whole if it was made here.
        OSError: it cannot be written.
    """
    _make_folder(path.parent)
    with _fresh_beside(path, mode) as (file, fresh):
        file.write(content)
        _finish(file)
        try:
            os.link(fresh, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if os.path.lexists(path):
                raise FileExistsError(f"{path} is there already.") from None
            _replace(fresh, path)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except FileExistsError as error:  # a file; what is to be written into it is not there
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from error


def _replace(fresh: Path, target: Path) -> None:
    """Windows refuses it while anybody has the old file open, be it for a search index; that is soon over."""
    for wait in _WAITS if sys.platform == "win32" else ():
        try:
            os.replace(fresh, target)
        except PermissionError:
            time.sleep(wait)
        else:
            return
    os.replace(fresh, target)


def sync_folder(folder: Path) -> None:
    """Make what was renamed or linked in `folder` outlive a power cut, where the system can."""
    with contextlib.suppress(OSError):  # Windows opens no folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _fresh_beside(path: Path, mode: int) -> Iterator[tuple[BinaryIO, Path]]:
    """A new file beside `path`, with a name of its own, because others write too; what is left of it is removed."""
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    try:
        with open(fresh, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file, fresh
    finally:
        with contextlib.suppress(OSError):
            fresh.unlink()


def _finish(file: BinaryIO, *, synced: bool = True) -> None:
    """All of it on the disk: else a power cut can leave the new name with nothing in it."""
    if synced:
        file.flush()
        os.fsync(file.fileno())
    file.close()  # Windows renames no open file
