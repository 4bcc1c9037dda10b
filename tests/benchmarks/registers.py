"""What VNNI in 256-bit registers gains over AVX2, and 512-bit registers over both, on a CPU that has them all.

    .venv/bin/python -m tests.benchmarks.registers --dtypes int8,int4

Random weights in the shape of Llama 3.2 1B, the ways in turn: a prompt of 256 tokens, one chat and ten. CPUs with
AVX-VNNI but without AVX-512, such as Intel's desktop CPUs since Alder Lake, go the second way. Medians, tokens/s.
"""

import argparse
import statistics
from collections import defaultdict
from contextlib import nullcontext

from llama_gui.engine import Engine, native_library
from llama_gui.engine.bench import measure
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.presets import RandomModel, preset_config
from tests.benchmarks.peers import STARTER

PRESET, CHATS, PROMPT, NEW = "llama-3.2-1b", (1, 10), 256, 24


def ways(kernels: NativeKernels) -> list[str]:
    """The ways in which this CPU can multiply."""
    return ["AVX2", *(["VNNI of 256 bits"] if kernels.adds_fours else []), *(["512 bits"] if kernels.is_wide else [])]


def speeds(kernels: NativeKernels, way: str, dtype: str) -> dict[str, float]:
    """Tokens per second, by work."""
    with nullcontext() if way == "512 bits" else kernels.narrow(in_fours=way != "AVX2"):
        model = RandomModel(PRESET, preset_config(PRESET), STARTER)
        with Engine.load(model, dtype=dtype, max_batch=max(CHATS)) as engine:
            rows = list(measure(engine, CHATS, PROMPT, NEW))
    return {f"{row.work}, {row.chats}": row.tokens_per_second for row in rows}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtypes", default="int8,int4")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    kernels = native_library.load()
    if kernels is None:
        raise SystemExit("Our own kernels were not compiled, or cannot run here.")
    print(f"| dtype | work | {' | '.join(ways(kernels))} |\n| --- | --- |{' --- |' * len(ways(kernels))}")
    for dtype in options.dtypes.split(","):
        found = defaultdict[str, dict[str, list[float]]](lambda: defaultdict(list))
        for _ in range(options.rounds):
            for way in ways(kernels):
                for work, speed in speeds(kernels, way, dtype).items():
                    found[work][way].append(speed)
        for work, by_way in found.items():
            medians = {way: statistics.median(all_speeds) for way, all_speeds in by_way.items()}
            cells = (f"{speed:.1f} ({speed / medians['AVX2']:.2f} x)" for speed in medians.values())
            print(f"| {dtype} | {work} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
