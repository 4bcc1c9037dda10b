"""Tiny random models that read images, in the layouts of Gemma 4: with a network for images, and without (12B)."""

import json
import shutil
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine.config import load_config
from llama_gui.engine.vision.folder_config import read_vision
from llama_gui.engine.vision.gemma4_config import Gemma4UnifiedConfig
from llama_gui.engine.vision.loading import vision_shapes
from tests.fakes.gguf_files import write_gguf, write_parts
from tests.fakes.tiny_llama import write_random_weights, write_tiny_llama
from tests.fakes.tiny_pixtral import vision_weight
from tests.fakes.tiny_tokenizers import GEMMA4_TEMPLATE, gemma4_tokenizer, write_tokenizer

IMAGE, BEGIN, END = "<|image|>", "<|image>", "<image|>"
Kind = Literal["gemma4", "gemma4-31b", "gemma4-26b", "gemma4-12b"]
"""The first sees images as texts; with the others rows of an image see each other where there is a window."""

VISION: dict[str, Any] = {
    "model_type": "gemma4_vision", "hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 24, "patch_size": 4, "pooling_kernel_size": 3,
    "position_embedding_size": 420, "rms_norm_eps": 1e-6, "hidden_activation": "gelu_pytorch_tanh",
    "rope_parameters": {"rope_type": "axial", "rope_theta": 100.0},
}  # fmt: skip
UNIFIED: dict[str, Any] = {
    "model_type": "gemma4_unified_vision", "mm_embed_dim": 64, "mm_posemb_size": 140, "patch_size": 4,
    "pooling_kernel_size": 3, "rms_norm_eps": 1e-6, "output_proj_dims": 64,
}  # fmt: skip
_UNIFIED_LACKS = ("hidden_size_per_layer_input", "enable_moe_block")


def write_tiny_seeing_gemma4(
    folder: Path, kind: Kind = "gemma4-31b", *, seed: int = 0, window: int = 36, most: int = 70, **vision: Any
) -> Path:
    """A model in `folder`. Of an image each 12 x 12 pixels become a row, and all of it at most `most` rows.

    `vision` replaces fields of its part of config.json. `window`: how many tokens most layers see.
    """
    is_unified = kind == "gemma4-12b"
    tokenizer = gemma4_tokenizer(IMAGE, BEGIN, END)
    write_tiny_llama(folder, "gemma4-31b" if kind == "gemma4-12b" else kind, seed=seed, sliding_window=window)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).unlink()
    write_tokenizer(folder, tokenizer, bos="<bos>", eos="<turn|>", chat_template=GEMMA4_TEMPLATE)
    inner = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    inner |= {"vocab_size": tokenizer.get_vocab_size()}
    if is_unified:
        inner |= {"architectures": ["Gemma4UnifiedForCausalLM"], "model_type": "gemma4_unified_text"}
        inner = {name: value for name, value in inner.items() if name not in _UNIFIED_LACKS}
    if inner.get("hidden_size_per_layer_input"):
        inner["vocab_size_per_layer_input"] = inner["vocab_size"]
    (folder / "config.json").write_text(json.dumps(inner), encoding="utf-8")
    write_random_weights(folder, seed=seed, zero_rows=[*range(20)])
    family = "gemma4_unified" if is_unified else "gemma4"
    values = {
        "architectures": [f"Gemma4{'Unified' if is_unified else ''}ForConditionalGeneration"], "model_type": family,
        "text_config": inner, "vision_config": (UNIFIED if is_unified else VISION) | vision, "audio_config": None,
        "image_token_id": tokenizer.token_to_id(IMAGE), "boi_token_id": tokenizer.token_to_id(BEGIN),
        "eoi_token_id": tokenizer.token_to_id(END), "tie_word_embeddings": True, "dtype": "float32",
        "eos_token_id": inner["eos_token_id"],
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    processor = {
        "do_convert_rgb": True, "do_normalize": False, "do_rescale": True, "do_resize": True,
        "image_mean": [0.0, 0.0, 0.0], "image_std": [1.0, 1.0, 1.0], "max_soft_tokens": most,
        "patch_size": values["vision_config"]["patch_size"],
        "pooling_kernel_size": 3, "resample": 3, "rescale_factor": 1 / 255,
        "image_processor_type": f"Gemma4{'Unified' if is_unified else ''}ImageProcessor",
    }  # fmt: skip
    (folder / "processor_config.json").write_text(json.dumps({"image_processor": processor}), encoding="utf-8")
    _write_weights(folder, seed)
    return folder


def _write_weights(folder: Path, seed: int) -> None:
    """Those for text are there; both as Google names them, and with a part of a network that hears."""
    config = read_vision(folder, load_config(folder))
    assert config is not None
    generator = torch.Generator().manual_seed(seed + 1)
    weights = {
        f"model.language_model.{name.removeprefix('model.')}": w
        for name, w in load_file(folder / "model.safetensors").items()
    }
    is_unified = isinstance(config, Gemma4UnifiedConfig)
    for name, shape in vision_shapes(config).items():
        made = _limit(name) if not shape else vision_weight(name, shape, generator)
        if "position_embedding" in name or name.endswith("pos_embedding"):
            made *= 10  # of which there are two thousand, so that they are small otherwise
        stored = name.replace("multi_modal_projector.", "embed_vision.")
        if is_unified:
            stored = stored.replace("vision_tower.", "vision_embedder.")
        weights[f"model.{stored}"] = made
    weights["model.embed_audio.embedding_projection.weight"] = torch.randn(64, 8, generator=generator)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def _limit(name: str) -> torch.Tensor:
    """Such that some numbers are beyond it."""
    return torch.tensor({"input_min": -1.5, "input_max": 1.25, "output_min": -2.0, "output_max": 1.75}[_end(name)])


def _end(name: str) -> str:
    return name.rpartition(".")[2]


_PARTS = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_out", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "input_layernorm": "ln1",
    "post_attention_layernorm": "attn_post_norm", "pre_feedforward_layernorm": "ln2",
    "post_feedforward_layernorm": "ffn_post_norm",
}  # fmt: skip
_WHOLE = {
    "vision_tower.patch_embedder.input_proj.weight": "v.patch_embd.weight",
    "vision_tower.patch_embedder.position_embedding_table": "v.position_embd.weight",
    "vision_tower.std_bias": "v.std_bias", "vision_tower.std_scale": "v.std_scale",
    "embed_vision.embedding_projection.weight": "mm.input_projection.weight",
    "vision_embedder.patch_dense.weight": "v.patch_embd.weight",
    "vision_embedder.patch_dense.bias": "v.patch_embd.bias",
    "vision_embedder.pos_embedding": "v.position_embd.weight",
    **{f"vision_embedder.{name}.{part}": f"v.patch_norm.{number}.{part}" for part in ("weight", "bias")
       for number, name in enumerate(("patch_ln1", "patch_ln2", "pos_norm"), 1)},
    "embed_audio.embedding_projection.weight": "mm.a.input_projection.weight",
}  # fmt: skip


