"""Tiny random models that read images, in the layouts of Qwen2-VL, Qwen2.5-VL, Qwen3-VL and Qwen3.5."""

import json
import shutil
from pathlib import Path
from typing import Any, Literal, get_args

import gguf
import numpy as np
import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine.config import load_config
from llama_gui.engine.vision.folder_config import read_vision
from llama_gui.engine.vision.loading import vision_shapes
from llama_gui.engine.vision.qwen_config import QwenKind
from tests.fakes.gguf_files import write_gguf, write_parts
from tests.fakes.tiny_llama import Shape, write_random_weights, write_tiny_llama
from tests.fakes.tiny_pixtral import vision_weight
from tests.fakes.tiny_tokenizers import magistral_tokenizer, write_tokenizer

Kind = QwenKind | Literal["qwen3.5"]
"""Qwen3.5 reads images as Qwen3-VL does, but for what that puts into later layers."""
KINDS: tuple[Kind, ...] = (*get_args(QwenKind), "qwen3.5")

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
VISION: dict[Kind, dict[str, Any]] = {
    "qwen2": {"embed_dim": 32, "hidden_size": 64, "mlp_ratio": 2, "hidden_act": "quick_gelu"},
    "qwen2.5": {
        "hidden_size": 32, "out_hidden_size": 64, "intermediate_size": 44, "hidden_act": "silu", "window_size": 28,
        "fullatt_block_indexes": [1],
    },
    "qwen3": {
        "hidden_size": 32, "out_hidden_size": 64, "intermediate_size": 48, "hidden_act": "gelu_pytorch_tanh",
        "num_position_embeddings": 36, "deepstack_visual_indexes": [0, 2],
    },
    "qwen3.5": {
        "hidden_size": 32, "out_hidden_size": 64, "intermediate_size": 48, "hidden_act": "gelu_pytorch_tanh",
        "num_position_embeddings": 36,
    },
}  # fmt: skip
_NAMES: dict[Kind, tuple[str, str]] = {
    "qwen2": ("qwen2_vl", "Qwen2VL"),
    "qwen2.5": ("qwen2_5_vl", "Qwen2_5_VL"),
    "qwen3": ("qwen3_vl", "Qwen3VL"),
    "qwen3.5": ("qwen3_5", "Qwen3_5"),
}
_TEXTS: dict[Kind, Shape] = {"qwen2": "qwen2", "qwen2.5": "qwen2", "qwen3": "qwen3", "qwen3.5": "qwen3.5"}
_SECTIONS: dict[Kind, dict[str, Any]] = {
    "qwen2": {"type": "mrope", "mrope_section": [2, 3, 3]},
    "qwen2.5": {"type": "mrope", "mrope_section": [2, 3, 3]},
    "qwen3": {"rope_type": "default", "mrope_section": [6, 3, 3], "mrope_interleaved": True},
}


def write_tiny_qwen_vl(
    folder: Path, kind: Kind = "qwen3", *, seed: int = 0, is_flat: bool = False, layers: int = 4, **vision: Any
) -> Path:
    """A model in `folder`. Of an image each 14 x 14 pixels become a row, from 4 to 64 in all.

    `is_flat`: as the first files were written, with the part for text not by itself. `vision` replaces fields of its
    part of config.json.
    """
    tokenizer = magistral_tokenizer(SPECIALS)
    window = {"use_sliding_window": False, "sliding_window": None, "num_hidden_layers": layers}
    write_tiny_llama(folder, _TEXTS[kind], seed=seed, tie_word_embeddings=False, **window)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).unlink()
    write_tokenizer(folder, tokenizer, bos="<|endoftext|>", eos="<|im_end|>", chat_template=TEMPLATE)
    inner = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    inner |= {"vocab_size": tokenizer.get_vocab_size(), "bos_token_id": 0, "eos_token_id": 2}
    (folder / "config.json").write_text(json.dumps(inner), encoding="utf-8")
    write_random_weights(folder, seed=seed, zero_rows=[*range(len(SPECIALS))])
    outer, architecture = _NAMES[kind]
    inner |= {"model_type": f"{outer}_text"}
    if kind in _SECTIONS:
        inner["rope_scaling"] = _SECTIONS[kind]
    del inner["architectures"]
    values = {
        "architectures": [f"{architecture}ForConditionalGeneration"], "model_type": outer,
        "vision_config": {**_NETWORK, **VISION[kind], **vision}, "image_token_id": tokenizer.token_to_id(IMAGE),
        "video_token_id": tokenizer.token_to_id("<|video_pad|>"), "vision_start_token_id": 3, "vision_end_token_id": 4,
        "dtype": "float32", "eos_token_id": 2, "tie_word_embeddings": False,
    }  # fmt: skip
    values = {**inner, **values} if is_flat else {**values, "text_config": inner}
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    patch = values["vision_config"]["patch_size"]
    halves = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
    processor = {
        "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711],
        **(halves if kind in ("qwen3", "qwen3.5") else {}),
        "image_processor_type": "Qwen2VLImageProcessor", "patch_size": patch, "temporal_patch_size": 2, "merge_size": 2,
        "size": {"shortest_edge": 4 * (2 * patch) ** 2, "longest_edge": 64 * (2 * patch) ** 2},
    }  # fmt: skip
    (folder / "preprocessor_config.json").write_text(json.dumps(processor), encoding="utf-8")
    _write_weights(folder, seed, is_flat=is_flat)
    return folder


def _write_weights(folder: Path, seed: int, *, is_flat: bool) -> None:
    """Those for text are there; all as transformers names them, or as the first files did."""
    config = read_vision(folder, load_config(folder))
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


