"""How long a model takes to load, and the most memory meanwhile: GGUF files beside the same shape in safetensors.

    .venv/bin/python -m tests.benchmarks.gguf                      # Llama 3.2 1B with random weights: 8 GB of disk
    .venv/bin/python -m tests.benchmarks.gguf --dtype int8 --kinds Q4_K

Each load is a process of its own; the files are in the system's cache. "besides" is the most private memory during
the loading, less what the process had before, in parts of what the weights take in the end.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil

from tests.benchmarks.chats import STARTER, random_model
from tests.fakes.gguf_files import tokenizer_fields, write_gguf

_VOCABULARY = 128256


def large_vocabulary(seed: int = 0) -> dict[str, object]:
    """The starter model's vocabulary, grown to Llama 3's size by random merges of two of its tokens."""
    fields = tokenizer_fields(STARTER, "llama-bpe")
    tokens, merges = list(fields["tokenizer.ggml.tokens"]), list(fields["tokenizer.ggml.merges"])
    words, known = tokens[5:], set(tokens)
    generator = np.random.default_rng(seed)
    while len(tokens) < _VOCABULARY:
        left, right = (words[place] for place in generator.integers(0, len(words), 2))
        if left + right not in known:
            known.add(left + right)
            tokens.append(left + right)
            merges.append(f"{left} {right}")
    kinds = [3] * 5 + [1] * (len(tokens) - 5)
    return {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.merges": merges, "tokenizer.ggml.token_type": kinds}


def private_bytes() -> int:
    """Memory of this process that no file stands behind."""
    memory = psutil.Process().memory_info()
    return memory.rss - getattr(memory, "shared", 0)


def load_once(path: str, dtype: str) -> dict[str, float]:
    """Load in this process; seconds and bytes."""
    from llama_gui.engine import Engine

    before = peak = private_bytes()
    ended = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not ended.wait(0.01):
            peak = max(peak, private_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    with Engine.load(path, dtype=dtype) as engine:
        seconds = time.perf_counter() - began
        ended.set()
        watcher.join()
        return {"seconds": seconds, "weights": engine.stats().weight_bytes, "peak": max(peak, private_bytes()) - before}


def measure(path: Path, dtype: str, rounds: int) -> dict[str, float]:
    """The fastest of `rounds` loads, each in a fresh process; the largest peak."""
    command = [sys.executable, "-m", "tests.benchmarks.gguf", "--once", str(path), "--dtype", dtype]
    runs = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(rounds)]
    return {**runs[0], "seconds": min(run["seconds"] for run in runs), "peak": max(run["peak"] for run in runs)}


def report(name: str, path: Path, dtype: str, rounds: int) -> None:
    """One line."""
    files = path.rglob("*.safetensors") if path.is_dir() else [path]
    size = sum(file.stat().st_size for file in files)
    found = measure(path, dtype, rounds)
    besides = found["peak"] / found["weights"] - 1
    print(
        f"{name:12} {size / 1e9:5.2f} GB on disk, {found['seconds']:6.1f} s, {found['weights'] / 1e9:5.2f} GB of "
        f"weights, {found['peak'] / 1e9:5.2f} GB at most ({besides:+.0%})",
        flush=True,
    )


def main() -> None:
    """Make the files, load each, print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--kinds", default="BF16,Q8_0,Q4_K")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--once", metavar="PATH", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        print(json.dumps(load_once(options.once, options.dtype)))
        return
    with tempfile.TemporaryDirectory() as place:
        folder = random_model(Path(place), "llama-3.2-1b")
        report("safetensors", folder, options.dtype, options.rounds)
        for kind in options.kinds.split(","):
            file = write_gguf(folder, Path(place, f"{kind}.gguf"), kind, fields=large_vocabulary(), pre="llama-bpe")
            report(f"GGUF {kind}", file, options.dtype, options.rounds)
            file.unlink()


if __name__ == "__main__":
    main()
