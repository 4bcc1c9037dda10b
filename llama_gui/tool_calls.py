"""Calls of functions in what a model wrote: the manners of Qwen (Hermes), Mistral and Llama 3.x.

::

    <tool_call>{"name": "f", "arguments": {…}}</tool_call>      Qwen, Hermes
    [TOOL_CALLS][{"name": "f", "arguments": {…}}]               Mistral
    <|python_tag|>{"name": "f", "parameters": {…}}; {…}         Llama 3.1
    [f(a=1, b="x")]                                             Llama 3.2

Control tokens are not part of an answer's text, so the marks of Mistral and Llama may be missing. What stands alone
is a call only when it calls a function that was offered: an answer may be JSON for its own sake.
"""

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_MARKS = (_OPEN, "[TOOL_CALLS]", "<|python_tag|>")
_HERMES = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_PYTHONIC = re.compile(r"\[\s*[A-Za-z_][\w.]*\s*\(.*\)\s*\]", re.DOTALL)
_LONGEST_PYTHONIC = 20_000


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


def parse_tool_calls(text: str, names: Collection[str]) -> SaidAndCalled:
    """Take the calls out of a whole answer. A call that cannot be read, or of no function in `names`, stays text."""
    if _OPEN in text:
        return _parse_hermes(text, names)
    said, mark, rest = _split_at_mark(text)
    for read in (_read_json_calls, _read_pythonic):
        calls = read(rest.strip(), names)
        if calls:
            return SaidAndCalled(said.rstrip() if mark else "", calls)
    return SaidAndCalled(text, ())


def _parse_hermes(text: str, names: Collection[str]) -> SaidAndCalled:
    calls: list[ToolCall] = []

    def take(match: re.Match[str]) -> str:
        found = _read_json_calls(match[1].strip(), names)
        calls.extend(found)
        return "" if found else match[0]

    said = _HERMES.sub(take, text)
    return SaidAndCalled(said.strip() if calls else text, tuple(calls))


def _split_at_mark(text: str) -> tuple[str, str, str]:
    """What stands before a mark, the mark, what stands behind it; without a mark all of it is behind."""
    for mark in _MARKS[1:]:
        before, found, rest = text.partition(mark)
        if found:
            return before, mark, rest
    return "", "", text


def _read_json_calls(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    """One object, a list of them, or some with ";" or white space between; nothing where a part is no call."""
    calls: list[ToolCall] = []
    try:
        for value in _json_values(text):
            for entry in value if isinstance(value, list) else [value]:
                call = _call_of(entry, names)
                if call is None:
                    return ()
                calls.append(call)
    except (ValueError, RecursionError):
        return ()
    return tuple(calls)


def _json_values(text: str) -> Iterator[Any]:
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        yield value
        while at < len(text) and text[at] in " \t\r\n;,":
            at += 1


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
    if len(text) > _LONGEST_PYTHONIC or not _PYTHONIC.fullmatch(text):
        return ()
    try:
        tree = ast.parse(text, mode="eval").body  # read, never run
        calls = [_pythonic_call(node, names) for node in tree.elts] if isinstance(tree, ast.List) else []
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return ()
    return tuple(call for call in calls if call) if all(calls) else ()


def _pythonic_call(node: ast.expr, names: Collection[str]) -> ToolCall | None:
    if not isinstance(node, ast.Call) or node.args:
        return None
    name = ast.unparse(node.func)
    if name not in names or any(keyword.arg is None for keyword in node.keywords):
        return None
    arguments = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    return ToolCall(name, json.dumps(arguments, ensure_ascii=False))


class CallWatch:
    """Lets the text of a streaming answer through, but for what may be a call, until that is known."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._held = ""
        self._holds_all = False
        self._began = False

    def push(self, text: str) -> str:
        """The text that is certainly said."""
        self._held += text
        if self._holds_all:
            return ""
        if not self._began:
            start = self._held.lstrip()
            if not start:
                return ""
            self._began = True
            self._holds_all = start[0] in "{["  # a call without its mark, or an answer in JSON
            if self._holds_all:
                return ""
        safe = len(self._held)
        for mark in _MARKS:
            at = self._held.find(mark)
            if at >= 0:
                self._holds_all = True
                safe = min(safe, at)
            else:
                safe = min(safe, len(self._held) - _overlap(self._held, mark))
        said, self._held = self._held[:safe], self._held[safe:]
        return said

    def finish(self) -> SaidAndCalled:
        """What is left: the rest of the text, and the calls."""
        held, self._held = self._held, ""
        return parse_tool_calls(held, self._names) if held else SaidAndCalled("", ())


def _overlap(text: str, mark: str) -> int:
    """How many of the last letters of `text` may be the beginning of `mark`."""
    return next((n for n in range(min(len(mark) - 1, len(text)), 0, -1) if mark.startswith(text[-n:])), 0)