def qwen_as_gguf(folder: Path, to: Path, *, is_mixture: bool = False, **fields: Any) -> Path:
    """The model in `folder` as two files in the folder `to`, as llama.cpp's converter writes them; that for text.

    `is_mixture`: that is another one, of experts. `fields` are set last, None leaves one out.
    """
    to.mkdir(parents=True, exist_ok=True)
    text = to / "text"
    shutil.copytree(folder, text)
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    inner = {**values["text_config"], "architectures": values["architectures"]}
    arch = {"qwen3_vl": "qwen3vl", "qwen3_5": "qwen35"}.get(values["model_type"], "qwen2vl")
    rope = inner["rope_parameters"] if arch == "qwen35" else inner.pop("rope_scaling")
    sections = rope["mrope_section"]
    (text / "config.json").write_text(json.dumps(inner), encoding="utf-8")
    weights = load_file(folder / "model.safetensors")
    seeing = {n.removeprefix("model."): w for n, w in weights.items() if n.startswith("model.visual.")}
    said = {n.replace("language_model.", ""): w for n, w in weights.items() if n.removeprefix("model.") not in seeing}
    save_file(said, text / "model.safetensors")
    sections = [*sections, 0]
    path = write_gguf(text, to / "model-F32.gguf", fields={f"{arch}.rope.dimension_sections": sections})
    if is_mixture:
        write_tiny_llama(text, "qwen3-moe", tie_word_embeddings=False)
        mixture = json.loads((text / "config.json").read_text(encoding="utf-8"))
        mixture |= {"vocab_size": inner["vocab_size"], "eos_token_id": 2}
        (text / "config.json").write_text(json.dumps(mixture), encoding="utf-8")
        write_random_weights(text, zero_rows=[*range(len(SPECIALS))])
        mixture["architectures"] = ["Qwen3VLMoeForConditionalGeneration"]
        (text / "config.json").write_text(json.dumps(mixture), encoding="utf-8")
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(folder / name, text / name)
        write_gguf(text, path, fields={"qwen3vlmoe.rope.dimension_sections": sections})
    shutil.rmtree(text)
    _write_mmproj(to / "mmproj-F16.gguf", values, seeing, fields)
    return path


def _write_mmproj(path: Path, values: dict[str, Any], weights: dict[str, torch.Tensor], fields: dict[str, Any]) -> None:
    vision, kind = values["vision_config"], values["model_type"].removesuffix("_vl").replace("_", ".")
    kind = "qwen3" if kind == "qwen3.5" else kind
    tensors: dict[str, tuple[np.ndarray, str]] = {}
    for name, weight in weights.items():
        for stored, part in _in_file(name, weight, vision):
            is_plain = part.dim() == 1 or "position" in stored
            array = part.contiguous().numpy()
            tensors[stored] = (array.astype(np.float32), "F32") if is_plain else (array.astype(np.float16), "F16")
    processor = "clip.vision.image_"
    halves = ([0.5] * 3, [0.5] * 3)
    mean, deviation = (
        halves if kind == "qwen3" else ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])
    )
    hidden = vision.get("embed_dim", vision["hidden_size"])
    metadata = {
        "clip.projector_type": f"{kind}vl_merger", "clip.has_vision_encoder": True,
        "clip.vision.patch_size": vision["patch_size"], "clip.vision.image_size": 42,
        "clip.vision.embedding_length": hidden, "clip.vision.projection_dim": 64,
        "clip.vision.feed_forward_length": vision.get("intermediate_size", 2 * hidden),
        "clip.vision.block_count": vision["depth"], "clip.vision.attention.head_count": vision["num_heads"],
        "clip.vision.attention.layer_norm_epsilon": 1e-6, "clip.vision.spatial_merge_size": 2,
        f"{processor}min_pixels": 4 * 196, f"{processor}max_pixels": 64 * 196,
        f"{processor}mean": mean, f"{processor}std": deviation,
    }  # fmt: skip
    if kind == "qwen2.5":
        metadata |= {"clip.vision.n_wa_pattern": 2, "clip.vision.window_size": 28, "clip.use_silu": True}
    if kind == "qwen3":
        deep = vision.get("deepstack_visual_indexes", [])
        metadata["clip.vision.is_deepstack_layers"] = [layer in deep for layer in range(vision["depth"])]
    metadata = {key: value for key, value in (metadata | fields).items() if value is not None}
    write_parts(path, "clip", metadata, tensors)


def _in_file(name: str, weight: torch.Tensor, vision: dict[str, Any]) -> list[tuple[str, torch.Tensor]]:
    """What becomes of a weight of the folder; most are named by the `gguf` package."""
    outer, _, end = name.rpartition(".")
    if outer == "visual.patch_embed.proj" and end == "weight":
        return [("v.patch_embd.weight", weight[:, :, 0]), ("v.patch_embd.weight.1", weight[:, :, 1])]
    if outer.endswith("attn.qkv") and "num_position_embeddings" not in vision:
        layer = outer.split(".")[2]
        return [(f"v.blk.{layer}.attn_{n}.{end}", part) for n, part in zip("qkv", weight.chunk(3), strict=True)]
    if "deepstack" in outer:
        number, part = outer.split(".")[2:]
        layer = vision["deepstack_visual_indexes"][int(number)]
        return [(f"v.deepstack.{layer}.{part.removeprefix('linear_')}.{end}", weight)]
    mergers = {"merger.norm": "v.post_ln", "merger.linear_fc1": "mm.0", "merger.linear_fc2": "mm.2"}
    own = mergers.get(outer.removeprefix("visual."))
    if own is not None:
        return [(f"{own}.{end}", weight)]
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.MMPROJ, vision["depth"])
    stored = names.get_name(name, try_suffixes=(".weight", ".bias"))
    assert stored is not None, name
    return [(stored, weight)]
