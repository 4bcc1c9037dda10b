"""The JSON files of a model folder, read field by field; each value is checked when it is read."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llama_gui.errors import BrokenModelError, ModelNotFoundError

_TOO_LARGE = 2**31  # no dimension of a network we could load comes near; a damaged file may say anything


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
        return BrokenModelError(f"{self.file}: {name} is {self.values.get(name)!r}, but it must be {allowed}.")

    def integer(self, name: str, default: int | None = None) -> int:
        """A whole number of at least 1."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < _TOO_LARGE:
            raise self.wrong(name, f"a whole number from 1 to {_TOO_LARGE - 1}")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """A finite number above 0."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= sys.float_info.max:
            raise self.wrong(name, "a number above 0")
        return float(value)

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
        if not all(isinstance(i, int) and not isinstance(i, bool) and 0 <= i < _TOO_LARGE for i in ids):
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
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelNotFoundError(
            f"{file} does not exist. A model folder holds config.json, tokenizer.json and *.safetensors files."
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise BrokenModelError(f"{file} cannot be read: {error}. Download the file again.") from error
    if not isinstance(values, dict):
        raise BrokenModelError(f"{file} holds a {type(values).__name__} instead of a JSON object. Download it again.")
    return values
