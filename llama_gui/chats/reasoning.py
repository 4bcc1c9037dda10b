"""What a model thought before it answered, told from the answer; pure."""

import re
from dataclasses import dataclass

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


def split_reasoning(text: str, model: str = "", *, is_growing: bool = False) -> Parts:
    """Find a block of reasoning at the beginning of an answer.

    Some templates write the opening tag into the prompt, so a closing tag on a line of its own is enough. Tags within
    code are words like others. `model`: the name of the one that wrote it, for Granite has tags around its answers as
    well. `is_growing`: more may come, so half an opening tag counts as one.
    """
    opening = _OPENING.match(text)
    if opening is None:
        if is_growing and _may_open(text):
            return Parts("", "", is_open=True)
        return _without_opening(text, model)
    closing = _closing(text, opening.end(), opening.group(1), is_growing=is_growing)
    if closing is None:
        reasoning = text[opening.end() :]
        return Parts(_without_half_tag(reasoning) if is_growing else reasoning, "", is_open=True)
    return _closed(text[opening.end() : closing.start()], text[closing.end() :], model)


def parts_of(content: str, role: str, model: str) -> Parts:
    """A message in two: only answers are told apart."""
    return split_reasoning(content, model) if role == "assistant" else Parts(None, content)


def answer_text(text: str, model: str) -> str:
    """The answer without the reasoning; all of it where nothing but reasoning came."""
    parts = split_reasoning(text, model)
    return text if parts.is_open else parts.answer


def _closed(reasoning: str, answer: str, model: str) -> Parts:
    answer = answer.lstrip()
    if _WRAPPING in model.casefold():  # another was asked for such tags by its user
        answer = _unwrapped(answer)
    return Parts(reasoning.strip(), answer) if reasoning.strip() else Parts(None, answer)


def _unwrapped(answer: str) -> str:
    begun = answer[: len(_WRAP)].lower()
    if not begun or not _WRAP.startswith(begun):
        return answer
    answer = answer[len(_WRAP) :].strip()
    place = answer.rfind("<", max(0, len(answer) - len(_WRAP_END)))
    return answer[:place].rstrip() if place >= 0 and _WRAP_END.startswith(answer[place:].lower()) else answer


def _without_opening(text: str, model: str) -> Parts:
    if "</" not in text:
        return Parts(None, text)
    pattern = re.compile(rf"{_CODE}|(?P<end>{_ALONE.pattern})", _ALONE.flags | re.DOTALL)
    for found in pattern.finditer(text, 0, _FAR):
        if found["end"] is not None:
            return _closed(text[: found.start()], text[found.end() :], model)
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
