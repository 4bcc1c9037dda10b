"""Reads the fields of a request, each with its type and range; null is the same as not there."""

from collections.abc import Mapping, Sequence
from typing import Any

from llama_gui.server.refusal import RefusedError, wrong


class Fields:
    """One JSON object of a request. `path` stands before its names in what is refused: ``messages[2].``."""

    def __init__(self, values: Mapping[str, Any], path: str = "") -> None:
        self._values = values
        self._path = path

    def has(self, name: str) -> bool:
        """Whether it is there and not null."""
        return self._values.get(name) is not None

    def get(self, name: str) -> Any:
        """As it is; None when it is not there."""
        return self._values.get(name)

    def with_defaults(self, **values: Any) -> dict[str, Any]:
        """All of it, and `values` where it says nothing."""
        return {**values, **self._values}

    def wrong(self, name: str, allowed: str) -> RefusedError:
        """What to raise about a field."""
        return wrong(self._path + name, self._values.get(name), allowed)

    def path_of(self, name: str) -> str:
        """The whole name of a field."""
        return self._path + name

    def text(self, name: str) -> str | None:
        """A text of any length."""
        return self._of_type(name, str, "a text")

    def flag(self, name: str) -> bool:
        """True or false; false when it is not there."""
        return bool(self._of_type(name, bool, "true or false"))

    def whole(self, name: str, low: int, high: int) -> int | None:
        """A whole number. 3.0 is one too: some clients write all numbers so."""
        value = self._values.get(name)
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.wrong(name, f"a whole number from {low} to {high}")
        return value

    def number(self, name: str, low: float, high: float) -> float | None:
        """A number."""
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise self.wrong(name, f"a number from {low:g} to {high:g}")
        return float(value)

    def mapping(self, name: str) -> Mapping[str, Any] | None:
        """A JSON object."""
        return self._of_type(name, dict, "an object")

    def inner(self, name: str) -> "Fields | None":
        """A JSON object whose fields are read in turn."""
        value = self.mapping(name)
        return None if value is None else Fields(value, f"{self._path}{name}.")

    def objects(self, name: str, most: int) -> "list[Fields] | None":
        """A list of JSON objects."""
        value = self._of_type(name, list, "a list")
        if value is None:
            return None
        if len(value) > most:
            raise wrong(self._path + name, f"{len(value)} long", f"at most {most} long")
        for index, item in enumerate(value):
            if not isinstance(item, dict):
                raise wrong(f"{self._path}{name}[{index}]", item, "an object")
        return [Fields(item, f"{self._path}{name}[{index}].") for index, item in enumerate(value)]

    def one_of(self, name: str, choices: Sequence[str]) -> str | None:
        """One of some texts."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or value not in choices:
            raise self.wrong(name, "one of " + ", ".join(choices))
        return value

    def _of_type(self, name: str, kind: type, allowed: str) -> Any:
        value = self._values.get(name)
        if value is not None and not isinstance(value, kind):
            raise self.wrong(name, allowed)
        return value
