"""How much faster guesses make an answer that repeats what it read, and what they cost where they are wrong.

    .venv/bin/python -m tests.benchmarks.speculation                        # the starter model
    .venv/bin/python -m tests.benchmarks.speculation --shape llama-3.2-1b   # random weights in a real shape

"copying": greedy, a prompt that says one thing again and again, which small and random networks then go on saying.
"free": a high temperature, so that hardly any guess is right. Medians, with and without guesses in turn.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from llama_gui.engine import Engine, GenerateRequest, SamplingParams
from tests.benchmarks.chats import REAL_SHAPES, STARTER, prompt, random_model


def speed(engine: Engine, text: list[int], temperature: float, new_tokens: int) -> float:
    """Tokens per second after the first."""
    bias = dict.fromkeys(engine.eos_token_ids, -1000.0)
    sampling = SamplingParams(temperature=temperature, top_k=0, top_p=1.0, min_p=0.0, seed=1, logit_bias=bias)
    marks: list[float] = []
    request = GenerateRequest(token_ids=text, max_tokens=new_tokens, sampling=sampling)
    engine.submit(request, on_output=lambda _job, _out: marks.append(time.perf_counter())).result()
    return (len(marks) - 1) / (marks[-1] - marks[0])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=sorted(REAL_SHAPES))
    parser.add_argument("--new-tokens", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = random_model(Path(scratch), options.shape) if options.shape else STARTER
        with Engine.load(folder) as plain, Engine.load(folder, draft="ngram") as guessing:
            works = {"copying": (prompt(12, 1) * 8, 0.0), "free": (prompt(96, 2), 1.5)}
            for name, (text, temperature) in works.items():
                ratios = []
                for _ in range(options.rounds):
                    without = speed(plain, text, temperature, options.new_tokens)
                    ratios.append((without, speed(guessing, text, temperature, options.new_tokens)))
                without, with_ = (statistics.median(column) for column in zip(*ratios, strict=True))
                print(f"{name:10}{without:8.1f} tokens/s, with guesses {with_:8.1f}: {with_ / without:.2f} times")


if __name__ == "__main__":
    main()
