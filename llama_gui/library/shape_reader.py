"""config.json -> `ModelShape`: what each family calls its numbers, and what it need not say."""

from collections.abc import Mapping
from typing import Any

from llama_gui.errors import BrokenModelError
from llama_gui.library.conv_shape import LFM2, LFM2_MOE, ConvShape, with_inner
from llama_gui.library.delta_shape import QWEN3_NEXT, QWEN35, QWEN35_MOE, DeltaShape
from llama_gui.library.gemma4_shape import Gemma4Shape, with_defaults
from llama_gui.library.mamba_shape import MambaShape, bare_layers, halves_of, with_whole_layers
from llama_gui.library.model_shape import ModelShape
from llama_gui.library.quantisation import is_fp8
from llama_gui.library.sight import vision_numbers

_Config = Mapping[str, Any]

_MOST = 2**31 - 1

_GEMMA2_SAYS = {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 256000}
_GEMMA3_SAYS = {**_GEMMA2_SAYS, "vocab_size": 262208}
"""What their config.json need not say."""

_GPT_OSS, _ERNIE, _LFM2_MOE, _GRANITE4 = "gpt_oss", "ernie4_5_moe", "lfm2_moe", "granitemoehybrid"
_NEMOTRON = "nemotron_h"
_GEMMA2, _GEMMA3 = "gemma2", ("gemma3", "gemma3_text")
_TEXT_KINDS = {"qwen2_vl": "qwen2", "qwen2_5_vl": "qwen2", "qwen3_vl": "qwen3", "qwen3_5_text": "qwen3_5",
               "qwen3_5_moe_text": "qwen3_5_moe"}  # fmt: skip
"""Whose networks for text are those of others."""
_WIDE_HEADS = ("qwen3", "seed_oss", "ernie4_5", "ministral3", "mistral3", "glm", "glm4")
"""Whose heads have 128 numbers, if config.json does not say."""
_HAVE_BIASES = (_GPT_OSS, "seed_oss", "glm", "glm4")
"""Whose queries, keys and values have some, if config.json does not say."""
_TIED = ("smollm3", "ernie4_5", "minicpm", _ERNIE)
"""Whose embedding and vocabulary projection are one, if config.json does not say."""
_SHARED, _SHARERS = "shared_expert_intermediate_size", "moe_num_shared_experts"
_SHARED_INNER = "shared_intermediate_size"
"""Where Granite 4.0 says how wide the MLP is that all tokens go through."""
_PLAIN = "first_k_dense_replace"
_MIXTURES = (
    "mixtral",
    "qwen2_moe",
    "qwen3_moe",
    "qwen3_5_moe",
    "qwen3_next",
    "granitemoe",
    "olmoe",
    _GPT_OSS,
    _ERNIE,
    _LFM2_MOE,
)
_SUMS_UP = {"qwen3_5": QWEN35, "qwen3_5_moe": QWEN35_MOE, "qwen3_next": QWEN3_NEXT}
_CONVOLVES = {"lfm2": LFM2, _LFM2_MOE: LFM2_MOE}
"""Those with gated delta nets, and with short convolutions, and what their config.json need not say."""
_KV_HEADS = {"qwen3_moe": 4, "ernie4_5": 2, "glm": 2, "glm4": 2, _ERNIE: 4}
"""If config.json does not say."""
_HAVE_HEAD_NORMS = ("qwen3", "qwen3_moe", "exaone4", "hunyuan_v1_dense", *_GEMMA3)
_GATES_SHARED = ("qwen2_moe", "qwen3_5_moe", "qwen3_next")


def shape_of(whole: _Config) -> ModelShape:
    """From the fields of a config.json.

    Raises:
        BrokenModelError: a field is missing or cannot be.
    """
    kind = str(whole.get("model_type"))
    kind = _TEXT_KINDS.get(kind, kind)
    config = _with_our_names(whole, kind)
    is_gemma4, is_gpt_oss, mixes = kind.startswith("gemma4"), kind == _GPT_OSS, _mixes(config, kind)
    is_gemma = is_gemma4 or kind in (_GEMMA2, *_GEMMA3)
    heads, hidden = _integer(config, "num_attention_heads"), _integer(config, "hidden_size")
    layers, plain = _integer(config, "num_hidden_layers"), _plain_layers(config, kind)
    head_dim = 64 if is_gpt_oss else 128 if kind in _WIDE_HEADS else hidden // heads
    inner = "moe_intermediate_size" if kind in _MIXTURES else "intermediate_size"
    gemma4 = Gemma4Shape.from_config(config, _integer) if is_gemma4 else None
    experts = _experts(config) if mixes else (1, 1)
    if gemma4 is not None and gemma4.experts:
        experts = gemma4.experts, gemma4.chosen
    return ModelShape(
        vocabulary=_integer(config, "vocab_size"),
        hidden=hidden,
        inner=_integer(config, inner if inner in config else "intermediate_size"),
        layers=layers,
        heads=heads,
        kv_heads=_integer(config, "num_key_value_heads", _KV_HEADS.get(kind, heads)),
        head_dim=_integer(config, "head_dim", head_dim),
        is_tied=config.get("tie_word_embeddings", kind in _TIED or is_gemma) is True,
        has_qkv_bias=kind in ("qwen2", "qwen2_moe") or config.get("attention_bias", kind in _HAVE_BIASES) is True,
        has_head_norms=kind in _HAVE_HEAD_NORMS or is_gemma4,
        has_post_norms=is_gemma or kind == "glm4",
        experts=experts[0],
        chosen=experts[1],
        is_gpt_oss=is_gpt_oss,
        is_olmo=kind in ("olmo2", "olmo3", "olmoe"),
        is_packed=is_gpt_oss and bool(config.get("quantization_config")),
        shared=_shared(config, kind, mixes=mixes),
        has_shared_gate=kind in _GATES_SHARED,
        has_correction=_has_correction(config, kind, mixes=mixes),
        plain_layers=min(plain, layers),
        plain_inner=_integer(config, "intermediate_size") if plain else 0,
        has_no_gate=kind in ("arcee", _NEMOTRON),
        is_fp8=is_fp8(whole),
        vision=vision_numbers(whole),
        gemma4=gemma4,
        delta=DeltaShape.from_config(config, _integer) if kind in _SUMS_UP else None,
        conv=ConvShape.from_config(config, _integer) if kind in _CONVOLVES else None,
        mamba=_mamba(config, kind),
        bare_layers=bare_layers(config) if kind == _NEMOTRON else 0,
    )


