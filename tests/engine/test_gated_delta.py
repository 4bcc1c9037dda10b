"""Gated delta nets: our kernel beside torch, and engines whose conversations cannot be cut anywhere."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from llama_gui.engine import Engine, GenerateRequest, SamplingParams
from llama_gui.engine.delta_config import DeltaConfig
from llama_gui.engine.gated_delta import DeltaWeights, GatedDeltaNet
from llama_gui.engine.layer_states import MARK_BEFORE_END, MARK_EVERY, SlotStates, StateShape, StateSpan, StateSpans
from llama_gui.engine.linear import Linear, LinearFactory
from llama_gui.engine.native_delta import NativeDeltaNet, serves
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.scheduler import TokenBudget
from llama_gui.engine.sequence import Sequence
from llama_gui.engine.speculation import Speculator
from llama_gui.errors import UnsupportedModelError
from tests.fakes.tiny_llama import write_tiny_llama

CPU = torch.device("cpu")
PROMPT = torch.randint(0, 250, (700,), generator=torch.Generator().manual_seed(5)).tolist()
CONFIGS = [
    DeltaConfig(frozenset({1}), key_heads, heads, key_dim, value_dim, taps, is_gguf=is_gguf)
    for key_heads, heads, key_dim, value_dim, taps, is_gguf in (
        (2, 4, 16, 24, 4, False),
        (2, 4, 16, 24, 4, True),
        (1, 3, 8, 8, 2, False),
        (3, 3, 24, 40, 5, False),
        (1, 2, 128, 128, 4, False),
        (1, 1, 256, 256, 1, False),
    )
]


def numbers(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def weights_of(config: DeltaConfig) -> DeltaWeights:
    heads = config.value_heads
    taps = numbers(1, config.taps, config.mixed_width)
    return DeltaWeights(taps, -numbers(2, heads).exp(), numbers(3, heads), numbers(4, config.value_dim), 1e-6)


def linear(out: int, width: int) -> Linear:
    return LinearFactory(device=CPU)(numbers(5, out, width), None)


@pytest.fixture
def nets(kernels: NativeKernels) -> Callable[[DeltaConfig], tuple[GatedDeltaNet, GatedDeltaNet]]:
    """Torch's and ours."""

    def make(config: DeltaConfig) -> tuple[GatedDeltaNet, GatedDeltaNet]:
        parts = (linear(8, 8), linear(8, 8), linear(8, 8), config, weights_of(config), 0)
        return GatedDeltaNet(*parts), NativeDeltaNet(*parts, kernels)

    return make


def started(config: DeltaConfig) -> SlotStates:
    """The states of a conversation that has been read for a while."""
    states = SlotStates(StateShape.of(config), CPU)
    states.current.memory.copy_(numbers(6, *states.current.memory.shape))
    states.current.inputs.copy_(numbers(7, *states.current.inputs.shape))
    return states


