"""The JSON files of a model folder, read field by field; each value is checked when it is read."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from llama_gui.errors import BrokenModelError, ModelNotFoundError, UnsupportedModelError

# Far beyond any network that we could load; a damaged file may say anything. The numbers stay finite in float32.
MOST_INTEGER = 2**31 - 1
_LEAST_NUMBER, _MOST_NUMBER = 1e-30, 1e30
_MOST_BYTES = 100 * 2**20
_MOST_LEVELS = 100
_MOST_CHARACTERS = 300
_MOST_NAMES = 3

AGAIN = "Download the file again."


def not_finite(file: Path, name: str) -> BrokenModelError:
    """The error for a weight that holds NaN or infinity."""
    return BrokenModelError(f"{file}: {name} holds numbers that are not finite (NaN or infinity). {AGAIN}")


class Fields:
    """The fields of one JSON object of a model folder; each is checked when it is read.

    Raises:
        BrokenModelError: a field is missing, or its value cannot be.
    """

    def __init__(self, values: Mapping[str, Any], file: Path) -> None:
        self.values = values
        self.file = file

    def wrong(self, name: str, allowed: str) -> BrokenModelError:
        """The error for a field whose value cannot be."""
        return BrokenModelError(f"{self.file}: {name} is {shown(self.values.get(name))}, but it must be {allowed}.")

    def unsupported(self, name: str) -> UnsupportedModelError:
        """The error for a field whose value means something that we do not run."""
        value = shown(self.values.get(name))
        return UnsupportedModelError(f"{self.file}: {name} is {value}, which is not supported. Choose another model.")

    def integer(self, name: str, default: int | None = None, *, most: int = MOST_INTEGER, least: int = 1) -> int:
        """A whole number from `least`, which is 1 or 0, to `most`."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.wrong(name, f"a whole number from 1 to {most}" if least else f"a whole number from 0 to {most}")
        return value

    def number(self, name: str, default: float | None = None, *, least: float = _LEAST_NUMBER) -> float:
        """A number of at least `least`, which is above 0."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= _MOST_NUMBER:
            raise self.wrong(name, f"a number from {least:g} to {_MOST_NUMBER:g}")
        return float(value)

    def numbers(self, name: str) -> tuple[float, ...]:
        """A list of positive numbers."""
        values = self.values.get(name)
        if not isinstance(values, list) or not all(
            not isinstance(value, bool) and isinstance(value, int | float) and _LEAST_NUMBER <= value <= _MOST_NUMBER
            for value in values
        ):
            raise self.wrong(name, "a list of numbers above 0")
        return tuple(map(float, values))

    def integers(self, name: str, default: tuple[int, ...] | None = None, *, most: int = 65536) -> tuple[int, ...]:
        """A list of whole numbers from 0 to `most`."""
        values = self.values.get(name, default)
        if not isinstance(values, list | tuple) or not all(
            not isinstance(value, bool) and isinstance(value, int) and 0 <= value <= most for value in values
        ):
            raise self.wrong(name, f"a list of whole numbers from 0 to {most}")
        return tuple(values)

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self._value(name, default)
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def token_ids(self, name: str) -> frozenset[int]:
        """One token id, a list of them, or nothing."""
        value = self.values.get(name)
        ids = [] if value is None else value if isinstance(value, list) else [value]
        if not all(isinstance(i, int) and not isinstance(i, bool) and 0 <= i <= MOST_INTEGER for i in ids):
            raise self.wrong(name, "a token id or a list of token ids")
        return frozenset(ids)

    def _value(self, name: str, default: float | None) -> Any:
        value = self.values.get(name)
        if value is None:
            value = default
        if value is None:
            raise BrokenModelError(f"{self.file}: {name} is missing. The file may be damaged; download it again.")
        return value


def read_json(file: Path) -> dict[str, Any]:
    """The JSON object in `file`.

    Raises:
        ModelNotFoundError: there is no such file.
        BrokenModelError: it cannot be read, or does not hold a JSON object.
    """
    values = read_json_value(file)
    if not isinstance(values, dict):
        raise BrokenModelError(f"{file} holds a {type(values).__name__} instead of a JSON object. Download it again.")
    return values


def read_json_value(file: Path) -> Any:
    """Whatever JSON there is in `file`; raises what `read_json` does where it cannot be read."""
    try:
        _check_size(file)
        values = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=unambiguous)
        _check_depth(values)
    except FileNotFoundError:
        raise ModelNotFoundError(
            f"{file} does not exist. A model folder holds config.json, tokenizer.json and *.safetensors files."
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise BrokenModelError(f"{file} cannot be read: {error}. Download the file again.") from error
    return values


def unambiguous(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The object of `pairs`, for `json.loads`; ValueError where a name has two values."""
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values and values[name] != value:
            raise ValueError(f"it gives {shown(name)} twice, with different values")
        values[name] = value
    return values


def shown(value: Any) -> str:
    """`value` as an error shows it, see `brief`."""
    return brief(repr(value))


def brief(text: str) -> str:
    """`text` as an error quotes it: on one line, and cut off where it is long."""
    text = text if text.isprintable() else repr(text)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


def brief_list(names: Sequence[str]) -> str:
    """The first of `names`, and how many more there are."""
    listed = ", ".join(map(brief, names[:_MOST_NAMES]))
    return f"{listed} and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else listed


def check_regular(file: Path) -> None:
    """Raise ValueError for what exists but is not a regular file: reading a pipe or a device may never end."""
    if file.exists() and not file.is_file():
        raise ValueError("it is not a regular file")


def _check_size(file: Path) -> None:
    check_regular(file)
    size = file.stat().st_size
    if size > _MOST_BYTES:
        raise ValueError(f"it is too large, with {size} bytes")


def _check_depth(values: Any) -> None:
    """Deep nesting would raise RecursionError anywhere later, so it is checked here."""
    level = [values]
    for _ in range(_MOST_LEVELS):
        parts = [v.values() if isinstance(v, dict) else v for v in level if isinstance(v, dict | list)]
        level = [inner for part in parts for inner in part]
    if level:
        raise ValueError(f"it is nested more than {_MOST_LEVELS} levels deep")


def shortest(number: float) -> float:
    """The shortest decimal number that is the same in float32, in which files of other layouts have it."""
    return float(str(np.float32(number)))
