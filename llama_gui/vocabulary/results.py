"""What an engine answers: tokens as they are drawn, how far it is, and the end."""

from dataclasses import dataclass
from typing import Literal

FinishReason = Literal["stop", "length", "context", "cancelled", "error"]
JobState = Literal["waiting", "prefilling", "generating", "finished"]


@dataclass(frozen=True, slots=True)
class TopLogprob:
    """One alternative for a token: its id, its text and its natural-log probability."""

    token_id: int
    text: str
    logprob: float


@dataclass(frozen=True, slots=True)
class TokenOutput:
    """One drawn token and the text it set free.

    The texts of a job's outputs, joined, are the answer. A token may free no text (half a character, or a possible
    beginning of a stop string) or more than its own. `logprob` is of the raw distribution, natural log.
    """

    text: str
    token_id: int
    index: int
    logprob: float
    top_logprobs: tuple[TopLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts: of the prompt, of the part of it that was read from the cache, of the answer."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds that a request waited, read its prompt, and wrote its answer."""

    queued: float = 0.0
    prefill: float = 0.0
    decode: float = 0.0


@dataclass(frozen=True, slots=True)
class GenerateResult:
    """A finished answer. `token_ids` holds every drawn token, an end-of-sequence token included.

    `error` is set when, and only when, `finish_reason` is "error". `dropped_messages`: how many of the oldest messages
    were not sent, because all of them would not have fitted the context. `prompt_logprobs`: what the request asked for
    of that name, a `TokenOutput` for each given token; None for the first of a prompt, which nothing comes before.
    `stop_reason` (as in vLLM): the text of `stop`, or the id of `stop_token_ids`, that ended it; None: nothing of that.
    `embedding`: what an `EmbedRequest` is answered with, a vector of length one.
    """

    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    usage: Usage
    timings: Timings
    seed: int
    error: Exception | None = None
    dropped_messages: int = 0
    prompt_logprobs: tuple[TokenOutput | None, ...] = ()
    stop_reason: str | int | None = None
    embedding: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job is: prompt tokens read and in all, answer tokens per second, seconds until the first token."""

    prompt_tokens_read: int
    prompt_tokens: int
    tokens_per_second: float
    eta_seconds: float | None
