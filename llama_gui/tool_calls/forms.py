"""What calls must be: JSON schemas of one call, and of several. Pure."""

from collections.abc import Mapping
from typing import Any

from llama_gui.tool_calls.closing import closed

Parameters = Mapping[str, Mapping[str, Any]]
"""Functions by their names: the JSON schemas of their arguments."""

NO_SCHEMAS: Parameters = {}
ANY_OBJECT: Mapping[str, Any] = {"type": "object"}
_NOTHING: Mapping[str, Any] = {}
_CALL: Mapping[str, Any] = {"$ref": "#/$defs/call"}
_MOST_CALLS = 32
"""Of one answer: a weak model would write them to the end of its context."""


def call_schema(parameters: Parameters, key: str = "arguments") -> dict[str, Any]:
    """One call of any of these functions, as an object of `name` and `key`."""
    # Llama's say of what type they are, if they like.
    first = {"type": {"const": "function"}} if key == "parameters" else {}
    return {**_CALL, "$defs": _definitions(parameters, key, first=first)}


def calls_schema(parameters: Parameters, key: str = "arguments") -> dict[str, Any]:
    """A list of such calls; each may have an id, as Mistral's."""
    definitions = _definitions(parameters, key, last={"id": {"type": "string", "maxLength": 64}})
    return {"type": "array", "items": _CALL, "minItems": 1, "$defs": definitions}


def answer_or_calls(
    parameters: Parameters, answer: Mapping[str, Any] | None = None, *, several: bool = False
) -> dict[str, Any]:
    """One such call; or, with `several`, a list of them; or what follows the schema `answer`.

    A model that was taught to write calls as a list begins one, and the others write one call.
    """
    definitions, ways = _definitions(parameters, "arguments"), [_CALL]
    if several:
        ways.append({"type": "array", "items": _CALL, "minItems": 1, "maxItems": _MOST_CALLS})
    if answer is not None:
        definitions["answer"] = _moved(answer, "#/$defs/answer")
        ways.append({"$ref": "#/$defs/answer"})
    return {"anyOf": ways, "$defs": definitions}


def parameters_of(tool: Any) -> tuple[str, Mapping[str, Any]] | None:
    """Name and schema of the arguments of a tool as chat templates read it; None where it is no function."""
    function = tool.get("function", tool) if isinstance(tool, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(name, str) or not name:
        return None
    parameters = function.get("parameters")
    return name, as_object(parameters if isinstance(parameters, Mapping) else {})


def as_object(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of arguments, which are an object, and `closed`."""
    if "type" not in schema and not any(name in schema for name in ("$ref", "allOf", "anyOf", "oneOf")):
        schema = {"type": "object", **schema}
    if schema.get("type", "object") != "object":  # no function takes that
        return ANY_OBJECT
    return closed(schema)


def _definitions(
    parameters: Parameters, key: str, first: Mapping[str, Any] = _NOTHING, last: Mapping[str, Any] = _NOTHING
) -> dict[str, Any]:
    """Each schema has a place of its own, so that what it calls `#/$defs/…` is still found."""
    definitions: dict[str, Any] = {}
    calls: list[dict[str, Any]] = []
    for number, (name, schema) in enumerate(parameters.items()):
        place = f"#/$defs/{number}"
        definitions[str(number)] = _moved(schema, place)
        calls.append(
            {
                "type": "object",
                "properties": {**first, "name": {"const": name}, key: {"$ref": place}, **last},
                "required": ["name", key],
                "additionalProperties": False,
            }
        )
    return {**definitions, "call": {"anyOf": calls}}


def _moved(value: Any, place: str) -> Any:
    """A part of a schema whose root is at `place` of another one."""
    if isinstance(value, Mapping):
        return {
            name: f"{place}{part[1:]}" if name == "$ref" and _is_local(part) else _moved(part, place)
            for name, part in value.items()
        }
    return [_moved(part, place) for part in value] if isinstance(value, list | tuple) else value


def _is_local(reference: Any) -> bool:
    return isinstance(reference, str) and reference.startswith("#")
