"""Whether we read GGUF files as llama.cpp does: logits of every family, and tokens of random texts, as a table.

    .venv/bin/python -m tests.benchmarks.gguf_parity --llama-python PYTHON

PYTHON has llama-cpp-python; this file's `theirs` runs there, so nothing of ours is imported before `main`. The models
are the tests' tiny random ones in float32.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TEXTS, PROMPT = 3000, 48
# What is cut differently by one rule or another: cases, digits, blanks, marks, scripts.
_WORDS = """
a b Hello WORLD camelCase HTTPServer 's 'S 'll 'RE ’s don't I'M 1 12 345 6789 ٣٤ ½ ² Ⅷ
. , !? ... -- / // _ __ ( ) [] {} $ € + = < > ^ ~ | @ # é e\u0301 Ünï ß Ж жук 日本 語 한국
ابجد שלום हिन्दी ก\u0e34 😀 👩\u200d💻 ǅ ʰ ﬁ \u0301
"""
_BLANKS = (" ", "  ", "   ", "\n", "\n\n", " \n", "\t", "\r\n", "\r", "\u00a0", "\u3000", "\u200b", "\ufeff")
PIECES = (*_WORDS.split(), *_BLANKS)


def theirs(path: str) -> None:
    """Standard input: prompts of ids and texts. Standard output: the logits of each prompt, the ids of each text."""
    import llama_cpp  # pyright: ignore[reportMissingImports]
    import numpy as np

    asked = json.load(sys.stdin)
    llama_cpp.llama_backend_init()
    params = llama_cpp.llama_model_default_params()
    model = llama_cpp.llama_model_load_from_file(path.encode(), params)
    vocab = llama_cpp.llama_model_get_vocab(model)
    exactly = llama_cpp.llama_context_default_params()
    exactly.type_k = exactly.type_v = 0  # float32
    exactly.flash_attn_type = 0
    context = llama_cpp.llama_init_from_model(model, exactly)
    size, ids = llama_cpp.llama_vocab_n_tokens(vocab), asked["ids"]
    batch = llama_cpp.llama_batch_init(len(ids), 0, 1)
    batch.n_tokens = len(ids)
    for place, token_id in enumerate(ids):
        batch.token[place], batch.pos[place], batch.logits[place] = token_id, place, 1
        batch.n_seq_id[place], batch.seq_id[place][0] = 1, 0
    if llama_cpp.llama_decode(context, batch):
        raise SystemExit("llama.cpp refuses the prompt")
    rows = [np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(context, place), (size,)) for place in range(len(ids))]
    found = []
    for text in asked["texts"]:
        data = text.encode()
        room = (llama_cpp.llama_token * (2 * len(data) + 8))()
        found.append(list(room[: llama_cpp.llama_tokenize(vocab, data, len(data), room, len(room), False, False)]))
    print(json.dumps({"logits": np.stack(rows).tolist(), "texts": found}))


def ask_them(python: str, file: Path, ids: Sequence[int], texts: Sequence[str]) -> dict[str, Any]:
    """What llama.cpp makes of a file, of ids and of texts."""
    command = [python, __file__, "--theirs", str(file)]
    asked = json.dumps({"ids": ids, "texts": texts})
    ran = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"llama.cpp cannot run {file.name}: {ran.stderr[-400:]}")
    return json.loads(ran.stdout.splitlines()[-1])


def random_texts(count: int, most: int, seed: int) -> list[str]:
    """Pieces one behind the other, up to `most` in each."""
    rng = random.Random(seed)
    return ["".join(rng.choices(PIECES, k=rng.randint(1, most))) for _ in range(count)]


def vocabulary() -> dict[str, Any]:
    """One whose tokens reach across words, blanks and digits, so that it shows wherever a text is cut."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=3000, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(random_texts(4000, 80, 1), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    tokens = ["<|begin_of_text|>", "<|eot_id|>", *sorted(model["vocab"], key=model["vocab"].get)]
    return {
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.merges": [" ".join(pair) for pair in model["merges"]],
        "tokenizer.ggml.token_type": [3, 3] + [1] * (len(tokens) - 2),
        "tokenizer.ggml.bos_token_id": 0,
        "tokenizer.ggml.eos_token_id": 1,
        "tokenizer.chat_template": None,
    }


