"""What config.json and the processor's file of a folder say of the network that reads images."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from llama_gui.engine.fields import Fields, read_json, shown
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.vision.config import Activation, PixtralConfig, VisionConfig
from llama_gui.engine.vision.gemma4_config import (
    MOST_GEMMA4_ROWS,
    Gemma4Images,
    Gemma4UnifiedConfig,
    Gemma4VisionConfig,
)
from llama_gui.engine.vision.qwen_config import QwenKind, QwenVisionConfig
from llama_gui.engine.vision.siglip_config import Gemma3VisionConfig, Idefics3Config, Siglip
from llama_gui.errors import UnsupportedModelError

_PROCESSOR_FILES = ("processor_config.json", "preprocessor_config.json")
_MOST_LAYERS = 1000
_MEAN, _DEVIATION = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
"""Of red, green and blue from 0 to 1: CLIP's (Radford et al. 2021), with which Pixtral's images are normed, too."""
_HALVES = (0.5, 0.5, 0.5)


_QWEN_KINDS: dict[str, QwenKind] = {
    "qwen2_vl": "qwen2",
    "qwen2_5_vl": "qwen2.5",
    "qwen3_vl": "qwen3",
    "qwen3_5": "qwen3",
    "qwen3_5_moe": "qwen3",
}
_SHALLOW = ("qwen3_5", "qwen3_5_moe")
"""Those whose text networks get nothing of an image but its rows."""
_QWEN_ACTIVATIONS: dict[QwenKind, str] = {"qwen2": "quick_gelu", "qwen2.5": "silu", "qwen3": "gelu_pytorch_tanh"}


class _Sizes(NamedTuple):
    """What transformers takes where config.json does not say."""

    hidden: int
    layers: int
    heads: int
    patch: int


_GEMMA_SIZES, _IDEFICS_SIZES = _Sizes(768, 12, 12, 16), _Sizes(1152, 12, 16, 32)


def read_vision(folder: Path, text: NetworkConfig) -> VisionConfig | None:
    """The network for images of the model in `folder`; None: it has none, or one that we do not run.

    `text`: its network for text.

    Raises:
        BrokenModelError: what the files say of it cannot be.
        UnsupportedModelError: it has an option that we do not know.
    """
    file = folder / "config.json"
    values = read_json(file)
    inner = values.get("vision_config")
    if not isinstance(inner, dict):
        return None
    parts = Fields(_said(values), file), Fields(_said(inner), file), text, _processor(folder)
    match values.get("model_type"), inner.get("model_type"):
        case _, "pixtral":
            return _pixtral(*parts)
        case _, "siglip_vision_model":
            return _gemma3(*parts)
        case str(kind), _ if kind in _QWEN_KINDS:
            return _qwen(_QWEN_KINDS[kind], *parts)
        case "gemma4", "gemma4_vision":
            return _gemma4(*parts)
        case "gemma4_unified", "gemma4_unified_vision":
            return _gemma4_unified(*parts)
        case "idefics3" | "smolvlm", _:  # the name of the inner part has changed over time
            return _idefics3(*parts)
        case _:
            return None


def _pixtral(outer: Fields, vision: Fields, text: NetworkConfig, processor: Fields) -> PixtralConfig:
    _refuse(outer, "vision_feature_layer", (-1, [-1]))
    _refuse(outer, "projector_hidden_act", ("gelu",))
    _refuse(vision, "num_channels", (3,))
    heads, hidden = vision.integer("num_attention_heads", 16), vision.integer("hidden_size", 1024)
    return PixtralConfig(
        hidden_size=hidden,
        intermediate_size=vision.integer("intermediate_size", 4096),
        num_hidden_layers=vision.integer("num_hidden_layers", 24, most=_MOST_LAYERS),
        num_attention_heads=heads,
        head_dim=vision.integer("head_dim", max(hidden // heads, 1)),
        patch_size=vision.integer("patch_size", 16),
        activation=_activation(vision),
        rope_theta=_rope_theta(vision),
        merge=outer.integer("spatial_merge_size", 2),
        text_size=text.hidden_size,
        text_eps=text.rms_norm_eps,
        projector_bias=outer.flag("multimodal_projector_bias", False),
        longest_edge=_size(processor, "longest_edge", vision.integer("image_size", 1024)),
        mean=_colours(processor, "image_mean", _MEAN),
        deviation=_colours(processor, "image_std", _DEVIATION),
        image_token_id=_token(outer, "image_token", 10),
    ).checked(vision)


def _gemma3(outer: Fields, vision: Fields, text: NetworkConfig, processor: Fields) -> Gemma3VisionConfig:
    rows = outer.integer("mm_tokens_per_image", 256)
    if text.sliding_window is not None and text.sliding_window < rows:
        raise UnsupportedModelError(
            f"{outer.file}: images of {rows} tokens do not fit into a window of {text.sliding_window}. "
            "Choose another model."
        )
    return Gemma3VisionConfig(
        **_siglip(vision, processor, _GEMMA_SIZES),
        text_size=text.hidden_size,
        rows_per_side=math.isqrt(rows),
        image_token_id=_token(outer, "image_token", 262_144),
        begin=_token(outer, "boi_token", 255_999),
        end=_token(outer, "eoi_token", 256_000),
    ).checked(vision)


def _gemma4(outer: Fields, vision: Fields, text: NetworkConfig, processor: Fields) -> Gemma4VisionConfig:
    _refuse(vision, "hidden_activation", ("gelu_pytorch_tanh",))
    _refuse(vision, "attention_bias", (False,))
    heads = vision.integer("num_attention_heads", 12)
    _refuse(vision, "num_key_value_heads", (heads,))
    return Gemma4VisionConfig(
        **_gemma4_images(outer, vision, text, processor),
        hidden_size=vision.integer("hidden_size", 768),
        places=vision.integer("position_embedding_size", 10240),
        intermediate_size=vision.integer("intermediate_size", 3072),
        num_hidden_layers=vision.integer("num_hidden_layers", 16, most=_MOST_LAYERS),
        num_attention_heads=heads,
        head_dim=vision.integer("head_dim", 64),
        rope_theta=_rope_theta(vision, 100.0),
        clips=vision.flag("use_clipped_linears", False),
        standardizes=vision.flag("standardize", False),
    ).checked(vision)


def _gemma4_unified(outer: Fields, vision: Fields, text: NetworkConfig, processor: Fields) -> Gemma4UnifiedConfig:
    return Gemma4UnifiedConfig(
        **_gemma4_images(outer, vision, text, processor),
        hidden_size=vision.integer("mm_embed_dim", 3840),
        places=vision.integer("mm_posemb_size", 1120),
    ).checked(vision)


def _gemma4_images(outer: Fields, vision: Fields, text: NetworkConfig, processor: Fields) -> Gemma4Images:
    return {
        "patch_size": vision.integer("patch_size", 16),
        "merge": vision.integer("pooling_kernel_size", 3),
        "most_rows": processor.integer("max_soft_tokens", MOST_GEMMA4_ROWS),
        "eps": vision.number("rms_norm_eps", 1e-6),
        "text_size": text.hidden_size,
        "image_token_id": outer.integer("image_token_id", 258_880),
        "begin": outer.integer("boi_token_id", 255_999),
        "end": outer.integer("eoi_token_id", 258_882),
        "is_whole": text.gemma4 is not None and text.gemma4.sees_images_whole,
    }


def _idefics3(outer: Fields, vision: Fields, text: NetworkConfig, processor: Fields) -> Idefics3Config:
    network = _siglip(vision, processor, _IDEFICS_SIZES)
    square = _size(processor, "longest_edge", network["image_size"], of="max_image_size")
    if square != network["image_size"]:
        raise UnsupportedModelError(
            f"{processor.file}: squares of {square} pixels are not those of the network, {network['image_size']}. "
            "Choose another model."
        )
    return Idefics3Config(
        **network,
        text_size=text.hidden_size,
        merge=outer.integer("scale_factor", 2),
        longest_edge=_size(processor, "longest_edge", 4 * square),
        splits=processor.flag("do_image_splitting", True),
        image_token_id=_token(outer, "image_token", 128_257),
    ).checked(vision)


def _qwen(kind: QwenKind, outer: Fields, vision: Fields, text: NetworkConfig, processor: Fields) -> QwenVisionConfig:
    _refuse(vision, "in_channels", (3,))
    _refuse(vision, "temporal_patch_size", (2,))
    hidden_name = "embed_dim" if kind == "qwen2" else "hidden_size"
    hidden, patch = vision.integer(hidden_name, 1280), vision.integer("patch_size", 16 if kind == "qwen3" else 14)
    layers = vision.integer("depth", most=_MOST_LAYERS)
    inner = int(hidden * vision.number("mlp_ratio", 4.0)) if kind == "qwen2" else vision.integer("intermediate_size")
    least = processor.integer("min_pixels", _size(processor, "shortest_edge", 56 * 56))
    most = processor.integer("max_pixels", _size(processor, "longest_edge", 28 * 28 * 1280))
    _refuse(vision, "hidden_act", (_QWEN_ACTIVATIONS[kind],))
    is_three, is_shallow = kind == "qwen3", outer.values.get("model_type") in _SHALLOW
    return QwenVisionConfig(
        kind=kind,
        hidden_size=hidden,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=vision.integer("num_heads", 16),
        patch_size=patch,
        merge=vision.integer("spatial_merge_size", 2),
        text_size=text.hidden_size,
        text_layers=text.num_hidden_layers,
        least_pixels=least,
        most_pixels=most,
        mean=_colours(processor, "image_mean", _HALVES if is_three else _MEAN),
        deviation=_colours(processor, "image_std", _HALVES if is_three else _DEVIATION),
        image_token_id=_token(outer, "image_token", 248_056 if is_shallow else 151_655),
        window=vision.integer("window_size", 112) if kind == "qwen2.5" else 0,
        whole_layers=vision.integers("fullatt_block_indexes", (7, 15, 23, 31)) if kind == "qwen2.5" else (),
        places_per_side=math.isqrt(vision.integer("num_position_embeddings", 2304)) if is_three else 0,
        deep_layers=vision.integers("deepstack_visual_indexes", (8, 16, 24)) if is_three and not is_shallow else (),
    ).checked(vision)


def _siglip(vision: Fields, processor: Fields, sizes: _Sizes) -> Siglip:
    _refuse(vision, "num_channels", (3,))
    _refuse(vision, "hidden_act", ("gelu_pytorch_tanh",))
    return {
        "hidden_size": vision.integer("hidden_size", sizes.hidden),
        "intermediate_size": vision.integer("intermediate_size", 3072),
        "num_hidden_layers": vision.integer("num_hidden_layers", sizes.layers, most=_MOST_LAYERS),
        "num_attention_heads": vision.integer("num_attention_heads", sizes.heads),
        "patch_size": vision.integer("patch_size", sizes.patch),
        "image_size": vision.integer("image_size", 224),
        "eps": vision.number("layer_norm_eps", 1e-6),
        "mean": _colours(processor, "image_mean", _HALVES),
        "deviation": _colours(processor, "image_std", _HALVES),
    }


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _refuse(fields: Fields, name: str, allowed: tuple[object, ...]) -> None:
    if fields.values.get(name, allowed[0]) not in allowed:
        raise UnsupportedModelError(
            f"{fields.file}: {name} is {shown(fields.values[name])}, and only {allowed[0]} is supported for images. "
            "Choose another model."
        )


def _token(outer: Fields, name: str, otherwise: int) -> int:
    """Newer files call it id, older ones index."""
    return outer.integer(f"{name}_id" if f"{name}_id" in outer.values else f"{name}_index", otherwise)


def _activation(vision: Fields) -> Activation:
    found = vision.values.get("hidden_act", "gelu")
    if found not in ("silu", "gelu"):
        raise UnsupportedModelError(f"{vision.file}: the activation {shown(found)} is not supported.")
    return found


def _rope_theta(vision: Fields, otherwise: float = 10000.0) -> float:
    nested = vision.values.get("rope_parameters")
    inner = Fields(_said(nested), vision.file) if isinstance(nested, dict) else vision
    return inner.number("rope_theta", otherwise)


def _processor(folder: Path) -> Fields:
    """The part for images of what the processor's file says; nothing where there is none."""
    for name in _PROCESSOR_FILES:
        file = folder / name
        values = read_json(file) if file.exists() else {}
        inner = values.get("image_processor")
        if isinstance(inner, dict):
            return Fields(_said(inner), file)
        if "image_mean" in values or "size" in values or "max_soft_tokens" in values:
            return Fields(_said(values), file)
    return Fields({}, folder / _PROCESSOR_FILES[0])


def _size(processor: Fields, name: str, otherwise: int, *, of: str = "size") -> int:
    size = processor.values.get(of)
    return Fields(_said(size), processor.file).integer(name, otherwise) if isinstance(size, dict) else otherwise


def _colours(processor: Fields, name: str, otherwise: tuple[float, ...]) -> tuple[float, ...]:
    return processor.numbers(name) if name in processor.values else otherwise
