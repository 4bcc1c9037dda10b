"""One engine in a process of its own, for `versus`: it loads random weights, then does what standard input asks for.

A line ``decode CHATS CONTEXT STEPS`` or ``prefill TOKENS``; the answer is tokens per second. llama.cpp's worker needs
llama-cpp-python and nothing else, so that it may live in another environment.
"""

import argparse
import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path

STARTER = Path(__file__).parents[2] / "resources" / "starter_model"
LLAMA_BATCH = 2048
"""Tokens that llama.cpp takes at a time."""

Decode = Callable[[int, int, int], float]
Prefill = Callable[[int], float]


def ours(options: argparse.Namespace) -> tuple[Decode, Prefill]:
    """The whole engine: scheduler, cache, sampler, text."""
    from llama_gui.engine import Engine
    from llama_gui.engine.bench import decode, prefill
    from llama_gui.engine.gguf import GgufModel
    from llama_gui.engine.presets import RandomModel, preset_config
    from llama_gui.engine.tokenizer import Tokenizer

    class Borrowing(GgufModel):
        """The file has no vocabulary."""

        def tokenizer(self) -> Tokenizer:
            return Tokenizer.load(STARTER)

    if options.gguf:
        model = Borrowing(Path(options.gguf))
    else:
        model = RandomModel(options.preset, preset_config(options.preset), STARTER)
    exact = not options.not_exact
    engine = Engine.load(model, dtype=options.dtype, device=options.device, max_batch=64, exact=exact)
    engine.settle()

    seeds = itertools.count(10**6)

    def write(chats: int, context: int, steps: int) -> float:
        return decode(engine, chats, context, steps + 1).tokens_per_second

    def read(tokens: int) -> float:
        return prefill(engine, tokens, next(seeds)).tokens_per_second

    return write, read


