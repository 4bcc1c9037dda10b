"""Changes to single tokens' logits before one is drawn: bias, forbidden ids, and penalties for repetition.

Each function changes float32 `logits` ``[vocab]`` in place.
"""

import math
from collections.abc import Callable, Collection, Sequence

import torch
from torch import Tensor

from llama_gui.vocabulary import SamplingParams

_LONGEST_MATCH = 50
"""A longer repeat is not punished harder: the penalty grows exponentially."""
_GREATEST_PENALTY = 1e30
_LEAST_REPETITION = 1e-30
"""Beyond these, float32 logits could become infinite, and nothing could be drawn."""


def leaves_alone(params: SamplingParams) -> bool:
    """Whether none of these parameters ever changes a logit."""
    of_ids = params.logit_bias, params.banned_token_ids
    of_repeats = params.frequency_penalty, params.presence_penalty, params.dry_multiplier
    is_limited = params.allowed_token_ids is not None or params.repetition_penalty not in (None, 1.0)
    return not (is_limited or any(of_ids) or any(of_repeats))


def apply_logit_bias(logits: Tensor, params: SamplingParams) -> None:
    """Add the bias of each token."""
    if params.logit_bias:
        ids = torch.tensor(list(params.logit_bias), device=logits.device)
        logits[ids] += torch.tensor(list(params.logit_bias.values()), dtype=logits.dtype, device=logits.device)


def apply_allowed(logits: Tensor, params: SamplingParams, ending: Collection[int] = ()) -> None:
    """Rule out all but the allowed ids, the banned ones, and those in `ending`."""
    if params.allowed_token_ids is not None:
        ids = torch.tensor(sorted(set(params.allowed_token_ids)), device=logits.device)
        kept = logits[ids]
        logits.fill_(-math.inf)
        logits[ids] = kept
    banned = {*(params.banned_token_ids or ()), *ending}
    if banned:
        logits[torch.tensor(sorted(banned), device=logits.device)] = -math.inf


def apply_bad_words(logits: Tensor, answer: Sequence[int], words: Sequence[Sequence[int]]) -> None:
    """Rule out the last token of each word (a run of tokens, none of them empty) whose others end the answer."""
    last = [word[-1] for word in words if list(answer[len(answer) - len(word) + 1 :]) == list(word[:-1])]
    if last:
        logits[torch.tensor(last, device=logits.device)] = -math.inf


def apply_penalties(logits: Tensor, prompt: Sequence[int], answer: Sequence[int], params: SamplingParams) -> None:
    """Lower the logits of tokens that were used.

    All three see the last `penalty_window` tokens. The repetition penalty (Keskar et al. 2019, CTRL) counts the
    prompt too; frequency and presence penalties (OpenAI's) count the answer only, as in vLLM.
    """
    window = params.penalty_window if params.penalty_window is not None else -1
    repetition, frequency, presence = params.repetition_penalty, params.frequency_penalty, params.presence_penalty
    if repetition not in (None, 1.0) and (seen := _last(window, prompt, answer)):
        repetition = max(repetition, _LEAST_REPETITION)
        ids = torch.tensor(_drawable({*seen}, logits), device=logits.device, dtype=torch.long)
        used = logits[ids]
        logits[ids] = torch.where(used < 0, used * repetition, used / repetition)
    if (frequency or presence) and (recent := _drawable(_last(window, (), answer), logits)):
        ids, counts = torch.tensor(recent, device=logits.device).unique(return_counts=True)
        logits[ids] -= counts * (frequency or 0.0) + (presence or 0.0)


def apply_dry(
    logits: Tensor,
    prompt: Sequence[int],
    answer: Sequence[int],
    params: SamplingParams,
    token_text: Callable[[int], str],
) -> None:
    """Lower the logits of tokens that would go on with a repeat of what the text has said before.

    DRY ("don't repeat yourself", p-e-w 2024): when the last n tokens have occurred before, and n is at least
    `dry_allowed_length`, the token that followed them loses ``dry_multiplier * dry_base ** (n - dry_allowed_length)``.
    A repeat does not reach over a token whose text holds one of `dry_sequence_breakers`. Of several occurrences of
    one follower the longest counts.
    """
    if not params.dry_multiplier:
        return
    tokens = _last(params.dry_window if params.dry_window is not None else -1, prompt, answer)
    allowed = params.dry_allowed_length or 1
    for token_id, length in _repeats(tokens, params.dry_sequence_breakers or (), token_text).items():
        if length >= allowed and token_id < len(logits):
            penalty = params.dry_multiplier * float(params.dry_base or 1.0) ** (length - allowed)
            logits[token_id] -= min(penalty, _GREATEST_PENALTY)


def _last(window: int, prompt: Sequence[int], answer: Sequence[int]) -> list[int]:
    """The last `window` tokens; all of them when it is negative."""
    if window < 0:
        return [*prompt, *answer]
    return [*prompt[-window:], *answer][-window:] if window else []


def _drawable(tokens: Collection[int], logits: Tensor) -> list[int]:
    """Those that have a logit, in order: a prompt may hold ids that belong to no token."""
    return sorted(token_id for token_id in tokens if token_id < len(logits))


def _repeats(tokens: list[int], breakers: Sequence[str], token_text: Callable[[int], str]) -> dict[int, int]:
    """Token id -> how many tokens before an occurrence of it are also the last ones of the text."""
    reach = 0
    for token_id in reversed(tokens[-_LONGEST_MATCH:]):
        if any(breaker in token_text(token_id) for breaker in breakers):
            break
        reach += 1
    if not reach or tokens.count(tokens[-1]) == 1:
        return {}
    longest: dict[int, int] = {}
    backwards = tokens[::-1]
    for place, length in enumerate(_prefix_lengths(backwards, reach)):
        if place and length:
            follower = backwards[place - 1]
            longest[follower] = max(longest.get(follower, 0), length)
    return longest


def _prefix_lengths(tokens: list[int], limit: int) -> list[int]:
    """For each place, how many tokens from there are also the first ones, at most `limit` (Z algorithm, linear)."""
    lengths = [0] * len(tokens)
    left = right = 0  # bounds of the known match that ends farthest to the right
    for place in range(1, len(tokens)):
        length = min(right - place, lengths[place - left]) if place < right else 0
        while length < limit and place + length < len(tokens) and tokens[length] == tokens[place + length]:
            length += 1
        lengths[place] = length
        if place + length > right:
            left, right = place, place + length
    return lengths
