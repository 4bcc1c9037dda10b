"""How a value checks what it is made of, so that what is wrong is told at once and by its name."""

import math
from collections.abc import Iterable

from llama_gui.errors import InvalidRequestError


def check_number(name: str, value: object, low: float, high: float = math.inf, *, integer: bool = False) -> None:
    """Raise InvalidRequestError unless `value` is a number (`integer`: a whole one) from `low` to `high`."""
    kind = "a whole number" if integer else "a number"
    allowed = f"{kind} from {_shown(low)} to {_shown(high)}" if high < math.inf else f"{kind} of at least {_shown(low)}"
    wrong_type = isinstance(value, bool) or not isinstance(value, int if integer else (int, float))
    if wrong_type or not low <= value <= high:  # type: ignore[operator]
        raise InvalidRequestError(name, value, allowed)


def check_kind(name: str, value: object, kind: type | tuple[type, ...], allowed: str) -> None:
    """Raise InvalidRequestError unless `value` is None or of one of these types; `allowed`: what that is, in words."""
    if value is not None and not isinstance(value, kind):
        raise InvalidRequestError(name, value, allowed)


def check_texts(name: str, value: object) -> None:
    """Raise InvalidRequestError unless `value` is a list (or the like) of texts that are not empty."""
    # A text is a list of texts to Python: stop="END" would stop at each E, N and D.
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidRequestError(name, value, "a list of texts that are not empty")
    if not all(isinstance(text, str) and text for text in value):
        raise InvalidRequestError(name, value, "a list of texts that are not empty")


def _shown(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"