def compare_families(python: str) -> None:
    """Logits of a prompt, and tokens of texts by the vocabulary of the tests' models."""
    import torch

    from llama_gui.engine import Engine
    from tests.fakes.gguf_files import write_gguf
    from tests.fakes.tiny_llama import CPU_SHAPES, FAMILY_SHAPES, SHAPES, STRANGE_SHAPES, write_tiny_llama
    from tests.fakes.tiny_tokenizers import gemma4_tokenizer

    texts = random_texts(TEXTS, 20, 2)
    ids = torch.randint(6, 250, (PROMPT,), generator=torch.Generator().manual_seed(1)).tolist()
    # llama.cpp lets no window slide in some families, so theirs are longer than the prompt.
    whole = {
        "mistral": {"sliding_window": 500},
        "phi3": {"sliding_window": 500},
        "qwen2": {"use_sliding_window": False},
        "gpt-oss": {"rope_scaling": None},  # it rounds the ends of YaRN's ramp, which OpenAI's own code does not
        "exaone4": {"sliding_window": None, "layer_types": 5 * ["full_attention"]},
        "qwen3.5": {"linear_value_head_dim": 16},  # it knows heads that are as wide for values as for keys
        # Of Gemma 4 it knows E2B and E4B: those that borrow do it of the last two that do not.
        "gemma4": {
            "vocab_size_per_layer_input": gemma4_tokenizer().get_vocab_size(),
            "layer_types": [f"{kind}_attention" for kind in (*2 * ("sliding", "full"), *2 * ("sliding",), "full")],
        },
    }
    print("| family | largest difference of logits | of | texts with the same tokens |\n| --- | --- | --- | --- |")
    for shape in (*SHAPES, *FAMILY_SHAPES, *STRANGE_SHAPES, *CPU_SHAPES):
        with tempfile.TemporaryDirectory() as scratch:
            folder = write_tiny_llama(Path(scratch, "model"), shape, **whole.get(shape, {}))
            # Of OLMo 3 llama.cpp counts the attention factor twice: see `GgufConfig`.
            fields = {"olmo2.rope.scaling.attn_factor": None} if shape == "olmo3" else {}
            file = write_gguf(folder, Path(scratch, "model.gguf"), "F32", pre="llama-bpe", fields=fields)
            found = ask_them(python, file, ids, texts)
            with Engine.load(file, dtype="float32") as engine:
                logits = engine.logits(ids)
                same = sum(
                    engine.tokenizer.encode(text, add_special_tokens=False) == other
                    for text, other in zip(texts, found["texts"], strict=True)
                )
        other = torch.tensor(found["logits"])
        difference = float((logits - other).abs().max())
        print(f"| {shape} | {difference:.1e} | {float(other.abs().max()):.1f} | {same} of {len(texts)} |", flush=True)


def compare_cutting(python: str) -> None:
    """Tokens of texts for every name of a way to cut them."""
    from llama_gui.engine.gguf import GgufModel
    from llama_gui.engine.gguf_pre import PRE_TOKENIZERS
    from tests.fakes.gguf_files import write_gguf
    from tests.fakes.tiny_llama import write_tiny_llama

    texts, fields = random_texts(TEXTS, 20, 2), vocabulary()
    print("\n| `tokenizer.ggml.pre` | texts with the same tokens |\n| --- | --- |")
    for name in PRE_TOKENIZERS:
        with tempfile.TemporaryDirectory() as scratch:
            size = len(fields["tokenizer.ggml.tokens"])
            folder = write_tiny_llama(Path(scratch, "model"), "llama-3.2", vocab_size=size)
            file = write_gguf(folder, Path(scratch, "model.gguf"), "F32", pre=name, fields=fields)
            found = ask_them(python, file, [0], texts)["texts"]
            tokenizer = GgufModel(file).tokenizer()
            ours = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
        same = sum(one == other for one, other in zip(ours, found, strict=True))
        print(f"| {name} | {same} of {len(texts)} |", flush=True)


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llama-python", metavar="PYTHON", default=sys.executable)
    parser.add_argument("--theirs", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.theirs:
        theirs(options.theirs)
    else:
        compare_families(options.llama_python)
        compare_cutting(options.llama_python)


if __name__ == "__main__":
    main()
