"""A checkpoint -> SigLIP's network and what makes rows of it for Gemma 3 or Idefics 3."""

from llama_gui.engine.checkpoint import Shape
from llama_gui.engine.layers import RMSNorm
from llama_gui.engine.vision.siglip import LayerNorm, MeanRows, ShuffledRows, SiglipLayer, SiglipTower
from llama_gui.engine.vision.siglip_config import Gemma3VisionConfig, Idefics3Config
from llama_gui.engine.vision.weights import PROJECTOR, VisionWeights

_MODEL = "vision_tower."
_PATCHES, _PLACES = f"{_MODEL}embeddings.patch_embedding", f"{_MODEL}embeddings.position_embedding.weight"
_NORM = f"{_MODEL}post_layernorm"
_ROW_NORM, _PROJECTION = f"{PROJECTOR}mm_soft_emb_norm.weight", f"{PROJECTOR}mm_input_projection_weight"
_SHUFFLED = f"{PROJECTOR}modality_projection.proj.weight"
_QKV = ("q_proj", "k_proj", "v_proj")


def siglip_shapes(config: Gemma3VisionConfig | Idefics3Config) -> dict[str, Shape]:
    """The name and shape of every weight that a checkpoint holds of it."""
    hidden, inner, size = config.hidden_size, config.intermediate_size, config.patch_size
    matrices: dict[str, Shape] = {_PATCHES: (hidden, 3, size, size)}
    norms = [_NORM]
    for layer in range(config.num_hidden_layers):
        prefix = siglip_layer(layer)
        matrices |= {f"{prefix}self_attn.{name}": (hidden, hidden) for name in (*_QKV, "out_proj")}
        matrices |= {f"{prefix}mlp.fc1": (inner, hidden), f"{prefix}mlp.fc2": (hidden, inner)}
        norms += [f"{prefix}layer_norm1", f"{prefix}layer_norm2"]
    shapes: dict[str, Shape] = {f"{name}.weight": shape for name, shape in matrices.items()}
    shapes |= {f"{name}.bias": shape[:1] for name, shape in matrices.items()}
    shapes |= {f"{name}.{part}": (hidden,) for name in norms for part in ("weight", "bias")}
    shapes[_PLACES] = (config.patches_per_side**2, hidden)
    if isinstance(config, Idefics3Config):
        return shapes | {_SHUFFLED: (config.text_size, hidden * config.merge**2)}
    return shapes | {_ROW_NORM: (hidden,), _PROJECTION: (hidden, config.text_size)}


def siglip_layer(number: int) -> str:
    """How the names of the weights of a layer begin."""
    return f"{_MODEL}encoder.layers.{number}."


def load_siglip(config: Gemma3VisionConfig | Idefics3Config, weights: VisionWeights) -> SiglipTower:
    """Read it, a layer at a time; raises what reading a weight raises."""

    def norm(name: str) -> LayerNorm:
        return LayerNorm(weights.plain(f"{name}.weight"), weights.plain(f"{name}.bias"), config.eps)

    def layer(number: int) -> SiglipLayer:
        prefix = siglip_layer(number)
        return SiglipLayer(
            norm(f"{prefix}layer_norm1"),
            weights.linear(f"{prefix}self_attn.", _QKV, has_bias=True),
            weights.linear(f"{prefix}self_attn.", ("out_proj",), has_bias=True),
            norm(f"{prefix}layer_norm2"),
            weights.linear(f"{prefix}mlp.", ("fc1",), has_bias=True),
            weights.linear(f"{prefix}mlp.", ("fc2",), has_bias=True),
        )

    make_rows = (
        ShuffledRows(config.merge, weights.linear("", (_SHUFFLED.removesuffix(".weight"),)))
        if isinstance(config, Idefics3Config)
        else MeanRows(
            config.rows_per_side,
            RMSNorm(weights.plain(_ROW_NORM) + weights.row_norm_shift, config.eps),
            weights.turned(_PROJECTION),
        )
    )
    return SiglipTower(
        config,
        weights.patches(f"{_PATCHES}.weight", f"{_PATCHES}.bias"),
        weights.plain(_PLACES),
        [layer(number) for number in range(config.num_hidden_layers)],
        norm(_NORM),
        make_rows,
        weights.attention,
        weights.gelu,
    )
