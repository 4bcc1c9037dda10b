"""The bytes of a body -> JSON values; what two readers could understand in two ways is refused."""

import json
import math
from typing import Any, NoReturn

from llama_gui.server.refusal import RefusedError

MOST_DEPTH = 100
"""Objects and lists in one another: more than any schema has, and less than templates and grammars can follow."""


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object in `body`; PowerShell and others write a mark of UTF-8 before it.

    Raises:
        RefusedError: it is not UTF-8, not JSON, no object, nested too deeply, holds a name twice, or a number that is
            not finite.
    """
    try:
        text = body.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=_unambiguous, parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise _unreadable(f"it is not UTF-8: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise _unreadable("it is nested too deeply") from error
    except ValueError as error:
        raise _unreadable(str(error)[:200]) from error
    if not isinstance(value, dict):
        raise _unreadable("it must be an object")
    if is_too_deep(value):
        raise _unreadable("it is nested too deeply")
    return value


def is_too_deep(value: dict[str, Any]) -> bool:
    """Whether more than `MOST_DEPTH` objects and lists lie in one another."""
    level = [value]
    for _ in range(MOST_DEPTH):
        parts = (holder.values() if isinstance(holder, dict) else holder for holder in level)
        level = [part for some in parts for part in some if isinstance(part, dict | list)]
        if not level:
            return False
    return True


def written_object(text: str) -> dict[str, Any] | None:
    """The object that a model wrote; None: it is none yet, or one that nobody can follow.

    Numbers that are none are null; of two values with one name the last one stays.
    """
    try:
        value = json.loads(text, parse_constant=lambda _: None, parse_float=_finite_or_none)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not is_too_deep(value) else None


def dump(value: Any) -> bytes:
    """JSON as it goes out: UTF-8, no spaces. Half a surrogate pair, which is not text, becomes "?"."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _unreadable(why: str) -> RefusedError:
    return RefusedError(400, f"The body cannot be read as JSON: {why}.", code="invalid_json")


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise ValueError(f"it has {name[:80]!r} twice")
        values[name] = value
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _finite_or_none(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large a number")
    return value
