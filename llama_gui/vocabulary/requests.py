"""What an engine is asked, and what of it fits."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary.checks import (
    check_depth,
    check_function,
    check_kind,
    check_number,
    keep,
    text_tuple,
    token_id_tuple,
)
from llama_gui.vocabulary.images import Image
from llama_gui.vocabulary.messages import Message, check_images, check_messages
from llama_gui.vocabulary.sampling import SamplingParams

Overflow = Literal["drop_oldest", "error"]
OVERFLOWS: tuple[Overflow, ...] = ("drop_oldest", "error")

_KINDS: dict[str, tuple[type, str]] = {
    "cache_key": (str, "a text, or None"),
    "tools": (Sequence, "a list of JSON schemas, or None"),
    "now": (datetime, "a datetime, or None"),
    "chat_template_kwargs": (Mapping, "values by name, or None"),
    "add_special_tokens": (bool, "true, false or None"),
    "suffix": (str, "a text, or None"),
    "json_schema": (Mapping, "a JSON schema, or None"),
    "regex": (str, "a text, or None"),
}
"""Field -> what it is when it is given, and the same in words."""
Effort = Literal["low", "medium", "high"]
EFFORTS: tuple[Effort, ...] = ("low", "medium", "high")
"""How long a model reasons, where that can be chosen."""

_THINKING = ("enable_thinking", "thinking")
"""What templates call the switch for reasoning: those of Qwen3 and SmolLM3, and Granite's."""
EFFORT = "reasoning_effort"
"""What templates call the effort: those of gpt-oss, and Mistral's since 2026."""
_NOT_FOR_TEMPLATES = ("messages", "self")
"""Names that `chat_template_kwargs` cannot have: the conversation has its own field, and Jinja reserves `self`."""


THINKING_TAGS: tuple[str, ...] = ("think", "thinking", "reasoning")
"""The tags that models put around their reasoning: <think> and </think>, and so on."""


def thinking_variables(thinking: bool | Effort | None) -> dict[str, Any]:
    """`GenerateRequest.thinking` as chat templates read it."""
    if thinking is None:
        return {}
    effort = {EFFORT: thinking} if isinstance(thinking, str) else {}
    return {**dict.fromkeys(_THINKING, bool(thinking)), **effort}


