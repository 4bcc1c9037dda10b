"""What guesses of a network that was trained for it cost, and how fast they make an answer where they are right.

    .venv/bin/python -m tests.benchmarks.assistant                      # Gemma 4 E2B and its assistant, int4
    .venv/bin/python -m tests.benchmarks.assistant --shape 12b --dtype int8
    .venv/bin/python -m tests.benchmarks.assistant --shape qwen3.5-4b   # and its layer for that

Weights are random, so that no guess is right: whether one counts as right is drawn (``--right 0.5,0.7,0.9``), and then
it is replaced by what the model writes, which is known from the answer without guesses. How often those of the real
networks are right was not measured; their shape here is a guess, too, but for what Google says of their size (78 M
parameters with E2B). Guesses of Qwen3.5's layer count as found among the first tokens (`mtp.SHORT`) as well.
Tokens per second, and how many times as fast as without, medians of rounds in turn.
"""

import argparse
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence as Many
from typing import Any, cast
from unittest import mock

from llama_gui.engine import Engine, GenerateRequest, SamplingParams
from llama_gui.engine.llama import Llama, Segment
from llama_gui.engine.network_guesses import NetworkGuesses
from llama_gui.engine.presets import RandomModel, preset_config
from llama_gui.engine.prompt_lookup import PromptLookup
from llama_gui.engine.sequence import Sequence
from llama_gui.engine.shared_thread import SharedThread
from tests.benchmarks.chats import STARTER, prompt

_E2B: dict[str, Any] = {
    "architectures": ["Gemma4ForCausalLM"], "num_hidden_layers": 35, "hidden_size": 1536, "intermediate_size": 6144,
    "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256, "global_head_dim": 512,
    "vocab_size": 262144, "vocab_size_per_layer_input": 262144, "hidden_size_per_layer_input": 256,
    "num_kv_shared_layers": 20, "use_double_wide_mlp": True, "sliding_window": 512, "rms_norm_eps": 1e-6,
    "hidden_activation": "gelu_pytorch_tanh", "final_logit_softcapping": 30.0, "tie_word_embeddings": True,
    "max_position_embeddings": 131072, "dtype": "bfloat16",
    "layer_types": [f"{'full' if n % 5 == 4 else 'sliding'}_attention" for n in range(35)],
}  # fmt: skip
_SHAPES = {"e2b": (_E2B, (256, 2048, 4)), "12b": (preset_config("gemma-4-12b"), (1024, 4096, 16))}
"""Of models, and of assistants: how wide they are, how wide within their MLPs, how many heads they have."""
_WITH_LAYER = ("qwen3.5-0.8b", "qwen3.5-4b")
"""Presets of models with a layer that guesses."""
_TELLING = 8
"""Passes of a kind whose median is told."""
_TAKEN = (
    "vocab_size", "num_key_value_heads", "head_dim", "global_head_dim", "num_global_key_value_heads",
    "attention_k_eq_v", "sliding_window", "rms_norm_eps", "hidden_activation", "tie_word_embeddings", "dtype",
    "max_position_embeddings",
)  # fmt: skip


def assistant_config(config: dict[str, Any], hidden: int, inner: int, heads: int) -> dict[str, Any]:
    """That of one for a model of `config`."""
    taken = {name: config[name] for name in _TAKEN if name in config}
    text = {
        **taken, "hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": 4,
        "num_attention_heads": heads, "layer_types": [*3 * ["sliding_attention"], "full_attention"],
    }  # fmt: skip
    outer = {"architectures": ["Gemma4AssistantForCausalLM"], "backbone_hidden_size": config["hidden_size"]}
    return {**outer, "text_config": text, "tie_word_embeddings": True, "dtype": "bfloat16"}


