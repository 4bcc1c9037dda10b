"""The fields of a request that say how its tokens are drawn and where they end, under the names that servers have."""

from typing import Any

from llama_gui.server.refusal import RefusedError
from llama_gui.server.request_fields import Fields
from llama_gui.vocabulary import MAX_SEED, SAMPLING_RANGES, SamplingParams

MOST_STOPS = 64
"""OpenAI has 4; programs for stories send the name of everybody who could speak next."""
MOST_BIASES = 1024
MOST_WORDS = 256
MOST_TOKENS = 2**31 - 1
_LONGEST = 1000
_LOWEST_SEED = -MAX_SEED - 1

_ALSO: dict[str, tuple[str, ...]] = {
    "max_tokens": ("n_predict",),
    "n": ("n_cmpl",),
    "repetition_penalty": ("repeat_penalty",),
    "penalty_window": ("repeat_last_n",),
    "dry_window": ("dry_penalty_last_n",),
    "typical_p": ("typ_p",),
    "thinking_token_budget": ("thinking_budget_tokens",),
}
"""vLLM's name of a field, or ours -> what llama.cpp's server and LM Studio call the same."""


def spelled(fields: Fields, name: str) -> str:
    """The name under which a request has the field `name`; that itself where it has both, or none."""
    return next((other for other in (name, *_ALSO.get(name, ())) if fields.has(other)), name)


def read_limit(fields: Fields, name: str, low: int = 1) -> int | None:
    """The most tokens that are drawn; -1 is LM Studio's and llama.cpp's word for as many as fit."""
    name = spelled(fields, name)
    if fields.get(name) in (-1, -1.0):
        return None
    return fields.whole(name, low, MOST_TOKENS)


def read_thinking_budget(fields: Fields) -> int | None:
    """The most tokens that are thought; -1 is vLLM's and llama.cpp's word for as many as it likes."""
    name = spelled(fields, "thinking_token_budget")
    return None if fields.get(name) in (-1, -1.0) else fields.whole(name, 0, MOST_TOKENS)


def read_sampling(fields: Fields) -> SamplingParams:
    """How tokens are drawn.

    Raises:
        RefusedError, InvalidRequestError: a field is wrong.
    """
    values: dict[str, Any] = {}
    for name, (low, high, whole) in SAMPLING_RANGES.items():
        if fields.get(name) == -1 and name == "top_k":  # vLLM's word for all tokens
            values[name] = 0
            continue
        low, most, given = _LOWEST_SEED if name == "seed" else low, min(high, MAX_SEED), spelled(fields, name)
        value = fields.whole(given, int(low), int(most)) if whole else fields.number(given, low, high)
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
            values[name] = read_ids(fields, name)
    if fields.has("dry_sequence_breakers"):
        values["dry_sequence_breakers"] = read_texts(fields, "dry_sequence_breakers", 64)
    if words := read_texts(fields, "bad_words", MOST_WORDS):
        values["bad_words"] = words
    return SamplingParams(**values, logit_bias=_biases(fields))


def read_endings(fields: Fields) -> dict[str, Any]:
    """Where the answer ends, and what of that is shown: fields of a `GenerateRequest`.

    Raises:
        RefusedError: a field is wrong.
    """
    skips = fields.get("skip_special_tokens") is None or fields.flag("skip_special_tokens")
    return {
        "min_tokens": fields.whole("min_tokens", 0, MOST_TOKENS) or 0,
        "stop": _stops(fields),
        "stop_token_ids": read_ids(fields, "stop_token_ids") if fields.get("stop_token_ids") not in (None, []) else (),
        "ignore_eos": fields.flag("ignore_eos"),
        "include_stop_str_in_output": fields.flag("include_stop_str_in_output"),
        "skip_special_tokens": skips,
    }


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
        value = [value]
    if isinstance(value, list):  # an empty one ends nothing, as llama.cpp has it
        value = [text for text in value if text != ""]
    return read_texts(Fields({"stop": value}), "stop", MOST_STOPS)


def read_texts(fields: Fields, name: str, most: int) -> tuple[str, ...]:
    """A list of texts; () where there is none.

    Raises:
        RefusedError: it is something else.
    """
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > most or not all(isinstance(text, str) and text for text in value):
        raise fields.wrong(name, f"a list of at most {most} texts that are not empty")
    if any(len(text) > _LONGEST for text in value):
        raise fields.wrong(name, f"texts of at most {_LONGEST} letters")
    return tuple(value)


def read_ids(fields: Fields, name: str) -> tuple[int, ...]:
    """A list of token ids.

    Raises:
        RefusedError: it is something else, or empty.
    """
    value = fields.get(name)
    is_list = isinstance(value, list) and 0 < len(value) <= 1_000_000
    if not is_list or not all(type(token_id) is int and 0 <= token_id < 2**31 for token_id in value):
        raise fields.wrong(name, "a list of token ids that is not empty")
    return tuple(value)
