"""The arguments of a call as lines to be read: a model wrote them, so nothing in them may hide what they say."""

import json
import unicodedata
from typing import Any

MOST_LETTERS = 20_000
"""Of all of them together; a model may want to write a whole file."""
_INDENT = "    "


def readable(arguments: str) -> tuple[str, int]:
    """Lines of "name: value", and how many letters at the end are left out."""
    try:
        values: Any = json.loads(arguments)
    except (ValueError, RecursionError):
        values = arguments
    lines = [_line(*pair) for pair in values.items()] if isinstance(values, dict) else [_said(values)]
    text = "\n".join(lines)
    return text[:MOST_LETTERS], max(0, len(text) - MOST_LETTERS)


def _line(name: str, value: Any) -> str:
    said = _said(value)
    if "\n" in said:  # below its name, so that none of its lines can be taken for another argument
        said = "\n" + "\n".join(_INDENT + line for line in said.split("\n"))
        return f"{visible(name)}:{said}"
    return f"{visible(name)}: {said}"


def _said(value: Any) -> str:
    return visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), keep="\n\t")


def visible(text: str, keep: str = "") -> str:
    """What cannot be seen is written as its code: a text that turns its direction shows another path than it has."""
    return "".join(letter if letter in keep or not _is_hidden(letter) else _code(letter) for letter in text)


def _is_hidden(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def _code(letter: str) -> str:
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"
