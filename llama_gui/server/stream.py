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
    is_told,
    joined,
    prompt_logprobs,
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

    def __init__(
        self,
        asked: Asked,
        envelope: Envelope,
        engine: ServedEngine,
        echoes: Sequence[Echo] = (),
        prompts: Sequence[Sequence[int]] = (),
    ) -> None:
        self._asked = asked
        self._prompts = prompts if asked.token_ids else ()
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
            ids = (self._chunk(choice, "", prompt=prompt) for choice, prompt in enumerate(self._prompts))
            return b"".join([*ids, *(self._chunk(choice, echo.text) for choice, echo in known)])
        prompts = self._prompts or [None] * len(self._asked.requests)
        return b"".join(
            self._chunk(
                choice,
                {"role": "assistant", "content": opening(self._asked, self._engine, choice)},
                prompt=prompts[choice],
            )
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
        as_ids = self._asked.tokens_as_ids
        logprobs = echo_logprobs(echo, arrived.prompt_logprobs, self._engine.tokenizer, as_ids=as_ids)
        return self._chunk(arrived.choice, echo.text, logprobs=logprobs)

    def _token(self, choice: int, output: TokenOutput) -> bytes:
        text = output.text
        logprobs = self._logprobs(choice, output)
        self._offsets[choice] += len(text)
        text = self._splits[choice].push(text)
        token_id = output.token_id if self._asked.token_ids else None
        if not text and logprobs is None and token_id is None:
            return b""
        delta = {"content": text} if self._asked.is_chat else text
        return self._chunk(choice, delta, logprobs=logprobs, token_id=token_id)

    def _logprobs(self, choice: int, output: TokenOutput) -> dict[str, Any] | None:
        if not self._asked.logprobs:
            return None
        tokenizer, as_ids = self._engine.tokenizer, self._asked.tokens_as_ids
        if not self._asked.is_chat:  # whoever counts its tokens counts the last one too
            return completion_logprobs([output], tokenizer, self._offsets[choice], as_ids=as_ids)
        is_shown = is_told(self._asked.requests[choice], output.token_id, self._engine)
        return chat_logprobs([output], tokenizer, as_ids=as_ids) if is_shown else None

    def _finish(self, choice: int, result: GenerateResult) -> bytes:
        self._usages[choice] = told_usage(self._asked, result)
        reason = told_reason(self._asked, choice, result, self._engine)
        left = self._splits[choice].finish()
        out = self._chunk(choice, {"content": left.text}) if left.text else b""
        if left.calls:
            out += self._chunk(choice, {"tool_calls": numbered(limited(self._asked, left.calls))})
            reason = "tool_calls" if reason == "stop" else reason
        return out + self._chunk(
            choice, {} if self._asked.is_chat else "", reason=reason, stop_reason=told_stop(self._asked, result)
        )

    def _chunk(
        self,
        choice: int,
        delta: Mapping[str, Any] | str,
        *,
        logprobs: dict[str, Any] | None = None,
        reason: str | None = None,
        stop_reason: str | int | None = None,
        token_id: int | None = None,
        prompt: Sequence[int] | None = None,
    ) -> bytes:
        said = {"delta": delta} if self._asked.is_chat else {"text": delta}
        part: dict[str, Any] = {"index": choice, **said, "logprobs": logprobs, "finish_reason": reason}
        if reason is not None:
            part["stop_reason"] = stop_reason
        if token_id is not None:
            part["token_ids"] = [token_id]
        more: dict[str, Any] = {"usage": None} if self._asked.include_usage else {}
        if prompt is not None:
            (more if self._asked.is_chat else part)["prompt_token_ids"] = list(prompt)
        return event(self._envelope.wrap([part], is_chunk=True, **more))


def opening(asked: Asked, engine: ServedEngine, choice: int) -> str:
    """The tag that the prompt ends with: without it no client could tell the reasoning from the answer."""
    request = asked.requests[choice]
    if (request.chat_template_kwargs or {}).get("add_generation_prompt") is False:
        return ""
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
    prompts: Sequence[Sequence[int]] = (),
) -> dict[str, Any]:
    """The reply to a request that does not stream; `outputs` are the tokens of each answer that was written.

    Raises:
        RefusedError: an answer failed.
    """
    texts = echoes or [None] * len(results)
    choices: list[dict[str, Any]] = []
    for index in best(asked, outputs):
        if asked.is_chat:
            told = _choice(asked, engine, index, results[index], outputs[index])
        else:
            told = _completion(asked, engine, index, results[index], outputs[index], texts[index])
        choices.append({**told, "index": len(choices), "stop_reason": told_stop(asked, results[index])})
        if asked.token_ids:
            choices[-1]["token_ids"] = [] if asked.only_prompt else [output.token_id for output in outputs[index]]
        of_prompt = _of_prompt(asked, engine, results[index], prompts[index] if prompts else ())
        choices[-1] |= {} if asked.is_chat else of_prompt
    usage = usage_fields([told_usage(asked, result) for result in results], asked.prompts)
    more = _of_prompt(asked, engine, results[0], prompts[0] if prompts else ()) if asked.is_chat else {}
    return envelope.wrap(choices, is_chunk=False, usage=usage, **more)


def best(asked: Asked, outputs: Sequence[Sequence[TokenOutput]]) -> list[int]:
    """Which of the answers are told, by prompt: all, or the likeliest of them first where more were written."""
    written = len(outputs) // asked.prompts
    numbers = range(len(outputs))
    if written == asked.choices:
        return list(numbers)
    likely = [sum(output.logprob for output in answer) for answer in outputs]
    starts = range(0, len(outputs), written)
    ranked = (sorted(numbers[start : start + written], key=lambda i: -likely[i]) for start in starts)
    return [index for indices in ranked for index in indices[: asked.choices]]


def _of_prompt(asked: Asked, engine: ServedEngine, result: GenerateResult, ids: Sequence[int]) -> dict[str, Any]:
    """What is told of a prompt: its ids, and how likely they were."""
    told: dict[str, Any] = {"prompt_token_ids": list(ids)} if asked.token_ids else {}
    if asked.prompt_logprobs:
        told["prompt_logprobs"] = prompt_logprobs(result.prompt_logprobs, engine.tokenizer)
    return told


def told_stop(asked: Asked, result: GenerateResult) -> str | int | None:
    """The stop text, or the id of the token that was to stop it, that ended an answer; as vLLM has it."""
    return None if asked.only_prompt else result.stop_reason


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
        tokenizer, as_ids = engine.tokenizer, asked.tokens_as_ids
        logprobs = completion_logprobs(outputs, tokenizer, len(text), as_ids=as_ids)
        if echo is not None:
            logprobs = joined(echo_logprobs(echo, result.prompt_logprobs, tokenizer, as_ids=as_ids), logprobs)
    text += "".join(output.text for output in outputs)
    return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": reason}


def _choice(
    asked: Asked, engine: ServedEngine, index: int, result: GenerateResult, outputs: Sequence[TokenOutput]
) -> dict[str, Any]:
    reason = finish_reason(asked.requests[index], result, engine)
    # The result is the whole answer, with what it went on from; what was asked for is the rest.
    written = "".join(output.text for output in outputs)
    drawn = [output for output in outputs if is_told(asked.requests[index], output.token_id, engine)]
    logprobs = chat_logprobs(drawn, engine.tokenizer, as_ids=asked.tokens_as_ids) if asked.logprobs else None
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
