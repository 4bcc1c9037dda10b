"""The part of config.json about rotary embedding. transformers 5 writes it otherwise than before."""

import math
from dataclasses import dataclass, replace
from typing import Literal, Self, get_args

from llama_gui.engine.fields import AGAIN, MOST_INTEGER, Fields, shown
from llama_gui.errors import BrokenModelError, UnsupportedModelError

RopeKind = Literal["default", "linear", "dynamic", "llama3", "yarn", "longrope", "proportional"]
ROPE_KINDS: tuple[RopeKind, ...] = get_args(RopeKind)

_SPELLINGS = ("rope_parameters", "rope_scaling")
"""What transformers 5 and those before call what says how heads are rotated."""
_MOST_THETA = 1e30
_QUERY_SCALE = "llama_4_scaling_beta"


@dataclass(frozen=True, slots=True)
class RopeConfig:
    """Rotary embedding: base, and how its frequencies are scaled for contexts longer than the trained one.

    See `rotary.inverse_frequencies` for the kinds. "llama3" reads the fields up to
    `original_max_position_embeddings`, "yarn" those from there on; `attention_factor` scales cosines and sines.
    `divisors` slow each pair down by a number of its own: all that a GGUF file knows of how a model was stretched, and
    what LongRoPE is, which has others (`short_divisors`) for conversations within the original context. `share`: which
    part of each head is rotated, the first numbers; of "proportional", which share of all pairs, which turn as if all
    did. `query_scale`: how fast queries grow beyond the original context,
    so that they find something in more and more keys (Ministral 3); 0: they do not. `axes`: with which of a token's
    three positions each pair of a head turns (M-RoPE of Qwen2-VL, https://arxiv.org/abs/2409.12191): 0 is when, 1 the
    line and 2 the place in it, which differ in images; (): all with the same.
    """

    theta: float = 10000.0
    kind: RopeKind = "default"
    factor: float = 1.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_max_position_embeddings: int = 8192
    attention_factor: float = 1.0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    divisors: tuple[float, ...] = ()
    short_divisors: tuple[float, ...] = ()
    share: float = 1.0
    query_scale: float = 0.0
    axes: tuple[int, ...] = ()
    is_still: bool = False
    """Nothing turns: layers know no positions (NoPE)."""

    @property
    def stretched_context(self) -> int:
        """Tokens that YaRN makes of the trained context; 0 for the kinds that leave max_position_embeddings alone."""
        return int(self.original_max_position_embeddings * self.factor) if self.kind == "yarn" else 0

    def within(self, context: int) -> Self:
        """The same for conversations of at most `context` tokens.

        As in vLLM, all of them are rotated alike: a key that is in the cache cannot be rotated again when its
        conversation outgrows the original context.
        """
        is_short = self.kind == "longrope" and context <= self.original_max_position_embeddings
        return replace(self, divisors=self.short_divisors) if is_short else self


def rotary_dim(head_dim: int, rope: RopeConfig) -> int:
    """How many numbers of each head are rotated."""
    return head_dim if rope.kind == "proportional" else int(head_dim * rope.share)


def read_rope(fields: Fields, *, rotates_partly: bool = False) -> RopeConfig:
    """transformers 5 writes `rope_parameters` with theta inside; before, `rope_scaling` stood beside `rope_theta`.

    `rotates_partly`: whether the network knows `partial_rotary_factor`; others that have it are refused.
    """
    name = next((n for n in _SPELLINGS if fields.values.get(n) is not None), None)
    inner = fields.values[name] if name else {}
    if not isinstance(inner, dict):
        raise fields.wrong(str(name), "an object")
    rope = Fields(inner, fields.file)
    kind = inner.get("rope_type", inner.get("type", "default"))
    if kind == "mrope" and "mrope_section" in inner:  # which `_axes` reads
        kind = "default"
    if kind == "su" or (kind == "yarn" and "long_factor" in inner):  # what it was called before it had its name
        kind = "longrope"
    if kind not in ROPE_KINDS:
        raise UnsupportedModelError(
            f"{fields.file}: the rope type {shown(kind)} is not supported. Supported: {', '.join(ROPE_KINDS)}."
        )
    rotates_partly |= kind == "proportional"
    share = _share(rope if "partial_rotary_factor" in inner else fields, rotates_partly)
    theta = (rope if "rope_theta" in inner else fields).number("rope_theta", 10000.0, least=2.0)
    made = replace(_rope_of(kind, rope, theta, fields), share=share, axes=_axes(rope))
    return _with_query_scale(made, rope)


