"""Trains the starter model: the tokenizer and then the network, from the dialogues of ``corpus.py``.

    python train.py --minutes 30                       # as long as it takes on this machine
    python train.py --steps 4000 --out /tmp/starter    # the same network on every run of one machine

Runs on one processor core. The seeds are fixed; with ``--steps`` the outcome depends on nothing but the machine's
arithmetic. With ``--resume`` it goes on from the weights and the tokenizer in the folder. A usable checkpoint is
written now and then; each file is replaced in one move, so a reader never meets half a file.
"""

import argparse
import itertools
import json
import math
import os
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from corpus import Corpus, DialogueMessage, load_corpus
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch.nn import functional
from transformers import LlamaConfig, LlamaForCausalLM

SEED = 20
VOCABULARY = 2048
CONTEXT = 2048
BATCH_TOKENS = 2048
MUON_LEARNING_RATE = 0.02
ADAMW_LEARNING_RATE = 2.5e-3
QUESTION_WEIGHT = 0.1
"""How much a token of a question counts. Not 0: reading questions teaches the words that answers need."""
ANSWER_LENGTH = 40
"""Longer answers count less for each token, or the few long ones would drown the choice of the right answer."""
OPENING_TOKENS, OPENING_WEIGHT = 4, 3.0
"""The first tokens of an answer decide which answer it is, so they count more."""

SPECIAL_TOKENS = ("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
BEGIN, END, _, _, END_OF_TURN = range(len(SPECIAL_TOKENS))
# Llama 3's own cut: words with their leading space, at most three digits, marks, line ends, blanks.
WORD_PATTERN = "|".join(
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    )
)


@dataclass(frozen=True, slots=True)
class Batch:
    """Token ids [rows, length], padded on the right, and how much each predicted token counts."""

    tokens: torch.Tensor
    weights: torch.Tensor


