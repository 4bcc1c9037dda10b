"""How much guesses from the text save on real texts, whatever the machine: steps are counted, not timed.

    .venv/bin/python -m tests.benchmarks.guess_odds

No model of any size can be had here, so texts that people wrote stand for answers: those that come with Python.
"prose": chapters of its reference, behind a short question; "code": modules, likewise; "more prose", "more code": what
follows behind their first 800 tokens, as in a long chat; "edited": a module as it was, and then with names changed and
lines put in. The tokens are those of a vocabulary of 32,000, trained on other files of the same kinds. A step costs 1,
and each guess in it as much as the column says: 0.025 where the memory is waited for (AVX-512), 0.2 with AVX2, 0.6 in a
mixture of experts. "behind others": all texts of a kind one after the other, so that the earlier ones help. Printed are
the mean over the texts, and the worst of them.
"""

import random
import re
import statistics
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from pydoc_data.topics import topics
from types import SimpleNamespace
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from llama_gui.engine.prompt_lookup import Price, PromptLookup

PRICES = (0.025, 0.06, 0.2, 0.6)
QUESTION, BEFORE, ANSWER, TEXTS = "Explain how this is done, step by step.", 800, 500, 40

Work = tuple[list[int], list[int]]
"""Prompt and answer."""


def saved(prompt: list[int], answer: list[int], price: float, lookup: PromptLookup) -> float:
    """How many times as fast it is written as without guesses."""
    known, cost, done = prompt + answer[:1], 1.0, 1
    sequence: Any = SimpleNamespace(number=1, answer=answer, asker="")
    while done < len(answer):
        sequence.tokens = known
        most = min(lookup.most_guesses, len(answer) - done - 1)
        guesses = lookup.propose(sequence, most, Price(1, price)) if most else []
        right = 0
        while right < len(guesses) and guesses[right] == answer[done + right]:
            right += 1
        if guesses:
            lookup.record(sequence, len(guesses), right)
        known = known + answer[done : done + right + 1]
        done += right + 1
        cost += 1 + price * len(guesses)
    lookup.forget(sequence)
    return len(answer) / cost


def works() -> Mapping[str, list[Work]]:
    """The texts, as tokens."""
    chance = random.Random(5)
    modules = [file.read_text("utf-8") for file in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))]
    modules = [text for text in modules if len(text) > 8_000]
    chapters = [text for _, text in sorted(topics.items()) if len(text) > 4_000]
    for texts in (modules, chapters):
        chance.shuffle(texts)
    tokens = _tokens(modules[TEXTS:] + chapters[TEXTS:])

    def halves(texts: Sequence[str]) -> list[Work]:
        read = [tokens(text)[: BEFORE + ANSWER] for text in texts]
        return [(ids[:BEFORE], ids[BEFORE:]) for ids in read if len(ids) > BEFORE + 100]

    begun = {"prose": chapters[:TEXTS], "code": modules[:TEXTS]}
    asked = tokens(QUESTION)
    return {
        **{name: [(asked, tokens(text)[:ANSWER]) for text in texts] for name, texts in begun.items()},
        **{f"more {name}": halves(texts) for name, texts in begun.items()},
        "edited": [(tokens(text[:4_000]), tokens(_edited(text[:4_000], chance))) for text in modules[:TEXTS]],
    }


def _tokens(texts: Sequence[str]):
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=32_000, initial_alphabet=alphabet, show_progress=False)
    )
    return lambda text: bpe.encode(text).ids


def _edited(text: str, chance: random.Random) -> str:
    for name in chance.sample(sorted(set(re.findall(r"\b[a-z_]{5,}\b", text))), 3):
        text = re.sub(rf"\b{name}\b", f"{name}_new", text)
    lines = text.split("\n")
    for number in range(max(len(lines) // 25, 1)):
        lines.insert(chance.randrange(len(lines)), f"    # checks that part {number} is right")
    return "\n".join(lines)


def main() -> None:
    """Count and print, as a Markdown table."""
    print("| text | " + " | ".join(f"a row costs {price}" for price in PRICES) + " |")
    print("| --- |" + " --- |" * len(PRICES))
    for name, texts in works().items():
        for kind, remembers in ((name, False), (f"{name}, behind others", True)):
            columns = [_column(texts, price, remembers=remembers) for price in PRICES]
            cells = [f"{statistics.mean(column):.2f} ({min(column):.2f})" for column in columns]
            print(f"| {kind} | " + " | ".join(cells) + " |")


def _column(texts: Sequence[Work], price: float, *, remembers: bool) -> list[float]:
    lookup = PromptLookup()
    return [saved(prompt, answer, price, lookup if remembers else PromptLookup()) for prompt, answer in texts]


if __name__ == "__main__":
    main()
