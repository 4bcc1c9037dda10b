"""Frozen values that travel between the rooms. No Qt, no torch, no behaviour beyond checking themselves."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import PurePath
from typing import Any, Literal

from llama_gui.errors import InvalidRequestError

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "length", "context", "cancelled", "error"]
JobState = Literal["waiting", "prefilling", "generating", "finished"]
Strategy = Literal["sequential", "interleaved", "batched"]
Overflow = Literal["drop_oldest", "error"]

ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")
OVERFLOWS: tuple[Overflow, ...] = ("drop_oldest", "error")
STRATEGIES: tuple[Strategy, ...] = ("sequential", "interleaved", "batched")
DTYPES: tuple[str, ...] = ("auto", "float32", "bfloat16", "float16", "int8", "int4")
DEVICES: tuple[str, ...] = ("auto", "cpu", "cuda", "mps")

MAX_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    `tool_calls`, `tool_call_id` and `name` are handed to the model's chat template as they are: what the assistant
    called (OpenAI's shape), which call a "tool" turn answers, and who speaks.

    Raises:
        InvalidRequestError: the role is not one of `ROLES`, or the content is not text.
    """

    role: Role
    content: str
    tool_calls: Sequence[Mapping[str, Any]] = ()
    tool_call_id: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise InvalidRequestError("role", self.role, f"one of {', '.join(ROLES)}")
        if not isinstance(self.content, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequestError("content", self.content, "text")


def _check_number(name: str, value: object, low: float, high: float, *, integer: bool = False) -> None:
    kind = "a whole number" if integer else "a number"
    allowed = f"{kind} from {low:g} to {high:g}" if high < math.inf else f"{kind} of at least {low:g}"
    wrong_type = isinstance(value, bool) or not isinstance(value, int if integer else (int, float))
    if wrong_type or not low <= value <= high:  # type: ignore[operator]
        raise InvalidRequestError(name, value, allowed)


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is drawn. ``None`` means the model's own recommendation, then ours.

    Ranges: temperature 0 to 100 (0 is greedy), top_k of at least 0 (0: off), top_p above 0 up to 1 (1: off),
    min_p 0 to 1 (0: off), repetition_penalty above 0 up to 100 (1: off), frequency_penalty and presence_penalty
    -100 to 100 (0: off), penalty_window of at least -1 (how many last tokens the penalties see; -1: all, 0: none),
    logit_bias token id -> number from -1000 to 1000, seed 0 to 2**63 - 1 (None: drawn, and recorded),
    typical_p above 0 up to 1 (1: off), xtc_probability 0 to 1 (0: off) and xtc_threshold 0 to 1, dry_multiplier 0 to
    100 (0: off), dry_base 1 to 10, dry_allowed_length of at least 1, dry_window of at least -1 (-1: all),
    dry_sequence_breakers texts, allowed_token_ids (None: all) and banned_token_ids.

    Raises:
        InvalidRequestError: a value is outside its range.
    """

    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    penalty_window: int | None = None
    logit_bias: Mapping[int, float] | None = None
    seed: int | None = None
    typical_p: float | None = None
    xtc_probability: float | None = None
    xtc_threshold: float | None = None
    dry_multiplier: float | None = None
    dry_base: float | None = None
    dry_allowed_length: int | None = None
    dry_window: int | None = None
    dry_sequence_breakers: Sequence[str] | None = None
    allowed_token_ids: Sequence[int] | None = None
    banned_token_ids: Sequence[int] | None = None

    def __post_init__(self) -> None:
        for name, (low, high, integer) in SAMPLING_RANGES.items():
            value = getattr(self, name)
            if value is not None:
                _check_number(name, value, low, high, integer=integer)
        for name, high in (("top_p", 1), ("typical_p", 1), ("repetition_penalty", 100)):
            if getattr(self, name) == 0:
                raise InvalidRequestError(name, getattr(self, name), f"a number above 0, up to {high}")
        for token_id, bias in (self.logit_bias or {}).items():
            _check_number("logit_bias token id", token_id, 0, math.inf, integer=True)
            _check_number(f"logit_bias[{token_id}]", bias, -1000, 1000)
        self._check_lists()

    def _check_lists(self) -> None:
        for name in ("allowed_token_ids", "banned_token_ids"):
            for token_id in getattr(self, name) or ():
                _check_number(name, token_id, 0, math.inf, integer=True)
        if self.allowed_token_ids is not None and not self.allowed_token_ids:
            raise InvalidRequestError("allowed_token_ids", self.allowed_token_ids, "a list of at least one id, or None")
        breakers = self.dry_sequence_breakers or ()
        if isinstance(breakers, str) or not all(isinstance(text, str) and text for text in breakers):
            raise InvalidRequestError("dry_sequence_breakers", breakers, "a list of texts that are not empty")

    @property
    def named_token_ids(self) -> Iterator[tuple[str, int]]:
        """Every token id that these values name, behind the field that names it."""
        for name in ("logit_bias", "allowed_token_ids", "banned_token_ids"):
            for token_id in getattr(self, name) or ():
                yield name, token_id

    def or_else(self, defaults: "SamplingParams") -> "SamplingParams":
        """These values, with each missing one taken from `defaults`."""
        missing = {f.name: getattr(defaults, f.name) for f in fields(self) if getattr(self, f.name) is None}
        return replace(self, **missing)


def sampling_from_json(values: Mapping[str, Any]) -> SamplingParams:
    """What ``dataclasses.asdict`` and JSON made of a `SamplingParams`: there keys are texts, and tuples lists.

    Raises:
        InvalidRequestError: a value is out of its range.
        TypeError: it holds an unknown field.
    """
    known: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in values.items()}
    if known.get("logit_bias"):
        known["logit_bias"] = {int(token_id): bias for token_id, bias in known["logit_bias"].items()}
    return SamplingParams(**known)


SAMPLING_RANGES: dict[str, tuple[float, float, bool]] = {
    "temperature": (0, 100, False),
    "top_k": (0, math.inf, True),
    "top_p": (0, 1, False),
    "min_p": (0, 1, False),
    "repetition_penalty": (0, 100, False),
    "frequency_penalty": (-100, 100, False),
    "presence_penalty": (-100, 100, False),
    "penalty_window": (-1, math.inf, True),
    "seed": (0, MAX_SEED, True),
    "typical_p": (0, 1, False),
    "xtc_probability": (0, 1, False),
    "xtc_threshold": (0, 1, False),
    "dry_multiplier": (0, 100, False),
    "dry_base": (1, 10, False),
    "dry_allowed_length": (1, math.inf, True),
    "dry_window": (-1, math.inf, True),
}
"""Field -> lowest, highest, whole number only. The window's settings panel reads this too."""

DEFAULT_SAMPLING = SamplingParams(
    temperature=0.8,
    top_k=40,
    top_p=0.95,
    min_p=0.05,
    repetition_penalty=1.0,
    frequency_penalty=0.0,
    presence_penalty=0.0,
    penalty_window=64,
    typical_p=1.0,
    xtc_probability=0.0,
    xtc_threshold=0.1,
    dry_multiplier=0.0,
    dry_base=1.75,
    dry_allowed_length=2,
    dry_window=-1,
    dry_sequence_breakers=("\n", ":", '"', "*"),
)
"""What we use where neither the caller nor the model says anything."""


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """What to generate from, and how.

    Exactly one of `prompt`, `messages` and `token_ids` is given. `max_tokens` None: up to the context. Before
    `min_tokens` no token that would end the answer is drawn. `answer_token_ids` go on with an answer: these were drawn
    already, and count for `max_tokens`; the job's outputs are the new ones, its result is the whole answer. So does
    `answer_text`, for an answer whose tokens are not known, because somebody edited it.
    `logits_processor` receives (token ids so far, logits float32 [vocab]) and returns logits of the same shape.
    `tools` (JSON schemas of functions), `now` (what the chat template takes for the present; a chat that keeps its
    own finds its prompt in the cache on the next day) and `chat_template_kwargs` (`enable_thinking` and the like)
    are for the chat template, so they go with `messages`. `overflow`: whether messages that do not fit the context
    are an error, or their oldest turns are left out ("drop_oldest"; the result says how many messages). The answer
    follows `json_schema`, or matches `regex` as a whole; one that is cut before that is an error.

    Raises:
        InvalidRequestError: a field is missing, doubled, empty or outside its range.
    """

    prompt: str | None = None
    messages: Sequence[Message] | None = None
    token_ids: Sequence[int] | None = None
    max_tokens: int | None = None
    sampling: SamplingParams = field(default_factory=SamplingParams)
    stop: Sequence[str] = ()
    logprobs: int = 0
    cache_key: str | None = None
    logits_processor: Callable[[list[int], Any], Any] | None = None
    min_tokens: int = 0
    tools: Sequence[Mapping[str, Any]] | None = None
    now: datetime | None = None
    chat_template_kwargs: Mapping[str, Any] | None = None
    overflow: Overflow = "drop_oldest"
    answer_token_ids: Sequence[int] = ()
    answer_text: str = ""
    json_schema: Mapping[str, Any] | None = None
    regex: str | None = None

    def __post_init__(self) -> None:
        given = [n for n in ("prompt", "messages", "token_ids") if getattr(self, n) is not None]
        if len(given) != 1:
            raise InvalidRequestError("request", given or "empty", "exactly one of prompt, messages and token_ids")
        if len(getattr(self, given[0])) == 0:
            raise InvalidRequestError(given[0], getattr(self, given[0]), "something that is not empty")
        if self.messages is not None:
            self._check_messages(self.messages)
        if self.max_tokens is not None:
            _check_number("max_tokens", self.max_tokens, 1, math.inf, integer=True)
        _check_number("min_tokens", self.min_tokens, 0, self.max_tokens or math.inf, integer=True)
        _check_number("logprobs", self.logprobs, 0, 50, integer=True)
        if self.answer_text and len(self.answer_token_ids):
            raise InvalidRequestError("answer_text", self.answer_text[:80], "left out when answer_token_ids are given")
        if self.json_schema is not None and self.regex is not None:
            raise InvalidRequestError("regex", self.regex, "left out when json_schema is given")
        if self.overflow not in ("drop_oldest", "error"):
            raise InvalidRequestError("overflow", self.overflow, "drop_oldest or error")
        if isinstance(self.stop, str) or not all(isinstance(s, str) and s for s in self.stop):
            raise InvalidRequestError("stop", self.stop, "a list of texts that are not empty")

    @staticmethod
    def _check_messages(messages: Sequence[Message]) -> None:
        for message in messages:
            if message.role == "user" and not message.content.strip():
                raise InvalidRequestError("message", message.content, "a text that is not empty")


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
    were not sent, because all of them would not have fitted the context.
    """

    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    usage: Usage
    timings: Timings
    seed: int
    error: Exception | None = None
    dropped_messages: int = 0


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job is: prompt tokens read and in all, answer tokens per second, seconds until the first token."""

    prompt_tokens_read: int
    prompt_tokens: int
    tokens_per_second: float
    eta_seconds: float | None


@dataclass(frozen=True, slots=True)
class EngineStats:
    """What the engine does just now. Byte counts are bytes; `batch_size` is rows in the last decode step.

    `batch_invariant`: answers do not change each other's bits. `exact`: nor does it matter how a prompt was cut,
    cached, evicted or read again.
    """

    tokens_per_second: float
    batch_size: int
    running: int
    waiting: int
    kv_bytes: int
    weight_bytes: int
    dtype: str
    device: str
    threads: int
    batch_invariant: bool
    exact: bool = False


@dataclass(frozen=True, slots=True)
class ContextUse:
    """What a request comes to with one model: tokens that are sent, of how many it reads, and messages left out."""

    tokens: int
    max_context: int
    dropped_messages: int = 0

    @property
    def is_too_long(self) -> bool:
        """Whether the model refuses it."""
        return self.tokens >= self.max_context


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """How many of a model's parameters are in memory, and how many it has."""

    parameters_read: int
    parameters: int


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a loaded model is and recommends. `path` is the folder or file; `sampling` is complete but for the seed.

    `source`: what the file is and what was done to it, as in "Q4_K_M GGUF, dequantised to bfloat16"; "" for a folder.
    `reason`: why it has this dtype, in a sentence.
    """

    name: str
    path: str
    architecture: str
    parameters: int
    max_context: int
    dtype: str
    device: str
    sampling: SamplingParams
    has_chat_template: bool
    source: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Hardware:
    """The machine: physical cores, bytes of memory in all and free, and the devices torch can use."""

    physical_cores: int
    memory_total: int
    memory_available: int
    devices: tuple[str, ...] = ("cpu",)


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What one chat asks of the model. Every None is "the model's default".

    `preset`: the name of the preset that these settings began as, "" where there was none.
    """

    system_prompt: str = ""
    sampling: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    min_tokens: int | None = None
    overflow: Overflow | None = None
    preset: str = ""
    model: str = ""
    """The key of its model (see `ModelEntry`); "": the one that the application uses for new chats."""


STARTER = "starter"
"""The key of the model that comes with us: where it lies changes with every version."""


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model that the user can pick: its short name, its absolute path, its size on disk in bytes.

    On somebody else's server: `path` is ``endpoint#model``, `endpoint` the server's name, and the size 0.
    """

    name: str
    path: str
    size: int
    is_starter: bool = False
    endpoint: str = ""

    @property
    def key(self) -> str:
        """What chats and the host call it."""
        return STARTER if self.is_starter else self.path


def is_remote(key: str) -> bool:
    """Whether the key of a model is of somebody else's server."""
    return "#" in key and not PurePath(key).is_absolute()


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How a model is brought into memory: one of `DTYPES`, one of `DEVICES`.

    Raises:
        InvalidRequestError: it is another.
    """

    dtype: str = "auto"
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise InvalidRequestError("dtype", self.dtype, f"one of {', '.join(DTYPES)}")
        if self.device not in DEVICES:
            raise InvalidRequestError("device", self.device, f"one of {', '.join(DEVICES)}")
