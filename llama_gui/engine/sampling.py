"""From logits to a token: one pure function for each step, in transformers' order, and a sampler that composes them.

Order: the caller's processor, the grammar, logit bias, allowed and banned ids, min tokens, bad words, penalties, DRY,
temperature, top-k, top-p, min-p, typical, XTC, draw. Recommended values in generation_config.json were tuned for this
order. Each token of a request has its own uniform number (and a second one for XTC), which depends only on the seed and
the token's index, so neither the batch nor the device nor a restart changes what is drawn.
"""

import hashlib
import math
import struct
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from llama_gui.engine.largest import argmax, topk
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.penalties import (
    apply_allowed,
    apply_bad_words,
    apply_dry,
    apply_logit_bias,
    apply_penalties,
    leaves_alone,
)
from llama_gui.engine.ranking import RANKS, RankedRow, ranked
from llama_gui.errors import GenerationError
from llama_gui.vocabulary import SamplingParams

_FIRST_CANDIDATES = RANKS
_RANKED = (RANKS, 512, 4095)
"""How many of the likeliest our own kernels are asked for, until that is enough."""
_CANDIDATE_GROWTH = 8
_LEAST_TEMPERATURE = 1e-6


@dataclass(frozen=True, slots=True)
class Draw:
    """A drawn token: its id, its log-probability in the raw distribution, and the likeliest (id, log-probability)."""

    token_id: int
    logprob: float
    top: tuple[tuple[int, float], ...] = ()


def uniform(seed: int, index: int, purpose: bytes = b"") -> float:
    """The number in [0, 1) that belongs to token `index` of a request with `seed`: 53 bits of BLAKE2b."""
    digest = hashlib.blake2b(struct.pack("<QQ", seed, index), digest_size=8, person=purpose).digest()
    return (int.from_bytes(digest, "little") >> 11) / 2**53


def log_mass(logits: Tensor, kernels: NativeKernels | None = None) -> float:
    """What to subtract from raw float32 `logits` ``[vocab]`` to get log-probabilities.

    Raises:
        GenerationError: they are not finite.
    """
    return _checked(float(torch.logsumexp(logits, 0)) if kernels is None else kernels.log_mass(logits))


def _checked(mass: float) -> float:
    if not math.isfinite(mass):
        raise GenerationError(
            "The model computed numbers that are not finite (NaN), so there is no next word. "
            "The weights may be damaged, or the dtype too narrow for this model."
        )
    return mass


def likeliest(logits: Tensor, mass: float, count: int) -> tuple[tuple[int, float], ...]:
    """The `count` likeliest (id, log-probability) of raw `logits` ``[vocab]``, whose `log_mass` is `mass`."""
    if not count:
        return ()
    return _told(*topk(logits, min(count, len(logits))), mass)


def _told(values: Tensor, ids: Tensor, mass: float) -> tuple[tuple[int, float], ...]:
    # In the same arithmetic as the drawn token's log-probability, so that the two can be compared.
    return tuple(zip(ids.tolist(), (value - mass for value in values.tolist()), strict=True))


def candidates(scores: Tensor, top_k: int, top_p: float, min_p: float) -> tuple[Tensor, Tensor]:
    """What top-k, then top-p, then min-p leave: float64 probabilities (not normalised) and ids, likeliest first.

    `scores` are float32 logits ``[vocab]`` after the temperature. Only as many as needed are sorted: the list grows
    until no further candidate could be kept. top-p keeps the smallest set whose mass reaches it, within top-k; min-p
    keeps what is at least that fraction of the likeliest.
    """
    size = len(scores)
    limit = min(top_k, size) if top_k else size
    # With top-k the mass is that of the kept candidates; without it, of all.
    whole = torch.logsumexp(scores, 0).double() if limit == size else None
    count = min(limit, max(_FIRST_CANDIDATES, top_k) if top_k else _FIRST_CANDIDATES)
    while True:
        values, ids = topk(scores, count)
        probabilities, kept = _kept(values, whole, top_p, min_p)
        if count >= limit or not bool(kept[-1]):
            return probabilities[kept], ids[kept]
        count = min(limit, count * _CANDIDATE_GROWTH)


