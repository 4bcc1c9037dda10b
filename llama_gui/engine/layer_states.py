"""What recurrent layers hold of a conversation: sums of all that was read, or its last tokens, and no row for each.

They cannot be cut where one likes, as keys and values can: what is kept of earlier places are whole copies, the marks.
llama.cpp's server has the same for such networks (context checkpoints).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import torch
from torch import Tensor

from llama_gui.engine.conv_config import ConvConfig
from llama_gui.engine.mamba_config import MambaConfig
from llama_gui.engine.network_config import Recurrence

MARK_EVERY = 512
"""Tokens of a prompt between marks, for conversations that begin alike."""
MARK_BEFORE_END = 16
"""So many tokens before the end of a prompt is one more. From there an answer is written anew, and, where thoughts are
left out of later prompts, the next question is read: those differ in the marks behind which an answer begins."""
MARK_BEFORE_QUESTION = 256
"""So many tokens before that is another: for another question about the same."""
MOST_MARKS, MOST_SMALL_MARKS = 7, 64
"""The second is for states of less than so many bytes, such as those of convolutions."""
SMALL_STATE = 2**20
MOST_GUESSES = 16
"""Our kernels take so many tokens at a time, and guesses lead to no state: see `DELTA_TOKENS`."""


@dataclass(frozen=True, slots=True)
class StateShape:
    """`inputs` ``[layers, taps - 1, channels]``, `memory` ``[layers, value_heads, key_dim, value_dim]``.

    Of state spaces `key_dim` is what is called `state_dim` there.

    Where layers only convolve, there are no heads. `mixed`, `rates`: numbers of a row of each layer, see `KeptRows`.
    """

    inputs: tuple[int, int, int]
    memory: tuple[int, int, int, int]
    mixed: int
    rates: int

    @property
    def byte_count(self) -> int:
        """Of one state."""
        return (math.prod(self.inputs) + math.prod(self.memory)) * torch.float32.itemsize

    @property
    def least_bytes(self) -> int:
        """What each conversation takes, however short: the state behind its last token, and that of the next step."""
        return 2 * self.byte_count

    @property
    def most_marks(self) -> int:
        """So many are kept of a conversation."""
        return MOST_SMALL_MARKS if self.byte_count < SMALL_STATE else MOST_MARKS

    @classmethod
    def of(cls, config: Recurrence) -> Self:
        """For all layers of a network that have one."""
        layers, before = len(config.layers), config.taps - 1
        if isinstance(config, ConvConfig):
            return cls((layers, before, config.width), (layers, 0, 0, 0), config.width, 0)
        if isinstance(config, MambaConfig):
            memory = layers, config.heads, config.state_dim, config.head_dim
            return cls((layers, before, config.mixed_width), memory, config.made_width, config.heads)
        memory = layers, config.value_heads, config.key_dim, config.value_dim
        mixed, rates = config.mixed_width + config.value_width, 2 * config.value_heads
        return cls((layers, before, config.mixed_width), memory, mixed, rates)


class LayerState:
    """What all layers hold behind some token, float32: see `StateShape`. Once it `is_kept`, it is never changed."""

    __slots__ = ("inputs", "is_kept", "memory")

    def __init__(self, inputs: Tensor, memory: Tensor) -> None:
        self.inputs = inputs
        self.memory = memory
        self.is_kept = False


class KeptRows(NamedTuple):
    """What the layers make of guesses, of which nobody knows yet how many are right, before that is summed up.

    Float32: what goes into the layers, ``[layers, rows, mixed]``, and `rates` ``[layers, rows, rates]``. That is what
    `qkv` makes, but of convolutions what they convolve.
    """

    mixed: Tensor
    rates: Tensor

    def first(self, rows: int) -> "KeptRows":
        """Of each layer so many of the rows, where they are."""
        return KeptRows(self.mixed[:, :rows], self.rates[:, :rows])

    def of(self, layer: int) -> tuple[Tensor, Tensor]:
        """What is kept of a layer."""
        return self.mixed[layer], self.rates[layer]

    @property
    def described(self) -> tuple[int, int, int, int]:
        """As our own kernel takes them: the addresses of both, how many rows there are, and for how many is room."""
        room = self.mixed.stride(0) // self.mixed.stride(1)
        return self.mixed.data_ptr(), self.rates.data_ptr(), self.mixed.shape[1], room


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a conversation in a step, from one state to the next.

    `target`: None where they are guesses. `kept`: where those are kept. `pending`: guesses of the step before that were
    right, which come before the rows and which `source` does not hold yet.
    """

    rows: int
    source: LayerState
    target: LayerState | None
    kept: KeptRows | None = None
    pending: KeptRows | None = None


