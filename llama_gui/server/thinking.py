"""What a model thought, told from what it answers and without the tags, while it is written. Pure."""

import re

from llama_gui.tool_calls import Thoughts, overlap
from llama_gui.vocabulary import THINKING_TAGS

_NAMES = "|".join(THINKING_TAGS)
_OPENING = re.compile(rf"\A\s*<(?:{_NAMES})>", re.IGNORECASE)
_WRAP, _WRAP_END = "<response>", "</response>"
_CLOSING = re.compile(rf"</(?:{_NAMES})>\Z", re.IGNORECASE)


class ThinkingSplit:
    """Parts one answer. `opening`: what the prompt says of it already, as in `ModelInfo.opening`.

    White space around what is thought belongs to the tags. That with which an answer begins is held back until a word
    comes: nothing but white space before a call is no text.
    """

    def __init__(self, opening: str = "") -> None:
        self._thoughts = Thoughts()
        self._is_opened = False
        self._has_thought = False
        self._behind = ""  # white space behind what was thought
        self._wrapping = _Wrapping()
        self._has_answered = False
        self._before = ""  # white space before the answer
        if opening:
            self.push(opening)

    def push(self, text: str) -> tuple[str, str]:
        """More of it: what of that is thought, and what is answer."""
        return self._parted(*self._thoughts.push(text))

    def finish(self) -> tuple[str, str]:
        """What is left at the end, but for white space."""
        thought, said = self._parted(*self._thoughts.finish())
        return thought, said + self._wrapping.finish()

    @property
    def blank(self) -> str:
        """The white space that is all of the answer so far."""
        return self._before

    def _parted(self, thought: str, answer: str) -> tuple[str, str]:
        if thought and not self._is_opened:
            thought, self._is_opened = _OPENING.sub("", thought, count=1), True
        if self._thoughts.are_over:
            thought = _CLOSING.sub("", thought)
        return self._thought(thought), self._answer(answer)

    def _thought(self, text: str) -> str:
        text = self._behind + text if self._has_thought else text.lstrip()
        said = text.rstrip()
        self._behind, self._has_thought = text[len(said) :], self._has_thought or bool(said)
        return said

    def _answer(self, text: str) -> str:
        if self._is_opened:
            return self._wrapping.push(text)
        if self._has_answered:
            return text
        text = self._before + text
        self._has_answered = bool(text.strip())
        self._before = "" if self._has_answered else text
        return text if self._has_answered else ""


class _Wrapping:
    """An answer behind thoughts without the tags that Granite writes around it, and without white space there."""

    def __init__(self) -> None:
        self._held = ""  # at the beginning or the end, which may be a tag
        self._begins = True
        self._is_wrapped = False
        self._has_words = False

    def push(self, text: str) -> str:
        text, self._held = self._held + text, ""
        if self._begins:
            text = text.lstrip()
            if len(text) < len(_WRAP) and _WRAP.startswith(text.lower()):
                self._held = text
                return ""
            self._begins, self._is_wrapped = False, text.lower().startswith(_WRAP)
            text = text[len(_WRAP) :] if self._is_wrapped else text
        if not self._is_wrapped:
            return text
        text = text if self._has_words else text.lstrip()
        words = text.rstrip()
        is_end = words.lower().endswith(_WRAP_END)
        kept = len(_WRAP_END) if is_end else overlap(words.lower(), _WRAP_END) if words == text else 0
        said = words[: len(words) - kept].rstrip()
        self._held, self._has_words = text[len(said) :], self._has_words or bool(said)
        return said

    def finish(self) -> str:
        held, self._held = self._held, ""
        return held if self._begins or not _WRAP_END.startswith(held.strip().lower()) else ""
