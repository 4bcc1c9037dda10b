"""What a weight is called in GGUF files, and in config.json's world: one table, read in both directions."""

import re

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
    "layer_output_scale": "layer_scalar",
}
_FUSED = {"ffn_up": "mlp.gate_up_proj"}
"""Of files whose layers have no gate by itself."""
_POST_NORMED = {
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
"""Of files whose layers norm what attention and MLP have made, too."""
_WHOLE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
    "per_layer_token_embd.weight": "model.embed_tokens_per_layer.weight",
    "per_layer_model_proj.weight": "model.per_layer_model_projection.weight",
    "per_layer_proj_norm.weight": "model.per_layer_projection_norm.weight",
}
_SCALAR = "layer_scalar"
"""The only weight that the engine knows by a name without ".weight"."""
_STORED_PARTS = {name: stored for parts in (_PARTS, _FUSED) for stored, name in parts.items()}
_STORED_POST_NORMED = _STORED_PARTS | {name: stored for stored, name in _POST_NORMED.items()}
_STORED_WHOLE = {name: stored for stored, name in _WHOLE.items()}
_STORED = re.compile(r"blk\.(0|[1-9][0-9]{0,4})\.([a-z_]+)\.(weight|bias)", re.ASCII)
_OURS = re.compile(r"model\.layers\.([0-9]+)\.([a-z_.]+)\.(weight|bias)", re.ASCII)

POST_NORM = "post_ffw_norm.weight"
"""How the name of a tensor ends that only such files have."""

ROPE_DIVISORS = "rope_freqs.weight"
"""No weight: by how much each pair of a head turns slower. Llama 3.1 and its successors have it."""

LONGROPE_DIVISORS = ("rope_factors_long.weight", "rope_factors_short.weight")
"""The same for LongRoPE: in conversations beyond the original context, and within it."""


def engine_name(stored: str, *, fused: bool = False, post_normed: bool = False) -> str:
    """What the engine calls the tensor `stored` of a file; a name that it does not know stays as it is.

    `fused`: in the file gate and up are one tensor. `post_normed`: it has norms behind
    attention and MLP.
    """
    match = _STORED.fullmatch(stored)
    parts = {**_PARTS, **(_FUSED if fused else {}), **(_POST_NORMED if post_normed else {})}
    if match and match[2] in parts:
        name = f"model.layers.{match[1]}.{parts[match[2]]}"
        return name if name.endswith(_SCALAR) else f"{name}.{match[3]}"
    return _WHOLE.get(stored, stored)


def stored_name(name: str, *, post_normed: bool = False) -> str:
    """What a file calls the engine's weight `name`; see `engine_name`."""
    match = _OURS.fullmatch(f"{name}.weight" if name.endswith(_SCALAR) else name)
    parts = _STORED_POST_NORMED if post_normed else _STORED_PARTS
    if match and match[2] in parts:
        return f"blk.{match[1]}.{parts[match[2]]}.{match[3]}"
    return _STORED_WHOLE.get(name, name)
