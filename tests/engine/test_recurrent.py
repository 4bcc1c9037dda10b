"""Engines whose conversations cannot be cut anywhere, because some layers keep a state and nothing of each token."""

import itertools
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from llama_gui.engine import Engine, GenerateRequest, SamplingParams
from llama_gui.engine.layer_states import MARK_BEFORE_END, MARK_EVERY
from llama_gui.engine.scheduler import TokenBudget
from llama_gui.engine.sequence import Sequence
from llama_gui.engine.speculation import Speculator
from llama_gui.errors import UnsupportedModelError
from tests.engine.answers import bits
from tests.fakes.tiny_llama import Shape, write_tiny_llama

PROMPT = torch.randint(0, 250, (700,), generator=torch.Generator().manual_seed(5)).tolist()


@pytest.fixture(params=["qwen3.5", "lfm2", "granite4-h"])
def shape(request: pytest.FixtureRequest) -> Shape:
    """Gated delta nets, short convolutions, and state spaces."""
    return request.param


def request(prompt: list[int] = PROMPT, *, max_tokens: int = 12, key: str | None = None, seed: int = 7) -> Any:
    sampling = SamplingParams(temperature=0.8, top_k=0, top_p=0.95, min_p=0, seed=seed)
    return GenerateRequest(
        token_ids=prompt, max_tokens=max_tokens, sampling=sampling, logprobs=2, cache_key=key, ignore_eos=True
    )


@pytest.fixture
def answered(shape: Shape, load: Any) -> Callable[..., list[Any]]:
    """What an engine answers that has read nothing else."""
    return lambda asked, **options: bits(load(shape, **options).submit(asked))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.sampled(3)
def test_an_answer_is_written_anew(shape: Shape, load: Any, answered: Any, dtype: str):
    engine: Engine = load(shape, dtype=dtype)
    want = answered(request(), dtype=dtype)
    for _ in range(2):
        job = engine.submit(request(key="a"))
        assert bits(job) == want
    assert job.result().usage.cached_tokens == len(PROMPT) - MARK_BEFORE_END


def test_a_chat_goes_on_without_reading_again(shape: Shape, load: Any, answered: Any):
    engine: Engine = load(shape)
    first = engine.generate(request(PROMPT[:300], key="a"))
    longer = [*PROMPT[:300], *first.token_ids, *PROMPT[300:350]]
    job = engine.submit(request(longer, key="a"))
    assert bits(job) == answered(request(longer))
    assert job.result().usage.cached_tokens == 311, "the last token of an answer is not run"


def test_where_a_chat_was_changed_it_is_read_from_the_mark_before(shape: Shape, load: Any, answered: Any):
    engine: Engine = load(shape)
    engine.generate(request(key="a"))
    for changed, reused in (([*PROMPT[:600], 9, 9, 9], MARK_EVERY), ([*PROMPT[:100], 9, 9], 0), ([3, 4, 5], 0)):
        job = engine.submit(request(changed, key="a"))
        assert bits(job) == answered(request(changed))
        assert job.result().usage.cached_tokens == reused


def test_another_chat_begins_as_this_one(shape: Shape, load: Any, answered: Any):
    engine: Engine = load(shape)
    engine.generate(request(key="a"))
    other = [*PROMPT[:650], 8, 8]
    job = engine.submit(request(other, key="b"))
    assert bits(job) == answered(request(other))
    assert job.result().usage.cached_tokens == MARK_EVERY
    assert bits(engine.submit(request(key="a"))) == answered(request()), "what it shares with others is as it was"


def test_a_fork_goes_on_where_its_origin_is(shape: Shape, load: Any, answered: Any):
    engine: Engine = load(shape)
    first = engine.generate(request(PROMPT[:200], key="a"))
    assert engine.fork("a", "b") == 211
    longer = [*PROMPT[:200], *first.token_ids, 5, 6]
    jobs = [engine.submit(request(longer, key=key)) for key in ("a", "b")]
    assert [bits(job) for job in jobs] == 2 * [answered(request(longer))]
    assert [job.result().usage.cached_tokens for job in jobs] == [211, 211]