def gemma4_as_gguf(folder: Path, to: Path, **fields: Any) -> Path:
    """The model in `folder` as two files in the folder `to`, as llama.cpp's converter writes them; that for text.

    `fields` are set last, None leaves one out.
    """
    to.mkdir(parents=True, exist_ok=True)
    text = to / "text"
    shutil.copytree(folder, text)
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    of_text = {"hidden_size_per_layer_input": 0, "enable_moe_block": False} | values["text_config"]
    of_text |= {"architectures": ["Gemma4ForCausalLM"], "model_type": "gemma4_text"}
    (text / "config.json").write_text(json.dumps(of_text), encoding="utf-8")
    weights = {n.removeprefix("model."): w for n, w in load_file(folder / "model.safetensors").items()}
    inner = "language_model."
    kept = {f"model.{n.removeprefix(inner)}": w for n, w in weights.items() if n.startswith(inner)}
    save_file(kept, text / "model.safetensors", metadata={"format": "pt"})
    path = write_gguf(text, to / "model-F32.gguf", pre="default")
    shutil.rmtree(text)
    _write_mmproj(to / "mmproj-F32.gguf", values, {n: w for n, w in weights.items() if not n.startswith(inner)}, fields)
    return path


def _write_mmproj(path: Path, values: dict[str, Any], weights: dict[str, torch.Tensor], fields: dict[str, Any]) -> None:
    vision = values["vision_config"]
    is_unified = values["model_type"] == "gemma4_unified"
    tensors: dict[str, tuple[np.ndarray, str]] = {}
    for name, weight in weights.items():
        stored = _stored(name)
        if name.endswith(("patch_dense.weight", "patch_ln1.weight", "patch_ln1.bias", "input_proj.weight")):
            weight = _by_colour(weight)
        if name.endswith("input_proj.weight"):
            weight = weight.unflatten(1, (3, vision["patch_size"], vision["patch_size"]))
        if name.endswith("pos_embedding"):
            weight = weight.transpose(0, 1).contiguous()
        weight = weight.reshape(1) if weight.dim() == 0 else weight
        tensors[stored] = weight.numpy(), "F32"
    layers = {
        "clip.vision.embedding_length": vision.get("hidden_size", 64),
        "clip.vision.feed_forward_length": vision.get("intermediate_size", 0),
        "clip.vision.block_count": vision.get("num_hidden_layers", 0),
        "clip.vision.attention.head_count": vision.get("num_attention_heads", 0),
    }
    metadata = {
        "clip.vision.projector_type": "gemma4uv" if is_unified else "gemma4v", "clip.has_vision_encoder": True,
        "clip.has_audio_encoder": True, "clip.audio.projector_type": "gemma4ua" if is_unified else "gemma4a",
        "clip.use_gelu": True, "clip.vision.image_size": 224, "clip.vision.patch_size": vision["patch_size"],
        **layers, "clip.vision.attention.layer_norm_epsilon": 1e-6, "clip.vision.projection_dim": 64,
        "clip.vision.image_mean": [0.0, 0.0, 0.0], "clip.vision.image_std": [1.0, 1.0, 1.0],
    }  # fmt: skip
    metadata = {key: value for key, value in (metadata | fields).items() if value is not None}
    write_parts(path, "clip", metadata, tensors)


def _stored(name: str) -> str:
    if name in _WHOLE:
        return _WHOLE[name]
    layer, _, part = name.removeprefix("vision_tower.encoder.layers.").partition(".")
    return f"v.blk.{layer}.{_PARTS[part.replace('.linear.', '.').removesuffix('.' + _end(name))]}.{_end(name)}"


def _by_colour(weight: torch.Tensor) -> torch.Tensor:
    """All pixels of one colour behind one another, where the colours of a pixel were."""
    return weight.unflatten(-1, (-1, 3)).transpose(-1, -2).flatten(-2).contiguous()
