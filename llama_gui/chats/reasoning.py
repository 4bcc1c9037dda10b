"""What a model thought before it answered, told from the answer; pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from llama_gui.chats.recipe import read_recipe
from llama_gui.chats.tree import Node
from llama_gui.vocabulary import THINKING_TAGS

_NAMES = "|".join(THINKING_TAGS)
_OPENING = re.compile(rf"\s*<({_NAMES})>", re.IGNORECASE)
_LONGEST_TAG = len("<reasoning>")
_ALONE = re.compile(rf"^[ \t]*</(?:{_NAMES})>[ \t]*$", re.IGNORECASE | re.MULTILINE)
_FAR = 400_000
"""Characters that are searched for the end: this is done with each piece that arrives."""
_WRAP, _WRAP_END = "<response>", "</response>"
"""What Granite writes around the answer behind its reasoning."""
_WRAPPING = "granite"
Wraps = Callable[[], bool]
"""Whether the model writes tags around its answers; asked only where an answer begins with one."""
_CODE = r"(?:```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`)"


@dataclass(frozen=True, slots=True)
class Parts:
    """An answer in two: `reasoning` is None where there is none. `is_open`: its end has not come."""

    reasoning: str | None
    answer: str
    is_open: bool = False

    @property
    def words(self) -> int:
        """The length of the reasoning."""
        return len((self.reasoning or "").split())


def wraps_answers(node: Node) -> bool:
    """Whether the model of an answer writes tags around its answers: with others a person has asked for such tags.

    Where that is not noted beside the answer, the name of the model tells.
    """
    noted = read_recipe(node.recipe).wraps_answers
    return _WRAPPING in node.model.casefold() if noted is None else noted


def split_reasoning(text: str, wraps: Wraps = lambda: False, *, is_growing: bool = False) -> Parts:
    """Find a block of reasoning at the beginning of an answer.

    Some templates write the opening tag into the prompt, so a closing tag on a line of its own is enough. Tags within
    code are words like others. `wraps`: whether tags around the answer are taken off as well. `is_growing`: more may
    come, so half an opening tag counts as one.
    """
    opening = _OPENING.match(text)
    if opening is None:
        if is_growing and _may_open(text):
            return Parts("", "", is_open=True)
        return _without_opening(text, wraps)
    closing = _closing(text, opening.end(), opening.group(1), is_growing=is_growing)
    if closing is None:
        reasoning = text[opening.end() :]
        return Parts(_without_half_tag(reasoning) if is_growing else reasoning, "", is_open=True)
    return _closed(text[opening.end() : closing.start()], text[closing.end() :], wraps)


def parts_of(node: Node) -> Parts:
    """A message in two: only answers are told apart."""
    if node.role != "assistant":
        return Parts(None, node.content)
    return split_reasoning(node.content, lambda: wraps_answers(node))


def answer_text(node: Node) -> str:
    """An answer without the reasoning; all of it where nothing but reasoning came."""
    parts = parts_of(node)
    return node.content if parts.is_open else parts.answer


def _closed(reasoning: str, answer: str, wraps: Wraps) -> Parts:
    answer = answer.lstrip()
    bare = _unwrapped(answer)
    if bare != answer and wraps():
        answer = bare
    return Parts(reasoning.strip(), answer) if reasoning.strip() else Parts(None, answer)


def _unwrapped(answer: str) -> str:
    begun = answer[: len(_WRAP)].lower()
    if not begun or not _WRAP.startswith(begun):
        return answer
    answer = answer[len(_WRAP) :].strip()
    place = answer.rfind("<", max(0, len(answer) - len(_WRAP_END)))
    return answer[:place].rstrip() if place >= 0 and _WRAP_END.startswith(answer[place:].lower()) else answer


def _without_opening(text: str, wraps: Wraps) -> Parts:
    if "</" not in text:
        return Parts(None, text)
    pattern = re.compile(rf"{_CODE}|(?P<end>{_ALONE.pattern})", _ALONE.flags | re.DOTALL)
    for found in pattern.finditer(text, 0, _FAR):
        if found["end"] is not None:
            return _closed(text[: found.start()], text[found.end() :], wraps)
    return Parts(None, text)


def _closing(text: str, start: int, name: str, *, is_growing: bool) -> re.Match[str] | None:
    pattern = re.compile(rf"{_CODE}|(?P<end></{name}>)", re.IGNORECASE | re.DOTALL)
    for found in pattern.finditer(text, start, start + _FAR):
        if found["end"] is not None:
            return found
    # A fence that the model forgot to close must not swallow the answer.
    alone = _ALONE.search(text, start, start + _FAR)
    if alone or is_growing:  # while more may come the fence may still be closed, and the tag was within it
        return alone
    return re.compile(rf"(?<!`)</{name}>", re.IGNORECASE).search(text, start, start + _FAR)


def _may_open(text: str) -> bool:
    begun = text.lstrip().lower()
    return bool(begun) and any(f"<{name}>".startswith(begun) for name in _NAMES.split("|"))


def _without_half_tag(reasoning: str) -> str:
    place = reasoning.rfind("<", max(0, len(reasoning) - _LONGEST_TAG - 1))
    if place >= 0 and any(f"</{name}>".startswith(reasoning[place:].lower()) for name in _NAMES.split("|")):
        return reasoning[:place]
    return reasoning
