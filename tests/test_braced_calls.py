"""Calls as Gemma 4 writes them."""

import json
from typing import Any

import pytest

from llama_gui.tool_calls import CallWatch, parse_tool_calls
from llama_gui.tool_calls.braced import braced_calls

NAMES = ("weather", "weather_of_days")
QUOTE = '<|"|>'
HARD = 'a "quoted" {brace}, [list]: and\nmore'


def written(arguments: str, name: str = "weather") -> str:
    return f"<|tool_call>call:{name}{{{arguments}}}<tool_call|>"


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ("", {}),
        (f"city:{QUOTE}Oslo{QUOTE},days:3", {"city": "Oslo", "days": 3}),
        ("a:true,b:false,c:null,d:-1.5e3", {"a": True, "b": False, "c": None, "d": -1500.0}),
        (f"e:[1,{QUOTE}x{QUOTE},[]]", {"e": [1, "x", []]}),
        (f"a:{{b:{{{QUOTE}c d{QUOTE}:1}}}}", {"a": {"b": {"c d": 1}}}),
        (f"text:{QUOTE}{HARD}{QUOTE}", {"text": HARD}),
        ('city : "Oslo" , days: 3', {"city": "Oslo", "days": 3}),
    ],
)
def test_what_is_written(arguments: str, read: dict[str, Any]):
    found = parse_tool_calls(f"I look.{written(arguments)}", NAMES)
    assert found.text == "I look."
    assert [(call.name, json.loads(call.arguments)) for call in found.calls] == [("weather", read)]


def test_several():
    text = written("days:1") + "\n" + written("days:2", "weather_of_days")
    assert [(call.name, call.arguments) for call in parse_tool_calls(text, NAMES).calls] == [
        ("weather", '{"days": 1}'),
        ("weather_of_days", '{"days": 2}'),
    ]


def test_the_mark_behind_it_may_be_missing():
    found = parse_tool_calls("<|tool_call>call:weather{days:1}", NAMES)
    assert (found.text, len(found.calls)) == ("", 1)


@pytest.mark.parametrize(
    "text",
    [
        written("days:1", "unknown"),
        "<|tool_call>call:weather{days:",
        "<|tool_call>call:weather{days 1}",
        written("days:one"),
        written(f"city:{QUOTE}Oslo"),
        written("days:1 2"),
        written("a:" + "[" * 60 + "]" * 60),
        "call:weather{days:1}",
    ],
)
def test_what_cannot_be_read_stays_text(text: str):
    found = parse_tool_calls(text, NAMES)
    assert (found.text, found.calls) == (text, ())
    assert not braced_calls(text, {name: {} for name in NAMES})


def test_it_is_not_shown_while_it_comes():
    watch = CallWatch(NAMES)
    text = f"I look. {written(f'city:{QUOTE}Oslo{QUOTE}')}"
    said = "".join(watch.push(letter) for letter in text)
    rest = watch.finish()
    assert (said + rest.text).strip() == "I look."
    assert [call.arguments for call in rest.calls] == ['{"city": "Oslo"}']
