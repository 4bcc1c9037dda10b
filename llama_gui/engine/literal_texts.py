"""Keeps what people wrote apart from control tokens: "<|eot_id|>" in a message stays plain text."""

import re
import secrets
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any


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
    def _longest(self) -> int:
        return max(map(len, self._texts), default=1) - 1

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(text[:size] for text in self._texts for size in range(1, len(text)))

    @cached_property
    def _ends(self) -> frozenset[str]:
        return frozenset(text[-size:] for text in self._texts for size in range(1, len(text)))


class LiteralTexts:
    """Hides control tokens' texts in messages behind marks that nobody can guess, and finds them in the prompt."""

    def __init__(self, control: ControlTexts) -> None:
        self._control = control
        # Private-use characters and digits: no template trims, lowers or escapes them.
        self._mark = f"\ue000{secrets.randbits(96)}\ue001"
        self._hidden: list[str] = []

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
        tail = self._control.tail(content[head:])
        middle = self._control.pattern.sub(lambda match: self._put(match[0]), content[head : len(content) - tail])
        return self._put(content[:head]) + middle + self._put(content[len(content) - tail :])

    def _hide_key(self, key: Any) -> Any:
        # Templates look values up by keys like "content", so these must stay readable. Such a key can become part of a
        # control token only where those begin or end with letters; so only whole control tokens in it are hidden.
        if isinstance(key, str) and key.isidentifier():
            return self._control.pattern.sub(lambda match: self._put(match[0]), key)
        return self.hide(key)

    def _put(self, text: str) -> str:
        if not text:
            return ""
        self._hidden.append(text)
        return f"{self._mark}{len(self._hidden) - 1}\ue001"

    def parts(self, text: str) -> list[tuple[str, str]]:
        """(ordinary text, the literal text behind it), in order; the last has no literal text."""
        pieces = re.split(f"{self._mark}(\\d+)\ue001", text)
        hidden = [self._hidden[int(number)] for number in pieces[1::2]]
        return list(zip(pieces[0::2], [*hidden, ""], strict=True))


def _parts(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    return list(value) if isinstance(value, list | tuple) else []
