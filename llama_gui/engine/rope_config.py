"""The part of config.json about rotary embedding. transformers 5 writes it otherwise than before."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from llama_gui.engine.fields import MOST_INTEGER, Fields, shown
from llama_gui.errors import UnsupportedModelError

RopeKind = Literal["default", "linear", "dynamic", "llama3", "yarn"]
ROPE_KINDS: tuple[RopeKind, ...] = get_args(RopeKind)


@dataclass(frozen=True, slots=True)
class RopeConfig:
    """Rotary embedding: base, and how its frequencies are scaled for contexts longer than the trained one.

    See `rotary.inverse_frequencies` for the kinds. "llama3" reads the fields up to
    `original_max_position_embeddings`, "yarn" those from there on; `attention_factor` scales cosines and sines.
    `divisors` slow each pair down by a number of its own: all that a GGUF file knows of how a model was stretched.
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

    @property
    def stretched_context(self) -> int:
        """Tokens that YaRN makes of the trained context; 0 for the kinds that leave max_position_embeddings alone."""
        return int(self.original_max_position_embeddings * self.factor) if self.kind == "yarn" else 0


def read_rope(fields: Fields) -> RopeConfig:
    """transformers 5 writes `rope_parameters` with theta inside; before, `rope_scaling` stood beside `rope_theta`."""
    name = next((n for n in ("rope_parameters", "rope_scaling") if fields.values.get(n) is not None), None)
    inner = fields.values[name] if name else {}
    if not isinstance(inner, dict):
        raise fields.wrong(str(name), "an object")
    rope = Fields(inner, fields.file)
    refuse_partial_rotary(rope)
    kind = inner.get("rope_type", inner.get("type", "default"))
    if kind not in ROPE_KINDS:
        raise UnsupportedModelError(
            f"{fields.file}: the rope type {shown(kind)} is not supported. Supported: {', '.join(ROPE_KINDS)}."
        )
    theta = (rope if "rope_theta" in inner else fields).number("rope_theta", 10000.0, least=2.0)
    if kind in ("default", "dynamic"):
        return RopeConfig(theta, kind)
    if kind == "linear":
        return RopeConfig(theta, "linear", rope.number("factor"))
    return _llama3_rope(rope, theta) if kind == "llama3" else _yarn_rope(rope, theta, fields)


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


def refuse_partial_rotary(fields: Fields) -> None:
    """Heads that are turned in part only are not supported; both layouts may ask for them."""
    if fields.values.get("partial_rotary_factor", 1) not in (1, None):
        raise UnsupportedModelError(f"{fields.file}: partial_rotary_factor is not supported.")
