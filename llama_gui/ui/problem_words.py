"""What the rooms below the window say, in its language: they know of none, and raise their errors in English.

`problems.json` beside the translations holds all their sentences as templates, like `{0} is not a file.`; it is made
from the source by `python -m tests.problem_templates`. A message is taken apart by the template that fits it best, and
put together again from the translated one; so is what stood in its places, where that is a sentence, too. What has no
translation stays in English.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from llama_gui.ui.numbers import in_marks

_PLACE = re.compile(r"\{(\d+)\}")
_NUMBER = re.compile(r"-?(\d{1,3}(,\d{3})+(\.\d+)?|\d+\.\d+)( [GM]B)?")
_SENTENCE_END = re.compile(r"[.?!](?= )")
_MOST_LETTERS = 6000
_MOST_DEPTH = 6
_MOST_TOGETHER = 6
"""Sentences that one template may hold."""
_MOST_LOOKED_UP = 60_000
"""Letters of a message and its parts that are looked up, each as often as it is a part: 20 ms, whatever it may hold."""
_FEW_LETTERS = 10
"""A template with fewer would be found by chance; it counts only for what stands in the place of another."""


@dataclass(frozen=True, slots=True)
class _Template:
    """`text`: what translators see. `marks`: its letters before, between and behind its places. `weight`: how many."""

    text: str
    marks: tuple[str, ...]
    longest: str
    weight: int

    @classmethod
    def of(cls, text: str) -> "_Template":
        marks = tuple(_PLACE.split(text)[::2])
        return cls(text, marks, max(marks, key=len), sum(letter.isalpha() for mark in marks for letter in mark))

    def places(self, text: str) -> list[str] | None:
        """What stands in its places in `text`; None if it does not fit."""
        start, end, found = len(self.marks[0]), len(text) - len(self.marks[-1]), []
        if not (text.startswith(self.marks[0]) and text.endswith(self.marks[-1])):
            return None
        for mark in self.marks[1:-1]:
            at = text.find(mark, start, end)
            if at < 0:
                return None
            found.append(text[start:at])
            start = at + len(mark)
        return [*found, text[start:end]] if start <= end else None

    def takes_neighbours(self, places: list[str]) -> bool:
        """Whether another sentence, before it or behind it, stands in its first or last place."""
        before = not self.marks[0] and _SENTENCE_END.search(places[0])
        behind = self.marks[-1] == "." and _SENTENCE_END.search(places[-1])
        return bool(before or behind)

    def is_name(self, place: int) -> bool:
        """Whether this place stands in quotation marks: what somebody has given a name is no sentence."""
        return self.marks[place].endswith("“") and self.marks[place + 1].startswith("”")


_file: Path | None = None


def use_problems(file: Path | None) -> None:
    """Translate by this file of templates from now on; None: everything stays in English."""
    global _file  # noqa: PLW0603 - as Qt's own translators are the application's
    _file = file


def problem_text(text: str) -> str:
    """A message of a room below in the language of the window; text in that language already stays as it is."""
    if _file is None or not text or len(text) > _MOST_LETTERS:
        return text
    return _Telling(*_read(_file)).told(text)


@cache
def _read(file: Path) -> tuple[frozenset[str], tuple[_Template, ...]]:
    """The sentences without a place, and the templates: those that say most first."""
    try:
        rooms = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # then it is English
        return frozenset(), ()
    texts = [text for room in rooms.values() for text in room]
    templates = [_Template.of(text) for text in texts if _PLACE.search(text)]
    plain = frozenset(text for text in texts if not _PLACE.search(text))
    return plain, tuple(sorted(templates, key=lambda template: -template.weight))


class _Telling:
    """One message on its way into the other language.

    `is_inside`: what is looked at stands in a place of a template. A few words mean something only there.
    """

    def __init__(self, plain: frozenset[str], templates: tuple[_Template, ...]) -> None:
        self._plain = plain
        self._templates = templates
        self._left = _MOST_LOOKED_UP

    def told(self, text: str, depth: int = 0, *, is_inside: bool = False) -> str:
        """The whole of a text, or else its parts."""
        if depth > _MOST_DEPTH or self._left < 0:
            return text
        if is_inside and _NUMBER.fullmatch(text):
            return in_marks(text)
        known = self._known(text, depth, is_inside)
        if known is not None:
            return known
        if "\n" in text:
            return "".join(self._line(line, depth + 1, is_inside) for line in re.split(r"(?=\n)", text))
        if _SENTENCE_END.search(text):
            return self._sentences(text, depth, is_inside)
        return self._in_parts(text, depth, is_inside)

    def _known(self, text: str, depth: int, is_inside: bool) -> str | None:
        """The whole of a text, by the template that says most of it; None if there is none."""
        self._left -= len(text) + 50
        if self._left < 0:
            return None
        if text in self._plain:
            return _translated(text) if is_inside or len(text) >= _FEW_LETTERS else None
        for template in self._templates:
            if template.longest in text and (is_inside or template.weight >= _FEW_LETTERS):
                places = template.places(text)
                if places is not None and not template.takes_neighbours(places):
                    return self._filled(template, places, depth)
        return None

    def _filled(self, template: _Template, places: list[str], depth: int) -> str:
        told = [
            place if template.is_name(number) else self.told(place, depth + 1, is_inside=True)
            for number, place in enumerate(places)
        ]
        return _PLACE.sub(lambda place: told[int(place[1])], _translated(template.text))

    def _line(self, line: str, depth: int, is_inside: bool) -> str:
        """One of several lines, its break before it; some templates begin with that, too."""
        if not line.startswith("\n"):
            return self.told(line, depth, is_inside=is_inside)
        known = self._known(line, depth, is_inside)
        return "\n" + self.told(line[1:], depth, is_inside=is_inside) if known is None else known

    def _sentences(self, text: str, depth: int, is_inside: bool) -> str:
        """One after the other; of those that are known together, as many as there are."""
        told = ""
        while text and self._left >= 0:
            ends = [end.end() for end in islice(_SENTENCE_END.finditer(text), _MOST_TOGETHER)]
            ends += [len(text)] if len(ends) < _MOST_TOGETHER else []
            for end in reversed(ends):
                known = self._known(text[:end], depth, is_inside)
                if known is not None:
                    break
            else:
                end = ends[0]
                known = self._in_parts(text[:end], depth, is_inside)
            told += known + text[end : end + 1]
            text = text[end + 1 :]
        return told + text

    def _in_parts(self, text: str, depth: int, is_inside: bool) -> str:
        """A text that nobody knows, but perhaps a part of it: behind the name of a file, or in a list."""
        for mark in (" – ", ": ", "; ", ", ") if is_inside else (" – ", ": "):
            first, found, rest = text.partition(mark)
            if found:
                known = self._known(first, depth + 1, is_inside), self._known(rest, depth + 1, is_inside)
                if known != (None, None):
                    return (known[0] or first) + mark + (known[1] or self.told(rest, depth + 1, is_inside=is_inside))
        first, found, rest = text.partition(", ")
        if found and is_inside:
            return self._in_parts(first, depth + 1, True) + found + self.told(rest, depth + 1, is_inside=True)
        return text


def _translated(text: str) -> str:
    return QCoreApplication.translate("Problems", text)
