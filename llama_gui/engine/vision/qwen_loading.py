"""A checkpoint -> one of Qwen's networks for images."""

from llama_gui.engine.checkpoint import Shape
from llama_gui.engine.layers import RMSNorm
from llama_gui.engine.vision.qwen import Norm, QwenLayer, QwenMerger, QwenTower
from llama_gui.engine.vision.qwen_config import QwenKind, QwenVisionConfig
from llama_gui.engine.vision.siglip import LayerNorm
from llama_gui.engine.vision.weights import VisionWeights

_EPS = 1e-6
_PICTURES = 2
"""A patch is of so many pictures of a film; all of them are the same in an image."""
_PATCHES, _PLACES = "visual.patch_embed.proj.weight", "visual.pos_embed.weight"
_PATCHES_BIAS, _SECOND_PATCHES = "visual.patch_embed.proj.bias", "visual.patch_embed.proj.weight.1"
MLPS: dict[QwenKind, tuple[tuple[str, ...], str]] = {
    "qwen2": (("fc1",), "fc2"),
    "qwen2.5": (("gate_proj", "up_proj"), "down_proj"),
    "qwen3": (("linear_fc1",), "linear_fc2"),
}
"""What goes into the activation, and what comes behind it."""
MERGERS: dict[QwenKind, tuple[str, str, str]] = {
    "qwen2": ("ln_q", "mlp.0", "mlp.2"),
    "qwen2.5": ("ln_q", "mlp.0", "mlp.2"),
    "qwen3": ("norm", "linear_fc1", "linear_fc2"),
}


def qwen_shapes(config: QwenVisionConfig) -> dict[str, Shape]:
    """The name and shape of every weight that a checkpoint holds of it."""
    hidden, inner, size = config.hidden_size, config.intermediate_size, config.patch_size
    names, outer = MLPS[config.kind]
    matrices: dict[str, Shape] = {}
    norms: dict[str, int] = {}
    for layer in range(config.num_hidden_layers):
        prefix = qwen_layer(layer)
        heads = _heads(config)
        matrices |= {f"{prefix}attn.{name}": (3 // len(heads) * hidden, hidden) for name in heads}
        matrices[f"{prefix}attn.proj"] = (hidden, hidden)
        matrices |= {f"{prefix}mlp.{name}": (inner, hidden) for name in names}
        matrices[f"{prefix}mlp.{outer}"] = (hidden, inner)
        norms |= {f"{prefix}norm1": hidden, f"{prefix}norm2": hidden}
    row = hidden * config.merge**2
    for number, prefix in enumerate(_merger_prefixes(config)):
        norm, first, second = MERGERS[config.kind]
        matrices |= {f"{prefix}{first}": (row, row), f"{prefix}{second}": (config.text_size, row)}
        norms[f"{prefix}{norm}"] = row if number else hidden
    if config.parts_pictures:
        shapes: dict[str, Shape] = dict.fromkeys((_PATCHES, _SECOND_PATCHES), (hidden, 3, size, size))
    else:
        shapes = {_PATCHES: (hidden, 3, _PICTURES, size, size)}
    shapes |= {f"{name}.weight": shape for name, shape in matrices.items()}
    shapes |= {f"{name}.bias": shape[:1] for name, shape in matrices.items()}
    shapes |= {f"{name}.weight": (width,) for name, width in norms.items()}
    if config.kind != "qwen2.5":
        shapes |= {f"{name}.bias": (width,) for name, width in norms.items()}
    if config.kind == "qwen3":
        shapes |= {_PATCHES_BIAS: (hidden,), _PLACES: (config.places_per_side**2, hidden)}
    return shapes


def qwen_layer(number: int) -> str:
    """How the names of the weights of a layer begin."""
    return f"visual.blocks.{number}."


def _heads(config: QwenVisionConfig) -> tuple[str, ...]:
    return ("q", "k", "v") if config.parts_heads else ("qkv",)


def _merger_prefixes(config: QwenVisionConfig) -> list[str]:
    return ["visual.merger.", *(f"visual.deepstack_merger_list.{number}." for number in range(len(config.deep_layers)))]


def load_qwen(config: QwenVisionConfig, weights: VisionWeights) -> QwenTower:
    """Read it, a layer at a time; raises what reading a weight raises."""
    inner, outer = MLPS[config.kind]
    merger_norm, first, second = MERGERS[config.kind]

    def norm(name: str) -> Norm:
        weight = weights.plain(f"{name}.weight")
        return (
            RMSNorm(weight, _EPS)
            if config.kind == "qwen2.5"
            else LayerNorm(weight, weights.plain(f"{name}.bias"), _EPS)
        )

    def layer(number: int) -> QwenLayer:
        prefix = qwen_layer(number)
        return QwenLayer(
            norm(f"{prefix}norm1"),
            weights.linear(f"{prefix}attn.", _heads(config), has_bias=True),
            weights.linear(f"{prefix}attn.", ("proj",), has_bias=True),
            norm(f"{prefix}norm2"),
            weights.linear(f"{prefix}mlp.", inner, has_bias=True),
            weights.linear(f"{prefix}mlp.", (outer,), has_bias=True),
        )

    mergers = [
        QwenMerger(
            norm(f"{prefix}{merger_norm}"),
            weights.linear(prefix, (first,), has_bias=True),
            weights.linear(prefix, (second,), has_bias=True),
            norms_rows=number > 0,
        )
        for number, prefix in enumerate(_merger_prefixes(config))
    ]
    return QwenTower(
        config,
        weights.patches(
            _PATCHES,
            _PATCHES_BIAS if config.kind == "qwen3" else "",
            *([_SECOND_PATCHES] if config.parts_pictures else []),
        ),
        weights.plain(_PLACES) if config.kind == "qwen3" else None,
        [layer(number) for number in range(config.num_hidden_layers)],
        mergers,
        weights.attention,
        weights.gelu,
    )
