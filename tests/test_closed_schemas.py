"""JSON schemas whose objects hold what they name, and nothing else."""

from typing import Any

import pytest

from llama_gui.tool_calls import closed

A: dict[str, Any] = {"properties": {"a": {}}}
CLOSED_A = {**A, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (A, CLOSED_A),
        ({"patternProperties": {"^x": A}}, {"patternProperties": {"^x": CLOSED_A}, "additionalProperties": False}),
        ({"properties": {"b": A}}, {"properties": {"b": CLOSED_A}, "additionalProperties": False}),
        ({"items": A}, {"items": CLOSED_A}),
        ({"prefixItems": [A], "items": False}, {"prefixItems": [CLOSED_A], "items": False}),
        ({"additionalProperties": A}, {"additionalProperties": CLOSED_A}),
        ({"anyOf": [A, {"type": "null"}]}, {"anyOf": [CLOSED_A, {"type": "null"}]}),
        ({"$ref": "#/$defs/A", "$defs": {"A": A}}, {"$ref": "#/$defs/A", "$defs": {"A": CLOSED_A}}),
        ({"allOf": [A], "title": "Pydantic 1"}, {"allOf": [CLOSED_A], "title": "Pydantic 1"}),
        # properties by such a name are no schemas by name
        ({"properties": {"properties": A}}, {"properties": {"properties": CLOSED_A}, "additionalProperties": False}),
    ],
)  # fmt: skip
def test_objects_hold_what_they_name(schema, expected):
    assert closed(schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"properties": {}, "additionalProperties": {}},
        {"properties": {}, "additionalProperties": True},
        {"enum": [A], "const": A, "default": A, "examples": [A]},
        {"items": None, "anyOf": 5},
        # parts of one object
        {"allOf": [A, {"properties": {"b": {}}}]},
        {"items": A, "contains": {"allOf": [A, A]}},
        {**A, "anyOf": [{"properties": {"b": {}}}, {"properties": {"c": {}}}]},
        {**A, "$ref": "#/$defs/B", "$defs": {"B": {"properties": {"b": {}}}}},
        {"$ref": "#/$defs/B", "oneOf": [A], "$defs": {"B": {"properties": {"b": {}}}}},
        {**A, "if": A, "then": {"properties": {"b": {}}}},
        {**A, "unevaluatedProperties": False},
    ],
)
def test_what_says_more_elsewhere_stays_as_it_is(schema):
    assert closed(schema) == schema
