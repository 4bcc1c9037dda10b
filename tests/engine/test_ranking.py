"""What is drawn from the few numbers that a card tells is what is drawn from all logits; the CPU is the card here."""

import dataclasses
from unittest.mock import patch

import pytest
import torch

from llama_gui.engine import GenerateRequest, SamplingParams
from llama_gui.engine import engine as engine_module
from llama_gui.engine.ranking import RANKS, RankedRow, Ranker, temperatures_on
from llama_gui.engine.runner import Runner
from llama_gui.engine.sampling import Sampler
from llama_gui.errors import GenerationError

CPU = torch.device("cpu")
TOKENS, HEAD = 500, 512  # the head has rows for tokens that there are not


def ranked(logits, temperature: float | None = 1.0, tokens=TOKENS):
    ranker = Ranker(tokens)
    made = ranker.rank(logits, temperatures_on(CPU, [temperature or 1.0] * len(logits)))
    assert made.shape == (len(logits), ranker.width(logits.shape[1]))
    return ranker.rows(logits, made)


def rows(count=8, scale=3.0, seed=1):
    logits = scale * torch.randn(count, HEAD, generator=torch.Generator().manual_seed(seed))
    logits[:, TOKENS:] = 100  # whoever looks at those draws nothing else
    return logits


def test_what_is_told_of_a_row():
    logits = rows()
    for row, told in zip(logits[:, :TOKENS], ranked(logits, 0.7), strict=True):
        values, ids = row.topk(RANKS)
        assert told.values == values.tolist()
        assert told.ids == ids.tolist()
        assert told.mass == pytest.approx(float(row.logsumexp(0)), abs=1e-5)
        assert told.cooled == pytest.approx(float(((row - row.max()) / 0.7).logsumexp(0)), abs=1e-5)
        assert torch.equal(told.whole(), row)


def test_of_a_small_vocabulary_all_is_told():
    (told,) = ranked(rows(1), tokens=20)
    assert len(told.values) == len(told.ids) == 20


PLAIN = SamplingParams(
    top_k=0, top_p=1.0, min_p=0.0, repetition_penalty=1.0, frequency_penalty=0.0, presence_penalty=0.0
)
WAYS = [
    {"temperature": 0.0},
    {"temperature": 1.0},
    {"temperature": 1e-9},
    {"temperature": 0.8, "top_p": 0.95, "min_p": 0.05, "top_k": 40},  # the window's, as it is set up
    {"temperature": 0.7, "top_k": 1},
    {"temperature": 0.7, "top_k": 10},
    {"temperature": 0.7, "top_k": RANKS + 5},  # more than are told
    {"temperature": 1.3, "top_p": 0.9},
    {"temperature": 1.3, "min_p": 0.02},
    {"temperature": 1.0, "typical_p": 0.8},
    {"temperature": 1.0, "xtc_probability": 0.5, "xtc_threshold": 0.05},
    {"temperature": 1.0, "repetition_penalty": 1.5},
    {"temperature": 1.0, "logit_bias": {3: 5.0, 4: -100.0}},
]


@pytest.mark.parametrize("scale", [4.0, 0.5], ids=["peaked", "flat"])
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("more", [{}, {"logprobs": 5}, {"logprobs": RANKS + 1}], ids=str)
@pytest.mark.sampled(30)
def test_what_is_drawn(way, scale, more):
    logits = rows(40, scale)
    sampler = Sampler(SamplingParams(**way).or_else(PLAIN), 7, **more)
    for index, (row, told) in enumerate(zip(logits, ranked(logits, way["temperature"]), strict=True)):
        got, want = (sampler.draw(one, [3, 9], [4] * index) for one in (told, row[:TOKENS]))
        assert got.token_id == want.token_id
        assert got.logprob == pytest.approx(want.logprob, abs=1e-4)
        assert [token for token, _ in got.top] == [token for token, _ in want.top]
        assert [value for _, value in got.top] == pytest.approx([value for _, value in want.top], abs=1e-4)


@pytest.mark.parametrize("size", [40, TOKENS, 40_003])
@pytest.mark.parametrize(
    "way", [*WAYS, {"temperature": 1.0, "top_p": 0.999}, {"temperature": 0.6, "top_k": 600}], ids=str
)
@pytest.mark.sampled(20)
def test_our_own_kernels_find_what_torch_finds(kernels, way, size):
    params = SamplingParams(**way).or_else(PLAIN)
    one, other = (Sampler(params, 7, logprobs=5, kernels=found) for found in (kernels, None))
    generator = torch.Generator().manual_seed(size)
    for index in range(24):
        logits = (4.0, 1.0, 0.1)[index % 3] * torch.randn(size, generator=generator)
        kept, answer = logits.clone(), [4] * index
        allowed = None if index % 4 else torch.rand(size, generator=generator) < 0.2
        got, want = one.draw(logits, [3, 9], answer, allowed), other.draw(logits, [3, 9], answer, allowed)
        assert got.token_id == want.token_id
        assert got.logprob == pytest.approx(want.logprob, abs=1e-4)
        assert [token for token, _ in got.top] == [token for token, _ in want.top]
        assert torch.equal(logits, kept)
        if allowed is None:
            assert one.guess(logits, [3, 9], answer) == got.token_id


