"""Answers in the protocol's shapes: whole ones, and the chunks of streams. Pure."""

import secrets
import string
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_gui.server.refusal import RefusedError
from llama_gui.server.served import ServedEngine, ServedTokenizer, refusal_by
from llama_gui.tool_calls import ToolCall
from llama_gui.vocabulary import GenerateRequest, GenerateResult, TokenOutput, Usage

_FINISH = {"stop": "stop", "length": "length", "context": "length"}


@dataclass(frozen=True, slots=True)
class Envelope:
    """What every reply to one request has in common."""

    model: str
    is_chat: bool
    fingerprint: str | None = None
    id: str = field(default_factory=lambda: secrets.token_hex(12))
    created: int = field(default_factory=lambda: int(time.time()))

    def wrap(self, choices: Sequence[Mapping[str, Any]], *, is_chunk: bool, **more: Any) -> dict[str, Any]:
        """A reply with these choices."""
        kind = ("chat.completion.chunk" if is_chunk else "chat.completion") if self.is_chat else "text_completion"
        prefix = "chatcmpl-" if self.is_chat else "cmpl-"
        head = {"id": prefix + self.id, "object": kind, "created": self.created, "model": self.model}
        return {**head, "system_fingerprint": self.fingerprint, "choices": list(choices), **more}


def usage_fields(usages: Sequence[Usage], prompts: int) -> dict[str, Any]:
    """Token counts of all choices; the choices of one prompt share it, and it counts once. `prompts`: how many."""
    each = usages[:: max(1, len(usages) // prompts)]
    prompt, answer = sum(usage.prompt_tokens for usage in each), sum(usage.completion_tokens for usage in usages)
    cached = sum(usage.cached_tokens for usage in each)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def finish_reason(request: GenerateRequest, result: GenerateResult, engine: ServedEngine) -> str:
    """Why an answer ended, as the protocol has it.

    Raises:
        RefusedError: it failed, or was cancelled, and not by the client.
    """
    if result.finish_reason in _FINISH:
        return _FINISH[result.finish_reason]
    if result.error is None:
        raise RefusedError(503, "The model was closed before the answer was finished.", code="model_closed")
    # An answer that had to follow a grammar and was too long is an error to the engine; the protocol has a word for it.
    usage = result.usage
    room = min(request.max_tokens or engine.info.max_context, engine.info.max_context - usage.prompt_tokens)
    if (request.json_schema is not None or request.regex is not None) and usage.completion_tokens >= room:
        return "length"
    raise refusal_by(engine, result.error, request)


# --- tool calls


def call_fields(call: ToolCall) -> dict[str, Any]:
    """A call of a function. Mistral's templates take ids of nine letters and digits, the others any."""
    letters = string.ascii_letters + string.digits
    made_up = "".join(secrets.choice(letters) for _ in range(9))
    return {"id": made_up, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


# --- probabilities


def is_told(request: GenerateRequest, token_id: int, engine: ServedEngine) -> bool:
    """Whether a drawn token belongs to the text: the one that ends an answer does not, unless that is asked for."""
    is_end = token_id in request.stop_token_ids or (token_id in engine.eos_token_ids and not request.ignore_eos)
    return request.include_stop_str_in_output or not is_end


def _name(token_id: int, tokenizer: ServedTokenizer, as_ids: bool) -> str:
    """What a token is called: its text; or, as vLLM has it, its id, as two tokens may have one text."""
    return f"token_id:{token_id}" if as_ids else tokenizer.token_text(token_id)


def chat_logprobs(
    outputs: Sequence[TokenOutput], tokenizer: ServedTokenizer, *, as_ids: bool = False
) -> dict[str, Any]:
    """The probabilities of tokens as a chat answer tells them."""
    return {"content": [_chat_token(output, tokenizer, as_ids) for output in outputs], "refusal": None}


def _chat_token(output: TokenOutput, tokenizer: ServedTokenizer, as_ids: bool) -> dict[str, Any]:
    tops = [_token(top.token_id, top.logprob, tokenizer, as_ids) for top in output.top_logprobs]
    return {**_token(output.token_id, output.logprob, tokenizer, as_ids), "top_logprobs": tops}


def _token(token_id: int, logprob: float, tokenizer: ServedTokenizer, as_ids: bool) -> dict[str, Any]:
    raw, name = tokenizer.token_bytes(token_id), _name(token_id, tokenizer, as_ids)
    return {"token": name, "logprob": _finite(logprob), "bytes": None if raw is None else list(raw)}


def completion_logprobs(
    outputs: Sequence[TokenOutput], tokenizer: ServedTokenizer, offset: int, *, as_ids: bool = False
) -> dict[str, Any]:
    """The same as a completion tells them; `offset`: letters of the answer before these tokens."""
    offsets: list[int] = []
    for output in outputs:
        offsets.append(offset)
        offset += len(output.text)
    return logprob_lists([output.token_id for output in outputs], outputs, offsets, tokenizer, as_ids=as_ids)


def logprob_lists(
    ids: Sequence[int],
    outputs: Sequence[TokenOutput | None],
    offsets: Sequence[int],
    tokenizer: ServedTokenizer,
    *,
    as_ids: bool = False,
) -> dict[str, Any]:
    """A completion's four lists, each with an entry for each token; None: nothing is known of it."""
    return {
        "tokens": [_name(token_id, tokenizer, as_ids) for token_id in ids],
        "token_logprobs": [output and _finite(output.logprob) for output in outputs],
        "top_logprobs": [output and _by_name(output, tokenizer, as_ids) for output in outputs],
        "text_offset": list(offsets),
    }


def prompt_logprobs(outputs: Sequence[TokenOutput | None], tokenizer: ServedTokenizer) -> list[dict[str, Any] | None]:
    """The tokens of a prompt as vLLM tells them: of each the likeliest there and itself, by id.

    `rank` is null where a token is not among the likeliest: nobody has counted how many are likelier.
    """
    return [output and _ranked(output, tokenizer) for output in outputs]


def _ranked(output: TokenOutput, tokenizer: ServedTokenizer) -> dict[str, Any]:
    ranks = {top.token_id: rank for rank, top in enumerate(output.top_logprobs, 1)}
    found = {output.token_id: output.logprob} | {top.token_id: top.logprob for top in output.top_logprobs}
    return {
        str(token_id): {
            "logprob": _finite(logprob),
            "rank": ranks.get(token_id),
            "decoded_token": tokenizer.token_text(token_id),
        }
        for token_id, logprob in found.items()
    }


def joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The lists of both, one behind the other."""
    return {name: [*values, *other[name]] for name, values in one.items()}


def _by_name(output: TokenOutput, tokenizer: ServedTokenizer, as_ids: bool) -> dict[str, float]:
    """The likeliest and, always, the token itself; of two with one text the likelier stays."""
    tops = [*((top.token_id, top.logprob) for top in output.top_logprobs), (output.token_id, output.logprob)]
    likelier_last = sorted(tops, key=lambda top: top[1])
    return {_name(token_id, tokenizer, as_ids): _finite(logprob) for token_id, logprob in likelier_last}


def _finite(logprob: float) -> float:
    """A token that cannot come has the logarithm of zero, which JSON does not have."""
    return max(logprob, -9999.0)
