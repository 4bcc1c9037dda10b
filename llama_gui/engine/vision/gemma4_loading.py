"""A checkpoint -> Gemma 4's network for images."""

import torch
from torch import Tensor

from llama_gui.engine.checkpoint import Shape
from llama_gui.engine.layers import RMSNorm
from llama_gui.engine.linear import Linear
from llama_gui.engine.vision.gemma4 import (
    Gemma4Layer,
    Gemma4Rows,
    Gemma4Tower,
    Gemma4UnifiedTower,
    LimitedLinear,
    Limits,
)
from llama_gui.engine.vision.gemma4_config import Gemma4UnifiedConfig, Gemma4VisionConfig
from llama_gui.engine.vision.siglip import LayerNorm
from llama_gui.engine.vision.weights import PROJECTOR, VisionWeights

_MODEL = "vision_tower."
PATCHES = f"{_MODEL}patch_embedder.input_proj.weight"
PLACES = f"{_MODEL}patch_embedder.position_embedding_table"
MOVED, STRETCHED = f"{_MODEL}std_bias", f"{_MODEL}std_scale"
PROJECTION = f"{PROJECTOR}embedding_projection.weight"
NORMS = ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")
_LIMITS = Limits._fields
UNIFIED_PATCHES, UNIFIED_PLACES = f"{_MODEL}patch_dense", f"{_MODEL}pos_embedding"
UNIFIED_NORMS = (f"{_MODEL}patch_ln1", f"{_MODEL}patch_ln2", f"{_MODEL}pos_norm")
_UNIFIED_EPS = 1e-5


def gemma4_layer(number: int) -> str:
    """How the names of the weights of a layer begin."""
    return f"{_MODEL}encoder.layers.{number}."


def gemma4_shapes(config: Gemma4VisionConfig) -> dict[str, Shape]:
    """The name and shape of every weight that a checkpoint holds of it."""
    hidden, inner, size = config.hidden_size, config.intermediate_size, config.patch_size
    heads = config.num_attention_heads * config.head_dim
    shapes: dict[str, Shape] = {
        PATCHES: (hidden, 3, size, size) if config.is_gguf else (hidden, 3 * size * size),
        PLACES: (2, config.places, hidden),
        PROJECTION: (config.text_size, hidden),
    }
    if config.standardizes:
        shapes |= {MOVED: (hidden,), STRETCHED: (hidden,)}
    for layer in range(config.num_hidden_layers):
        prefix = gemma4_layer(layer)
        linears: dict[str, Shape] = dict.fromkeys(_heads(prefix), (heads, hidden))
        linears |= {f"{prefix}self_attn.o_proj": (hidden, heads), f"{prefix}mlp.down_proj": (hidden, inner)}
        linears |= dict.fromkeys((f"{prefix}mlp.gate_proj", f"{prefix}mlp.up_proj"), (inner, hidden))
        shapes |= {f"{name}.linear.weight": shape for name, shape in linears.items()}
        if config.clips:
            limit = (1,) if config.is_gguf else ()
            shapes |= {f"{name}.{which}": limit for name in linears for which in _LIMITS}
        shapes |= {f"{prefix}{name}.weight": (hidden,) for name in NORMS}
        shapes |= {f"{prefix}self_attn.{name}_norm.weight": (config.head_dim,) for name in "qk"}
    return shapes


def _heads(prefix: str) -> list[str]:
    return [f"{prefix}self_attn.{name}_proj" for name in "qkv"]


def unified_shapes(config: Gemma4UnifiedConfig) -> dict[str, Shape]:
    """As `gemma4_shapes`."""
    hidden, colours, places = config.hidden_size, 3 * config.side**2, config.places
    shapes: dict[str, Shape] = {
        f"{UNIFIED_PATCHES}.weight": (hidden, colours),
        f"{UNIFIED_PATCHES}.bias": (hidden,),
        UNIFIED_PLACES: (2, places, hidden) if config.is_gguf else (places, 2, hidden),
        PROJECTION: (config.text_size, hidden),
    }
    for name, width in zip(UNIFIED_NORMS, (colours, hidden, hidden), strict=True):
        shapes |= {f"{name}.weight": (width,), f"{name}.bias": (width,)}
    return shapes


def load_gemma4(config: Gemma4VisionConfig, weights: VisionWeights) -> Gemma4Tower:
    """Read it, a layer at a time; raises what reading a weight raises."""

    def norm(name: str) -> RMSNorm:
        return RMSNorm(weights.plain(f"{name}.weight"), config.eps)

    def linear(name: str) -> LimitedLinear:
        limits = Limits(*(float(weights.plain(f"{name}.{which}")) for which in _LIMITS)) if config.clips else None
        return LimitedLinear(weights.linear(f"{name}.", ("linear",)), limits)

    def layer(number: int) -> Gemma4Layer:
        prefix = gemma4_layer(number)
        attention_norm, attended_norm, mlp_norm, done_norm = (norm(f"{prefix}{name}") for name in NORMS)
        q, k, v = map(linear, _heads(prefix))
        k_norm = norm(f"{prefix}self_attn.k_norm")
        return Gemma4Layer(
            attention_norm=attention_norm,
            q=q,
            k=k,
            v=v,
            q_norm=norm(f"{prefix}self_attn.q_norm"),
            k_norm=k_norm,
            v_norm=RMSNorm(torch.ones_like(k_norm.weight), config.eps),
            out=linear(f"{prefix}self_attn.o_proj"),
            attended_norm=attended_norm,
            mlp_norm=mlp_norm,
            gate=linear(f"{prefix}mlp.gate_proj"),
            up=linear(f"{prefix}mlp.up_proj"),
            down=linear(f"{prefix}mlp.down_proj"),
            done_norm=done_norm,
        )

    places = weights.plain(PLACES)[:, : config.most_rows * config.merge].clone()  # of which there are many more
    moves = (weights.plain(MOVED), weights.plain(STRETCHED)) if config.standardizes else (None, None)
    return Gemma4Tower(
        config,
        weights.patches(PATCHES),
        places,
        [layer(number) for number in range(config.num_hidden_layers)],
        Gemma4Rows(*_projection(weights, places, config.eps), *moves),
        weights.attention,
        weights.gelu,
    )


def load_unified(config: Gemma4UnifiedConfig, weights: VisionWeights) -> Gemma4UnifiedTower:
    """As `load_gemma4`."""
    of_pixels, of_squares, of_places = (
        LayerNorm(weights.plain(f"{name}.weight"), weights.plain(f"{name}.bias"), _UNIFIED_EPS)
        for name in UNIFIED_NORMS
    )
    stored = weights.plain(UNIFIED_PLACES)
    places = (stored if config.is_gguf else stored.transpose(0, 1))[:, : config.most_rows].clone()
    return Gemma4UnifiedTower(
        config,
        weights.linear("", (UNIFIED_PATCHES,), has_bias=True),
        places,
        (of_pixels, of_squares, of_places),
        Gemma4Rows(*_projection(weights, places, config.eps)),
    )


def _projection(weights: VisionWeights, places: Tensor, eps: float) -> tuple[RMSNorm, Linear]:
    """The norm of rows, which has no weights, and what it is for."""
    return RMSNorm(places.new_ones(places.shape[-1]), eps), weights.linear("", (PROJECTION.removesuffix(".weight"),))
