"""How a model writes calls, as its chat template and its tokens tell."""

from collections.abc import Callable

from llama_gui.errors import ChatTemplateError
from llama_gui.tool_calls import MANNERS, Manner
from llama_gui.tool_calls.manners import BARE, FUNCTOOLS, TOOL_CALL_TOKEN
from llama_gui.vocabulary import Message

_CALL = {"type": "function", "id": "abcdefghi", "function": {"name": "f", "arguments": {"a": 1}}}


def manners_of(
    has: Callable[[str], bool], prompt: Callable[[Message | None], str], *, are_told: bool
) -> tuple[Manner, ...]:
    """The call formats whose mark the model has, and none of the marks of another one (`Manner.others`).

    `has`: whether a text is in the template, or a token; `prompt`: that of a question, and its answer if that is given.
    `are_told`: tools stand in the system turn, as with Phi-4-mini, whose template names no mark.
    """
    found = [manner for manner in MANNERS if manner.mark and has(manner.mark) and not any(map(has, manner.others))]
    if are_told:
        found += [manner for manner in (TOOL_CALL_TOKEN, FUNCTOOLS) if manner not in found]
    return (*found, BARE) if _is_bare(prompt) else tuple(found)


def _is_bare(prompt: Callable[[Message | None], str]) -> bool:
    """Whether a call is written as an answer that is nothing else, and has no mark."""
    try:
        before, whole = prompt(None), prompt(Message("assistant", "", tool_calls=[_CALL]))
    except ChatTemplateError:  # whoever asks for an answer is told
        return False
    return whole.startswith(before) and whole[len(before) :].lstrip().startswith('{"name"')
