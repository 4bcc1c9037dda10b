"""Whether a model on disk reads images, as small files and first bytes tell."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llama_gui.errors import BrokenModelError
from llama_gui.library.gguf_check import gguf_fields
from llama_gui.library.plan import IMAGE_READER

_GEMMA4, _UNIFIED = "gemma4_vision", "gemma4_unified_vision"
_NETWORKS = frozenset({"pixtral", "siglip_vision_model", _GEMMA4, _UNIFIED})
_QWENS = frozenset({"qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_5", "qwen3_5_moe"})
_FAMILIES = frozenset({"idefics3", "smolvlm"}) | _QWENS
_READERS = frozenset(
    {
        "pixtral", "gemma3", "gemma4v", "gemma4uv", "idefics3", "qwen2vl_merger", "qwen2.5vl_merger",
        "qwen3vl_merger",
    }
)  # fmt: skip
"""Of GGUF files that read images for others. A test keeps all three with the engine."""
_KIND, _FORMER_KIND = "clip.projector_type", "clip.vision.projector_type"
_WIDTH = "clip.vision.projection_dim"


def folder_reads_images(config: object) -> bool:
    """Whether a folder's does; `config`: what its config.json holds."""
    if not isinstance(config, Mapping) or not isinstance(inner := config.get("vision_config"), Mapping):
        return False
    return inner.get("model_type") in _NETWORKS or config.get("model_type") in _FAMILIES


def vision_numbers(config: Mapping[str, Any]) -> int:
    """How many numbers the network for images of a folder has, nearly; 0: it has none that runs here.

    Matrices of layers, and what makes rows of the text network in Qwen's. `config`: as for `folder_reads_images`.
    """
    if not folder_reads_images(config):
        return 0
    vision, kind = config["vision_config"], str(config.get("model_type"))
    if vision.get("model_type") in (_GEMMA4, _UNIFIED):
        text = config.get("text_config")
        return _numbers_of_gemma4(vision, _whole(text if isinstance(text, Mapping) else {}, "hidden_size", 2304))
    is_pixtral = vision.get("model_type") == "pixtral"
    hidden = _whole(vision, "embed_dim", _whole(vision, "hidden_size", 1024 if is_pixtral else 768))
    layers = _whole(vision, "depth", _whole(vision, "num_hidden_layers", 24 if is_pixtral else 12))
    inner = _whole(vision, "intermediate_size", 4 * hidden)
    has_gate = is_pixtral or kind == "qwen2_5_vl"
    numbers = layers * (4 * hidden**2 + (3 if has_gate else 2) * hidden * inner)
    if kind not in _QWENS:
        return numbers
    text = config.get("text_config")
    square = hidden * _whole(vision, "spatial_merge_size", 2) ** 2
    out = _whole(text if isinstance(text, Mapping) else config, "hidden_size", hidden)
    deep = vision.get("deepstack_visual_indexes")
    return numbers + (1 + (len(deep) if isinstance(deep, list) else 0)) * square * (square + out)


def _numbers_of_gemma4(vision: Mapping[str, Any], out: int) -> int:
    """With what makes rows of `out` numbers. That of 12B has no layers."""
    if vision.get("model_type") == _UNIFIED:
        hidden = _whole(vision, "mm_embed_dim", 3840)
        side = _whole(vision, "patch_size", 16) * _whole(vision, "pooling_kernel_size", 3)
        return hidden * (3 * side**2 + out)
    hidden, layers = _whole(vision, "hidden_size", 768), _whole(vision, "num_hidden_layers", 16)
    heads = _whole(vision, "num_attention_heads", 12) * _whole(vision, "head_dim", 64)
    inner = _whole(vision, "intermediate_size", 3072)
    return hidden * (layers * (4 * heads + 3 * inner) + out)


def _whole(fields: Mapping[str, Any], name: str, otherwise: int) -> int:
    found = fields.get(name)
    return found if isinstance(found, int) and 0 < found < 2**20 else otherwise


def gguf_reads_images(file: Path) -> bool:
    """Whether that of a GGUF file does, by another file beside it."""
    readers = [path for path in file.parent.glob("*.gguf") if IMAGE_READER in path.name.lower()]
    return any(_fits(reader, file) for reader in readers if reader.name != file.name)


def _fits(reader: Path, file: Path) -> bool:
    try:
        told = gguf_fields(reader, texts=("general.architecture", _KIND, _FORMER_KIND), numbers=(_WIDTH,))
        kind = told.get(_KIND) or told.get(_FORMER_KIND)
        if told.get("general.architecture") != "clip" or kind not in _READERS:
            return False
        text = gguf_fields(file, texts=("general.architecture",))["general.architecture"]
        width = f"{text}.embedding_length"
        return told.get(_WIDTH, 0) in (0, gguf_fields(file, numbers=(width,)).get(width, 0))
    except (BrokenModelError, OSError):
        return False
