"""Texts as vectors, beside llama.cpp and transformers: random weights in the shape of Qwen3 Embedding 0.6B, in turn.

    .venv/bin/python -m tests.benchmarks.embedding
    .venv/bin/python -m tests.benchmarks.embedding --llama-python OTHER_VENV/bin/python   # where llama-cpp-python is

Tokens per second, medians over the rounds, and the smallest cosine between the vectors of ours and theirs: how much of
it is rounding is told by ours in float32. The vocabulary is a small one; for vectors no logits are computed.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F

from tests.fakes.gguf_files import write_gguf
from tests.fakes.tiny_embedder import write_tiny_embedder

Embed = Callable[[Sequence[str]], torch.Tensor]
SHAPE = {
    "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
    "num_key_value_heads": 8, "head_dim": 128, "max_position_embeddings": 8192,
}  # fmt: skip
_FIELDS = {"qwen3.pooling_type": 3, "tokenizer.ggml.add_bos_token": False, "tokenizer.ggml.add_eos_token": True}
_THEIRS = """
import json, sys
from llama_cpp import Llama
model = Llama(sys.argv[1], embedding=True, pooling_type=3, n_ctx=16384, n_batch=4096, n_ubatch=4096, n_threads=2,
              n_threads_batch=2, verbose=False)
print("ready", flush=True)
for line in sys.stdin:
    print(json.dumps(model.embed(json.loads(line), normalize=True)), flush=True)
"""


def ours(path: Path, dtype: str) -> Embed:
    """Our engine."""
    from llama_gui.engine import Engine

    engine = Engine.load(path, dtype=dtype)
    engine.settle()
    return engine.embed


def transformers(folder: Path) -> Embed:
    """In bfloat16, 16 texts at a time."""
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder, dtype=torch.bfloat16)
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    tokenizer.pad_token = tokenizer.eos_token

    @torch.inference_mode()
    def embed(texts: Sequence[str]) -> torch.Tensor:
        batches = [texts[start : start + 16] for start in range(0, len(texts), 16)]
        read = (tokenizer(list(batch), return_tensors="pt", padding=True) for batch in batches)
        return F.normalize(torch.cat([model(**batch).last_hidden_state[:, -1] for batch in read]).float(), dim=1)

    return embed


def llama_cpp(file: Path, python: str) -> Embed:
    """llama-cpp-python in a process of its own."""
    process = subprocess.Popen(
        [python, "-c", _THEIRS, str(file)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout
    if stdout.readline().strip() != "ready":
        raise RuntimeError("llama-cpp-python is not there, or does not read the file")

    def embed(texts: Sequence[str]) -> torch.Tensor:
        stdin.write(json.dumps(list(texts)) + "\n")
        stdin.flush()
        return torch.tensor(json.loads(stdout.readline()))

    return embed


def texts_of(count: int, letters: int) -> Iterator[str]:
    """Different ones, of so many letters: with this vocabulary two letters or three are a token."""
    for number in range(count):
        text = f"{number} " + "The weather at the sea is fine, and whales swim in the deep water. " * (letters // 60)
        yield text[:letters]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llama-python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--layers", type=int, default=SHAPE["num_hidden_layers"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = write_tiny_embedder(
            Path(place, "model"), is_headless=False, **{**SHAPE, "num_hidden_layers": options.layers}
        )
        files = {
            kind: write_gguf(folder, Path(place, f"{kind}.gguf"), kind, fields=_FIELDS) for kind in ("BF16", "Q8_0")
        }
        exact = ours(folder, "float32")
        peers = {
            "ours, bfloat16": ours(folder, "bfloat16"),
            "ours, int8": ours(folder, "int8"),
            "llama.cpp, BF16": llama_cpp(files["BF16"], options.llama_python),
            "llama.cpp, Q8_0": llama_cpp(files["Q8_0"], options.llama_python),
            "transformers, bfloat16": transformers(folder),
        }
        print("| texts | tokens each | " + " | ".join(peers) + " |\n|" + " --- |" * (len(peers) + 2))
        for count, letters in ((16, 250), (8, 1000)):
            texts = list(texts_of(count, letters))
            tokens = _tokens(folder, texts)
            expected = exact(texts)
            speeds: dict[str, list[float]] = {name: [] for name in peers}
            cosines: dict[str, float] = {}
            for _ in range(options.rounds):
                for name, embed in peers.items():
                    began = time.perf_counter()
                    vectors = embed(texts)
                    speeds[name].append(tokens / (time.perf_counter() - began))
                    cosines[name] = float((vectors * expected).sum(1).min())
            told = (f"{statistics.median(speeds[name]):.0f} ({cosines[name]:.4f})" for name in peers)
            print(f"| {count} | {tokens // count} | " + " | ".join(told) + " |", flush=True)


def _tokens(folder: Path, texts: Sequence[str]) -> int:
    from llama_gui.engine.tokenizer import Tokenizer

    tokenizer = Tokenizer.load(folder)
    return sum(len(tokenizer.encode(text, add_special_tokens=True)) for text in texts)


if __name__ == "__main__":
    main()