def answer(engine: Engine, new_tokens: int) -> tuple[list[int], float]:
    """What it writes, and tokens per second after the first."""
    bias = dict.fromkeys(engine.eos_token_ids, -1000.0)
    sampling = SamplingParams(temperature=1.0, top_k=64, top_p=0.95, min_p=0.0, seed=1, logit_bias=bias)
    marks: list[float] = []
    request = GenerateRequest(token_ids=prompt(64, 1), max_tokens=new_tokens, sampling=sampling)
    job = engine.submit(request, on_output=lambda _job, _out: marks.append(time.perf_counter()))
    return list(job.result().token_ids), (len(marks) - 1) / (marks[-1] - marks[0])


def guessing(known: Many[int], right: float) -> Any:
    """In the place of `Sequence.guess`, which it calls all the same: drawing takes time, too."""
    chance, of_network = random.Random(1), Sequence.guess

    def guess(self: Sequence, logits: Any, guesses: list[int]) -> int:
        made, place = of_network(self, logits, guesses), len(self.answer) + len(guesses)
        return known[place] if place < len(known) and chance.random() < right else made

    return mock.patch.object(Sequence, "guess", guess)


def timing(passes: defaultdict[int, list[float]]) -> Any:
    """Notes the seconds of every pass by how many rows it has."""
    of_network = Llama.hidden

    def hidden(self: Llama, segments: Many[Segment], *told: Any) -> Any:
        begun = time.perf_counter()
        made = of_network(self, segments, *told)
        passes[sum(len(segment.token_ids) for segment in segments)].append(time.perf_counter() - begun)
        return made

    return mock.patch.object(Llama, "hidden", hidden)


def _models(shape: str) -> tuple[Any, Any]:
    """A model, and what `Engine.load` is told of who guesses for it."""
    if shape in _WITH_LAYER:
        return RandomModel("model", preset_config(shape), STARTER, has_mtp=True), "auto"
    config, sizes = _SHAPES[shape]
    return RandomModel("model", config, STARTER), RandomModel("assistant", assistant_config(config, *sizes), STARTER)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=(*sorted(_SHAPES), *_WITH_LAYER), default="e2b")
    parser.add_argument("--dtype", default="int4")
    parser.add_argument("--right", default="0,0.5,0.7,0.9")
    parser.add_argument("--new-tokens", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    model, draft = _models(options.shape)
    thread = SharedThread()  # of two, each with helpers for its products, either would wait for the other's
    with (
        Engine.load(model, dtype=options.dtype, draft=draft, shared=thread) as guesser,
        Engine.load(model, dtype=options.dtype, shared=thread) as plain,
        mock.patch.object(PromptLookup, "propose", return_value=[]),
        timing(passes := defaultdict[int, list[float]](list)),
    ):
        known, without = answer(plain, options.new_tokens)
        for right in map(float, options.right.split(",")):
            speeds: list[tuple[float, float]] = []
            with guessing(known, right):
                answer(guesser, options.new_tokens)  # what rows and guesses cost is found out on the way
                for _ in range(options.rounds):
                    without, (same, with_) = answer(plain, options.new_tokens)[1], answer(guesser, options.new_tokens)
                    assert same == known, "guesses changed the answer"
                    speeds.append((without, with_))
            without, with_ = (statistics.median(column) for column in zip(*speeds, strict=True))
            print(
                f"{right:4.0%} right: {without:6.1f} -> {with_:6.1f} tokens/s, {with_ / without:.2f} times", flush=True
            )
        proposer = cast("NetworkGuesses", cast("Any", guesser)._loop._speculator.proposer)
        for reach, seconds in zip(proposer._reaches, proposer._seconds, strict=True):
            if seconds:
                share = seconds * without
                print(f"a guess among {reach:,} tokens takes {1e3 * seconds:.2f} ms, {share:.1%} of a step")
        print(f"{proposer.weight_bytes / 1e9:.2f} GB")
    one = statistics.median(passes.pop(1))
    for rows, seconds in sorted(passes.items()):
        if len(seconds) >= _TELLING:
            print(f"a pass over {rows} rows takes {statistics.median(seconds) / one:.2f} times as long as over one")


if __name__ == "__main__":
    main()
