"""A checkpoint -> Pixtral's network."""

from llama_gui.engine.checkpoint import Shape
from llama_gui.engine.layers import RMSNorm
from llama_gui.engine.vision.config import PixtralConfig
from llama_gui.engine.vision.pixtral import PixtralLayer, PixtralTower, Projector
from llama_gui.engine.vision.weights import PROJECTOR, VisionWeights

_EPS = 1e-5
_PATCHES, _NORM = "vision_tower.patch_conv.weight", "vision_tower.ln_pre.weight"
_QKV, _GATE_UP = ("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj")


def pixtral_shapes(config: PixtralConfig) -> dict[str, Shape]:
    """The name and shape of every weight that a checkpoint holds of it."""
    hidden, inner, text = config.hidden_size, config.intermediate_size, config.text_size
    shapes: dict[str, Shape] = {_PATCHES: (hidden, 3, config.patch_size, config.patch_size), _NORM: (hidden,)}
    for layer in range(config.num_hidden_layers):
        prefix = pixtral_layer(layer)
        shapes |= {f"{prefix}{name}.weight": (hidden,) for name in ("attention_norm", "ffn_norm")}
        shapes |= {f"{prefix}attention.{name}.weight": (hidden, hidden) for name in (*_QKV, "o_proj")}
        shapes |= {f"{prefix}feed_forward.{name}.weight": (inner, hidden) for name in _GATE_UP}
        shapes[f"{prefix}feed_forward.down_proj.weight"] = (hidden, inner)
    shapes[f"{PROJECTOR}norm.weight"] = (hidden,)
    shapes[f"{PROJECTOR}patch_merger.merging_layer.weight"] = (hidden, hidden * config.merge**2)
    for name, width in (("linear_1", hidden), ("linear_2", text)):
        shapes[f"{PROJECTOR}{name}.weight"] = (text, width)
        if config.projector_bias:
            shapes[f"{PROJECTOR}{name}.bias"] = (text,)
    return shapes


def pixtral_layer(number: int) -> str:
    """How the names of the weights of a layer begin."""
    return f"vision_tower.transformer.layers.{number}."


def load_pixtral(config: PixtralConfig, weights: VisionWeights) -> PixtralTower:
    """Read it, a layer at a time; raises what reading a weight raises."""

    def layer(number: int) -> PixtralLayer:
        prefix = pixtral_layer(number)
        return PixtralLayer(
            RMSNorm(weights.plain(f"{prefix}attention_norm.weight"), _EPS),
            weights.linear(f"{prefix}attention.", _QKV),
            weights.linear(f"{prefix}attention.", ("o_proj",)),
            RMSNorm(weights.plain(f"{prefix}ffn_norm.weight"), _EPS),
            weights.linear(f"{prefix}feed_forward.", _GATE_UP),
            weights.linear(f"{prefix}feed_forward.", ("down_proj",)),
        )

    has_bias = config.projector_bias
    projector = Projector(
        RMSNorm(weights.plain(f"{PROJECTOR}norm.weight"), config.text_eps),
        weights.linear(f"{PROJECTOR}patch_merger.", ("merging_layer",)),
        weights.linear(PROJECTOR, ("linear_1",), has_bias=has_bias),
        weights.linear(PROJECTOR, ("linear_2",), has_bias=has_bias),
    )
    return PixtralTower(
        config,
        weights.patches(_PATCHES),
        RMSNorm(weights.plain(_NORM), _EPS),
        [layer(number) for number in range(config.num_hidden_layers)],
        projector,
        weights.attention,
    )
