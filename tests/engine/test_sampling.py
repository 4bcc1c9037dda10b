"""Each step beside transformers' own processor, the order of the chain, and what is drawn in the long run."""

import math
from typing import Any

import pytest
import torch

from llama_gui.engine import sampling
from llama_gui.engine.sampling import Sampler, candidates, draw_from, typical, uniform, xtc
from llama_gui.errors import GenerationError
from llama_gui.vocabulary import SamplingParams

PLAIN = SamplingParams(
    temperature=1.0,
    top_k=0,
    top_p=1.0,
    min_p=0.0,
    repetition_penalty=1.0,
    frequency_penalty=0.0,
    presence_penalty=0.0,
    penalty_window=-1,
)


def with_params(**changes: object) -> SamplingParams:
    return SamplingParams(**changes).or_else(PLAIN)


def random_logits(size: int = 500, seed: int = 1) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed)) * 3


def kept_by(warper: object, logits: torch.Tensor) -> set[int]:
    scores = warper(torch.zeros(1, 1, dtype=torch.long), logits[None].clone())[0]  # type: ignore[operator]
    return set((scores > -math.inf).nonzero().flatten().tolist())


# --- beside transformers


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("top_k", [1, 2, 63, 64, 65, 300, 500, 900])
def test_top_k(top_k: int, seed: int):
    from transformers import TopKLogitsWarper

    logits = random_logits(seed=seed)
    assert set(candidates(logits, top_k, 1.0, 0.0)[1].tolist()) == kept_by(TopKLogitsWarper(top_k), logits)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("top_p", [0.01, 0.5, 0.9, 0.95, 0.999])
def test_top_p(top_p: float, seed: int):
    from transformers import TopPLogitsWarper

    # Flat logits, too: then the list of candidates must grow.
    for logits in (random_logits(seed=seed), random_logits(seed=seed) / 30):
        assert set(candidates(logits, 0, top_p, 0.0)[1].tolist()) == kept_by(TopPLogitsWarper(top_p), logits)


@pytest.mark.parametrize("min_p", [0.001, 0.05, 0.5, 1.0])
def test_min_p(min_p: float):
    from transformers import MinPLogitsWarper

    for logits in (random_logits(), random_logits() / 30):
        assert set(candidates(logits, 0, 1.0, min_p)[1].tolist()) == kept_by(MinPLogitsWarper(min_p), logits)


def test_top_k_then_top_p_then_min_p():
    """The mass that top-p looks at is that of the k kept; in another order other tokens would stay."""
    from transformers import LogitsProcessorList, MinPLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    for seed in range(20):
        logits = random_logits(seed=seed) / 2
        warpers = LogitsProcessorList([TopKLogitsWarper(20), TopPLogitsWarper(0.7), MinPLogitsWarper(0.2)])
        probabilities, ids = candidates(logits, 20, 0.7, 0.2)
        assert set(ids.tolist()) == kept_by(warpers, logits)
        assert probabilities.tolist() == sorted(probabilities.tolist(), reverse=True)
    only_top_p = set(candidates(logits, 0, 0.7, 0.0)[1].tolist())
    assert set(candidates(logits, 20, 0.7, 0.0)[1].tolist()) != only_top_p


@pytest.mark.parametrize("typical_p", [0.05, 0.2, 0.5, 0.9, 0.999])
def test_typical(typical_p: float):
    from transformers import LogitsProcessorList, TopKLogitsWarper, TypicalLogitsWarper

    for seed in range(5):
        logits = random_logits(seed=seed) / 2
        for top_k in (20, 500):
            warpers = LogitsProcessorList([TopKLogitsWarper(top_k), TypicalLogitsWarper(typical_p)])
            probabilities, ids = candidates(logits, top_k, 1.0, 0.0)
            assert set(ids[typical(probabilities, typical_p)].tolist()) == kept_by(warpers, logits)


# --- steps that transformers has not


def test_xtc_leaves_the_least_likely_of_the_good_choices():
    probabilities = torch.tensor([5.0, 3.0, 1.0, 1.0], dtype=torch.float64)  # not normalised
    assert xtc(probabilities, 0.2).tolist() == [False, True, True, True]
    assert xtc(probabilities, 0.1).tolist() == [False, False, False, True]
    assert xtc(probabilities, 0.4).tolist() == [True] * 4  # only one reaches it
    assert xtc(probabilities, 0.9).tolist() == [True] * 4


