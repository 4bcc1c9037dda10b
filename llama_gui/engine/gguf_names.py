"""What a weight is called in GGUF files, and in config.json's world: one table, read in both directions."""

import re

_PARTS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_FUSED = {"attn_qkv": "self_attn.qkv_proj", "ffn_up": "mlp.gate_up_proj"}
"""Of files whose layers have no gate by itself."""
_WHOLE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_STORED_PARTS = {name: stored for parts in (_PARTS, _FUSED) for stored, name in parts.items()}
_STORED_WHOLE = {name: stored for stored, name in _WHOLE.items()}
_STORED = re.compile(r"blk\.(0|[1-9][0-9]{0,4})\.([a-z_]+)\.(weight|bias)", re.ASCII)
_OURS = re.compile(r"model\.layers\.([0-9]+)\.([a-z_.]+)\.(weight|bias)", re.ASCII)

ROPE_DIVISORS = "rope_freqs.weight"
"""No weight: by how much each pair of a head turns slower. Llama 3.1 and its successors have it."""

LONGROPE_DIVISORS = ("rope_factors_long.weight", "rope_factors_short.weight")
"""The same for LongRoPE: in conversations beyond the original context, and within it."""


def engine_name(stored: str, *, fused: bool = False) -> str:
    """What the engine calls the tensor `stored` of a file; a name that it does not know stays as it is.

    `fused`: in the file queries, keys and values are one tensor, and gate and up.
    """
    match = _STORED.fullmatch(stored)
    parts = {**_PARTS, **_FUSED} if fused else _PARTS
    if match and match[2] in parts:
        return f"model.layers.{match[1]}.{parts[match[2]]}.{match[3]}"
    return _WHOLE.get(stored, stored)


def stored_name(name: str) -> str:
    """What a file calls the engine's weight `name`."""
    match = _OURS.fullmatch(name)
    if match and match[2] in _STORED_PARTS:
        return f"blk.{match[1]}.{_STORED_PARTS[match[2]]}.{match[3]}"
    return _STORED_WHOLE.get(name, name)
