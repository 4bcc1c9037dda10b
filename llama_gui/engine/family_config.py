"""What single families have beside what all have: a config that was read as others are, and changed for them."""

import math
from dataclasses import replace

from llama_gui.engine.conv_config import read_conv
from llama_gui.engine.delta_config import read_delta
from llama_gui.engine.families import Family
from llama_gui.engine.fields import MOST_INTEGER, Fields, shown
from llama_gui.engine.gating import CLAMPED_AT, CLAMPED_SLOPE
from llama_gui.engine.gemma4_config import read_gemma4, read_gemma4_experts
from llama_gui.engine.mamba_config import read_mamba
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.quantisation_config import read_mxfp4
from llama_gui.engine.rope_config import RopeConfig, check_rotation
from llama_gui.errors import BrokenModelError, UnsupportedModelError

CAPS = ("attn_logit_softcapping", "final_logit_softcapping")
"""Of scores and of logits. In GGUF files they are called the same."""
_HIGHEST_CAP = 60.0
"""Of scores: up to it torch's attention needs no largest score, see `attend_capped`."""


def of_family(config: NetworkConfig, fields: Fields, family: Family) -> NetworkConfig:
    """`config`, which was read as Llama's would be, with what only `family` has.

    Raises:
        BrokenModelError, UnsupportedModelError: that is damaged, or we do not run it.
    """
    layers = config.num_hidden_layers
    if family.is_gemma4:
        return _as_gemma4(config, fields)
    _check_heads(config, fields)
    if family.is_gemma:
        return _as_gemma(config, fields)
    if family.has_sinks:
        return _as_gpt_oss(config, fields)
    if family.has_deltas:
        return replace(config, norm_shift=1.0, delta=read_delta(fields, layers, grouped=family.groups_deltas))
    if family.has_convs:
        return replace(config, conv=read_conv(fields, layers, config.hidden_size))
    if family.may_have_mambas:
        config = replace(config, mamba=read_mamba(fields, layers, config.hidden_size))
    return _multiplied(config, fields) if family.multiplies else config


def _as_gemma(config: NetworkConfig, fields: Fields) -> NetworkConfig:
    """Gemma scales its embeddings, and its scores by `query_pre_attn_scalar`, which usually is the head dimension."""
    scalar = fields.number("query_pre_attn_scalar", 256.0)
    scores, logits = (_cap(fields, name) for name in CAPS)
    if scores is not None and scores > _HIGHEST_CAP:
        raise UnsupportedModelError(
            f"{fields.file}: {CAPS[0]} is {scores:g}, and at most {_HIGHEST_CAP:g} is supported. Choose another model."
        )
    made = _attending(_of_all_gemmas(config, logits), scalar**-0.5)
    return replace(made, norm_shift=1.0, score_cap=scores)


def _of_all_gemmas(config: NetworkConfig, logits_cap: float | None) -> NetworkConfig:
    return replace(
        config,
        embedding_scale=math.sqrt(config.hidden_size),
        post_norms=True,
        rounds_scale=True,
        gate="gelu",
        logits_cap=logits_cap,
    )


def _cap(fields: Fields, name: str) -> float | None:
    return None if fields.values.get(name) is None else fields.number(name)


def _as_gemma4(config: NetworkConfig, fields: Fields) -> NetworkConfig:
    """Gemma 4 has no shift of its norms and no scale of its scores, and its last layer always sees all."""
    if config.sliding_window is None:
        raise fields.wrong("sliding_window", f"a whole number from 1 to {MOST_INTEGER}")
    sliding = config.sliding_layers - {config.num_hidden_layers - 1}
    gemma4 = read_gemma4(fields, sliding, config.num_hidden_layers)
    full = replace(config, head_dim=gemma4.full_head_dim, num_key_value_heads=gemma4.full_kv_heads, local_rope=None)
    _check_heads(full, fields)
    config = replace(
        _of_all_gemmas(config, None if gemma4.backbone else _cap(fields, CAPS[1])),
        sliding_layers=sliding,
        gemma4=gemma4,
        experts=read_gemma4_experts(fields, config.num_hidden_layers),
    )
    _check_heads(config, fields)
    return config


def _as_gpt_oss(config: NetworkConfig, fields: Fields) -> NetworkConfig:
    """gpt-oss has sinks (Xiao et al. 2023), and keeps gate and up within limits, which all of its models share."""
    for name, known in (("swiglu_alpha", CLAMPED_SLOPE), ("swiglu_limit", CLAMPED_AT)):
        if fields.values.get(name, known) != known:
            raise UnsupportedModelError(
                f"{fields.file}: {name} is {shown(fields.values[name])}, and only {known:g} is supported. "
                "Choose another model."
            )
    return replace(config, gate="clamped", has_sinks=True, stored_kind=read_mxfp4(fields))


def _multiplied(config: NetworkConfig, fields: Fields) -> NetworkConfig:
    """With Granite's multipliers folded into other values, so that they cost nothing in the layers.

    Each layer adds `residual_multiplier` times its output to the residual stream. If the stream is divided by that
    factor, layers add without one, and the norms, which remove any factor, only need another epsilon.
    `attention_multiplier`, which takes the place of ``head_dim ** -0.5``, goes into the rotation.
    """
    embedding, residual, attention, logits = (
        fields.number(name, 1.0)
        for name in ("embedding_multiplier", "residual_multiplier", "attention_multiplier", "logits_scaling")
    )
    return replace(
        _attending(config, attention),
        embedding_scale=embedding / residual,
        logits_scale=1 / logits,
        rms_norm_eps=config.rms_norm_eps / residual**2,
    )


def _attending(config: NetworkConfig, scale: float) -> NetworkConfig:
    """With `scale` in place of ``head_dim ** -0.5``: scores are products of rotated queries and keys."""

    def scaled(rope: RopeConfig) -> RopeConfig:
        return replace(rope, attention_factor=rope.attention_factor * math.sqrt(scale * math.sqrt(config.head_dim)))

    local = None if config.local_rope is None else scaled(config.local_rope)
    return replace(config, rope=scaled(config.rope), local_rope=local)


def _check_heads(config: NetworkConfig, fields: Fields) -> None:
    if config.num_attention_heads % config.num_key_value_heads:
        raise fields.wrong("num_key_value_heads", f"a divisor of num_attention_heads ({config.num_attention_heads})")
    if config.head_dim % 2:
        # Not `fields.wrong`: where the file does not have the field, the number was computed.
        raise BrokenModelError(f"{fields.file}: head_dim is {config.head_dim}, but it must be an even number.")
    for rope, width in zip(config.ropes, config.rope_widths, strict=True):
        check_rotation(fields, width, rope)