def _with_our_names(config: _Config, kind: str) -> _Config:
    """The fields of the network for text, as most call them, and with what need not be said."""
    inner = config.get("text_config")
    if kind.startswith("gemma4"):
        return with_defaults(config)
    if kind in _GEMMA3:  # with pictures, the network for text is described by a part
        return {**_GEMMA3_SAYS, **(inner if isinstance(inner, dict) else config)}
    if kind == _GEMMA2:
        return {**_GEMMA2_SAYS, **config}
    if isinstance(inner, dict):
        config = {**config, **inner}
    config = {**_SUMS_UP.get(kind, {}), **_CONVOLVES.get(kind, {}), **config}
    if kind in _CONVOLVES:
        return with_inner(config, _integer)
    if kind == _NEMOTRON:
        return with_whole_layers(config)
    if kind == _GRANITE4:
        return {**config, _SHARED if _mixes(config, kind) else "intermediate_size": config.get(_SHARED_INNER, 1024)}
    return _with_names_of_qwen(config) if kind == _ERNIE else config


def _mixes(config: _Config, kind: str) -> bool:
    """Whether layers have experts."""
    if kind == _NEMOTRON:
        return "moe" in halves_of(config)
    return kind in _MIXTURES or (kind == _GRANITE4 and config.get("num_local_experts") != 0)


def _plain_layers(config: _Config, kind: str) -> int:
    """So many layers have no experts, the first ones, where others have."""
    return _integer(config, _PLAIN) if kind in (_ERNIE, _LFM2_MOE) and config.get(_PLAIN) else 0


def _shared(config: _Config, kind: str, *, mixes: bool) -> int:
    """How wide the MLP is that all tokens go through beside experts."""
    may_share = kind in (*_GATES_SHARED, _ERNIE) or (kind in (_GRANITE4, _NEMOTRON) and mixes)
    return _integer(config, _SHARED) if may_share and config.get(_SHARED) != 0 else 0


def _has_correction(config: _Config, kind: str, *, mixes: bool) -> bool:
    """Whether what chooses experts is corrected."""
    if kind == _LFM2_MOE:
        return config.get("use_expert_bias") is not False
    return mixes and kind in (_ERNIE, _NEMOTRON)


def _mamba(config: _Config, kind: str) -> MambaShape | None:
    if kind == _NEMOTRON:
        return MambaShape.from_nemotron(config, _integer)
    return MambaShape.from_config(config, _integer) if kind == _GRANITE4 else None


def _experts(config: _Config) -> tuple[int, int]:
    count = _integer(config, "num_local_experts" if "num_local_experts" in config else "num_experts")
    chosen = _integer(config, "num_experts_per_tok")
    if chosen > count:
        raise BrokenModelError(f"config.json: num_experts_per_tok is {chosen}, but there are {count} experts.")
    return count, chosen


def _with_names_of_qwen(config: _Config) -> _Config:
    """What ERNIE's mixtures call otherwise, and what their config.json need not say."""
    inner = _integer(config, "moe_intermediate_size", 1536)
    return {
        **config,
        "moe_intermediate_size": inner,
        "num_experts": _integer(config, "moe_num_experts", 64),
        "num_experts_per_tok": _integer(config, "moe_k", 6),
        _SHARED: 0 if config.get(_SHARERS) == 0 else inner * _integer(config, _SHARERS, 2),
        _PLAIN: config.get("moe_layer_start_index", 1),
    }


def _integer(config: _Config, name: str, default: int | None = None) -> int:
    value = config.get(name)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST:
        raise BrokenModelError(f"config.json: {name} is {str(value)[:80]}, but it must be a whole number above 0.")
    return value
