"""How a value checks what it is made of, so that what is wrong is told at once and by its name."""

import math
import operator
from collections.abc import Iterator, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

from llama_gui.errors import InvalidRequestError

_MOST_LEVELS = 100
_TOKEN_IDS = "a list of token ids: whole numbers of at least 0"
_TEXTS = "a list of texts that are not empty"


def check_number(
    name: str, value: object, low: float, high: float = math.inf, *, integer: bool = False, above: bool = False
) -> float:
    """`value` as a plain number; InvalidRequestError unless it is one (`integer`: whole) from `low` to `high`.

    `above`: `low` itself is not allowed.
    """
    number = _whole(value) if integer else _real(value)
    if number is None or not low <= number <= high or (above and number == low):
        raise InvalidRequestError(name, value, _range(low, high, integer=integer, above=above))
    return number


def _range(low: float, high: float, *, integer: bool, above: bool) -> str:
    kind = "a whole number" if integer else "a number"
    if above:
        return f"{kind} above {_shown(low)}" + (f", up to {_shown(high)}" if high < math.inf else "")
    return f"{kind} from {_shown(low)} to {_shown(high)}" if high < math.inf else f"{kind} of at least {_shown(low)}"


def check_kind(name: str, value: object, kind: type | tuple[type, ...], allowed: str) -> None:
    """Raise InvalidRequestError unless `value` is None or of one of these types; `allowed`: what that is, in words."""
    if value is not None and not isinstance(value, kind):
        raise InvalidRequestError(name, value, allowed)


def check_path(name: str, value: object, allowed: str) -> None:
    """Raise InvalidRequestError unless `value` is None or a path; an empty text, as of an unset variable, is none."""
    if not isinstance(value, str | Path | None) or value == "":
        raise InvalidRequestError(name, value, allowed)


def check_function(name: str, value: object) -> None:
    """Raise InvalidRequestError unless `value` can be called, or is None."""
    if value is not None and not callable(value):
        raise InvalidRequestError(name, value, "a function, or None")


def text_tuple(name: str, value: object) -> tuple[str, ...]:
    """The texts of a list, a set or what can be read only once; InvalidRequestError unless none is empty."""
    texts = tuple(_items(name, value, _TEXTS))
    if not all(isinstance(text, str) and text for text in texts):
        raise InvalidRequestError(name, value, _TEXTS)
    return texts


def token_id_tuple(name: str, value: object, least: float = 0) -> tuple[int, ...]:
    """The token ids of a list, a set, an array or what can be read only once; InvalidRequestError for what is none."""
    return tuple(_token_id(name, item, least) for item in _items(name, value, _TOKEN_IDS))


def check_depth(name: str, value: object, levels: int = _MOST_LEVELS) -> None:
    """Raise InvalidRequestError when `value` is nested too deep: Python gives up wherever it meets that later."""
    if isinstance(value, Mapping | list | tuple):
        if not levels:
            raise InvalidRequestError(name, "nested deeper", f"nested at most {_MOST_LEVELS} levels deep")
        for part in value.values() if isinstance(value, Mapping) else value:
            check_depth(name, part, levels - 1)


def keep(values: object, name: str, value: object) -> None:
    """Set a field of frozen `values` to what was found in it: what is handed in may change, or be read only once."""
    object.__setattr__(values, name, value)


def _items(name: str, value: Any, allowed: str) -> Iterator[Any]:
    # A text is a list of texts to Python: stop="END" would stop at each E, N and D.
    if isinstance(value, str | bytes):
        raise InvalidRequestError(name, value, allowed)
    try:
        return iter(value)
    except TypeError:
        raise InvalidRequestError(name, value, allowed) from None


def _token_id(name: str, value: object, least: float) -> int:
    number = _whole(value)
    if number is None or number < least:
        raise InvalidRequestError(name, value, _TOKEN_IDS)
    return number


def _whole(value: Any) -> int | None:
    """`value` as Python's own whole number, if it is one: numpy and torch have others."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def _real(value: object) -> float | None:
    if isinstance(value, int | float):
        return None if isinstance(value, bool) else value
    return float(value) if isinstance(value, Real) else None


def _shown(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"
