"""Tiny random models that read images, in the layout of Mistral Small 3.1 and Ministral 3, and images for them."""

import json
import shutil
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import gguf
import numpy as np
import torch
from PIL import Image as Pillow
from safetensors.torch import load_file, save_file

from llama_gui.engine.config import load_config
from llama_gui.engine.vision.folder_config import read_vision
from llama_gui.engine.vision.loading import vision_shapes
from llama_gui.vocabulary import Image
from tests.fakes.gguf_files import write_gguf, write_parts
from tests.fakes.tiny_llama import write_random_weights, write_tiny_llama
from tests.fakes.tiny_tokenizers import MAGISTRAL_SPECIALS, magistral_tokenizer, write_tokenizer

IMAGE, BREAK, END = "[IMG]", "[IMG_BREAK]", "[IMG_END]"
SPECIALS = (*MAGISTRAL_SPECIALS[:10], IMAGE, BREAK, END)

TEMPLATE = """\
{{- bos_token }}
{%- for message in messages %}
    {%- if message['role'] == 'system' %}
        {{- '[SYSTEM_PROMPT]' + message['content'] + '[/SYSTEM_PROMPT]' }}
    {%- elif message['role'] == 'user' and message['content'] is string %}
        {{- '[INST]' + message['content'] + '[/INST]' }}
    {%- elif message['role'] == 'user' %}
        {{- '[INST]' }}
        {%- for block in message['content'] %}
            {{- block['text'] if block['type'] == 'text' else '[IMG]' }}
        {%- endfor %}
        {{- '[/INST]' }}
    {%- else %}
        {{- message['content'] + eos_token }}
    {%- endif %}
{%- endfor %}"""
"""What that of Mistral Small 3.1 comes to."""

VISION: dict[str, Any] = {
    "model_type": "pixtral", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 2, "head_dim": 16, "image_size": 112, "patch_size": 7, "hidden_act": "silu",
    "rope_theta": 10000.0,
}  # fmt: skip