def transformers(options: argparse.Namespace) -> tuple[Decode, Prefill]:
    """A greedy loop over the model's forward, with its own cache."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    from llama_gui.engine.checkpoint import with_parts
    from llama_gui.engine.presets import RandomModel, preset_config
    from tests.fakes.reference_cache import fresh_cache

    content = preset_config(options.preset)
    kinds = {
        "LlamaForCausalLM": "llama", "Qwen2ForCausalLM": "qwen2", "Qwen3_5ForCausalLM": "qwen3_5_text",
        "Lfm2ForCausalLM": "lfm2", "GraniteMoeHybridForCausalLM": "granitemoehybrid",
    }  # fmt: skip
    kind = kinds[content["architectures"][0]]
    theirs = AutoConfig.for_model(kind, **content)
    dtype = getattr(torch, options.dtype)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(theirs, dtype=dtype)
    device = torch.device(options.device)
    model = model.to_empty(device=device).eval()
    model.tie_weights()
    ours = RandomModel(options.preset, content, STARTER)
    source, parts = ours.weights(), ours.config.part_names
    for name, parameter in model.named_parameters():
        parameter.data = source.weight(with_parts(name, parts), dtype, device)
    rotary = model.model.rotary_emb
    if rotary is not None:
        model.model.rotary_emb = type(rotary)(theirs).to(device)  # its buffers were on the meta device

    def settled(ids: torch.Tensor) -> torch.Tensor:
        """When they are there: a card works on while Python goes on."""
        return ids.cpu()

    @torch.inference_mode()
    def decode(chats: int, context: int, steps: int) -> float:
        cache = fresh_cache(model)
        ids = torch.randint(0, 2000, (chats, context), device=device)
        logits = model(ids, **cache, logits_to_keep=1).logits
        settled(logits)
        began = time.perf_counter()
        for _ in range(steps):
            ids = logits[:, -1].argmax(-1, keepdim=True)
            settled(ids)  # to be told to somebody
            logits = model(ids, **cache, logits_to_keep=1).logits
        settled(logits[:, -1].argmax(-1))
        return chats * steps / (time.perf_counter() - began)

    @torch.inference_mode()
    def prefill(tokens: int) -> float:
        ids = torch.randint(0, 2000, (1, tokens), device=device)
        began = time.perf_counter()
        settled(model(ids, **fresh_cache(model), logits_to_keep=1).logits[0, -1].argmax())
        return tokens / (time.perf_counter() - began)

    return decode, prefill


def llama_cpp(options: argparse.Namespace) -> tuple[Decode, Prefill]:
    """llama.cpp's C interface, a sequence for each chat; sampling is an argmax over the logits."""
    import ctypes

    import llama_cpp as lib
    import numpy as np

    lib.llama_backend_init()
    model = lib.llama_model_load_from_file(options.gguf.encode(), lib.llama_model_default_params())
    size = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model))
    params = lib.llama_context_default_params()
    params.n_ctx, params.n_batch, params.n_ubatch = 16384, LLAMA_BATCH, 512
    params.n_seq_max = options.sequences  # which share the context
    params.n_threads = params.n_threads_batch = options.threads
    context = lib.llama_init_from_model(model, params)
    batch = lib.llama_batch_init(LLAMA_BATCH, 0, 1)

    def run(rows: "list[tuple[int, int, int, bool]]") -> None:
        for first in range(0, len(rows), LLAMA_BATCH):
            run_batch(rows[first : first + LLAMA_BATCH])

    def run_batch(rows: "list[tuple[int, int, int, bool]]") -> None:
        batch.n_tokens = len(rows)
        for i, (token, position, chat, wanted) in enumerate(rows):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, position, 1
            batch.seq_id[i][0], batch.logits[i] = chat, wanted
        if lib.llama_decode(context, batch):
            raise RuntimeError("llama_decode failed")

    def drawn(row: int) -> int:
        logits = lib.llama_get_logits_ith(context, row)
        return int(np.ctypeslib.as_array(ctypes.cast(logits, ctypes.POINTER(ctypes.c_float)), (size,)).argmax())

    def clear() -> None:
        lib.llama_memory_clear(lib.llama_get_memory(context), True)

    def decode(chats: int, length: int, steps: int) -> float:
        clear()
        draw = np.random.default_rng(1)
        for chat in range(chats):
            ids = draw.integers(0, 2000, length)
            run([(int(token), at, chat, at == length - 1) for at, token in enumerate(ids)])
        tokens = [1] * chats
        began = time.perf_counter()
        for step in range(steps):
            run([(token, length + step, chat, True) for chat, token in enumerate(tokens)])
            tokens = [drawn(row) for row in range(chats)]
        return chats * steps / (time.perf_counter() - began)

    def prefill(tokens: int) -> float:
        clear()
        ids = np.random.default_rng(2).integers(0, 2000, tokens)
        began = time.perf_counter()
        run([(int(token), at, 0, at == tokens - 1) for at, token in enumerate(ids)])
        drawn(-1)
        return tokens / (time.perf_counter() - began)

    return decode, prefill


def quantise(options: argparse.Namespace) -> None:
    """Write the GGUF file in another of llama.cpp's kinds."""
    import llama_cpp as lib

    params = lib.llama_model_quantize_default_params()
    params.ftype = getattr(lib, f"LLAMA_FTYPE_MOSTLY_{options.dtype}")
    params.nthread = options.threads
    if lib.llama_model_quantize(options.gguf.encode(), options.target.encode(), params):
        raise RuntimeError("llama_model_quantize failed")


def main() -> None:
    """Serve one engine on standard input and output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=("ours", "transformers", "llama.cpp", "quantise"))
    parser.add_argument("--preset")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--gguf")
    parser.add_argument("--target")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--not-exact", action="store_true")
    parser.add_argument("--sequences", type=int, default=16, help="of llama.cpp, among which it shares the context out")
    options = parser.parse_args()
    if options.engine == "quantise":
        quantise(options)
        return
    make = {"ours": ours, "transformers": transformers, "llama.cpp": llama_cpp}[options.engine]
    decode, prefill = make(options)
    print("ready", flush=True)
    for line in sys.stdin:
        work, *numbers = line.split()
        speed = decode(*map(int, numbers)) if work == "decode" else prefill(*map(int, numbers))
        print(f"speed {speed:.3f}", flush=True)


if __name__ == "__main__":
    main()
