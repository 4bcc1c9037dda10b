"""What is done with the models on the shelf: delete them, check their bytes."""

import contextlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from llama_gui.errors import LoadCancelledError, ModelError, ShelfError
from llama_gui.library.hub_cache import BLOBS, HUB_PREFIX, SNAPSHOTS, shown_files, snapshot_of
from llama_gui.library.neighbours import Neighbour, keeper_of
from llama_gui.library.part_file import new_hash
from llama_gui.library.plan import is_companion
from llama_gui.library.shelf import check_safetensors, describe
from llama_gui.vocabulary import ModelEntry

_PIECE = 4 * 2**20
_MODEL_FILES = (
    "*.safetensors", "*.safetensors.index.json", "config.json", "generation_config.json", "tokenizer*",
    "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt", "chat_template.*", "pytorch_model*",
    "processor_config.json", "preprocessor_config.json",
    "README.md", "LICENSE*", "USE_POLICY.md", ".gitattributes",
)  # fmt: skip
"""What belongs to a model. Anything else in its folder is somebody's, and stays."""
_MODEL_FOLDERS = ("original", ".cache/huggingface")


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deletion did: bytes that are free now, and what was left where it is because it is no part of a model."""

    freed: int
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check found. `problems` is empty when all is well.

    `by_checksum` files were compared bit by bit with what the hub promised; of `by_shape` files no checksum is known,
    so only their form was looked at.
    """

    by_checksum: int
    by_shape: int
    problems: tuple[str, ...]


def check_deletable(entry: ModelEntry, folders: Sequence[Path], others: Sequence[Neighbour] = ()) -> None:
    """That the model `entry` may be deleted: it must lie in one of the shelf's `folders`, and in none of the `others`.

    Raises:
        ShelfError: it comes with the program, is kept by another one, or lies elsewhere.
    """
    if entry.is_starter:
        raise ShelfError("The starter model comes with llama-gui and cannot be deleted.")
    if keeper := keeper_of(entry.path, others):
        raise ShelfError(f"{entry.name} is kept by {keeper}. Delete it there.")
    _check_on_shelf(_target(entry), folders)


def delete(
    entry: ModelEntry, folders: Sequence[Path], others: Sequence[Neighbour] = (), locks: Path | None = None
) -> Deleted:
    """Delete the model `entry`, if `check_deletable` lets it; from the hub's cache in all revisions.

    Links are removed, never followed: what they lead to outside of the shelf stays. `locks`: the hub cache's folder of
    locks; a model that is being downloaded is not deleted.

    Raises:
        ShelfError: as `check_deletable` does; it is being downloaded, or the system refuses.
    """
    check_deletable(entry, folders, others)
    place, target = Path(os.path.abspath(entry.path)), _target(entry)
    snapshot = snapshot_of(place)
    try:
        if snapshot is not None:
            with not_downloading(target, locks or target.parent / ".locks"):
                return Deleted(_remove_cached(target, place.relative_to(snapshot)))
        if target.is_symlink() or target.is_file():
            return Deleted(_remove_file(target))
        return _remove_model_files(target)
    except OSError as error:
        raise ShelfError(
            f"{entry.name} cannot be deleted: {error.strerror or error} ({error.filename or target}). "
            "What was deleted before that is gone; delete it again when the cause is mended."
        ) from error


