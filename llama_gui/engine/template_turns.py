"""The same conversation in other turns, for chat templates that refuse it, or have no place for what is in it. Pure."""

import contextlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from llama_gui.engine.tag_guard import unguarded
from llama_gui.engine.vision.stand_in import STAND_IN
from llama_gui.tool_calls import parted, written_calls

Turn = dict[str, Any]

_HAS_TOOLS = "You are a helpful assistant with some tools."
"""What Microsoft's examples say before the tools."""


def has_calls(turns: Sequence[Turn]) -> bool:
    """Whether tools were called in it."""
    return any(turn["role"] == "tool" or turn.get("tool_calls") for turn in turns)


def others(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Conversations to try instead, the closest in meaning first.

    Some templates know no system role, many only at the beginning; Llama 3's take one call at a time; many know of no
    calls at all.
    """
    whole = list(turns)
    ways: list[list[Turn]] = []
    told = told_to_user(whole)
    for way in (whole, told) if told != whole else (whole,):
        ways += [way, split_calls(way), calls_as_text(way)] if has_calls(way) else [way]
    for way in ways:
        if way != whole:
            yield way
        folded = _fold_system(way)
        if folded is not None:
            yield folded


def in_parts(turn: Turn) -> Turn:
    """The same with a list of texts and images as its content, as transformers' processors take it."""
    parts: list[dict[str, str]] = []
    for number, text in enumerate(turn["content"].split(STAND_IN)):
        parts += [{"type": "image"}] if number else []
        parts += [{"type": "text", "text": text}] if text else []
    return {**turn, "content": parts or [{"type": "text", "text": ""}]}


def with_told_tools(turns: Sequence[Turn], tools: Any) -> list[Turn]:
    """The tools as the text of a list in the system turn, where Phi-4-mini's template looks for them."""
    told = json.dumps([_function_of(tool) for tool in tools], ensure_ascii=False)
    if turns and turns[0]["role"] == "system":
        return [{**turns[0], "tools": told}, *turns[1:]]
    return [{"role": "system", "content": _HAS_TOOLS, "tools": told}, *turns]


def _function_of(tool: Any) -> Any:
    return tool.get("function", tool) if isinstance(tool, dict) else tool


def split_calls(turns: Sequence[Turn]) -> list[Turn]:
    """Each call in a turn of its own, with its reply right behind it."""
    found: list[Turn] = []
    place = 0
    while place < len(turns):
        turn, place = turns[place], place + 1
        calls = turn.get("tool_calls") or ()
        if len(calls) < 2:
            found.append(turn)
            continue
        end = place
        while end < len(turns) and turns[end]["role"] == "tool":
            end += 1
        replies, place = list(turns[place:end]), end
        for number, call in enumerate(calls):
            found.append({**turn, "content": "" if number else turn["content"], "tool_calls": [call]})
            reply = _reply_to(call, replies)
            if reply is not None:
                replies.remove(reply)
                found.append(reply)
        found += replies
    return found


def with_thoughts_apart(turns: Sequence[Turn]) -> list[Turn]:
    """What was thought under a name of its own, `thinking`, as templates with channels read it.

    Beside a call they take either thoughts or words: there both are thoughts.
    """
    return [_with_thoughts_apart(turn) if turn["role"] == "assistant" else turn for turn in turns]


def _with_thoughts_apart(turn: Turn) -> Turn:
    thinking, said = map(unguarded, parted(turn["content"]))
    if turn.get("tool_calls"):
        thinking, said = "\n\n".join(part for part in (thinking, said.strip()) if part), ""
        turn = {**turn, "tool_calls": [_with_object(call) for call in turn["tool_calls"]]}
    return {**turn, "content": said, **({"thinking": thinking} if thinking else {})}


def _with_object(call: Any) -> Any:
    """Arguments are written as JSON by the template: as a text they would be a text within."""
    function = call.get("function") if isinstance(call, dict) else None
    arguments = function.get("arguments") if isinstance(function, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict) or not isinstance(arguments, str):
        return call
    with contextlib.suppress(ValueError, RecursionError):
        arguments = json.loads(arguments)
    return {**call, "function": {**function, "arguments": arguments}}


def with_descriptions(tools: Any) -> Any:
    """Each tool with a description, which some templates take for granted; "" where it has none."""
    if not isinstance(tools, list):
        return tools
    return [
        {**tool, "function": {**tool["function"], "description": tool["function"].get("description") or ""}}
        if isinstance(tool, dict) and isinstance(tool.get("function"), dict)
        else tool
        for tool in tools
    ]


def _reply_to(call: Any, replies: Sequence[Turn]) -> Turn | None:
    """By its id; without ids they come in the order of the calls."""
    call_id = call.get("id") if isinstance(call, dict) else None
    return next((reply for reply in replies if reply.get("tool_call_id") in (call_id, None)), None)


def told_to_user(turns: Sequence[Turn]) -> list[Turn]:
    """What the system says in the midst, as words of the user: behind the last ones, or the last reply; else before the
    next ones, or behind the next reply. So what stands before it stays the same from one request to the next.
    """
    found: list[Turn] = []
    told = ""
    for turn in turns:
        if turn["role"] == "system" and found:
            if found[-1]["role"] in ("user", "tool") and not told:
                found[-1] = {**found[-1], "content": _behind(found[-1]["content"], turn["content"])}
            else:
                told = _behind(told, turn["content"])
            continue
        if told and turn["role"] == "user":
            turn = {**turn, "content": _behind(told, turn["content"])}
        elif told and turn["role"] == "tool":  # a call and its reply stay together
            turn = {**turn, "content": _behind(turn["content"], told)}
        elif told:
            found.append({"role": "user", "content": told})
        told = ""
        found.append(turn)
    return [*found, {"role": "user", "content": told}] if told else found


def _behind(text: str, more: str) -> str:
    return f"{text}\n\n{more}" if text else more


def with_written_calls(turns: Sequence[Turn]) -> list[Turn]:
    """Calls as their models write them, for templates of LFM2 that leave them out and take them in contents."""
    return [_with_written_calls(turn) if turn.get("tool_calls") else turn for turn in turns]


def _with_written_calls(turn: Turn) -> Turn:
    calls: list[tuple[str, dict[str, Any]]] = []
    for name, text in map(_named, turn["tool_calls"]):
        with contextlib.suppress(ValueError, RecursionError):
            arguments = json.loads(text)
            calls.append((name, arguments if isinstance(arguments, dict) else {}))
    kept = {key: value for key, value in turn.items() if key != "tool_calls"}
    return {**kept, "content": turn["content"] + written_calls(calls)} if calls else kept


def calls_as_text(turns: Sequence[Turn]) -> list[Turn]:
    """Calls as words of the assistant, replies as words of the user; two turns of one role in a row become one."""
    found: list[Turn] = []
    for turn in turns:
        turn = _as_text(turn)
        if found and found[-1]["role"] == turn["role"] != "system":
            turn = {"role": turn["role"], "content": f"{found.pop()['content']}\n\n{turn['content']}"}
        found.append(turn)
    return found


def _as_text(turn: Turn) -> Turn:
    if turn["role"] == "tool":
        name = turn.get("name") or "The tool"
        return {"role": "user", "content": f"[{name} replied:]\n{turn['content']}"}
    calls = [f"[Called {name}: {arguments}]" for name, arguments in map(_named, turn.get("tool_calls") or ())]
    if not calls:
        return turn
    said = [turn["content"]] if turn["content"].strip() else []
    return {"role": turn["role"], "content": "\n\n".join([*said, *calls])}


def _named(call: Any) -> tuple[str, str]:
    function = call.get("function") if isinstance(call, dict) else None
    function = function if isinstance(function, dict) else {}
    arguments = function.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return str(function.get("name", "a tool")), text


def _fold_system(turns: Sequence[Turn]) -> list[Turn] | None:
    """The system text at the head of the first user turn; None without both."""
    if len(turns) < 2 or turns[0]["role"] != "system" or turns[1]["role"] != "user":
        return None
    content = f"{turns[0]['content']}\n\n{turns[1]['content']}"
    return [{"role": "user", "content": content}, *turns[2:]]
