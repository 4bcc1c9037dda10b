"""How an answer was made, as the text that is kept beside it: enough to make it again."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from typing import Any, TypeVar

from llama_gui.chats.chat_settings import read_thinking
from llama_gui.chats.tree import NodeStatus
from llama_gui.errors import UserError
from llama_gui.vocabulary import (
    Effort,
    GenerateRequest,
    GenerateResult,
    ModelInfo,
    SamplingParams,
    Timings,
    Usage,
    is_remote,
    sampling_from_json,
)

_Numbers = TypeVar("_Numbers", Usage, Timings)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is known of the making of an answer; empty values are not known.

    `model` is the folder's path, `fingerprint`, `template` and `tokenizer` tell whether model, chat template and tokens
    are still the same. `sampling` is complete, with the seed as used. `now` is what the template took for the present,
    in ISO format. With `prompt_token_ids` the messages need not be put together again. `finish_reason` '': it was not
    finished when this was written. `continued_tokens`: so many of its tokens were there before, `timings` are of the
    others. `given_tokens`: so many of its first tokens were not drawn, because somebody chose another one there.
    `tools`: the schemas of those that the model was told of. `written`: what it wrote, where calls of tools were taken
    out of what is shown; "": that is all. `wraps_answers`: see `ModelInfo`; None: not known.
    """

    model: str = ""
    name: str = ""
    dtype: str = ""
    device: str = ""
    cache_dtype: str = ""
    fingerprint: str = ""
    template: str = ""
    tokenizer: str = ""
    sampling: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int | None = None
    min_tokens: int = 0
    stop: tuple[str, ...] = ()
    json_schema: Mapping[str, Any] | None = None
    regex: str | None = None
    chat_template_kwargs: Mapping[str, Any] | None = None
    thinking: bool | Effort | None = None
    now: str = ""
    tools: tuple[Mapping[str, Any], ...] = ()
    written: str = ""
    wraps_answers: bool | None = None
    prompt_token_ids: tuple[int, ...] = ()
    token_ids: tuple[int, ...] = ()
    continued_tokens: int = 0
    given_tokens: int = 0
    dropped_messages: int = 0
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    timings: Timings = field(default_factory=Timings)

    @property
    def is_repeatable(self) -> bool:
        """Whether the same text can be expected: nothing was drawn, or it is known how."""
        return self.sampling.seed is not None or self.sampling.temperature == 0

    @property
    def present(self) -> datetime | None:
        """`now` as a time."""
        try:
            return datetime.fromisoformat(self.now)
        except ValueError:
            return None


def is_cut_short(status: NodeStatus, finish_reason: str) -> bool:
    """Whether there may be more to an answer: it was stopped or broken off, or has reached its max tokens."""
    return status in ("stopped", "interrupted", "failed") or (status == "complete" and finish_reason == "length")


def recipe_text(
    request: GenerateRequest,
    model: ModelInfo | None,
    result: GenerateResult | None = None,
    *,
    fingerprint: str = "",
    template: str = "",
    tokenizer: str = "",
    prompt_token_ids: Sequence[int] = (),
    given_tokens: int = 0,
    written: str = "",
) -> str:
    """JSON for `read_recipe`. Without a result it is of an answer of which nothing is written yet."""
    recipe = Recipe(
        fingerprint=fingerprint,
        template=template,
        tokenizer=tokenizer,
        sampling=request.sampling,
        max_tokens=request.max_tokens,
        min_tokens=request.min_tokens,
        stop=tuple(request.stop),
        json_schema=request.json_schema,
        regex=request.regex,
        chat_template_kwargs=request.chat_template_kwargs,
        thinking=request.thinking,
        now=request.now.isoformat() if request.now else "",
        tools=tuple(request.tools or ()),
        written=written,
        prompt_token_ids=tuple(prompt_token_ids or request.token_ids or ()),
        continued_tokens=len(request.answer_token_ids),
        given_tokens=given_tokens,
    )
    return recipe_to_json(_with_result(_with_model(recipe, model), result))


def _with_model(recipe: Recipe, model: ModelInfo | None) -> Recipe:
    if model is None:
        return recipe
    sampling = recipe.sampling.or_else(model.sampling)
    return replace(
        recipe,
        model=model.path,
        name=model.name,
        dtype=model.dtype,
        device=model.device,
        cache_dtype=model.cache_dtype,
        wraps_answers=None if is_remote(model.path) else model.wraps_answers,  # other servers do not say
        sampling=sampling,
    )


