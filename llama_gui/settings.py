"""The user's settings: typed, checked, one JSON file."""

import contextlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeGuard, get_args

from llama_gui.errors import InvalidRequestError, SettingsError
from llama_gui.files import write_whole
from llama_gui.vocabulary import STRATEGIES, LoadOptions, Strategy

ColorScheme = Literal["system", "light", "dark"]
Language = Literal["system", "en", "de"]
LayoutDirection = Literal["language", "left_to_right", "right_to_left"]
"""`language`: as the language of the window is written."""

FIRST = "first"
"""Of the models for embeddings the first on the shelf."""

MIN_ZOOM, MAX_ZOOM = 0.5, 3.0

_FORMAT = 2
"""Kept with the settings. In files without a number, `guesses` of load options was off wherever anything of a model had
been changed, because off was the default; in later ones off is the user's choice."""


@dataclass(frozen=True, slots=True)
class UserSettings:
    """What the user chose for the whole application. `threads` None: as many as suit the machine."""

    model_path: str | None = None
    color_scheme: ColorScheme = "system"
    zoom: float = 1.0
    strategy: Strategy = "batched"
    threads: int | None = None
    sidebar_open: bool = True
    settings_panel_open: bool = True
    window_geometry: str = ""
    recent_models: tuple[str, ...] = ()
    server_on: bool = False
    """Whether other programs on this computer may use the models."""
    server_port: int = 8080
    server_for_network: bool = False
    """Whether other devices in the network may use them, too."""
    remote_models: tuple[str, ...] = ()
    """Keys of models on remote servers, as these told last."""
    folded_groups: tuple[str, ...] = ("archive",)
    """Groups of the side bar that show their heading only."""
    language: Language = "system"
    layout_direction: LayoutDirection = "language"
    notify: bool = True
    """Tell through the desktop when a long answer has ended behind other windows."""
    load_options: Mapping[str, LoadOptions] = field(default_factory=dict)
    """Key of a model -> how it is loaded, where the user has chosen."""
    unload_after_minutes: int = 30
    """How long a large model stays in memory that nobody asks anything; 0: for ever.

    Half an hour: a pause at lunch costs nothing, and a window that is left open over night does not hold gigabytes.
    """
    prompt_cache_gb: int = 8
    """How much of the disk may keep what models have read of long chats; 0: nothing is kept."""
    meaning_model: str = FIRST
    """Key of the model for embeddings that finds passages of folders by meaning; "": none does."""
    offline: bool = False
    """Never ask the hub anything."""
    download_limit: int | None = None
    """Bytes a second that all downloads take together; None: as fast as it goes."""
    model_folders: tuple[str, ...] = ()
    """Folders with models that the user has added to the shelf."""
    auto_titles: bool = True
    """Let an idle model name the chats that still have the title of their first message."""
    default_preset: str = ""
    """What new chats begin with; "" is nothing but the model's defaults."""
    sidebar_width: int = 236
    panel_width: int = 272
    """In pixels, as the user has dragged them."""
    open_parameters: tuple[str, ...] = ("basics",)
    """Groups of the settings panel that are not folded away."""
    split_chats: tuple[str, ...] = ()
    """The two chats that are shown side by side, from where reading begins."""
    split_share: float = 0.5
    """How much of the width the first of them has."""


