"""Answers that do not stream -> the reply."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from llama_gui.server.asked import Asked
from llama_gui.server.calling import limited, said_and_called
from llama_gui.server.echo import Echo, echo_logprobs
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
from llama_gui.server.served import ServedEngine
from llama_gui.vocabulary import GenerateResult, TokenOutput, Usage


def whole_reply(
    asked: Asked,
    envelope: Envelope,
    engine: ServedEngine,
    results: Sequence[GenerateResult],
    outputs: Sequence[Sequence[TokenOutput]],
    echoes: Sequence[Echo],
    prompts: Sequence[Sequence[int]],
) -> dict[str, Any]:
    """The reply to a request that does not stream; `outputs` are the tokens of each answer that was written.

    `echoes`: their prompts, where they are returned; else none. `prompts`: the tokens of each.

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
        choices.append({"index": len(choices), **told, "stop_reason": told_stop(asked, results[index])})
        if asked.token_ids:
            choices[-1]["token_ids"] = [] if asked.only_prompt else [output.token_id for output in outputs[index]]
        if not asked.is_chat:
            choices[-1] |= _of_prompt(asked, engine, results[index], prompts[index])
    usage = usage_fields([told_usage(asked, result) for result in results], asked.prompts)
    more = _of_prompt(asked, engine, results[0], prompts[0]) if asked.is_chat else {}
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
    return {"text": text, "logprobs": logprobs, "finish_reason": reason}


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
    return {"message": message, "logprobs": logprobs, "finish_reason": reason}
