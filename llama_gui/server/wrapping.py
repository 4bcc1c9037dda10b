"""The tags that Granite is told to write around an answer behind its thoughts, taken away. Pure.

Only for models that are told so (`ModelInfo.wraps_answers`): with others a person has asked for such tags.
"""

import re

from llama_gui.tool_calls import overlap

_OPENING, _CLOSING = "<response>", "</response>"
_TAG = re.compile(r"<(/?)response>", re.IGNORECASE)


class WholeAnswer:
    """One that is told when it is whole: only then it is known whether its two tags are a pair around all of it."""

    def __init__(self) -> None:
        self._text = ""

    def push(self, text: str) -> str:
        """More of it; nothing is certain."""
        self._text += text
        return ""

    def finish(self) -> str:
        """All of it: without the tags, and the white space at them, where they are around everything."""
        return unwrapped(self._text)


class StreamedAnswer:
    """One that is told while it is written: nobody can wait for its end to know whether a tag closes there.

    A tag that it begins with is taken at once, as the model was told to write it; one that closes only at the very end.
    """

    def __init__(self) -> None:
        self._held = ""  # at the beginning or the end, which may be a tag
        self._begins = True
        self._is_wrapped = False
        self._has_words = False

    def push(self, text: str) -> str:
        """More of it; what of that is certainly said."""
        text, self._held = self._held + text, ""
        if self._begins:
            if len(text) < len(_OPENING) and _OPENING.startswith(text.lower()):
                self._held = text
                return ""
            self._begins, self._is_wrapped = False, text.lower().startswith(_OPENING)
            text = text[len(_OPENING) :] if self._is_wrapped else text
        return self._before_closing(text) if self._is_wrapped else text

    def finish(self) -> str:
        """What is left at the end."""
        held, self._held = self._held, ""
        return held if self._begins or not _CLOSING.startswith(held.strip().lower()) else ""

    def _before_closing(self, text: str) -> str:
        text = text if self._has_words else text.lstrip()
        words = text.rstrip()
        is_end = words.lower().endswith(_CLOSING)
        kept = len(_CLOSING) if is_end else overlap(words.lower(), _CLOSING) if words == text else 0
        said = words[: len(words) - kept].rstrip()
        self._held, self._has_words = text[len(said) :], self._has_words or bool(said)
        return said


def unwrapped(text: str) -> str:
    """A whole answer without the pair of tags around it; as it is where there is no such pair."""
    words = text.strip()
    if not (words.lower().startswith(_OPENING) and words.lower().endswith(_CLOSING)):
        return text
    inner, depth = words[len(_OPENING) : -len(_CLOSING)], 0
    for tag in _TAG.finditer(inner):
        depth += -1 if tag[1] else 1
        if depth < 0:  # that closes what the answer begins with
            return text
    return inner.strip()
