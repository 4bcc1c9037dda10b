"""Where LM Studio, Jan and GPT4All keep their models on this machine: what they have fetched needs no second copy.

Their folders are read, and never written.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MOST_SETTINGS_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another program, by its name, and a folder in which it keeps models."""

    name: str
    folder: Path


def neighbours(
    home: Path | None = None, environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> tuple[Neighbour, ...]:
    """Those that have such a folder here. What their users have moved is found by what they noted of it themselves."""
    try:
        home = home or Path.home()
    except RuntimeError:  # nobody knows where it is
        return ()
    data, roaming = _data_folders(home, environment, platform)
    found = [
        *(Neighbour("LM Studio", folder) for folder in _lm_studio(home)),
        *(Neighbour("Jan", folder) for folder in _jan(home, data, roaming)),
        Neighbour("GPT4All", data / "nomic.ai" / "GPT4All"),
    ]
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


def _lm_studio(home: Path) -> Iterator[Path]:
    """Its home is where a file of its own points, and else one of two; its settings may name another folder."""
    pointer = _text(home / ".lmstudio-home-pointer").strip()
    for place in ([Path(pointer)] if pointer else []) + [home / ".lmstudio", home / ".cache" / "lm-studio"]:
        moved = _setting(place / "settings.json", "downloadsFolder")
        yield Path(moved) if moved else place / "models"


def _jan(home: Path, data: Path, roaming: Path) -> Iterator[Path]:
    """It keeps them below its data, which its settings may have moved; older versions kept them elsewhere."""
    for place in dict.fromkeys((data / "Jan", roaming / "Jan", home / ".config" / "Jan")):
        moved = _setting(place / "settings.json", "data_folder")
        root = Path(moved) if moved else place / "data"
        yield root / "llamacpp" / "models"
        yield root / "models"
    yield home / "jan" / "models"


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