def write_tiny_pixtral(
    folder: Path,
    text: Literal["mistral", "ministral3"] = "ministral3",
    *,
    seed: int = 0,
    merge: int = 2,
    bias: bool = False,
    **vision: Any,
) -> Path:
    """A model in `folder`. Of an image each 14 x 14 pixels become a row, unless `merge` or `vision` say otherwise.

    `vision` replaces fields of its part of config.json.
    """
    tokenizer = magistral_tokenizer(SPECIALS)
    write_tiny_llama(folder, text, seed=seed, tie_word_embeddings=False)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).unlink()
    write_tokenizer(folder, tokenizer, bos="<s>", eos="</s>", chat_template=TEMPLATE)
    inner = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    inner |= {"vocab_size": tokenizer.get_vocab_size(), "bos_token_id": 1, "eos_token_id": 2}
    (folder / "config.json").write_text(json.dumps(inner), encoding="utf-8")
    specials = [tokenizer.token_to_id(text) for text in SPECIALS]
    write_random_weights(folder, seed=seed, zero_rows=specials)
    values = {
        "architectures": ["Mistral3ForConditionalGeneration"], "model_type": "mistral3", "text_config": inner,
        "vision_config": {**VISION, **vision}, "image_token_index": tokenizer.token_to_id(IMAGE),
        "spatial_merge_size": merge, "multimodal_projector_bias": bias, "projector_hidden_act": "gelu",
        "vision_feature_layer": -1, "dtype": "float32", "eos_token_id": 2,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    processor = {
        "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711],
        "image_processor_type": "PixtralImageProcessor", "patch_size": {"height": 7, "width": 7},
        "size": {"longest_edge": 112}, "do_convert_rgb": True, "do_normalize": True, "do_rescale": True,
        "do_resize": True, "resample": 3, "rescale_factor": 1 / 255,
    }  # fmt: skip
    (folder / "preprocessor_config.json").write_text(json.dumps(processor), encoding="utf-8")
    _write_weights(folder, seed)
    return folder


def _write_weights(folder: Path, seed: int) -> None:
    """Those for text are there; both as transformers 4 named them."""
    config = read_vision(folder, load_config(folder))
    assert config is not None
    generator = torch.Generator().manual_seed(seed + 1)
    weights = {f"language_model.{name}": w for name, w in load_file(folder / "model.safetensors").items()}
    for name, shape in vision_shapes(config).items():
        weights[name] = vision_weight(name, shape, generator)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def vision_weight(name: str, shape: Sequence[int], generator: torch.Generator, width: int = 0) -> torch.Tensor:
    """A random weight of a network for images, such that numbers keep their size; `width`: how many inputs it has."""
    noise = torch.randn(shape, generator=generator)
    if len(shape) == 1:
        return 0.1 * noise if name.endswith("bias") else 1 + 0.1 * noise
    return 2 * noise / (width or torch.Size(shape[1:]).numel()) ** 0.5


def picture(width: int, height: int, seed: int = 0, kind: str = "PNG", **options: Any) -> Image:
    """An image of soft shapes and some noise, another one for each `seed`."""
    numbers = np.random.default_rng(seed)
    coarse = Pillow.fromarray(numbers.integers(0, 255, (4, 5, 3), dtype=np.uint8))
    made = np.asarray(coarse.resize((width, height), Pillow.Resampling.BICUBIC), dtype=np.int16)
    made = np.clip(made + numbers.integers(-20, 20, made.shape), 0, 255).astype(np.uint8)
    return Image(encoded(Pillow.fromarray(made), kind, **options))


def encoded(image: Pillow.Image, kind: str = "PNG", **options: Any) -> bytes:
    """The bytes of its file."""
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def as_gguf(folder: Path, to: Path, kind: str = "F32", *, mmproj: str = "mmproj-F16.gguf", **fields: Any) -> Path:
    """The model in `folder` as two files in the folder `to`, as llama.cpp's converter writes them; that for text.

    Their tensors are named by the `gguf` package. `kind`: of the matrices for text. `fields` are set last, None leaves
    one out.
    """
    to.mkdir(parents=True, exist_ok=True)
    text = to / "text"
    shutil.copytree(folder, text)
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (text / "config.json").write_text(json.dumps(values["text_config"]), encoding="utf-8")
    weights = load_file(folder / "model.safetensors")
    inner = "language_model."
    save_file({n.removeprefix(inner): w for n, w in weights.items() if n.startswith(inner)}, text / "model.safetensors")
    path = write_gguf(text, to / f"model-{kind}.gguf", kind)
    shutil.rmtree(text)
    _write_mmproj(to / mmproj, values, {n: w for n, w in weights.items() if not n.startswith(inner)}, fields)
    return path


def _write_mmproj(path: Path, values: dict[str, Any], weights: dict[str, torch.Tensor], fields: dict[str, Any]) -> None:
    vision = values["vision_config"]
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.MMPROJ, 24)
    heads = vision["num_attention_heads"]
    tensors: dict[str, tuple[np.ndarray, str]] = {}
    for name, weight in weights.items():
        stored = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert stored is not None, name
        if name.endswith(("q_proj.weight", "k_proj.weight")):  # as of llama's text networks
            weight = weight.view(heads, 2, -1, weight.shape[1]).transpose(1, 2).reshape(weight.shape)
        kind = "F32" if weight.dim() == 1 else "F16"
        tensors[stored] = weight.numpy().astype(np.float32 if kind == "F32" else np.float16), kind
    tensors["v.token_embd.img_break"] = np.zeros(64, dtype=np.float32), "F32"
    metadata = {
        "clip.projector_type": "pixtral", "clip.has_vision_encoder": True,
        f"clip.use_{vision['hidden_act']}": True,
        "clip.vision.image_size": 112, "clip.vision.patch_size": vision["patch_size"],
        "clip.vision.embedding_length": vision["hidden_size"],
        "clip.vision.feed_forward_length": vision["intermediate_size"],
        "clip.vision.block_count": vision["num_hidden_layers"], "clip.vision.attention.head_count": heads,
        "clip.vision.attention.layer_norm_epsilon": 1e-5, "clip.vision.projection_dim": 64,
        "clip.vision.spatial_merge_size": values["spatial_merge_size"],
        "clip.vision.image_mean": [0.48145466, 0.4578275, 0.40821073],
        "clip.vision.image_std": [0.26862954, 0.26130258, 0.27577711],
    }  # fmt: skip
    metadata = {key: value for key, value in (metadata | fields).items() if value is not None}
    write_parts(path, "clip", metadata, tensors)
