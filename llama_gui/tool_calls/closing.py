"""JSON schemas as answers are to follow them: their objects hold what they name, and nothing else. Pure.

JSON Schema means anything where a schema does not say what else may be in an object, and small models make use of that.
OpenAI wants it said, vLLM's and llama.cpp's servers take nothing for the answer.
"""

from collections.abc import Iterator, Mapping
from typing import Any

_NAMED = ("properties", "patternProperties", "$defs", "definitions")
"""Where schemas stand by name, so that what looks like a word of JSON Schema there is none."""
_WITHIN = ("items", "prefixItems", "additionalProperties", "contains", "anyOf", "oneOf", "allOf")
_DEFINITIONS = ("$defs", "definitions")
_REFERENCES = ("$ref", "$dynamicRef")
_TOGETHER = (*_REFERENCES, "anyOf", "oneOf", "allOf", "not", "if", "dependentSchemas")
"""What says more of the same object: if each part of it let nothing else in, together they would let nothing in."""


def closed(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema with all its objects closed, but for those that say themselves what else may be in them.

    Where several parts of it describe one object, those stay as they are, with what is in them and what they refer to.
    So does an object that requires what it does not name, be it beside a reference: closed, nothing would satisfy it.
    """
    return _closed(schema, frozenset(map(id, _left_open(schema))))


def lenient(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema, of which the engine's grammars (llguidance's) follow what they know: else the rest is an error."""
    return {**schema, "x-guidance": {"lenient": True}}


def _closed(schema: Any, left: frozenset[int]) -> Any:
    if not isinstance(schema, Mapping) or id(schema) in left:
        return schema
    inner = {name: _closed_below(name, value, left) for name, value in schema.items()}
    if not _names(schema) or "additionalProperties" in schema or not _names_what_it_requires(schema):
        return inner
    inner.pop("unevaluatedProperties", None)  # False: the same, where nothing is put together
    return {**inner, "additionalProperties": False}


def _closed_below(name: str, value: Any, left: frozenset[int]) -> Any:
    if name in _NAMED and isinstance(value, Mapping):
        return {key: _closed(part, left) for key, part in value.items()}
    if name in _WITHIN:
        return [_closed(part, left) for part in value] if isinstance(value, list | tuple) else _closed(value, left)
    return value


def _left_open(schema: Mapping[str, Any]) -> list[Any]:
    """What is put together in the schema, and the definitions it refers to; all of it for references elsewhere."""
    left = [*_put_together_in(schema, schema)]
    known = set(map(id, left))
    for part in left:  # which grows meanwhile
        for reference in _references_in(part):
            definition = _definition(schema, reference)
            if definition is None:
                return [schema]
            if id(definition) not in known:
                known.add(id(definition))
                left.append(definition)
    return left


def _put_together_in(schema: Any, root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The outermost of them. `root`: the whole schema."""
    if not isinstance(schema, Mapping):
        return
    if _is_put_together(schema) or _requires_more(schema, root):
        yield schema
        return
    for name, value in schema.items():
        if name in _NAMED and isinstance(value, Mapping):
            parts = [*value.values()]
        elif name in _WITHIN:
            parts = value if isinstance(value, list | tuple) else [value]
        else:
            continue
        for part in parts:
            yield from _put_together_in(part, root)


def _references_in(part: Any) -> Iterator[str]:
    waiting = [part]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            yield from (value[name] for name in _REFERENCES if isinstance(value.get(name), str))
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value


def _definition(schema: Mapping[str, Any], reference: str) -> Any:
    """The definition that is referred to, or a part of it; None where it is not among the schema's own."""
    root, place, name, *_ = [*reference.split("/"), "", ""]
    definitions = schema.get(place) if root == "#" and place in _DEFINITIONS else None
    return definitions.get(name) if isinstance(definitions, Mapping) else None


def _is_put_together(schema: Mapping[str, Any]) -> bool:
    all_of = schema.get("allOf")
    has_several = isinstance(all_of, list | tuple) and len(all_of) > 1
    # Beside nothing but properties, False says what it says as `additionalProperties`.
    is_plain = _names(schema) and schema.get("unevaluatedProperties") is False
    unevaluated = "unevaluatedProperties" in schema and not is_plain
    return has_several or _names(schema) + unevaluated + sum(name in schema for name in _TOGETHER) > 1


def _requires_more(schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    """Whether it requires beside a reference what its definition does not name: closed, nothing would satisfy both."""
    reference = next((schema[name] for name in _REFERENCES if isinstance(schema.get(name), str)), None)
    if reference is None or "required" not in schema:
        return False
    definition = _definition(root, reference)
    if not isinstance(definition, Mapping) or not isinstance(definition.get("properties"), Mapping):
        return True
    return not _names_what_it_requires({**definition, "required": schema["required"]})


def _names(schema: Mapping[str, Any]) -> bool:
    return "properties" in schema or "patternProperties" in schema


def _names_what_it_requires(schema: Mapping[str, Any]) -> bool:
    """Or has patterns of names, which may fit."""
    required, properties = schema.get("required"), schema.get("properties")
    if "patternProperties" in schema or not isinstance(required, list | tuple) or not isinstance(properties, Mapping):
        return True
    return all(isinstance(name, str) and name in properties for name in required)
