"""Calls as Python between control tokens, as LFM2 writes them."""

import ast
import json
from typing import Any

import pytest

from llama_gui.tool_calls import CallWatch, parse_tool_calls, written_calls
from llama_gui.tool_calls.pythonic import marked_calls

NAMES = ("weather", "time", "files.list")
HARD = "a 'quoted' \"text\" with [brackets], (these) = and\nmore \\ <|tool_call_start|>"


def marked(calls: str) -> str:
    return f"<|tool_call_start|>{calls}<|tool_call_end|>"


@pytest.mark.parametrize(
    ("calls", "read"),
    [
        ("[weather()]", [("weather", {})]),
        ('[weather(city="Oslo", days=3)]', [("weather", {"city": "Oslo", "days": 3})]),
        ("[weather(city='Oslo'), time(zone=None)]", [("weather", {"city": "Oslo"}), ("time", {"zone": None})]),
        ("[weather(a=True, b=false, c=null, d=-1.5e3)]", [("weather", {"a": True, "b": False, "c": None, "d": -1500})]),
        (
            '[weather(e=[1, "x", []], f={"g": {"h": true}})]',
            [("weather", {"e": [1, "x", []], "f": {"g": {"h": True}}})],
        ),
        ('weather(city="Oslo")', [("weather", {"city": "Oslo"})]),
        ('[files.list(path="/")]', [("files.list", {"path": "/"})]),
        ('[{"name": "weather", "arguments": {"days": 1}}]', [("weather", {"days": 1})]),
        ('{"name": "weather", "arguments": {}}', [("weather", {})]),
    ],
)
def test_what_is_written(calls: str, read: list[Any]):
    found = parse_tool_calls(f"I look.{marked(calls)}One moment.", NAMES)
    assert found.text == "I look.One moment."
    assert [(call.name, json.loads(call.arguments)) for call in found.calls] == read


def test_several_blocks():
    found = parse_tool_calls(marked("[weather(days=1)]") + " and " + marked("[time(), weather(days=2)]"), NAMES)
    assert found.text == "and"
    assert [call.name for call in found.calls] == ["weather", "time", "weather"]


def test_the_mark_behind_them_may_be_missing():
    found = parse_tool_calls('<|tool_call_start|>[weather(city="Oslo")]', NAMES)
    assert (found.text, len(found.calls)) == ("", 1)


@pytest.mark.parametrize(
    "calls",
    [
        "[unknown(days=1)]",
        "[weather(days=1), unknown()]",
        "[weather(days=",
        '[weather("Oslo")]',
        "[weather(days=open('x'))]",
        "[weather(days=other)]",
        "[weather(**{'a': 1})]",
        "[weather]",
        "",
        '[{"name": "unknown", "arguments": {}}]',
        '[{"name": "weather"}]',
        "[weather(a=" + "[" * 300 + "]" * 300 + ")]",
    ],
)
def test_what_cannot_be_read_stays_text(calls: str):
    text = marked(calls)
    found = parse_tool_calls(text, NAMES)
    assert (found.text, found.calls) == (text, ())
    assert not marked_calls(text, {name: {} for name in NAMES})


def test_they_are_not_shown_while_they_come():
    watch = CallWatch(NAMES)
    text = f"I look. {marked('[weather(days=1)]')}"
    said = "".join(watch.push(letter) for letter in text)
    rest = watch.finish()
    assert (said + rest.text).strip() == "I look."
    assert [call.arguments for call in rest.calls] == ['{"days": 1}']


@pytest.mark.parametrize(
    "calls",
    [
        [("weather", {})],
        [("weather", {"city": "Zürich", "days": 3}), ("time", {"zone": None, "dst": True, "x": [1, {"y": 0.5}]})],
        [("weather", {"city": HARD})],
    ],
)
def test_they_are_written_as_they_are_read(calls: list[Any]):
    text = written_calls(calls)
    inner = text.removeprefix("<|tool_call_start|>").removesuffix("<|tool_call_end|>")
    nodes = ast.parse(inner, mode="eval").body
    assert isinstance(nodes, ast.List)
    assert len(nodes.elts) == len(calls)
    if HARD not in str(calls[0][1].get("city")):  # in a prompt nothing that somebody said becomes a mark
        found = parse_tool_calls(text, NAMES).calls
        assert [(call.name, json.loads(call.arguments)) for call in found] == calls