def train_tokenizer(corpus: Corpus) -> Tokenizer:
    """A byte-level BPE with every byte in its alphabet, so that any text can be read and written."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORD_PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[AddedToken(token, special=True, normalized=False) for token in SPECIAL_TOKENS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    dialogues = itertools.islice(corpus.dialogues(SEED + 1), 6000)
    tokenizer.train_from_iterator((message["content"] for d in dialogues for message in d), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{SPECIAL_TOKENS[BEGIN]} $A",
        pair=f"{SPECIAL_TOKENS[BEGIN]} $A {SPECIAL_TOKENS[BEGIN]}:1 $B:1",
        special_tokens=[(SPECIAL_TOKENS[BEGIN], BEGIN)],
    )
    return tokenizer


def encode_dialogue(tokenizer: Tokenizer, dialogue: list[DialogueMessage]) -> tuple[list[int], list[float]]:
    """The ids that the chat template gives, and the weight of each."""
    ids, weights = [BEGIN], [0.0]
    for message in dialogue:
        header = f"<|start_header_id|>{message['role']}<|end_header_id|>\n\n"
        head = tokenizer.encode(header, add_special_tokens=False).ids
        body = [*tokenizer.encode(message["content"].strip(), add_special_tokens=False).ids, END_OF_TURN]
        ids += head + body
        weights += [0.0] * len(head) + _token_weights(message["role"], len(body))
    return ids[:CONTEXT], weights[:CONTEXT]


def _token_weights(role: str, length: int) -> list[float]:
    if role != "assistant":
        return [QUESTION_WEIGHT] * length
    weight = min(1.0, (ANSWER_LENGTH / length) ** 0.5)
    opening = min(OPENING_TOKENS, length)
    return [OPENING_WEIGHT] * opening + [weight] * (length - opening)


def batches(corpus: Corpus, tokenizer: Tokenizer, seed: int) -> Iterator[Batch]:
    """Batches without end. Dialogues of like length share one, each at position 0, so little padding is needed."""
    dialogues = corpus.dialogues(seed)
    rng = random.Random(seed)
    while True:
        pool = sorted(
            (encode_dialogue(tokenizer, d) for d in itertools.islice(dialogues, 768)), key=lambda d: len(d[0])
        )
        rows: list[list[tuple[list[int], list[float]]]] = [[]]
        for item in pool:
            if (len(rows[-1]) + 1) * len(item[0]) > BATCH_TOKENS and rows[-1]:
                rows.append([])
            rows[-1].append(item)
        rng.shuffle(rows)
        yield from map(_pad, rows)


def _pad(rows: list[tuple[list[int], list[float]]]) -> Batch:
    length = max(len(ids) for ids, _ in rows)
    tokens = torch.tensor([ids + [END] * (length - len(ids)) for ids, _ in rows])
    weights = torch.tensor([weights + [0.0] * (length - len(weights)) for _, weights in rows])
    return Batch(tokens, weights)


def make_network() -> LlamaForCausalLM:
    """The network with its first, random weights."""
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=256,
        intermediate_size=768,
        num_hidden_layers=6,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=64,
        max_position_embeddings=CONTEXT,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        tie_word_embeddings=True,
        bos_token_id=BEGIN,
        eos_token_id=[END, END_OF_TURN],
        use_cache=True,
    )
    torch.manual_seed(SEED)
    return LlamaForCausalLM(config)


def loss_of(network: LlamaForCausalLM, batch: Batch) -> torch.Tensor:
    """Mean loss over the tokens that count. Only their rows meet the vocabulary, which saves a third of the time."""
    targets, weights = batch.tokens[:, 1:], batch.weights[:, 1:]
    chosen = weights > 0
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = network.model(input_ids=batch.tokens[:, :-1], use_cache=False).last_hidden_state
        logits = network.lm_head(hidden[chosen])
    losses = functional.cross_entropy(logits.float(), targets[chosen], reduction="none")
    return (losses * weights[chosen]).sum() / weights.sum()


def rate_factor(progress: float) -> float:
    """Warm up over the first fiftieth, then a cosine down to a fiftieth of the peak."""
    if progress < 0.02:
        return max(progress, 0.0005) / 0.02
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (progress - 0.02) / 0.98))


def make_optimizers(network: LlamaForCausalLM) -> list[torch.optim.Optimizer]:
    """Muon for the matrices, which needs about half the steps of AdamW here, and AdamW for embeddings and norms."""
    matrices = [p for name, p in network.named_parameters() if p.dim() == 2 and "embed" not in name]
    others = [p for name, p in network.named_parameters() if p.dim() != 2 or "embed" in name]
    return [
        torch.optim.Muon(matrices, lr=MUON_LEARNING_RATE, momentum=0.95, weight_decay=0.02),
        torch.optim.AdamW(others, lr=ADAMW_LEARNING_RATE, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
    ]


def save(network: LlamaForCausalLM, tokenizer: Tokenizer, out: Path) -> None:
    """Write the model folder, file by file, each in one move. The card and the template are kept as they are."""
    with tempfile.TemporaryDirectory(dir=out) as folder:
        staging = Path(folder)
        rounded = LlamaForCausalLM(network.config).bfloat16()
        rounded.load_state_dict(network.state_dict())
        rounded.save_pretrained(staging)
        tokenizer.save(str(staging / "tokenizer.json"))
        _write_json(staging / "generation_config.json", _generation_config())
        _write_json(staging / "tokenizer_config.json", _tokenizer_config())
        template = Path(__file__).resolve().parent.parent / "chat_template.jinja"
        if not (out / template.name).exists():
            shutil.copy(template, staging)
        for path in sorted(staging.iterdir()):
            # save_pretrained writes files that only their owner may read; a shipped file is for everybody.
            path.chmod(0o644)
            os.replace(path, out / path.name)


def _write_json(path: Path, content: dict[str, object]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _generation_config() -> dict[str, object]:
    return {
        "bos_token_id": BEGIN,
        "eos_token_id": [END, END_OF_TURN],
        "do_sample": True,
        "temperature": 0.3,
        "top_p": 0.9,
        "top_k": 20,
    }


def _tokenizer_config() -> dict[str, object]:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": SPECIAL_TOKENS[BEGIN],
        "eos_token": SPECIAL_TOKENS[END_OF_TURN],
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", "attention_mask"],
        "model_max_length": CONTEXT,
    }


def train(network: LlamaForCausalLM, tokenizer: Tokenizer, corpus: Corpus, options: argparse.Namespace) -> None:
    """Train for `options.steps` or `options.minutes`, and save at the end and every `options.save_minutes`."""
    optimizers = make_optimizers(network)
    peaks = [(group, group["lr"] * options.rate) for optimizer in optimizers for group in optimizer.param_groups]
    start = saved = time.monotonic()
    tokens_seen, running = 0, 0.0
    for step, batch in enumerate(batches(corpus, tokenizer, options.seed)):
        elapsed = time.monotonic() - start
        progress = step / options.steps if options.steps else elapsed / (60 * options.minutes)
        if progress >= 1:
            break
        for group, peak in peaks:
            group["lr"] = peak * rate_factor(progress)
        loss = loss_of(network, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        tokens_seen += batch.tokens.numel()
        running = loss.item() if step == 0 else 0.98 * running + 0.02 * loss.item()
        if step % 50 == 0:
            print(
                f"step {step} loss {running:.4f} {tokens_seen / (elapsed + 1):.0f} tokens/s {progress:.1%}", flush=True
            )
        if time.monotonic() - saved > 60 * options.save_minutes:
            save(network, tokenizer, options.out)
            saved = time.monotonic()
    save(network, tokenizer, options.out)
    print(f"done: {tokens_seen} tokens, loss {running:.4f}", flush=True)


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=30.0)
    length.add_argument("--steps", type=int)
    parser.add_argument("--save-minutes", type=float, default=8.0)
    parser.add_argument("--seed", type=int, default=SEED, help="of the dialogues; take another one with --resume")
    parser.add_argument("--rate", type=float, default=1.0, help="factor on the learning rate, for --resume")
    parser.add_argument("--resume", action="store_true", help="go on from the model in the folder")
    options = parser.parse_args()

    # The machine has other work to do: one core, and only when nobody else wants it.
    torch.set_num_threads(1)
    if hasattr(os, "nice"):
        os.nice(10)
    options.out.mkdir(parents=True, exist_ok=True)
    network = make_network()
    parameters = sum(p.numel() for p in network.parameters())
    corpus = load_corpus(millions=round(parameters / 1e6), megabytes=round(2 * parameters / 1e6))
    if options.resume:
        tokenizer = Tokenizer.from_file(str(options.out / "tokenizer.json"))
        network.load_state_dict(LlamaForCausalLM.from_pretrained(options.out, dtype=torch.float32).state_dict())
    else:
        tokenizer = train_tokenizer(corpus)
    print(f"{parameters} parameters, {tokenizer.get_vocab_size()} tokens", flush=True)
    train(network, tokenizer, corpus, options)


if __name__ == "__main__":
    main()
