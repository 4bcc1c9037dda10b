"""Each change of single tokens' logits: beside transformers' own where it has one, and DRY beside a plain search."""

import math
import random

import pytest
import torch

from llama_gui.engine.penalties import (
    apply_allowed,
    apply_bad_words,
    apply_dry,
    apply_logit_bias,
    apply_penalties,
    leaves_alone,
)
from tests.engine.test_sampling import random_logits, with_params


def penalised(prompt: list[int], answer: list[int], **changes: object) -> torch.Tensor:
    logits = random_logits()
    apply_penalties(logits, prompt, answer, with_params(**changes))
    return logits


@pytest.mark.parametrize("penalty", [0.5, 1.3])
def test_repetition_penalty(penalty: float):
    from transformers import RepetitionPenaltyLogitsProcessor

    prompt, answer = [3, 4, 4, 5], [7, 7, 4]
    want = RepetitionPenaltyLogitsProcessor(penalty)(torch.tensor([prompt + answer]), random_logits()[None].clone())
    assert torch.equal(penalised(prompt, answer, repetition_penalty=penalty), want[0])


def test_frequency_and_presence_penalties_count_the_answer_only():
    changed = penalised([1, 2], [7, 7, 9], frequency_penalty=0.5, presence_penalty=0.25)
    want = random_logits()
    want[7] -= 2 * 0.5 + 0.25
    want[9] -= 0.5 + 0.25
    assert torch.allclose(changed, want)


def test_the_window_of_the_penalties():
    assert torch.equal(penalised([1], [2, 3], repetition_penalty=2.0, penalty_window=0), random_logits())
    last_two = penalised([1], [2, 3], repetition_penalty=2.0, penalty_window=2)
    assert (last_two != random_logits()).nonzero().flatten().tolist() == [2, 3]
    three = penalised([1], [2, 3], repetition_penalty=2.0, penalty_window=3)
    assert (three != random_logits()).nonzero().flatten().tolist() == [1, 2, 3]
    counted = penalised([], [2, 2, 3], frequency_penalty=1.0, penalty_window=2)
    assert (random_logits() - counted)[2] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"temperature": 0.1, "top_k": 3, "top_p": 0.2, "min_p": 0.1, "typical_p": 0.5, "xtc_probability": 1.0},
        {"repetition_penalty": 1.0}, {"repetition_penalty": 1.1}, {"frequency_penalty": -0.1}, {"presence_penalty": 1},
        {"dry_multiplier": 0.8, "dry_allowed_length": 1}, {"dry_allowed_length": 1},
        {"logit_bias": {3: 1.0}}, {"logit_bias": {}}, {"allowed_token_ids": [1, 2]}, {"banned_token_ids": [1]},
        {"banned_token_ids": []},
    ],
    ids=str,
)  # fmt: skip
def test_what_leaves_all_logits_alone(changes: dict[str, object]):
    params, logits, answer = with_params(**changes), random_logits(), [5, 6, 7, 5, 6]
    apply_logit_bias(logits, params)
    apply_allowed(logits, params)
    apply_penalties(logits, [1, 2], answer, params)
    apply_dry(logits, [1, 2], answer, params, str)
    assert leaves_alone(params) is torch.equal(logits, random_logits())


def test_logit_bias():
    logits = random_logits()
    apply_logit_bias(logits, with_params(logit_bias={3: 5.0, 4: -100.0}))
    assert logits[3] == random_logits()[3] + 5
    assert logits[4] == random_logits()[4] - 100
    assert torch.equal(logits[5:], random_logits()[5:])


def test_allowed_and_banned_ids():
    logits = random_logits()
    apply_allowed(logits, with_params(allowed_token_ids=[3, 5, 5, 9], banned_token_ids=[5]), ending=[9])
    assert (logits > -math.inf).nonzero().flatten().tolist() == [3]
    assert logits[3] == random_logits()[3]


# --- DRY