def _kept(values: Tensor, whole: Tensor | None, top_p: float, min_p: float) -> tuple[Tensor, Tensor]:
    """Float64 probabilities of the likeliest `values`, and which of them top-p and min-p leave.

    `whole`: the logarithm of the mass of all; None: that of these.
    """
    log_mass = torch.logsumexp(values, 0).double() if whole is None else whole
    probabilities = (values.double() - log_mass).exp()
    before = probabilities.cumsum(0) - probabilities
    # Forbidden ids are left out here: in float32 the rest may sum to slightly less than 1.
    kept = (before < top_p) & (probabilities >= min_p * probabilities[0]) & (values > -math.inf)
    kept[0] = True
    return probabilities, kept


def typical(probabilities: Tensor, typical_p: float) -> Tensor:
    """Places of the candidates (float64) that locally typical sampling keeps, likeliest first (Meister et al. 2023).

    The smallest set whose mass reaches `typical_p`, of those whose surprise is nearest to the expected one.
    """
    shares = probabilities / probabilities.sum()
    surprise = -shares.log()
    entropy = (shares * surprise).nansum()  # 0 log 0 is 0
    distance = (surprise - entropy).abs()
    count = min(_FIRST_CANDIDATES, len(shares))
    while True:
        places = distance.topk(count, largest=False).indices
        mass_before = shares[places].cumsum(0) - shares[places]
        if count == len(shares) or float(mass_before[-1]) >= typical_p:
            kept = places[mass_before < typical_p]
            return kept[shares[kept].argsort(descending=True, stable=True)]
        count = min(len(shares), count * _CANDIDATE_GROWTH)


def xtc(probabilities: Tensor, threshold: float) -> Tensor:
    """Which of the candidates (float64, likeliest first) "exclude top choices" keeps (p-e-w 2024).

    Of those that reach `threshold` all but the least likely go, so that a good choice is always left.
    """
    likely = int((probabilities / probabilities.sum() >= threshold).sum())
    return torch.arange(len(probabilities), device=probabilities.device) >= likely - 1


def draw_from(probabilities: Tensor, ids: Tensor, number: float) -> int:
    """The id in whose interval of the cumulative float64 `probabilities` the share `number` (0 to 1) falls."""
    cumulative = probabilities.cumsum(0)
    place = int(torch.searchsorted(cumulative, cumulative[-1] * number, right=True))
    return int(ids[min(place, len(ids) - 1)])


def ranked_place(row: RankedRow, params: SamplingParams, temperature: float, number: float) -> int | None:
    """Which of the likeliest tokens is drawn, as `candidates` and `draw_from` do it; None: it is none of those."""
    top_k, top_p, min_p = params.top_k or row.size, params.top_p or 1.0, params.min_p or 0.0
    is_truncated = top_k < row.size or top_p < 1 or min_p > 0
    best, values = row.values[0], row.values[:top_k]
    log_mass = row.cooled
    if top_k < row.size:
        log_mass = math.log(sum(math.exp((value - best) / temperature) for value in values))
    least = min_p * math.exp(-log_mass)
    most = top_p if is_truncated else number  # of all tokens, the last of the smallest set whose mass reaches it
    sums: list[float] = []
    before = 0.0
    for value in values:
        share = math.exp((value - best) / temperature - log_mass)
        if sums and (before >= most or share < least or not share):
            break
        before += share
        sums.append(before)
    else:
        if len(values) < min(top_k, row.size):
            return None
    return min(bisect_right(sums, before * number), len(sums) - 1) if is_truncated else len(sums) - 1


def told_mass(row: RankedRow, temperature: float) -> float:
    """Of the likeliest tokens that are told, of 1."""
    best = row.values[0]
    return sum(math.exp((value - best) / temperature - row.cooled) for value in row.values)


