"""A tiny random layer that guesses further tokens, as Qwen3.5's and Qwen3-Next's files have one among their weights."""

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine.checkpoint import _MTP_PARTS
from llama_gui.engine.config import load_config
from llama_gui.engine.mtp_files import mtp_config
from llama_gui.engine.weight_shapes import HEAD, TABLE, weight_shapes

MTP = "mtp."


def add_tiny_mtp(folder: Path, *, seed: int = 11) -> Path:
    """Into the weights of the tiny model in `folder`."""
    config = mtp_config(load_config(folder))
    generator = torch.Generator().manual_seed(seed)
    weights = load_file(folder / "model.safetensors")
    for name, shape in weight_shapes(config).items():
        if name in (TABLE, HEAD):
            continue
        ours = next(part for part in _MTP_PARTS.values() if name.startswith(part))
        theirs = next(part for part, own in _MTP_PARTS.items() if own == ours)
        noise = torch.randn(shape, generator=generator)
        is_norm = len(shape) == 1
        weights[MTP + theirs + name.removeprefix(ours)] = (
            1 - config.norm_shift + 0.1 * noise if is_norm else noise / shape[-1] ** 0.5
        )
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder
