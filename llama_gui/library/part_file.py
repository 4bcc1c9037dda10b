"""A file that is not all there yet: how many of its bytes are safe on disk, whatever ended the program."""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from llama_gui.files import sync_folder

DURABLE_STEP = 4 * 2**20
"""After so many bytes what was written is forced to the disk and noted. A kill repeats fewer for each open file."""

_PIECE = 2**20
_DIGITS = 20


class PartFile:
    """The beginning of a file, beside the name it will have: ``NAME.incomplete``, as other tools call theirs.

    How much of it the disk surely has stands in ``NAME.offset.incomplete``: after a power cut the end of a file may be
    of the right length and all zeros. What lies behind that mark is fetched again. One owner at a time.
    """

    def __init__(self, target: Path, size: int, checksum: str, durable_step: int = DURABLE_STEP) -> None:
        """`size` in bytes and `checksum` (SHA-256, or git SHA-1 by its length) are those of the whole file."""
        self.path = target.with_name(target.name + ".incomplete")
        self._target = target
        self._mark_path = target.with_name(target.name + ".offset.incomplete")
        self._size = size
        self._checksum = checksum
        self._step = durable_step
        self._hash = self._new_hash()
        self._file = -1
        self._mark = -1
        self.offset = 0
        self._durable = 0

    def open(self) -> Iterator[int]:
        """Take up what is there. Yields the bytes as they are read again for the checksum; stop whenever you like."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, _FLAGS, 0o644)
        self._mark = os.open(self._mark_path, _FLAGS, 0o644)
        found = min(self._noted(), os.fstat(self._file).st_size, self._size)
        os.ftruncate(self._file, found)
        self._durable = found
        while self.offset < found:
            piece = os.read(self._file, min(_PIECE, found - self.offset))
            if not piece:
                raise OSError(f"{self.path} became shorter while it was read")
            self._hash.update(piece)
            self.offset += len(piece)
            yield len(piece)

    def write(self, piece: bytes) -> None:
        """Append."""
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(self._file, rest) :]
        self._hash.update(piece)
        self.offset += len(piece)
        if self.offset - self._durable >= self._step:
            self._make_durable()

    def restart(self) -> None:
        """Forget all of it."""
        self._note(0)
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        self._hash = self._new_hash()
        self.offset = self._durable = 0

    def is_sound(self) -> bool:
        """Whether it is whole and what was promised."""
        return self.offset == self._size and self._hash.hexdigest() == self._checksum

    def finish(self) -> None:
        """Give the whole file its name. Only for one that `is_sound`."""
        _sync(self._file)
        self._close()
        os.replace(self.path, self._target)
        self._mark_path.unlink(missing_ok=True)
        sync_folder(self._target.parent)

    def pause(self) -> None:
        """Close it so that `open` goes on where it is. A disk that refuses costs what came after the last mark."""
        with contextlib.suppress(OSError):
            if self._file >= 0 and self.offset > self._durable:
                self._make_durable()
        self._close()

    def drop(self) -> None:
        """Remove it."""
        self._close()
        self.path.unlink(missing_ok=True)
        self._mark_path.unlink(missing_ok=True)

    def _make_durable(self) -> None:
        _sync(self._file)
        self._note(self.offset)
        self._durable = self.offset

    def _note(self, offset: int) -> None:
        # A few bytes at a fixed place: a disk writes its sector whole or not at all.
        os.lseek(self._mark, 0, os.SEEK_SET)
        os.write(self._mark, f"{offset:0{_DIGITS}}\n".encode())
        _sync(self._mark)

    def _noted(self) -> int:
        text = os.read(self._mark, _DIGITS)
        return int(text) if len(text) == _DIGITS and text.isdigit() else 0

    def _close(self) -> None:
        for handle in (self._file, self._mark):
            if handle >= 0:
                os.close(handle)
        self._file = self._mark = -1

    def _new_hash(self) -> "hashlib._Hash":
        return new_hash(self._checksum, self._size)


def new_hash(checksum: str, size: int) -> "hashlib._Hash":
    """The function that made `checksum` of a file of `size` bytes, before it has seen any."""
    if len(checksum) == 64:
        return hashlib.sha256()
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)  # git's


def noted_bytes(target: Path) -> int:
    """How many bytes of an unfinished `target` would not be fetched again."""
    try:
        text = target.with_name(target.name + ".offset.incomplete").read_bytes()[:_DIGITS]
        size = target.with_name(target.name + ".incomplete").stat().st_size
    except OSError:
        return 0
    return min(int(text), size) if text.isdigit() else 0


_FLAGS = (
    os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
)


def _sync(handle: int) -> None:
    getattr(os, "fdatasync", os.fsync)(handle)