def test_xtc_happens_as_often_as_it_is_asked_for():
    logits = torch.tensor([2.0, 1.9, 0.0])
    sampler = Sampler(with_params(xtc_probability=0.3, xtc_threshold=0.3, top_k=2), seed=3)
    draws = [sampler.draw(logits, [], _Long(index)).token_id for index in range(4000)]
    share = float(torch.softmax(logits[:2], 0)[0])
    assert draws.count(0) / 4000 == pytest.approx(0.7 * share, abs=0.03)


def test_xtc_leaves_the_number_of_the_draw_alone():
    plain, cut = (Sampler(with_params(xtc_probability=p, xtc_threshold=0.9), seed=3) for p in (0.0, 1.0))
    for index in range(50):
        assert plain.draw(random_logits(), [], _Long(index)) == cut.draw(random_logits(), [], _Long(index))


def test_nothing_ends_the_answer_before_min_tokens():
    logits = torch.tensor([0.0, 9.0, 8.0, 1.0])
    sampler = Sampler(with_params(temperature=0), 0, min_tokens=2, ending=[1, 2])
    assert [sampler.draw(logits, [], [3] * count).token_id for count in range(3)] == [3, 3, 1]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_when_no_token_is_left(temperature: float):
    params = with_params(temperature=temperature, allowed_token_ids=[1], banned_token_ids=[1])
    with pytest.raises(GenerationError, match="No token may be drawn"):
        Sampler(params, 0).draw(random_logits(), [], [])


@pytest.mark.parametrize("more", [{}, {"top_k": 499}, {"xtc_probability": 1.0, "xtc_threshold": 0.0}])
def test_what_is_banned_is_not_drawn_by_the_greatest_number(monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]):
    """Summed up in float32 the probabilities may come to less than the number."""
    monkeypatch.setattr(sampling, "uniform", lambda *_: math.nextafter(1.0, 0.0))
    for seed in range(20):
        logits = random_logits(seed=seed)
        sampler = Sampler(with_params(banned_token_ids=[7], **more), 0)
        assert sampler.draw(logits, [], []).token_id != 7
        logits[7] = -math.inf
        assert 7 not in candidates(logits, 0, 1.0, 0.0)[1].tolist()


@pytest.mark.parametrize("typical_p", [1.0, 0.5])
def test_penalties_as_small_and_as_great_as_they_may_be(typical_p: float):
    params = {"repetition_penalty": 1e-40, "dry_multiplier": 100, "dry_base": 10, "dry_sequence_breakers": ()}
    sampler = Sampler(with_params(typical_p=typical_p, dry_allowed_length=1, dry_window=-1, **params), 0)
    assert sampler.draw(torch.ones(1), [], [0] * 60).token_id == 0


# --- drawing


@pytest.mark.parametrize("params", [with_params(temperature=0), with_params(top_k=1, temperature=5.0)])
def test_greedy_takes_the_first_of_the_likeliest(params: SamplingParams):
    logits = torch.tensor([1.0, 3.0, 3.0, 0.0])
    assert Sampler(params, seed=0).draw(logits, [], []).token_id == 1


def test_a_tiny_temperature_is_nearly_greedy():
    logits = random_logits() * 1e4
    for seed in range(20):
        assert Sampler(with_params(temperature=1e-30), seed).draw(logits, [], []).token_id == int(logits.argmax())


def test_frequencies_are_the_probabilities():
    """Chi-square over 4,000 draws; with nine degrees of freedom 33.7 is passed once in ten thousand."""
    logits = random_logits(10) / 2
    sampler, draws = Sampler(with_params(temperature=1.5), seed=11), 4000
    counts = torch.zeros(10)
    for index in range(draws):
        counts[sampler.draw(logits, [], _Long(index)).token_id] += 1
    expected = torch.softmax(logits / 1.5, 0) * draws
    assert float(((counts - expected) ** 2 / expected).sum()) < 33.7


