"""Which sequences run next; works on plain numbers only: no tensors, no text, no clock.

Everything is "tokens known" against "tokens run" (vLLM v1): a sequence with more than one token to run is in prefill,
one with a single token decodes. A step carries every decode, and a chunk of one prompt or some short ones (chunked
prefill, Agrawal et al. 2023), within a budget of tokens.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llama_gui.vocabulary import Strategy

TILE = 32
"""Chunks of prompts fill whole tiles of this many rows, together with the decodes."""

FINE_TILE = 4
"""The same for our own kernels: there a step's time grows evenly with its rows, and each row is slow."""

MAX_CHUNK = 1024
DECODE_PATIENCE = 2.4
"""A step with a chunk of a prompt may take this many times a step without one; we promise three."""
ALONE_SECONDS = 1.0
"""Target length of a step without decodes: short, because a new question has to wait for its end."""
GOOD_CHUNK = 256
"""Prompt tokens that make reading the weights worth it, even if the step gets longer, up to `MOST_SECONDS`."""
MOST_SECONDS = 1.5
SMOOTHING, FASTER = 0.3, 0.6
"""Weights of the newest step in the moving averages. Other programs can only slow a step down, so a faster one counts
more (`FASTER`).

Not for prompt tokens beside decodes: with uneven steps their cost would be underestimated, and running answers would
wait too long. There both directions use `SMOOTHING`.
"""


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one sequence runs in a step: its next `tokens` tokens, several in prefill, one in decode."""

    number: int
    tokens: int


class TokenBudget:
    """How many prompt tokens fit a step, learnt from the seconds that steps took.

    `tile`: rows that cost as much as one. `shares_tiles`: decodes go into the same tiles as prompts. `overhead`: what a
    chunk costs however short it is, in tokens; chunks are not much shorter then, even if others wait longer.
    """

    def __init__(self, tile: int = TILE, *, shares_tiles: bool = True, overhead: int = 0) -> None:
        self._tile = tile
        self._shares_tiles = shares_tiles
        self._overhead = overhead
        self._decode_seconds: float | None = None
        self._token_seconds: float | None = None
        self._beside_seconds: float | None = None  # the same in steps with decodes: few rows of a prompt at a time
        self._is_first = True  # the next chunk beside decodes, of a prompt that has just come

    def record(self, decodes: int, prompt_tokens: int, seconds: float) -> None:
        """A step with so many decodes and prompt tokens took `seconds`."""
        if not prompt_tokens:
            self._decode_seconds = _smooth(self._decode_seconds, seconds)
            self._is_first = True
            return
        base = self._decode_seconds or 0.0  # every step reads the weights
        # A tiny chunk says little: its time is spent on reading the weights.
        if prompt_tokens < min(TILE // 2, self._tile):
            return
        each = max(seconds - base, 1e-6) / (prompt_tokens + self._overhead)
        if decodes:
            self._beside_seconds = _smooth(self._beside_seconds, each, SMOOTHING)
            self._is_first = False
        else:
            self._token_seconds = _smooth(self._token_seconds, each)

    def prompt_seconds(self, tokens: int) -> float | None:
        """About how long reading so many tokens takes, of a prompt that is alone; None: nobody knows."""
        each = self._token_seconds or self._beside_seconds
        return None if each is None else tokens * each

    def tokens(self, decodes: int) -> int:
        """Prompt tokens beside `decodes` rows, so that the step's rows fill whole tiles."""
        tile, overhead = self._tile, self._overhead
        wished = self._beside() if decodes else self._alone()
        wished = min(max(wished, overhead // 2 if decodes else overhead), MAX_CHUNK)
        if not self._shares_tiles:
            return max(wished // tile, 1) * tile
        nearest = tile // 2 if tile < TILE else 0  # rounding up by half a large tile would be too long a wait
        tokens = (wished + decodes + nearest) // tile * tile - decodes
        return max(tokens, tile - decodes % tile, min(TILE // 2, 2 * tile))

    def chunk(self, pending: int, decodes: int) -> int:
        """How many of the `pending` tokens to run: all, if the rest would be shorter than its step's fixed cost."""
        tokens = self.tokens(decodes)
        return pending if pending <= tokens + self._overhead // 4 else tokens

    def _alone(self) -> int:
        each = self._token_seconds or self._beside_seconds
        if each is None:
            return 4 * TILE
        base = self._decode_seconds or 0.0
        whole = ((seconds - base) / each for seconds in (ALONE_SECONDS, MOST_SECONDS))
        wished, most = (tokens - self._overhead for tokens in whole)
        return int(max(wished, min(GOOD_CHUNK + self._overhead, most)))

    def _beside(self) -> int:
        each = self._beside_seconds or self._token_seconds
        if each is None:
            return 2 * min(TILE, self._tile)
        if self._decode_seconds is None:
            return min(TILE, self._tile)  # nobody knows yet how long a step of decodes is
        if self._is_first:  # what was learnt may be old
            each = max(each, self._token_seconds or each)
        patience = (DECODE_PATIENCE - 1) * self._decode_seconds
        return int(patience / each) - self._overhead


def _smooth(old: float | None, new: float, faster: float = FASTER) -> float:
    if old is None:
        return new
    return old + (SMOOTHING if new > old else faster) * (new - old)


class Scheduler:
    """Schedules one step after the other for at most `max_batch` sequences.

    batched: all decodes in every step. interleaved: one sequence in every step, in turn. sequential: one sequence
    until its end. Prompts take turns too, chunk by chunk, so that a long one does not keep a short one waiting.
    """

    def __init__(self, strategy: Strategy, max_batch: int, budget: TokenBudget | None = None) -> None:
        self._strategy = strategy
        self._max_batch = max_batch
        self.budget = budget or TokenBudget()
        self._running: OrderedDict[int, None] = OrderedDict()  # least recently served first
        self._waiting: OrderedDict[int, None] = OrderedDict()

    @property
    def running(self) -> tuple[int, ...]:
        """Admitted sequences, the one that has waited longest for a step first."""
        return tuple(self._running)

    @property
    def waiting(self) -> tuple[int, ...]:
        """Sequences that are not admitted yet, oldest first."""
        return tuple(self._waiting)

    def add(self, number: int) -> None:
        """A new sequence queues up."""
        self._waiting[number] = None

    def remove(self, number: int) -> None:
        """A sequence ended, wherever it was."""
        self._running.pop(number, None)
        self._waiting.pop(number, None)

    def next_admission(self) -> int | None:
        """The sequence that may start now, or None; confirm with `admit`."""
        places = 1 if self._strategy == "sequential" else self._max_batch
        return next(iter(self._waiting), None) if len(self._running) < places else None

    def admit(self, number: int) -> None:
        """The sequence has got its memory and runs from now on."""
        del self._waiting[number]
        self._running[number] = None

    def schedule(self, pending: Callable[[int], int]) -> list[Chunk]:
        """The next step: decodes first, then prefills. `pending`: tokens a sequence has to run."""
        if not self._running:
            return []
        if self._strategy != "batched":
            number = next(iter(self._running))
            others = min(len(self._running) - 1, 1)  # somebody waits for the end of this step
            return self._served([Chunk(number, self.budget.chunk(pending(number), others))])
        left = {number: pending(number) for number in self._running}
        decodes = [Chunk(number, 1) for number, tokens in left.items() if tokens == 1]
        in_prefill = [number for number, tokens in left.items() if tokens > 1]
        return self._served(decodes + self._prefills(in_prefill, pending, len(decodes)))

    def _prefills(self, in_prefill: Sequence[int], pending: Callable[[int], int], decodes: int) -> list[Chunk]:
        """A chunk of the first prompt, and the whole rest of others while all together is still a good chunk."""
        chunks: list[Chunk] = []
        room = min(self.budget.tokens(decodes), GOOD_CHUNK) if len(in_prefill) > 1 else 0
        for number in in_prefill:
            tokens = self.budget.chunk(pending(number), decodes)
            if not chunks or tokens <= room:
                chunks.append(Chunk(number, tokens))
                room -= tokens
        return chunks

    def _served(self, chunks: list[Chunk]) -> list[Chunk]:
        for chunk in chunks:
            self._running.move_to_end(chunk.number)
        return chunks
