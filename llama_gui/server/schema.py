"""The body of a request -> what to generate. Every field is checked, and named when it is wrong.

What we do not know is ignored: clients send their own extras. What we know and cannot do, and what would change the
answer, is refused: an answer to another question helps nobody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llama_gui.errors import InvalidRequestError
from llama_gui.server.forms import Form, only_one, read_form
from llama_gui.server.refusal import RefusedError, refusal_of
from llama_gui.server.request_fields import Fields
from llama_gui.server.tools import Tools, read_tools
from llama_gui.server.turns import read_messages
from llama_gui.vocabulary import MAX_SEED, SAMPLING_RANGES, GenerateRequest, Message, SamplingParams

MOST_CHOICES = 16
MOST_ANSWERS = 64
"""Of one request: its prompts, each as often as it wants choices. LangChain sends 20 prompts at once."""
MOST_STOPS = 16
MOST_BIASES = 1024
MOST_TOKENS = 2**31 - 1
_LOWEST_SEED = -MAX_SEED - 1
COMPLETION_TOKENS = 16
"""What the protocol has for a completion that says nothing; a chat answer is as long as it likes."""

_CANNOT: dict[str, tuple[str, tuple[Any, ...]]] = {
    "functions": ("use tools", ([],)),
    "function_call": ("use tool_choice", ("none", "auto")),
    "audio": ("this server makes text only", ()),
    "modalities": ("this server makes text only", (["text"],)),
    "web_search_options": ("this server asks nobody else", ()),
    "suffix": ("this server writes on at the end only", ("",)),
    "use_beam_search": ("this server draws tokens", (False,)),
    "ignore_eos": ("use min_tokens", (False,)),
    "grammar": ("use response_format, guided_json or guided_regex", ("",)),
    "guided_grammar": ("use response_format, guided_json or guided_regex", ("",)),
    "prompt_logprobs": ("this server tells the probabilities of the answer only", (0,)),
}
"""Field -> what to do instead, and the values of it that ask for nothing."""


_TAKEN_VARIABLES = ("messages", "tools", "now", "tokenize", "self")
"""What the engine calls by these names has a field of its own, or is none of the caller's business."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, read. One of `requests` for each choice of the answer, in order.

    `logprobs`: whether the answer tells the probability of each token. `prompts`: how many different ones there are.
    `echo`: each answer begins with its prompt; `only_prompt`: and there it ends, whatever is drawn.
    `response`: what a response repeats of its request (/v1/responses); None: it is asked for in another protocol.
    """

    model: str | None
    requests: tuple[GenerateRequest, ...]
    stream: bool
    include_usage: bool
    logprobs: bool
    is_chat: bool
    prompts: int = 1
    tools: Tools | None = None
    echo: bool = False
    only_prompt: bool = False
    response: Mapping[str, Any] | None = None


def read_chat(body: Mapping[str, Any]) -> Asked:
    """The body of /v1/chat/completions.

    Raises:
        RefusedError: a field is missing, wrong, or asks for what this server cannot do.
    """
    fields = Fields(body)
    _refuse_what_we_cannot(fields)
    if fields.flag("echo"):
        raise fields.wrong("echo", "false: only /v1/completions returns its prompt")
    messages, tools = read_messages(fields), read_tools(fields)
    top = fields.whole("top_logprobs", 0, 20)
    wants_logprobs = fields.flag("logprobs")
    if top and not wants_logprobs:
        raise fields.wrong("top_logprobs", "left out, unless logprobs is true")
    form = read_form(fields)
    if tools is not None and tools.grammar is not None:
        form = Form(only_one(form.schema, tools.grammar, "tool_choice"), form.regex)
    elif tools is not None and form.schema is not None:
        raise RefusedError(
            400, "response_format cannot go with tools, unless tool_choice is none.", param="response_format"
        )
    prompt = {
        "messages": messages,
        "tools": tools.schemas if tools else None,
        **_template_fields(fields),
    }
    if fields.flag("continue_final_message"):
        prompt |= _continued(fields, messages)
    return _asked(
        fields,
        [prompt],
        logprobs=top or 0 if wants_logprobs else None,
        max_tokens=_limit(fields, "max_completion_tokens") or _limit(fields, "max_tokens"),
        form=form,
        tools=tools,
    )


def template_variables(fields: Fields) -> Mapping[str, Any] | None:
    """What a request tells the model's chat template beside messages and tools.

    Raises:
        RefusedError: it takes a name that means something else.
    """
    variables = fields.mapping("chat_template_kwargs")
    taken = next((name for name in _TAKEN_VARIABLES if name in (variables or ())), None)
    if taken is not None:
        raise RefusedError(
            400,
            f"chat_template_kwargs must not hold {taken!r}.",
            param="chat_template_kwargs",
        )
    return variables


def _template_fields(fields: Fields) -> dict[str, Any]:
    """What the chat template is told; `reasoning_effort` as vLLM has it."""
    variables, effort = template_variables(fields), fields.text("reasoning_effort")
    if effort is None:
        return {"chat_template_kwargs": variables}
    thinking = False if effort == "none" else None
    return {"chat_template_kwargs": {"reasoning_effort": effort, **(variables or {})}, "thinking": thinking}


def _continued(fields: Fields, messages: list[Message]) -> dict[str, Any]:
    """The last message is the beginning of the answer, as vLLM and SGLang have it."""
    last = messages[-1]
    if last.role != "assistant" or not last.content or last.tool_calls or len(messages) < 2:
        raise fields.wrong("continue_final_message", "false, unless the last message is an assistant's text")
    if fields.get("add_generation_prompt") is True:
        raise fields.wrong("add_generation_prompt", "false when continue_final_message is true")
    return {"messages": messages[:-1], "answer_text": last.content}


def read_completion(body: Mapping[str, Any]) -> Asked:
    """The body of /v1/completions.

    Raises:
        RefusedError: see `read_chat`.
    """
    fields = Fields(body)
    _refuse_what_we_cannot(fields)
    for name in ("tools", "messages"):
        if fields.has(name):
            raise fields.wrong(name, "left out: it belongs to /v1/chat/completions")
    echo, logprobs = fields.flag("echo"), fields.whole("logprobs", 0, 20)
    limit = _limit(fields, "max_tokens", 0 if echo else 1) if fields.has("max_tokens") else COMPLETION_TOKENS
    prompts = [{**prompt, "prompt_logprobs": logprobs if echo else None} for prompt in _prompts(fields)]
    asked = _asked(
        fields,
        prompts,
        logprobs=logprobs,
        max_tokens=1 if limit == 0 else limit,  # the engine draws one, which is not told; so does vLLM
        form=read_form(fields),
    )
    return replace(asked, echo=echo, only_prompt=limit == 0)


def _limit(fields: Fields, name: str, low: int = 1) -> int | None:
    """The most tokens that are drawn; -1 is LM Studio's and llama.cpp's word for as many as fit."""
    if fields.get(name) in (-1, -1.0):
        return None
    return fields.whole(name, low, MOST_TOKENS)


def _refuse_what_we_cannot(fields: Fields) -> None:
    for name, (advice, harmless) in _CANNOT.items():
        if fields.has(name) and not any(_same(fields.get(name), value) for value in harmless):
            raise RefusedError(400, f"{name} is not supported: {advice}.", param=name, code="unsupported_parameter")


def _same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and value == other


def _asked(
    fields: Fields,
    prompts: Sequence[Mapping[str, Any]],
    *,
    logprobs: int | None,
    max_tokens: int | None,
    form: Form,
    tools: Tools | None = None,
) -> Asked:
    choices = fields.whole("n", 1, MOST_CHOICES) or 1
    if fields.whole("best_of", 1, MOST_CHOICES) not in (None, choices):
        raise fields.wrong("best_of", f"left out, or n ({choices}): this server returns all that it writes")
    if len(prompts) * choices > MOST_ANSWERS:
        raise RefusedError(
            400, f"{len(prompts)} prompts with n = {choices} are more than {MOST_ANSWERS} answers.", param="prompt"
        )
    stream, usage = fields.flag("stream"), _include_usage(fields)
    common: dict[str, Any] = {
        "max_tokens": max_tokens,
        "min_tokens": fields.whole("min_tokens", 0, MOST_TOKENS) or 0,
        "stop": _stops(fields),
        "logprobs": logprobs or 0,
        "json_schema": form.schema,
        "regex": form.regex,
        "overflow": "error",  # to leave out messages in silence is for a person who sees it
    }
    try:
        first = _sampling(fields)
        requests = tuple(
            GenerateRequest(**prompt, **common, sampling=_nth(first, choice))
            for prompt in prompts
            for choice in range(choices)
        )
    except InvalidRequestError as error:
        raise refusal_of(error, is_chat="messages" in prompts[0]) from error
    is_chat = "messages" in prompts[0]
    return Asked(fields.text("model"), requests, stream, usage, logprobs is not None, is_chat, len(prompts), tools)


def _nth(sampling: SamplingParams, choice: int) -> SamplingParams:
    """The same seed twice would give the same answer twice: each choice has the next one."""
    if sampling.seed is None or choice == 0:
        return sampling
    return replace(sampling, seed=(sampling.seed + choice) % (MAX_SEED + 1))


def _sampling(fields: Fields) -> SamplingParams:
    values: dict[str, Any] = {}
    for name, (low, high, whole) in SAMPLING_RANGES.items():
        if fields.get(name) == -1 and name == "top_k":  # vLLM's word for all tokens
            values[name] = 0
            continue
        low, most = _LOWEST_SEED if name == "seed" else low, min(high, MAX_SEED)
        value = fields.whole(name, int(low), int(most)) if whole else fields.number(name, low, high)
        if value is not None:
            values[name] = value
    if values.get("seed") == -1:  # a random one, to llama.cpp, vLLM and those who write for them
        del values["seed"]
    if "seed" in values:
        values["seed"] %= MAX_SEED + 1  # the protocol has negative ones too
    if values.get("top_p") == 0:  # the protocol's smallest choice: the likeliest token and no other
        values |= {"top_p": None, "temperature": 0.0}
    for name in ("allowed_token_ids", "banned_token_ids"):
        if fields.has(name):
            values[name] = _ids(fields, name)
    if fields.has("dry_sequence_breakers"):
        values["dry_sequence_breakers"] = _texts(fields, "dry_sequence_breakers", 64)
    return SamplingParams(**values, logit_bias=_biases(fields))


def _biases(fields: Fields) -> dict[int, float] | None:
    given = fields.mapping("logit_bias")
    if given is None:
        return None
    if len(given) > MOST_BIASES:
        raise RefusedError(
            400, f"logit_bias has {len(given)} entries, but at most {MOST_BIASES} fit.", param="logit_bias"
        )
    inner, biases = Fields(given, "logit_bias."), dict[int, float]()
    for name in given:
        if not (name.isascii() and name.isdigit() and len(name) < 10):
            raise RefusedError(
                400, f"logit_bias has the key {name[:40]!r}, but keys are token ids.", param="logit_bias"
            )
        biases[int(name)] = inner.number(name, -100, 100) or 0.0
    return biases


def _stops(fields: Fields) -> tuple[str, ...]:
    value = fields.get("stop")
    if isinstance(value, str):
        value = [value] if value else []
    texts = _texts(Fields({"stop": value}), "stop", MOST_STOPS)
    if any(len(text) > 1000 for text in texts):
        raise fields.wrong("stop", "texts of at most 1000 letters")
    return texts


def _texts(fields: Fields, name: str, most: int) -> tuple[str, ...]:
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > most or not all(isinstance(text, str) and text for text in value):
        raise fields.wrong(name, f"a list of at most {most} texts that are not empty")
    return tuple(value)


def _ids(fields: Fields, name: str) -> tuple[int, ...]:
    value = fields.get(name)
    is_list = isinstance(value, list) and 0 < len(value) <= 1_000_000
    if not is_list or not all(type(token_id) is int and 0 <= token_id < 2**31 for token_id in value):
        raise fields.wrong(name, "a list of token ids that is not empty")
    return tuple(value)


def _include_usage(fields: Fields) -> bool:
    options = fields.inner("stream_options")
    return options is not None and options.flag("include_usage")


def _prompts(fields: Fields) -> list[Mapping[str, Any]]:
    """One text, some texts, one list of token ids, or some of those."""
    value = fields.get("prompt")
    if isinstance(value, str) and value:
        return [{"prompt": value}]
    allowed = f"a text, a list of token ids, or a list of at most {MOST_ANSWERS} of these, not empty"
    if not isinstance(value, list) or not value:
        raise fields.wrong("prompt", allowed)
    if type(value[0]) is int:
        return [{"token_ids": _ids(fields, "prompt")}]
    if len(value) > MOST_ANSWERS:
        raise fields.wrong("prompt", allowed)
    return [_prompt(part, index) for index, part in enumerate(value)]


def _prompt(part: object, index: int) -> Mapping[str, Any]:
    name = f"prompt[{index}]"
    if isinstance(part, list):
        return {"token_ids": _ids(Fields({name: part}), name)}
    if not isinstance(part, str) or not part:
        raise Fields({name: part}).wrong(name, "a text or a list of token ids, not empty")
    return {"prompt": part}
