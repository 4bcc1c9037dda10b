"""The fields of a GGUF file of Gemma 4, whose layers are of two shapes -> those of one shape, and what is besides.

Names as llama.cpp's converter writes them: what ends in ``_swa`` is of layers with a window.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llama_gui.engine.fields import AGAIN, Fields
from llama_gui.engine.gemma4_config import BACKBONE
from llama_gui.engine.gguf_file import StoredTensor
from llama_gui.engine.gguf_names import ROPE_DIVISORS
from llama_gui.engine.gguf_weights import read_numbers
from llama_gui.engine.weight_shapes import LAYER_TABLE
from llama_gui.errors import BrokenModelError, UnsupportedModelError

ARCHITECTURES = ("gemma4", "gemma4-assistant")
"""Those of files that are read so: models, and networks that guess for them."""
_WINDOWED = ("attention.key_length", "attention.value_length", "rope.dimension_count")
_STILL = 1e10
"""By what and more a pair of a head is slowed down that shall not turn at all; files have 1e30."""


@dataclass(frozen=True, slots=True)
class Gemma4Fields:
    """`windowed`: the fields as if all layers were as those with a window. `besides`: the rest, as in config.json."""

    windowed: Mapping[str, Any]
    besides: Mapping[str, Any]


def read_gemma4_fields(fields: Fields, prefix: str, tensors: Mapping[str, StoredTensor]) -> Gemma4Fields:
    """`prefix`: how names of fields begin. `tensors`: those of the file, by the engine's names.

    Raises:
        BrokenModelError: the fields are damaged, or contradict each other.
        UnsupportedModelError: they ask for what we do not run.
    """
    _refuse(fields, prefix)
    pattern = fields.values.get(prefix + "attention.sliding_window_pattern")
    if not isinstance(pattern, np.ndarray) or not len(pattern):
        raise fields.wrong(prefix + "attention.sliding_window_pattern", "a list of one flag for each layer")
    slides = [bool(flag) for flag in pattern]
    layers = range(len(slides))
    full = [layer for layer in layers if not slides[layer]]
    borrowing = fields.integer(prefix + "attention.shared_kv_layers", 0, least=0)
    kept = range(max(len(slides) - borrowing, 0))
    head_dim = _head_dim(fields, prefix)
    kv_heads = _by_kind(fields, prefix, "attention.head_count_kv", slides)
    inner = _by_kind(fields, prefix, "feed_forward_length", [layer in kept for layer in layers])
    if inner[False] not in (inner[True], 2 * inner[True]):
        raise _uneven(fields, prefix, "feed_forward_length")
    others = {name: fields.values.get(f"{prefix}{name}_swa") for name in _WINDOWED}
    usual: dict[str, Any] = {
        **{name: value for name, value in others.items() if value is not None},
        "attention.head_count_kv": kv_heads[True],
        "feed_forward_length": inner[True],
    }
    table = tensors.get(LAYER_TABLE)
    own = {"vocab_size_per_layer_input": table.shape[0]} if table is not None else {}
    width = fields.integer(prefix + "embedding_length_per_layer_input", 0, least=0)
    keeper = next((layer for layer in full if layer in kept), None)
    has_values = keeper is None or f"model.layers.{keeper}.self_attn.v_proj.weight" in tensors
    besides = {
        "per_layer_config": {
            str(layer): {"head_dim": head_dim, "num_key_value_heads": kv_heads[False]} for layer in full
        },
        "attention_k_eq_v": not has_values,
        "num_kv_shared_layers": borrowing,
        "use_double_wide_mlp": inner[False] != inner[True],
        "hidden_size_per_layer_input": width,
        "pad_token_id": fields.integer("tokenizer.ggml.padding_token_id", 0, least=0),
        # Files do not say; those that are so small see images as they see texts (llama.cpp knows it by their width).
        "use_bidirectional_attention": None if width else "vision",
        **own,
        **_assistant(fields, prefix),
        **_experts(fields, prefix),
        "rope_parameters": _ropes(fields, prefix, tensors, head_dim),
    }
    return Gemma4Fields({**fields.values, **{prefix + name: value for name, value in usual.items()}}, besides)


def _refuse(fields: Fields, prefix: str) -> None:
    if fields.values.get(prefix + "rope.scaling.type") not in (None, "none"):
        raise UnsupportedModelError(f"{fields.file}: {prefix}rope.scaling.type is not supported. Choose another model.")


def _assistant(fields: Fields, prefix: str) -> dict[str, Any]:
    """How wide the network is that it guesses for, if it guesses for another."""
    return {BACKBONE: fields.integer(prefix + "embedding_length_out")} if prefix == f"{ARCHITECTURES[1]}." else {}


def _experts(fields: Fields, prefix: str) -> dict[str, Any]:
    """How many there are beside each MLP, if there are any."""
    if not fields.integer(prefix + "expert_count", 0, least=0):
        return {}
    names = {"num_experts": "count", "top_k_experts": "used_count", "moe_intermediate_size": "feed_forward_length"}
    read = {name: fields.integer(f"{prefix}expert_{key}") for name, key in names.items()}
    return {"enable_moe_block": True, **read}


def _head_dim(fields: Fields, prefix: str) -> int:
    width = fields.integer(prefix + "attention.key_length")
    for name in ("attention.value_length", "rope.dimension_count"):
        if fields.integer(prefix + name, width) != width:
            raise fields.wrong(prefix + name, f"{width}, as wide as its keys are")
    return width


def _by_kind(fields: Fields, prefix: str, key: str, kinds: list[bool]) -> dict[bool, int]:
    """The number of layers of either kind; a list has one for each layer."""
    value = fields.values.get(prefix + key)
    if not isinstance(value, np.ndarray):
        return dict.fromkeys((True, False), fields.integer(prefix + key))
    if len(value) != len(kinds) or value.dtype.kind not in "iu" or (value < 1).any():
        raise fields.wrong(prefix + key, f"a list of {len(kinds)} whole numbers above 0, one for each layer")
    found = {kind: {int(n) for n, one in zip(value, kinds, strict=True) if one == kind} for kind in (True, False)}
    if any(len(numbers) > 1 for numbers in found.values()):
        raise _uneven(fields, prefix, key)
    either = min(found[True] | found[False])
    return {kind: next(iter(numbers), either) for kind, numbers in found.items()}


def _uneven(fields: Fields, prefix: str, key: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"{fields.file}: {prefix}{key} is not the same for all layers of a kind, which is not supported. "
        "Choose another model."
    )


def _ropes(fields: Fields, prefix: str, tensors: Mapping[str, StoredTensor], head_dim: int) -> dict[str, Any]:
    """Of heads in layers that see all the first pairs are turned; the file has divisors which hold the others still."""
    tensor = tensors.get(ROPE_DIVISORS)
    divisors = [] if tensor is None else read_numbers(tensor)
    turned = next((at for at, divisor in enumerate(divisors) if divisor != 1), len(divisors))
    if len(divisors) != head_dim // 2 or not turned or any(divisor < _STILL for divisor in divisors[turned:]):
        raise BrokenModelError(
            f"{fields.file}: {ROPE_DIVISORS} does not say which of the {head_dim // 2} pairs of a head are turned. "
            f"{AGAIN}"
        )
    theta, local = (
        fields.number(prefix + name, 10000.0, least=2.0) for name in ("rope.freq_base", "rope.freq_base_swa")
    )
    share = 1.0 if turned == len(divisors) else math.nextafter(2 * turned / head_dim, 1)
    return {
        "full_attention": {"rope_type": "proportional", "rope_theta": theta, "partial_rotary_factor": share},
        "sliding_attention": {"rope_theta": local},
    }
