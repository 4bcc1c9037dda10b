"""Answers with calls of tools: what of them is text, and what a call."""

from collections.abc import Sequence
from typing import Any

from llama_gui.server.asked import Asked
from llama_gui.server.replies import call_fields
from llama_gui.server.served import ServedEngine
from llama_gui.tool_calls import CallWatch, ForcedCalls, SaidAndCalled, ToolCall, parse_tool_calls


class CallSplit:
    """Tells calls from text while one answer comes: those that the model makes by itself, or those that it must.

    `forced`: these, which take the whole answer; None: none must be.
    """

    def __init__(self, asked: Asked, engine: ServedEngine, opening: str = "") -> None:
        tools = asked.tools
        self.forced = forced_calls(asked)
        self._watch = None
        if tools is not None and self.forced is None:
            bare = _may_be_bare(asked, engine)
            self._watch = CallWatch(tools.names, opening, bare=bare, parameters=tools.parameters)

    def push(self, text: str) -> str:
        """More of the answer; the text that is certainly said."""
        return text if self._watch is None else self._watch.push(text)

    def finish(self) -> SaidAndCalled:
        """What is left: the rest of the text, and the calls."""
        return SaidAndCalled("", ()) if self._watch is None else self._watch.finish()


def opening(asked: Asked, engine: ServedEngine, choice: int) -> str:
    """The tag that the prompt ends with: without it no client could tell the reasoning from the answer."""
    if not asked.is_chat:  # no template made that prompt
        return ""
    request = asked.requests[choice]
    if (request.chat_template_kwargs or {}).get("add_generation_prompt") is False:
        return ""
    is_formed = request.json_schema is not None or request.regex is not None
    is_formed |= asked.tools is not None and asked.tools.grammar is not None
    if is_formed or request.answer_text:
        return ""
    return engine.info.opening(request.chosen_thinking)


def said_and_called(asked: Asked, engine: ServedEngine, choice: int, text: str) -> tuple[str, Sequence[ToolCall]]:
    """A whole answer with the tag that its prompt ends with, but without the calls in it; and those."""
    begun, forced = opening(asked, engine, choice), forced_calls(asked)
    if asked.tools is None:
        return begun + text, ()
    if forced is not None:
        forced.push(text)
        return begun, forced.calls
    tools, bare = asked.tools, _may_be_bare(asked, engine)
    found = parse_tool_calls(begun + text, tools.names, bare=bare, parameters=tools.parameters)
    return found.text, found.calls


def _may_be_bare(asked: Asked, engine: ServedEngine) -> bool:
    """Whether a call may be without a mark. What must have a form has no marks, as these are no part of it."""
    return not engine.info.marks_calls or asked.form.schema is not None


def forced_calls(asked: Asked) -> ForcedCalls | None:
    """What reads the calls that the answer must be; None: it need not be any."""
    if asked.tools is None or asked.tools.grammar is None:
        return None
    return ForcedCalls(asked.tools.named)


def limited(asked: Asked, calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
    """All calls, or the first, as the request wants it."""
    return calls if asked.tools is None or asked.tools.parallel else calls[:1]


def numbered(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Calls as a stream tells them."""
    return [{"index": index, **call_fields(call)} for index, call in enumerate(calls)]
