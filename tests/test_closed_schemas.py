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
        ({"$ref": "#/$defs/A", "required": ["a"], "$defs": {"A": A}},
         {"$ref": "#/$defs/A", "required": ["a"], "$defs": {"A": CLOSED_A}}),
        ({"allOf": [A], "title": "Pydantic 1"}, {"allOf": [CLOSED_A], "title": "Pydantic 1"}),
        # properties by such a name are no schemas by name
        ({"properties": {"properties": A}}, {"properties": {"properties": CLOSED_A}, "additionalProperties": False}),
        ({**A, "required": ["a"]}, {**CLOSED_A, "required": ["a"]}),
        ({**A, "unevaluatedProperties": False}, CLOSED_A),
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
        {"items": {"allOf": [A, A]}},
        {**A, "anyOf": [{"properties": {"b": {}}}, {"properties": {"c": {}}}]},
        {**A, "$ref": "#/$defs/B", "$defs": {"B": {"properties": {"b": {}}}}},
        {"$ref": "#/$defs/B", "oneOf": [A], "$defs": {"B": {"properties": {"b": {}}}}},
        {**A, "if": A, "then": {"properties": {"b": {}}}},
        {**A, "unevaluatedProperties": {"type": "string"}},
        {**A, "unevaluatedProperties": False, "$ref": "#/$defs/B", "$defs": {"B": {"properties": {"b": {}}}}},
        {"oneOf": [A], "unevaluatedProperties": False},
        # closed, nothing would satisfy it
        {**A, "required": ["a", "b"]},
        {"properties": {}, "required": [["no name"]]},
    ],
)
def test_what_says_more_elsewhere_stays_as_it_is(schema):
    assert closed(schema) == schema


BOTH: dict[str, Any] = {"allOf": [{"$ref": "#/$defs/B"}, {"properties": {"c": {"properties": {}}}}]}


def test_what_is_beside_a_part_that_is_put_together_is_closed():
    b, d, e = ({"properties": {name: {}}} for name in "bde")
    b["properties"]["b"] = {"$ref": "#/$defs/D/properties/d"}  # so D stays open, too
    schema = {"properties": {"a": A, "both": BOTH}, "$defs": {"B": b, "D": d, "E": e}}
    definitions = {"B": b, "D": d, "E": {**e, "additionalProperties": False}}
    expected = {"properties": {"a": CLOSED_A, "both": BOTH}, "$defs": definitions, "additionalProperties": False}
    assert closed(schema) == expected


def test_an_object_that_requires_what_it_does_not_name_opens_no_other():
    open_one = {**A, "required": ["b"]}
    schema = {"properties": {"one": open_one, "other": A}}
    expected = {"properties": {"one": open_one, "other": CLOSED_A}, "additionalProperties": False}
    assert closed(schema) == expected


@pytest.mark.parametrize("definition", [A, {"$ref": "#/$defs/B"}, {"anyOf": [A, A]}])
def test_what_requires_more_beside_a_reference_leaves_its_definition_open(definition):
    part, b, c, other = {"$ref": "#/$defs/A", "required": ["more"]}, dict(A), dict(A), dict(A)
    found = closed({"properties": {"a": part, "c": c}, "$defs": {"A": definition, "B": b, "C": other}})
    assert found["properties"] == {"a": part, "c": CLOSED_A}
    assert found["$defs"] == {"A": definition, "B": b if "$ref" in definition else CLOSED_A, "C": CLOSED_A}


@pytest.mark.parametrize("reference", ["#", "#/properties/a", "#/$defs/missing", "#named", "https://example.org/b"])
def test_all_stays_as_it_is_where_a_part_refers_elsewhere(reference):
    schema = {"properties": {"a": A, "both": {"allOf": [{"$ref": reference}, A]}}, "$defs": {"B": A}}
    assert closed(schema) == schema


def test_what_refers_to_each_other_comes_to_an_end():
    b = {"properties": {"b": {"$ref": "#/definitions/C"}}}
    c = {"properties": {"c": {"$ref": "#/definitions/B"}}}
    both = {"allOf": [{"$ref": "#/definitions/B"}, A]}
    schema = {"items": both, "definitions": {"B": b, "C": c, "D": A}}
    assert closed(schema) == {"items": both, "definitions": {"B": b, "C": c, "D": CLOSED_A}}
