"""What models are on disk: folders in Hugging Face layout, and the hub's own cache."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from llama_gui.errors import BrokenModelError, ModelError, ModelNotFoundError
from llama_gui.vocabulary import ModelEntry

STARTER_NAME = "Starter model"

_CONFIG = "config.json"
_INDEX = "model.safetensors.index.json"
_HUB_PREFIX = "models--"
_SNAPSHOTS = "snapshots"


def scan(folders: Sequence[Path], starter: Path) -> list[ModelEntry]:
    """Every usable model in `folders`: the starter model first, the others by name.

    A folder may be a model itself, hold models one level down, or be the hub's cache. What cannot be read or used is
    left out: one bad folder must not hide the good ones.
    """
    starters = [replace(entry, name=STARTER_NAME, is_starter=True) for entry in _usable([starter])]
    found = _usable(candidate for folder in folders for candidate in _candidates(folder))
    taken = {os.path.realpath(entry.path) for entry in starters}
    others: list[ModelEntry] = []
    for entry in found:
        place = os.path.realpath(entry.path)
        if place not in taken:
            taken.add(place)
            others.append(entry)
    return starters + sorted(_told_apart(others), key=lambda entry: (entry.name.casefold(), entry.path))


def name_of(path: str | Path, starter: Path) -> str:
    """What a model folder is called wherever the user sees it; the folder need not be there."""
    folder = _absolute(Path(path))
    return STARTER_NAME if os.path.realpath(folder) == os.path.realpath(starter) else _name(folder)


def describe(path: Path) -> ModelEntry:
    """The entry of one model folder, or of one model in the hub's cache.

    Raises:
        ModelNotFoundError: there is no such folder, or a file of the model is missing.
        BrokenModelError: the folder or its configuration cannot be read.
    """
    asked = _absolute(path)
    try:
        if not asked.is_dir():
            raise ModelNotFoundError(f"There is no folder {asked}.")
        folder = _snapshot(asked) if asked.name.startswith(_HUB_PREFIX) else asked
        _check_config(folder / _CONFIG)
        _check_weights(folder)
        return ModelEntry(name=_name(folder), path=str(folder), size=_size(folder))
    except OSError as error:
        raise BrokenModelError(f"The folder {asked} cannot be read: {error.strerror or error}.") from error


def _absolute(path: Path) -> Path:
    try:
        return path.expanduser().absolute()
    except RuntimeError:  # "~somebody", and there is nobody of that name
        return path.absolute()


def _usable(candidates: Sequence[Path] | Iterator[Path]) -> Iterator[ModelEntry]:
    for candidate in candidates:
        try:
            yield describe(candidate)
        except ModelError:
            continue


def _candidates(folder: Path) -> Iterator[Path]:
    """The folder and the folders in it; nothing where it cannot be listed."""
    yield folder
    try:
        children = sorted(_absolute(folder).iterdir())
    except (OSError, ValueError):  # ValueError: a path that no system can have
        return
    # A model is not a shelf of models: what lies in its folder (an "original" copy, say) belongs to it.
    if not any(child.name == _CONFIG for child in children):
        yield from children


def _snapshot(repository: Path) -> Path:
    """The snapshot of a cached repository that its ``main`` names, or the newest one that holds a model."""
    snapshots = [config.parent for config in (repository / _SNAPSHOTS).glob(f"*/{_CONFIG}") if config.is_file()]
    if not snapshots:
        raise ModelNotFoundError(f"The folder {repository} holds no finished download of a model.")
    main = repository / "refs" / "main"
    revision = main.read_text(encoding="utf-8", errors="replace").strip() if main.is_file() else ""
    return max(snapshots, key=lambda child: (child.name == revision, child.stat().st_mtime))


def _check_config(path: Path) -> None:
    if not path.is_file():
        raise ModelNotFoundError(
            f"The folder {path.parent} holds no {_CONFIG}. Choose the folder of a model in Hugging Face layout."
        )
    if not isinstance(_read_json(path), dict):
        raise BrokenModelError(f"The file {path} is damaged: it does not hold a JSON object.")


def _check_weights(folder: Path) -> None:
    """Each file of weights is there, as far as it can be known without opening it."""
    present = [path for path in folder.glob("*.safetensors") if path.is_file()]
    expected: set[str] = {path.name for path in folder.glob("*.safetensors")}
    if (folder / _INDEX).is_file():
        index = _read_json(folder / _INDEX)
        weight_map = index.get("weight_map") if isinstance(index, dict) else None
        if not isinstance(weight_map, dict):
            raise BrokenModelError(f"The file {folder / _INDEX} is damaged: it does not say where the weights are.")
        expected = {str(name) for name in weight_map.values()}
    if not expected:
        raise ModelNotFoundError(f"The folder {folder} holds no safetensors file, so the model has no weights.")
    # In the hub's cache a file is a link, which stays behind when its blob was deleted.
    missing = sorted(expected - {path.name for path in present})
    if missing:
        raise ModelNotFoundError(f"The weights in the folder {folder} are not complete; missing: {', '.join(missing)}.")


def _read_json(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BrokenModelError(f"The file {path} is damaged: it is not valid JSON ({error}).") from error


def _name(folder: Path) -> str:
    """``org/name`` in the hub's cache, the folder's own name elsewhere."""
    if folder.parent.name == _SNAPSHOTS and folder.parent.parent.name.startswith(_HUB_PREFIX):
        return folder.parent.parent.name.removeprefix(_HUB_PREFIX).replace("--", "/")
    return folder.name or str(folder)


def _told_apart(entries: Sequence[ModelEntry]) -> list[ModelEntry]:
    """The entries with their parent folder in brackets where two would have the same name."""
    counts = Counter(entry.name for entry in entries)
    return [
        replace(entry, name=f"{entry.name} ({Path(entry.path).parent})") if counts[entry.name] > 1 else entry
        for entry in entries
    ]


def _size(folder: Path) -> int:
    """Bytes of all files below the folder. Links to files count with what they lead to, and each file counts once."""
    sizes: dict[tuple[int, int], int] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if path.is_file():
                status = path.stat()
                sizes[status.st_dev, status.st_ino] = status.st_size
    return sum(sizes.values())
