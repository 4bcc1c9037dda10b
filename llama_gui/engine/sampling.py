"""From logits to a token: one pure function for each step, in transformers' order, and a sampler that composes them.

Order: the caller's processor, logit bias, penalties, temperature, top-k, top-p, min-p, draw. Recommended values in
generation_config.json were tuned for this order. One uniform number belongs to each token of a request, a function of
its seed and the token's index, so neither the batch nor the device nor a restart changes what is drawn.
"""

import hashlib
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from llama_gui.errors import GenerationError
from llama_gui.vocabulary import SamplingParams

_FIRST_CANDIDATES = 64
_CANDIDATE_GROWTH = 8


@dataclass(frozen=True, slots=True)
class Draw:
    """A drawn token: its id, its log-probability in the raw distribution, and the likeliest (id, log-probability)."""

    token_id: int
    logprob: float
    top: tuple[tuple[int, float], ...] = ()


def uniform(seed: int, index: int) -> float:
    """The number in [0, 1) that belongs to token `index` of a request with `seed`: 53 bits of BLAKE2b."""
    digest = hashlib.blake2b(struct.pack("<QQ", seed, index), digest_size=8).digest()
    return (int.from_bytes(digest, "little") >> 11) / 2**53


def apply_penalties(logits: Tensor, prompt: Sequence[int], answer: Sequence[int], params: SamplingParams) -> None:
    """Lower, in place, the float32 `logits` ``[vocab]`` of tokens that were used.

    All three see the last `penalty_window` tokens. The repetition penalty (Keskar et al. 2019, CTRL) counts the
    prompt too; frequency and presence penalties (OpenAI's) count the answer only, as in vLLM.
    """
    window = params.penalty_window if params.penalty_window is not None else -1
    if window == 0:
        return
    seen = [*prompt, *answer] if window < 0 else [*prompt[-window:], *answer][-window:]
    repetition, frequency, presence = params.repetition_penalty, params.frequency_penalty, params.presence_penalty
    if repetition not in (None, 1.0) and seen:
        ids = torch.tensor(sorted(set(seen)), device=logits.device)
        used = logits[ids]
        logits[ids] = torch.where(used < 0, used * repetition, used / repetition)
    recent = list(answer if window < 0 else answer[-window:])
    if (frequency or presence) and recent:
        ids, counts = torch.tensor(recent, device=logits.device).unique(return_counts=True)
        logits[ids] -= counts * (frequency or 0.0) + (presence or 0.0)


def apply_logit_bias(logits: Tensor, params: SamplingParams) -> None:
    """Add, in place, the bias of each token to the float32 `logits` ``[vocab]``."""
    if params.logit_bias:
        ids = torch.tensor(list(params.logit_bias), device=logits.device)
        logits[ids] += torch.tensor(list(params.logit_bias.values()), dtype=logits.dtype, device=logits.device)


def candidates(scores: Tensor, top_k: int, top_p: float, min_p: float) -> tuple[Tensor, Tensor]:
    """What top-k, then top-p, then min-p leave: float64 probabilities (not normalised) and ids, likeliest first.

    `scores` are float32 logits ``[vocab]`` after the temperature. Only as many are sorted as are needed: the list
    grows until what is behind it cannot be kept. top-p keeps the smallest set whose mass reaches it, within top-k;
    min-p keeps what is at least that fraction of the likeliest.
    """
    size = len(scores)
    limit = min(top_k, size) if top_k else size
    # Within top-k the mass is that of the kept ones; without it, of all.
    whole = torch.logsumexp(scores, 0).double() if limit == size else None
    count = min(limit, max(_FIRST_CANDIDATES, top_k) if top_k else _FIRST_CANDIDATES)
    while True:
        values, ids = torch.topk(scores, count)
        log_mass = torch.logsumexp(values, 0).double() if whole is None else whole
        probabilities = (values.double() - log_mass).exp()
        before = probabilities.cumsum(0) - probabilities
        kept = (before < top_p) & (probabilities >= min_p * probabilities[0])
        kept[0] = True
        if count >= limit or not bool(kept[-1]):
            return probabilities[kept], ids[kept]
        count = min(limit, count * _CANDIDATE_GROWTH)


def draw_from(probabilities: Tensor, ids: Tensor, number: float) -> int:
    """The id whose stretch of the cumulative float64 `probabilities` holds `number` (0 to 1) of their sum."""
    cumulative = probabilities.cumsum(0)
    place = int(torch.searchsorted(cumulative, cumulative[-1] * number, right=True))
    return int(ids[min(place, len(ids) - 1)])


class Sampler:
    """Draws the tokens of one request.

    `params` must be complete. `processor` receives (ids so far, float32 logits ``[vocab]``) and returns logits.
    """

    def __init__(
        self,
        params: SamplingParams,
        seed: int,
        logprobs: int = 0,
        processor: Callable[[list[int], Any], Any] | None = None,
    ) -> None:
        self.params = params
        self.seed = seed
        self._logprobs = logprobs
        self._processor = processor

    def draw(self, logits: Tensor, prompt: Sequence[int], answer: Sequence[int]) -> Draw:
        """The next token, from raw float32 `logits` ``[vocab]``, which stay as they are.

        Raises:
            GenerationError: the logits, or what a processor made of them, are not finite.
        """
        log_mass = float(torch.logsumexp(logits, 0))
        if not math.isfinite(log_mass):
            raise GenerationError(
                "The model computed numbers that are not finite (NaN), so there is no next word. "
                "The weights may be damaged, or the dtype too narrow for this model."
            )
        token_id = self._pick(self._processed(logits, prompt, answer), len(answer))
        top: tuple[tuple[int, float], ...] = ()
        if self._logprobs:
            values, ids = torch.topk(logits, min(self._logprobs, len(logits)))
            top = tuple(zip(ids.tolist(), (values - log_mass).tolist(), strict=True))
        return Draw(token_id, float(logits[token_id]) - log_mass, top)

    def _processed(self, logits: Tensor, prompt: Sequence[int], answer: Sequence[int]) -> Tensor:
        scores = logits.clone()
        if self._processor is not None:
            scores = self._call_processor(scores, prompt, answer)
        apply_logit_bias(scores, self.params)
        apply_penalties(scores, prompt, answer, self.params)
        return scores

    def _call_processor(self, scores: Tensor, prompt: Sequence[int], answer: Sequence[int]) -> Tensor:
        assert self._processor is not None
        made = self._processor([*prompt, *answer], scores)
        if not isinstance(made, Tensor) or made.shape != scores.shape:
            shape = list(made.shape) if isinstance(made, Tensor) else type(made).__name__
            raise GenerationError(f"logits_processor returned {shape}, but must return logits {list(scores.shape)}.")
        made = made.float()
        if bool(made.isnan().any()) or not math.isfinite(float(made.max())):
            raise GenerationError("logits_processor returned NaN, +inf, or no token that may be drawn.")
        return made

    def _pick(self, scores: Tensor, index: int) -> int:
        params = self.params
        temperature = params.temperature if params.temperature is not None else 1.0
        if temperature == 0 or params.top_k == 1:
            return int(scores.argmax())
        # Shifted first, so that a tiny temperature cannot overflow.
        scores = (scores - scores.max()) / max(temperature, 1e-6)
        kept = candidates(scores, params.top_k or 0, params.top_p or 1.0, params.min_p or 0.0)
        return draw_from(*kept, uniform(self.seed, index))
