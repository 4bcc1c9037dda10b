"""The models that we offer to download: a typed reader of ``resources/catalog.json``."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from llama_gui.errors import UserError
from llama_gui.library.conv_shape import ConvShape
from llama_gui.library.delta_shape import DeltaShape
from llama_gui.library.gemma4_shape import Gemma4Shape
from llama_gui.library.mamba_shape import MambaShape
from llama_gui.library.model_shape import ModelShape

_OBJECTS = ("shape", "gguf", "gemma4", "delta", "conv", "mamba")


class CatalogError(UserError):
    """The catalogue file is missing or damaged."""


@dataclass(frozen=True, slots=True)
class CatalogFile:
    """One file of a repository, and about how many bytes it has; the hub says it exactly when it is fetched.

    `beside`: those of the file that reads images for it, which is fetched along.
    """

    repo: str
    path: str
    size: int
    beside: int = 0

    @property
    def download(self) -> int:
        """Bytes that are fetched."""
        return self.size + self.beside


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One model that can be downloaded.

    `repo` is its name on the hub, `size` the bytes of its weights there, in bf16, `context` the tokens it can read,
    `description` one line for the user: what it is good at. `is_gated`: its licence must be accepted on the hub.
    `thinks`: before it answers, and at length. `gguf`: the same model in fewer bits, which anybody may fetch, and which
    most people want. `embeds`: it turns texts into vectors, and does not chat.
    """

    name: str
    repo: str
    parameters: int
    licence: str
    is_gated: bool
    thinks: bool
    size: int
    context: int
    description: str
    shape: ModelShape
    gguf: CatalogFile | None = None
    embeds: bool = False


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
    values = _checked(item, CatalogEntry, complaint)
    shape = item.get("shape")
    if not isinstance(shape, dict):
        raise CatalogError(f"{complaint} needs an object as shape, not {shape!r}.")
    file = item.get("gguf")
    if not isinstance(file, dict | None):
        raise CatalogError(f"{complaint} needs an object as gguf, not {file!r}.")
    gguf = CatalogFile(**_checked(file, CatalogFile, complaint)) if file is not None else None
    entry = CatalogEntry(**values, shape=_shape(shape, complaint), gguf=gguf)
    for repo in (entry.repo, *([gguf.repo] if gguf else [])):
        if repo.count("/") != 1:
            raise CatalogError(f"{complaint} needs a repo in the form owner/name, not {repo!r}.")
    return entry


def _shape(item: Mapping[str, Any], complaint: str) -> ModelShape:
    parts: dict[str, Any] = {}
    kinds = {"gemma4": Gemma4Shape, "delta": DeltaShape, "conv": ConvShape, "mamba": MambaShape}
    for name, kind in kinds.items():
        part = item.get(name)
        if not isinstance(part, dict | None):
            raise CatalogError(f"{complaint} needs an object as {name}, not {part!r}.")
        parts[name] = None if part is None else kind(**_checked(part, kind, complaint))
    return ModelShape(**_checked(item, ModelShape, complaint), **parts)


def _checked(item: Mapping[str, Any], kind: type, complaint: str) -> dict[str, Any]:
    """The plain fields of `kind` that it has or must have, each of its type."""
    values: dict[str, Any] = {}
    for field in fields(kind):
        if field.name in _OBJECTS or (field.name not in item and field.default is not MISSING):
            continue
        value = values[field.name] = item.get(field.name)
        if field.type is bool:
            if not isinstance(value, bool):
                raise CatalogError(f"{complaint} needs true or false as {field.name}, not {value!r}.")
        elif field.type is int:
            # JSON's true is an int to Python.
            if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
                raise CatalogError(f"{complaint} needs a whole number above 0 as {field.name}, not {value!r}.")
        elif not isinstance(value, str) or not value.strip():
            raise CatalogError(f"{complaint} needs a text as {field.name}, not {value!r}.")
    return values
