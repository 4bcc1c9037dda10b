"""Pieces of answers -> server-sent events."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from llama_gui.server.answers import Arrived
from llama_gui.server.echo import Echo, echo_logprobs
from llama_gui.server.json_body import dump
from llama_gui.server.refusal import RefusedError
from llama_gui.server.replies import (
    Envelope,
    call_fields,
    chat_logprobs,
    completion_logprobs,
    finish_reason,
    joined,
    usage_fields,
)
from llama_gui.server.schema import Asked
from llama_gui.server.served import ServedEngine
from llama_gui.tool_calls import CallWatch, SaidAndCalled, ToolCall, parse_tool_calls
from llama_gui.vocabulary import GenerateResult, TokenOutput, Usage

DONE = b"data: [DONE]\n\n"
PING = b": still here\n\n"


def event(value: Any) -> bytes:
    """One event."""
    return b"data: " + dump(value) + b"\n\n"


class CallSplit:
    """Tells calls from text while one answer comes: those that the model makes by itself, or the one that it must."""

    def __init__(self, asked: Asked, opening: str = "") -> None:
        self._asked = asked
        tools = asked.tools
        self._watch = CallWatch(tools.names, opening) if tools is not None and tools.grammar is None else None
        self._forced = ""

    def push(self, text: str) -> str:
        """More of the answer; the text that is certainly said."""
        if self._watch is not None:
            return self._watch.push(text)
        if self._asked.tools is None:
            return text
        self._forced += text
        return ""

    def finish(self) -> SaidAndCalled:
        """What is left: the rest of the text, and the calls."""
        if self._watch is not None:
            return self._watch.finish()
        return SaidAndCalled("", forced_calls(self._asked, self._forced))


class ChunkMaker:
    """Makes the events of one streaming request. `events` gives those of an arrival, `end` the last ones."""

    def __init__(self, asked: Asked, envelope: Envelope, engine: ServedEngine, echoes: Sequence[Echo] = ()) -> None:
        self._asked = asked
        self._envelope = envelope
        self._engine = engine
        self._echoes = echoes
        self._usages: dict[int, Usage] = {}
        self._offsets = [len(echo.text) for echo in echoes] or [0] * len(asked.requests)
        self._splits = [CallSplit(asked, opening(asked, engine, n)) for n in range(len(asked.requests))]

    def begin(self) -> bytes:
        """The events before the first token."""
        if not self._asked.is_chat:
            known = () if self._asked.logprobs else enumerate(self._echoes)  # else each comes with its first token
            return b"".join(self._chunk(choice, echo.text) for choice, echo in known)
        return b"".join(
            self._chunk(choice, {"role": "assistant", "content": opening(self._asked, self._engine, choice)})
            for choice in range(len(self._asked.requests))
        )

    def events(self, arrived: Arrived) -> bytes:
        """The events of a token, or of the end of an answer; there may be none.

        Raises:
            RefusedError: the answer failed.
        """
        if isinstance(arrived.item, GenerateResult):
            return self._finish(arrived.choice, arrived.item)
        return self._prompt(arrived) + (b"" if self._asked.only_prompt else self._token(arrived.choice, arrived.item))

    def end(self) -> bytes:
        """The events behind the last token: usage, when it was asked for, and the end."""
        if not self._asked.include_usage:
            return DONE
        usages = [self._usages[choice] for choice in range(len(self._asked.requests))]
        usage = usage_fields(usages, self._asked.prompts)
        return event(self._envelope.wrap([], is_chunk=True, usage=usage)) + DONE

    def failure(self, refused: RefusedError) -> bytes:
        """The last event of a stream that failed: no ``[DONE]`` follows, and no reason to finish."""
        return event(refused.body)

    def _prompt(self, arrived: Arrived) -> bytes:
        if not arrived.prompt_logprobs:
            return b""
        echo = self._echoes[arrived.choice]
        logprobs = echo_logprobs(echo, arrived.prompt_logprobs, self._engine.tokenizer)
        return self._chunk(arrived.choice, echo.text, logprobs=logprobs)

    def _token(self, choice: int, output: TokenOutput) -> bytes:
        text = output.text
        logprobs = self._logprobs(choice, output)
        self._offsets[choice] += len(text)
        text = self._splits[choice].push(text)
        if not text and logprobs is None:
            return b""
        if self._asked.is_chat:
            return self._chunk(choice, {"content": text}, logprobs=logprobs)
        return self._chunk(choice, text, logprobs=logprobs)

    def _logprobs(self, choice: int, output: TokenOutput) -> dict[str, Any] | None:
        if not self._asked.logprobs:
            return None
        if not self._asked.is_chat:  # whoever counts its tokens counts the last one too
            return completion_logprobs([output], self._engine.tokenizer, self._offsets[choice])
        is_end = output.token_id in self._engine.eos_token_ids
        return None if is_end else chat_logprobs([output], self._engine.tokenizer)

    def _finish(self, choice: int, result: GenerateResult) -> bytes:
        self._usages[choice] = told_usage(self._asked, result)
        reason = told_reason(self._asked, choice, result, self._engine)
        left = self._splits[choice].finish()
        out = self._chunk(choice, {"content": left.text}) if left.text else b""
        if left.calls:
            out += self._chunk(choice, {"tool_calls": numbered(limited(self._asked, left.calls))})
            reason = "tool_calls" if reason == "stop" else reason
        return out + self._chunk(choice, {} if self._asked.is_chat else "", reason=reason)

    def _chunk(
        self,
        choice: int,
        delta: Mapping[str, Any] | str,
        *,
        logprobs: dict[str, Any] | None = None,
        reason: str | None = None,
    ) -> bytes:
        said = {"delta": delta} if self._asked.is_chat else {"text": delta}
        part = {"index": choice, **said, "logprobs": logprobs, "finish_reason": reason}
        more = {"usage": None} if self._asked.include_usage else {}
        return event(self._envelope.wrap([part], is_chunk=True, **more))


def opening(asked: Asked, engine: ServedEngine, choice: int) -> str:
    """The tag that the prompt ends with: without it no client could tell the reasoning from the answer."""
    request = asked.requests[choice]
    is_formed = request.json_schema is not None or request.regex is not None
    is_formed |= asked.tools is not None and asked.tools.grammar is not None
    if is_formed or request.answer_text:
        return ""
    return engine.info.opening(request.chosen_thinking)


def whole_reply(
    asked: Asked,
    envelope: Envelope,
    engine: ServedEngine,
    results: Sequence[GenerateResult],
    outputs: Sequence[Sequence[TokenOutput]],
    echoes: Sequence[Echo] = (),
) -> dict[str, Any]:
    """The reply to a request that does not stream; `outputs` are the tokens of each choice.

    Raises:
        RefusedError: an answer failed.
    """
    if asked.is_chat:
        choices = [_choice(asked, engine, index, result, outputs[index]) for index, result in enumerate(results)]
    else:
        texts = echoes or [None] * len(results)
        choices = [_completion(asked, engine, i, result, outputs[i], texts[i]) for i, result in enumerate(results)]
    usage = usage_fields([told_usage(asked, result) for result in results], asked.prompts)
    return envelope.wrap(choices, is_chunk=False, usage=usage)


def told_usage(asked: Asked, result: GenerateResult) -> Usage:
    """What an answer cost, as the caller sees it."""
    return replace(result.usage, completion_tokens=0) if asked.only_prompt else result.usage


def told_reason(asked: Asked, index: int, result: GenerateResult, engine: ServedEngine) -> str:
    """Why an answer ended.

    Raises:
        RefusedError: it failed.
    """
    reason = finish_reason(asked.requests[index], result, engine)
    return "length" if asked.only_prompt else reason


def _completion(
    asked: Asked,
    engine: ServedEngine,
    index: int,
    result: GenerateResult,
    outputs: Sequence[TokenOutput],
    echo: Echo | None,
) -> dict[str, Any]:
    reason = told_reason(asked, index, result, engine)
    outputs = () if asked.only_prompt else outputs
    text, logprobs = "" if echo is None else echo.text, None
    if asked.logprobs:
        logprobs = completion_logprobs(outputs, engine.tokenizer, len(text))
        if echo is not None:
            logprobs = joined(echo_logprobs(echo, result.prompt_logprobs, engine.tokenizer), logprobs)
    text += "".join(output.text for output in outputs)
    return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": reason}


def _choice(
    asked: Asked, engine: ServedEngine, index: int, result: GenerateResult, outputs: Sequence[TokenOutput]
) -> dict[str, Any]:
    reason = finish_reason(asked.requests[index], result, engine)
    # The result is the whole answer, with what it went on from; what was asked for is the rest.
    written = "".join(output.text for output in outputs)
    drawn = [output for output in outputs if output.token_id not in engine.eos_token_ids]
    logprobs = chat_logprobs(drawn, engine.tokenizer) if asked.logprobs else None
    text, calls = said_and_called(asked, engine, index, written)
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if calls:
        message |= {"content": text or None, "tool_calls": [call_fields(call) for call in limited(asked, calls)]}
        reason = "tool_calls" if reason == "stop" else reason
    return {"index": index, "message": message, "logprobs": logprobs, "finish_reason": reason}


def said_and_called(asked: Asked, engine: ServedEngine, choice: int, text: str) -> tuple[str, Sequence[ToolCall]]:
    """A whole answer with the tag that its prompt ends with, but without the calls in it; and those."""
    begun = opening(asked, engine, choice)
    if asked.tools is None:
        return begun + text, ()
    if asked.tools.grammar is not None:
        return begun, forced_calls(asked, text)
    found = parse_tool_calls(begun + text, asked.tools.names)
    return found.text, found.calls


def forced_calls(asked: Asked, text: str) -> tuple[ToolCall, ...]:
    """The call in an answer that had to be one: its grammar made it the arguments, or name and arguments."""
    tools = asked.tools
    if tools is None or not text:
        return ()
    if tools.choice == "named":
        return (ToolCall(tools.named, text),)
    return parse_tool_calls(text, tools.names).calls


def limited(asked: Asked, calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
    """All calls, or the first, as the request wants it."""
    return calls if asked.tools is None or asked.tools.parallel else calls[:1]


def numbered(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Calls as a stream tells them."""
    return [{"index": index, **call_fields(call)} for index, call in enumerate(calls)]
