"""What a model thinks, told from what it answers, while it is written: what is thought calls nothing. Pure."""

import re

from llama_gui.vocabulary import THINKING_TAGS

_OPENING = re.compile(rf"\s*<({'|'.join(THINKING_TAGS)})>", re.IGNORECASE)

_TAGS = re.compile(rf"\A\s*<(?:{'|'.join(THINKING_TAGS)})>|</(?:{'|'.join(THINKING_TAGS)})>\s*\Z", re.IGNORECASE)


class Thoughts:
    """Parts one answer. `opening`: what the prompt says of it already, as in `ModelInfo.opening`.

    It is thought from a tag at the very beginning to the one that closes it; a tag in backticks closes nothing.
    """

    def __init__(self, opening: str = "") -> None:
        self._held = ""
        self._before = ""  # the last letter that was given out
        self._close: str | None = None
        self.are_over = False
        """Whether all that comes is answer."""
        if opening:
            self.push(opening)

    @property
    def close_tag(self) -> str | None:
        """The tag that closes the thoughts; None: there are none, as far as is known."""
        return self._close

    def push(self, text: str) -> tuple[str, str]:
        """More of it; what of all that came is certainly thought, and what is answer. Together they are no less than
        what came, but for what may become a tag.
        """
        if self.are_over:
            return "", text
        self._held += text
        thought = ""
        if self._close is None:
            opened = _OPENING.match(self._held)
            if opened is None:
                return ("", "") if _may_open(self._held) else ("", self._end())
            self._close = f"</{opened[1].lower()}>"
            thought = self._take(opened.end())
        return self._until_closed(thought)

    def finish(self) -> tuple[str, str]:
        """What is left at the end."""
        return (self._end(), "") if self._close is not None and not self.are_over else ("", self._end())

    def _until_closed(self, thought: str) -> tuple[str, str]:
        assert self._close is not None
        closed = re.search(rf"(?<!`){self._close}", self._before + self._held, re.IGNORECASE)
        if closed is not None:
            thought += self._take(closed.end() - len(self._before))
            return thought, self._end()
        kept = overlap(self._held.lower(), self._close)
        return thought + self._take(len(self._held) - kept), ""

    def _take(self, count: int) -> str:
        taken, self._held = self._held[:count], self._held[count:]
        self._before = taken[-1:] or self._before
        return taken

    def _end(self) -> str:
        self.are_over = True
        return self._take(len(self._held))


def parted(text: str) -> tuple[str, str]:
    """What a whole answer thinks, without its tags, and what it says."""
    thoughts = Thoughts()
    begun, rest = thoughts.push(text), thoughts.finish()
    thought, said = begun[0] + rest[0], begun[1] + rest[1]
    return (_TAGS.sub("", thought).strip(), said.lstrip()) if thought else ("", said)


def overlap(text: str, mark: str) -> int:
    """How many of the last letters of `text` may be the beginning of `mark`."""
    return next((n for n in range(min(len(mark) - 1, len(text)), 0, -1) if mark.startswith(text[-n:])), 0)


def _may_open(text: str) -> bool:
    begun = text.lstrip().lower()
    return any(f"<{name}>".startswith(begun) for name in THINKING_TAGS)
