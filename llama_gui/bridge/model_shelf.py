"""What models are on this machine, and what is done with them: found, named, checked, deleted, off the GUI thread."""

import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

from llama_gui.bridge.lanes import Lanes
from llama_gui.errors import LlamaGuiError, LoadCancelledError, ShelfError
from llama_gui.library import shelf, shelf_care, shelf_notes
from llama_gui.library.gguf_check import GgufChecks
from llama_gui.library.model_shape import ModelShape
from llama_gui.library.neighbours import Neighbour, keeper_of, neighbours
from llama_gui.library.quantisation import is_fp8, unread_method
from llama_gui.library.shape_reader import shape_of
from llama_gui.library.shelf_care import Deleted, Verified
from llama_gui.vocabulary import ModelEntry

_MOST_JSON_BYTES = 2**20
_REPORT_BYTES = 64 * 2**20
_GGUF_BITS = {"q4_": 4.9, "q5_": 5.7, "q6_": 6.6, "q8_": 8.5, "bf16": 16.0, "f16": 16.0, "fp16": 16.0, "f32": 32.0}
"""Bits of one number on average, by what the names of GGUF files say."""


@dataclass(frozen=True, slots=True)
class ShelfItem:
    """One model. `shape` and `context` (tokens): as far as its config.json tells.

    Of a GGUF file the shape is guessed from its size (`is_guessed`), None where its name does not say how it is packed.
    `unread`: the method by which its weights are stored, where the engine does not read it. `keeper`: the program that
    keeps it, where that is not us. `why_kept`: why it cannot be deleted here; "": it can.
    """

    entry: ModelEntry
    last_used: datetime | None = None
    shape: ModelShape | None = None
    context: int = 0
    is_guessed: bool = False
    unread: str = ""
    keeper: str = ""
    why_kept: str = ""


