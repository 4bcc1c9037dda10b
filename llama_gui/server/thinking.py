"""What a model thought, told from what it answers and without the tags, while it is written. Pure."""

import re

from llama_gui.server.wrapping import StreamedAnswer, WholeAnswer
from llama_gui.tool_calls import Thoughts
from llama_gui.vocabulary import THINKING_TAGS

_NAMES = "|".join(THINKING_TAGS)
_OPENING = re.compile(rf"\A\s*<(?:{_NAMES})>", re.IGNORECASE)
_CLOSING = re.compile(rf"</(?:{_NAMES})>\Z", re.IGNORECASE)


class ThinkingSplit:
    """Parts one answer. `opening`: what the prompt says of it already, as in `ModelInfo.opening`; `wrapping`: what
    takes away the tags around what is said behind thoughts, where the model is told to write some.

    White space around what is thought belongs to the tags. That with which an answer begins is held back until a word
    comes: nothing but white space before a call is no text.
    """

    def __init__(self, opening: str = "", wrapping: WholeAnswer | StreamedAnswer | None = None) -> None:
        self._thoughts = Thoughts()
        self._is_opened = False
        self._has_thought = False
        self._behind = ""  # white space behind what was thought
        self._wrapping = wrapping
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
        return thought, said if self._wrapping is None else said + self._wrapping.finish()

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
            return self._behind_thoughts(text)
        if self._has_answered:
            return text
        text = self._before + text
        self._has_answered = bool(text.strip())
        self._before = "" if self._has_answered else text
        return text if self._has_answered else ""

    def _behind_thoughts(self, text: str) -> str:
        text = text if self._has_answered else text.lstrip()
        self._has_answered |= bool(text)
        return text if self._wrapping is None else self._wrapping.push(text)
