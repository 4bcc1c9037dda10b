"""Keeps what people wrote apart from control tokens: "<|eot_id|>" in a message stays plain text."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

_STAND_INS = range(0x100000, 0x10FFFE)
"""Letters for private use: no template trims, lowers or sorts out any."""


class ControlTexts:
    """The texts of a tokenizer's control tokens."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [text for text in texts if text]

    def threaten(self, value: Any) -> bool:
        """Whether a text in `value` holds one, or could make one together with the text before or behind it."""
        if isinstance(value, str):
            whole = any(text in value for text in self._texts)
            return whole or self.head(value) > 0 or self.tail(value) > 0
        return any(self.threaten(part) for part in _parts(value))

    def head(self, content: str) -> int:
        """How many characters at its start are the end of a control token."""
        sizes = range(min(self._longest, len(content)), 0, -1)
        return next((size for size in sizes if content[:size] in self._ends), 0)

    def tail(self, content: str) -> int:
        """How many characters at its end are the beginning of a control token."""
        sizes = range(min(self._longest, len(content)), 0, -1)
        return next((size for size in sizes if content[-size:] in self._beginnings), 0)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches any of them, the longest first."""
        return re.compile("|".join(re.escape(text) for text in sorted(self._texts, key=len, reverse=True)))

    @cached_property
    def letters(self) -> list[str]:
        """All that occur in them."""
        return sorted(set("".join(self._texts)))

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._texts), default=1) - 1

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(text[:size] for text in self._texts for size in range(1, len(text)))

    @cached_property
    def _ends(self) -> frozenset[str]:
        return frozenset(text[-size:] for text in self._texts for size in range(1, len(text)))


class LiteralTexts:
    """Hides control tokens' texts in messages: each letter of them behind one that stands for it, which no text holds.

    So to a template every text has its true length, wherever it cuts it.
    """

    def __init__(self, control: ControlTexts, *values: Any) -> None:
        """`values`: all that a template may read, as `hide` takes it."""
        self._control = control
        taken = set[str]().union(*map(_letters, values))
        free = (letter for code in _STAND_INS if (letter := chr(code)) not in taken)
        stand_ins = dict(zip(control.letters, free, strict=False))
        self._hiding = str.maketrans(stand_ins)
        # A template that writes JSON in ASCII escapes a stand-in, and would have escaped what it stands for.
        self._meant = {stand_in: letter for letter, stand_in in stand_ins.items()}
        self._meant |= {_escaped(stand_in): _escaped(letter) for letter, stand_in in stand_ins.items()}

    def hide(self, value: Any) -> Any:
        """`value` with all texts in it guarded: a text, or what JSON can hold."""
        if isinstance(value, str):
            return self._hide_text(value)
        if isinstance(value, Mapping):
            return {self._hide_key(key): self.hide(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.hide(part) for part in value]
        return value

    def _hide_text(self, content: str) -> str:
        head = self._control.head(content)
        tail = len(content) - self._control.tail(content[head:])
        return self._put(content[:head]) + self._hide_whole(content[head:tail]) + self._put(content[tail:])

    def _hide_whole(self, content: str) -> str:
        return self._control.pattern.sub(lambda match: self._put(match[0]), content)

    def _hide_key(self, key: Any) -> Any:
        # Templates look values up by keys like "content", so these must stay readable. Such a key can become part of a
        # control token only where those begin or end with letters; so only whole control tokens in it are hidden.
        return self._hide_whole(key) if isinstance(key, str) and key.isidentifier() else self.hide(key)

    def _put(self, text: str) -> str:
        return text.translate(self._hiding)

    def parts(self, text: str) -> list[tuple[str, str]]:
        """(ordinary text, the literal text behind it), in order; the last has no literal text."""
        any_of = "|".join(map(re.escape, self._meant))
        pieces = re.split(f"((?:{any_of})+)", text)
        hidden = [re.sub(any_of, lambda match: self._meant[match[0]], piece) for piece in pieces[1::2]]
        return list(zip(pieces[0::2], [*hidden, ""], strict=True))


def _escaped(letter: str) -> str:
    return json.dumps(letter)[1:-1]


def _letters(value: Any) -> set[str]:
    """Those of all texts in `value`."""
    return set(value) if isinstance(value, str) else set[str]().union(*map(_letters, _parts(value)))


def _parts(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    return list(value) if isinstance(value, list | tuple) else []
