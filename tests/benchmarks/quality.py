"""What narrower numbers cost: KL divergence, the likeliest token and perplexity against float32.

    .venv/bin/python -m tests.benchmarks.quality
    .venv/bin/python -m tests.benchmarks.quality --dtypes float32,bfloat16,int8 --cache-dtype int8

On dialogues of the kind the starter model learnt, drawn with a seed that it did not see, and on the same model with
planted outliers: a few channels in front of each product are made larger, and the weights behind them smaller by as
much, so that in exact arithmetic nothing changes. Large models grow such channels by themselves (LLM.int8, Dettmers et
al. 2022), small ones do not, and they are what eight bits for activations are measured by. Keys have channels of their
own (KIVI, Liu et al. 2024): `--in keys` plants them there, in each head, and makes queries smaller.
"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine import Engine, Message
from tests.benchmarks.peers import STARTER

CHANNELS = 4
_AFTER_NORM = {
    "input_layernorm": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "post_attention_layernorm": ("mlp.gate_proj", "mlp.up_proj"),
}


def plant(folder: Path, strength: float, target: Path) -> Path:
    """A copy of the model in which some channels are `strength` times as large, and nothing else differs."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("training"))
    weights = {name: tensor.float() for name, tensor in load_file(target / "model.safetensors").items()}
    generator = torch.Generator().manual_seed(1)
    layers = {name.split(".")[2] for name in weights if name.startswith("model.layers.")}
    for prefix in sorted(f"model.layers.{layer}." for layer in layers):
        pairs = [*_AFTER_NORM.items(), ("mlp.up_proj", ("mlp.down_proj",))]
        for before, after in pairs:
            source = weights[f"{prefix}{before}.weight"]
            channels = torch.randperm(len(source), generator=generator)[:CHANNELS]
            source[channels] *= strength
            for name in after:
                weights[f"{prefix}{name}.weight"][:, channels] /= strength
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    return target


def plant_in_keys(folder: Path, strength: float, target: Path) -> Path:
    """A copy of the model in which two channels of each head of the keys, with those that they are turned against, are
    `strength` times as large, and those of the queries smaller.
    """
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("training"))
    config = json.loads((target / "config.json").read_text(encoding="utf-8"))
    heads, kv_heads, dim = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    weights = {name: tensor.float() for name, tensor in load_file(target / "model.safetensors").items()}
    generator = torch.Generator().manual_seed(1)
    for layer in range(config["num_hidden_layers"]):
        prefix = f"model.layers.{layer}.self_attn."
        keys = weights[f"{prefix}k_proj.weight"].view(kv_heads, 2, dim // 2, -1)
        queries = weights[f"{prefix}q_proj.weight"].view(kv_heads, heads // kv_heads, 2, dim // 2, -1)
        for head in range(kv_heads):
            channels = torch.randperm(dim // 2, generator=generator)[:2]
            keys[head, :, channels] *= strength
            queries[head, :, :, channels] /= strength
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    return target


def dialogues(count: int) -> list[list[Message]]:
    """Held-out dialogues of the starter model's corpus."""
    sys.path.insert(0, str(STARTER / "training"))
    from corpus import load_corpus  # pyright: ignore[reportMissingImports]

    return [
        [Message(turn["role"], turn["content"]) for turn in dialogue]
        for dialogue, _ in zip(load_corpus().dialogues(seed=987_654), range(count), strict=False)
    ]


def log_probabilities(engine: Engine, texts: list[list[int]]) -> list[torch.Tensor]:
    """Float32 ``[tokens, vocab]`` for each text."""
    return [engine.logits(ids).log_softmax(-1) for ids in texts]


def compare(texts: list[list[int]], exact: list[torch.Tensor], other: list[torch.Tensor]) -> tuple[float, ...]:
    """KL divergence in nats, its 99th percentile, share of places with the same likeliest token, perplexities."""
    kl = torch.cat([(p.exp() * (p - q)).sum(-1) for p, q in zip(exact, other, strict=True)])
    same = torch.cat([p.argmax(-1) == q.argmax(-1) for p, q in zip(exact, other, strict=True)])
    return (
        float(kl.mean()), float(kl.quantile(0.99)), float(same.float().mean()), perplexity(texts, exact),
        perplexity(texts, other),
    )  # fmt: skip


def perplexity(texts: list[list[int]], scores: list[torch.Tensor]) -> float:
    """Of the tokens behind each first one."""
    parts = [
        -row[:-1].gather(1, torch.tensor(ids[1:]).unsqueeze(1))[:, 0] for ids, row in zip(texts, scores, strict=True)
    ]
    return float(torch.cat(parts).mean().exp())


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=STARTER)
    parser.add_argument("--dialogues", type=int, default=40)
    parser.add_argument("--strengths", default="1,10,30,100", help="of the planted outliers; 1: none")
    parser.add_argument("--dtypes", default="bfloat16,int8,int4")
    parser.add_argument("--cache-dtype", default="auto", help="of keys and values, except in what it is compared with")
    parser.add_argument("--in", dest="place", choices=("products", "keys"), default="products", help="the outliers")
    options = parser.parse_args()
    planted = plant_in_keys if options.place == "keys" else plant
    print("| outliers | dtype | KL, mean | KL, 99 % | same likeliest token | perplexity | in float32 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as scratch:
        for strength in map(float, options.strengths.split(",")):
            folder = options.model
            if strength != 1:
                folder = planted(options.model, strength, Path(scratch) / f"{strength:g}")
            with Engine.load(folder, dtype="float32") as engine:
                texts = [engine.apply_chat_template(turns, add_generation_prompt=False, tokenize=True)
                         for turns in dialogues(options.dialogues)]  # fmt: skip
                texts = [ids[: engine.info.max_context] for ids in texts]
                exact = log_probabilities(engine, texts)
            for dtype in options.dtypes.split(","):
                with Engine.load(folder, dtype=dtype, cache_dtype=options.cache_dtype) as engine:
                    row = compare(texts, exact, log_probabilities(engine, texts))
                kl, tail, same, wanted, got = row
                print(f"| {strength:g} x | {dtype} | {kl:.5f} | {tail:.4f} | {same:.2%} | {got:.4f} | {wanted:.4f} |",
                      flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
