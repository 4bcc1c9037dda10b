"""Where LM Studio, Jan and GPT4All keep models here, and the first two their chats: what is there needs no second copy.

Their folders are read, and never written.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MOST_SETTINGS_BYTES = 2**20
_MODELS_OF_JAN = (Path("llamacpp", "models"), Path("models"))


@dataclass(frozen=True, slots=True)
class _Places:
    """Where a user's files are; see `_data_folders`."""

    home: Path
    data: Path
    roaming: Path


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another program, by its name, and a folder in which it keeps models, or chats."""

    name: str
    folder: Path


def neighbours(
    home: Path | None = None, environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> tuple[Neighbour, ...]:
    """Those that have such a folder here. What their users have moved is found by what they noted of it themselves."""
    places = _places(home, environment, platform)
    if places is None:
        return ()
    found = [
        *(Neighbour("LM Studio", _models_of_lm_studio(root)) for root in _lm_studio(places)),
        *(Neighbour("Jan", root / folder) for root in _jan(places) for folder in _MODELS_OF_JAN),
        Neighbour("Jan", places.home / "jan" / "models"),
        Neighbour("GPT4All", places.data / "nomic.ai" / "GPT4All"),
    ]
    return _there(found)


def keeper_of(path: str | Path, others: Iterable[Neighbour]) -> str:
    """Which of `others` keeps the file or folder `path`, by its name; "" where none does.

    By whatever way it is reached: many move their models to another disk, and leave a link.
    """
    path = Path(path)
    # The last step is not followed: a link of ours to a model of theirs is ours.
    here = Path(os.path.realpath(path.parent), path.name)
    return next((other.name for other in others if here.is_relative_to(os.path.realpath(other.folder))), "")


def with_chats(
    home: Path | None = None, environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> tuple[Neighbour, ...]:
    """Those whose chats are here, and can be imported."""
    places = _places(home, environment, platform)
    if places is None:
        return ()
    found = [
        *(Neighbour("LM Studio", root / "conversations") for root in _lm_studio(places)),
        *(Neighbour("Jan", root / "threads") for root in _jan(places)),
    ]
    return _there(found)


def _places(home: Path | None, environment: Mapping[str, str], platform: str) -> _Places | None:
    """None: nobody knows where they are."""
    try:
        home = home or Path.home()
    except RuntimeError:
        return None
    return _Places(home, *_data_folders(home, environment, platform))


def _there(found: Iterable[Neighbour]) -> tuple[Neighbour, ...]:
    return tuple(neighbour for neighbour in dict.fromkeys(found) if _is_folder(neighbour.folder))


def _data_folders(home: Path, environment: Mapping[str, str], platform: str) -> tuple[Path, Path]:
    """Where programs keep data for this machine, and what would follow the user to another; the same but on Windows."""
    if platform == "win32":
        local, roaming = (environment.get(name, "") for name in ("LOCALAPPDATA", "APPDATA"))
        data = home / "AppData"
        return Path(local) if local else data / "Local", Path(roaming) if roaming else data / "Roaming"
    if platform == "darwin":
        support = home / "Library" / "Application Support"
        return support, support
    given = environment.get("XDG_DATA_HOME", "")
    share = Path(given) if given else home / ".local" / "share"
    return share, share


def _lm_studio(places: _Places) -> Iterator[Path]:
    """Its home is where a file of its own points, and else one of two."""
    pointer = _text(places.home / ".lmstudio-home-pointer").strip()
    if pointer:
        yield Path(pointer)
    yield places.home / ".lmstudio"
    yield places.home / ".cache" / "lm-studio"


def _models_of_lm_studio(root: Path) -> Path:
    moved = _setting(root / "settings.json", "downloadsFolder")
    return Path(moved) if moved else root / "models"


def _jan(places: _Places) -> Iterator[Path]:
    """Its data, which its settings may have moved; older versions kept it elsewhere."""
    for place in dict.fromkeys((places.data / "Jan", places.roaming / "Jan", places.home / ".config" / "Jan")):
        moved = _setting(place / "settings.json", "data_folder")
        yield Path(moved) if moved else place / "data"


def _is_folder(path: Path) -> bool:
    try:
        return path.is_absolute() and path.is_dir()
    except (OSError, ValueError):  # ValueError: a path that no system can have
        return False


def _setting(file: Path, name: str) -> str:
    """A text in a file of settings; "" where it is not there."""
    try:
        values: Any = json.loads(_text(file))
    except (ValueError, RecursionError):
        return ""
    value = values.get(name) if isinstance(values, dict) else None
    return value if isinstance(value, str) else ""


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(_MOST_SETTINGS_BYTES).decode(errors="replace")
    except (OSError, ValueError):
        return ""
