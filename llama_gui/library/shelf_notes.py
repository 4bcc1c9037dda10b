"""What we note of the models on the shelf: what the user calls them, and when they were last used.

Files keep their names, because chats and other tools find them by those; and the time of the last reading that systems
keep changes whenever somebody looks.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from llama_gui.errors import InvalidRequestError, ShelfError
from llama_gui.files import write_whole

_MOST_BYTES = 16 * 2**20
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class ShelfNote:
    """One model: the name that the user gave it, "" for its own, and when it was last loaded."""

    name: str = ""
    last_used: datetime | None = None


def load_notes(file: Path) -> dict[str, ShelfNote]:
    """Real path -> note. Nothing for a file that is missing or damaged: then models have their own names."""
    with contextlib.suppress(OSError):
        return _read(file)[0]
    return {}


def _read(file: Path) -> tuple[dict[str, ShelfNote], bool]:
    """What can be understood of the file, and whether that is all of it. Raises OSError."""
    try:
        with file.open("rb") as stream:
            items = json.loads(stream.read(_MOST_BYTES)).items()
    except FileNotFoundError:
        return {}, True
    except (ValueError, RecursionError, AttributeError):
        return {}, False
    notes: dict[str, ShelfNote] = {}
    for path, note in items:
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            used = datetime.fromisoformat(note["used"]) if note.get("used") else None
            if isinstance(note["name"], str):
                notes[path] = ShelfNote(note["name"], used)
    return notes, len(notes) == len(items)


def names_in(notes: Mapping[str, ShelfNote]) -> dict[str, str]:
    """What `shelf.scan` and `shelf.name_of` take."""
    return {path: note.name for path, note in notes.items() if note.name}


def note_of(notes: Mapping[str, ShelfNote], path: str) -> ShelfNote:
    """The note of the model at `path`."""
    return notes.get(os.path.realpath(path), ShelfNote())


def rename(file: Path, path: str, name: str) -> dict[str, ShelfNote]:
    """Call the model at `path` `name` from now on, "" for its own name again; all notes that there are then.

    Raises:
        InvalidRequestError: that cannot be a name.
        ShelfError: the file of the notes cannot be written.
    """
    name = name.strip()
    if len(name) > _LONGEST or not name.isprintable():
        raise InvalidRequestError("name", name[:_LONGEST], f"one line of at most {_LONGEST} characters")
    notes = _to_change(file)
    return _save(file, notes | {os.path.realpath(path): replace(note_of(notes, path), name=name)})


def note_use(file: Path, path: str, now: datetime | None = None) -> dict[str, ShelfNote]:
    """The model at `path` was loaded now; all notes that there are then. Raises as `rename` does."""
    notes = _to_change(file)
    used = replace(note_of(notes, path), last_used=now or datetime.now(UTC))
    return _save(file, notes | {os.path.realpath(path): used})


def _to_change(file: Path) -> dict[str, ShelfNote]:
    """The notes as they are. A file that is not understood is set aside, because the next save would replace it."""
    try:
        notes, is_whole = _read(file)
        if not is_whole:
            os.replace(file, file.with_name(f"{file.name}.broken"))
    except OSError as error:
        raise ShelfError(
            f"What was noted in {file} cannot be read: {error.strerror or error}. Nothing was noted."
        ) from error
    return notes


def _save(file: Path, notes: dict[str, ShelfNote]) -> dict[str, ShelfNote]:
    kept = {path: note for path, note in notes.items() if note != ShelfNote()}
    values = {
        path: {"name": note.name, "used": note.last_used.isoformat() if note.last_used else ""}
        for path, note in kept.items()
    }
    try:
        write_whole(file, json.dumps(values, indent=1).encode())  # ASCII, because paths are not always Unicode
    except OSError as error:
        raise ShelfError(f"What you noted cannot be written to {file}: {error.strerror or error}.") from error
    return kept
