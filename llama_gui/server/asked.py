"""A request, read: what to generate, and what is told of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from llama_gui.errors import InvalidRequestError
from llama_gui.server.forms import Form
from llama_gui.server.refusal import RefusedError, refusal_of
from llama_gui.server.request_fields import Fields
from llama_gui.server.sampling_fields import MOST_TOKENS, read_endings, read_sampling, read_thinking_budget, spelled
from llama_gui.server.tools import Tools
from llama_gui.vocabulary import MAX_SEED, GenerateRequest, ModelInfo, SamplingParams

Protocol = Literal["openai", "responses", "messages", "ollama-chat", "ollama-generate"]

MOST_CHOICES = 16
MOST_ANSWERS = 64
"""Of one request: its prompts, each as often as it wants choices. LangChain sends 20 prompts at once."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, read. One of `requests` for each choice of the answer, in order.

    `logprobs`: whether the answer tells the probability of each token. `include_usage`: a stream tells at its end how
    many tokens there were; `continuous_usage`: each of its chunks does. `prompts`: how many different ones there are.
    `choices`: how many answers to each prompt are told, of all that are written the likeliest. `form`: theirs.
    `several_calls`: the schema that they follow instead, if the model writes several calls as one list.
    `echo`: each answer begins with its prompt; `only_prompt`: and there it ends, whatever is drawn.
    `token_ids`: the ids of prompt and answer are told, too; `tokens_as_ids`: tokens are named by their ids;
    `prompt_logprobs`: how likely the tokens of the prompt are is told. `documents`: the template must read them.
    `response`: what a response repeats of its request (/v1/responses).
    `protocol`: in whose words the answer is told.
    """

    model: str | None
    requests: tuple[GenerateRequest, ...]
    stream: bool
    logprobs: bool
    is_chat: bool
    include_usage: bool = False
    continuous_usage: bool = False
    prompts: int = 1
    choices: int = 1
    form: Form = field(default_factory=Form)
    tools: Tools | None = None
    several_calls: Mapping[str, Any] | None = None
    echo: bool = False
    only_prompt: bool = False
    token_ids: bool = False
    tokens_as_ids: bool = False
    prompt_logprobs: bool = False
    documents: bool = False
    response: Mapping[str, Any] | None = None
    protocol: Protocol = "openai"


def read_asked(
    fields: Fields,
    prompts: Sequence[Mapping[str, Any]],
    *,
    logprobs: int | None,
    max_tokens: int | None,
    form: Form,
    tools: Tools | None = None,
) -> Asked:
    """What requests of all kinds have in common. `prompts`: of a `GenerateRequest` the fields that are the prompt's.

    Raises:
        RefusedError: a field is wrong.
    """
    choices, written = _counts(fields, len(prompts))
    return Asked(
        fields.text("model"),
        _requests(fields, prompts, written, form, max_tokens=max_tokens, logprobs=logprobs or 0),
        fields.flag("stream"),
        logprobs=logprobs is not None,
        is_chat="messages" in prompts[0],
        prompts=len(prompts),
        choices=choices,
        form=form,
        tools=tools,
        token_ids=fields.flag("return_token_ids"),
        tokens_as_ids=fields.flag("return_tokens_as_token_ids"),
        prompt_logprobs=fields.has("prompt_logprobs"),
        **_usage(fields),
    )


def _counts(fields: Fields, prompts: int) -> tuple[int, int]:
    """How many answers to each prompt are told, and how many are written."""
    choices = fields.whole(spelled(fields, "n"), 1, MOST_CHOICES) or 1
    written = fields.whole("best_of", 1, MOST_CHOICES) or choices
    if written < choices or (written > choices and fields.flag("stream")):
        raise fields.wrong("best_of", f"left out, n ({choices}), or without stream more than n")
    if prompts * written > MOST_ANSWERS:
        raise RefusedError(
            400, f"{prompts} prompts with {written} answers each are more than {MOST_ANSWERS}.", param="prompt"
        )
    return choices, written


def _requests(
    fields: Fields, prompts: Sequence[Mapping[str, Any]], written: int, form: Form, **common: Any
) -> tuple[GenerateRequest, ...]:
    if form.field and fields.flag("ignore_eos"):
        raise fields.wrong("ignore_eos", f"false where {form.field} gives the answer a form")
    common |= {
        **read_endings(fields),
        **_prompt_reading(fields),
        "json_schema": form.json_schema,
        "regex": form.regex,
        "asker": "server",  # no client can find out what the window's chats say by what need not be read
        "overflow": "error",  # to leave out messages in silence is for a person who sees it
    }
    try:
        first = read_sampling(fields)
        return tuple(
            GenerateRequest(**prompt, **common, sampling=_nth(first, choice))
            for prompt in prompts
            for choice in range(written)
        )
    except InvalidRequestError as error:
        raise form.refusal(error) or refusal_of(error, is_chat="messages" in prompts[0]) from error


def _prompt_reading(fields: Fields) -> dict[str, Any]:
    """How much of the prompt is read, with the tokenizer's beginning or not, and how much may be thought behind it."""
    special = fields.flag("add_special_tokens") if fields.has("add_special_tokens") else None
    return {
        "add_special_tokens": special,
        "truncate_prompt_tokens": fields.whole("truncate_prompt_tokens", -1, MOST_TOKENS),
        "thinking_budget": read_thinking_budget(fields),
    }


def _nth(sampling: SamplingParams, choice: int) -> SamplingParams:
    """The same seed twice would give the same answer twice: each choice has the next one."""
    if sampling.seed is None or choice == 0:
        return sampling
    return replace(sampling, seed=(sampling.seed + choice) % (MAX_SEED + 1))


def _usage(fields: Fields) -> dict[str, Any]:
    """How much a stream tells of its tokens; one that tells nothing at its end tells nothing before, as vLLM's."""
    options = fields.inner("stream_options") or Fields({})
    is_told, is_told_always = options.flag("include_usage"), options.flag("continuous_usage_stats")
    return {"include_usage": is_told, "continuous_usage": is_told and is_told_always}


def fitted(asked: Asked, info: ModelInfo) -> Asked:
    """The request as this model can answer it."""
    if asked.several_calls is None or not info.lists_calls:
        return asked
    return replace(asked, requests=tuple(replace(one, json_schema=asked.several_calls) for one in asked.requests))