def read(net: GatedDeltaNet, lengths: tuple[int, ...], cuts: tuple[int, ...] = ()) -> tuple[Tensor, list[Tensor]]:
    """What rows of some conversations become, and all states to which they lead."""
    rows, config = sum(lengths), net.config
    mixed, rates = numbers(8, rows, config.mixed_width + config.value_width), numbers(9, rows, 2 * config.value_heads)
    spans, row = list[StateSpan](), 0
    for length in lengths:
        spans.append(StateSpan(row, started(config).pieces(length, cuts)))
        row += length
    made = net.read(mixed, rates, StateSpans(spans))
    targets = [piece.target for span in spans for piece in span.pieces]
    return made, [part for target in targets for part in (target.memory, target.inputs)]


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize(("lengths", "cuts"), [((1,), ()), ((5, 1, 23), ()), ((40,), (3, 8, 39))])
def test_our_kernel_beside_torch(nets: Any, config: DeltaConfig, lengths: tuple[int, ...], cuts: tuple[int, ...]):
    assert serves(config)
    torchs, ours = nets(config)
    (want, states), (got, kept) = read(torchs, lengths, cuts), read(ours, lengths, cuts)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
    for one, other in zip(kept, states, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("which", [0, 1], ids=["torch", "ours"])
def test_cuts_change_no_bit(nets: Any, config: DeltaConfig, which: int):
    net = nets(config)[which]
    whole, (*_, memory, inputs) = read(net, (40,))
    for cuts in ((1,), (8, 16), (3, 4, 5, 38)):
        cut, (*_, last, left) = read(net, (40,), cuts)
        assert torch.equal(cut, whole)
        assert torch.equal(last, memory)
        assert torch.equal(left, inputs)


@pytest.mark.parametrize("which", [0, 1], ids=["torch", "ours"])
def test_rows_that_were_kept_lead_to_the_same_state(nets: Any, which: int):
    net: GatedDeltaNet = nets(CONFIGS[0])[which]
    hidden = numbers(8, 7, 8)
    net.qkv = linear(net.config.mixed_width + net.config.value_width, 8)
    net.rates = linear(2 * net.config.value_heads, 8)
    guessed, certain = started(net.config), started(net.config)
    net.attend(hidden, StateSpans([StateSpan(0, guessed.pieces(2, (), 5))]))
    guessed.advance(0, 2)
    guessed.advance(2, 1)
    guessed.advance(3, 1)
    piece = guessed.unsettled()
    assert piece is not None
    net.sum_up(piece)
    guessed.settle(piece)
    net.attend(hidden[:4], StateSpans([StateSpan(0, certain.pieces(4))]))
    certain.advance(0, 4)
    assert torch.equal(guessed.current.memory, certain.current.memory)
    assert torch.equal(guessed.current.inputs, certain.current.inputs)


@pytest.mark.parametrize(("key_dim", "value_dim"), [(16, 20), (12, 16), (264, 16), (16, 264)])
def test_heads_that_our_kernel_does_not_serve(load: Any, tmp_path: Any, key_dim: int, value_dim: int):
    folder = write_tiny_llama(
        tmp_path / "model", "qwen3.5", linear_key_head_dim=key_dim, linear_value_head_dim=value_dim, num_hidden_layers=4
    )
    engine: Engine = load(folder=folder)
    whole = engine.logits(PROMPT[:50])
    assert whole.isfinite().all()
    assert torch.equal(engine.logits(PROMPT[:20]), whole[:20])


# --- engines


def request(prompt: list[int] = PROMPT, *, max_tokens: int = 12, key: str | None = None, seed: int = 7) -> Any:
    sampling = SamplingParams(temperature=0.8, top_k=0, top_p=0.95, min_p=0, seed=seed)
    return GenerateRequest(
        token_ids=prompt, max_tokens=max_tokens, sampling=sampling, logprobs=2, cache_key=key, ignore_eos=True
    )


def bits(job: Any) -> list[Any]:
    return [(output.token_id, output.logprob, output.top_logprobs) for output in job]


@pytest.fixture
def answered(load: Any) -> Callable[..., list[Any]]:
    """What an engine answers that has read nothing else."""
    return lambda asked, **options: bits(load("qwen3.5", **options).submit(asked))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_an_answer_is_written_anew(load: Any, answered: Any, dtype: str):
    engine: Engine = load("qwen3.5", dtype=dtype)
    want = answered(request(), dtype=dtype)
    for _ in range(2):
        job = engine.submit(request(key="a"))
        assert bits(job) == want
    assert job.result().usage.cached_tokens == len(PROMPT) - MARK_BEFORE_END


def test_a_chat_goes_on_without_reading_again(load: Any, answered: Any):
    engine: Engine = load("qwen3.5")
    first = engine.generate(request(PROMPT[:300], key="a"))
    longer = [*PROMPT[:300], *first.token_ids, *PROMPT[300:350]]
    job = engine.submit(request(longer, key="a"))
    assert bits(job) == answered(request(longer))
    assert job.result().usage.cached_tokens == 311, "the last token of an answer is not run"


def test_where_a_chat_was_changed_it_is_read_from_the_mark_before(load: Any, answered: Any):
    engine: Engine = load("qwen3.5")
    engine.generate(request(key="a"))
    for changed, reused in (([*PROMPT[:600], 9, 9, 9], MARK_EVERY), ([*PROMPT[:100], 9, 9], 0), ([3, 4, 5], 0)):
        job = engine.submit(request(changed, key="a"))
        assert bits(job) == answered(request(changed))
        assert job.result().usage.cached_tokens == reused


def test_another_chat_begins_as_this_one(load: Any, answered: Any):
    engine: Engine = load("qwen3.5")
    engine.generate(request(key="a"))
    other = [*PROMPT[:650], 8, 8]
    job = engine.submit(request(other, key="b"))
    assert bits(job) == answered(request(other))
    assert job.result().usage.cached_tokens == MARK_EVERY
    assert bits(engine.submit(request(key="a"))) == answered(request()), "what it shares with others is as it was"


def test_a_fork_goes_on_where_its_origin_is(load: Any, answered: Any):
    engine: Engine = load("qwen3.5")
    first = engine.generate(request(PROMPT[:200], key="a"))
    assert engine.fork("a", "b") == 211
    longer = [*PROMPT[:200], *first.token_ids, 5, 6]
    jobs = [engine.submit(request(longer, key=key)) for key in ("a", "b")]
    assert [bits(job) for job in jobs] == 2 * [answered(request(longer))]
    assert [job.result().usage.cached_tokens for job in jobs] == [211, 211]


def test_a_prompt_that_was_stopped_leaves_nothing_behind(load: Any, answered: Any, monkeypatch: Any):
    engine: Engine = load("qwen3.5")
    sizes = itertools.cycle([150])
    monkeypatch.setattr(TokenBudget, "tokens", lambda self, decodes: next(sizes))
    engine.generate(request(PROMPT[:40], key="a"))
    job = engine.submit(request(key="a"))
    while job.state == "waiting":
        pass
    job.cancel()
    job.result(60)
    assert bits(engine.submit(request(key="a"))) == answered(request())


def test_memory_is_counted_and_given_up(load: Any, answered: Any):
    engine: Engine = load("qwen3.5")
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
def test_guesses_change_no_bit(load: Any, answered: Any, dtype: str):
    asked = request(PROMPT[:100], max_tokens=60, key="a")
    want = answered(asked, dtype=dtype)
    engine: Engine = load("qwen3.5", dtype=dtype)
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


def test_the_text_itself_is_looked_up(load: Any):
    assert load("qwen3.5", draft="auto").stats().exact
    engine: Engine = load("qwen3.5", draft="ngram")
    loop = replace(request([5, 6, 7, 8] * 20, max_tokens=80), sampling=SamplingParams(temperature=0))
    assert engine.generate(loop).token_ids == load("qwen3.5").generate(loop).token_ids


def test_it_guesses_for_no_other(load: Any, tiny_folder: Any):
    with pytest.raises(UnsupportedModelError, match=r"sums up what it reads, so it cannot take back guesses"):
        load(draft=tiny_folder("qwen3.5"))
    engine: Engine = load("qwen3.5", draft=tiny_folder("llama-3.2"))
    asked = request(PROMPT[:50], max_tokens=30)
    assert bits(engine.submit(asked)) == bits(load("qwen3.5").submit(asked))


def test_nothing_of_it_is_kept_on_the_disk(load: Any, tmp_path: Any):
    engine: Engine = load("qwen3.5", prompt_cache=tmp_path / "prompts")
    engine.generate(request())
    assert not (tmp_path / "prompts").exists()
