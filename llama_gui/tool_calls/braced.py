"""Calls as Gemma 4 writes them: nearly JSON, with texts between control tokens and keys without quotes. Pure.

::

    <|tool_call>call:weather{city:<|"|>Oslo<|"|>,days:3}<tool_call|>

No grammar asks for them.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from llama_gui.tool_calls.forms import Parameters
from llama_gui.tool_calls.tagged import TaggedCall

MARK, CLOSE, QUOTE = "<|tool_call>", "<tool_call|>", '<|"|>'
BRACED_MARKS = (MARK, CLOSE, QUOTE)
BRACED_OPENING = f"{MARK}call:"
_KEY = re.compile(r"\s*([^\s:{}\[\],<>\"]+)\s*:")
_WORD = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_BLANKS = re.compile(r"\s*")
_MOST_LEVELS = 50


def braced_calls(text: str, parameters: Parameters) -> Sequence[TaggedCall]:
    """All whole calls of these functions, in order."""
    calls: list[TaggedCall] = []
    at = 0
    while (begin := text.find(BRACED_OPENING, at)) >= 0:
        inner = begin + len(BRACED_OPENING)
        at = inner
        name = max((name for name in parameters if text.startswith(f"{name}{{", inner)), key=len, default=None)
        if name is None:
            continue
        try:
            arguments, end = _object(text, inner + len(name), _MOST_LEVELS)
        except ValueError:
            continue
        at = end + len(CLOSE) if text.startswith(CLOSE, end) else end
        calls.append(TaggedCall(begin, at, name, arguments))
    return calls


# Each gives what stands at a place, and where that ends; ValueError: something else does.


def _object(text: str, at: int, levels: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    at = _behind(text, at + 1)
    while not text.startswith("}", at):
        if text.startswith(QUOTE, at):
            key, at = _text(text, at)
            at = _behind(text, at)
            if not text.startswith(":", at):
                raise ValueError(at)
            at += 1
        else:
            match = _KEY.match(text, at)
            if match is None:
                raise ValueError(at)
            key, at = match[1], match.end()
        found[key], at = _value(text, _behind(text, at), levels)
        at = _next(text, at, "}")
    return found, at + 1


def _list(text: str, at: int, levels: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    at = _behind(text, at + 1)
    while not text.startswith("]", at):
        value, at = _value(text, at, levels)
        found.append(value)
        at = _next(text, at, "]")
    return found, at + 1


def _value(text: str, at: int, levels: int) -> tuple[Any, int]:
    if not levels:
        raise ValueError(at)
    if text.startswith(QUOTE, at):
        return _text(text, at)
    if text.startswith("{", at):
        return _object(text, at, levels - 1)
    if text.startswith("[", at):
        return _list(text, at, levels - 1)
    if text.startswith('"', at):  # not as it was taught
        return json.JSONDecoder().raw_decode(text, at)
    word = _WORD.match(text, at)
    if word is None:
        raise ValueError(at)
    return json.loads(word[0]), word.end()


def _text(text: str, at: int) -> tuple[str, int]:
    end = text.find(QUOTE, at + len(QUOTE))
    if end < 0:
        raise ValueError(at)
    return text[at + len(QUOTE) : end], end + len(QUOTE)


def _next(text: str, at: int, close: str) -> int:
    """Behind a comma, or where it is closed."""
    at = _behind(text, at)
    if text.startswith(",", at):
        return _behind(text, at + 1)
    if not text.startswith(close, at):
        raise ValueError(at)
    return at


def _behind(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return at if match is None else match.end()
