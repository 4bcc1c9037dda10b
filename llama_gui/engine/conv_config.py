"""What most layers of LFM2 have in the place of attention: gated convolutions over the last few tokens."""

from dataclasses import dataclass

from llama_gui.engine.fields import Fields
from llama_gui.engine.recurrent_config import ATTENDS, RecurrentConfig, recurrent_layers

CONV = "conv"


@dataclass(frozen=True, slots=True)
class ConvConfig(RecurrentConfig):
    """Short convolutions (LFM2, https://arxiv.org/abs/2511.23404) of `width` channels, that of the network."""

    width: int
    is_gguf: bool = False
    """In the files the convolution is a matrix ``[width, taps]``."""


def read_conv(fields: Fields, layers: int, hidden: int) -> ConvConfig:
    """Raise BrokenModelError or UnsupportedModelError where the fields do not describe what we run."""
    if fields.flag("conv_bias", False):
        raise fields.unsupported("conv_bias")
    attending = fields.values.get("full_attn_idxs")  # what the first files have
    attending = range(layers) if attending is None else attending
    kinds = [ATTENDS if isinstance(attending, list | range) and n in attending else CONV for n in range(layers)]
    taps = fields.integer("conv_L_cache", 3)
    if taps < 2:
        raise fields.wrong("conv_L_cache", "at least 2, the last tokens that are convolved")
    return ConvConfig(recurrent_layers(fields, CONV, layers, kinds), taps, hidden)


def with_lfm2_names(fields: Fields) -> Fields:
    """What LFM2 calls otherwise; and how wide its MLPs are, where a formula says so.

    Raises:
        UnsupportedModelError: weights of experts are scaled.
    """
    values = fields.values
    if values.get("routed_scaling_factor", 1.0) != 1:
        raise fields.unsupported("routed_scaling_factor")
    inner = fields.integer("block_ff_dim" if values.get("block_ff_dim") is not None else "intermediate_size")
    if "num_experts" not in values and fields.flag("block_auto_adjust_ff_dim", True):
        inner = int(2 * inner / 3)
        together = fields.integer("block_multiple_of", 256)
        inner = int(fields.number("block_ffn_dim_multiplier", 1.0) * inner)
        inner = together * ((inner + together - 1) // together)
    renamed = {
        "intermediate_size": inner,
        "rms_norm_eps": fields.number("rms_norm_eps" if "rms_norm_eps" in values else "norm_eps", 1e-5),
        "tie_word_embeddings": values.get("tie_embedding", values.get("tie_word_embeddings", True)),
        "first_k_dense_replace": values.get("num_dense_layers", 0),
    }
    return Fields({**values, **renamed}, fields.file)
