"""What the Granite models call otherwise than others, or have besides."""

import math

from llama_gui.engine.expert_config import SHARED_INNER
from llama_gui.engine.fields import Fields, shortest
from llama_gui.engine.mamba_config import MAMBA
from llama_gui.engine.recurrent_config import ATTENDS

_KINDS = {"attention": ATTENDS, "linear_attention": MAMBA}
"""Of layers, by the names that transformers 4 and 5 write beside ours."""
_EXPERTS = "num_local_experts"


def with_multipliers(fields: Fields) -> Fields:
    """With Granite's multipliers, which MiniCPM has by other names and in part for a network of 1 layer.

    GGUF files have Granite's, in float32; both must be the same model. See https://arxiv.org/abs/2404.06395, table 7.
    """
    if "residual_multiplier" in fields.values:
        return fields
    hidden, layers = fields.integer("hidden_size"), fields.integer("num_hidden_layers")
    width = fields.integer("head_dim", max(hidden // fields.integer("num_attention_heads"), 1))
    multipliers = {
        "embedding_multiplier": fields.number("scale_emb", 1.0),
        "residual_multiplier": shortest(fields.number("scale_depth", 1.0) / math.sqrt(layers)),
        "attention_multiplier": shortest(width**-0.5),
        "logits_scaling": shortest(hidden / fields.number("dim_model_base", 1.0)),
    }
    return Fields({**fields.values, **multipliers}, fields.file)


def with_granite4_names(fields: Fields) -> Fields:
    """The kinds of layers by our names. Its shared expert is the MLP, where there are no others."""
    kinds, values = fields.values.get("layer_types"), dict(fields.values)
    if isinstance(kinds, list):
        values["layer_types"] = [_KINDS.get(kind, kind) if isinstance(kind, str) else kind for kind in kinds]
    inner = fields.integer("shared_intermediate_size")
    values["intermediate_size" if is_dense(fields) else SHARED_INNER] = inner
    return Fields(values, fields.file)


def is_dense(fields: Fields) -> bool:
    """Whether a family that may have experts has none here."""
    return fields.values.get(_EXPERTS) == 0 and not isinstance(fields.values[_EXPERTS], bool)


def knows_positions(fields: Fields) -> bool:
    """Whether heads are rotated."""
    return fields.values.get("position_embedding_type") == "rope"
