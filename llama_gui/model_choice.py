"""Which model a command means: one by its path, or by the name that ``llama-gui models`` lists."""

import contextlib
import difflib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path

from llama_gui.errors import InvalidRequestError, ModelNotFoundError, SettingsError, ShelfError
from llama_gui.library import shelf
from llama_gui.library.access import HubAccess, HubPlace
from llama_gui.library.hub_cache import repository_name
from llama_gui.library.neighbours import Neighbour, neighbours
from llama_gui.library.plan import check_repo, named_path
from llama_gui.library.shelf_notes import ShelfNote, load_notes, names_in
from llama_gui.paths import Paths, check_model_is_there
from llama_gui.settings import UserSettings, load_settings
from llama_gui.vocabulary import ModelEntry

_LISTED = "llama-gui models lists those that there are."


class ModelsHere:
    """The models of this machine, as a command sees them. Each thing is read when it is first needed, and once."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    @cached_property
    def folders(self) -> list[Path]:
        """All places of the shelf: our own, the cache that hub tools share, and what the user opened or added."""
        try:
            settings, notice = load_settings(self._paths.settings_file)
        except SettingsError as error:
            settings, notice = UserSettings(), str(error)
        if notice:
            print(f"llama-gui: {notice}", file=sys.stderr)
        opened = map(Path, (*settings.recent_models, *settings.model_folders))
        return [self._paths.models, HubAccess.from_environment().cache, *opened]

    @cached_property
    def notes(self) -> dict[str, ShelfNote]:
        """What is noted of them: real path -> note."""
        return load_notes(self._paths.shelf_file)

    @cached_property
    def neighbours(self) -> tuple[Neighbour, ...]:
        """Other programs that keep models here."""
        return neighbours()

    @cached_property
    def entries(self) -> list[ModelEntry]:
        """All of them, by the names that the user knows."""
        others = [neighbour.folder for neighbour in self.neighbours]
        return shelf.scan(self.folders, self._paths.starter_model, names_in(self.notes), others)

    def name_of(self, path: str) -> str:
        """What the user calls the model at `path`."""
        return shelf.name_of(path, self._paths.starter_model, names_in(self.notes))

    def named(self, name: str) -> ModelEntry:
        """The one model that is called so, or lies there.

        Raises:
            ShelfError: there is none, or there are several.
        """
        found = _exactly(name, self.entries)
        if not found:
            raise ShelfError(f"There is no model {name} on the shelf. {_meant(name, self.entries)}{_LISTED}")
        return _only(found, f"{len(found)} models are called {name}.")

    def chosen(self, text: str | None) -> str:
        """Where the model is that ``--model`` names; without it, the starter model. A path goes before a name.

        Raises:
            InvalidRequestError: it can be neither.
            ModelNotFoundError: nothing is there, and nothing is called so.
            ShelfError: several are called so.
        """
        if text is None:
            text = str(self._paths.starter_model)
        if not text:
            allowed = "a model folder, a GGUF file, or a name that llama-gui models lists"
            raise InvalidRequestError("--model", text, allowed)
        try:
            path = str(Path(text).expanduser())
        except RuntimeError as error:
            raise InvalidRequestError("--model", text, "in a home folder that there is") from error
        if os.path.exists(path) or not (_can_be_name(text) or _place(text).repo):
            check_model_is_there(path)
            return path
        return _called(text, self.entries).path


def _called(name: str, entries: Sequence[ModelEntry]) -> ModelEntry:
    """The same, also by how its name begins; what is not there may be on the hub."""
    found = _exactly(name, entries) or _at(_place(name), entries)
    if found:
        return _only(found, f"{len(found)} models are called {name}.")
    start = name.casefold()
    found = [e for e in entries if any(short.casefold().startswith(start) for short in (e.name, _without_owner(e)))]
    if found:
        return _only(found, f"The names of {len(found)} models begin with {name}.")
    raise ModelNotFoundError(f"There is no model {name} here. {_advice(name, entries)}")


def _exactly(name: str, entries: Sequence[ModelEntry]) -> list[ModelEntry]:
    """Those with this very name, else those where only capitals are others."""
    manners: tuple[Callable[[str], str], ...] = (str, str.casefold)
    for form in manners:
        found = [entry for entry in entries if form(name) in map(form, _labels(entry))]
        if found:
            return found
    return []


def _place(address: str) -> HubPlace:
    return HubAccess.from_environment().place_at(address)


def _at(place: HubPlace, entries: Sequence[ModelEntry]) -> list[ModelEntry]:
    """Those that came from a place of the hub: of the GGUF files there the one that is meant."""
    found = [entry for entry in entries if place.repo and repository_name(Path(entry.path)) == place.repo]
    if place.file:
        path = named_path([entry.path for entry in found if entry.path.endswith(".gguf")], place.file)
        found = [entry for entry in found if entry.path == path]
    return found


def _labels(entry: ModelEntry) -> Iterable[str]:
    path = Path(entry.path)
    return entry.name, entry.key, entry.path, path.name, repository_name(path)


def _without_owner(entry: ModelEntry) -> str:
    return entry.name.rpartition("/")[2]


def _only(found: Sequence[ModelEntry], several: str) -> ModelEntry:
    if len(found) > 1:
        places = ", ".join(entry.path for entry in found)
        raise ShelfError(f"{several} Say which by its place: {places}.")
    return found[0]


def _advice(name: str, entries: Sequence[ModelEntry]) -> str:
    meant = _meant(name, entries)
    if not name.lower().endswith(".gguf"):  # which was meant as a path
        with contextlib.suppress(InvalidRequestError):
            check_repo(_place(name).repo or name)
            return f"{meant}From the hub you get it by: llama-gui download {name}"
    return f"{meant}{_LISTED}"


def _meant(name: str, entries: Sequence[ModelEntry]) -> str:
    by_form = {form.casefold(): entry.name for entry in entries for form in (_without_owner(entry), entry.name)}
    near = difflib.get_close_matches(name.casefold(), by_form, n=1)
    return f"Did you mean {by_form[near[0]]}? " if near else ""


def _can_be_name(text: str) -> bool:
    """Whether it need not be a path; a name with an owner has one stroke."""
    return not os.path.isabs(text) and not text.startswith((".", "~")) and text.count("/") <= 1 and "\\" not in text
