"""Tiny random models that read images in squares, in the layout of SmolVLM."""

import json
import shutil
from pathlib import Path
from typing import Any, Literal

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
from tests.fakes.tiny_tokenizers import magistral_tokenizer, write_tokenizer

IMAGE = "<image>"
SPECIALS = (
    "<|im_start|>", "<end_of_utterance>", "<|im_end|>", "<fake_token_around_image>", IMAGE, "<global-img>",
    *(f"<row_{row}_col_{column}>" for row in range(1, 5) for column in range(1, 5)),
)  # fmt: skip

TEMPLATE = """\
<|im_start|>{% for message in messages %}{{ message['role'] | capitalize }}\
{{ ':' if message['content'][0]['type'] == 'image' else ': ' }}{% for line in message['content'] %}\
{% if line['type'] == 'text' %}{{ line['text'] }}{% elif line['type'] == 'image' %}{{ '<image>' }}{% endif %}\
{% endfor %}<end_of_utterance>
{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"""
"""What that of SmolVLM comes to: it shows no texts, only lists of parts."""

VISION: dict[str, Any] = {
    "model_type": "smolvlm_vision", "hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 2,
    "num_attention_heads": 2, "image_size": 28, "patch_size": 7,
}  # fmt: skip
_PARTS = {"vision_tower.": "model.vision_model.", "multi_modal_projector.": "model.connector."}


def write_tiny_smolvlm(
    folder: Path, kind: Literal["smolvlm", "idefics3"] = "smolvlm", *, seed: int = 0, splits: bool = True, **vision: Any
) -> Path:
    """A model in `folder`, which cuts images into squares of 28 pixels, at most four by four, of four rows each.

    `kind`: the first models of that name had the architecture of Idefics 3. `vision` replaces fields of its part.
    """
    tokenizer = magistral_tokenizer(SPECIALS)
    write_tiny_llama(folder, "llama-3.2", seed=seed)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).unlink()
    write_tokenizer(folder, tokenizer, bos="<|im_start|>", eos="<end_of_utterance>", chat_template=TEMPLATE)
    inner = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    inner |= {"vocab_size": tokenizer.get_vocab_size(), "bos_token_id": 0, "eos_token_id": 1}
    (folder / "config.json").write_text(json.dumps(inner), encoding="utf-8")
    write_random_weights(folder, seed=seed, zero_rows=[*range(len(SPECIALS))])
    architecture = {"smolvlm": "SmolVLM", "idefics3": "Idefics3"}[kind]
    values = {
        "architectures": [f"{architecture}ForConditionalGeneration"], "model_type": kind, "text_config": inner,
        "vision_config": {**VISION, **vision}, "image_token_id": tokenizer.token_to_id(IMAGE), "scale_factor": 2,
        "dtype": "float32", "eos_token_id": 1, "tie_word_embeddings": inner.get("tie_word_embeddings", False),
    }  # fmt: skip
    if kind == "idefics3":  # as transformers wrote it then
        values["vision_config"]["model_type"] = "idefics3"
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    square = values["vision_config"]["image_size"]
    processor = {
        "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "image_processor_type": "Idefics3ImageProcessor",
        "size": {"longest_edge": 4 * square}, "max_image_size": {"longest_edge": square}, "do_image_splitting": splits,
        "do_convert_rgb": True, "do_normalize": True, "do_pad": True, "do_rescale": True, "do_resize": True,
        "resample": 1, "rescale_factor": 1 / 255,
    }  # fmt: skip
    (folder / "preprocessor_config.json").write_text(json.dumps(processor), encoding="utf-8")
    _write_weights(folder, seed)
    return folder


def _write_weights(folder: Path, seed: int) -> None:
    """Those for text are there; all as transformers names them."""
    config = read_vision(folder, load_config(folder))
    assert config is not None
    generator = torch.Generator().manual_seed(seed + 1)
    weights = {
        name if name.startswith("lm_head") else f"model.text_{name}": weight
        for name, weight in load_file(folder / "model.safetensors").items()
    }
    for name, shape in vision_shapes(config).items():
        for ours, theirs in _PARTS.items():
            name = name.replace(ours, theirs)
        weights[name] = vision_weight(name, shape, generator)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def smolvlm_as_gguf(folder: Path, to: Path, **fields: Any) -> Path:
    """The model in `folder` as two files in the folder `to`, as llama.cpp's converter writes them; that for text.

    Their tensors are named by the `gguf` package. `fields` are set last, None leaves one out.
    """
    to.mkdir(parents=True, exist_ok=True)
    text = to / "text"
    shutil.copytree(folder, text)
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (text / "config.json").write_text(json.dumps(values["text_config"]), encoding="utf-8")
    weights = load_file(folder / "model.safetensors")
    seeing = {n: w for n, w in weights.items() if n.startswith(tuple(_PARTS.values()))}
    said = {n.replace("model.text_", ""): w for n, w in weights.items() if n not in seeing}
    save_file(said, text / "model.safetensors")
    path = write_gguf(text, to / "model-F32.gguf")
    shutil.rmtree(text)
    _write_mmproj(to / "mmproj-F16.gguf", values, seeing, fields)
    return path


def _write_mmproj(path: Path, values: dict[str, Any], weights: dict[str, torch.Tensor], fields: dict[str, Any]) -> None:
    vision = values["vision_config"]
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.MMPROJ, vision["num_hidden_layers"])
    tensors: dict[str, tuple[np.ndarray, str]] = {}
    for name, weight in weights.items():
        stored = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert stored is not None, name
        kind = "F32" if weight.dim() == 1 or "position" in name else "F16"
        tensors[stored] = weight.numpy().astype(np.float32 if kind == "F32" else np.float16), kind
    metadata = {
        "clip.projector_type": "idefics3", "clip.has_vision_encoder": True, "clip.use_gelu": True,
        "clip.vision.image_size": vision["image_size"], "clip.vision.patch_size": vision["patch_size"],
        "clip.vision.preproc_image_size": 112,
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