def _axes(rope: Fields) -> tuple[int, ...]:
    """In runs as Qwen2-VL and Qwen2.5-VL have them, or in turn, as far as the sections go, as Qwen3-VL."""
    if rope.values.get("mrope_section") is None:
        return ()
    sections = rope.integers("mrope_section")
    if len(sections) != 3:
        raise rope.wrong("mrope_section", "three whole numbers")
    if not rope.flag("mrope_interleaved", False):
        return tuple(axis for axis, count in enumerate(sections) for _ in range(count))
    return tuple(pair % 3 if pair < 3 * sections[pair % 3] else 0 for pair in range(sum(sections)))


def _with_query_scale(config: RopeConfig, rope: Fields) -> RopeConfig:
    if not rope.values.get(_QUERY_SCALE):
        return config
    original = rope.integer("original_max_position_embeddings", config.original_max_position_embeddings)
    return replace(config, query_scale=rope.number(_QUERY_SCALE), original_max_position_embeddings=original)


def read_ropes(fields: Fields, shared_theta: str | None = None) -> tuple[RopeConfig, RopeConfig]:
    """Of layers that see all, and of those with a window; transformers 5 has both in one field.

    `shared_theta`: the field that has the base of both, where the older one has none for those with a window.
    """
    both = fields.values.get("rope_parameters")
    if not isinstance(both, dict) or not both.keys() & {"full_attention", "sliding_attention"}:
        both = {"full_attention": both}
    theta = fields.number(shared_theta or "rope_local_base_freq", 10000.0, least=2.0)
    local = {"rope_parameters": both.get("sliding_attention"), "rope_scaling": None, "rope_theta": theta}
    whole = {"rope_parameters": both.get("full_attention")}
    return read_rope(Fields({**fields.values, **whole}, fields.file)), read_rope(
        Fields({**fields.values, **local}, fields.file)
    )


def with_alpha(fields: Fields, head_dim: int) -> Fields:
    """With the base that Hunyuan's `alpha` makes of the trained one, in the place of "dynamic".

    It is the one of NTK-aware scaling (bloc97, 2023), and the same for every length.
    """
    name = next((name for name in _SPELLINGS if isinstance(fields.values.get(name), dict)), None)
    inner = fields.values[name] if name else {}
    if not inner.get("alpha") or inner.get("rope_type", inner.get("type")) != "dynamic":
        return fields
    rope = Fields(inner, fields.file)
    alpha = rope.number("alpha", least=1.0)
    theta = (rope if "rope_theta" in inner else fields).number("rope_theta", 10000.0, least=2.0)
    if head_dim < 4 or (stretched := theta * alpha ** (head_dim / (head_dim - 2))) > _MOST_THETA:
        raise rope.wrong("alpha", f"so small that the base stays at or below {_MOST_THETA:g}, with heads of 4 and more")
    return Fields({**fields.values, str(name): {"rope_type": "default", "rope_theta": stretched}}, fields.file)


def _rope_of(kind: RopeKind, rope: Fields, theta: float, fields: Fields) -> RopeConfig:
    match kind:
        case "linear":
            return RopeConfig(theta, "linear", rope.number("factor"))
        case "proportional":
            return RopeConfig(theta, "proportional", rope.number("factor", 1.0))
        case "llama3":
            return _llama3_rope(rope, theta)
        case "yarn":
            return _yarn_rope(rope, theta, fields)
        case "longrope":
            return _longrope(rope, theta, fields)
        case _:
            return RopeConfig(theta, kind)


