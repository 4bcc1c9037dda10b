"""How a value checks what it is made of."""

import math

from llama_gui.errors import InvalidRequestError


def check_number(name: str, value: object, low: float, high: float, *, integer: bool = False) -> None:
    """Raise InvalidRequestError unless `value` is a number (`integer`: a whole one) from `low` to `high`."""
    kind = "a whole number" if integer else "a number"
    allowed = f"{kind} from {low:g} to {high:g}" if high < math.inf else f"{kind} of at least {low:g}"
    wrong_type = isinstance(value, bool) or not isinstance(value, int if integer else (int, float))
    if wrong_type or not low <= value <= high:  # type: ignore[operator]
        raise InvalidRequestError(name, value, allowed)
