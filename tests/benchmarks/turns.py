"""What people wait for: the second turn of a long chat, the others' gaps while a long prompt arrives, long contexts.

    .venv/bin/python -m tests.benchmarks.turns                             # Llama 3.2 1B's shape in int8
    .venv/bin/python -m tests.benchmarks.turns --preset qwen2.5-0.5b --dtype bfloat16 --prompt-tokens 2000

Random weights. Ratios only: the machine's speed changes from minute to minute, so a step is compared with the steps
just before it. With `--threads 1` the cost of contexts is CPU time, which other programs change least.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from llama_gui.engine import Engine, GenerateRequest, Job, SamplingParams
from llama_gui.engine.bench import random_prompt
from llama_gui.engine.cache_precision import name_of
from llama_gui.engine.device import physical_cores, torch_threads
from llama_gui.engine.kv_cache import KVCache
from llama_gui.engine.llama import Llama, Segment
from llama_gui.engine.loading import load_model
from llama_gui.engine.presets import PRESETS, RandomModel, preset_config
from tests.benchmarks.peers import STARTER


def submit(engine: Engine, ids: list[int], new_tokens: int, key: str) -> tuple[Job, list[float]]:
    """A job, and the list of the times of its tokens."""
    marks: list[float] = []
    request = GenerateRequest(
        token_ids=ids, max_tokens=new_tokens, sampling=SamplingParams(temperature=0), ignore_eos=True, cache_key=key
    )
    return engine.submit(request, on_output=lambda _job, _out: marks.append(time.perf_counter())), marks


def first_token(engine: Engine, ids: list[int], key: str) -> float:
    """Seconds until an answer begins."""
    began = time.perf_counter()
    job, marks = submit(engine, ids, 1, key)
    job.result()
    return marks[0] - began


def second_turn(engine: Engine, tokens: int, rounds: int) -> None:
    """Cold against a chat that goes on, with 30 more tokens."""
    ratios = []
    for turn in range(rounds):
        ids = random_prompt(engine, tokens, 5000 + turn)
        cold = first_token(engine, ids, f"chat {turn}")
        warm = first_token(engine, [*ids, *random_prompt(engine, 30, 6000 + turn)], f"chat {turn}")
        fresh = first_token(engine, [*ids, *random_prompt(engine, 30, 7000 + turn)], f"branch {turn}")
        ratios.append((cold / warm, cold / fresh, cold, warm))
    columns = [statistics.median(column) for column in zip(*ratios, strict=True)]
    print(
        f"second turn of a chat of {tokens} tokens: first token {columns[0]:.0f} times as fast as cold "
        f"({columns[2]:.2f} s, {columns[3]:.3f} s); a new chat that begins alike: {columns[1]:.0f} times",
        flush=True,
    )


def arrival(engine: Engine, tokens: int, chats: int, rounds: int) -> None:
    """A long prompt beside answers: their longest gap in steps of their own, and the prompt's speed against alone."""
    results = []
    for turn in range(rounds):
        alone = first_token(engine, random_prompt(engine, tokens, 8000 + turn), "alone")
        writers = [
            submit(engine, random_prompt(engine, 64, 9000 + turn * 100 + n), 4000, f"w{n}") for n in range(chats)
        ]
        while min(len(marks) for _, marks in writers) < 24:
            time.sleep(0.01)
        began = time.perf_counter()
        beside = first_token(engine, random_prompt(engine, tokens, 8500 + turn), "beside")
        ended = time.perf_counter()
        for job, _ in writers:
            job.cancel()
            job.result()
        marks = writers[0][1]
        # The last ones: before, the others were still reading.
        before = [b - a for a, b in pairwise([at for at in marks if at <= began][-21:])]
        own = statistics.median(before)
        gaps = [b - a for a, b in pairwise(marks) if b > began and a < ended]
        tail = sorted(gaps)[int(len(gaps) * 0.95)]
        ratios = (max(gaps), tail, statistics.median(gaps), max(before))
        results.append((*(gap / own for gap in ratios), alone / beside, own))
    worst, tail, usual, uneven, speed, own = (statistics.median(column) for column in zip(*results, strict=True))
    print(
        f"a prompt of {tokens} tokens beside {chats} answers: longest gap {worst:.1f} of their own steps, 95 % below "
        f"{tail:.1f}, usual {usual:.1f}; the prompt reads at {speed:.0%} of its speed alone (own step "
        f"{own * 1e3:.0f} ms; of 20 before the prompt came the longest was {uneven:.1f} usual ones)",
        flush=True,
    )


