"""What Gemma 4 has besides Gemma 3: layers of two shapes, some that borrow keys and values, an input for each layer."""

from dataclasses import dataclass
from typing import Any

from llama_gui.engine.cache_layout import CacheLayout, CachePart
from llama_gui.engine.expert_config import GEMMA4_NAMES, ExpertConfig, read_experts
from llama_gui.engine.fields import Fields
from llama_gui.errors import UnsupportedModelError

BOTH_WAYS = "use_bidirectional_attention"
"""The field that says of what tokens those before others see them, too: of images, or none."""

BACKBONE = "backbone_hidden_size"
"""The field that only networks have which guess for another one: how wide that is."""


@dataclass(frozen=True, slots=True)
class Gemma4Config:
    """Layers without a window are the full ones; the others are as `NetworkConfig` says.

    `values_are_keys`: full layers have no projection of their own for values, which are the keys as they are before
    norm and rotation. `borrowing_layers`: so many of the last layers have neither keys nor values, but attend to those
    of the last layer of their kind before them; their MLPs are `borrowing_intermediate` wide. `layer_input`: how many
    numbers each layer gets of each token, besides, from a table of `layer_vocabulary` rows; 0: none. Of the rows of an
    image it is what that table has for the token `padding_id`. `sees_images_whole`: in layers with a window all rows of
    an image see each other. `backbone`: it guesses for another network of so many numbers a row, all of whose layers
    borrow its keys and values; 0: it stands for itself. `lent`: where those are, see `lent_by`.
    """

    full_head_dim: int
    full_kv_heads: int
    values_are_keys: bool
    borrowing_layers: int
    borrowing_intermediate: int
    layer_input: int
    layer_vocabulary: int
    padding_id: int
    sees_images_whole: bool
    backbone: int = 0
    lent: CacheLayout | None = None


def read_gemma4(fields: Fields, sliding: frozenset[int], layers: int) -> Gemma4Config:
    """`sliding`: the layers with a window.

    Raises:
        BrokenModelError: the fields contradict each other.
        UnsupportedModelError: they ask for what we do not run.
    """
    _refuse(fields)
    values_are_keys = fields.flag("attention_k_eq_v", False)
    full = _full_layer(fields, sliding, layers)
    kv_heads = fields.integer("num_key_value_heads")
    backbone = fields.integer(BACKBONE, 0, least=0)
    if backbone:
        fields = _of_assistant(fields, layers)
    borrowing = fields.integer("num_kv_shared_layers", 0, least=0)
    kept = range(layers - borrowing)
    kinds = {layer in sliding for layer in range(layers)}
    if borrowing and not backbone and (borrowing >= layers or {layer in sliding for layer in kept} != kinds):
        raise fields.wrong("num_kv_shared_layers", "so few that a layer of each kind keeps its own keys")
    inner, vocabulary = fields.integer("intermediate_size"), fields.integer("vocab_size_per_layer_input", 262144)
    return Gemma4Config(
        full_head_dim=full.integer("head_dim", 512),
        full_kv_heads=full.integer("num_key_value_heads", kv_heads),
        values_are_keys=values_are_keys,
        borrowing_layers=borrowing,
        borrowing_intermediate=2 * inner if fields.flag("use_double_wide_mlp", False) else inner,
        layer_input=fields.integer("hidden_size_per_layer_input", 256, least=0),
        layer_vocabulary=vocabulary,
        padding_id=fields.integer("pad_token_id", 0, least=0, most=vocabulary - 1),
        sees_images_whole=not backbone and fields.values.get(BOTH_WAYS) == "vision",
        backbone=backbone,
    )


def _of_assistant(fields: Fields, layers: int) -> Fields:
    """With all layers borrowing, and nothing that transformers refuses in such a network."""
    allowed = {"hidden_size_per_layer_input": 0, "enable_moe_block": False, "use_double_wide_mlp": False}
    for name, known in allowed.items():
        if fields.values.get(name, known) != known:
            raise fields.wrong(name, f"{known}, as it guesses for another network")
    if fields.integer("num_kv_shared_layers", 0, least=0) not in (0, layers):
        raise fields.wrong("num_kv_shared_layers", f"0 or {layers}, the number of its layers")
    besides = {"num_kv_shared_layers": layers, "vocab_size_per_layer_input": 1, "pad_token_id": 0}
    return Fields({**fields.values, **besides}, fields.file)


def _full_layer(fields: Fields, sliding: frozenset[int], layers: int) -> Fields:
    """What differs in full layers. transformers writes that for each layer; before, two fields said it."""
    all_layers = fields.values.get("per_layer_config")
    if all_layers is None:
        said: dict[str, Any] = {"head_dim": fields.values.get("global_head_dim")}
        if fields.values.get("attention_k_eq_v"):
            said["num_key_value_heads"] = fields.values.get("num_global_key_value_heads")
        return Fields({name: value for name, value in said.items() if value is not None}, fields.file)
    if not isinstance(all_layers, dict) or not all(isinstance(one, dict) for one in all_layers.values()):
        raise fields.wrong("per_layer_config", "an object with one for each layer that differs")
    full = [str(layer) for layer in range(layers) if layer not in sliding]
    said = all_layers.get(full[0], {}) if full else {}
    known = {"head_dim", "num_key_value_heads"}
    if set(all_layers) - set(full) or any(all_layers.get(layer, {}) != said for layer in full) or set(said) - known:
        raise UnsupportedModelError(
            f"{fields.file}: per_layer_config has layers that differ in another way than those of Gemma 4, which is "
            "not supported. Choose another model."
        )
    return Fields({"head_dim": fields.integer("head_dim", 256), **said}, fields.file)


def _refuse(fields: Fields) -> None:
    if fields.values.get(BOTH_WAYS) not in (None, "vision"):
        raise fields.unsupported(BOTH_WAYS)


def read_gemma4_experts(fields: Fields, layers: int) -> ExpertConfig | None:
    """The experts beside each MLP; None: there are none. Raises what `read_experts` raises."""
    if not fields.flag("enable_moe_block", False):
        return None
    named = {"num_experts_per_tok": fields.integer("top_k_experts"), "norm_topk_prob": True}
    return read_experts(Fields({**fields.values, **named}, fields.file), GEMMA4_NAMES, layers=layers)


def layout_of(config: Gemma4Config, window_part: tuple[int, int], sliding: frozenset[int], layers: int) -> CacheLayout:
    """`window_part`: key heads of layers with a window, and how wide each is."""
    if config.lent is not None:
        return config.lent
    # Who lends to all layers is not known then, but for the shape of what is lent: as if the layers had it themselves.
    kept = range(layers if config.backbone else layers - config.borrowing_layers)
    order = [[layer for layer in kept if layer in sliding], [layer for layer in kept if layer not in sliding]]
    sizes = (window_part, (config.full_kv_heads, config.full_head_dim))
    found = [(of, size) for of, size in zip(order, sizes, strict=True) if of]
    places = {layer: (part, of.index(layer)) for part, (of, _) in enumerate(found) for layer in of}
    keepers = [layer if layer in kept else order[layer not in sliding][-1] for layer in range(layers)]
    return CacheLayout(
        tuple(CachePart(len(of), *size) for of, size in found), tuple(places[keeper] for keeper in keepers)
    )