def load_settings(path: Path) -> tuple[UserSettings, str]:
    """The settings in `path`, and what the user should know about them: "" when all is well.

    A file that is not there means defaults. One that cannot be understood is set aside as ``….broken`` and every
    value that could be read is kept, in a file of its own in its place.

    Raises:
        SettingsError: the file is there but cannot be read or set aside.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return UserSettings(), ""
    except OSError as error:
        raise SettingsError(f"The settings file {path} cannot be read: {error.strerror}.") from error
    settings, problem = _parse(content)
    if problem:
        aside = path.with_name(path.name + ".broken")
        try:
            path.replace(aside)
        except OSError as error:
            raise SettingsError(f"The settings file {path} is broken ({problem}) and cannot be moved.") from error
        if settings != UserSettings():
            with contextlib.suppress(SettingsError):  # then they hold until the end at least
                save_settings(path, settings)
        problem = f"The settings file was broken ({problem}). It was set aside as {aside}; what could be read is kept."
    return settings, problem


def save_settings(path: Path, settings: UserSettings) -> None:
    """Write the settings whole or not at all.

    Raises:
        SettingsError: they cannot be written.
    """
    content = (json.dumps({"format": _FORMAT, **asdict(settings)}, indent=2) + "\n").encode()
    try:
        write_whole(path, content)
    except OSError as error:
        raise SettingsError(f"The settings cannot be written to {path}: {error.strerror}.") from error


def _parse(content: bytes) -> tuple[UserSettings, str]:
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        return UserSettings(), "it is not JSON"
    if not isinstance(values, dict):
        return UserSettings(), "it does not hold named values"
    # Names that are not known come from another version and are no fault.
    given: dict[str, Any] = {f.name: values[f.name] for f in fields(UserSettings) if f.name in values}
    given |= {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    wrong = [name for name, value in given.items() if not _CHECKS[name](value)]
    given = {name: value for name, value in given.items() if name not in wrong}
    if "load_options" in given:
        kept: dict[str, Any] = given["load_options"]
        options = {key: _load_options(one if "format" in values else _former(one)) for key, one in kept.items()}
        given["load_options"] = {key: known for key, known in options.items() if known is not None}
        wrong += ["load_options"] if None in options.values() else []
    settings = UserSettings(**given)
    return settings, f"wrong value for {', '.join(wrong)}" if wrong else ""


def _former(values: object) -> object:
    """How a model is loaded, as it was kept before there were numbers of formats: whether it guesses was not chosen."""
    return {name: value for name, value in values.items() if name != "guesses"} if isinstance(values, dict) else values


def _load_options(values: object) -> LoadOptions | None:
    """How one model is loaded; None: that cannot be understood."""
    if not isinstance(values, dict):
        return None
    try:
        return LoadOptions(**{f.name: values[f.name] for f in fields(LoadOptions) if f.name in values})
    except InvalidRequestError:
        return None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_texts(value: object) -> TypeGuard[tuple[str, ...]]:
    return isinstance(value, tuple) and all(map(_is_text, value))


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_zoom(value: object) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and MIN_ZOOM <= value <= MAX_ZOOM  # type: ignore[operator]


def _is_thread_count(value: object) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 1024)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_width(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10_000


def _is_share(value: object) -> bool:
    return isinstance(value, float) and 0 < value < 1


_CHECKS: dict[str, Callable[[object], bool]] = {
    "model_path": lambda value: value is None or _is_text(value),
    "color_scheme": lambda value: value in get_args(ColorScheme),
    "zoom": _is_zoom,
    "strategy": lambda value: value in STRATEGIES,
    "threads": _is_thread_count,
    "sidebar_open": _is_flag,
    "settings_panel_open": _is_flag,
    "window_geometry": _is_text,
    "language": lambda value: value in get_args(Language),
    "layout_direction": lambda value: value in get_args(LayoutDirection),
    "notify": _is_flag,
    "auto_titles": _is_flag,
    "default_preset": _is_text,
    "load_options": lambda value: isinstance(value, dict),
    "offline": _is_flag,
    "download_limit": lambda value: value is None or (isinstance(value, int) and value is not True and value > 0),
    "model_folders": _are_texts,
    "unload_after_minutes": _is_count,
    "prompt_cache_gb": _is_count,
    "meaning_model": _is_text,
    "recent_models": _are_texts,
    "server_on": _is_flag,
    "server_for_network": _is_flag,
    "server_port": lambda value: isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65536,
    "remote_models": _are_texts,
    "folded_groups": _are_texts,
    "open_parameters": _are_texts,
    "sidebar_width": _is_width,
    "panel_width": _is_width,
    "split_chats": lambda value: _are_texts(value) and len(value) in (0, 2),
    "split_share": _is_share,
}
