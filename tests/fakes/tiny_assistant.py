"""Tiny random networks that guess for a tiny Gemma 4, in the layout of Google's assistants."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from tests.fakes.tiny_llama import write_random_weights

_TAKEN = (
    "model_type", "vocab_size", "head_dim", "global_head_dim", "num_key_value_heads", "num_global_key_value_heads",
    "attention_k_eq_v", "rms_norm_eps", "sliding_window", "hidden_activation", "max_position_embeddings",
    "rope_parameters", "bos_token_id", "eos_token_id", "pad_token_id",
)  # fmt: skip
"""What such a network has in common with the one that it guesses for."""


def write_tiny_assistant(
    folder: Path, target: Path, *, seed: int = 0, is_ordered: bool = False, **changes: Any
) -> Path:
    """One in `folder` for the model in `target`; `changes` replace fields of its part for text.

    `is_ordered`: it has the short cut that those of E2B and E4B have.
    """
    folder.mkdir(parents=True)
    outer = json.loads((target / "config.json").read_text(encoding="utf-8"))
    inner = outer.get("text_config", outer)
    text = {
        **{name: inner[name] for name in _TAKEN if name in inner},
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
        "layer_types": ["sliding_attention", "sliding_attention", "full_attention"], "num_kv_shared_layers": 3,
        "hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0, "enable_moe_block": False,
        "use_double_wide_mlp": False, "tie_word_embeddings": True,
    } | changes  # fmt: skip
    is_unified = "Unified" in outer["architectures"][0]
    values = {
        "architectures": [f"Gemma4{'Unified' if is_unified else ''}AssistantForCausalLM"],
        "model_type": f"gemma4{'_unified' if is_unified else ''}_assistant",
        "text_config": text, "backbone_hidden_size": inner["hidden_size"], "use_ordered_embeddings": is_ordered,
        "num_centroids": 8, "centroid_intermediate_top_k": 2, "tie_word_embeddings": True, "dtype": "float32",
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    write_random_weights(folder, seed=seed + 5)
    if is_ordered:
        weights = load_file(folder / "model.safetensors")
        weights["masked_embedding.centroids.weight"] = torch.randn(8, text["hidden_size"])
        weights["masked_embedding.token_ordering"] = torch.randperm(text["vocab_size"])
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder
