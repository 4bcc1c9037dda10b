"""Requests with any fields, in any company, cancelled and resumed at any moment: each gets what it would get alone."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from llama_gui.engine import (
    AnswerState,
    Engine,
    GenerateRequest,
    GenerateResult,
    Message,
    SamplingParams,
    TokenOutput,
)
from llama_gui.engine.job import Job
from llama_gui.engine.scheduler import TokenBudget
from llama_gui.errors import InvalidRequestError, PromptTooLongError
from tests.fakes.tiny_llama import Shape, write_tiny_llama

pytest.importorskip("llguidance")

WAIT = 60
CONTEXT = 200
FLIGHT = 12
KINDS: dict[str, dict[str, Any]] = {
    "batched": {},
    "interleaved": {"strategy": "interleaved"},
    "sequential": {"strategy": "sequential", "draft": "ngram"},
    "guesses from the text": {"draft": "ngram"},
    "guesses of another network": {"draft": "another"},
    "guesses of the network itself": {"draft": "itself"},
}
TEXTS = [
    "one two three",
    "Hello there, how are you? ",
    "a b a b a b a b",
    "naïve 日本語 👩 café",
    "[1, 2, 3]\n\n",
    "{",
    " ",
]
SCHEMAS: list[dict[str, Any]] = [
    {"type": "array", "items": {"enum": ["a", "b", 1]}, "maxItems": 4},
    {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": False},
    {"type": "string", "maxLength": 6},
]
TOOL = {"type": "function", "function": {"name": "f", "description": "?", "parameters": {"type": "object"}}}


def likes_even(ids: list[int], logits: Tensor) -> Tensor:
    """A processor of the caller's: another preference after each token."""
    return logits + torch.arange(len(logits)).add(len(ids)).remainder(2) * 2.0


class Asking:
    """Random requests, from one number."""

    def __init__(self, seed: int, engine: Engine) -> None:
        self.rng = random.Random(seed)
        self.size = min(engine.tokenizer.vocab_size, engine.vocab_size)

    def some(self, *values: Any) -> Any:
        """One of them."""
        return self.rng.choice(values)

    def ids(self, most: int) -> list[int]:
        """Few different tokens, so that there is something to look up, to reuse and to punish."""
        some = [self.rng.randrange(self.size) for _ in range(self.rng.randrange(1, 6))]
        return [self.rng.choice(some) for _ in range(self.rng.randrange(1, most))]

    def sampling(self) -> SamplingParams:
        """Usually some of the parameters at once."""
        choices: dict[str, Sequence[Any]] = {
            "temperature": (0, 0.3, 1.0, 2.0),
            "top_k": (0, 1, 5, 70),
            "top_p": (0.5, 0.99, 1.0),
            "min_p": (0.0, 0.1),
            "repetition_penalty": (0.5, 1.3),
            "frequency_penalty": (-1, 0.7),
            "presence_penalty": (-1, 0.7),
            "penalty_window": (-1, 0, 7),
            "logit_bias": ({}, {7: 5.0, 8: -100}, dict.fromkeys(self.ids(4), 3.0)),
            "typical_p": (0.4, 0.9),
            "xtc_probability": (0.5, 1.0),
            "xtc_threshold": (0.0, 0.02),
            "dry_multiplier": (0.8, 3.0),
            "dry_allowed_length": (1, 2),
            "allowed_token_ids": (range(0, self.size, 2), range(self.size)),
            "banned_token_ids": (self.ids(9), range(0, self.size, 3)),
            "bad_words": (["one"], ["a", "the ", " th"]),
        }
        share = self.some(0.1, 0.3, 0.6)
        given = {name: self.rng.choice(values) for name, values in choices.items() if self.rng.random() < share}
        return SamplingParams(seed=self.rng.randrange(4), **given)

    def request(self) -> GenerateRequest:
        """A prompt of some kind, and some of the other fields."""
        prompts = ({"token_ids": self.ids(90)}, {"prompt": self.some(*TEXTS) * self.some(1, 3)}, self.conversation())
        fields: dict[str, Any] = {**self.some(*prompts), "sampling": self.sampling()}
        options: dict[str, Callable[[], Any]] = {
            "stop": lambda: [self.some("a", "e", "th", "\n", " ", "ab")],
            "stop_token_ids": lambda: self.ids(9),
            "min_tokens": lambda: self.some(1, 2, 9),
            "ignore_eos": lambda: True,
            "include_stop_str_in_output": lambda: True,
            "skip_special_tokens": lambda: False,
            "logprobs": lambda: self.some(1, 4),
            "prompt_logprobs": lambda: self.some(0, 2),
            "cache_key": lambda: self.some("a", "b", "c"),
            "logits_processor": lambda: likes_even,
            "answer_token_ids": lambda: self.ids(12),
            "answer_text": lambda: self.some(*TEXTS),
            "truncate_prompt_tokens": lambda: self.some(-1, 1, 5),
            "json_schema": lambda: self.some(*SCHEMAS),
            "regex": lambda: self.some("(ab|ba){1,9}", "[0-9]+", "[^x]{3,20}"),
        }
        share = self.some(0.05, 0.15, 0.4)
        fields |= {name: make() for name, make in options.items() if self.rng.random() < share}
        fields["max_tokens"] = self.some(1, 9, 20, 40, None) if "min_tokens" not in fields else self.some(9, 30, None)
        return GenerateRequest(**fields)

    def conversation(self) -> dict[str, Any]:
        """Messages, with what goes along."""
        said = [self.some(*TEXTS[:4]) * self.some(1, 1, 5) for _ in range(self.some(1, 3, 5))]
        messages = [Message("assistant" if n % 2 else "user", text) for n, text in enumerate(said)]
        return {"messages": messages, **self.some({}, {}, {"tools": [TOOL]}, {"overflow": "error"})}

    def valid(self, engine: Engine) -> GenerateRequest:
        """One that the engine takes."""
        while True:
            try:
                request = self.request()
                engine._reader.read(request)
                job = engine.submit(request)
            except (InvalidRequestError, PromptTooLongError):
                continue
            job.cancel()
            return request