class _Long(list):
    """An answer that is said to be `count` tokens long."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def __len__(self) -> int:
        return self._count


def test_numbers_belong_to_seed_and_index():
    assert uniform(7, 0) == uniform(7, 0)
    numbers = {uniform(seed, index) for seed in (0, 1, 2**63, 2**64 - 1) for index in range(50)}
    assert len(numbers) == 200
    assert all(0 <= number < 1 for number in numbers)
    assert 0.4 < sum(numbers) / 200 < 0.6


def test_both_ends_of_the_number():
    ids = torch.tensor([5, 6, 7])
    probabilities = torch.tensor([0.2, 0.3, 0.1], dtype=torch.float64)  # not normalised
    assert draw_from(probabilities, ids, 0.0) == 5
    assert draw_from(probabilities, ids, math.nextafter(1.0, 0.0)) == 7
    assert draw_from(probabilities, ids, 0.34) == 6


@pytest.mark.parametrize(
    "params", [{"temperature": 0.0}, {"temperature": 0.7, "top_p": 0.9}, {"logit_bias": {3: 2.0}}], ids=str
)
def test_what_is_drawn_from_stays_as_it_is(params: dict[str, Any]):
    logits = random_logits()
    Sampler(with_params(**params), 1, ending=[4], min_tokens=2).draw(logits, [1], [2])
    Sampler(with_params(**params), 1, bad_words=[[7]]).draw(logits, [1], [2])
    Sampler(with_params(**params), 1).draw(logits, [1], [2])
    assert torch.equal(logits, random_logits())


def test_log_probabilities_are_those_of_the_raw_logits():
    logits = random_logits()
    draw = Sampler(with_params(temperature=0, logit_bias={8: 1000.0}), 0, logprobs=3).draw(logits, [], [])
    raw = torch.log_softmax(logits, 0)
    assert draw.token_id == 8
    assert draw.logprob == pytest.approx(float(raw[8]), abs=1e-5)
    assert [token for token, _ in draw.top] == raw.topk(3).indices.tolist()
    assert [value for _, value in draw.top] == pytest.approx(raw.topk(3).values.tolist(), abs=1e-5)


def test_the_processor_sees_every_row_of_the_head_and_only_tokens_are_drawn():
    seen: list[torch.Tensor] = []

    def prefer_the_last(ids: list[int], logits: torch.Tensor) -> torch.Tensor:
        seen.append(logits)
        return torch.arange(len(logits)) * 1e3

    draw = Sampler(with_params(), 0, processor=prefer_the_last, rows=512).draw(random_logits(500), [], [])
    assert draw.token_id == 499
    assert torch.equal(seen[0], torch.cat([random_logits(500), torch.full((12,), -math.inf)]))


# --- the caller's processor, and numbers that are none


def test_the_processor_comes_first_and_sees_everything():
    seen = []

    def only_nine(ids, logits):
        seen.append(list(ids))
        logits[:] = -math.inf
        logits[9] = 0
        return logits

    logits = random_logits()
    draw = Sampler(with_params(logit_bias={9: -50.0}), 0, processor=only_nine).draw(logits, [1, 2], [3])
    assert (draw.token_id, seen) == (9, [[1, 2, 3]])
    assert torch.equal(logits, random_logits())  # it worked on a copy


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (None, "NoneType"),
        (torch.zeros(3), r"\[3\]"),
        (torch.full((500,), math.nan), "NaN"),
        (torch.full((500,), math.inf), "NaN"),
        (torch.full((500,), -math.inf), "no token"),
    ],
)
def test_a_processor_that_makes_no_sense(made: object, words: str):
    with pytest.raises(GenerationError, match=words):
        Sampler(PLAIN, 0, processor=lambda ids, logits: made).draw(random_logits(), [], [])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_logits_that_are_not_finite(bad: float):
    logits = random_logits()
    logits[3] = bad
    with pytest.raises(GenerationError, match="not finite"):
        Sampler(PLAIN, 0).draw(logits, [], [])


@pytest.mark.parametrize(
    "params",
    [
        {"temperature": 0.0},
        {"top_k": 40},
        {"top_p": 0.9},
        {"typical_p": 0.5},
        {"xtc_probability": 0.5, "xtc_threshold": 0.01},
        {"repetition_penalty": 1.3, "banned_token_ids": [3, 4]},
    ],
)
def test_a_guess_is_what_would_be_drawn(params: dict[str, Any]):
    """Of the first tokens, too, as if the others were impossible."""
    sampler = Sampler(with_params(**params), seed=5)
    for index in range(20):
        logits, answer = random_logits(seed=index), list(range(index))
        assert sampler.guess(logits, [1, 2], answer) == sampler.draw(logits, [1, 2], answer).token_id
        if sampler.is_plain:
            none = torch.full((300,), -math.inf)
            padded = torch.cat((logits[:200], none))
            assert sampler.guess(logits[:200], [1, 2], answer) == sampler.draw(padded, [1, 2], answer).token_id
    assert sampler.is_plain == ("repetition_penalty" not in params)
