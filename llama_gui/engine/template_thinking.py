"""How a chat template makes its model think: found out by rendering, and asked for. Pure.

Mistral's reasoning models think where the system prompt has their marks. One of somebody's own replaces the template's,
so Mistral asks for both. Those since 2026 have a switch: the effort is "high", or "none". Nemotron Nano 2 is told by a
word in the system prompt, which its template takes out.
"""

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llama_gui.engine.template_turns import Turn
from llama_gui.engine.thinking_marks import THINK
from llama_gui.engine.tokenizer import THINKING_MARKS
from llama_gui.vocabulary import EFFORT, EFFORTS, THINKING_TAGS, chosen_thinking

Run = Callable[..., str]
"""Renders turns with the variables that it is given; what the template raises goes through."""

_THINKING_TAG = re.compile(rf"<(?:{'|'.join(THINKING_TAGS)})>\s*\Z")
_ASKED: Turn = {"role": "user", "content": "?"}
NO_THINK = "/no_think"
_SOMETHING = "\ue000something\ue000"
"""A system prompt that stands in no template."""


def thinking_tag(prompt: str) -> str:
    """The tag with which the prompt begins the model's reasoning, as in "<think>\\n"; "" if it begins none.

    Marks count as the tag that they are told as.
    """
    if prompt.endswith(tuple(opening for opening, _ in THINKING_MARKS)):
        return THINK
    tag = _THINKING_TAG.search(prompt)
    return tag.group() if tag else ""


def is_effort_switch(run: Run) -> bool:
    """Whether an effort of "none" or "high" makes it think or not, and it takes no other."""
    made: dict[str, str] = {}
    for effort in ("none", *EFFORTS):
        with contextlib.suppress(Exception):
            made[effort] = run([_ASKED], **{EFFORT: effort})
    return made.keys() == {"none", "high"} and made["none"] != made["high"]


def is_told(run: Run) -> bool:
    """Whether the word `NO_THINK` makes it answer at once, and no variable does, which is better where there is one."""
    try:
        on, off = (run([_ASKED], enable_thinking=thinking) for thinking in (True, False))
        told = run(told_not_to_think([_ASKED]))
    except Exception:  # whoever asks for an answer is told
        return False
    return on == off and NO_THINK not in told and bool(thinking_tag(on)) and not thinking_tag(told)


def told_not_to_think(turns: Sequence[Turn]) -> list[Turn]:
    """With that word in the system prompt."""
    if turns and turns[0]["role"] == "system":
        return [{**turns[0], "content": f"{turns[0]['content']}\n{NO_THINK}"}, *turns[1:]]
    return [{"role": "system", "content": NO_THINK}, *turns]


def with_effort(variables: Mapping[str, Any]) -> dict[str, Any]:
    """With the effort that comes nearest to what is asked for, where it is such a switch."""
    wanted = chosen_thinking(variables)
    if wanted is None and variables.get(EFFORT) not in EFFORTS:
        return {**variables}
    return {**variables, EFFORT: "none" if wanted is False else "high"}


def instructions_with(mark: str, run: Run) -> str:
    """What a template says where nobody gives a system prompt, if this mark is in it; "": nothing, or in any case."""
    try:
        usual, own = run([_ASKED]), run([{"role": "system", "content": _SOMETHING}, _ASKED])
    except Exception:  # whoever asks for an answer is told
        return ""
    before, found, behind = own.partition(_SOMETHING)
    fits = found and len(usual) >= len(before) + len(behind) and usual.startswith(before) and usual.endswith(behind)
    told = usual[len(before) : len(usual) - len(behind)] if fits else ""
    return told if mark in told else ""


def without_instructions(turns: Sequence[Turn], instructions: str) -> list[Turn]:
    """Without what somebody has copied of the template's own `instructions` into a system prompt, breaks and all: its
    marks would be words.
    """
    if not turns or turns[0]["role"] != "system":
        return [*turns]
    content = turns[0]["content"]
    words = map(re.escape, re.findall(r"\w+|[^\w\s]", instructions))
    copied = re.search(r"\s*".join(words), content)
    if copied is not None:
        content = content[: copied.start()].rstrip() + content[copied.end() :]
    return [{**turns[0], "content": content}, *turns[1:]]


def with_instructions(turns: Sequence[Turn], instructions: str, *, are_wanted: bool) -> list[Turn]:
    """With the template's own `instructions` behind somebody else's, which would replace them; or without any."""
    if turns and turns[0]["role"] == "system":
        told = turns[0]["content"]
        told = "\n\n".join(filter(str.strip, (told, instructions))) if are_wanted else told
        return [{**turns[0], "content": told}, *turns[1:]]
    return [*turns] if are_wanted else [{"role": "system", "content": ""}, *turns]