def _llama3_rope(rope: Fields, theta: float) -> RopeConfig:
    config = RopeConfig(
        theta,
        "llama3",
        rope.number("factor"),
        rope.number("low_freq_factor"),
        rope.number("high_freq_factor"),
        rope.integer("original_max_position_embeddings"),
    )
    if config.high_freq_factor <= config.low_freq_factor:
        raise rope.wrong("high_freq_factor", f"above low_freq_factor ({config.low_freq_factor:g})")
    return config


def _yarn_rope(rope: Fields, theta: float, fields: Fields) -> RopeConfig:
    # Where the file does not say what the model was trained for, that is its context without the stretching.
    trained = fields.integer("max_position_embeddings", 2048)
    factor = rope.number("factor")
    config = RopeConfig(
        theta,
        "yarn",
        factor,
        original_max_position_embeddings=rope.integer("original_max_position_embeddings", trained),
        attention_factor=rope.number("attention_factor", _yarn_attention_factor(rope, factor)),
        beta_fast=rope.number("beta_fast", 32.0),
        beta_slow=rope.number("beta_slow", 1.0),
        truncate=rope.flag("truncate", True),
    )
    if config.stretched_context > MOST_INTEGER:
        raise rope.wrong("factor", f"so small that the context stays at or below {MOST_INTEGER} tokens")
    return config


def _yarn_attention_factor(rope: Fields, factor: float) -> float:
    """As DeepSeek has it where both factors are given, else as in the paper."""

    def scale(by: float) -> float:
        return 1.0 if factor <= 1 else 0.1 * by * math.log(factor) + 1.0

    if rope.values.get("mscale") and rope.values.get("mscale_all_dim"):
        return scale(rope.number("mscale")) / scale(rope.number("mscale_all_dim"))
    return scale(1.0)


def _longrope(rope: Fields, theta: float, fields: Fields) -> RopeConfig:
    """LongRoPE (Ding et al. 2024), with the attention factor of Phi-3 where the file has none."""
    trained = fields.integer("max_position_embeddings", 2048)
    beside = fields.integer("original_max_position_embeddings", trained)  # where Phi-3 has it
    original = rope.integer("original_max_position_embeddings", beside)
    factor = rope.number("factor", trained / original)
    attention = math.sqrt(1 + math.log(factor) / math.log(original)) if factor > 1 and original > 1 else 1.0
    return RopeConfig(
        theta,
        "longrope",
        factor,
        original_max_position_embeddings=original,
        attention_factor=rope.number("attention_factor", attention),
        divisors=rope.numbers("long_factor"),
        short_divisors=rope.numbers("short_factor"),
    )


def _share(fields: Fields, rotates_partly: bool) -> float:
    if not rotates_partly:
        if fields.values.get("partial_rotary_factor", 1) not in (1, None):
            raise fields.unsupported("partial_rotary_factor")
        return 1.0
    share = fields.number("partial_rotary_factor", 1.0)
    if share > 1:
        raise fields.wrong("partial_rotary_factor", "a number up to 1")
    return share


def check_rotation(fields: Fields, head_dim: int, rope: RopeConfig) -> None:
    """BrokenModelError where heads of `head_dim` numbers cannot be rotated so."""
    rotated = rotary_dim(head_dim, rope)
    if rotated % 2 or not rotated:
        raise BrokenModelError(
            f"{fields.file}: {rotated} numbers of each head would be rotated, but they must be pairs."
        )
    if rope.axes and len(rope.axes) != rotated // 2:
        raise BrokenModelError(
            f"{fields.file}: mrope_section is of {len(rope.axes)} pairs of each head, which has {rotated // 2}. {AGAIN}"
        )
    for numbers in (rope.divisors, rope.short_divisors):
        if rope.kind == "longrope" and len(numbers) != rotated // 2:
            raise BrokenModelError(
                f"{fields.file}: LongRoPE has {len(numbers)} factors for {rotated // 2} pairs of each head. {AGAIN}"
            )
