"""What a weight is called in GGUF files, and in config.json's world: one table, read in both directions."""

import re
from collections.abc import Mapping

_PARTS = {
    "attn_norm": "input_layernorm",
    "attn_qkv": "self_attn.qkv_proj",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_sinks": "self_attn.sinks",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "post_attention_norm": "post_attention_layernorm",  # what gpt-oss calls the next one
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "ffn_gate_inp": "mlp.gate",
    "ffn_gate_exps": "mlp.experts.gate_proj",
    "ffn_up_exps": "mlp.experts.up_proj",
    "ffn_down_exps": "mlp.experts.down_proj",
    "ffn_gate_shexp": "mlp.shared_expert.gate_proj",
    "ffn_up_shexp": "mlp.shared_expert.up_proj",
    "ffn_down_shexp": "mlp.shared_expert.down_proj",
    "ffn_gate_inp_shexp": "mlp.shared_expert_gate",
    "exp_probs_b": "mlp.correction",
    "inp_gate": "per_layer_input_gate",
    "proj": "per_layer_projection",
    "post_norm": "post_per_layer_input_norm",
    "pre_ffw_norm_2": "pre_feedforward_layernorm_2",
    "post_ffw_norm_1": "post_feedforward_layernorm_1",
    "post_ffw_norm_2": "post_feedforward_layernorm_2",
    "ffn_gate_up_exps": "mlp.experts.gate_up_proj",
    "shortconv.conv": "conv.conv",
    "shortconv.in_proj": "conv.in_proj",
    "shortconv.out_proj": "conv.out_proj",
}
_FUSED = {"ffn_up": "mlp.gate_up_proj"}
"""Of files whose layers have no gate by itself."""
_POST_NORMED = {
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
"""Of files whose layers norm what attention and MLP have made, too."""
_DELTAS = {
    "attn_qkv": "linear_attn.in_proj_qkv",
    "attn_gate": "linear_attn.in_proj_z",
    "ssm_alpha": "linear_attn.in_proj_a",
    "ssm_beta": "linear_attn.in_proj_b",
    "ssm_ba": "linear_attn.in_proj_ba",
    "ssm_in": "linear_attn.in_proj_qkvz",
    "ssm_conv1d": "linear_attn.conv1d",
    "ssm_norm": "linear_attn.norm",
    "ssm_out": "linear_attn.out_proj",
}
"""Of files with layers of gated delta nets."""
_MAMBAS = {
    "ssm_in": "mamba.in_proj",
    "ssm_conv1d": "mamba.conv1d",
    "ssm_norm": "mamba.norm",
    "ssm_out": "mamba.out_proj",
}
_MAMBAS_BARE = {"ssm_a": "mamba.slopes", "ssm_d": "mamba.D", "ssm_dt.bias": "mamba.dt_bias"}
"""The same of files with state spaces."""
_BARE = {
    "layer_output_scale.weight": "layer_scalar",
    "ffn_gate_inp.scale": "router.scale",
    "ffn_down_exps.scale": "router.per_expert_scale",
    "ssm_a": "linear_attn.slopes",
    "ssm_dt.bias": "linear_attn.dt_bias",
}
"""The weights that the engine knows by names without ".weight"."""
_WHOLE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "token_embd_norm.weight": "model.norm.weight",  # what LFM2 calls the next one
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
    "nextn.pre_projection.weight": "pre_projection.weight",
    "nextn.post_projection.weight": "post_projection.weight",
    "per_layer_token_embd.weight": "model.embed_tokens_per_layer.weight",
    "per_layer_model_proj.weight": "model.per_layer_model_projection.weight",
    "per_layer_proj_norm.weight": "model.per_layer_projection_norm.weight",
}
_MTP = {
    "nextn.eh_proj.weight": "pre_projection.weight",
    "nextn.enorm.weight": "embedding_norm.weight",
    "nextn.hnorm.weight": "row_norm.weight",
    "nextn.shared_head_norm.weight": "model.norm.weight",
}
"""Of a block that guesses further tokens, what other blocks do not have."""
_STORED_PARTS = {name: stored for parts in (_PARTS, _FUSED, _DELTAS, _MAMBAS) for stored, name in parts.items()}
_STORED_POST_NORMED = _STORED_PARTS | {name: stored for stored, name in _POST_NORMED.items()}
_STORED_WHOLE = {name: stored for stored, name in _WHOLE.items()}
_STORED_BARE = {name: stored for bare in (_BARE, _MAMBAS_BARE) for stored, name in bare.items()}
_OF_BLOCK = re.compile(r"blk\.(0|[1-9][0-9]{0,4})\.(.+)", re.ASCII)
_OF_LAYER = re.compile(r"model\.layers\.([0-9]+)\.(.+)", re.ASCII)

POST_NORM = "post_ffw_norm.weight"
"""How the name of a tensor ends that only such files have."""
CONVOLVES, SKIPS = "ssm_conv1d.weight", "ssm_d"
"""The same of files with gated delta nets or state spaces, and of those with the latter."""

ROPE_DIVISORS = "rope_freqs.weight"
"""No weight: by how much each pair of a head turns slower. Llama 3.1 and its successors have it."""

LONGROPE_DIVISORS = ("rope_factors_long.weight", "rope_factors_short.weight")
"""The same for LongRoPE: in conversations beyond the original context, and within it."""


def engine_name(
    stored: str, *, fused: bool = False, post_normed: bool = False, deltas: bool = False, mambas: bool = False
) -> str:
    """What the engine calls the tensor `stored` of a file; a name that it does not know stays as it is.

    `fused`: in the file gate and up are one tensor. `post_normed`: it has norms behind
    attention and MLP. `deltas`: it has layers of gated delta nets. `mambas`: it has layers of state spaces.
    """
    block = _OF_BLOCK.fullmatch(stored)
    if block is None:
        return _WHOLE.get(stored, stored)
    parts = {
        **_PARTS,
        **(_FUSED if fused else {}),
        **(_POST_NORMED if post_normed else {}),
        **(_DELTAS if deltas else {}),
        **(_MAMBAS if mambas else {}),
    }
    name = _renamed(block[2], parts, _BARE | _MAMBAS_BARE if mambas else _BARE)
    return stored if name is None else f"model.layers.{block[1]}.{name}"


def engine_mtp_name(stored: str) -> str:
    """The same of the block that guesses, which is a network of one layer."""
    block = _OF_BLOCK.fullmatch(stored)
    if block is None:
        return stored
    return _MTP.get(block[2]) or engine_name(f"blk.0.{block[2]}")


def stored_name(name: str, *, post_normed: bool = False) -> str:
    """What a file calls the engine's weight `name`; see `engine_name`."""
    layer = _OF_LAYER.fullmatch(name)
    if layer is None:
        return _STORED_WHOLE.get(name, name)
    stored = _renamed(layer[2], _STORED_POST_NORMED if post_normed else _STORED_PARTS, _STORED_BARE)
    return name if stored is None else f"blk.{layer[1]}.{stored}"


def _renamed(name: str, parts: Mapping[str, str], bare: Mapping[str, str]) -> str | None:
    """A weight of a layer, by what the tables call it, or its part; None: they do not know it."""
    part, _, kind = name.rpartition(".")
    if name in bare or part not in parts or kind not in ("weight", "bias"):
        return bare.get(name)
    return f"{parts[part]}.{kind}"


def block_of(stored: str) -> int | None:
    """Of which block a tensor is; None: of none."""
    block = _OF_BLOCK.fullmatch(stored)
    return None if block is None else int(block[1])
