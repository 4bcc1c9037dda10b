"""Who runs next, in plain numbers: no tensor, no text, no clock of its own.

Everything is "tokens known" against "tokens run" (vLLM v1): a sequence with more than one token to run is reading its
prompt, one with a single token is writing. A step carries every writer, and a piece of one prompt or some short ones.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llama_gui.vocabulary import Strategy

GRAIN = 32
"""Prompt pieces fill whole tiles of this many rows, together with the writers."""

FINE_GRAIN = 4
"""The same where rows cost the same in any number, and each takes long: on CPUs for which our own kernels compute."""

MAX_PIECE = 1024
WRITING_PATIENCE = 2.5
"""A step with a piece of a prompt may take this many times a step without one; we promise three."""
ALONE_SECONDS = 1.0
"""Aim for a step in which nobody writes: short, because a new question waits for its end."""
GOOD_PIECE = 256
"""Prompt tokens for one reading of the weights, even if they take longer, but not longer than `MOST_SECONDS`."""
MOST_SECONDS = 1.5
SMOOTHING, FASTER = 0.3, 0.6
"""What a step says of those to come. Others can only disturb: what was faster is believed sooner."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What one sequence runs in a step: its next `tokens` tokens."""

    number: int
    tokens: int


class PieceBudget:
    """How many prompt tokens fit a step, learnt from the seconds that steps took.

    `grain`: the rows of a tile. `shares_tiles`: drawn tokens go into the same tiles as prompts. `overhead`: what a
    piece costs however short it is, in tokens; pieces are not much shorter then, even if others wait longer.
    """

    def __init__(self, grain: int = GRAIN, *, shares_tiles: bool = True, overhead: int = 0) -> None:
        self._grain = grain
        self._shares_tiles = shares_tiles
        self._overhead = overhead
        self._write_seconds: float | None = None
        self._token_seconds: float | None = None

    def record(self, writers: int, prompt_tokens: int, seconds: float) -> None:
        """A step with so many writing rows and prompt tokens took `seconds`."""
        if not prompt_tokens:
            self._write_seconds = _smooth(self._write_seconds, seconds)
            return
        base = self._write_seconds or 0.0  # every step reads the weights
        # A tiny piece says little: its time is the reading of the weights.
        if prompt_tokens >= min(GRAIN // 2, self._grain):
            self._token_seconds = _smooth(
                self._token_seconds, max(seconds - base, 1e-6) / (prompt_tokens + self._overhead)
            )

    def tokens(self, writers: int) -> int:
        """Prompt tokens beside `writers` rows, so that the step's rows fill whole tiles."""
        grain, overhead = self._grain, self._overhead
        wished = self._beside() if writers else self._alone()
        wished = min(max(wished, overhead // 2 if writers else overhead), MAX_PIECE)
        if not self._shares_tiles:
            return max(wished // grain, 1) * grain
        nearest = grain // 2 if grain < GRAIN else 0  # half of a large tile more would be too long a wait
        tokens = (wished + writers + nearest) // grain * grain - writers
        return max(tokens, grain - writers % grain, min(GRAIN // 2, 2 * grain))

    def piece(self, pending: int, writers: int) -> int:
        """How many of so many tokens to run; all, rather than leave a rest that costs more than it is long."""
        tokens = self.tokens(writers)
        return pending if pending <= tokens + self._overhead // 4 else tokens

    def _alone(self) -> int:
        if self._token_seconds is None:
            return 4 * GRAIN
        base = self._write_seconds or 0.0
        whole = ((seconds - base) / self._token_seconds for seconds in (ALONE_SECONDS, MOST_SECONDS))
        wished, most = (tokens - self._overhead for tokens in whole)
        return int(max(wished, min(GOOD_PIECE + self._overhead, most)))

    def _beside(self) -> int:
        if self._token_seconds is None:
            return 2 * min(GRAIN, self._grain)
        if self._write_seconds is None:
            return min(GRAIN, self._grain)  # nobody knows yet how long the writers' own step is
        patience = (WRITING_PATIENCE - 1) * self._write_seconds
        return int(patience / self._token_seconds) - self._overhead


def _smooth(old: float | None, new: float) -> float:
    if old is None:
        return new
    return old + (SMOOTHING if new > old else FASTER) * (new - old)


class Scheduler:
    """Plans one step after the other for at most `max_batch` sequences.

    batched: all writers in every step. interleaved: one sequence in every step, in turn. sequential: one sequence
    until its end. Prompts take turns too, piece by piece, so that a long one does not keep a short one waiting.
    """

    def __init__(self, strategy: Strategy, max_batch: int, budget: PieceBudget | None = None) -> None:
        self.strategy: Strategy = strategy
        self.max_batch = max_batch
        self.budget = budget or PieceBudget()
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
        places = 1 if self.strategy == "sequential" else self.max_batch
        return next(iter(self._waiting), None) if len(self._running) < places else None

    def admit(self, number: int) -> None:
        """The sequence has got its memory and runs from now on."""
        del self._waiting[number]
        self._running[number] = None

    def plan(self, pending: Callable[[int], int]) -> list[Piece]:
        """The next step: writers first, then prompts. `pending`: tokens a sequence has to run."""
        if not self._running:
            return []
        if self.strategy != "batched":
            number = next(iter(self._running))
            others = min(len(self._running) - 1, 1)  # somebody waits for the end of this step
            return self._served([Piece(number, self.budget.piece(pending(number), others))])
        pieces = [Piece(number, 1) for number in self._running if pending(number) == 1]
        readers = [number for number in self._running if pending(number) > 1]
        return self._served(pieces + self._prompts(readers, pending, len(pieces)))

    def _prompts(self, readers: Sequence[int], pending: Callable[[int], int], writers: int) -> list[Piece]:
        """A piece of the first, and all that others have left, where that together is still a good piece."""
        pieces: list[Piece] = []
        room = min(self.budget.tokens(writers), GOOD_PIECE) if len(readers) > 1 else 0
        for number in readers:
            tokens = self.budget.piece(pending(number), writers)
            if not pieces or tokens <= room:
                pieces.append(Piece(number, tokens))
                room -= tokens
        return pieces

    def _served(self, pieces: list[Piece]) -> list[Piece]:
        for piece in pieces:
            self._running.move_to_end(piece.number)
        return pieces
