"""What a model needs and how fast it writes: `library.fit` beside the engine itself.

    .venv/bin/python -m tests.benchmarks.fit                       # the starter model and two real shapes
    .venv/bin/python -m tests.benchmarks.fit --model "Llama 3.2 1B Instruct" --dtype int8

Each line is a fresh process that loads random weights in the catalogue's shape, reads a prompt as long as the context
and writes. Memory is what belongs to the process alone (RssAnon), at its highest, without what it had before.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from llama_gui.engine.config import load_config
from llama_gui.engine.device import physical_cores
from llama_gui.engine.weight_shapes import weight_shapes
from llama_gui.library import catalog
from llama_gui.library.bandwidth import read_bandwidth
from llama_gui.library.fit import OFFERED_DTYPES, estimate, machine_here
from llama_gui.library.model_shape import ModelShape
from llama_gui.library.shape_reader import shape_of
from llama_gui.paths import find_resources

STARTER = find_resources() / "starter_model"
CONTEXT = 1024
MODELS = ("SmolLM2 135M Instruct", "Qwen2.5 0.5B Instruct")
_FAMILIES = {
    "Qwen2.5": ("Qwen2ForCausalLM", "qwen2"),
    "Qwen3": ("Qwen3ForCausalLM", "qwen3"),
    "SmolLM3": ("SmolLM3ForCausalLM", "smollm3"),
    "Granite": ("GraniteForCausalLM", "granite"),
    "Phi-4-mini": ("Phi3ForCausalLM", "phi3"),
    "Gemma": ("Gemma3ForCausalLM", "gemma3_text"),
}


def random_model(folder: Path, entry: catalog.CatalogEntry) -> Path:
    """Random bfloat16 weights in the shape of `entry`, with the starter model's tokenizer."""
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        (folder / name).write_bytes((STARTER / name).read_bytes())
    architecture, kind = _FAMILIES.get(entry.name.split()[0], ("LlamaForCausalLM", "llama"))
    shape = entry.shape
    config = {
        "architectures": [architecture], "model_type": kind, "hidden_size": shape.hidden, "head_dim": shape.head_dim,
        "intermediate_size": shape.inner, "num_hidden_layers": shape.layers, "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads, "vocab_size": shape.vocabulary, "tie_word_embeddings": shape.is_tied,
        "max_position_embeddings": entry.context, "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "dtype": "bfloat16",
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    shapes = weight_shapes(load_config(folder))
    weights = {name: torch.empty(size, dtype=torch.bfloat16).normal_(0, 0.02) for name, size in shapes.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def own_bytes() -> int:
    """What this process holds of its own, without the files that it looks into."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.partition("RssAnon:")[2].split()[0]) * 1024


def measure(folder: str, dtype: str) -> None:
    """In a process of its own: print the highest bytes and the tokens per second."""
    from llama_gui.engine import Engine, GenerateRequest, SamplingParams

    before, highest, ended = own_bytes(), [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.002):
            highest[0] = max(highest[0], own_bytes())

    threading.Thread(target=watch, daemon=True).start()
    with Engine.load(folder, dtype=dtype) as engine:
        never_ends = SamplingParams(temperature=0, logit_bias=dict.fromkeys(engine.eos_token_ids, -1000.0))
        prompt = [7 + n % 1000 for n in range(CONTEXT - 64)]
        engine.generate(GenerateRequest(token_ids=prompt, max_tokens=8, sampling=never_ends, cache_key="one chat"))
        speeds: list[float] = []
        for n in range(3):
            request = GenerateRequest(token_ids=[5 + n, 6], max_tokens=16, sampling=never_ends, cache_key="one chat")
            result = engine.generate(request)
            speeds.append(15 / result.timings.decode)
    ended.set()
    print(json.dumps({"bytes": highest[0] - before, "speed": max(speeds)}))


def compare(name: str, folder: Path, shape: ModelShape, dtypes: Sequence[str]) -> None:
    """One line for each dtype. The bandwidth is measured beside each, on a machine that others use too."""
    for dtype in dtypes:
        command = [sys.executable, "-m", "tests.benchmarks.fit", "--measure", str(folder), "--dtype", dtype]
        environment = {**os.environ, "GOMP_SPINCOUNT": "30000"}  # as the application runs it
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True, env=environment)
        found = json.loads(done.stdout.splitlines()[-1])
        bandwidth = read_bandwidth(physical_cores())
        guess = estimate(shape, machine_here(bandwidth), dtype, context=CONTEXT)
        print(
            f"{name:24} {dtype:9} needs {found['bytes'] / 1e6:7.0f} MB, said {guess.needed / 1e6:7.0f} "
            f"({guess.needed / found['bytes'] - 1:+6.1%}); {found['speed']:6.1f} tokens/s, "
            f"said {guess.tokens_per_second or 0:6.1f} at {bandwidth / 1e9:.1f} GB/s",
            flush=True,
        )


def main() -> None:
    """Compare all, or measure one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", metavar="FOLDER")
    parser.add_argument("--model", action="append", choices=[e.name for e in _entries()])
    parser.add_argument("--dtype", action="append", choices=OFFERED_DTYPES)
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure, options.dtype[0])
    dtypes = options.dtype or OFFERED_DTYPES
    if not options.model:
        config = json.loads((STARTER / "config.json").read_text(encoding="utf-8"))
        compare("Starter model", STARTER, shape_of(config), dtypes)
    for entry in _entries():
        if entry.name in (options.model or MODELS):
            with tempfile.TemporaryDirectory() as folder:
                compare(entry.name, random_model(Path(folder), entry), entry.shape, dtypes)
    return None


def _entries() -> list[catalog.CatalogEntry]:
    return catalog.load(find_resources() / "catalog.json")


if __name__ == "__main__":
    main()
