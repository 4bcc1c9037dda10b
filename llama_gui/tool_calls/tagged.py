"""Calls whose arguments stand between tags, each as it is, and not in JSON. Pure.

::

    <tool_call>
    <function=weather>
    <parameter=city>
    Oslo
    </parameter>
    </function>
    </tool_call>

So Qwen3-Coder writes them, often without the outer tags, and Seed-OSS with `<seed:tool_call>`. As vLLM's
`qwen3_coder` reads them: a parameter may lack its end, and the schema tells whether a value is a text.
"""

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_gui.tool_calls.forms import Parameters

_OUTER = ("<tool_call>", "<seed:tool_call>")
_FUNCTION, _FUNCTION_ENDS = "<function=", "</function>"
_PARAMETER, _PARAMETER_ENDS = "<parameter=", "</parameter>"
_CLOSES = re.compile(r"\s*</(?:seed:)?tool_call>")
_CONSTANTS = {"True": True, "False": False, "None": None}
_MOST_LEVELS = 20


@dataclass(frozen=True, slots=True)
class TaggedCall:
    """One call, and where it stands with all its tags: from `begin` up to `end`."""

    begin: int
    end: int
    name: str
    arguments: Mapping[str, Any]


def tagged_openings(names: Iterable[str]) -> tuple[str, ...]:
    """How calls of these functions begin."""
    return (*_OUTER, *(f"{_FUNCTION}{name}>" for name in names))


def tagged_calls(text: str, parameters: Parameters) -> Sequence[TaggedCall]:
    """All whole calls of these functions, in order. Without a schema a value is what it is in JSON, or a text."""
    calls: list[TaggedCall] = []
    at = 0
    while (begin := text.find(_FUNCTION, at)) >= 0:
        inner = begin + len(_FUNCTION)
        name = next((name for name in parameters if text.startswith(f"{name}>", inner)), None)
        if name is None:
            at = inner
            continue
        inner += len(name) + 1
        end = _end_of_function(text, inner)
        if end < 0:
            break
        outer = _with_outer_tags(text, begin, end + len(_FUNCTION_ENDS), at)
        calls.append(TaggedCall(*outer, name, _arguments(text[inner:end], parameters[name])))
        at = outer[1]
    return calls


def _end_of_function(text: str, at: int) -> int:
    """Where it is closed, or -1. A value may be a text about such tags, so not within a parameter that is closed."""
    end = text.find(_FUNCTION_ENDS, at)
    while end >= 0:
        opened, closed = text.rfind(_PARAMETER, at, end), text.find(_PARAMETER_ENDS, end)
        is_within = opened >= 0 and text.find(_PARAMETER_ENDS, opened, end) < 0 <= closed
        if not is_within or any(text.find(tag, end, closed) >= 0 for tag in (_FUNCTION, _PARAMETER)):
            return end
        end = text.find(_FUNCTION_ENDS, closed)
    return end


def _with_outer_tags(text: str, begin: int, end: int, least: int) -> tuple[int, int]:
    before = text[least:begin].rstrip()
    tag = next((tag for tag in _OUTER if before.endswith(tag)), "")
    closing = _CLOSES.match(text, end)
    return least + len(before) - len(tag) if tag else begin, end if closing is None else closing.end()


def _arguments(body: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    known: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    arguments: dict[str, Any] = {}
    for part in body.split(_PARAMETER)[1:]:
        name, closed, rest = part.partition(">")
        if closed:
            value = rest.rpartition(_PARAMETER_ENDS)[0] if _PARAMETER_ENDS in rest else rest
            arguments[name] = _value(value.removeprefix("\n").removesuffix("\n"), _types(known.get(name), schema))
    return arguments


def _value(text: str, types: frozenset[str]) -> Any:
    """A text where it may be one, but for the word that stands for nothing."""
    if "string" in types:
        return None if "null" in types and text.strip() == "null" else text
    stripped = text.strip()
    if stripped in _CONSTANTS:
        return _CONSTANTS[stripped]
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        pass
    if stripped[:1] not in ("{", "["):
        return text
    try:
        value = ast.literal_eval(stripped)  # read, never run
        json.dumps(value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text
    return value


def _types(schema: Any, root: Mapping[str, Any], levels: int = _MOST_LEVELS) -> frozenset[str]:
    """The JSON types that a value may have; none where the schema does not say."""
    if not isinstance(schema, Mapping) or not levels:
        return frozenset()
    kinds = schema.get("type")
    found = {kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)}
    if not found and any(isinstance(value, str) for value in (*_list(schema, "enum"), schema.get("const"))):
        found.add("string")
    parts = [part for name in ("anyOf", "oneOf", "allOf") for part in _list(schema, name)]
    if isinstance(schema.get("$ref"), str):
        parts.append(_pointed(root, schema["$ref"]))
    return frozenset(found).union(*(_types(part, root, levels - 1) for part in parts))


def _list(schema: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = schema.get(name)
    return value if isinstance(value, list) else ()


def _pointed(root: Mapping[str, Any], reference: str) -> Any:
    """The part of a schema that `#/$defs/A` stands for."""
    value: Any = root
    for step in re.findall(r"/([^/]+)", reference) if reference.startswith("#") else ():
        value = value.get(step) if isinstance(value, Mapping) else None
    return value