def chosen_thinking(variables: Mapping[str, Any]) -> bool | None:
    """What these variables of a chat template say of it, under any of its names; None: nothing."""
    return next((variables[name] for name in _THINKING if isinstance(variables.get(name), bool)), None)


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """What to generate from, and how. Exactly one of `prompt`, `messages` and `token_ids` is given.

    The fields from `prompt_logprobs` to `truncate_prompt_tokens` have vLLM's names and meanings.

    Raises:
        InvalidRequestError: a field is missing, doubled, empty, of another type or outside its range.
    """

    prompt: str | None = None
    """A text that the model continues."""
    messages: Sequence[Message] | None = None
    """A conversation; the model's chat template makes the prompt of it."""
    token_ids: Sequence[int] | None = None
    """The prompt as the model reads it."""
    max_tokens: int | None = None
    """The longest answer, in tokens; None: as long as the context allows."""
    sampling: SamplingParams = field(default_factory=SamplingParams)
    """How tokens are drawn; fields that are None follow the model's recommendation."""
    stop: Sequence[str] = ()
    """Texts that end the answer and are no part of it, see `include_stop_str_in_output`."""
    logprobs: int = 0
    """How many of the likeliest tokens are told for each token of the answer, 0 to 50."""
    cache_key: str | None = None
    """Names the conversation, whose keys and values are kept for its next request."""
    logits_processor: Callable[[list[int], Any], Any] | None = None
    """Receives (token ids so far, float32 logits ``[vocab]``) and returns logits of the same shape; vocab is
    `Engine.vocab_size`."""
    min_tokens: int = 0
    """No token that would end the answer is drawn before this many; at most `max_tokens`."""
    tools: Sequence[Mapping[str, Any]] | None = None
    """JSON schemas of functions that the model may call: for the chat template, so they go with `messages`."""
    now: datetime | None = None
    """What the chat template takes for the present; it goes with `messages`. None: the time of the request.

    A chat that keeps its own finds its prompt in the cache on the next day, too.
    """
    chat_template_kwargs: Mapping[str, Any] | None = None
    """Further variables of the chat template (`enable_thinking` and the like); they go with `messages`."""
    thinking: bool | Effort | None = None
    """Whether the model reasons before it answers, where that can be chosen (`ModelInfo.thinking`), or with which
    effort (`ModelInfo.efforts`); it goes with `messages`. None: the model's own default."""
    thinking_budget: int | None = None
    """The most tokens that the model reasons with, before the end of its reasoning is written for it; None: as many as
    it likes. Those that end it, a few, are not counted, and a letter that is begun is completed."""
    overflow: Overflow = "drop_oldest"
    """What happens to messages that do not fit the context: their oldest turns are left out ("drop_oldest"; the result
    says how many messages), or the request is refused ("error")."""
    answer_token_ids: Sequence[int] = ()
    """The beginning of the answer, as it was drawn before: the model goes on behind it.

    These count for `max_tokens` and `min_tokens`. The job's outputs are the new tokens, its result is the whole answer.
    """
    answer_text: str = ""
    """The same as text, for an answer whose tokens are not known because somebody edited it; not with
    `answer_token_ids`. `max_tokens` and `min_tokens` count only the new tokens then."""
    json_schema: Mapping[str, Any] | None = None
    """The answer follows this schema; one that is cut before it is complete is an error."""
    regex: str | None = None
    """The whole answer matches this expression; one that is cut before it does is an error. Not with `json_schema`."""
    prompt_logprobs: int | None = None
    """How many alternatives the result tells for each given token, 0 to 50, beside how likely that token is.

    The given tokens are those of the prompt or, where there is one, of the answer's given beginning. Such an answer may
    have ended, or be as long as `max_tokens`: then it is read, and nothing is drawn.
    """
    stop_token_ids: Sequence[int] = ()
    """Further tokens that end the answer; none of them is drawn before `min_tokens`."""
    ignore_eos: bool = False
    """The model's own end tokens are drawn like any other and end nothing; not with `json_schema` or `regex`."""
    include_stop_str_in_output: bool = False
    """Whether the answer's text ends with the stop text, or the text of the token, that ended it."""
    skip_special_tokens: bool = True
    """False: control tokens have a text, too."""
    add_special_tokens: bool | None = None
    """Whether the tokenizer's beginning (BOS) is added. None: to a `prompt`, and to `messages` where their template
    does it."""
    truncate_prompt_tokens: int | None = None
    """The most tokens of the prompt that are read: its last ones, behind the tokenizer's beginning.

    At least 1, or -1: as many as leave room for `max_tokens`. None: all.
    """
    suffix: str | None = None
    """What follows the gap that the answer fills; the `prompt` is what precedes it, and is whole.

    It may be empty, where the gap is the beginning.

    For models whose tokenizers have tokens for that.
    """
    images: Sequence[Image] = ()
    """Those of a `prompt` or of `token_ids`, in order: one for each image token in it. Those of `messages` are in them.
    """
    asker: str = ""
    """Who asks. Nothing of another's is used to answer sooner, as how soon would tell what they said: neither what was
    read of their prompts, nor their answers for guesses."""

    def __post_init__(self) -> None:
        given = [n for n in ("prompt", "messages", "token_ids") if getattr(self, n) is not None]
        if len(given) != 1:
            raise InvalidRequestError("request", given or "empty", "exactly one of prompt, messages and token_ids")
        self._check_lists()
        self._check_prompt()
        fills_beginning = self.prompt == "" and bool(self.suffix)
        if len(getattr(self, given[0])) == 0 and not fills_beginning:
            raise InvalidRequestError(given[0], getattr(self, given[0]), "something that is not empty")
        self._check_kinds()
        self._check_numbers()
        if self.answer_text and self.answer_token_ids:
            raise InvalidRequestError("answer_text", self.answer_text[:80], "left out when answer_token_ids are given")
        if self.json_schema is not None and self.regex is not None:
            raise InvalidRequestError("regex", self.regex, "left out when json_schema is given")
        if self.ignore_eos and (self.json_schema is not None or self.regex is not None):
            raise InvalidRequestError("ignore_eos", True, "false when json_schema or regex is given")
        if self.suffix is not None and (self.prompt is None or self.truncate_prompt_tokens is not None):
            raise InvalidRequestError("suffix", self.suffix[:80], "left out, unless a prompt is given, and whole")
        if self.overflow not in OVERFLOWS:
            raise InvalidRequestError("overflow", self.overflow, " or ".join(OVERFLOWS))

    @property
    def chosen_thinking(self) -> bool | None:
        """`thinking`, or what `chat_template_kwargs` say under the names that templates have for it."""
        named = chosen_thinking(self.chat_template_kwargs or {})
        return named if named is not None or self.thinking is None else bool(self.thinking)

    def _check_lists(self) -> None:
        if self.token_ids is not None:
            keep(self, "token_ids", token_id_tuple("token_ids", self.token_ids))
        keep(self, "answer_token_ids", token_id_tuple("answer_token_ids", self.answer_token_ids))
        keep(self, "stop", text_tuple("stop", self.stop))
        keep(self, "stop_token_ids", token_id_tuple("stop_token_ids", self.stop_token_ids))

    def _check_numbers(self) -> None:
        if self.max_tokens is not None:
            keep(self, "max_tokens", check_number("max_tokens", self.max_tokens, 1, integer=True))
        low, high = 0, self.max_tokens or math.inf
        keep(self, "min_tokens", check_number("min_tokens", self.min_tokens, low, high, integer=True))
        keep(self, "logprobs", check_number("logprobs", self.logprobs, 0, 50, integer=True))
        if self.prompt_logprobs is not None:
            allowed = check_number("prompt_logprobs", self.prompt_logprobs, 0, 50, integer=True)
            keep(self, "prompt_logprobs", allowed)
        if self.thinking_budget is not None:
            keep(self, "thinking_budget", check_number("thinking_budget", self.thinking_budget, 0, integer=True))
        if self.truncate_prompt_tokens is not None:
            most = check_number("truncate_prompt_tokens", self.truncate_prompt_tokens, -1, integer=True)
            if most == 0:
                raise InvalidRequestError("truncate_prompt_tokens", 0, "-1, or a whole number of at least 1")
            keep(self, "truncate_prompt_tokens", most)

    def _check_kinds(self) -> None:
        if not isinstance(self.sampling, SamplingParams):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequestError("sampling", self.sampling, "a SamplingParams")
        if not isinstance(self.answer_text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequestError("answer_text", self.answer_text, "a text")
        if not isinstance(self.asker, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidRequestError("asker", self.asker, "a text")
        for name in ("ignore_eos", "include_stop_str_in_output", "skip_special_tokens"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidRequestError(name, getattr(self, name), "true or false")
        check_function("logits_processor", self.logits_processor)
        for name, (kind, allowed) in _KINDS.items():
            check_kind(name, getattr(self, name), kind, allowed)
        if not (self.thinking is None or isinstance(self.thinking, bool) or self.thinking in EFFORTS):
            raise InvalidRequestError("thinking", self.thinking, f"true, false, {', '.join(EFFORTS)} or None")
        check_depth("json_schema", self.json_schema)
        check_depth("chat_template_kwargs", self.chat_template_kwargs)
        for name in self.chat_template_kwargs or ():
            if not isinstance(name, str) or name in _NOT_FOR_TEMPLATES:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidRequestError(
                    "chat_template_kwargs", name, "names that are texts, other than messages and self"
                )

    def _check_prompt(self) -> None:
        check_kind("prompt", self.prompt, str, "a text")
        check_images(self.images)
        keep(self, "images", tuple(self.images))
        if self.images and self.messages is not None:
            raise InvalidRequestError("images", f"{len(self.images)} beside messages", "within the messages")
        if self.messages is not None:
            check_messages(self.messages)


@dataclass(frozen=True, slots=True)
class ContextUse:
    """How a request fits one model: tokens that are sent, the model's context in tokens, and messages left out."""

    tokens: int
    max_context: int
    dropped_messages: int = 0
    has_long_files: bool = False
    """It is too long only because of its files; the passages of them that match the question can be sent."""

    @property
    def is_too_long(self) -> bool:
        """Whether the model refuses it."""
        return self.tokens >= self.max_context
