"""A streaming answer, but for its calls."""

from collections.abc import Collection

from llama_gui.tool_calls.bare import BareBeginnings
from llama_gui.tool_calls.braced import BRACED_OPENING
from llama_gui.tool_calls.forms import NO_SCHEMAS, Parameters
from llama_gui.tool_calls.manners import MANNERS
from llama_gui.tool_calls.pythonic import MARK as PYTHONIC_OPENING
from llama_gui.tool_calls.reading import SaidAndCalled, parse_answer
from llama_gui.tool_calls.tagged import tagged_openings
from llama_gui.tool_calls.thoughts import Thoughts, overlap

_MARKS = tuple(manner.opening for manner in MANNERS if manner.mark)


class CallWatch:
    """Lets the text of a streaming answer through, but for what may be a call, until that is known.

    What is thought calls nothing. `opening`: the part of the answer that the prompt had already, if the text lacks it.
    `bare`: whether it may be a call without a mark, and `parameters`, as in `parse_tool_calls`.
    """

    def __init__(
        self, names: Collection[str], opening: str = "", *, bare: bool = True, parameters: Parameters = NO_SCHEMAS
    ) -> None:
        self._names = names
        self._parameters = parameters
        self._marks = (*_MARKS, BRACED_OPENING, PYTHONIC_OPENING, *tagged_openings(names))
        self._bare = BareBeginnings(names)
        self._may_be_bare = bare
        self._thoughts = Thoughts(opening)
        self._held = ""
        self._holds_all = False
        self._began = not bare

    def push(self, text: str) -> str:
        """The text that is certainly said."""
        thought, answer = self._thoughts.push(text)
        return thought + (self._push_answer(answer) if answer else "")

    def _push_answer(self, text: str) -> str:
        self._held += text
        if self._holds_all:
            return ""
        if not self._began:
            if self._bare.may_come(self._held):
                return ""
            self._began = True
            self._holds_all = self._bare.are_in(self._held)
            if self._holds_all:
                return ""
        safe = len(self._held)
        for mark in self._marks:
            at = self._held.find(mark)
            if at >= 0:
                self._holds_all = True
                safe = min(safe, at)
            else:
                safe = min(safe, len(self._held) - overlap(self._held, mark))
        said, self._held = self._held[:safe], self._held[safe:]
        return said

    def finish(self) -> SaidAndCalled:
        """What is left: the rest of the text, and the calls."""
        thought, answer = self._thoughts.finish()
        held, self._held = self._held + answer, ""
        if not held:
            return SaidAndCalled(thought, ())
        found = parse_answer(held, self._names, bare=self._may_be_bare, parameters=self._parameters)
        return SaidAndCalled(thought + found.text, found.calls)