@dataclass(frozen=True, slots=True)
class StateSpan:
    """Rows from `row` on of a step are one conversation's next tokens, and lead through these states."""

    row: int
    pieces: Sequence[Piece]

    def placed(self) -> Iterator[tuple[int, Piece]]:
        """The pieces, each behind its first row."""
        row = self.row
        for piece in self.pieces:
            yield row, piece
            row += piece.rows


class StateSpans:
    """Those of all segments of a step. Valid for one step."""

    def __init__(self, spans: Sequence[StateSpan]) -> None:
        self.spans = spans

    @cached_property
    def table(self) -> tuple[Tensor, Tensor]:
        """As our own kernel takes them: int64 ``[pieces, 12]`` and ``[spans + 1]``.

        The first row of a piece, how many there are, the addresses of `inputs` and `memory` of both states, and of
        where rows are kept, or 0, and `KeptRows.described` of those that are pending; and which is the first piece of
        each span.
        """
        pieces: list[tuple[int, ...]] = []
        begins = [0]
        for span in self.spans:
            for row, piece in span.placed():
                kept = (0, 0) if piece.kept is None else (part.data_ptr() for part in piece.kept)
                pending = (0, 0, 0, 0) if piece.pending is None else piece.pending.described
                states = (*_addresses(piece.source), *_addresses(piece.target))
                pieces.append((row, piece.rows, *states, *kept, *pending))
            begins.append(len(pieces))
        return torch.tensor(pieces, dtype=torch.int64), torch.tensor(begins, dtype=torch.int64)


def _addresses(state: LayerState | None) -> tuple[int, int]:
    return (0, 0) if state is None else (state.inputs.data_ptr(), state.memory.data_ptr())


