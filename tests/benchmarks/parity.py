"""How near we are to transformers, and to ourselves, as a table.

    .venv/bin/python -m tests.benchmarks.parity

For each shape of tiny random Llama: the largest difference of logits in float32, greedy tokens that agree with
transformers, and in how many other circumstances the same answer comes out with the same bits.
"""

import tempfile
from pathlib import Path

import torch

from llama_gui.engine import Engine, GenerateRequest, SamplingParams, TokenOutput
from llama_gui.engine.scheduler import TokenBudget
from tests.engine.test_parity import GREEDY, random_ids, reference, reference_greedy
from tests.fakes.tiny_llama import SHAPES, Shape, write_tiny_llama

DTYPES = ("float32", "bfloat16", "float16")
PROMPT, NEW = 300, 64


def main() -> None:
    """Measure and print."""
    print(f"{'shape':<12}{'max |Δlogit|':>14}{'greedy tokens':>16}  bits: " + ", ".join(DTYPES))
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as scratch:
            folder = write_tiny_llama(Path(scratch) / "model", shape)
            difference, agreeing = beside_transformers(folder, shape)
            same = ", ".join("equal" if all(beside_ourselves(folder, dtype)) else "DIFFERENT" for dtype in DTYPES)
            print(f"{shape:<12}{difference:>14.1e}{f'{agreeing} of {3 * NEW}':>16}  {same}")


def beside_transformers(folder: Path, shape: Shape) -> tuple[float, int]:
    """The largest difference of logits, and how many of three times 64 greedy tokens agree."""
    model = reference(folder)
    ids = random_ids(PROMPT, model.config.vocab_size)
    with Engine.load(folder, dtype="float32", device="cpu") as engine, torch.no_grad():
        difference = float((engine.logits(ids) - model(torch.tensor([ids])).logits[0]).abs().max())
        agreeing = 0
        for seed, length in ((1, 5), (2, 90), (3, PROMPT)):
            prompt = random_ids(length, model.config.vocab_size, seed)
            ours = engine.generate(GenerateRequest(token_ids=prompt, max_tokens=NEW, sampling=GREEDY)).token_ids
            agreeing += sum(a == b for a, b in zip(ours, reference_greedy(model, prompt, NEW), strict=True))
    return difference, agreeing


def beside_ourselves(folder: Path, dtype: str) -> list[bool]:
    """Whether an answer has the same bits when its prompt is cut, reused, and read beside nine others."""
    prompt = random_ids(PROMPT, 250)
    with Engine.load(folder, dtype=dtype, device="cpu", threads=2) as engine:
        want = answer(engine, prompt)
        reused = answer(engine, prompt)
    cuts = []
    whole = TokenBudget.tokens
    for size in (1, 13, 64):
        TokenBudget.tokens = lambda self, decodes, size=size: size  # type: ignore[method-assign]
        with Engine.load(folder, dtype=dtype, device="cpu", threads=2) as engine:
            cuts.append(answer(engine, prompt))
    TokenBudget.tokens = whole  # type: ignore[method-assign]
    with Engine.load(folder, dtype=dtype, device="cpu", threads=2) as engine:
        others = [engine.submit(request(prompt[n : 30 * n + 5], seed=n)) for n in range(1, 10)]
        beside = answer(engine, prompt)
        for job in others:
            job.result()
    return [other == want for other in (reused, *cuts, beside)]


def request(prompt: list[int], seed: int) -> GenerateRequest:
    """A sampled answer, so that a single different bit would soon change the text."""
    sampling = SamplingParams(temperature=1.0, top_k=0, top_p=0.95, min_p=0, seed=seed)
    return GenerateRequest(token_ids=prompt, max_tokens=NEW, sampling=sampling, logprobs=3)


def answer(engine: Engine, prompt: list[int]) -> list[TokenOutput]:
    """All of an answer, log-probabilities included."""
    return list(engine.submit(request(prompt, seed=7)))


if __name__ == "__main__":
    main()
