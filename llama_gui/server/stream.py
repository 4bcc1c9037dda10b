"""Pieces of answers -> server-sent events."""

from collections.abc import Mapping, Sequence
from typing import Any

from llama_gui.server.answers import Arrived
from llama_gui.server.asked import Asked
from llama_gui.server.calling import CallSplit, limited, numbered, opening
from llama_gui.server.echo import Echo, echo_logprobs
from llama_gui.server.json_body import dump
from llama_gui.server.refusal import RefusedError
from llama_gui.server.replies import (
    Envelope,
    call_fields,
    chat_logprobs,
    completion_logprobs,
    is_told,
    usage_fields,
)
from llama_gui.server.served import ServedEngine
from llama_gui.server.whole_reply import told_reason, told_stop, told_usage
from llama_gui.tool_calls import CallPiece, ToolCall
from llama_gui.vocabulary import GenerateResult, TokenOutput, Usage

DONE = b"data: [DONE]\n\n"


class EventStream:
    """What all streams of server-sent events have in common."""

    media_type = "text/event-stream; charset=utf-8"

    @property
    def ping(self) -> bytes:
        """What tells a client that waits that it is not forgotten: a comment, which is no event."""
        return b": still here\n\n"


def event(value: Any) -> bytes:
    """One event."""
    return b"data: " + dump(value) + b"\n\n"


def typed_event(kind: str, **fields: Any) -> bytes:
    """One event of the protocols that name the kind of each, in its line and in its value."""
    return f"event: {kind}\ndata: ".encode() + dump({"type": kind, **fields}) + b"\n\n"


def _call_delta(piece: CallPiece) -> dict[str, Any]:
    if piece.begins:
        return {"index": piece.index, **call_fields(ToolCall(piece.name, piece.arguments))}
    return {"index": piece.index, "function": {"arguments": piece.arguments}}


class ChunkMaker(EventStream):
    """Makes the events of one streaming request. `events` gives those of an arrival, `end` the last ones."""

    def __init__(
        self,
        asked: Asked,
        envelope: Envelope,
        engine: ServedEngine,
        echoes: Sequence[Echo],
        prompts: Sequence[Sequence[int]],
    ) -> None:
        self._asked = asked
        self._prompts = prompts if asked.token_ids else ()
        self._envelope = envelope
        self._engine = engine
        self._echoes = echoes
        self._usages: dict[int, Usage] = {}
        self._prompt_sizes = [len(prompt) for prompt in prompts]
        self._drawn = [0] * len(asked.requests)
        self._offsets = [len(echo.text) for echo in echoes] or [0] * len(asked.requests)
        self._splits = [CallSplit(asked, engine, opening(asked, engine, n)) for n in range(len(asked.requests))]

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
        if self._asked.only_prompt:
            return self._prompt(arrived)
        self._drawn[arrived.choice] += 1
        return self._prompt(arrived) + self._token(arrived.choice, arrived.item)

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
        token_id = output.token_id if self._asked.token_ids else None
        delta = self._delta(choice, text) if self._asked.is_chat else text
        if not delta and logprobs is None and token_id is None:
            return b""
        return self._chunk(choice, delta, logprobs=logprobs, token_id=token_id)

    def _delta(self, choice: int, text: str) -> Mapping[str, Any]:
        """What more of a chat answer says, or calls; there may be nothing."""
        split = self._splits[choice]
        if split.forced is None:
            said = split.push(text)
            return {"content": said} if said else {}
        pieces = split.forced.push(text)
        return {"tool_calls": [*map(_call_delta, pieces)]} if pieces else {}

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
        split = self._splits[choice]
        left = split.finish()
        out = self._chunk(choice, {"content": left.text}) if left.text else b""
        if left.calls:
            out += self._chunk(choice, {"tool_calls": numbered(limited(self._asked, left.calls))})
        if reason == "stop" and (left.calls or (split.forced is not None and split.forced.calls)):
            reason = "tool_calls"
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
        more: dict[str, Any] = {"usage": self._usage(choice)} if self._asked.include_usage else {}
        if prompt is not None:
            (more if self._asked.is_chat else part)["prompt_token_ids"] = list(prompt)
        return event(self._envelope.wrap([part], is_chunk=True, **more))

    def _usage(self, choice: int) -> Mapping[str, int] | None:
        """The tokens of one choice so far, where that is asked for; what of them the cache held is known at the end."""
        if not self._asked.continuous_usage:
            return None
        prompt, drawn = self._prompt_sizes[choice], self._drawn[choice]
        return {"prompt_tokens": prompt, "completion_tokens": drawn, "total_tokens": prompt + drawn}
