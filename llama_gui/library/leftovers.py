"""What broken and abandoned downloads have left in the hub's cache: bytes that no model shows."""

import contextlib
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from llama_gui.errors import ShelfError
from llama_gui.library.hub_cache import BLOBS, HUB_PREFIX, SNAPSHOTS, shown_files
from llama_gui.library.shelf_care import not_downloading


@dataclass(frozen=True, slots=True)
class Leftover:
    """What lies unused in the folder of one repository. `size` in bytes; `written`: when last something was.

    `is_unfinished`: there is a file of which a part is missing. Else all are whole, as those of an old revision are.
    """

    repo: str
    folder: Path
    size: int
    written: datetime
    is_unfinished: bool


def find_leftovers(folders: Sequence[Path]) -> list[Leftover]:
    """Those in `folders`, each of which may be a cache of the hub; by their names. What cannot be read is left out."""
    found: list[Leftover] = []
    for repository in _repositories(folders):
        with contextlib.suppress(OSError):
            paths = _unshown(repository)
            files = [path.lstat() for path in paths]
            if files:
                written = datetime.fromtimestamp(max(status.st_mtime for status in files)).astimezone()
                size = sum(status.st_size for status in files)
                is_unfinished = any(path.suffix == ".incomplete" for path in paths)
                found.append(Leftover(_repo_of(repository), repository, size, written, is_unfinished))
    return sorted(found, key=lambda leftover: (leftover.repo.casefold(), leftover.folder))


def free_leftover(leftover: Leftover) -> int:
    """Delete what is unused there now; the bytes that are free then. Finished models stay as they are.

    Raises:
        ShelfError: it is being downloaded, or the system refuses.
    """
    folder, freed = leftover.folder, 0
    try:
        with not_downloading(folder, folder.parent / ".locks"):
            for file in _unshown(folder):
                freed += file.lstat().st_size
                file.unlink()
    except OSError as error:
        raise ShelfError(
            f"What is left of {leftover.repo} cannot be deleted: {error.strerror or error} "
            f"({error.filename or folder})."
        ) from error
    for empty in (folder / BLOBS, folder / SNAPSHOTS, folder):
        with contextlib.suppress(OSError):  # not empty, or never made
            empty.rmdir()
    return freed


def _repositories(folders: Sequence[Path]) -> Iterable[Path]:
    found: dict[str, Path] = {}
    for folder in folders:
        with contextlib.suppress(OSError, ValueError):  # ValueError: a path that no system can have
            for path in (folder, *folder.iterdir()):
                if path.name.startswith(HUB_PREFIX) and (path / BLOBS).is_dir():
                    found.setdefault(os.path.realpath(path), path)
    return found.values()


def _repo_of(repository: Path) -> str:
    return repository.name.removeprefix(HUB_PREFIX).replace("--", "/")


def _unshown(repository: Path) -> list[Path]:
    """The blobs, whole or not, to which no file of a snapshot leads, by whatever kind of link.

    Raises:
        OSError: a snapshot cannot be read, so nobody can tell.
    """
    shown = set(shown_files(repository))
    blobs = [(path, path.lstat()) for path in (repository / BLOBS).iterdir()]
    return [
        path for path, status in blobs if stat.S_ISREG(status.st_mode) and (status.st_dev, status.st_ino) not in shown
    ]
