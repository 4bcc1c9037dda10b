"""Tiny random models that read images, in the layout of Gemma 3 from 4B on."""

import json
import shutil
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine.config import load_config
from llama_gui.engine.vision.folder_config import read_vision
from llama_gui.engine.vision.loading import vision_shapes
from tests.fakes.gguf_files import write_gguf, write_parts
from tests.fakes.tiny_llama import write_random_weights, write_tiny_llama
from tests.fakes.tiny_pixtral import vision_weight
from tests.fakes.tiny_tokenizers import GEMMA_TEMPLATE, gemma_tokenizer, write_tokenizer

BEGIN, IMAGE, END = "<start_of_image>", "<image_soft_token>", "<end_of_image>"

VISION: dict[str, Any] = {
    "model_type": "siglip_vision_model", "hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 2,
    "num_attention_heads": 2, "image_size": 56, "patch_size": 7, "vision_use_head": False,
}  # fmt: skip


def write_tiny_seeing_gemma(folder: Path, *, seed: int = 0, window: int = 36, **changes: Any) -> Path:
    """A model in `folder` whose images become 16 rows; `changes` replace fields of config.json for both networks.

    `window`: how many tokens most layers see.
    """
    tokenizer = gemma_tokenizer(BEGIN, END, IMAGE)
    write_tiny_llama(folder, "gemma3", seed=seed, num_hidden_layers=7, sliding_window=window)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).unlink()
    write_tokenizer(folder, tokenizer, bos="<bos>", eos="<eos>", chat_template=GEMMA_TEMPLATE)
    inner = json.loads((folder / "config.json").read_text(encoding="utf-8")) | {
        "vocab_size": tokenizer.get_vocab_size()
    }
    (folder / "config.json").write_text(json.dumps(inner), encoding="utf-8")
    write_random_weights(folder, seed=seed, zero_rows=[*range(9)])
    values = {
        "architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": inner,
        "vision_config": VISION, "mm_tokens_per_image": 16, "dtype": "float32", "eos_token_id": 1,
        "image_token_index": tokenizer.token_to_id(IMAGE), "boi_token_index": tokenizer.token_to_id(BEGIN),
        "eoi_token_index": tokenizer.token_to_id(END), "tie_word_embeddings": True,
    } | changes  # fmt: skip
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    processor = {
        "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "image_processor_type": "Gemma3ImageProcessor",
        "size": {"height": 56, "width": 56}, "do_convert_rgb": None, "do_normalize": True, "do_rescale": True,
        "do_resize": True, "resample": 2, "rescale_factor": 1 / 255,
    }  # fmt: skip
    (folder / "preprocessor_config.json").write_text(json.dumps(processor), encoding="utf-8")
    _write_weights(folder, seed)
    return folder


def _write_weights(folder: Path, seed: int) -> None:
    """Those for text are there; both as Google names them."""
    config = read_vision(folder, load_config(folder))
    assert config is not None
    generator = torch.Generator().manual_seed(seed + 1)
    weights = {f"language_model.{name}": w for name, w in load_file(folder / "model.safetensors").items()}
    for name, shape in vision_shapes(config).items():
        width = shape[0] if name.endswith("projection_weight") else 0
        made = vision_weight(name, shape, generator, width)
        stored = name.replace("vision_tower.", "vision_tower.vision_model.")
        weights[stored] = made - 1 if name.endswith("mm_soft_emb_norm.weight") else made  # which counts from 1
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def gemma_as_gguf(folder: Path, to: Path, *, has_soft_token: bool = True, **fields: Any) -> Path:
    """The model in `folder` as two files in the folder `to`, as llama.cpp's converter writes them; that for text.

    Their tensors are named by the `gguf` package. `fields` are set last, None leaves one out. `has_soft_token`: if not,
    the last token of all is another one.
    """
    to.mkdir(parents=True, exist_ok=True)
    text = to / "text"
    shutil.copytree(folder, text)
    if not has_soft_token:
        tokenizer = text / "tokenizer.json"
        tokenizer.write_text(tokenizer.read_text(encoding="utf-8").replace(IMAGE, "<unused>"), encoding="utf-8")
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (text / "config.json").write_text(json.dumps(values["text_config"]), encoding="utf-8")
    weights = load_file(folder / "model.safetensors")
    inner = "language_model."
    save_file({n.removeprefix(inner): w for n, w in weights.items() if n.startswith(inner)}, text / "model.safetensors")
    path = write_gguf(text, to / "model-F32.gguf", pre="default")
    shutil.rmtree(text)
    _write_mmproj(to / "mmproj-F16.gguf", values, {n: w for n, w in weights.items() if not n.startswith(inner)}, fields)
    return path


def _write_mmproj(path: Path, values: dict[str, Any], weights: dict[str, torch.Tensor], fields: dict[str, Any]) -> None:
    vision = values["vision_config"]
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.MMPROJ, vision["num_hidden_layers"])
    tensors: dict[str, tuple[np.ndarray, str]] = {}
    for name, weight in weights.items():
        stored = names.get_name(
            name.replace("projection_weight", "projection.weight"), try_suffixes=(".weight", ".bias")
        )
        stored = stored or names.get_name(name.removesuffix("_weight"))
        assert stored is not None, name
        if name.endswith("mm_soft_emb_norm.weight"):
            weight = weight + 1
        kind = "F32" if weight.dim() == 1 else "F16"
        tensors[stored] = weight.numpy().astype(np.float32 if kind == "F32" else np.float16), kind
    metadata = {
        "clip.projector_type": "gemma3", "clip.has_vision_encoder": True, "clip.use_gelu": True,
        "clip.vision.image_size": vision["image_size"], "clip.vision.patch_size": vision["patch_size"],
        "clip.vision.embedding_length": vision["hidden_size"],
        "clip.vision.feed_forward_length": vision["intermediate_size"],
        "clip.vision.block_count": vision["num_hidden_layers"],
        "clip.vision.attention.head_count": vision["num_attention_heads"],
        "clip.vision.attention.layer_norm_epsilon": 1e-6, "clip.vision.projection_dim": 64,
        "clip.vision.projector.scale_factor": 2,
        "clip.vision.image_mean": [0.5, 0.5, 0.5], "clip.vision.image_std": [0.5, 0.5, 0.5],
    }  # fmt: skip
    metadata = {key: value for key, value in (metadata | fields).items() if value is not None}
    write_parts(path, "clip", metadata, tensors)
