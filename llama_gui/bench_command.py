"""``llama-gui bench``: how fast this machine reads prompts and writes answers."""

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

from llama_gui.errors import InvalidRequestError
from llama_gui.model_choice import ModelsHere
from llama_gui.paths import Paths
from llama_gui.terminal import importing_torch, in_terminal

if TYPE_CHECKING:
    from llama_gui.engine.bench import Measurement

MAX_CHATS = 256


def run_bench(options: argparse.Namespace, paths: Paths) -> int:
    """Measure, and print a row as soon as it is known; the exit status."""
    return in_terminal(lambda: _run(options, _chats(options.chats), paths))


def _chats(text: str) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        counts = []
    if not counts or not all(1 <= count <= MAX_CHATS for count in counts):
        raise InvalidRequestError("chats", text, f"whole numbers from 1 to {MAX_CHATS}, as in 1,3,10")
    return counts


def _run(options: argparse.Namespace, chats: list[int], paths: Paths) -> int:
    with importing_torch():
        from llama_gui.engine import Engine
        from llama_gui.engine.bench import check_lengths, measure
        from llama_gui.engine.presets import PRESETS, RandomModel, preset_config

    check_lengths(options.prompt_tokens, options.new_tokens)
    if options.preset is not None and options.preset not in PRESETS:
        raise InvalidRequestError("preset", options.preset, f"one of {', '.join(PRESETS)}")
    if options.model is not None and options.preset is not None:
        raise InvalidRequestError("preset", options.preset, "left out when --model is given")
    if options.preset is not None:
        model = RandomModel(options.preset, preset_config(options.preset), paths.starter_model)
    else:
        model = ModelsHere(paths).chosen(options.model)
    with Engine.load(
        model,
        dtype=options.dtype,
        cache_dtype=options.cache_dtype,
        threads=options.threads,
        max_batch=max(chats),
        kernel_notes=paths.kernel_notes,
    ) as engine:
        rows = measure(engine, chats, options.prompt_tokens, options.new_tokens)
        if options.json:
            _print_json(rows)
            return 0
        stats, info = engine.stats(), engine.info
        threads = "1 thread" if stats.threads == 1 else f"{stats.threads} threads"
        print(
            f"{info.name}, {info.parameters / 1e6:,.1f} M parameters, {info.dtype} on {info.device}, "
            f"{threads}, {stats.weight_bytes / 2**20:,.0f} MiB of weights, keys and values in {info.cache_dtype}"
        )
        _print_table(rows)
    return 0


def _print_json(rows: "Iterable[Measurement]") -> None:
    for row in rows:
        print(json.dumps(asdict(row)), flush=True)


def _print_table(rows: "Iterable[Measurement]") -> None:
    print(f"{'work':8}{'chats':>7}{'prompt':>8}{'new':>6}{'tokens/s':>11}{'ms a step':>12}{'peak MiB':>10}")
    for row in rows:
        print(
            f"{row.work:8}{row.chats:7}{row.prompt_tokens:8}{row.new_tokens:6}{row.tokens_per_second:11.1f}"
            f"{row.step_ms:12.1f}{row.peak_rss_bytes / 2**20:10,.0f}",
            flush=True,
        )
