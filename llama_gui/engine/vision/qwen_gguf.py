"""One of Qwen's networks for images in a GGUF file, as llama.cpp's converter writes it."""

import math
import re

from llama_gui.engine.fields import Fields
from llama_gui.engine.gguf_file import GgufFile
from llama_gui.engine.vision.qwen_config import QwenKind, QwenVisionConfig
from llama_gui.engine.vision.qwen_loading import MERGERS, MLPS, qwen_layer

KINDS: dict[str, QwenKind] = {
    "qwen2vl_merger": "qwen2",
    "qwen2.5vl_merger": "qwen2.5",
    "qwen3vl_merger": "qwen3",
}
IMAGE = "<|image_pad|>"
_LEAST_PIXELS: dict[QwenKind, int] = {"qwen2": 56 * 56, "qwen2.5": 56 * 56, "qwen3": 256 * 256}
_MOST_PIXELS: dict[QwenKind, int] = {"qwen2": 12_845_056, "qwen2.5": 12_845_056, "qwen3": 4096 * 4096}
"""As in the folders: few files tell."""
_HEADS = {"attn_qkv": "attn.qkv", "attn_q": "attn.q", "attn_k": "attn.k", "attn_v": "attn.v", "attn_out": "attn.proj"}
_DEEP = re.compile(r"v\.deepstack\.(0|[1-9][0-9]{0,3})\.(norm|fc1|fc2)\.(weight|bias)", re.ASCII)


def qwen_config(file: GgufFile, kind: QwenKind, fields: Fields, image_token: int, text_layers: int) -> QwenVisionConfig:
    """What it is; `fields`: those of the file without their prefix, `text_layers`: see `QwenVisionConfig`.

    Raises:
        BrokenModelError: it cannot be.
    """
    is_three = kind == "qwen3"
    layers = fields.integer("block_count", most=1000)
    pattern = fields.integer("n_wa_pattern", 8, most=1000) if kind == "qwen2.5" else 1
    return QwenVisionConfig(
        kind=kind,
        hidden_size=fields.integer("embedding_length"),
        intermediate_size=fields.integer("feed_forward_length"),
        num_hidden_layers=layers,
        num_attention_heads=fields.integer("attention.head_count"),
        patch_size=fields.integer("patch_size"),
        merge=fields.integer("spatial_merge_size", 2),
        text_size=file.shape_of("mm.2.weight", 2)[0],
        text_layers=text_layers,
        least_pixels=fields.integer("image_min_pixels", _LEAST_PIXELS[kind]),
        most_pixels=fields.integer("image_max_pixels", _MOST_PIXELS[kind]),
        mean=fields.numbers("image_mean"),
        deviation=fields.numbers("image_std"),
        image_token_id=image_token,
        window=fields.integer("window_size", 112) if kind == "qwen2.5" else 0,
        whole_layers=tuple(range(pattern - 1, layers, pattern)) if kind == "qwen2.5" else (),
        places_per_side=math.isqrt(file.shape_of("v.position_embd.weight", 2)[0]) if is_three else 0,
        deep_layers=_deep_layers(fields) if is_three else (),
        parts_pictures=True,
        parts_heads="v.blk.0.attn_q.weight" in file.tensors,
    ).checked(fields)


def qwen_names(file: GgufFile, config: QwenVisionConfig) -> dict[str, str]:
    """The names of its tensors, and what folders call these weights."""
    names, outer = MLPS[config.kind]
    norm, first, second = MERGERS[config.kind]
    inner = dict(zip(("ffn_gate", "ffn_up") if len(names) == 2 else ("ffn_up",), names, strict=True))
    mlp = {stored: f"mlp.{name}" for stored, name in {**inner, "ffn_down": outer}.items()}
    parts = {"ln1": "norm1", "ln2": "norm2", **_HEADS, **mlp}
    made = {"v.patch_embd.weight.1": "visual.patch_embed.proj.weight.1"}
    whole = {
        "v.patch_embd": "visual.patch_embed.proj", "v.position_embd": "visual.pos_embed",
        "v.post_ln": f"visual.merger.{norm}", "mm.0": f"visual.merger.{first}", "mm.2": f"visual.merger.{second}",
    }  # fmt: skip
    for layer in range(config.num_hidden_layers):
        whole |= {f"v.blk.{layer}.{stored}": qwen_layer(layer) + name for stored, name in parts.items()}
    for stored in file.tensors:
        name, _, end = stored.rpartition(".")
        if name in whole:
            made[stored] = f"{whole[name]}.{end}"
        match = _DEEP.fullmatch(stored)
        if match is not None and int(match[1]) in config.deep_layers:
            number, part = config.deep_layers.index(int(match[1])), {"norm": norm, "fc1": first, "fc2": second}
            made[stored] = f"visual.deepstack_merger_list.{number}.{part[match[2]]}.{match[3]}"
    return {stored: made.get(stored, stored) for stored in file.tensors}


def _deep_layers(fields: Fields) -> tuple[int, ...]:
    marks = fields.values.get("is_deepstack_layers", [])
    if not isinstance(marks, list) or not all(mark in (0, 1) for mark in marks):  # numbers, as they come from files
        raise fields.wrong("is_deepstack_layers", "a list of true and false")
    return tuple(layer for layer, mark in enumerate(marks) if mark)
