"""How much time and memory a template may use, and how much an operation is going to make."""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sized
from types import GeneratorType
from typing import Any

import jinja2
from jinja2.utils import Namespace

MAX_SECONDS = 1.0
"""Of the processor, in the thread that renders: that the machine slept, swapped or did other work is no fault of it."""
MAX_CHARACTERS = 20_000_000
"""Of one value, and of the prompt. A list counts what it would be written out."""
MAX_CHARACTERS_MADE = 3 * MAX_CHARACTERS
"""Of all values together that one rendering makes."""

_MAX_NUMBER = 1_000_000  # as an argument: widths, counts, precisions
_MAX_BITS = 4096
_MAX_SLOW = 1_000_000
# What walks its argument in Python, piece by piece, or makes an object for each.
_SLOW_FILTERS = frozenset(
    "batch dictsort escape e forceescape groupby list max min pprint slice sort striptags sum title unique urlencode "  # noqa: SIM905
    "urlize wordcount wordwrap xmlattr".split()
)
_WIDTH = re.compile(r"[0-9]{5}|%[^a-zA-Z%]*\*|\{[^{}]*\{")  # "%99999d", "%*d", "{:{}}": as wide as somebody likes
_NARROW = 10_000  # what passes that
_REPEATABLE = re.compile(r"%\(|\{[^}:!]")  # "%(name)s", "{0}", "{name}": the same value as often as somebody likes


class TooMuchError(jinja2.TemplateError):
    """The template takes more time or memory than any honest one would."""


class Meter:
    """What one rendering has used, in the one thread in which it runs."""

    def __init__(self) -> None:
        self._began = time.monotonic(), time.thread_time()
        self._made = 0
        # Weight of each list that was weighed; the list itself, so that its id is not given to another one.
        self._known: dict[int, tuple[Any, int]] = {}

    def tick(self, characters: int = 0) -> None:
        """Some time has passed, and so many characters were made."""
        self._made += characters
        if self._made > MAX_CHARACTERS_MADE:
            raise TooMuchError(f"it makes more than {MAX_CHARACTERS_MADE:,} characters")
        if self._is_late():
            raise TooMuchError(f"it runs longer than {MAX_SECONDS:g} s, as if it had no end")

    def _is_late(self) -> bool:
        began, began_thread = self._began
        # The thread's time, which costs ten times as much to read, is never more.
        return time.monotonic() - began > MAX_SECONDS and time.thread_time() - began_thread > MAX_SECONDS

    def expect(self, characters: int) -> None:
        """An operation is about to make a value of so many characters."""
        if characters > MAX_CHARACTERS:
            raise TooMuchError(f"it makes a value of {characters:,} characters")

    def weigh(self, value: Any) -> int:
        """Characters of `value` written out, about; nothing is charged."""
        if isinstance(value, str | bytes):
            return len(value)
        if isinstance(value, int):
            if value.bit_length() > _MAX_BITS:
                raise TooMuchError("it makes a number without end")
            return 8
        if isinstance(value, Namespace):
            # Its attributes change, so no weight of it would stay true.
            raise TooMuchError("it uses a namespace as a value")
        if isinstance(value, range):
            return 8 * len(value)
        if not isinstance(value, Mapping | list | tuple | set | frozenset):
            return 16
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        parts: Iterable[Any] = (
            (part for item in value.items() for part in item) if isinstance(value, Mapping) else value
        )
        weight = sum((self.weigh(part) + 8 for part in parts), 8)
        self.expect(weight)
        self._known[id(value)] = (value, weight)
        return weight

    def made(self, value: Any) -> Any:
        """`value`, weighed and charged; a generator is charged as it goes on."""
        if isinstance(value, GeneratorType):
            return self._counted(value)
        weight = 0 if isinstance(value, Namespace) else self.weigh(value)
        self.expect(weight)
        self.tick(weight)
        return value

    def _counted(self, values: Iterator[Any]) -> Iterator[Any]:
        for value in values:
            yield self.made(value)

    def listed(self, values: Any) -> Any:
        """What can be iterated only once, as a list."""
        return list(self._counted(iter(values))) if isinstance(values, Iterator) else values


