"""A model's own words, kept apart from the tags that we write around them: "<think>" in them opens no thoughts.

An invisible letter behind the first one breaks such a word. It comes along where the text is copied, so a word is
broken only where it would be read as a tag; and `unguarded` takes it out again of what goes back to the model.
"""

import re
from collections.abc import Sequence

from llama_gui.engine.stop_strings import StopStrings
from llama_gui.tool_calls import MANNERS, overlap
from llama_gui.vocabulary import THINKING_TAGS

_GAP = "\u200b"  # a space without width
OPENING = tuple(f"<{name}>" for name in THINKING_TAGS)
CLOSING = tuple(f"</{name}>" for name in THINKING_TAGS)
CALLS = tuple(manner.opening for manner in MANNERS if manner.mark)
_FENCES = ("```", "~~~")
_BROKEN = re.compile(
    "|".join(re.escape(tag[0]) + _GAP + re.escape(tag[1:]) for tag in (*OPENING, *CLOSING, *CALLS)), re.IGNORECASE
)


def unguarded(text: str) -> str:
    """The words as the model wrote them."""
    return _BROKEN.sub(lambda found: found[0].replace(_GAP, ""), text)


class TagGuard:
    """Breaks such words in one message; what may become one is held back.

    `anywhere`: the words that are tags wherever they stand; `at_line_starts`: those that are none behind other words
    or in a block of code.
    """

    def __init__(self, anywhere: Sequence[str] = (), at_line_starts: Sequence[str] = ()) -> None:
        self._anywhere = frozenset(tag.casefold() for tag in anywhere)
        self._tags = self._anywhere.union(tag.casefold() for tag in at_line_starts)
        self._pattern = re.compile(f"({'|'.join(map(re.escape, sorted(self._tags)))})", re.IGNORECASE)
        self._held = ""
        self._line = ""  # what was given out of the line
        self._is_code = False

    def push(self, text: str) -> str:
        """More of it; what of that is certain."""
        if not self._tags:
            return text
        *known, rest = self._pattern.split(self._held + text)
        certain = len(rest) - max(overlap(rest.casefold(), tag) for tag in self._tags)
        self._held = rest[certain:]
        return "".join(map(self._given, [*known, rest[:certain]]))

    def flush(self) -> str:
        """What was held back, at the end: it has become no tag."""
        rest, self._held = self._held, ""
        return self._given(rest) if rest else ""

    def _given(self, part: str) -> str:
        """A tag, or the words between two, as it is given out."""
        is_tag = self._pattern.fullmatch(part) is not None and (part.casefold() in self._anywhere or self._begins_line)
        *lines, self._line = (self._line + part).split("\n")
        self._is_code ^= sum(line.lstrip().startswith(_FENCES) for line in lines) % 2 == 1
        return part[0] + _GAP + part[1:] if is_tag else part

    @property
    def _begins_line(self) -> bool:
        return not self._is_code and not self._line.strip()


class TaggedText:
    """The text of an answer, made of a model's own words and of tags that we write between them.

    `stops` are looked for here, as only here it is known which is which: none is in our tags, or reaches over them.
    """

    def __init__(self, stops: StopStrings | None = None) -> None:
        self._stops = stops or StopStrings(())
        self._guard = TagGuard()

    def turn_to(self, guard: TagGuard) -> None:
        """Another part of it, with other words that must not be taken for tags. The last one must have been told."""
        self._guard = guard

    def own(self, piece: str) -> str:
        """More of what the model has written; what of that is certain."""
        text = self._guard.push(self._stops.push(piece))
        return text + self._guard.flush() if self._stops.found else text

    def ours(self, text: str) -> str:
        """A tag, or a line break, that the model has not written, behind the rest of its words."""
        if self._stops.found:
            return ""
        return self._guard.push(self._stops.flush()) + self._guard.flush() + text
