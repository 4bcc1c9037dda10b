"""The models that we offer to download: a typed reader of ``resources/catalog.json``."""

import json
from dataclasses import dataclass, fields
from pathlib import Path

from llama_gui.errors import UserError


class CatalogError(UserError):
    """The catalogue file is missing or damaged."""


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One model that can be downloaded.

    `repo` is its name on the hub, `size` the bytes of its weights in bf16, `context` the tokens it can read,
    `description` one line for the user.
    """

    name: str
    repo: str
    parameters: int
    licence: str
    size: int
    context: int
    description: str


def load(path: Path) -> list[CatalogEntry]:
    """Read the catalogue, in the order of the file.

    Raises:
        CatalogError: the file is missing, is not JSON, or an entry is not complete.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CatalogError(f"The catalogue {path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise CatalogError(f"The catalogue {path} is damaged: it is not valid JSON ({error}).") from error
    if not isinstance(content, list):
        raise CatalogError(f"The catalogue {path} is damaged: it must hold a list of models.")
    return [_entry(item, f"The catalogue {path} is damaged: entry {place}") for place, item in enumerate(content, 1)]


def _entry(item: object, complaint: str) -> CatalogEntry:
    if not isinstance(item, dict):
        raise CatalogError(f"{complaint} is not an object.")
    for field in fields(CatalogEntry):
        value = item.get(field.name)
        if field.type is int:
            # JSON's true is an int to Python.
            if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
                raise CatalogError(f"{complaint} needs a whole number above 0 as {field.name}, not {value!r}.")
        elif not isinstance(value, str) or not value.strip():
            raise CatalogError(f"{complaint} needs a text as {field.name}, not {value!r}.")
    entry = CatalogEntry(**{field.name: item[field.name] for field in fields(CatalogEntry)})
    if entry.repo.count("/") != 1:
        raise CatalogError(f"{complaint} needs a repo in the form owner/name, not {entry.repo!r}.")
    return entry
