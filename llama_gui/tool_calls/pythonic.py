"""Calls as Python writes them, bare or between control tokens. Pure.

::

    [weather(city="Oslo", days=3)]                                          Llama 3.2
    <|tool_call_start|>[weather(city="Oslo", days=3)]<|tool_call_end|>      LFM2, LFM2.5

They are parsed and never run. No grammar asks for them.
"""

import ast
import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from llama_gui.tool_calls.forms import Parameters
from llama_gui.tool_calls.tagged import TaggedCall

MARK, CLOSE = "<|tool_call_start|>", "<|tool_call_end|>"
PYTHONIC_MARKS = (MARK, CLOSE)
_LIST = re.compile(r"\[\s*[A-Za-z_][\w.]*\s*\(.*\)\s*\]", re.DOTALL)
_LONGEST = 20_000
_CONSTANTS = {"true": True, "false": False, "null": None}
"""As in JSON; some models write them."""

Called = tuple[str, Mapping[str, Any]]
"""A function, and its arguments."""


def read_pythonic(text: str, names: Collection[str]) -> tuple[Called, ...]:
    """All calls of a list of them; () where one is of no function in `names`, or something else stands there."""
    if len(text) > _LONGEST or not _LIST.fullmatch(text):
        return ()
    try:
        tree = ast.parse(text, mode="eval").body
        calls = [_call(node, names) for node in tree.elts] if isinstance(tree, ast.List) else []
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return ()
    return tuple(call for call in calls if call) if all(calls) else ()


def marked_calls(text: str, parameters: Parameters) -> Sequence[TaggedCall]:
    """All calls of these functions between the control tokens, in order; the last of these may be missing."""
    found: list[TaggedCall] = []
    at = 0
    while (begin := text.find(MARK, at)) >= 0:
        at = begin + len(MARK)
        close = text.find(CLOSE, at)
        inner = text[at : close if close >= 0 else len(text)].strip()
        listed = inner if inner.startswith("[") else f"[{inner}]"
        calls = read_pythonic(listed, parameters) or _as_json(inner, parameters)
        if not calls:
            continue
        at = close + len(CLOSE) if close >= 0 else len(text)
        for name, arguments in calls:
            found.append(TaggedCall(begin, at, name, arguments))
            begin = at
    return found


def written_calls(calls: Sequence[Called]) -> str:
    """As the models wrote them that have the control tokens."""
    made = (f"{name}({', '.join(f'{key}={_python(value)}' for key, value in given.items())})" for name, given in calls)
    return f"{MARK}[{', '.join(made)}]{CLOSE}"


def _python(value: Any) -> str:
    """As Python writes it, but for texts, which are as JSON has them: nothing in them is escaped without need."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_python(key)}: {_python(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_python, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _as_json(text: str, names: Collection[str]) -> tuple[Called, ...]:
    """The same, where somebody asked for JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    calls: list[Called] = []
    for entry in value if isinstance(value, list) else [value]:
        match entry:
            case {"name": str(name), "arguments": dict(arguments)} if name in names:
                calls.append((name, arguments))
            case _:
                return ()
    return tuple(calls)


def _call(node: ast.expr, names: Collection[str]) -> Called | None:
    if not isinstance(node, ast.Call) or node.args:
        return None
    name = ast.unparse(node.func)
    if name not in names or any(keyword.arg is None for keyword in node.keywords):
        return None
    return name, {str(keyword.arg): ast.literal_eval(_Constants().visit(keyword.value)) for keyword in node.keywords}


class _Constants(ast.NodeTransformer):
    """What JSON's words stand for, in the place of names."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(_CONSTANTS[node.id]) if node.id in _CONSTANTS else node
