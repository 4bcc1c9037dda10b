"""Tiny models for embeddings, as sentence-transformers saves them: Qwen3 Embedding's layout, random weights."""

import json
from pathlib import Path
from typing import Any

import tokenizers
from safetensors.torch import load_file, save_file
from tokenizers.processors import TemplateProcessing

from tests.fakes.tiny_llama import Shape, write_tiny_llama

_TYPES = "sentence_transformers.models."
END = "<|eot_id|>"
"""The token behind each text, of which the vector is made."""


def write_tiny_embedder(folder: Path, shape: Shape = "qwen3", *, is_headless: bool = True, **changes: Any) -> Path:
    """Write a random model that pools the last token; `changes` as in `write_tiny_llama`.

    `is_headless`: the weights have the names of the inner network, and there is no projection to the vocabulary.
    """
    write_tiny_llama(folder, shape, **changes)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    end = (END, tokenizer.token_to_id(END))
    tokenizer.post_processor = TemplateProcessing(single=f"$A {END}", special_tokens=[end])  # type: ignore[assignment]
    tokenizer.save(str(folder / "tokenizer.json"))
    file = folder / "model.safetensors"
    weights = load_file(file)
    # Control tokens of tiny models look like nothing, so that none is drawn. The end of a text looks like something.
    weights["model.embed_tokens.weight"][end[1]] = weights["model.embed_tokens.weight"][end[1] + 9]
    if is_headless:
        weights = {name.removeprefix("model."): weight for name, weight in weights.items() if "lm_head" not in name}
    save_file(weights, file, metadata={"format": "pt"})
    write_modules(folder)
    return folder


def write_modules(folder: Path, mode: str = "lasttoken", *more: str) -> None:
    """modules.json and the pooling; `more`: types of modules behind it."""
    names = {"Transformer": "", "Pooling": "1_Pooling"} | {name: f"{n}_{name}" for n, name in enumerate(more, 2)}
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": _TYPES + name} for n, (name, path) in enumerate(names.items())
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    modes = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
    (folder / "1_Pooling").mkdir(exist_ok=True)
    config = {"word_embedding_dimension": 64, "include_prompt": True, **{f"pooling_mode_{m}": m == mode for m in modes}}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(config))