def check_numbers(args: Iterable[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuse arguments of a call that ask for a huge width or count. Raises TooMuchError."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, int | float) and abs(value) > _MAX_NUMBER:
            raise TooMuchError(f"it asks for a width or count of {value:g}")


def binop_size(meter: Meter, operator: str, left: Any, right: Any) -> int:
    """Characters of the result, at most."""
    weights = meter.weigh(left), meter.weigh(right)
    if operator == "%" and isinstance(left, str | bytes):
        return _format_size(meter, left, "%", [right])
    if operator == "+":
        return sum(weights)
    if operator == "*":
        count = next((value for value in (left, right) if isinstance(value, int)), 1)
        other = weights[1] if count is left else weights[0]
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        return 16 if numbers else max(count, 0) * other
    whole = isinstance(left, int) and isinstance(right, int)
    if operator == "**" and whole and left.bit_length() * abs(right) > _MAX_BITS:
        raise TooMuchError("it makes a number without end")
    return 16


def _format_size(meter: Meter, pattern: str | bytes, mark: str, values: Iterable[Any]) -> int:
    text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    if _WIDTH.search(text):
        raise TooMuchError("it formats a text of any width")
    written = sum(meter.weigh(value) for value in values)
    fields = text.count(mark)
    return len(text) + fields * _NARROW + (fields * written if _REPEATABLE.search(text) else written)


def _replace_size(text: Any, old: Any, new: Any) -> int:
    return len(text) + (text.count(old) * len(new) if type(text) is type(old) is type(new) else 0)


def method_size(meter: Meter, name: str, text: Any, values: list[Any]) -> int:
    """Characters that the method `name` of a text makes, at most."""
    first = values[0] if values else None
    if name in ("format", "format_map"):
        return _format_size(meter, text, "{", values)
    if name == "replace" and len(values) > 1:
        return _replace_size(text, first, values[1])
    if name == "join":
        return meter.weigh(first) + len(text) * (len(first) if isinstance(first, Sized) else 1)
    if name in ("split", "rsplit", "splitlines"):
        parts = text.count(first) if isinstance(first, type(text)) and first else len(text) // 2
        return len(text) + 16 * (parts + 1)
    if name == "expandtabs":
        return len(text) * max(8, *(value for value in values if isinstance(value, int)), 8)
    if name == "translate":
        return len(text) * max(meter.weigh(first), 1)
    return 4 * len(text) + sum(value for value in values if isinstance(value, int))


def check_filter(meter: Meter, name: str, values: list[Any], kwargs: Mapping[str, Any], weight: int) -> None:
    """Refuse a call of the filter `name` that would make too much of `values`, which weigh `weight` characters.

    Raises:
        TooMuchError: it would be too slow, or its result too long.
    """
    value, *rest = values
    more = [*rest, *kwargs.values()]
    if name in _SLOW_FILTERS and weight > _MAX_SLOW:
        raise TooMuchError(f"it gives {weight:,} characters to the filter {name}")
    if name == "sum" and not all(isinstance(item, int | float | str | None) for item in more):
        raise TooMuchError("it adds up lists")
    if name == "tojson":
        # Indents and separators stand before and between all parts.
        widest = max(
            (item if isinstance(item, int) else meter.weigh(item) for item in more if item is not None), default=1
        )
        meter.expect(meter.weigh(value) * max(widest, 1))
    if name == "join":
        count = len(value) if isinstance(value, Sized) else 1
        meter.expect(meter.weigh(value) + count * sum(meter.weigh(item) for item in more))
    if name == "replace" and len(more) > 1:
        meter.expect(_replace_size(str(value), str(more[0]), str(more[1])))
    if name == "format" and isinstance(value, str):
        meter.expect(_format_size(meter, value, "%", more))
    if name in ("indent", "wordwrap"):
        widest = max((item if isinstance(item, int) else meter.weigh(item) for item in more), default=4)
        breaks = str(value).count("\n") if name == "indent" else len(str(value))
        meter.expect(
            len(str(value)) + (breaks + 1) * (widest if name == "indent" else max(map(meter.weigh, more), default=1))
        )
