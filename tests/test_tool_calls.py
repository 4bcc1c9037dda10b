"""Calls of functions in what models write: in the manners of three families, whole and in pieces."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.tool_calls import (
    CallWatch,
    ForcedCalls,
    SaidAndCalled,
    ToolCall,
    call_schema,
    parameters_of,
    parse_tool_calls,
)

NAMES = {"weather", "time.now", "add"}


def call(name: str, **arguments) -> ToolCall:
    return ToolCall(name, json.dumps(arguments, ensure_ascii=False))


OSLO = call("weather", city="Oslo")
ROME = call("weather", city="Rome")
ADD = call("add", a=1, b=[2, {"c": None}])

TAGGED = "<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</function>"

CASES = {
    "tags": (f"I look.\n\n<tool_call>\n{TAGGED}\n</tool_call>", "I look.", (OSLO,)),
    "tags, two": (f"<tool_call>\n{TAGGED}\n</tool_call>\n<tool_call>\n{TAGGED}\n</tool_call>", "", (OSLO, OSLO)),
    "tags, two within one": (f"<tool_call>\n{TAGGED}\n{TAGGED}\n</tool_call>", "", (OSLO, OSLO)),
    "tags without the outer one": (f"Look: {TAGGED}\n</tool_call>", "Look:", (OSLO,)),
    "tags without any outer one, and words behind": (f"{TAGGED}\nThat was it.", "That was it.", (OSLO,)),
    "tags of Seed-OSS": (f"<seed:tool_call>\n{TAGGED}\n</seed:tool_call>", "", (OSLO,)),
    "tags, a value without its end": (TAGGED.replace("</parameter>\n", ""), "", (OSLO,)),
    "tags, no arguments": ("<tool_call>\n<function=time.now>\n</function>\n</tool_call>", "", (call("time.now"),)),
    "tags, values of other kinds": (
        "<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n[2, {'c': None}]\n</parameter>\n</function>",
        "",
        (ADD,),
    ),
    "tags, a value with tags and lines": (
        "<function=weather>\n<parameter=city>\n  a </function>\n\n</parameter> <b>\n</parameter>\n</function>",
        "",
        (call("weather", city="  a </function>\n\n</parameter> <b>"),),
    ),
    "tags in a call in JSON": (
        f'<tool_call>{{"name": "weather", "arguments": {{"city": {json.dumps(TAGGED)}}}}}</tool_call>',
        "",
        (call("weather", city=TAGGED),),
    ),
    "tags in a bare call": (
        f'{{"name": "weather", "parameters": {{"city": {json.dumps(TAGGED)}}}}}',
        "",
        (call("weather", city=TAGGED),),
    ),
    "hermes": ('<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>', "", (OSLO,)),
    "hermes, two, with words": (
        'I look.\n<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>\n'
        '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>',
        "I look.",
        (OSLO, ROME),
    ),
    "hermes, cut before its end": ('<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}', "", (OSLO,)),
    "mistral since 2025": ('Hm. [TOOL_CALLS]weather[ARGS]{"city": "Oslo"}', "Hm.", (OSLO,)),
    "mistral since 2025, two with ids": (
        '[TOOL_CALLS]weather[CALL_ID]a1B2c3D4e[ARGS]{"city": "Oslo"}[TOOL_CALLS]weather[ARGS] {"city": "Oslo"}',
        "",
        (OSLO, OSLO),
    ),
    "mistral since 2025, which writes of another way": (
        '[TOOL_CALLS]weather[ARGS]{"city": "<tool_call>"}', "", (call("weather", city="<tool_call>"),),
    ),
    "mistral": ('[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Oslo"}}]', "", (OSLO,)),
    "nemotron nano 2": (
        'I look.\n<TOOLCALL>[{"name": "weather", "arguments": {"city": "Oslo"}}, {"name": "add", '
        '"arguments": {"a": 1, "b": [2, {"c": null}]}}]</TOOLCALL>',
        "I look.",
        (OSLO, ADD),
    ),
    "mistral without its mark": (
        ' [{"name": "weather", "arguments": {"city": "Oslo"}}, {"name": "add", '
        '"arguments": {"a": 1, "b": [2, {"c": null}]}}]',
        "",
        (OSLO, ADD),
    ),
    "mistral, behind words": (
        'I look. [TOOL_CALLS] [{"name": "weather", "arguments": {"city": "Oslo"}}]', "I look.", (OSLO,),
    ),
    "llama 3.1": ('{"name": "weather", "parameters": {"city": "Oslo"}}', "", (OSLO,)),
    "llama 3.1 with its mark": ('<|python_tag|>{"name": "weather", "parameters": {"city": "Oslo"}}', "", (OSLO,)),
    "llama 3.1, two": (
        '{"name": "weather", "parameters": {"city": "Oslo"}}; {"name": "weather", "parameters": {"city": "Rome"}}',
        "",
        (OSLO, ROME),
    ),
    "llama 3.2": ('[weather(city="Oslo"), weather(city=\'Rome\')]', "", (OSLO, ROME)),
    "llama 3.2, a name with a dot": ("[time.now()]", "", (call("time.now"),)),
    "granite 3.1": ('<tool_call>[{"name": "weather", "arguments": {"city": "Oslo"}}]', "", (OSLO,)),
    "granite 3.3, behind words": (
        'I look.\n<|tool_call|>[{"name": "weather", "arguments": {"city": "Oslo"}}]', "I look.", (OSLO,),
    ),
    "phi-4-mini": ('<|tool_call|>[{"name": "weather", "arguments": {"city": "Rome"}}]<|/tool_call|>', "", (ROME,)),
    "phi-4-mini, in vllm's way": ('functools[{"name": "weather", "arguments": {"city": "Rome"}}]', "", (ROME,)),
    "the mark's end in an argument": (
        '<tool_call>{"name": "weather", "arguments": {"city": "</tool_call>"}}</tool_call>', "",
        (call("weather", city="</tool_call>"),),
    ),
    "behind thoughts": (
        '<think>\n<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>\n</think>\n\n'
        '<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>',
        '<think>\n<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>\n</think>',
        (OSLO,),
    ),
    "llama 3.1 behind thoughts": (
        '<think>Hm.</think>\n{"name": "weather", "parameters": {"city": "Oslo"}}', "<think>Hm.</think>", (OSLO,),
    ),
    "arguments as text": ('{"name": "weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}', "", (OSLO,)),
    "arguments first": ('{"arguments": {"city": "Oslo"}, "name": "weather"}', "", (OSLO,)),
    "its kind first": (
        '[{\n  "type" : "function",\n  "name" : "weather", "parameters": {"city": "Oslo"}}]', "", (OSLO,),
    ),
    "arguments as text, before the name": (
        '{ "arguments" : "{\\"city\\": \\"Oslo\\"}", "name": "weather"}', "", (OSLO,),
    ),
    "parameters as text, in a list": (
        '[\n{"parameters": "{\\"city\\": \\"Oslo\\"}", "name": "weather"}]', "", (OSLO,),
    ),
    "an id first": (
        '{\n"id": "call_1", "name": "weather", "arguments": {"city": "Oslo"}}', "", (OSLO,),
    ),
    "ids first, in a list": (
        '[{"id":"1","name":"weather","arguments":{"city":"Oslo"}}, '
        '{"id":"2","name":"weather","arguments":{"city":"Rome"}}]',
        "",
        (OSLO, ROME),
    ),
    "no arguments": ('{"name": "time.now"}', "", (call("time.now"),)),
    "letters of all kinds": (
        '<tool_call>{"name": "weather", "arguments": {"city": "東京 }]</x>"}}</tool_call>',
        "",
        (call("weather", city="東京 }]</x>"),),
    ),
}  # fmt: skip

NO_CALLS = [
    "",
    "The weather is fine.",
    "{",
    "[1, 2, 3]",
    '{"name": "Ada", "age": 36}',  # an answer in JSON
    '{"name": "rm", "parameters": {}}',  # not offered
    '{"name": "weather", "parameters": [1]}',
    '{"name": "weather", "parameters": {"city": "Oslo"}',
    '{"name": "weather", "parameters": {"city": "Oslo"}} is what I would call',
    '{"name": ["weather"]}',
    '{"id": "7", "city": "Oslo"}',
    '{"arguments": "none", "name": "weather"}',
    '{"name": "weather report", "parameters": {}}',
    '{"title": "a", "name": "weather", "parameters": {}}',  # begins as no call
    '[{"city": "Oslo"}, {"name": "weather", "parameters": {}}]',
    '<tool_call>{"name": "rm", "arguments": {}}</tool_call>',
    "<tool_call>not json</tool_call>",
    "[weather(open('/etc/passwd').read())]",
    "[weather(city=__import__('os'))]",
    "[weather('Oslo')]",
    "[weather(**{'city': 1})]",
    "[weather(city='Oslo'), rm()]",
    "[TOOL_CALLS] nothing",
    '[TOOL_CALLS]unknown[ARGS]{"city": "Oslo"}',
    '[TOOL_CALLS]weather[ARGS]{"city": "Oslo"} and more',
    '[TOOL_CALLS]weather[ARGS]{"city": "Oslo"',
    '[TOOL_CALLS]weather[ARGS]["Oslo"]',
    "functools.cache and functools[1]",
    "<function=rm>\n<parameter=a>\n1\n</parameter>\n</function>",
    "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>",
    "<function=weather report>\n</function>",
    f"<think>{TAGGED}",
    '<think>I call <tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>',
    '<think>`</think>` <tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call></think>Well.',
    ' \n<thinking>\n{"name": "weather", "arguments": {"city": "Rome"}}</thinking> No.',
    "<thin",
    "<think>a</thi",
    "[" * 5000,
    "[weather(city=" + "(" * 3000 + ")" * 3000 + ")]",
]


@pytest.mark.parametrize("case", CASES)
def test_calls_are_found(case: str):
    text, said, calls = CASES[case]
    assert parse_tool_calls(text, NAMES) == SaidAndCalled(said, calls)


@pytest.mark.parametrize("text", NO_CALLS)
def test_what_is_no_call_stays_text(text: str):
    assert parse_tool_calls(text, NAMES) == SaidAndCalled(text, ())


def in_pieces(pieces: list[str]) -> tuple[str, str, tuple[ToolCall, ...]]:
    """What a stream says before the end, at the end, and calls."""
    watch = CallWatch(NAMES)
    said = "".join(watch.push(piece) for piece in pieces)
    left = watch.finish()
    return said, left.text, left.calls


@pytest.mark.parametrize("case", CASES)
def test_a_stream_split_anywhere_calls_the_same(case: str):
    text, said, calls = CASES[case]
    for cut in range(len(text) + 1):
        before, at_end, found = in_pieces([text[:cut], text[cut:]])
        assert found == calls, cut
        assert (before + at_end).strip() == said, cut
    assert in_pieces(list(text))[2] == calls


@pytest.mark.parametrize("text", NO_CALLS)
def test_a_stream_without_calls_says_everything(text: str):
    if len(text) < 1000:
        for cut in range(len(text) + 1):
            before, at_end, found = in_pieces([text[:cut], text[cut:]])
            assert (before + at_end, found) == (text, ())


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "1", "1"),
        ({"type": "integer"}, "1", 1),
        ({"type": "number"}, " 2.5 ", 2.5),
        ({"type": "boolean"}, "True", True),
        ({"type": "boolean"}, "false", False),
        ({"type": "integer"}, "many", "many"),
        ({"type": ["string", "null"]}, "null", None),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "12", "12"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "None", None),
        ({"enum": ["1", "2"]}, "1", "1"),
        ({"const": "1"}, "1", "1"),
        ({"$ref": "#/$defs/Size"}, "3", "3"),
        ({"$ref": "#/$defs/Loop"}, "3", 3),
        ({"$ref": "#/$defs/nothing"}, "3", 3),
        ({"type": "object"}, '{"a": "b"}', {"a": "b"}),
        ({"type": "array"}, "['a', __import__('os')]", "['a', __import__('os')]"),
        ({"type": "string"}, '{"a": 1}', '{"a": 1}'),
        ({}, "Oslo", "Oslo"),
        ({}, "1", 1),
        (True, "1", 1),
    ],
)
def test_the_schema_tells_a_text_from_a_number(schema: object, text: str, value: object):
    """Between tags both look the same."""
    definitions = {"Size": {"enum": ["1", "3"]}, "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}]}}
    parameters = {"f": {"type": "object", "properties": {"a": schema}, "$defs": definitions}}
    written = f"<tool_call>\n<function=f>\n<parameter=a>\n{text}\n</parameter>\n</function>\n</tool_call>"
    found = parse_tool_calls(written, ["f"], parameters=parameters)
    assert found == SaidAndCalled("", (call("f", a=value),))
    watch = CallWatch(["f"], parameters=parameters)
    assert watch.push(written) == ""
    assert watch.finish() == found


def test_many_tags_without_an_end_take_no_long_time():
    for text in ("<function=weather>" * 50_000, TAGGED.replace("</function>", "") * 20_000):
        assert parse_tool_calls(text, NAMES) == SaidAndCalled(text, ())
    assert len(parse_tool_calls(TAGGED * 5_000, NAMES).calls) == 5_000


def test_plain_words_are_not_held_back():
    watch = CallWatch(NAMES)
    assert watch.push("Well") == "Well"
    assert watch.push(", a < b") == ", a < b"
    assert watch.push(" <tool") == " "
    assert watch.push("box>") == "<toolbox>"


@pytest.mark.parametrize(
    ("begins", "goes_on"),
    [
        ('{"', 'answer": '),
        ('\n{ "name"', ': "Ada", '),
        (
            '{"name": "weather',
            " report",
        ),
        ('{"type": "fun', 'nel"'),
        ("[", "1, "),
        ('[{"', 'title": '),
        ("[weather", ", "),
        ('{"arguments": ', "[1]"),
        ('{"id": ', "1"),
    ],
)
def test_an_answer_in_json_is_held_back_only_while_it_can_become_a_call(begins: str, goes_on: str):
    watch = CallWatch(NAMES)
    assert [watch.push(letter) for letter in begins] == [""] * len(begins)
    assert "".join(map(watch.push, goes_on)) == begins + goes_on
    assert watch.push('{"name": "weather"}') == '{"name": "weather"}'
    assert watch.push(CASES["hermes"][0]) == ""
    assert watch.finish() == SaidAndCalled("", (OSLO,))


TAGS = ("<function=weather>", "</function>", "<parameter=a>", "</parameter>", "<seed:tool_call>")


@given(
    st.lists(
        st.sampled_from([*"<>{}[]()\"'=,; ", "<tool_call>", "</tool_call>", "weather", "name", "[TOOL_CALLS]", *TAGS])
    )
)
@settings(max_examples=200, deadline=None)
def test_any_text_is_parsed_and_without_calls_nothing_is_lost(pieces: list[str]):
    text = "".join(pieces)
    said, left, calls = in_pieces(pieces)
    whole = parse_tool_calls(text, NAMES)
    assert bool(calls) == bool(whole.calls)
    if not calls:
        assert said + left == text == whole.text


def test_thoughts_that_the_prompt_begins_call_nothing():
    text = '<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>'
    watch = CallWatch(NAMES, "<think>\n")
    assert watch.push(text) == text
    assert watch.push("</think>" + text) == "</think>"
    assert watch.finish() == SaidAndCalled("", (OSLO,))


def test_an_answer_in_thoughts_is_not_held_back():
    watch = CallWatch(NAMES)
    assert watch.push("<think>{") == "<think>{"
    assert watch.push(' "a" </') == ' "a" '
    assert watch.push("b>") == "</b>"


def test_what_a_call_must_be_finds_the_parts_of_each_schema():
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#"}}}
    made = call_schema({"f": schema, "g": {"type": "object"}})
    first = made["$defs"]["0"]
    assert first["properties"]["a"] == {"$ref": "#/$defs/0/$defs/A"}
    assert first["$defs"]["A"] == {"$ref": "#/$defs/0"}
    assert [entry["properties"]["name"]["const"] for entry in made["$defs"]["call"]["anyOf"]] == ["f", "g"]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (None, {"type": "object"}),
        ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}, "additionalProperties": False}),
        ({"type": "object"}, {"type": "object"}),
        ({"type": "object", "properties": {}, "additionalProperties": {}}, None),
        ({"type": "object", "properties": {}, "allOf": [{}]}, None),
        ({"$ref": "#/$defs/A", "$defs": {"A": {}}}, None),
        ({"type": "string"}, {"type": "object"}),
    ],
)
def test_arguments_are_an_object_with_nothing_that_it_does_not_name(parameters, expected):
    assert parameters_of({"function": {"name": "f", "parameters": parameters}}) == ("f", expected or parameters)


# --- calls that had to be made

FORCED = [
    ("", '{"name": "f", "arguments": {"a": "}\\\\"}}', [("f", '{"a": "}\\\\"}')]),
    ("", '{"name":"f","arguments":{"a":{"b":["]",{}]}}}', [("f", '{"a":{"b":["]",{}]}}')]),
    ("", '{\n  "name": "f",\n  "arguments": []}', [("f", "[]")]),
    ("", '{"name": "a \\"b\\" \\u00e4", "arguments": {"a": "\\""}}', [('a "b" \u00e4', '{"a": "\\""}')]),
    ("", '{"name": "f", "arguments": {"a": {}', [("f", '{"a": {}')]),
    ("", '{"name": "f", "argum', []),
    ("", '{"name": "f", "arguments": ', []),
    ("g", '{"a": {"b": 1}}', [("g", '{"a": {"b": 1}}')]),
    ("g", ' {"a": {"b', [("g", '{"a": {"b')]),
    ("g", '{"name": "f", "arguments": {}}', [("g", '{"name": "f", "arguments": {}}')]),
    # a list of them
    ("", '[{"name": "f", "arguments": {}}]', [("f", "{}")]),
    (
        "",
        '[ {"name":"f","arguments":{"a":"]},{"}},\n{"name": "g", "arguments": {"name": "f", "arguments": []}} ]',
        [("f", '{"a":"]},{"}'), ("g", '{"name": "f", "arguments": []}')],
    ),
    ("", '[{"name": "f", "arguments": {}}, {"name": "f", "arguments": {"b', [("f", "{}"), ("f", '{"b')]),
    ("", '[{"name": "f", "arguments": {}}, {"name": "f", "arg', [("f", "{}")]),
]


@pytest.mark.parametrize(("name", "text", "expected"), FORCED)
@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_a_call_that_had_to_be_made_is_read_while_it_is_written(name, text, expected, size):
    forced = ForcedCalls(name)
    pieces = [piece for at in range(0, len(text), size) for piece in forced.push(text[at : at + size])]
    assert forced.calls == tuple(ToolCall(*call) for call in expected)
    for index, (function, arguments) in enumerate(expected):
        of_call = [piece for piece in pieces if piece.index == index]
        assert {piece.name for piece in of_call} == {function}
        assert [piece.begins for piece in of_call] == [True] + [False] * (len(of_call) - 1)
        assert "".join(piece.arguments for piece in of_call) == arguments


@pytest.mark.parametrize("text", ['{"name": "now", "parameters": {}}', '[{"name": "now", "arguments": {}}]', "[now()]"])
def test_without_a_mark_nothing_is_called_where_all_calls_have_one(text: str):
    assert parse_tool_calls(text, ["now"]).calls
    assert parse_tool_calls(text, ["now"], bare=False) == SaidAndCalled(text, ())
    watch = CallWatch(["now"], bare=False)
    assert watch.push(text[:20]) == text[:20]  # nothing is held back
    assert watch.push(text[20:]) == text[20:]
    assert watch.finish() == SaidAndCalled("", ())
    called = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
    assert len(parse_tool_calls(called, ["now"], bare=False).calls) == 1


def test_a_name_of_two_words_in_mistrals_newer_way():
    found = parse_tool_calls("[TOOL_CALLS]get weather[ARGS]{}[TOOL_CALLS]get[ARGS]{}", ["get", "get weather"])
    assert [one.name for one in found.calls] == ["get weather", "get"]
