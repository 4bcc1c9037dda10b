"""How much faster guesses make an answer that repeats what it read, and what they cost where they are wrong.

    .venv/bin/python -m tests.benchmarks.speculation                        # the starter model
    .venv/bin/python -m tests.benchmarks.speculation --shape llama-3.2-1b   # random weights in a real shape
    .venv/bin/python -m tests.benchmarks.speculation --preset qwen3.5-0.8b  # in that of any preset
    .venv/bin/python -m tests.benchmarks.speculation --draft-layers 2       # a draft network in place of n-grams

"copying": an answer that repeats its prompt word for word; a logits processor sees to it, because random networks
cannot be asked to. "repeating": greedy, a prompt that says one thing again and again, which small and random networks
then go on saying for a while. "free": a high temperature, so that hardly any guess is right. Medians, with and without
guesses in turn. A draft network is the model's own first layers, which is a poor one, but has the same tokens and needs
no training; it is not asked what a processor wants, so with it "copying" says nothing.
"""

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from llama_gui.engine import Engine, GenerateRequest, SamplingParams
from llama_gui.engine.presets import PRESETS, RandomModel, preset_config
from llama_gui.engine.shared_thread import SharedThread
from tests.benchmarks.chats import REAL_SHAPES, STARTER, prompt, random_model

TEXTS: dict[str, Callable[[int], list[int]]] = {
    "copying": lambda seed: prompt(200, seed + 3),
    "repeating": lambda seed: prompt(12, seed + 1) * 8,
    "free": lambda seed: prompt(96, seed + 2),
}


def copying(text: list[int]) -> Callable[[list[int], Tensor], Tensor]:
    """Lets nothing be drawn but what stands in the prompt at the same place."""

    def process(ids: list[int], logits: Tensor) -> Tensor:
        only = torch.full_like(logits, -50.0)
        only[text[len(ids) % len(text)]] = 50.0
        return only

    return process


def speed(engine: Engine, text: list[int], temperature: float, seed: int, new_tokens: int, *, copies: bool) -> float:
    """Tokens per second after the first."""
    bias = dict.fromkeys(engine.eos_token_ids, -1000.0)
    sampling = SamplingParams(temperature=temperature, top_k=0, top_p=1.0, min_p=0.0, seed=seed, logit_bias=bias)
    marks: list[float] = []
    processor = copying(text) if copies else None
    request = GenerateRequest(token_ids=text, max_tokens=new_tokens, sampling=sampling, logits_processor=processor)
    engine.submit(request, on_output=lambda _job, _out: marks.append(time.perf_counter())).result()
    return (len(marks) - 1) / (marks[-1] - marks[0])


def first_layers(folder: Path, layers: int, target: Path) -> Path:
    """A copy of the model with its first `layers` only."""
    shutil.copytree(folder, target)
    config = json.loads((target / "config.json").read_text(encoding="utf-8"))
    (target / "config.json").write_text(json.dumps({**config, "num_hidden_layers": layers}))
    weights = load_file(target / "model.safetensors")
    dropped = tuple(f"model.layers.{layer}." for layer in range(layers, config["num_hidden_layers"]))
    kept = {name: tensor for name, tensor in weights.items() if not name.startswith(dropped)}
    save_file(kept, target / "model.safetensors")
    return target


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=sorted(REAL_SHAPES))
    parser.add_argument("--preset", choices=PRESETS, help="the same without files, and without --draft-layers")
    parser.add_argument("--draft-layers", type=int)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--new-tokens", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = random_model(Path(scratch), options.shape) if options.shape else STARTER
        model = RandomModel("model", preset_config(options.preset), STARTER) if options.preset else folder
        layers = options.draft_layers
        draft = first_layers(folder, layers, Path(scratch) / "draft") if layers else "ngram"
        thread = SharedThread()  # of two, each with helpers for its products, either would wait for the other's
        with (
            Engine.load(model, dtype=options.dtype, shared=thread) as plain,
            Engine.load(model, dtype=options.dtype, draft=draft, shared=thread) as guessing,
        ):
            for name, temperature in (("copying", 0.0), ("repeating", 0.0), ("free", 1.5)):
                ratios = []
                for number in range(options.rounds):
                    text = TEXTS[name](10 * number)  # another each time: what an answer said is known from then on
                    without, with_ = (
                        speed(engine, text, temperature, number, options.new_tokens, copies=name == "copying")
                        for engine in (plain, guessing)
                    )
                    ratios.append((without, with_))
                without, with_ = (statistics.median(column) for column in zip(*ratios, strict=True))
                print(f"{name:10}{without:8.1f} tokens/s, with guesses {with_:8.1f}: {with_ / without:.2f} times")


if __name__ == "__main__":
    main()