class Sampler:
    """Draws the tokens of one request.

    `params` must be complete. `processor` receives (ids so far, float32 logits ``[rows]``) and returns logits. `ending`
    are the ids that end an answer, which must not come before `min_tokens`. `bad_words`: those of the params, as runs
    of tokens. `token_text` tells the text of a token. `rows`: those of the network's head, where it has more than there
    are tokens. `kernels`: our own, where they are.
    """

    def __init__(
        self,
        params: SamplingParams,
        seed: int,
        logprobs: int = 0,
        processor: Callable[[list[int], Any], Any] | None = None,
        *,
        min_tokens: int = 0,
        ending: Collection[int] = (),
        bad_words: Sequence[Sequence[int]] = (),
        token_text: Callable[[int], str] = str,
        rows: int | None = None,
        kernels: NativeKernels | None = None,
    ) -> None:
        self.params = params
        self.seed = seed
        self._logprobs = logprobs
        self._processor = processor
        self._min_tokens = min_tokens
        self._ending = ending
        self._bad_words = bad_words
        self._token_text = token_text
        self._rows = rows
        self._kernels = kernels
        self._is_plain = processor is None and not bad_words and leaves_alone(params)

    def guesser(self) -> "Sampler":
        """A sampler that draws the same, but without the caller's processor, which may count its calls."""
        return Sampler(
            self.params, self.seed, bad_words=self._bad_words, token_text=self._token_text, kernels=self._kernels
        )

    @property
    def is_plain(self) -> bool:
        """Whether nothing is done to logits but to draw one of the likeliest."""
        return self._is_plain

    def guess(self, logits: Tensor, prompt: Sequence[int], answer: Sequence[int]) -> int:
        """As `draw`, without finding out how likely it was, which takes longer. Where it `is_plain`, `logits` may be
        those of the first tokens only.
        """
        return self._pick(self._processed(logits, prompt, answer, None), len(answer))

    @property
    def temperature(self) -> float:
        """By which logits are divided; 0: the likeliest token is drawn."""
        return 1.0 if self.params.temperature is None else self.params.temperature

    def draw(
        self,
        logits: Tensor | RankedRow,
        prompt: Sequence[int],
        answer: Sequence[int],
        allowed: Tensor | None = None,
    ) -> Draw:
        """The next token, from raw float32 `logits` ``[vocab]``, which stay as they are, or are ranked on a card.

        `allowed`: bool ``[vocab]``, the tokens that a grammar allows; None: all.

        Raises:
            GenerationError: the logits, or what a processor made of them, are not finite.
        """
        index, is_plain = len(answer), self._leaves_alone(answer, allowed)
        if isinstance(logits, RankedRow):
            place = self._place(logits, index) if is_plain and logits.tells(self._logprobs) else None
            if place is not None:
                return self._drawn(logits, place)
            logits = logits.whole()
        found = self._find(logits, index) if is_plain else None
        if found is not None and found[0].tells(self._logprobs):
            return self._drawn(*found)
        mass = log_mass(logits, self._kernels)
        scores = self._processed(logits, prompt, answer, allowed)
        token_id = self._search(scores, index) if is_plain else self._pick(scores, index)
        return Draw(token_id, float(logits[token_id]) - mass, likeliest(logits, mass, self._logprobs))

    def _leaves_alone(self, answer: Sequence[int], allowed: Tensor | None) -> bool:
        """Whether nothing is done to the logits."""
        return self._is_plain and allowed is None and (len(answer) >= self._min_tokens or not self._ending)

    def _processed(
        self, logits: Tensor, prompt: Sequence[int], answer: Sequence[int], allowed: Tensor | None
    ) -> Tensor:
        if self._leaves_alone(answer, allowed):
            return logits  # copying a vocabulary takes longer than everything else done to it
        scores = logits.clone()
        if self._processor is not None:
            scores = self._call_processor(scores, prompt, answer)
        if allowed is not None:
            scores.masked_fill_(~allowed, -math.inf)
        apply_logit_bias(scores, self.params)
        apply_allowed(scores, self.params, self._ending if len(answer) < self._min_tokens else ())
        apply_bad_words(scores, answer, self._bad_words)
        apply_penalties(scores, prompt, answer, self.params)
        apply_dry(scores, prompt, answer, self.params, self._token_text)
        return scores

    def _call_processor(self, scores: Tensor, prompt: Sequence[int], answer: Sequence[int]) -> Tensor:
        assert self._processor is not None
        size, rows = len(scores), len(scores) if self._rows is None else self._rows
        # Rows beyond the tokenizer's tokens may not be drawn, but the processor's results have them, too.
        scores = torch.nn.functional.pad(scores, (0, rows - size), value=-math.inf)
        made = self._processor([*prompt, *answer], scores)
        if not isinstance(made, Tensor) or made.shape != scores.shape:
            shape = list(made.shape) if isinstance(made, Tensor) else type(made).__name__
            raise GenerationError(f"logits_processor returned {shape}, but must return logits {list(scores.shape)}.")
        made = made[:size].float()
        if bool(made.isnan().any()) or not math.isfinite(float(made.max())):
            raise GenerationError("logits_processor returned NaN, +inf, or no token that may be drawn.")
        return made

    def _drawn(self, row: RankedRow, place: int) -> Draw:
        """The token that stands there."""
        mass, count = _checked(row.mass), self._logprobs
        top = tuple((i, value - mass) for i, value in zip(row.ids[:count], row.values[:count], strict=True))
        return Draw(row.ids[place], row.values[place] - mass, top)

    def _place(self, row: RankedRow, index: int) -> int | None:
        """Which of the likeliest tokens is drawn; None: that cannot be told from these alone."""
        if self._is_greedy:
            return 0
        if self._cuts_otherwise or not row.tells(self.params.top_k or 0):
            return None
        return ranked_place(row, self.params, self._divisor, uniform(self.seed, index))

    def _find(self, scores: Tensor, index: int) -> tuple[RankedRow, int] | None:
        """The likeliest of `scores` ``[vocab]``, found by our own kernels, and which of them is drawn.

        None: there are no such kernels, the scores are not finite, or more of them is needed.
        """
        if self._kernels is None or scores.device.type != "cpu" or (self._cuts_otherwise and not self._is_greedy):
            return None
        if self._is_greedy:
            row = ranked(scores, 1.0, min(max(self._logprobs, 1), _RANKED[-1]), self._kernels)
            return None if row is None else (row, 0)
        least = min(self.params.top_k or 1, len(scores))
        for count, after in zip(_RANKED, (*_RANKED[1:], 0), strict=True):
            if count < least:
                continue
            row = ranked(scores, self._divisor, count, self._kernels)
            place = None if row is None else self._place(row, index)
            if row is not None and place is not None:
                return row, place
            # Those that come after are not likelier: so many of them may still be too few.
            if row is None or not after or self._needed_mass(index) > after / count * told_mass(row, self._divisor):
                return None
        return None

    def _needed_mass(self, index: int) -> float:
        """A set of the likeliest tokens that has this mass is enough to draw from."""
        top_p = self.params.top_p or 1.0
        return top_p if top_p < 1 or self.params.min_p else uniform(self.seed, index)

    @property
    def _cuts_otherwise(self) -> bool:
        """Whether more is cut off than by top-k, top-p and min-p."""
        return bool(self.params.xtc_probability) or (self.params.typical_p or 1.0) < 1

    @property
    def _is_greedy(self) -> bool:
        return self.temperature == 0 or self.params.top_k == 1

    @property
    def _divisor(self) -> float:
        """A temperature that divides."""
        return max(self.temperature, _LEAST_TEMPERATURE)

    def _pick(self, scores: Tensor, index: int) -> int:
        found = self._find(scores, index)
        return self._search(scores, index) if found is None else found[0].ids[found[1]]

    def _search(self, scores: Tensor, index: int) -> int:
        """The same by torch."""
        first = argmax(scores) if self._is_greedy else None
        best = float(scores.max() if first is None else scores[first])
        if best == -math.inf:
            raise GenerationError(
                "No token may be drawn: allowed_token_ids, banned_token_ids, bad_words, min_tokens and the grammar "
                "leave none."
            )
        if first is not None:
            return first
        # Shifted first, so that a tiny temperature cannot overflow.
        return self._draw((scores - best) / self._divisor, index)

    def _draw(self, scores: Tensor, index: int) -> int:
        """Draw one of the candidates that the truncations leave of `scores` ``[vocab]`` (after the temperature)."""
        params, number = self.params, uniform(self.seed, index)
        typical_p = params.typical_p if params.typical_p is not None else 1.0
        cuts = bool(params.xtc_probability) and uniform(self.seed, index, b"xtc") < (params.xtc_probability or 0)
        truncated = params.top_k or (params.top_p or 1.0) < 1 or params.min_p
        if truncated or cuts:
            probabilities, ids = candidates(scores, params.top_k or 0, params.top_p or 1.0, params.min_p or 0.0)
        elif typical_p == 1:
            # All of them: the one drawn is the last of the smallest set whose mass reaches the number.
            return int(candidates(scores, 0, number, 0.0)[1][-1])
        else:
            probabilities, ids = scores.double().softmax(0), torch.arange(len(scores), device=scores.device)
        if typical_p < 1:
            kept = typical(probabilities, typical_p)
            probabilities, ids = probabilities[kept], ids[kept]
        if cuts:
            kept = xtc(probabilities, params.xtc_threshold or 0.0)
            probabilities, ids = probabilities[kept], ids[kept]
        return draw_from(probabilities, ids, number)