def restart(model: RandomModel, dtype: str, tokens: int, rounds: int, threads: int | None) -> None:
    """A chat that goes on after a restart, from the disk, against a cold prompt; what the files take."""
    ratios: list[tuple[float, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        options: dict[str, Any] = {"dtype": dtype, "threads": threads, "prompt_cache": folder}
        for turn in range(rounds):
            with Engine.load(model, **options) as engine:
                engine.settle()
                ids = random_prompt(engine, tokens, 5000 + turn)
                cold = first_token(engine, ids, "chat")
                began = time.perf_counter()
                engine.keep_prompts()
                written = time.perf_counter() - began
            with Engine.load(model, **options) as engine:
                engine.settle()
                again = first_token(engine, [*ids, *random_prompt(engine, 30, 6000 + turn)], "chat")
            ratios.append((cold / again, cold, again, written))
        size = sum(file.stat().st_size for file in Path(folder).iterdir()) / rounds / 2**20
    times, cold, again, written = (statistics.median(column) for column in zip(*ratios, strict=True))
    print(
        f"after a restart, a chat of {tokens} tokens: first token {times:.0f} times as fast as cold ({cold:.2f} s, "
        f"{again:.3f} s); {size:.0f} MiB on the disk, written in {written:.2f} s",
        flush=True,
    )


def cache_worth(model: RandomModel, dtype: str, tokens: int, rounds: int) -> None:
    """A step with the cache of keys and values, against reading the whole text again for each token."""
    network = load_model(model, dtype=dtype).network
    cache = network.new_cache(2**34)
    ids = torch.randint(0, 2000, (tokens,)).tolist()
    with torch.inference_mode(), torch_threads(physical_cores()):
        slot = cache.acquire("one", ids)
        cache.ensure_capacity(slot, tokens)

        def step(known: int) -> Callable[[], float]:
            def run() -> float:
                slot.tokens = ids[:known]
                began = time.perf_counter()
                network.forward([Segment(slot, ids[known:])])
                return time.perf_counter() - began

            return run

        worth = ratio(step(tokens - 1), step(0), rounds)
    print(f"a token behind {tokens - 1}: {worth:.0f} times as fast with the cache as without", flush=True)


def cache_memory(model: RandomModel, tokens: int) -> None:
    """Keys and values of a chat that was written token by token, against what they need in bfloat16."""
    config = model.config
    cache = KVCache(config, torch.bfloat16, torch.device("cpu"), 2**34)
    slot = cache.acquire("written", [1, 2])
    for length in range(2, tokens + 1):
        cache.ensure_capacity(slot, length)
    least = 2 * config.num_hidden_layers * config.num_key_value_heads * config.head_dim * tokens * 2
    share = cache.byte_count / least
    print(f"keys and values of {tokens} tokens: {cache.byte_count / 2**20:.0f} MiB, {share:.2f} of the least")


def context_cost(
    model: RandomModel, dtype: str, lengths: list[int], chat_counts: list[int], threads: int | None
) -> None:
    """What a step costs against the context (of one chat) and against the number of chats (of 128 tokens)."""
    network = load_model(model, dtype=dtype, threads=threads).network
    cache = network.new_cache(2**34)

    def step(chats: int, length: int) -> Callable[[], float]:
        return step_of(network, cache, chats, length, threads)

    with torch.inference_mode(), torch_threads(threads or physical_cores()):
        for length in lengths:
            cost = ratio(step(1, 128), step(1, length))
            cache.clear()
            print(f"1 chat, context {length}: a step takes {cost:.2f} times that at 128", flush=True)
        for chats in chat_counts:
            cost = ratio(step(1, 128), step(chats, 128))
            cache.clear()
            print(f"{chats} chats: a step takes {cost:.2f} times that of one: {chats / cost:.1f} times the tokens")


def kept_cost(model: RandomModel, dtype: str, work: list[tuple[int, int]], threads: int | None) -> None:
    """A step with keys and values in int8 against one with the usual ones, for so many chats of so many tokens."""
    network = load_model(model, dtype=dtype, threads=threads).network
    with torch.inference_mode(), torch_threads(threads or physical_cores()):
        for chats, length in work:
            usual, small = (
                KVCache(network.config, kept, network.device, 2**34, in_blocks=network.cache_in_blocks)
                for kept in (network.cache_dtype, torch.int8)
            )
            base, other = (step_of(network, cache, chats, length, threads) for cache in (usual, small))
            cost = ratio(base, other)
            print(
                f"{chats} chats, context {length}: in int8 keys and values take {small.byte_count / 2**20:.0f} MiB, "
                f"{small.byte_count / usual.byte_count:.2f} times those in {name_of(network.cache_dtype)}, and a step "
                f"{cost:.2f} times as long",
                flush=True,
            )


def step_of(network: Llama, cache: KVCache, chats: int, length: int, threads: int | None) -> Callable[[], float]:
    """What writes the next token of so many chats, and tells the seconds; with one thread those of the processor."""
    clock = time.thread_time if threads == 1 else time.perf_counter
    segments: list[Segment] = []
    for chat in range(chats):
        slot = cache.acquire(f"{chats} {length} {chat}", [chat] * 2)
        cache.ensure_capacity(slot, length + 1)
        slot.tokens = [chat] * length  # as if they had been read: only the time matters
        segments.append(Segment(slot, [1]))

    def run() -> float:
        began = clock()
        network.forward(segments)
        return clock() - began

    return run


def ratio(base: Callable[[], float], other: Callable[[], float], rounds: int = 9) -> float:
    """How many times as long `other` takes, in turn; of the quickest of each, because others use the machine."""
    times = [(base(), other()) for _ in range(rounds + 1)][1:]
    return min(b for _, b in times) / min(a for a, _ in times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=PRESETS, default="llama-3.2-1b")
    parser.add_argument("--layers", type=int, help="fewer than the preset's, to be quick")
    parser.add_argument("--dtype", default="int8")
    parser.add_argument("--prompt-tokens", type=int, default=4000)
    parser.add_argument("--chats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--contexts", default="1024,4096,16384,32768")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--only", choices=("turn", "arrival", "context", "kept", "cache", "restart"))
    options = parser.parse_args()
    config = preset_config(options.preset)
    config |= {"num_hidden_layers": options.layers} if options.layers else {}
    model = RandomModel(options.preset, config, STARTER)
    if options.only in (None, "context"):
        context_cost(
            model, options.dtype, [int(n) for n in options.contexts.split(",")], [2, 4, 8, 16], options.threads
        )
    if options.only in (None, "cache"):
        cache_worth(model, options.dtype, 256, options.rounds)
        cache_memory(model, 2048)
        cache_memory(model, 3000)
    if options.only in (None, "kept"):
        lengths = [(1, int(n)) for n in options.contexts.split(",")]
        kept_cost(model, options.dtype, [*lengths, (10, 4096)], options.threads)
    if options.only in (None, "restart"):
        restart(model, options.dtype, options.prompt_tokens, options.rounds, options.threads)
    if options.only in ("context", "kept", "cache", "restart"):
        return
    with Engine.load(model, dtype=options.dtype, threads=options.threads) as engine:
        engine.settle()
        if options.only in (None, "turn"):
            second_turn(engine, options.prompt_tokens, options.rounds)
        if options.only in (None, "arrival"):
            arrival(engine, options.prompt_tokens, options.chats, options.rounds)


if __name__ == "__main__":
    main()