def test_a_prompt_that_was_stopped_leaves_nothing_behind(shape: Shape, load: Any, answered: Any, monkeypatch: Any):
    engine: Engine = load(shape)
    sizes = itertools.cycle([150])
    monkeypatch.setattr(TokenBudget, "tokens", lambda self, decodes: next(sizes))
    engine.generate(request(PROMPT[:40], key="a"))
    job = engine.submit(request(key="a"))
    while job.state == "waiting":
        pass
    job.cancel()
    job.result(60)
    assert bits(engine.submit(request(key="a"))) == answered(request())


def test_memory_is_counted_and_given_up(shape: Shape, load: Any, answered: Any):
    engine: Engine = load(shape)
    cache = engine._loop._cache
    shape = cache._states
    assert shape is not None
    engine.generate(request(key="a"))
    slot = next(slot for slot in cache._slots if slot.key == "a")
    assert slot.states is not None
    assert [tokens for tokens, _ in slot.states.marks] == [428, MARK_EVERY, len(PROMPT) - MARK_BEFORE_END]
    assert engine.stats().kv_bytes >= 4 * shape.byte_count
    assert cache.bytes_for(1024) == 1024 * cache._token_bytes + 2 * shape.byte_count
    cache.clear()
    cache.byte_budget = cache.bytes_for(1024) + shape.byte_count // 2
    job = engine.submit(request(key="a"))
    assert bits(job) == answered(request())
    slot = next(slot for slot in cache._slots if slot.key == "a")
    assert slot.states is not None
    assert slot.states.marks == [], "there is no room for any"
    assert bits(engine.submit(request(key="b"))) == answered(request())
    assert [slot.key for slot in cache._slots] == ["b"]


class Oracle:
    """Guesses what comes, and often something else."""

    most_guesses = 6
    weight_bytes = kv_bytes = 0

    def __init__(self, answer: list[int]) -> None:
        self._answer = answer
        self.right = self.wrong = 0

    def propose(self, sequence: Sequence, most: int, price: object) -> list[int]:
        done = len(sequence.answer)
        guesses = self._answer[done : done + min(most, 1 + done % 5)]
        return [*guesses[:-1], (guesses[-1] + 1) % 250] if done % 2 == 0 and guesses else guesses

    def record(self, sequence: Sequence, guessed: int, right: int) -> None:
        self.right += right
        self.wrong += guessed - right

    def forget(self, sequence: Sequence) -> None:
        pass


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
@pytest.mark.sampled(4)
def test_guesses_change_no_bit(shape: Shape, load: Any, answered: Any, dtype: str):
    asked = request(PROMPT[:100], max_tokens=60, key="a")
    want = answered(asked, dtype=dtype)
    engine: Engine = load(shape, dtype=dtype)
    oracle = Oracle([token for token, *_ in want])
    engine._loop._speculator = Speculator(oracle)
    engine._loop._speculator._costs[1].record(0, 1.0)
    assert bits(engine.submit(asked)) == want
    assert oracle.right > 10
    assert oracle.wrong > 3
    # What follows goes on from guesses, in this chat and in another that was forked from it.
    longer = [*PROMPT[:100], *(token for token, *_ in want), 7, 8]
    engine._loop._speculator = None
    engine.fork("a", "b")
    for key in ("a", "b"):
        assert bits(engine.submit(request(longer, key=key))) == answered(request(longer), dtype=dtype)


def test_the_text_itself_is_looked_up(shape: Shape, load: Any):
    assert load(shape, draft="auto").stats().exact
    engine: Engine = load(shape, draft="ngram")
    loop = replace(request([5, 6, 7, 8] * 20, max_tokens=80), sampling=SamplingParams(temperature=0))
    assert engine.generate(loop).token_ids == load(shape).generate(loop).token_ids


def test_it_guesses_for_no_other(shape: Shape, load: Any, tiny_folder: Any, tmp_path: Path):
    with pytest.raises(UnsupportedModelError, match=r"sums up what it reads, so it cannot take back guesses"):
        load(draft=tiny_folder(shape))
    draft = write_tiny_llama(tmp_path / "draft", "llama-3.2")
    shutil.copy(tiny_folder(shape) / "tokenizer.json", draft)
    engine: Engine = load(shape, draft=draft)
    asked = request(PROMPT[:50], max_tokens=30)
    assert bits(engine.submit(asked)) == bits(load(shape).submit(asked))