def verify(
    entry: ModelEntry,
    on_bytes: Callable[[int], None] = lambda _: None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Verified:
    """Read every byte of the model and compare with the hub's checksums where they are known.

    `on_bytes` hears how many more were read.

    Raises:
        LoadCancelledError: it was cancelled.
        ShelfError: the files cannot be read.
    """
    problems: list[str] = []
    counts = [0, 0]
    place = Path(entry.path)
    try:
        for file in [place] if place.is_file() else _files_of(place):
            promised = _promised_checksum(file, place)
            counts[promised is None] += 1
            fault = _shape_fault(file) if promised is None else _checksum_fault(file, promised, on_bytes, is_cancelled)
            if fault:
                problems.append(fault)
        if place.is_dir():
            describe(place)
    except ModelError as error:
        problems.append(str(error))
    except OSError as error:
        raise ShelfError(f"{entry.name} cannot be read: {error.strerror or error} ({error.filename}).") from error
    return Verified(counts[0], counts[1], tuple(dict.fromkeys(problems)))


def _target(entry: ModelEntry) -> Path:
    """What goes when it is deleted, of the hub's cache the repository."""
    place = Path(os.path.abspath(entry.path))
    snapshot = snapshot_of(place)
    return snapshot.parent.parent if snapshot else place


def _check_on_shelf(target: Path, folders: Sequence[Path]) -> None:
    """A shelf's model is one of its folders, or lies in one, at most one folder deeper; a file at most two."""
    roots = {os.path.realpath(folder) for folder in folders}
    # The parent is resolved, the last step is not: a link on the shelf is a thing of the shelf.
    here = Path(os.path.realpath(target.parent), target.name)
    near = [here, *list(here.parents)[: 3 if target.is_file() else 2]]
    if not any(str(place) in roots for place in near):
        raise ShelfError(f"{target} is not on the shelf, so it was not deleted. Delete it with the system's own tools.")


@contextlib.contextmanager
def not_downloading(repository: Path, locks: Path) -> Iterator[None]:
    """Keep everybody from downloading into a repository meanwhile. `locks`: the cache's folder of locks.

    Raises:
        ShelfError: somebody does it just now.
        OSError: a lock cannot be opened.
    """
    with contextlib.ExitStack() as held:
        for path in sorted((locks / repository.name).glob("*.lock")):
            try:
                held.enter_context(FileLock(path, timeout=0))
            except Timeout:
                raise ShelfError(
                    f"{repository.name.removeprefix(HUB_PREFIX).replace('--', '/')} is being downloaded just now. "
                    "Cancel the download first."
                ) from None
        yield


def _remove_cached(repository: Path, file: Path) -> int:
    """Remove a repository; of one with several GGUF files only that at the path `file`, in all revisions."""
    snapshots = list((repository / SNAPSHOTS).iterdir())
    found = [path.relative_to(one) for one in snapshots for path in one.glob("**/*.gguf")]
    others = [path for path in found if path != file and not is_companion(path.as_posix())]
    if file.suffix.lower() != ".gguf" or not others:
        return _remove_tree(repository)
    freed = 0
    # Not by a pattern: those pass over links whose end is gone, as these are one after the other.
    for pointer in [snapshot / file for snapshot in snapshots]:
        if not os.path.lexists(pointer):
            continue
        blob = Path(os.path.abspath(pointer.parent / os.readlink(pointer))) if pointer.is_symlink() else None
        freed += _remove_file(pointer)
        if blob is None or blob.parent != repository / BLOBS or not os.path.lexists(blob):
            continue
        status = blob.lstat()
        if (status.st_dev, status.st_ino) not in shown_files(repository):  # it may have another name, too
            freed += _remove_file(blob)
    return freed


def _remove_tree(folder: Path) -> int:
    """Remove `folder` with all that is in it; the bytes that are free then."""
    if folder.is_symlink():
        folder.unlink()
        return 0
    freed = 0
    for place, folders, files in os.walk(folder, topdown=False, followlinks=False):
        for name in files:
            freed += _remove_file(Path(place, name))
        for name in folders:
            path = Path(place, name)
            path.unlink() if path.is_symlink() else path.rmdir()
    folder.rmdir()
    return freed


def _remove_file(path: Path) -> int:
    status = path.lstat()
    path.unlink()
    # Another name of the same file keeps its bytes.
    return status.st_size if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else 0


def _remove_model_files(folder: Path) -> Deleted:
    freed = 0
    # The configuration first: from then on nobody takes the folder for a model, whatever happens.
    belonging = {path for pattern in _MODEL_FILES for path in folder.glob(pattern) if not path.is_dir()}
    for path in sorted(belonging, key=lambda path: (path.name != "config.json", path.name)):
        freed += _remove_file(path)
    for name in _MODEL_FOLDERS:
        if (folder / name).is_dir():
            freed += _remove_tree(folder / name)
    with contextlib.suppress(OSError):
        (folder / ".cache").rmdir()
    left = tuple(sorted(path.name for path in folder.iterdir()))
    if not left:
        folder.rmdir()
    return Deleted(freed, left)


def _files_of(folder: Path) -> list[Path]:
    return sorted({path for pattern in _MODEL_FILES for path in folder.glob(pattern) if path.is_file()})


def _promised_checksum(file: Path, folder: Path) -> str | None:
    """In the hub's cache a blob is called by its checksum; a folder that a hub tool made has notes."""
    names = [Path(os.readlink(file)).name] if file.is_symlink() else []
    with contextlib.suppress(OSError, IndexError):
        note = folder / ".cache" / "huggingface" / "download" / f"{file.name}.metadata"
        names.append(note.read_text(encoding="utf-8").splitlines()[1].strip())
    return next((n for n in names if len(n) in (40, 64) and all(mark in "0123456789abcdef" for mark in n)), None)


def _checksum_fault(
    file: Path, promised: str, on_bytes: Callable[[int], None], is_cancelled: Callable[[], bool]
) -> str:
    hasher = new_hash(promised, file.stat().st_size)
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE):
            if is_cancelled():
                raise LoadCancelledError("The check was cancelled.")
            hasher.update(piece)
            on_bytes(len(piece))
    if hasher.hexdigest() == promised:
        return ""
    return f"The file {file} is damaged: its bytes are not those of the hub. Delete the model and download it again."


def _shape_fault(file: Path) -> str:
    try:
        if file.suffix == ".safetensors":
            check_safetensors(file)
        elif file.suffix == ".gguf":
            describe(file)
        elif file.suffix == ".json":
            json.loads(file.read_bytes())
    except ModelError as error:
        return str(error)
    except (ValueError, RecursionError) as error:
        return f"The file {file} is damaged: it is not valid JSON ({error})."
    return ""
