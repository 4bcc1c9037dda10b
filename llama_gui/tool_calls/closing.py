"""JSON schemas as answers are to follow them: their objects hold what they name, and nothing else. Pure.

JSON Schema means anything where a schema does not say what else may be in an object, and small models make use of that.
OpenAI wants it said, vLLM's and llama.cpp's servers take nothing for the answer.
"""

from collections.abc import Iterator, Mapping
from typing import Any

_NAMED = ("properties", "patternProperties", "$defs", "definitions")
"""Where schemas stand by name, so that what looks like a word of JSON Schema there is none."""
_WITHIN = ("items", "prefixItems", "additionalProperties", "contains", "anyOf", "oneOf", "allOf")
_TOGETHER = ("$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "not", "if", "dependentSchemas", "unevaluatedProperties")
"""What says more of the same object: if each part of it let nothing else in, together they would let nothing in."""


def closed(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema with all its objects closed, but for those that say themselves what else may be in them.

    It stays as it is where several parts of it describe one object.
    """
    return schema if any(map(_is_put_together, _all_in(schema))) else _closed(schema)


def lenient(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema, of which the engine's grammars (llguidance's) follow what they know: else the rest is an error."""
    return {**schema, "x-guidance": {"lenient": True}}


def _closed(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    says_nothing = _names(schema) and "additionalProperties" not in schema
    inner = {name: _closed_below(name, value) for name, value in schema.items()}
    return {**inner, "additionalProperties": False} if says_nothing else inner


def _closed_below(name: str, value: Any) -> Any:
    if name in _NAMED and isinstance(value, Mapping):
        return {key: _closed(part) for key, part in value.items()}
    if name in _WITHIN:
        return [_closed(part) for part in value] if isinstance(value, list | tuple) else _closed(value)
    return value


def _all_in(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The schema, and those in it."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    for name, value in schema.items():
        if name in _NAMED and isinstance(value, Mapping):
            parts = [*value.values()]
        elif name in _WITHIN:
            parts = value if isinstance(value, list | tuple) else [value]
        else:
            continue
        for part in parts:
            yield from _all_in(part)


def _is_put_together(schema: Mapping[str, Any]) -> bool:
    all_of = schema.get("allOf")
    has_several = isinstance(all_of, list | tuple) and len(all_of) > 1
    return has_several or _names(schema) + sum(name in schema for name in _TOGETHER) > 1


def _names(schema: Mapping[str, Any]) -> bool:
    return "properties" in schema or "patternProperties" in schema
