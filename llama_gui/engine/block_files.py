"""Files of keys and values: one for each block of tokens, found by its name, the longest unused deleted first.

As vLLM's cache of prefixes, with LMCache's disk behind it: the name of a block is made from all tokens up to its end,
so chats that begin alike share their files. A file that is damaged, gone or not writable costs time only.
"""

import contextlib
import logging
import os
import shutil
import struct
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from llama_gui.files import open_whole
from llama_gui.prompt_folder import begin, mark_of

T = TypeVar("T")

_log = logging.getLogger(__name__)

_HEAD = struct.Struct("<8sI")
_MAGIC = b"llgkv01\n"
_ENDING, _FRESH = ".kv", ".new"
THREADS = "llama-gui-prompts"
"""How the names of the threads begin that read and write."""
AT_ONCE = 4
"""Blocks that wait to be written: their memory is nobody's budget."""
_UNUSED_DAYS = 30
_SHARE_OF_DISK = 0.1
"""Never more of what the disk has free, whatever is allowed."""
_PRUNED_TO = 0.9


@dataclass(frozen=True, slots=True)
class _Kept:
    """A file: how old, how deep in its conversation, how large."""

    used: float
    depth: int
    size: int
    path: Path


class BlockFiles:
    """The files in one folder, which other processes may use at the same time.

    For one thread. It never waits for a file: one thread of ours reads, and another one writes.

    Args:
        folder: made with the first file.
        byte_limit: of all files together; a tenth of what the disk has free besides, if that is less.
    """

    def __init__(self, folder: Path, byte_limit: int) -> None:
        self.on_done: Callable[[], None] = _nobody
        """Called in the thread that reads or writes, after each file."""
        self._folder = folder
        self._byte_limit = byte_limit
        self._looking = threading.Lock()  # while the folder is looked through
        self._lock = threading.Lock()  # of what follows; held for moments
        self._names: set[str] | None = None
        self._total = 0
        self._unseen = 0  # bytes that were written since the folder was looked through
        self._writing: deque[Future[None]] = deque()
        self._writer: ThreadPoolExecutor | None = None
        self._reader: ThreadPoolExecutor | None = None
        self._failed = self._closed = False
        self._mark = ""  # of the folder, as it was when it was looked through
        self._emptied = 0  # how often it was, since

    def notice_emptied(self) -> bool:
        """Whether somebody has emptied the folder since it was last looked at. Then nothing is known of it."""
        with self._lock:
            if not self._mark or mark_of(self._folder) == self._mark:
                return False
            self._names, self._mark = None, ""
            self._emptied += 1
            return True

    @property
    def has_room(self) -> bool:
        """Whether `write` may be called now: not while too many blocks wait for a slow disk."""
        while self._writing and self._writing[0].done():
            self._writing.popleft()
        return len(self._writing) < AT_ONCE

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits to be written."""
        return all(one.done() for one in self._writing)

    @property
    def is_usable(self) -> bool:
        """Whether anything can be kept: some room is allowed, and the disk has taken what it was given."""
        return self._byte_limit > 0 and not self._failed and not self._closed

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to be found."""
        return not self._known()

    def has(self, name: str) -> bool:
        """Whether a block of this name was there when last looked, or is on its way to the disk."""
        return name in self._known()

    def ones_like(self, is_one: Callable[[str], bool]) -> list[str]:
        """The names of those that `is_one` accepts, as `has` knows them."""
        names = self._known()
        with self._lock:
            return list(filter(is_one, names))

    def read(self, name: str, size: int) -> bytearray | None:
        """The bytes of a block, if they are all there and what was written; else its file goes."""
        try:
            content = bytearray(size)
            with open(self._path(name), "rb") as file:
                head, count, is_all = file.read(_HEAD.size), file.readinto(content), not file.read(1)
            if is_all and count == size and _HEAD.unpack(head) == (_MAGIC, zlib.crc32(content)):
                return content
        except (OSError, struct.error):
            pass
        except MemoryError:  # its file may well be sound
            return None
        with self._lock:
            (self._names or set()).discard(name)
        with contextlib.suppress(OSError):
            self._path(name).unlink()
        return None

    def fetch(self, name: str, size: int) -> Future[bytearray | None]:
        """Begin to `read`, in another thread."""
        if self._reader is None:
            self._reader = ThreadPoolExecutor(1, THREADS + "-reader")
        return self._begun(self._reader, self.read, name, size)

    def write(self, name: str, content: bytes, used: float) -> None:
        """Have a block written soon, in another thread. `used`: see `use`."""
        with self._lock:
            if self._names is not None:
                self._names.add(name)
        self._submit(self._write, name, content, used, self._emptied)

    def tidy(self) -> None:
        """Look through the folder, in another thread, and delete what is too old or too much."""
        if self._folder.is_dir():
            self._submit(self._tidy)

    def _submit(self, work: Callable[..., None], *arguments: object) -> Future[None]:
        if self._closed:
            return _nothing()
        if self._writer is None:
            self._writer = ThreadPoolExecutor(1, THREADS + "-writer")
        coming = self._begun(self._writer, work, *arguments)
        self._writing.append(coming)
        return coming

    def _begun(self, thread: ThreadPoolExecutor, work: Callable[..., T], *arguments: object) -> Future[T]:
        try:
            coming = thread.submit(work, *arguments)
        except RuntimeError:  # Python is about to end
            self._closed = True
            return _nothing()
        coming.add_done_callback(lambda _coming: self.on_done())
        return coming

    def use(self, names: Sequence[str], used: float) -> Future[None]:
        """These were of use at this time, in seconds since 1970: others are deleted before them.

        All blocks of a conversation get the same time, so that its end goes before its beginning. Those that another
        process has deleted are known no longer when the result is there; it comes from the thread that writes.
        """
        return self._submit(self._use, names, used)

    def forget(self, names: Sequence[str]) -> None:
        """Have these deleted, in another thread."""
        if names:
            self._submit(self._forget, names)

    def close(self) -> None:
        """Finish the files that are being read and written; those that wait are not begun."""
        self._closed = True
        for thread in (self._reader, self._writer):
            if thread is not None:
                thread.shutdown(cancel_futures=True)
        self._reader = self._writer = None
        self._writing.clear()

    def _path(self, name: str) -> Path:
        return self._folder / (name + _ENDING)

    def _known(self) -> set[str]:
        """Raises nothing: a folder that cannot be read holds nothing."""
        with self._looking:
            names = self._names
            return self._look_through() if names is None else names

    def _look_through(self) -> set[str]:
        mark = mark_of(self._folder)
        kept = self._scan()
        if not mark:  # what was left when it was emptied
            for one in kept:
                one.path.unlink(missing_ok=True)
            kept = []
        with self._lock:
            self._mark = mark
            self._names = names = {one.path.stem for one in kept}
            self._total = sum(one.size for one in kept)
        return names

    # --- the thread that writes

    def _use(self, names: Sequence[str], used: float) -> None:
        for name in names:
            try:
                os.utime(self._path(name), (used, used))
            except FileNotFoundError:  # none is on its way: this thread would have written it before
                with self._lock:
                    (self._names or set()).discard(name)
            except OSError:
                pass

    def _write(self, name: str, content: bytes, used: float, emptied: int) -> None:
        try:
            if self._failed or not self._is_wanted(emptied):
                return
            self._put(name, content)
            with contextlib.suppress(OSError):
                os.utime(self._path(name), (used, used))
            with self._lock:
                self._total += len(content)
                self._unseen += len(content)
                limit = self._limit()
            if self._total > limit or self._unseen > limit * (1 - _PRUNED_TO):  # others write, too
                self._prune()
        except FileNotFoundError:  # the folder was emptied meanwhile
            pass
        except OSError as error:
            self._failed = True  # until the next start
            _log.warning("What was read cannot be kept in %s: %s", self._folder, error)
            with contextlib.suppress(OSError):
                self._prune()  # a full disk needs the room

    def _forget(self, names: Sequence[str]) -> None:
        for name in names:
            path = self._path(name)
            with contextlib.suppress(OSError):
                self._delete(_Kept(0, 0, path.stat().st_size - _HEAD.size, path))

    def _is_wanted(self, emptied: int) -> bool:
        """Whether the folder was not emptied since a block was handed over. The first one makes it."""
        with self._lock:
            if emptied != self._emptied:
                return False
            if not self._mark:
                self._mark = begin(self._folder)
            return mark_of(self._folder) == self._mark

    def _put(self, name: str, content: bytes) -> None:
        with open_whole(self._path(name), synced=False) as file:
            file.write(_HEAD.pack(_MAGIC, zlib.crc32(content)))
            file.write(content)

    def _tidy(self) -> None:
        with contextlib.suppress(OSError):
            self._known()
            if self._total > self._limit():
                self._prune()

    def _limit(self) -> float:
        free = shutil.disk_usage(self._folder).free
        return min(self._byte_limit, _SHARE_OF_DISK * (free + self._total))

    def _prune(self) -> None:
        """Delete what was not used for long, of a conversation its end first."""
        kept = sorted(self._scan(), key=lambda one: (one.used, -one.depth))
        with self._lock:
            self._total, self._unseen = sum(one.size for one in kept), 0
        limit = self._limit()
        for one in kept if self._total > limit else []:
            if self._total <= limit * _PRUNED_TO:
                return
            self._delete(one)

    def _scan(self) -> list[_Kept]:
        """What is there, without what is older than anybody needs, which is deleted."""
        kept: list[_Kept] = []
        oldest = time.time() - _UNUSED_DAYS * 86400
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError, ValueError):
                        facts = entry.stat()
                        path = Path(entry.path)
                        is_left_over = path.suffix == _FRESH and facts.st_mtime < time.time() - 3600
                        if is_left_over or (path.suffix == _ENDING and facts.st_mtime < oldest):
                            path.unlink()
                        elif path.suffix == _ENDING:
                            depth = int(path.stem.partition("-")[0])
                            kept.append(_Kept(facts.st_mtime, depth, facts.st_size, path))
        except OSError:
            return kept
        return kept

    def _delete(self, one: _Kept) -> None:
        try:
            one.path.unlink(missing_ok=True)
        except OSError:  # Windows: another process reads it
            return
        with self._lock:
            self._total -= one.size
            (self._names or set()).discard(one.path.stem)


def _nothing() -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(None)
    return future


def _nobody() -> None:
    """Nobody waits."""