class ModelShelf(QObject):
    """The shelf on a thread of its own. Every method is called on the GUI thread and returns at once.

    `places` are the folders that every shelf has, `notes_file` holds the user's names.
    """

    changed = Signal(object)
    """tuple[ShelfItem]: what is there now."""
    deleted = Signal(object, object)
    """`ModelEntry` and `Deleted`."""
    verifying = Signal(str, object, object)
    """The path of the model whose bytes are read, how many were, and how many there are."""
    verified = Signal(object, object)
    """`ModelEntry` and `Verified`; None: it was cancelled."""
    looked_at = Signal(object)
    """`ModelEntry` of a file or folder that was shown to us: it can be opened."""
    look_failed = Signal(str)
    """It cannot be opened, and why."""
    failed = Signal(str)
    _read = Signal(str, object, object)

    def __init__(self, places: Sequence[Path], starter: Path, notes_file: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._places = tuple(places)
        self._starter = starter
        self._notes_file = notes_file
        self._opened: tuple[str, ...] = ()
        self._items: tuple[ShelfItem, ...] = ()
        self._lanes = Lanes(self)
        self.checks = GgufChecks()
        self._cancelled = threading.Event()
        self._read.connect(self.verifying, Qt.ConnectionType.QueuedConnection)

    @property
    def items(self) -> tuple[ShelfItem, ...]:
        """What was found by the last scan."""
        return self._items

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where models are looked for."""
        return (*self._places, *map(Path, self._opened))

    def set_opened(self, places: Sequence[str]) -> None:
        """The folders and files that the user has added or opened, which belong to the shelf too."""
        self._opened = tuple(dict.fromkeys(places))

    def scan(self) -> None:
        """Look; `changed` tells."""
        folders = self.folders
        self._run(lambda: self._scan(folders), self._on_scanned)

    def _scan(self, folders: Sequence[Path]) -> tuple[ShelfItem, ...]:
        notes = shelf_notes.load_notes(self._notes_file)
        others = neighbours()
        places = [neighbour.folder for neighbour in others]
        entries = shelf.scan(folders, self._starter, shelf_notes.names_in(notes), places, self.checks.check)
        return tuple(
            ShelfItem(
                entry,
                shelf_notes.note_of(notes, entry.path).last_used,
                *_shape_of(entry),
                keeper_of(entry.path, others),
                _why_kept(entry, folders, others),
            )
            for entry in entries
        )

    @Slot(object)
    def _on_scanned(self, items: tuple[ShelfItem, ...]) -> None:
        self._items = items
        self.changed.emit(items)

    def rename(self, entry: ModelEntry, name: str) -> None:
        """Call it so; "" is its own name again."""
        self._run(lambda: shelf_notes.rename(self._notes_file, entry.path, name), self._on_noted)

    def note_use(self, path: str) -> None:
        """It was loaded now."""
        self._run(lambda: shelf_notes.note_use(self._notes_file, path), lambda _: None)

    @Slot(object)
    def _on_noted(self, _notes: object) -> None:
        self.scan()

    def delete(self, entry: ModelEntry) -> None:
        """Delete its files, if it lies on the shelf."""
        folders = self.folders
        self._run(lambda: shelf_care.delete(entry, folders, neighbours()), lambda done: self._on_deleted(entry, done))

    def _on_deleted(self, entry: ModelEntry, done: Deleted) -> None:
        self.deleted.emit(entry, done)
        self.scan()

    def look_at(self, path: str) -> None:
        """Whether this file or folder is a model; `looked_at` or `look_failed` tells."""
        self._lanes.run("shelf", lambda: shelf.describe(Path(path)), self.looked_at.emit, self._on_look_failed)

    @Slot(object)
    def _on_look_failed(self, error: Exception) -> None:
        self.look_failed.emit(str(error))

    def verify(self, entry: ModelEntry) -> None:
        """Read all of its bytes and compare; `verifying` and `verified` tell. The one before is cancelled."""
        self.cancel_verify()
        cancelled = self._cancelled = threading.Event()
        total = max(entry.size, 1)
        done = told = 0

        def on_bytes(count: int) -> None:
            nonlocal done, told
            done += count
            if done - told >= _REPORT_BYTES:
                told = done
                self._read.emit(entry.path, done, total)

        def work() -> Verified | None:
            try:
                return shelf_care.verify(entry, on_bytes, cancelled.is_set)
            except LoadCancelledError:
                return None

        self._read.emit(entry.path, 0, total)
        self._run(work, lambda found: self.verified.emit(entry, found), lane="shelf-verify")

    def cancel_verify(self) -> None:
        """Read no further."""
        self._cancelled.set()

    def close(self) -> bool:
        """End the threads; False: one of them still waits for the disk."""
        self.cancel_verify()
        return self._lanes.close()

    def _run(self, work: Callable[[], Any], done: Callable[[Any], None], lane: str = "shelf") -> None:
        self._lanes.run(lane, work, done, self._on_failed)

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(str(error))


def _why_kept(entry: ModelEntry, folders: Sequence[Path], others: Sequence[Neighbour]) -> str:
    try:
        shelf_care.check_deletable(entry, folders, others)
    except ShelfError as error:
        return str(error)
    return ""


def _shape_of(entry: ModelEntry) -> tuple[ModelShape | None, int, bool, str]:
    """A model's form and context, whether they are guessed, and `unread`; (None, 0, …) where nobody knows."""
    if entry.path.lower().endswith(".gguf"):
        name = os.path.basename(entry.path).lower()
        bits = next((bits for kind, bits in _GGUF_BITS.items() if kind in name), 0.0)
        return (ModelShape.guess(round(entry.size * 8 / bits), name) if bits else None), 0, True, ""
    try:
        with open(os.path.join(entry.path, "config.json"), "rb") as file:
            config = json.loads(file.read(_MOST_JSON_BYTES))
        context = config.get("max_position_embeddings")
        unread = unread_method(config, in_fp8=is_fp8(config))
        return shape_of(config), context if isinstance(context, int) else 0, False, unread
    except (OSError, ValueError, RecursionError, AttributeError, LlamaGuiError):
        return None, 0, False, ""
