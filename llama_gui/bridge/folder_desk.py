"""The folders of documents that chats use: read beside the window, one file at a time, and asked."""

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from llama_gui.bridge.tasks import TaskLane
from llama_gui.chats.folder_index import FolderContents, FolderIndex, Problem
from llama_gui.chats.fusion import fused
from llama_gui.chats.passages import Beginning, Found
from llama_gui.chats.ranking import Asked
from llama_gui.errors import StoreError

AGAIN_S = 10.0
"""For this long after it was read a folder is not looked at again."""
KEPT_DAYS = 90
"""The index of a folder that no chat has used for this long is deleted."""
_TELL_S = 0.1

FindNear = Callable[[str], Sequence[Found]]
"""The passages of a folder whose meaning is near that of a question, the nearest first. It raises nothing."""


@dataclass(frozen=True, slots=True)
class MeaningState:
    """How many passages of a folder can be found by meaning, and how many there are; 0: nothing reads them, or not yet.

    `error`: why it does not go on.
    """

    done: int = 0
    total: int = 0
    error: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left to be read."""
        return self.done == self.total


@dataclass(frozen=True, slots=True)
class FolderState:
    """The state of a folder. `done` of `total` files are read while it `is_reading`; `error`: why it cannot be read.

    `others`: how many files are pictures, recordings and the like.
    """

    files: int = 0
    problems: tuple[Problem, ...] = ()
    others: int = 0
    is_cut: bool = False
    is_reading: bool = False
    done: int = 0
    total: int = 0
    is_missing: bool = False
    is_stopped: bool = False
    """The user has stopped the reading; questions use what was read by then."""
    error: str = ""
    meaning: MeaningState = MeaningState()


@dataclass(frozen=True, slots=True)
class _Read:
    folder: str
    is_there: bool
    contents: FolderContents


class FolderReader:
    """What was read of a folder, for any thread. Where its file cannot be opened it finds nothing: reading the folder
    reports the error, and questions go without passages.
    """

    def __init__(self, name: str, index: FolderIndex, find_near: FindNear | None = None) -> None:
        self.name = name
        self._index = index
        self._find_near = find_near

    def find(self, question: str, former: Sequence[str] = ()) -> Sequence[Found]:
        """The passages that fit a question, the best first. "Thank you!" has no meaning that could be looked for."""
        by_words: Sequence[Found] = ()
        with contextlib.suppress(StoreError):
            by_words = self._index.find(question, former)
        if self._find_near is None or not Asked.of(question).own:
            return by_words
        return fused(by_words, self._find_near(question))

    def names(self) -> Sequence[str]:
        """The files that were read, in order."""
        with contextlib.suppress(StoreError):
            return self._index.names()
        return ()

    def beginnings(self, names: Sequence[str], most: int) -> Sequence[Beginning]:
        """How these files begin."""
        with contextlib.suppress(StoreError):
            return self._index.beginnings(names, most)
        return ()


class FolderDesk(QObject):
    """Keeps what was read of each folder in a file in `root`. All methods are called on the GUI thread.

    Several chats may use one folder; when the last lets go of it, its reading ends.
    """

    changed = Signal(str)
    """The folder whose state is another."""
    was_read = Signal(str)
    """The folder that was looked through for changes, or where that failed or was stopped."""
    question_expected = Signal(str)
    """A message is being written in a chat that uses this folder, or none: "". Comes with each key."""
    _told = Signal(str, int, int)

    def __init__(self, root: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root = root
        self.finder: Callable[[str], FindNear | None] = lambda _folder: None  # who finds by meaning, see `MeaningDesk`
        self._lane: TaskLane | None = None
        self._held: dict[str, str] = {}  # chat -> folder
        self._states: dict[str, FolderState] = {}
        self._reading: dict[str, threading.Event] = {}
        self._read_at: dict[str, float] = {}
        self._awaited: set[str] = set()  # wanted again while their reading is being ended because nobody wanted it
        self._closed = False
        self._told.connect(self._on_told)

    def state(self, folder: str) -> FolderState:
        """How it stands with a folder."""
        return self._states.get(folder, FolderState())

    def hold(self, chat_id: str, folder: str) -> None:
        """Let a chat use a folder, which is read for it; "": none any more."""
        former = self._held.pop(chat_id, "")
        if folder:
            self._held[chat_id] = folder
            if folder != former:
                self.read(folder)
        if former and former not in self._held.values():
            self._put(former, replace(self.state(former), is_stopped=False))
            if former in self._reading:
                self._reading[former].set()

    def read(self, folder: str, *, again: bool = False) -> None:
        """Look for what has changed in a folder, and read that.

        `again`: also if that was done just now, or stopped, and also what could not be read.
        """
        is_fresh = time.monotonic() - self._read_at.get(folder, -AGAIN_S) < AGAIN_S
        if folder in self._reading and self._reading[folder].is_set():
            self._awaited.add(folder)
        if self._closed or folder in self._reading or ((is_fresh or self.state(folder).is_stopped) and not again):
            return
        if self._lane is None:
            self._lane = TaskLane("document-folders", self)
            self._lane.run(self._forget_old, None, self._ignore)
        cancelled = self._reading[folder] = threading.Event()
        self._put(folder, replace(self.state(folder), is_reading=True, is_stopped=False, done=0, total=0))
        self._lane.run(partial(self._read, folder, cancelled, again), self._on_read, partial(self._on_failed, folder))

    def is_held(self, folder: str) -> bool:
        """Whether a chat uses a folder."""
        return folder in self._held.values()

    def set_meaning(self, folder: str, meaning: MeaningState) -> None:
        """Say how much of a folder can be found by meaning."""
        self._put(folder, replace(self.state(folder), meaning=meaning))

    def stop(self, folder: str) -> None:
        """Read no more of a folder until somebody says so."""
        if folder in self._reading:
            self._reading[folder].set()
            self._put(folder, replace(self.state(folder), is_stopped=True))

    def reader(self, folder: str) -> FolderReader:
        """Finds passages in what was read so far of a folder, for one question."""
        return FolderReader(Path(folder).name or folder, self.index(folder), self.finder(folder))

    def index(self, folder: str) -> FolderIndex:
        """What was read of a folder. Safe from any thread."""
        name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]
        return FolderIndex(self._root / f"{name}.db", Path(folder))

    def close(self, timeout_s: float = 1.0) -> bool:
        """Give up what is being read; what was read is kept. False: a disk hangs."""
        self._closed = True
        for cancelled in self._reading.values():
            cancelled.set()
        return self._lane is None or self._lane.close(timeout_s)

    # --- in the lane's thread

    def _read(self, folder: str, cancelled: threading.Event, retry: bool) -> _Read:
        index, told_at = self.index(folder), -_TELL_S

        def tell(done: int, total: int) -> None:
            nonlocal told_at
            if time.monotonic() - told_at >= _TELL_S:
                told_at = time.monotonic()
                self._told.emit(folder, done, total)

        is_there = not cancelled.is_set() and index.refresh(cancelled, tell, retry=retry)
        return _Read(folder, is_there or cancelled.is_set(), index.contents())

    def _forget_old(self) -> None:
        for file in self._root.glob("*.db") if self._root.is_dir() else ():
            with contextlib.suppress(OSError):
                if time.time() - file.stat().st_mtime > KEPT_DAYS * 86_400:
                    for part in self._root.glob(f"{file.name}*"):  # with what SQLite has beside it
                        part.unlink()

    # --- told

    def _put(self, folder: str, state: FolderState) -> None:
        if state != self.state(folder):
            self._states[folder] = state
            self.changed.emit(folder)

    @Slot(str, int, int)
    def _on_told(self, folder: str, done: int, total: int) -> None:
        if folder in self._reading:
            self._put(folder, replace(self.state(folder), done=done, total=total))

    @Slot(object)
    def _on_read(self, read: _Read) -> None:
        contents, former = read.contents, self.state(read.folder)
        state = FolderState(contents.files, contents.problems, contents.others, contents.is_cut)
        is_stopped, meaning = former.is_stopped, former.meaning
        if meaning.total != contents.passages:  # what reads them says how many are left
            meaning = MeaningState()
        self._end(read.folder, replace(state, is_missing=not read.is_there, is_stopped=is_stopped, meaning=meaning))

    def _on_failed(self, folder: str, error: Exception) -> None:
        self._end(folder, replace(self.state(folder), is_reading=False, error=str(error)))

    def _end(self, folder: str, state: FolderState) -> None:
        if not self._reading.pop(folder).is_set():
            self._read_at[folder] = time.monotonic()
        self._put(folder, state)
        self.was_read.emit(folder)
        if folder in self._awaited:
            self._awaited.remove(folder)
            self.read(folder)

    @Slot(object)
    def _ignore(self, _error: Exception) -> None:
        """Old files stay a while longer."""
