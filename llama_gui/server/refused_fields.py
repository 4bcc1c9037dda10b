"""What other servers know and this one cannot do, where it would change the answer: refused, with what to do instead.

An answer to another question helps nobody. What is in no table here and read nowhere changes nothing about an answer:
in which order requests wait (`priority`), what they are called (`user`, `request_id`, `metadata`), what is kept of them
(`store`, `cache_prompt`: a cached prompt has the same bits here), how fast or in which pieces they come (`prediction`,
`draft_model`, `stream_interval`), how pictures are read, which this server does not, and `verbosity`, which no model
that runs here was taught.
"""

from collections.abc import Mapping
from typing import Any

from llama_gui.server.refusal import RefusedError
from llama_gui.server.request_fields import Fields

Cannot = Mapping[str, tuple[str, tuple[Any, ...]]]
"""Field -> what to do instead, and the values of it that ask for nothing."""

_FORMS = "use response_format, guided_json or guided_regex"
_TEXT_ONLY = "this server makes text only"
_BUDGET = "use thinking_token_budget, or let the template switch reasoning off: chat_template_kwargs"
_IN_CONTENT = "reasoning stands in the content, between its tags"

CANNOT: Cannot = {
    # OpenAI's
    "functions": ("use tools", ([],)),
    "function_call": ("use tool_choice", ("none", "auto")),
    "audio": (_TEXT_ONLY, ()),
    "modalities": (_TEXT_ONLY, (["text"],)),
    "web_search_options": ("this server asks nobody else", ()),
    # vLLM's and SGLang's
    "use_beam_search": ("this server draws tokens", (False,)),
    "guided_grammar": (_FORMS, ("",)),
    "ebnf": (_FORMS, ("",)),
    "structural_tag": (_FORMS, ("",)),
    "guided_whitespace_pattern": ("JSON is written with few spaces here", ("",)),
    "stop_regex": ("use stop", ("", [])),
    "truncation_side": ("of a prompt that is cut its end stays", ("left",)),
    "logprob_token_ids": ("use logprobs with alternatives", ([],)),
    "logits_processors": ("use logit_bias, allowed_token_ids or bad_words", ([],)),
    "repetition_detection": ("use repetition_penalty or dry_multiplier", ({},)),
    "include_reasoning": (_IN_CONTENT, (True,)),
    "reasoning": ("use reasoning_effort", ({},)),
    "chat_template": ("send /v1/completions the prompt as you want it", ("",)),
    "prompt_embeds": ("use prompt", ("", [])),
    "return_prompt_text": ("use return_token_ids, and /detokenize", (False,)),
    "cache_salt": ("all who have the key share one cache here", ("",)),
    "kv_transfer_params": ("this server works alone", ({},)),
    "ec_transfer_params": ("this server works alone", ({},)),
    "vllm_xargs": ("this server has no extensions", ({},)),
    "watermarking": ("this server marks nothing", (False,)),
    # llama.cpp's
    "grammar": (_FORMS, ("",)),
    "samplers": ("leave out the parameters of those that are not wanted; their order is fixed", ()),
    "dynatemp_range": ("use temperature", (0,)),
    "mirostat": ("use top_p or min_p", (0,)),
    "top_n_sigma": ("use min_p", (-1, 0)),
    "adaptive_target": ("use xtc_probability", (-1,)),
    "min_keep": ("use top_k, top_p and min_p that leave as many", (0, 1)),
    "n_indent": ("say in the prompt how the lines are to be indented", (0,)),
    "t_max_predict_ms": ("use max_tokens, or hang up", (-1, 0)),
    "reasoning_format": (_IN_CONTENT, ("none", "auto")),
    "reasoning_control": (_BUDGET, (False,)),
    "thinking_budget_message": ("use thinking_budget_tokens: nothing is put in the model's mouth", ("",)),
    "n_probs": ("use logprobs", (0,)),
    "post_sampling_probs": ("logprobs are those of the model", (False,)),
    "return_tokens": ("use return_token_ids", (False,)),
    "response_fields": ("the whole answer is sent", ([],)),
    "lora": ("merge the adapter into the model", ([],)),
}


def refuse_what_we_cannot(fields: Fields, cannot: Cannot = CANNOT) -> None:
    """Raise RefusedError for the first field of `cannot` that asks for something."""
    for name, (advice, harmless) in cannot.items():
        if fields.has(name) and not any(_same(fields.get(name), value) for value in harmless):
            raise RefusedError(400, f"{name} is not supported: {advice}.", param=name, code="unsupported_parameter")


def _same(value: Any, other: Any) -> bool:
    return isinstance(value, bool) == isinstance(other, bool) and value == other