def test_the_last_token_of_a_bad_word_is_ruled_out():
    words = [[3], [7, 8], [5, 7, 9], [1, 2, 5, 7, 10], [7, 6, 11]]
    for answer, want in (([], [3]), ([7], [3, 8]), ([5, 7], [3, 8, 9]), ([5, 7, 6], [3, 11]), ([2, 5, 7], [3, 8, 9])):
        logits = random_logits()
        apply_bad_words(logits, answer, words)
        assert (logits == -math.inf).nonzero().flatten().tolist() == want
        rest = [i for i in range(len(logits)) if i not in want]
        assert torch.equal(logits[rest], random_logits()[rest])


def plain_dry(tokens: list[int], allowed: int, multiplier: float, base: float, breakers: set[int]) -> dict[int, float]:
    """The penalty of each token by the definition: try every earlier place, compare backwards."""
    found: dict[int, float] = {}
    for place in range(1, len(tokens)):
        length = 0
        while length < min(place, 50):
            token_id = tokens[-1 - length]
            if token_id != tokens[place - 1 - length] or token_id in breakers:
                break
            length += 1
        if length >= allowed:
            found[tokens[place]] = max(found.get(tokens[place], 0.0), multiplier * base ** (length - allowed))
    return found


@pytest.mark.parametrize("breakers", [set(), {0}, {1, 2}])
@pytest.mark.parametrize("kinds", [1, 2, 4])
def test_dry_is_its_definition(kinds: int, breakers: set[int]):
    rng = random.Random(kinds)
    for _ in range(60):
        tokens = [rng.randrange(kinds) for _ in range(rng.randrange(40))]
        allowed, cut = rng.randint(1, 4), rng.randint(0, len(tokens))
        logits = torch.zeros(8)
        params = with_params(
            dry_multiplier=0.8, dry_base=1.1, dry_allowed_length=allowed, dry_sequence_breakers=("b",), dry_window=-1
        )
        apply_dry(logits, tokens[:cut], tokens[cut:], params, lambda i: "ab" if i in breakers else "a")
        want = torch.zeros(8)
        for token_id, penalty in plain_dry(tokens, allowed, 0.8, 1.1, breakers).items():
            want[token_id] -= penalty
        assert torch.allclose(logits, want), tokens


def test_dry_sees_its_window_only_and_is_off_by_default():
    tokens = [1, 2, 3, 9, 1, 2]
    logits = random_logits()
    params = with_params(dry_multiplier=1.0, dry_base=2.0, dry_allowed_length=2, dry_window=5)
    apply_dry(logits, [], tokens, params, str)
    apply_dry(logits, [], tokens, with_params(), str)
    assert torch.equal(logits, random_logits())
    apply_dry(logits, [], tokens, with_params(dry_multiplier=1.0, dry_base=2.0, dry_allowed_length=2), str)
    assert (random_logits() - logits)[3] == pytest.approx(1.0)


@pytest.mark.parametrize("base", [3, 10, 10.0])
def test_dry_of_a_long_repeat_leaves_a_number(base: float):
    logits = random_logits()
    params = with_params(dry_multiplier=100, dry_base=base, dry_allowed_length=1, dry_window=-1)
    apply_dry(logits, [5] * 100, [], params, str)
    assert -math.inf < logits[5] < -1e20


def test_ids_without_a_logit_are_passed_over():
    """A prompt may hold ids of rows that the head has for nobody."""
    changed = penalised([600], [7, 600], repetition_penalty=2.0, frequency_penalty=1.0)
    assert torch.equal(changed, penalised([], [7], repetition_penalty=2.0, frequency_penalty=1.0))
    logits = random_logits()
    params = with_params(dry_multiplier=1.0, dry_base=2.0, dry_allowed_length=1, dry_window=-1)
    apply_dry(logits, [600, 1, 600, 1], [3, 600, 1], params, str)
    assert (logits != random_logits()).nonzero().flatten().tolist() == [3]
