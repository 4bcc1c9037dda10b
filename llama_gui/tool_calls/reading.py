"""Calls taken out of what a model wrote, in each of the `manners`.

Control tokens may be missing in an answer's text, and with them the marks. What stands alone is a call only when it
begins as one, and calls a function that was offered: an answer may be JSON for its own sake.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from llama_gui.tool_calls.bare import BareBeginnings
from llama_gui.tool_calls.braced import braced_calls
from llama_gui.tool_calls.forms import ANY_OBJECT, NO_SCHEMAS, Parameters
from llama_gui.tool_calls.manners import MANNERS, MISTRAL_NAMED, Manner
from llama_gui.tool_calls.pythonic import marked_calls, read_pythonic
from llama_gui.tool_calls.tagged import tagged_calls
from llama_gui.tool_calls.thoughts import Thoughts

_MARK, _BEHIND_NAME = (
    re.compile(rf"(?:{re.escape(MISTRAL_NAMED.mark)})?\s*"),
    re.compile(rf"\s*(?:{re.escape(MISTRAL_NAMED.before_id)}[\w\s-]*)?{re.escape(MISTRAL_NAMED.before_arguments)}\s*"),
)
_CLOSED = tuple(manner for manner in MANNERS if manner.close)
_OPEN_ENDED = tuple(manner for manner in MANNERS if manner.mark and not manner.close)
_BETWEEN = " \t\r\n;,"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call: the function, and its arguments as JSON text."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class SaidAndCalled:
    """What an answer says to the user, and what it calls."""

    text: str
    calls: tuple[ToolCall, ...]


def parse_tool_calls(
    text: str, names: Collection[str], *, bare: bool = True, parameters: Parameters = NO_SCHEMAS
) -> SaidAndCalled:
    """Take the calls out of a whole answer. A call that cannot be read, or of no function in `names`, stays text.

    What is thought calls nothing, where the answer begins with the tag for that (`ModelInfo.opening`). `bare`: whether
    an answer may be a call without a mark; not where the model always marks its calls (`ModelInfo.marks_calls`).
    `parameters`: the JSON schemas of the arguments, by the functions' names; some models write texts and numbers alike,
    and only these tell them apart.
    """
    thoughts = Thoughts()
    begun, rest = thoughts.push(text), thoughts.finish()
    thought = begun[0] + rest[0]
    found = parse_answer(begun[1] + rest[1], names, bare=bare, parameters=parameters)
    return SaidAndCalled((thought + found.text).rstrip() if found.calls else text, found.calls)


def parse_answer(
    text: str, names: Collection[str], *, bare: bool = True, parameters: Parameters = NO_SCHEMAS
) -> SaidAndCalled:
    """The same for what is no thought."""
    manner = min((m for m in _CLOSED if m.mark in text), key=lambda m: text.index(m.mark), default=None)
    said, mark, rest = _split_at_mark(text)
    closed_at = len(text) if manner is None else text.index(manner.mark)
    open_at = len(said) if mark else len(text)
    is_bare = bare and BareBeginnings(names).are_in(text)
    if not is_bare:
        known = {name: parameters.get(name, ANY_OBJECT) for name in names}
        tagged = _parse_tagged(text, min(closed_at, open_at), known)
        if tagged is not None:
            return tagged
    if manner is not None and closed_at < open_at:
        return _parse_closed(text, manner, names)
    if not mark and not is_bare:
        return SaidAndCalled(text, ())
    for read in (_read_json_calls, _read_pythonic, _read_named):
        calls = read(rest.strip(), names)
        if calls:
            return SaidAndCalled(said.rstrip() if mark else "", calls)
    return SaidAndCalled(text, ()) if manner is None else _parse_closed(text, manner, names)


def _parse_tagged(text: str, most: int, parameters: Parameters) -> SaidAndCalled | None:
    """Calls between tags or other marks of their own; None where there are none, or the first begins behind `most`."""
    calls = tagged_calls(text, parameters) or braced_calls(text, parameters) or marked_calls(text, parameters)
    if not calls or calls[0].begin > most:
        return None
    ends = [0, *(call.end for call in calls)]
    said = "".join(
        text[end:begin] for end, begin in zip(ends, [*(call.begin for call in calls), len(text)], strict=True)
    )
    read = (ToolCall(call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in calls)
    return SaidAndCalled(said.strip(), tuple(read))


def _parse_closed(text: str, manner: Manner, names: Collection[str]) -> SaidAndCalled:
    """Calls that stand among words, each behind its mark."""
    calls: list[ToolCall] = []
    said, at = "", 0
    while (found := text.find(manner.mark, at)) >= 0:
        said += text[at:found]
        at = found + len(manner.mark)
        read = _calls_at(text, at, manner, names)
        if read is None:
            said += manner.mark
        else:
            calls += read[0]
            at = read[1]
    said += text[at:]
    return SaidAndCalled(said.strip() if calls else text, tuple(calls))


def _calls_at(text: str, at: int, manner: Manner, names: Collection[str]) -> tuple[tuple[ToolCall, ...], int] | None:
    """The calls there, and where they end; None where there are none, or something else is behind them."""
    try:
        values, end = _json_values(text, at)
    except (ValueError, RecursionError):
        return None
    calls = _calls_of(values, names)
    if not calls:
        return None
    if text.startswith(manner.close, end):
        return calls, end + len(manner.close)
    may_end_here = end == len(text) or not manner.must_close or isinstance(values[-1], list)
    return (calls, end) if may_end_here else None


def _split_at_mark(text: str) -> tuple[str, str, str]:
    """What stands before a mark, the mark, what stands behind it; without a mark all of it is behind."""
    for manner in _OPEN_ENDED:
        before, found, rest = text.partition(manner.opening)
        if found:
            return before, found, manner.begins + rest
    return "", "", text


def _read_json_calls(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    """One object, a list of them, or some with ";" or white space between; nothing where a part is no call."""
    try:
        values, end = _json_values(text, 0)
    except (ValueError, RecursionError):
        return ()
    return _calls_of(values, names) if end == len(text) else ()


def _read_named(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    """Names as they are, each with its arguments in JSON behind it."""
    calls: list[ToolCall] = []
    at = 0
    while at < len(text):
        mark = _MARK.match(text, at)
        begin = mark.end() if mark is not None else at
        name = max((name for name in names if text.startswith(name, begin)), key=len, default="")
        behind = _BEHIND_NAME.match(text, begin + len(name))
        if not name or behind is None:
            return ()
        try:
            arguments, at = json.JSONDecoder().raw_decode(text, behind.end())
            call = _call_of({"name": name, "arguments": arguments}, names)
        except (ValueError, RecursionError):
            return ()
        if call is None:
            return ()
        calls.append(call)
        at = _behind(text, at, _BETWEEN)
    return tuple(calls)


def _json_values(text: str, at: int) -> tuple[list[Any], int]:
    """The objects and lists that follow each other there, and where what is behind them begins."""
    decoder, values = json.JSONDecoder(), list[Any]()
    at = _behind(text, at, " \t\r\n")
    while text[at : at + 1] in ("{", "["):
        value, at = decoder.raw_decode(text, at)
        values.append(value)
        at = _behind(text, at, _BETWEEN)
    return values, at


def _behind(text: str, at: int, letters: str) -> int:
    while at < len(text) and text[at] in letters:
        at += 1
    return at


def _calls_of(values: Collection[Any], names: Collection[str]) -> tuple[ToolCall, ...]:
    calls: list[ToolCall] = []
    for value in values:
        for entry in value if isinstance(value, list) else [value]:
            try:
                call = _call_of(entry, names)
            except (ValueError, RecursionError):
                call = None
            if call is None:
                return ()
            calls.append(call)
    return tuple(calls)


def _call_of(entry: Any, names: Collection[str]) -> ToolCall | None:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str) or entry["name"] not in names:
        return None
    arguments = next((entry[key] for key in ("arguments", "parameters") if key in entry), {})
    if isinstance(arguments, str):  # some models write the arguments as the text of an object
        arguments = json.loads(arguments)
    if not isinstance(arguments, Mapping):
        return None
    return ToolCall(entry["name"], json.dumps(arguments, ensure_ascii=False))


def _read_pythonic(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(name, json.dumps(arguments, ensure_ascii=False)) for name, arguments in read_pythonic(text, names)
    )