class SlotStates:
    """The state of one conversation behind its last token, and its marks: pairs of tokens before it and a state."""

    def __init__(self, shape: StateShape, device: torch.device) -> None:
        self._shape = shape
        self._device = device
        self.current = self._made(torch.zeros)
        self.marks: list[tuple[int, LayerState]] = []
        self._spare: LayerState | None = None
        self._next: list[tuple[int, LayerState]] = []  # where a pass leads: tokens from here, and states; marks first
        self._kept: KeptRows | None = None  # the guesses of the last pass
        self._unsure: KeptRows | None = None  # those of a pass that does not count yet: other memory
        self._guessed = 0  # of the last pass
        self._right = 0  # those of them that count, and that `current` does not hold yet

    @property
    def byte_count(self) -> int:
        """Bytes of all states."""
        return self._shape.least_bytes + self._shape.byte_count * len(self.marks)

    def place(self, held: int) -> int:
        """How many of `held` tokens `current` has summed up: not yet guesses that turned out to be right."""
        return held - self._right

    @property
    def block_bytes(self) -> int:
        """How many bytes `block` has."""
        return self._shape.byte_count

    def block(self, place: int, held: int) -> bytes:
        """The bits of the state behind so many of `held` tokens, which is `current` or a mark: for `put`."""
        states = {**dict(self.marks), self.place(held): self.current}
        parts = [part.flatten() for part in (states[place].inputs, states[place].memory)]
        return torch.cat(parts).cpu().numpy().tobytes()

    def put(self, rows: int, content: memoryview, *, is_mark: bool) -> None:
        """Have the state that `block` returned as where `advance` by so many rows leads; and as a mark, too."""
        state = self._made(torch.empty)
        numbers = torch.frombuffer(content, dtype=torch.float32)
        parts = state.inputs, state.memory
        for part, given in zip(parts, numbers.split([part.numel() for part in parts]), strict=True):
            part.copy_(given.view(part.shape))
        self._next, self._guessed = [(rows, state)] * (1 + is_mark), 0

    def pieces(self, rows: int, cuts: Sequence[int] = (), guesses: int = 0) -> list[Piece]:
        """For a pass over so many rows, cut behind some of them (ascending), where marks are wanted; and guesses.

        A mark may be wanted behind all rows, too.

        Nothing counts before `advance`: a pass that was cancelled or failed may be begun again.

        Raises:
            ValueError: more than `MOST_GUESSES`.
        """
        if guesses > MOST_GUESSES:
            raise ValueError(f"{guesses} guesses are more than {MOST_GUESSES}")
        ends = [*(cut for cut in cuts if 0 < cut < rows), rows]
        targets = [*(self._made(torch.empty) for _ in ends[1:]), self._next_state()]
        self._next, self._guessed = list(zip(ends, targets, strict=True)), guesses
        self._next += self._next[-1:] * (rows in cuts)  # a mark, too
        sources, starts = [self.current, *targets], [0, *ends]
        found = [Piece(end - starts[i], sources[i], targets[i]) for i, end in enumerate(ends)]
        if self._kept is not None and self._right:
            found[0] = replace(found[0], pending=self._kept.first(self._right))
        if guesses:
            found.append(Piece(guesses, targets[-1], None, self._room(guesses)))
        return found

    def advance(self, held: int, rows: int) -> None:
        """All `rows` of the last pass count, behind `held` tokens; or `rows` of its guesses, if those do already."""
        if self._next and self._next[-1][0] == rows:
            for end, state in self._next[:-1]:
                self._mark(held + end, state)
            self._go_to(self._next[-1][1])
            self._next, self._right = [], 0
            self._kept, self._unsure = self._unsure, self._kept
        elif not self._next and self._right + rows <= self._guessed:
            self._right += rows
        else:
            raise ValueError(f"{rows} rows are none that the last pass ran")

    def reach(self, length: int, held: int) -> int:
        """The most tokens, up to `length`, that one can go back to; `held`: how many there are."""
        if length >= held:
            return held
        return max((tokens for tokens, _ in self.marks if tokens <= length), default=0)

    def go_back(self, length: int) -> None:
        """To as many tokens as `reach` has said, fewer than there are."""
        self.marks = [mark for mark in self.marks if mark[0] <= length]
        self._go_to(self.marks[-1][1] if length else self._made(torch.zeros))
        self._right = 0

    def take(self, donor: "SlotStates", length: int, held: int) -> None:
        """Begin as `donor`, of `held` tokens, does: with so many of them as its `reach` has said."""
        self.marks = [mark for mark in donor.marks if mark[0] <= length]
        self._right = 0
        if length < held:
            self._go_to(self.marks[-1][1] if length else self._made(torch.zeros))
            return
        donor.current.is_kept = True
        self._go_to(donor.current)
        if donor._kept is not None and donor._right:
            self._kept, self._right = KeptRows(*(part.clone() for part in donor._kept)), donor._right

    def _mark(self, tokens: int, state: LayerState) -> None:
        """Have one more; of too many goes one that is near its neighbours, for how far it is from beginning and end."""
        state.is_kept = True
        self.marks.append((tokens, state))
        if len(self.marks) > self._shape.most_marks:
            places = [0, *(place for place, _ in self.marks)]
            neighbours = zip(places, places[2:], strict=False)
            gaps = [(after - before) / min(after, tokens - before) for before, after in neighbours]
            del self.marks[gaps.index(min(gaps))]

    def _next_state(self) -> LayerState:
        """To be written."""
        if self._spare is None:
            self._spare = self._made(torch.empty)
        return self._spare

    def _room(self, rows: int) -> KeptRows:
        """Where the guesses of a pass are kept: the same memory again, where it is enough."""
        layers = self._shape.inputs[0]
        if self._unsure is None or self._unsure.mixed.shape[1] != rows:
            widths = (self._shape.mixed, self._shape.rates)
            self._unsure = KeptRows(*(torch.empty(layers, rows, width, device=self._device) for width in widths))
        return self._unsure

    def _go_to(self, state: LayerState) -> None:
        left, self.current = self.current, state
        if self._spare is state:
            self._spare = None
        if self._spare is None and not left.is_kept:
            self._spare = left

    def _made(self, make: Callable[..., Tensor]) -> LayerState:
        inputs, memory = (
            make(shape, dtype=torch.float32, device=self._device) for shape in (self._shape.inputs, self._shape.memory)
        )
        return LayerState(inputs, memory)


def cuts_of(start: int, rows: int, prompt: int) -> list[int]:
    """Behind which of `rows` tokens from `start` on, of a prompt of so many, marks are wanted."""
    last = prompt - MARK_BEFORE_END
    places = {*range(MARK_EVERY, last, MARK_EVERY), last - MARK_BEFORE_QUESTION, last}
    return sorted(place - start for place in places if start < place <= start + rows)