def _with_result(recipe: Recipe, result: GenerateResult | None) -> Recipe:
    if result is None:
        return recipe
    return replace(
        recipe,
        sampling=replace(recipe.sampling, seed=result.seed),
        token_ids=result.token_ids,
        dropped_messages=result.dropped_messages,
        finish_reason=result.finish_reason,
        usage=result.usage,
        timings=result.timings,
    )


def recipe_to_json(recipe: Recipe) -> str:
    """The recipe as text."""
    # The schemas of tools go as they are: `asdict` would copy each part of them.
    return _dumped(asdict(replace(recipe, tools=())) | {"tools": recipe.tools})


def _dumped(value: Any) -> str:
    """As JSON, without the spaces that would make thousands of token ids half as long again."""
    return json.dumps(value, separators=(",", ":"), default=str)


class GrowingRecipe:
    """The recipe of an answer that is being written, as text. That is wanted with each of its tokens: no part is
    written twice.
    """

    def __init__(self, request: GenerateRequest, model: ModelInfo | None, given_tokens: int = 0) -> None:
        values = json.loads(recipe_text(request, model, given_tokens=given_tokens))
        del values["token_ids"], values["written"]
        self._rest = _dumped(values).removesuffix("}")
        self._token_ids: list[str] = []
        self.add(request.answer_token_ids)

    def add(self, token_ids: Sequence[int]) -> None:
        """More tokens of the answer."""
        if token_ids:
            self._token_ids.append(",".join(map(str, token_ids)))

    def text(self, written: str = "") -> str:
        """JSON for `read_recipe`; `written`: see `Recipe`."""
        return f'{self._rest},"written":{_dumped(written)},"token_ids":[{",".join(self._token_ids)}]}}'


def read_recipe(text: str) -> Recipe:
    """What `recipe_text` wrote, now or in an older version. What is missing or damaged is not known."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return Recipe()
    if not isinstance(values, dict):
        return Recipe()
    made_by = ("model", "name", "dtype", "device", "cache_dtype", "fingerprint", "template", "tokenizer")
    texts = (*made_by, "now", "finish_reason", "written")
    maps = ("json_schema", "chat_template_kwargs")
    return Recipe(
        **{name: _of_type(values, name, str, "") for name in texts},
        **{name: _of_type(values, name, dict, None) for name in maps},
        sampling=_sampling(values.get("sampling")),
        max_tokens=_count(values.get("max_tokens")) or None,
        min_tokens=_count(values.get("min_tokens")),
        stop=tuple(stop for stop in _of_type(values, "stop", list, []) if isinstance(stop, str) and stop),
        regex=_of_type(values, "regex", str, None),
        thinking=read_thinking(values.get("thinking")),
        wraps_answers=_of_type(values, "wraps_answers", bool, None),
        tools=tuple(tool for tool in _of_type(values, "tools", list, []) if isinstance(tool, dict)),
        prompt_token_ids=_ids(values.get("prompt_token_ids")),
        token_ids=_ids(values.get("token_ids")),
        continued_tokens=_count(values.get("continued_tokens")),
        given_tokens=_count(values.get("given_tokens")),
        dropped_messages=_count(values.get("dropped_messages")),
        usage=_numbers(Usage, values.get("usage")),
        timings=_numbers(Timings, values.get("timings")),
    )


def _of_type(values: Mapping[str, Any], name: str, kind: type, otherwise: Any) -> Any:
    value = values.get(name)
    return value if isinstance(value, kind) else otherwise


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _ids(values: object) -> tuple[int, ...]:
    """All or none: with one wrong id the others are another text."""
    if not isinstance(values, list) or any(type(value) is not int or value < 0 for value in values):
        return ()
    return tuple(values)


def _sampling(values: object) -> SamplingParams:
    try:
        return sampling_from_json(values) if isinstance(values, dict) else SamplingParams()
    except (UserError, TypeError, ValueError, AttributeError):
        return SamplingParams()


def _numbers(kind: type[_Numbers], values: object) -> _Numbers:
    found: dict[str, Any] = values if isinstance(values, dict) else {}
    names = {f.name for f in fields(kind)}
    return kind(**{name: value for name, value in found.items() if name in names and _is_amount(value)})


def _is_amount(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf
