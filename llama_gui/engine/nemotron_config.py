"""What Nemotron-H calls otherwise than others: config.json and GGUF files speak of halves of layers as layers."""

from collections.abc import Mapping, Sequence
from typing import Any

from llama_gui.engine.expert_config import SHARED_INNER
from llama_gui.engine.fields import Fields
from llama_gui.engine.mamba_config import MAMBA
from llama_gui.engine.recurrent_config import ATTENDS
from llama_gui.engine.split_layers import SplitLayers
from llama_gui.errors import UnsupportedModelError

_LETTERS = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}
_NAMES = {"linear_attention": "mamba", "full_attention": "attention"}
"""As transformers 5 has them."""
_HALVES = tuple(_LETTERS.values())
_PATTERN, _LISTED = "hybrid_override_pattern", ("layers_block_type", "layer_types")
_MOST = 10_000


def read_split(fields: Fields) -> SplitLayers:
    """Which halves make a layer.

    Raises:
        BrokenModelError, UnsupportedModelError: they do not go in pairs, or we do not run what they are.
    """
    halves = _halves(fields)
    if {"mlp", "moe"} <= {*halves}:
        raise UnsupportedModelError(
            f"{fields.file}: some layers are mlp and others moe, which is not supported. Choose another model."
        )
    try:
        split = SplitLayers.of(halves)
    except ValueError as error:
        raise UnsupportedModelError(f"{fields.file}: {error}, which is not supported. Choose another model.") from error
    if not split.attending:
        raise fields.wrong(_name(fields), "such that one of them is attention")
    return split


def _name(fields: Fields) -> str:
    return next((name for name in _LISTED if fields.values.get(name) is not None), _PATTERN)


def _halves(fields: Fields) -> list[str]:
    name = _name(fields)
    value = fields.values.get(name)
    if name == _PATTERN and isinstance(value, str):
        value = [_LETTERS.get(letter, letter) for letter in value]
    elif isinstance(value, list):
        value = [_NAMES.get(half, half) if isinstance(half, str) else half for half in value]
    if not isinstance(value, list) or not 0 < len(value) <= _MOST or not all(half in _HALVES for half in value):
        raise fields.wrong(name, f"a name for each layer, each one of {', '.join(_HALVES)}")
    return value


def with_nemotron_names(fields: Fields, split: SplitLayers) -> Fields:
    """As others call the same.

    Raises:
        UnsupportedModelError: it asks for something that we do not run.
    """
    values, has_experts = fields.values, "moe" in _halves(fields)
    if has_experts:
        for name, known in (("moe_latent_size", None), ("n_group", 1), ("topk_group", 1), ("mlp_bias", False)):
            if values.get(name, known) != known:
                raise fields.unsupported(name)
    layers = range(len(split.firsts))
    renamed = {
        "num_hidden_layers": len(layers),
        "layer_types": [ATTENDS if layer in split.attending else MAMBA for layer in layers],
        "hidden_act": values.get("mlp_hidden_act", "relu2"),
        "rms_norm_eps": values.get("layer_norm_epsilon", values.get("rms_norm_eps", 1e-5)),
        "mamba_n_heads": values.get("mamba_num_heads", 128),
        "mamba_d_head": values.get("mamba_head_dim", 64),
        "mamba_expand": None,
        "mamba_n_groups": values.get("n_groups", values.get("mamba_n_groups", 8)),
        "mamba_d_state": values.get("ssm_state_size", 128),
        "mamba_d_conv": values.get("conv_kernel", values.get("mamba_d_conv", 4)),
        "mamba_conv_bias": values.get("use_conv_bias", values.get("mamba_conv_bias", True)),
        "num_local_experts": values.get("n_routed_experts", 8) if has_experts else 0,
        SHARED_INNER: values.get("moe_shared_expert_intermediate_size", 7688),
        "scoring_func": "sigmoid",
    }
    return Fields({**values, **renamed}, fields.file)


def gguf_halves(kv_heads: Sequence[int], inner: Sequence[int], *, has_experts: bool) -> list[str]:
    """What each layer of a GGUF file is, by how many key heads it has and how wide its feed-forward part is."""
    second = "moe" if has_experts else "mlp"
    return [second if wide else "attention" if heads else "mamba" for heads, wide in zip(kv_heads, inner, strict=True)]


ARCHITECTURES = ("nemotron_h", "nemotron_h_moe")
"""What GGUF calls it, without and with experts."""


_GGUF_KEYS = ("attention.head_count_kv", "feed_forward_length", "block_count", "nextn_predict_layers")


def gguf_split(metadata: Mapping[str, Any]) -> SplitLayers | None:
    """Of a GGUF file; None: its layers are whole, or nobody can tell, of which `read_split` complains."""
    name = metadata.get("general.architecture")
    if not isinstance(name, str) or name not in ARCHITECTURES:
        return None
    has_experts = name == ARCHITECTURES[1]
    heads, inner, blocks, guessing = (metadata.get(f"{name}.{key}", ()) for key in _GGUF_KEYS)
    try:
        layers = int(blocks) - int(guessing or 0)  # the last ones only guess further tokens
        halves = gguf_halves(*(list(map(int, numbers))[:layers] for numbers in (heads, inner)), has_experts=has_experts)
        return SplitLayers.of(halves)
    except (TypeError, ValueError):
        return None