Told = tuple[Any, ...]


def told(output: TokenOutput | None) -> Told | None:
    """All of a token but its place in a resumed stream."""
    return output and (output.token_id, output.text, output.logprob, output.top_logprobs, output.index)


def ends(result: GenerateResult) -> Told:
    """All of an answer but its times."""
    return (
        result.text,
        result.token_ids,
        result.finish_reason,
        result.stop_reason,
        repr(result.error),
        result.usage.prompt_tokens,
        result.seed,
        result.dropped_messages,
        [told(output) for output in result.prompt_logprobs],
    )


class Run:
    """One request in the fuzzed engine: cancelled once or not, and then resumed."""

    def __init__(self, engine: Engine, request: GenerateRequest, cancel_at: int | None) -> None:
        self.engine = engine
        self.request = request
        self.cancel_at = cancel_at
        self.outputs: list[Told | None] = []
        self.job = engine.submit(request, self._hear)

    def _hear(self, job: Job, output: TokenOutput) -> None:
        self.outputs.append(told(output))
        if len(self.outputs) == self.cancel_at:
            job.cancel()

    def finish(self) -> tuple[list[Told | None], Told]:
        """What came, and the end of it."""
        result = self.job.result(WAIT)
        if result.finish_reason != "cancelled":
            return self.outputs, ends(result)
        assert result.text.endswith("".join(output[1] for output in self.outputs if output))
        state = AnswerState.from_json(self.job.answer_state.to_json())
        rest = self.engine.resume(state, self._hear, logits_processor=self.request.logits_processor)
        resumed = rest.result(WAIT)
        return self.outputs, ends(replace(resumed, dropped_messages=result.dropped_messages, prompt_logprobs=()))


def alone(engine: Engine, request: GenerateRequest) -> tuple[list[Told | None], Told]:
    """What an engine answers that has nothing else to do, and remembers nothing."""
    engine._loop.call(engine._loop._cache.clear)
    return Run(engine, request, None).finish()


@pytest.fixture(scope="module")
def folders(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A model, and those that may guess for it."""
    folder, shape = tmp_path_factory.mktemp("models"), request.param
    return {"itself": tiny(folder / "one", shape), "another": tiny(folder / "other", shape, seed=9)}


def tiny(folder: Any, shape: Shape, **options: Any) -> Any:
    """The fewest layers that are layers."""
    return write_tiny_llama(folder, shape, num_hidden_layers=2, **options)


# The shapes differ in their tokenizers and heads, which no strategy knows.
@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.campaign)])
@pytest.mark.parametrize(
    ("folders", "kind"),
    [
        *(("llama-3.2", kind) for kind in KINDS if kind != "guesses of another network"),
        ("tinyllama", "guesses of another network"),
    ],
    indirect=["folders"],
)
@pytest.mark.sampled(2)
def test_in_any_company_as_alone(
    load: Callable[..., Engine], folders: dict[str, Any], monkeypatch: pytest.MonkeyPatch, kind: str, rounds: int
) -> None:
    options = {**KINDS[kind]}
    options["draft"] = folders.get(options.get("draft", ""), options.get("draft"))
    quiet = load(folder=folders["itself"], max_context=CONTEXT)
    busy = load(folder=folders["itself"], max_context=CONTEXT, max_batch=5, **options)
    cache = busy._loop._cache
    cache.byte_budget = 8 * cache.bytes_for(1)
    pieces = random.Random(0)
    monkeypatch.setattr(TokenBudget, "tokens", lambda self, decodes: pieces.choice((1, 3, 32, 50)))
    for seed in range(rounds):
        asking = Asking(seed, quiet)
        requests = [asking.valid(quiet) for _ in range(FLIGHT)]
        runs = [Run(busy, request, asking.some(None, None, 1, 2, 7)) for request in requests]
        for number, run in enumerate(runs):
            outputs, end = run.finish()
            want_outputs, want = alone(quiet, requests[number])
            if len(run.outputs) and run.cancel_at:
                want = (*want[:8], end[8])  # what a resumed answer has no more
            assert (outputs, end) == (want_outputs, want), (seed, number, run.cancel_at, requests[number])
