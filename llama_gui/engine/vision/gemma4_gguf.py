"""A GGUF file with Gemma 4's network for images -> what it is, and what its weights are called in folders."""

import re
from collections.abc import Iterable, Sequence

from llama_gui.engine.fields import Fields
from llama_gui.engine.gguf_file import GgufFile
from llama_gui.engine.vision.gemma4 import Limits
from llama_gui.engine.vision.gemma4_config import (
    MOST_GEMMA4_ROWS,
    Gemma4Images,
    Gemma4UnifiedConfig,
    Gemma4VisionConfig,
)
from llama_gui.engine.vision.gemma4_loading import (
    MOVED,
    NORMS,
    PATCHES,
    PLACES,
    PROJECTION,
    STRETCHED,
    UNIFIED_NORMS,
    UNIFIED_PATCHES,
    UNIFIED_PLACES,
    gemma4_layer,
)

GEMMA4_TOKENS = ("<|image|>", "<|image>", "<image|>")
"""In the place of an image, and around it."""
GEMMA4, UNIFIED = "gemma4v", "gemma4uv"
_MERGE, _THETA = 3, 100.0
"""What its files do not say."""
_STORED_PATCHES, _STORED_PLACES, _STORED_PROJECTION = (
    f"{name}.weight" for name in ("v.patch_embd", "v.position_embd", "mm.input_projection")
)
_WHOLE = {
    _STORED_PATCHES: PATCHES,
    _STORED_PLACES: PLACES,
    _STORED_PROJECTION: PROJECTION,
    "v.std_bias": MOVED,
    "v.std_scale": STRETCHED,
}
_UNIFIED = {
    _STORED_PATCHES: f"{UNIFIED_PATCHES}.weight",
    "v.patch_embd.bias": f"{UNIFIED_PATCHES}.bias",
    _STORED_PLACES: UNIFIED_PLACES,
    _STORED_PROJECTION: PROJECTION,
    **{
        f"v.patch_norm.{number}.{part}": f"{name}.{part}"
        for number, name in enumerate(UNIFIED_NORMS, 1)
        for part in ("weight", "bias")
    },
}
_LINEARS = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_out": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_NORMS = {
    **dict(zip(("ln1", "attn_post_norm", "ln2", "ffn_post_norm"), NORMS, strict=True)),
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
}
_LAYER = re.compile(rf"v\.blk\.(0|[1-9][0-9]{{0,3}})\.([a-z0-9_]+)\.(weight|{'|'.join(Limits._fields)})", re.ASCII)
_OF_SOUND = ("a.", "mm.a.")
"""How names of weights begin that are of what hears."""


def gemma4_vision(
    file: GgufFile, fields: Fields, tokens: Sequence[str], *, is_whole: bool
) -> Gemma4VisionConfig | Gemma4UnifiedConfig:
    """What it is; `fields`: those of the file without their prefix. For `is_whole` see `Gemma4ImageConfig`.

    Raises:
        BrokenModelError: what the file says of it cannot be.
    """
    places, projection = file.shape_of(_STORED_PLACES, 3), file.shape_of(_STORED_PROJECTION, 2)
    image, begin, end = map(tokens.index, GEMMA4_TOKENS)
    images: Gemma4Images = {
        "patch_size": fields.integer("patch_size"),
        "merge": fields.integer("projector.scale_factor", _MERGE),
        "most_rows": MOST_GEMMA4_ROWS,
        "eps": fields.number("attention.layer_norm_epsilon", 1e-6),
        "text_size": projection[0],
        "image_token_id": image,
        "begin": begin,
        "end": end,
        "is_whole": is_whole,
    }
    if _is_unified(file):
        return Gemma4UnifiedConfig(**images, hidden_size=projection[1], places=places[1], is_gguf=True).checked(fields)
    hidden, heads = fields.integer("embedding_length"), fields.integer("attention.head_count")
    return Gemma4VisionConfig(
        **images,
        hidden_size=hidden,
        places=places[1],
        is_gguf=True,
        intermediate_size=fields.integer("feed_forward_length"),
        num_hidden_layers=fields.integer("block_count", most=1000),
        num_attention_heads=heads,
        head_dim=max(hidden // heads, 1),
        rope_theta=_THETA,
        clips=any(name.endswith(Limits._fields) for name in _seen(file)),
        standardizes="v.std_scale" in file.tensors,
    ).checked(fields)


def gemma4_names(file: GgufFile) -> dict[str, str]:
    """What those of its weights are called in folders that are of images."""
    whole = _UNIFIED if _is_unified(file) else _WHOLE
    return {stored: _name(stored) or whole.get(stored, stored) for stored in _seen(file)}


def _is_unified(file: GgufFile) -> bool:
    return "v.patch_norm.1.weight" in file.tensors


def _seen(file: GgufFile) -> Iterable[str]:
    return (name for name in file.tensors if not name.startswith(_OF_SOUND))


def _name(stored: str) -> str | None:
    match = _LAYER.fullmatch(stored)
    if match is None:
        return None
    layer, part, kind = gemma4_layer(int(match[1])), match[2], match[3]
    if part in _NORMS:
        return f"{layer}{_NORMS[part]}.{kind}"
    if part not in _LINEARS:
        return None
    return f"{layer}{_LINEARS[part]}.{'linear.weight' if kind == 'weight' else kind}"
