"""Tokens per second with one and with several chats, and time to the first token; ours beside transformers.

    .venv/bin/python -m tests.benchmarks.chats                     # the starter model
    .venv/bin/python -m tests.benchmarks.chats --shape llama-3.2-1b  # random weights in a real shape (3 GB of memory)

Prints medians of several rounds, in one process, so that the ratios mean something on a noisy machine.
"""

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import torch
from safetensors.torch import save_file

from llama_gui.engine import Engine, GenerateRequest, SamplingParams
from llama_gui.engine.config import load_config
from llama_gui.engine.weight_shapes import weight_shapes

STARTER = Path(__file__).parents[2] / "resources" / "starter_model"
REAL_SHAPES = {
    "llama-3.2-1b": {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192,
        "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
        "vocab_size": 128256, "tie_word_embeddings": True, "max_position_embeddings": 131072, "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0, "dtype": "bfloat16",
    },
}  # fmt: skip


def random_model(folder: Path, shape: str) -> Path:
    """Random bfloat16 weights in a real shape, with the starter model's tokenizer."""
    for file in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        if (STARTER / file).exists():
            (folder / file).write_bytes((STARTER / file).read_bytes())
    (folder / "config.json").write_text(json.dumps(REAL_SHAPES[shape]))
    shapes = weight_shapes(load_config(folder))
    weights = {name: torch.empty(size, dtype=torch.bfloat16).normal_(0, 0.02) for name, size in shapes.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def prompt(tokens: int, seed: int) -> list[int]:
    """Random ids, another prompt for each seed, so that no prefix is shared."""
    return torch.randint(5, 2000, (tokens,), generator=torch.Generator().manual_seed(seed)).tolist()


def ours(engine: Engine, chats: int, prompt_tokens: int, new_tokens: int, seed: int) -> tuple[float, float]:
    """Seconds to the first token (of the last chat to get one), and tokens per second of all chats while writing."""
    bias = dict.fromkeys(engine.eos_token_ids, -1000.0)  # no answer may end early
    sampling = SamplingParams(temperature=0, logit_bias=bias)
    firsts: list[float] = []
    began = time.perf_counter()
    jobs = [
        engine.submit(
            GenerateRequest(token_ids=prompt(prompt_tokens, 1000 * seed + n), max_tokens=new_tokens, sampling=sampling),
            on_output=lambda job, out: firsts.append(time.perf_counter()) if out.index == 0 else None,
        )
        for n in range(chats)
    ]
    for job in jobs:
        job.result()
    end = time.perf_counter()
    return max(firsts) - began, chats * (new_tokens - 1) / (end - max(firsts))


def theirs(model: object, chats: int, prompt_tokens: int, new_tokens: int, seed: int) -> tuple[float, float]:
    """The same with transformers' `generate` on one batch."""
    ids = torch.tensor([prompt(prompt_tokens, 1000 * seed + n) for n in range(chats)])
    options = {"do_sample": False, "eos_token_id": None, "pad_token_id": 0, "attention_mask": torch.ones_like(ids)}
    began = time.perf_counter()
    model.generate(ids, max_new_tokens=1, min_new_tokens=1, **options)  # type: ignore[attr-defined]
    first = time.perf_counter()
    model.generate(ids, max_new_tokens=new_tokens, min_new_tokens=new_tokens, **options)  # type: ignore[attr-defined]
    end = time.perf_counter()
    return first - began, chats * (new_tokens - 1) / ((end - first) - (first - began))


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=sorted(REAL_SHAPES))
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--chats", default="1,3")
    parser.add_argument("--prompt-tokens", type=int, default=100)
    parser.add_argument("--new-tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--without-transformers", action="store_true")
    parser.add_argument("--not-exact", action="store_true", help="Engine.load(exact=False)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = random_model(Path(scratch), options.shape) if options.shape else STARTER
        measure(folder, options)


def measure(folder: Path, options: argparse.Namespace) -> None:
    """Rounds of ours and theirs in turn, medians at the end."""
    began = time.perf_counter()
    engine = Engine.load(folder, dtype=options.dtype, exact=not options.not_exact, threads=options.threads)
    print(f"{engine.info.name}, {engine.info.parameters / 1e6:.1f} M parameters, {engine.info.dtype}, "
          f"loaded in {time.perf_counter() - began:.2f} s, {engine.stats().threads} threads")  # fmt: skip
    runs = {"llama-gui": lambda *args: ours(engine, *args)}
    if not options.without_transformers:
        from transformers import AutoModelForCausalLM

        dtype = getattr(torch, engine.info.dtype)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval()
        runs["transformers"] = lambda *args: theirs(model, *args)
    print(f"{'':14}{'chats':>6}{'first token':>14}{'tokens/s':>11}")
    for chats in (int(n) for n in options.chats.split(",")):
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
        for seed in range(options.rounds + 1):
            for name, run in runs.items():
                with torch.inference_mode():
                    taken[name].append(run(chats, options.prompt_tokens, options.new_tokens, seed))
        for name, rows in taken.items():
            first, speed = (statistics.median(column) for column in zip(*rows[1:], strict=True))
            print(f"{name:14}{chats:6}{first * 1000:11.0f} ms{speed:11.1f}")
    engine.close()


if __name__ == "__main__":
    main()
