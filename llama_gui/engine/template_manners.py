"""How a model writes calls, as its chat template and its tokens tell."""

import re
from collections.abc import Callable, Sequence

from llama_gui.errors import ChatTemplateError
from llama_gui.tool_calls import MANNERS, Manner
from llama_gui.tool_calls.manners import BARE, FUNCTOOLS, TOOL_CALL_TOKEN
from llama_gui.vocabulary import Message

_LIST = re.compile(r'\[\s*\{\s*"(name|type|id|arguments)"')
SOME_CALL = {"type": "function", "id": "abcdefghi", "function": {"name": "f", "arguments": {"a": 1}}}


def manners_of(
    has: Callable[[str], bool], prompt: Callable[[Message | None], str], *, are_told: bool
) -> tuple[Manner, ...]:
    """The call formats whose mark the model has, and none of the marks of another one (`Manner.others`).

    `has`: whether a text is in the template, or a token; `prompt`: that of a question, and its answer if that is given.
    `are_told`: tools stand in the system turn, as with Phi-4-mini, whose template names no mark.
    """

    def is_known(manner: Manner) -> bool:
        signs = filter(None, (manner.mark, manner.before_arguments))
        return bool(manner.mark) and all(map(has, signs)) and not any(map(has, manner.others))

    found = [*filter(is_known, MANNERS)]
    if are_told:
        found += [manner for manner in (TOOL_CALL_TOKEN, FUNCTOOLS) if manner not in found]
    is_bare = _answer(prompt, 1).lstrip().startswith('{"name"')
    return (*found, BARE) if is_bare else tuple(found)


def are_lists(manners: Sequence[Manner], prompt: Callable[[Message | None], str]) -> bool:
    """Whether a model of these `manners` was taught to write several calls as one list. `prompt`: as above."""
    return any(not manner.has_one for manner in manners) or _LIST.search(_answer(prompt, 2)) is not None


def _answer(prompt: Callable[[Message | None], str], calls: int) -> str:
    """So many calls as the template writes them; "": it does not."""
    try:
        before, whole = prompt(None), prompt(Message("assistant", "", tool_calls=[SOME_CALL] * calls))
    except ChatTemplateError:  # whoever asks for an answer is told
        return ""
    return whole[len(before) :] if whole.startswith(before) else ""
