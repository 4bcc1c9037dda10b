"""The body of a request -> what to generate. Every field is checked, and named when it is wrong.

What we do not know is ignored: clients send their own extras. What we know and cannot do, and what would change the
answer, is refused: see `refused_fields`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from llama_gui.server.asked import MOST_ANSWERS, Asked, read_asked
from llama_gui.server.forms import read_form
from llama_gui.server.refusal import RefusedError
from llama_gui.server.refused_fields import refuse_what_we_cannot
from llama_gui.server.request_fields import Fields
from llama_gui.server.sampling_fields import read_ids, read_limit
from llama_gui.server.tools import read_tools
from llama_gui.server.turns import read_messages
from llama_gui.vocabulary import Message

MOST_DOCUMENTS = 128
COMPLETION_TOKENS = 16
"""What the protocol has for a completion that says nothing; a chat answer is as long as it likes."""

_TAKEN_VARIABLES = ("messages", "tools", "now", "tokenize", "self")
"""What the engine calls by these names has a field of its own, or is none of the caller's business."""


def read_chat(body: Mapping[str, Any]) -> Asked:
    """The body of /v1/chat/completions.

    Raises:
        RefusedError: a field is missing, wrong, or asks for what this server cannot do.
    """
    fields = Fields(body)
    refuse_what_we_cannot(fields)
    if fields.get("suffix") not in (None, ""):
        raise fields.wrong("suffix", "left out: it belongs to /v1/completions")
    if fields.flag("echo"):
        raise fields.wrong("echo", "false: only /v1/completions returns its prompt")
    messages, tools = read_messages(fields), read_tools(fields)
    top = fields.whole("top_logprobs", 0, 20)
    wants_logprobs = fields.flag("logprobs")
    if top and not wants_logprobs:
        raise fields.wrong("top_logprobs", "left out, unless logprobs is true")
    form, several = read_form(fields), None
    if tools is not None:
        form, several = tools.form_with(form), tools.several(form)
    prompt = {
        "messages": messages,
        "tools": tools.schemas if tools else None,
        "prompt_logprobs": _prompt_logprobs(fields),
        **_template_fields(fields),
    }
    if fields.flag("continue_final_message"):
        prompt |= _continued(fields, messages)
    asked = read_asked(
        fields,
        [prompt],
        logprobs=top or 0 if wants_logprobs else None,
        max_tokens=read_limit(fields, "max_completion_tokens") or read_limit(fields, "max_tokens"),
        form=form,
        tools=tools,
    )
    return replace(asked, documents=bool(fields.get("documents")), several_calls=several)


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
    """What the chat template is told; `reasoning_effort`, `documents` and `add_generation_prompt` as vLLM has them."""
    effort, documents = fields.text("reasoning_effort"), fields.objects("documents", MOST_DOCUMENTS)
    named: dict[str, Any] = {} if effort is None else {"reasoning_effort": effort}
    if documents is not None:
        named["documents"] = [document.with_defaults() for document in documents]
    is_bare = fields.has("add_generation_prompt") and not fields.flag("add_generation_prompt")
    if is_bare and not fields.flag("continue_final_message"):  # which has its own way of going on
        named["add_generation_prompt"] = False
    thinking = {"thinking": False} if effort == "none" else {}
    return {"chat_template_kwargs": {**named, **(template_variables(fields) or {})} or None, **thinking}


def _continued(fields: Fields, messages: list[Message]) -> dict[str, Any]:
    """The last message is the beginning of the answer, as vLLM and SGLang have it."""
    last = messages[-1]
    if last.role != "assistant" or not last.content or last.tool_calls or len(messages) < 2:
        raise fields.wrong("continue_final_message", "false, unless the last message is an assistant's text")
    if fields.get("add_generation_prompt") is True:
        raise fields.wrong("add_generation_prompt", "false when continue_final_message is true")
    if fields.get("prompt_logprobs") is not None:  # the engine would tell those of the beginning
        raise fields.wrong("prompt_logprobs", "left out when continue_final_message is true")
    return {"messages": messages[:-1], "answer_text": last.content}


def read_completion(body: Mapping[str, Any]) -> Asked:
    """The body of /v1/completions.

    Raises:
        RefusedError: see `read_chat`.
    """
    fields = Fields(body)
    refuse_what_we_cannot(fields)
    for name in ("tools", "messages", "documents"):
        if fields.has(name):
            raise fields.wrong(name, "left out: it belongs to /v1/chat/completions")
    echo, logprobs, scored = fields.flag("echo"), fields.whole("logprobs", 0, 20), _prompt_logprobs(fields)
    suffix = fields.text("suffix") or None
    for whole in ("truncate_prompt_tokens", "suffix"):
        if echo and fields.get(whole) not in (None, ""):
            raise fields.wrong(whole, "left out when echo is true: it returns a prompt that is whole, and all there is")
    name = next((n for n in ("max_tokens", "max_completion_tokens", "n_predict") if fields.has(n)), None)
    limit = COMPLETION_TOKENS if name is None else read_limit(fields, name, 0 if echo else 1)
    scored = logprobs if echo and scored is None else scored
    prompts = [{**prompt, "prompt_logprobs": scored, "suffix": suffix} for prompt in _prompts(fields, suffix)]
    asked = read_asked(
        fields,
        prompts,
        logprobs=logprobs,
        max_tokens=1 if limit == 0 else limit,  # the engine draws one, which is not told; so does vLLM
        form=read_form(fields),
    )
    return replace(asked, echo=echo, only_prompt=limit == 0)


def _prompt_logprobs(fields: Fields) -> int | None:
    count = fields.whole("prompt_logprobs", 0, 20)
    if count is not None and fields.flag("stream"):
        raise fields.wrong("prompt_logprobs", "left out when stream is true")
    return count


def _prompts(fields: Fields, suffix: str | None) -> list[Mapping[str, Any]]:
    """One text, some texts, one list of token ids, or some of those. Before a `suffix` a text may be empty."""
    value = fields.get("prompt")
    if isinstance(value, str) and (value or suffix):
        return [{"prompt": value}]
    allowed = f"a text, a list of token ids, or a list of at most {MOST_ANSWERS} of these, not empty"
    if not isinstance(value, list) or not value:
        raise fields.wrong("prompt", allowed)
    if type(value[0]) is int:
        return [{"token_ids": read_ids(fields, "prompt")}]
    if len(value) > MOST_ANSWERS:
        raise fields.wrong("prompt", allowed)
    return [_prompt(part, index, suffix) for index, part in enumerate(value)]


def _prompt(part: object, index: int, suffix: str | None) -> Mapping[str, Any]:
    name = f"prompt[{index}]"
    if isinstance(part, list):
        return {"token_ids": read_ids(Fields({name: part}), name)}
    if not isinstance(part, str) or not (part or suffix):
        raise Fields({name: part}).wrong(name, "a text or a list of token ids, not empty")
    return {"prompt": part}
