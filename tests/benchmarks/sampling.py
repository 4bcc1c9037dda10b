"""What drawing a token costs beside the forward pass of a real shape.

    .venv/bin/python -m tests.benchmarks.sampling                        # in the shape of Llama 3.2 1B, bfloat16
    .venv/bin/python -m tests.benchmarks.sampling --dtype int8

Random weights, one answer, a context of 500 tokens. Medians of many draws, each from other logits; the share is of a
step with this draw in it.
"""

import argparse
import itertools
import statistics
import tempfile
import time
from pathlib import Path

import torch

from llama_gui.engine import Engine, GenerateRequest, SamplingParams, native_library
from llama_gui.engine.sampling import Sampler
from llama_gui.vocabulary import DEFAULT_SAMPLING
from tests.benchmarks.chats import REAL_SHAPES, prompt, random_model

CONTEXT = 500
SETTINGS = {
    "greedy": SamplingParams(temperature=0),
    "our defaults": SamplingParams(),
    "Llama's own (0.6, top-p 0.9)": SamplingParams(temperature=0.6, top_k=0, top_p=0.9, min_p=0.0),
    "top-p 0.99 of flat logits": SamplingParams(temperature=3.0, top_k=0, top_p=0.99, min_p=0.0),
    "penalties and DRY": SamplingParams(repetition_penalty=1.1, frequency_penalty=0.2, dry_multiplier=0.8),
    "typical, XTC": SamplingParams(typical_p=0.9, xtc_probability=0.5),
    "typical of all": SamplingParams(top_k=0, top_p=1.0, min_p=0.0, typical_p=0.9),
}


def draw_seconds(params: SamplingParams, rows: torch.Tensor, context: list[int], logprobs: int) -> float:
    """The median of one draw from each of `rows`."""
    kernels = native_library.load()
    sampler = Sampler(params.or_else(DEFAULT_SAMPLING), seed=1, logprobs=logprobs, kernels=kernels)
    seconds: list[float] = []
    for row in rows:
        started = time.perf_counter()
        sampler.draw(row, context, context[-100:])
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def step_seconds(engine: Engine, context: list[int]) -> float:
    """The median time between two tokens of one greedy answer."""
    marks: list[float] = []
    request = GenerateRequest(token_ids=context, max_tokens=24, sampling=SETTINGS["greedy"])
    engine.submit(request, on_output=lambda _job, _out: marks.append(time.perf_counter())).result()
    return statistics.median(b - a for a, b in itertools.pairwise(marks))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=sorted(REAL_SHAPES), default="llama-3.2-1b")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--draws", type=int, default=40)
    options = parser.parse_args()
    context = prompt(CONTEXT, 1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = random_model(Path(scratch), options.shape)
        with Engine.load(folder, dtype=options.dtype) as engine:
            step = step_seconds(engine, context)
            vocabulary = engine.logits(context[:1]).shape[1]
            threads = engine.stats().threads
    torch.set_num_threads(threads)
    # As peaked as a real model's: the likeliest of them has about a third of the mass.
    rows = torch.randn(options.draws, vocabulary, generator=torch.Generator().manual_seed(0)) * 2.6
    print(f"{options.shape}, {vocabulary} tokens, {threads} threads: a greedy step takes {step * 1e3:.1f} ms")
    base = draw_seconds(SETTINGS["greedy"], rows, context, 0)
    for name, params in SETTINGS.items():
        for logprobs in (0, 5):
            seconds = draw_seconds(params, rows, context, logprobs)
            share = seconds / (step - base + seconds)
            print(f"{name:30}{'with logprobs' if logprobs else '':15}{seconds * 1e3:7.2f} ms{share:8.1%}")


if __name__ == "__main__":
    main()
