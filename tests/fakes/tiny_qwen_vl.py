"""Tiny random models that read images, in the layouts of Qwen2-VL, Qwen2.5-VL and Qwen3-VL."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine.vision.folder_config import read_vision
from llama_gui.engine.vision.loading import vision_shapes
from llama_gui.engine.vision.qwen_config import QwenKind
from tests.fakes.tiny_llama import write_random_weights, write_tiny_llama
from tests.fakes.tiny_pixtral import vision_weight
from tests.fakes.tiny_tokenizers import magistral_tokenizer, write_tokenizer

IMAGE = "<|image_pad|>"
SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", IMAGE, "<|video_pad|>")

TEMPLATE = """\
{% for message in messages %}<|im_start|>{{ message['role'] }}
{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for content in message['content'] %}\
{% if content['type'] == 'image' or 'image' in content %}<|vision_start|><|image_pad|><|vision_end|>\
{% elif 'text' in content %}{{ content['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""What that of Qwen2.5-VL comes to."""

_NETWORK: dict[str, Any] = {
    "depth": 3, "num_heads": 2, "in_channels": 3, "spatial_merge_size": 2, "temporal_patch_size": 2, "patch_size": 7,
}  # fmt: skip
VISION: dict[QwenKind, dict[str, Any]] = {
    "qwen2": {"embed_dim": 32, "hidden_size": 64, "mlp_ratio": 2, "hidden_act": "quick_gelu"},
    "qwen2.5": {
        "hidden_size": 32, "out_hidden_size": 64, "intermediate_size": 44, "hidden_act": "silu", "window_size": 28,
        "fullatt_block_indexes": [1],
    },
    "qwen3": {
        "hidden_size": 32, "out_hidden_size": 64, "intermediate_size": 48, "hidden_act": "gelu_pytorch_tanh",
        "num_position_embeddings": 36, "deepstack_visual_indexes": [0, 2],
    },
}  # fmt: skip
_NAMES: dict[QwenKind, tuple[str, str]] = {
    "qwen2": ("qwen2_vl", "Qwen2VL"),
    "qwen2.5": ("qwen2_5_vl", "Qwen2_5_VL"),
    "qwen3": ("qwen3_vl", "Qwen3VL"),
}
_SECTIONS: dict[QwenKind, dict[str, Any]] = {
    "qwen2": {"type": "mrope", "mrope_section": [2, 3, 3]},
    "qwen2.5": {"type": "mrope", "mrope_section": [2, 3, 3]},
    "qwen3": {"rope_type": "default", "mrope_section": [6, 3, 3], "mrope_interleaved": True},
}


def write_tiny_qwen_vl(
    folder: Path, kind: QwenKind = "qwen3", *, seed: int = 0, is_flat: bool = False, layers: int = 4, **vision: Any
) -> Path:
    """A model in `folder`. Of an image each 14 x 14 pixels become a row, from 4 to 64 in all.

    `is_flat`: as the first files were written, with the part for text not by itself. `vision` replaces fields of its
    part of config.json.
    """
    tokenizer = magistral_tokenizer(SPECIALS)
    window = {"use_sliding_window": False, "sliding_window": None, "num_hidden_layers": layers}
    write_tiny_llama(folder, "qwen3" if kind == "qwen3" else "qwen2", seed=seed, tie_word_embeddings=False, **window)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).unlink()
    write_tokenizer(folder, tokenizer, bos="<|endoftext|>", eos="<|im_end|>", chat_template=TEMPLATE)
    inner = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    inner |= {"vocab_size": tokenizer.get_vocab_size(), "bos_token_id": 0, "eos_token_id": 2}
    (folder / "config.json").write_text(json.dumps(inner), encoding="utf-8")
    write_random_weights(folder, seed=seed, zero_rows=[*range(len(SPECIALS))])
    outer, architecture = _NAMES[kind]
    inner |= {"model_type": f"{outer}_text", "rope_scaling": _SECTIONS[kind]}
    del inner["architectures"]
    values = {
        "architectures": [f"{architecture}ForConditionalGeneration"], "model_type": outer,
        "vision_config": {**_NETWORK, **VISION[kind], **vision}, "image_token_id": tokenizer.token_to_id(IMAGE),
        "video_token_id": tokenizer.token_to_id("<|video_pad|>"), "vision_start_token_id": 3, "vision_end_token_id": 4,
        "dtype": "float32", "eos_token_id": 2, "tie_word_embeddings": False,
    }  # fmt: skip
    values = {**inner, **values} if is_flat else {**values, "text_config": inner}
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    halves = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
    processor = {
        "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711],
        **(halves if kind == "qwen3" else {}),
        "image_processor_type": "Qwen2VLImageProcessor", "patch_size": 7, "temporal_patch_size": 2, "merge_size": 2,
        "size": {"shortest_edge": 4 * 196, "longest_edge": 64 * 196},
    }  # fmt: skip
    (folder / "preprocessor_config.json").write_text(json.dumps(processor), encoding="utf-8")
    _write_weights(folder, seed, is_flat=is_flat)
    return folder


def _write_weights(folder: Path, seed: int, *, is_flat: bool) -> None:
    """Those for text are there; all as transformers names them, or as the first files did."""
    config = read_vision(folder)
    assert config is not None
    generator = torch.Generator().manual_seed(seed + 1)
    outer, text = ("", "") if is_flat else ("model.", "model.language_")
    weights = {
        name if name.startswith("lm_head") else f"{text}{name}": weight
        for name, weight in load_file(folder / "model.safetensors").items()
    }
    for name, shape in vision_shapes(config).items():
        weights[f"{outer}{name}"] = vision_weight(name, shape, generator)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
