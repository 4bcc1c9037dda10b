"""How tokens are drawn: the values, their ranges, and ours where nobody says anything."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary.checks import check_kind, check_number, keep, text_tuple, token_id_tuple

MAX_SEED = 2**63 - 1
_ABOVE = ("top_p", "typical_p", "repetition_penalty")
"""Their lowest value is not allowed itself: nothing could be drawn."""


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is drawn. ``None`` means the model's own recommendation, then ours (`DEFAULT_SAMPLING`).

    Raises:
        InvalidRequestError: a value is outside its range.
    """

    temperature: float | None = None
    """0 to 100; 0 is greedy."""
    top_k: int | None = None
    """Only so many of the likeliest tokens are left; 0: all."""
    top_p: float | None = None
    """Only the likeliest, until they have this probability together: above 0 up to 1; 1: all."""
    min_p: float | None = None
    """Only those with at least this fraction of the likeliest one's probability: 0 to 1; 0: all."""
    repetition_penalty: float | None = None
    """Divides what speaks for tokens of prompt and answer: above 0 up to 100; 1: off."""
    frequency_penalty: float | None = None
    """Taken from the logit of a token for each time that the answer has it: -100 to 100; 0: off."""
    presence_penalty: float | None = None
    """The same once, however often the answer has it: -100 to 100; 0: off."""
    penalty_window: int | None = None
    """How many last tokens these three penalties see, at least -1; -1: all, 0: none."""
    logit_bias: Mapping[int, float] | None = None
    """Token id -> what is added to its logit, -1000 to 1000."""
    seed: int | None = None
    """0 to 2**63 - 1; None: drawn, and recorded in the result."""
    typical_p: float | None = None
    """Only those whose surprise is nearest to the expected one, until they have this probability together (Meister et
    al. 2023): above 0 up to 1; 1: all."""
    xtc_probability: float | None = None
    """How often the top choices are excluded (XTC, p-e-w 2024): 0 to 1; 0: off."""
    xtc_threshold: float | None = None
    """The probability from which on a token is one of them, 0 to 1; the least likely of them stays."""
    dry_multiplier: float | None = None
    """How hard a repeat of former text is punished (DRY, p-e-w 2024): 0 to 100; 0: off."""
    dry_base: float | None = None
    """The penalty's factor for each further token of the repeat, 1 to 10."""
    dry_allowed_length: int | None = None
    """From how many repeated tokens on, at least 1."""
    dry_window: int | None = None
    """How many last tokens are searched for repeats, at least -1; -1: all."""
    dry_sequence_breakers: Sequence[str] | None = None
    """A repeat does not reach over a token that holds one of these texts."""
    allowed_token_ids: Sequence[int] | None = None
    """Nothing else is drawn; None: all may be."""
    banned_token_ids: Sequence[int] | None = None
    """Never drawn."""
    bad_words: Sequence[str] | None = None
    """Texts that the answer does not hold, spelled as the tokenizer spells them (as in vLLM): other spellings and upper
    case are other words."""

    def __post_init__(self) -> None:
        for name, (low, high, integer) in SAMPLING_RANGES.items():
            value = getattr(self, name)
            if value is not None:
                keep(self, name, check_number(name, value, low, high, integer=integer, above=name in _ABOVE))
        self._check_collections()

    def _check_collections(self) -> None:
        check_kind("logit_bias", self.logit_bias, Mapping, "numbers by token id, or None")
        if self.logit_bias is not None:
            keep(self, "logit_bias", dict(_bias(*item) for item in self.logit_bias.items()))
        for name in ("allowed_token_ids", "banned_token_ids"):
            if getattr(self, name) is not None:
                keep(self, name, token_id_tuple(name, getattr(self, name)))
        if self.allowed_token_ids is not None and not self.allowed_token_ids:
            raise InvalidRequestError("allowed_token_ids", self.allowed_token_ids, "a list of at least one id, or None")
        for name in ("dry_sequence_breakers", "bad_words"):
            if getattr(self, name) is not None:
                keep(self, name, text_tuple(name, getattr(self, name)))

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


def _bias(token_id: object, bias: object) -> tuple[float, float]:
    number = check_number("logit_bias token id", token_id, 0, integer=True)
    return number, check_number(f"logit_bias[{number}]", bias, -1000, 1000)


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
