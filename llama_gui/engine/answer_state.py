"""All that an answer depends on, as a value: so it can go on later, or elsewhere, as if it had never stopped."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary import GenerateRequest, Image, SamplingParams, sampling_from_json
from llama_gui.vocabulary.checks import text_tuple, token_id_tuple

_VERSION = 1
_LATER: Mapping[str, Any] = {
    "stop_token_ids": (),
    "ignore_eos": False,
    "include_stop_str_in_output": False,
    "skip_special_tokens": True,
    "tools": None,
    "is_chat": True,
    "thinking_budget": None,
    "asker": "",
    "images": (),
}
"""Fields that the states of earlier versions lack, with the values that were in force then."""


@dataclass(frozen=True, slots=True)
class AnswerState:
    """An answer up to some token.

    The random number of a token depends only on the seed and the token's index, and its keys and values only on the
    tokens before it; so the ids and the settings are the whole state. `sampling` is complete, with the seed.
    `tokenizer` is the fingerprint of the tokenizer whose ids these are. `tools`: those that it was offered.
    `is_chat`: the prompt is that of a chat, behind which a new text begins. `images`: those that stand in the prompt.
    `logits_processor` and other functions cannot be kept.
    """

    prompt_token_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    sampling: SamplingParams
    max_tokens: int | None = None
    min_tokens: int = 0
    stop: tuple[str, ...] = ()
    logprobs: int = 0
    cache_key: str | None = None
    json_schema: Mapping[str, Any] | None = None
    regex: str | None = None
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    include_stop_str_in_output: bool = False
    skip_special_tokens: bool = True
    tokenizer: str = ""
    tools: Sequence[Mapping[str, Any]] | None = None
    is_chat: bool = True
    thinking_budget: int | None = None
    asker: str = ""
    images: tuple[Image, ...] = ()
    version: int = field(default=_VERSION)

    def request(self, logits_processor: Callable[[list[int], Any], Any] | None = None) -> GenerateRequest:
        """The request that goes on with it; `logits_processor` is one that it had."""
        return GenerateRequest(
            token_ids=self.prompt_token_ids,
            answer_token_ids=self.token_ids,
            max_tokens=self.max_tokens,
            min_tokens=self.min_tokens,
            sampling=self.sampling,
            stop=self.stop,
            logprobs=self.logprobs,
            cache_key=self.cache_key,
            json_schema=self.json_schema,
            regex=self.regex,
            stop_token_ids=self.stop_token_ids,
            ignore_eos=self.ignore_eos,
            include_stop_str_in_output=self.include_stop_str_in_output,
            skip_special_tokens=self.skip_special_tokens,
            tools=self.tools,
            thinking_budget=self.thinking_budget,
            asker=self.asker,
            images=self.images,
            logits_processor=logits_processor,
        )

    def to_json(self) -> str:
        """As text, which `from_json` reads."""
        images = [base64.b64encode(image.data).decode() for image in self.images]
        return json.dumps(asdict(replace(self, images=())) | {"images": images})

    @classmethod
    def from_json(cls, text: str) -> "AnswerState":
        """What `to_json` wrote.

        Raises:
            InvalidRequestError: it is something else, or from a later version.
        """
        try:
            values = json.loads(text)
            if values["version"] != _VERSION:
                raise InvalidRequestError("version", values["version"], f"{_VERSION}; update llama-gui")
            values["sampling"] = sampling_from_json(values["sampling"])
            values = {**_LATER, **values}
            for name in ("prompt_token_ids", "token_ids", "stop_token_ids"):
                values[name] = token_id_tuple(name, values[name])
            values["stop"] = text_tuple("stop", values["stop"])
            values["images"] = tuple(Image(base64.b64decode(image, validate=True)) for image in values["images"])
            return cls(**{f.name: values[f.name] for f in fields(cls)})
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise InvalidRequestError("state", str(text)[:80], "what AnswerState.to_json wrote") from error