def test_our_own_kernels_leave_to_torch_what_needs_far_more_tokens(kernels):
    asked, rank = [], kernels.rank
    with patch.object(kernels, "rank", lambda *given: asked.append(given[2]) or rank(*given)):
        for scale, counts in ((4.0, [RANKS]), (3.0, [RANKS, 512]), (2.0, [RANKS, 512, 4095]), (1.0, [RANKS])):
            asked.clear()
            logits = scale * torch.randn(40_003, generator=torch.Generator().manual_seed(1))
            Sampler(SamplingParams(temperature=1.0, top_p=0.5), 7, kernels=kernels).draw(logits, [], [])
            assert asked == counts, scale


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_our_own_kernels_tell_what_is_not_finite(kernels, bad):
    logits = rows(1)[0]
    logits[3] = bad
    with pytest.raises(GenerationError, match="not finite"):
        Sampler(SamplingParams(temperature=0.0), 7, kernels=kernels).draw(logits, [], [])


def test_only_where_they_are_needed_are_all_logits_fetched():
    peaked, flat = rows(1, 4.0), rows(1, 0.01)
    fetched, whole = [], RankedRow.whole
    with patch.object(RankedRow, "whole", lambda row: fetched.append(row) or whole(row)):
        window = SamplingParams(temperature=0.8, top_p=0.95, min_p=0.05, top_k=40)
        for params in (SamplingParams(temperature=0), window, SamplingParams(temperature=1.0)):
            Sampler(params, 7, logprobs=20).draw(ranked(peaked, params.temperature)[0], [], [])
        assert not fetched
        Sampler(SamplingParams(temperature=1.0), 7).draw(ranked(flat)[0], [], [])
        assert len(fetched) == 1
        allowed = torch.zeros(TOKENS, dtype=torch.bool)
        allowed[5] = True
        assert Sampler(window, 7).draw(ranked(peaked)[0], [], [], allowed).token_id == 5
        assert len(fetched) == 2


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_logits_that_are_not_finite(bad):
    logits = rows(1)
    logits[0, 7] = bad
    with pytest.raises(GenerationError, match="not finite"):
        Sampler(SamplingParams(temperature=1.0), 7).draw(ranked(logits)[0], [], [])


def test_a_whole_engine_draws_the_same(load):
    """With several that only draw, and some that need more: a grammar, penalties, the logits of the prompt."""
    drawn = SamplingParams(temperature=1, top_k=0, top_p=0.95, min_p=0, seed=7)
    requests = [
        GenerateRequest(token_ids=range(n, n + 9), max_tokens=12, sampling=sampling, logprobs=n, **more)
        for n, (sampling, more) in enumerate(
            [
                (drawn, {}),
                (SamplingParams(temperature=0), {}),
                (dataclasses.replace(drawn, repetition_penalty=1.3, temperature=0.6), {}),
                (drawn, {"prompt_logprobs": 2}),
                (drawn, {"regex": "[a-z]{3,9}"}),
            ]
        )
    ]
    ranked_rows = []

    def runner(network, cache, graphs, **told):
        return Runner(network, cache, graphs, **told | {"ranker": Ranker(network.config.vocab_size)})

    def answers(engine, batch):
        outputs = [out for job in [engine.submit(one) for one in batch] for out in job]
        numbers = [part.logprob for out in outputs for part in (out, *out.top_logprobs)]
        return [out.token_id for out in outputs], numbers

    batches = (requests[:3], requests, requests[3:], requests[:1])
    want = [answers(load(max_batch=8), batch) for batch in batches]
    rows_of = Ranker.rows
    with (
        patch.object(engine_module, "Runner", runner),
        patch.object(Ranker, "rows", lambda self, *made: ranked_rows.append(made) or rows_of(self, *made)),
    ):
        got = [answers(load(max_batch=8), batch) for batch in batches]
    for (ids, numbers), (want_ids, want_numbers) in zip(got, want, strict=True):
        assert ids == want_ids
        assert numbers == pytest.approx(want_numbers, abs=1e-4)
    assert len(ranked_rows) > 20
