"""How fast a loaded model reads prompts and writes answers here: what ``llama-gui bench`` prints."""

import statistics
import sys
import time
from collections.abc import Iterator
from collections.abc import Sequence as Many
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Literal

import psutil
import torch

from llama_gui.engine.engine import Engine
from llama_gui.engine.job import Job
from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary import GenerateRequest, SamplingParams, TokenOutput

_IDS = 2000  # prompts are of the first ids, which every vocabulary has
_GREEDY = SamplingParams(temperature=0.0)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One row. `tokens_per_second` is of all chats together; prefill counts prompt tokens, decode drawn ones behind
    each chat's first. `step_ms`: median milliseconds of a step, prefill: until the first token. `peak_rss_bytes`: of
    the process so far. `cache_dtype`: of keys and values.
    """

    work: Literal["prefill", "decode"]
    dtype: str
    device: str
    chats: int
    prompt_tokens: int
    new_tokens: int
    tokens_per_second: float
    step_ms: float
    peak_rss_bytes: int
    cache_dtype: str = ""


def check_lengths(prompt_tokens: int, new_tokens: int) -> None:
    """Raise InvalidRequestError where there would be nothing to measure, whatever the model."""
    for name, number, least in (("prompt_tokens", prompt_tokens, 1), ("new_tokens", new_tokens, 2)):
        if number < least:
            raise InvalidRequestError(name, number, f"a whole number of at least {least}")


def measure(engine: Engine, chats: Many[int], prompt_tokens: int, new_tokens: int) -> Iterator[Measurement]:
    """Read one prompt, then write with each number of `chats` at once.

    Raises:
        InvalidRequestError: the numbers do not fit the model; at once, not with the first measurement.
        GenerationError: an answer failed.
    """
    check_lengths(prompt_tokens, new_tokens)
    most = engine.info.max_context
    if new_tokens >= most:
        raise InvalidRequestError("new_tokens", new_tokens, f"less than the {most} tokens that this model reads")
    if prompt_tokens > most - new_tokens:
        allowed = f"at most {most - new_tokens}, because this model reads {most} tokens with the new ones"
        raise InvalidRequestError("prompt_tokens", prompt_tokens, allowed)
    return _measure(engine, chats, prompt_tokens, new_tokens)


def _measure(engine: Engine, chats: Many[int], prompt_tokens: int, new_tokens: int) -> Iterator[Measurement]:
    engine.settle()
    engine.warmup()
    if engine.info.device != "cpu":  # a card's libraries look for kernels when they first meet a number of rows
        prefill(engine, prompt_tokens, seed=2)
    yield prefill(engine, prompt_tokens)
    for count in chats:
        yield decode(engine, count, prompt_tokens, new_tokens)


def random_prompt(engine: Engine, tokens: int, seed: int) -> list[int]:
    """`tokens` random ids, different ones for each seed, so that no two prompts share a prefix."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, min(_IDS, engine.vocab_size), (tokens,), generator=generator).tolist()


def prefill(engine: Engine, prompt_tokens: int, seed: int = 1) -> Measurement:
    """Read one prompt, a different one for each `seed`: those that were read before are in the cache."""
    began = time.perf_counter()
    _answers(engine, [random_prompt(engine, prompt_tokens, seed)], 1)
    seconds = time.perf_counter() - began
    return _measurement(engine, "prefill", 1, prompt_tokens, 1, prompt_tokens / seconds, seconds * 1e3)


def decode(engine: Engine, chats: int, prompt_tokens: int, new_tokens: int) -> Measurement:
    """Write `new_tokens` in each of some chats."""
    prompts = [random_prompt(engine, prompt_tokens, 1000 * chats + chat) for chat in range(chats)]
    _answers(engine, prompts, 1)  # the prompts are in the cache now, so all begin to write at once
    marks = _answers(engine, prompts, new_tokens)
    began, end = max(times[0] for times in marks), max(times[-1] for times in marks)
    drawn = sum(at > began for times in marks for at in times)
    steps = [later - earlier for earlier, later in pairwise(marks[-1])]
    speed = drawn / max(end - began, 1e-9)
    return _measurement(engine, "decode", chats, prompt_tokens, new_tokens, speed, statistics.median(steps) * 1e3)


def _answers(engine: Engine, prompts: Many[Many[int]], new_tokens: int) -> list[list[float]]:
    """Answer all `prompts` together; when each token of each answer came."""
    marks: list[list[float]] = [[] for _ in prompts]
    jobs: list[Job] = []
    try:
        for prompt, own in zip(prompts, marks, strict=True):
            request = GenerateRequest(token_ids=prompt, max_tokens=new_tokens, sampling=_GREEDY, ignore_eos=True)
            jobs.append(engine.submit(request, on_output=partial(_mark, own)))
        for job in jobs:
            error = job.result().error
            if error is not None:
                raise error
    finally:
        for job in jobs:
            job.cancel()
    return marks


def _mark(marks: list[float], _job: Job, _output: TokenOutput) -> None:
    marks.append(time.perf_counter())


def _measurement(
    engine: Engine, work: Literal["prefill", "decode"], chats: int, prompt: int, new: int, speed: float, step: float
) -> Measurement:
    info = engine.info
    return Measurement(
        work=work,
        dtype=info.dtype,
        device=info.device,
        chats=chats,
        prompt_tokens=prompt,
        new_tokens=new,
        tokens_per_second=round(speed, 2),
        step_ms=round(step, 2),
        peak_rss_bytes=peak_rss_bytes(),
        cache_dtype=info.cache_dtype,
    )


def peak_rss_bytes() -> int:
    """The most memory that this process has held at once."""
    if sys.platform == "win32":
        return int(getattr(psutil.Process().memory_info(), "peak_wset", 0))
    import resource  # Windows has none

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
