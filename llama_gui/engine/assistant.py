"""Guesses of a network that was trained for it: it reads what another makes of its last token, and its keys and values.

Those of Gemma 4 (``Gemma4AssistantForCausalLM`` of transformers). Such a network has a few narrow layers and reads no
prompt: what the other one keeps of a conversation is what it attends to. A guess is made of the embedding of the token
before it and of a row: what the other network has made of its last token, behind the last norm, and then what this one
has made of its last guess.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import torch
from torch import Tensor

from llama_gui.engine.cache_layout import CacheLayout
from llama_gui.engine.config import NetworkConfig
from llama_gui.engine.guess_guard import GuessGuard
from llama_gui.engine.kv_cache import Slot
from llama_gui.engine.llama import Llama
from llama_gui.engine.prompt_lookup import Price, PromptLookup, best_count
from llama_gui.engine.sequence import Sequence
from llama_gui.errors import UnsupportedModelError

_MOST = 8
_FIRST_SHARE = 0.05
"""What a guess takes of a step, as long as that is not known."""
_PRIOR, _MEMORY = (3.0, 1.5), 0.95
"""Guesses that were right and that were wrong, before any were made; what an observation weighs after the next."""
_TRY_EVERY = 32  # tokens without guesses, where they do not pay
_NEWEST = 0.1
"""How much the newest guess weighs in how long they take."""


def lent_by(lender: NetworkConfig, config: NetworkConfig, name: str) -> NetworkConfig:
    """That of an assistant, called `name`, whose layers borrow from the last layers of their kind in `lender`.

    Raises:
        UnsupportedModelError: it was made for another network.
    """
    layout, gemma4, own = lender.cache_layout, config.gemma4, config.cache_layout
    last = {layer in lender.sliding_layers: layout.places[layer] for layer in range(lender.num_hidden_layers)}
    kinds = [layer in config.sliding_layers for layer in range(config.num_hidden_layers)]
    fits = gemma4 is not None and lender.gemma4 is not None and gemma4.backbone == lender.hidden_size
    if gemma4 is None or not fits or not all(_is_alike(own, n, layout, last.get(k)) for n, k in enumerate(kinds)):
        raise UnsupportedModelError(
            f"{name} guesses for another model of Gemma 4 than this one: its rows or its keys have another "
            "size. Choose the assistant that is named like the model."
        )
    lent = CacheLayout(layout.parts, tuple(last[kind] for kind in kinds))
    return replace(config, gemma4=replace(gemma4, lent=lent))


def _is_alike(own: CacheLayout, layer: int, lent: CacheLayout, place: tuple[int, int] | None) -> bool:
    """Whether keys of `layer` look like those at `place`."""
    if place is None:
        return False
    mine, theirs = own.parts[own.places[layer][0]], lent.parts[place[0]]
    return (mine.kv_heads, mine.head_dim) == (theirs.kv_heads, theirs.head_dim)


class Assistant:
    """A `network` whose keys and values are those of `target`."""

    def __init__(self, network: Llama, target: Llama) -> None:
        assert network.projections is not None
        self._network, self._target = network, target
        self._projections = network.projections

    @property
    def weight_bytes(self) -> int:
        """Bytes of all weights in memory."""
        return self._network.weight_bytes

    def guess(self, token_id: int, row: Tensor, slot: Slot) -> tuple[Tensor, Tensor]:
        """Of the last token of a conversation, or the guess before: float32 logits ``[vocab]``, and its next row.

        `row`: ``[1, hidden]``, of the other network's width. `slot`: it holds all tokens before the last one.
        """
        token = self._target.look_up(torch.tensor([token_id], device=self._target.device))
        x = self._network.beside(self._projections.before(torch.cat((token, row.to(token.dtype)), 1)), slot)
        assert self._projections.behind is not None
        return self._network.logits(x)[0].cpu(), self._projections.behind(x)

    read = None

    def guesses(self, sequence: Sequence, count: int) -> list[int]:
        """See `Guesser.guesses`."""
        slot, made = sequence.slot, sequence.made
        row = None if slot is None or made is None else made.row_of(len(slot.tokens) - 1)
        if slot is None or row is None:
            return []
        found: list[int] = []
        token_id = sequence.tokens[-1]
        while len(found) < count:
            logits, row = self.guess(token_id, row, slot)
            token_id = sequence.guess(logits, found)
            found.append(token_id)
        return found

    def forget(self, sequence: Sequence) -> None:
        """See `Guesser.forget`: it knows nothing."""


class Guesser(Protocol):
    """Makes guesses of what a network has made of its tokens, `Sequence.made`."""

    @property
    def weight_bytes(self) -> int:
        """Bytes of all its weights in memory."""
        ...

    @property
    def read(self) -> Callable[[Sequence], None] | None:
        """Is to be called behind each piece of a prompt; None: it need not read any."""
        ...

    def guesses(self, sequence: Sequence, count: int) -> list[int]:
        """So many tokens behind the last one of `sequence`, or none, where that cannot be."""
        ...

    def forget(self, sequence: Sequence) -> None:
        """The sequence has ended."""
        ...


class _Answer:
    """How often guesses for one answer are right, how long it has been without any, and whether the last were found."""

    def __init__(self) -> None:
        self._right, self._wrong = _PRIOR
        self.idle = 0
        self.looked_up = False

    @property
    def right(self) -> float:
        """How likely a guess is right behind right ones."""
        return self._right / (self._right + self._wrong)

    def record(self, guessed: int, right: int) -> None:
        """The first `right` of `guessed` tokens were."""
        self._right = _MEMORY * self._right + right
        self._wrong = _MEMORY * self._wrong + (right < guessed)


class AssistantGuesses:
    """A `Proposer` by a guesser, and by the text itself where that promises more tokens."""

    most_guesses = PromptLookup.most_guesses
    kv_bytes = 0
    reads_rows = True

    def __init__(self, guesser: Guesser, clock: Callable[[], float] = time.perf_counter) -> None:
        self._guesser = guesser
        self._lookup = PromptLookup()
        self._clock = clock
        self._answers: dict[int, _Answer] = {}
        self._seconds = 0.0  # that a guess takes; 0: none was made yet
        self._guard = GuessGuard("assistant")

    @property
    def weight_bytes(self) -> int:
        """See `Proposer.weight_bytes`."""
        return self._guesser.weight_bytes

    @property
    def read(self) -> Callable[[Sequence], None] | None:
        """See `Proposer.read`."""
        return None if self._guesser.read is None else self._read

    def _read(self, sequence: Sequence) -> None:
        read = self._guesser.read
        if read is not None and not self._guard.has_failed:
            self._guard.run(lambda: read(sequence) or [])

    @torch.inference_mode()
    def propose(self, sequence: Sequence, most: int, price: Price) -> list[int]:
        """See `Proposer.propose`."""
        looked_up = self._lookup.propose(sequence, most, price)
        answer = self._answers.setdefault(sequence.number, _Answer())
        count = 0 if self._guard.has_failed else self._count(answer, min(most, _MOST), price)
        answer.looked_up = len(looked_up) > count
        if answer.looked_up or not count:
            return looked_up
        return self._guard.run(lambda: self._guess(sequence, count))

    def _count(self, answer: _Answer, most: int, price: Price) -> int:
        """How many guesses are worth their time, that of making them included."""
        own = self._seconds / price.step if self._seconds and price.step else _FIRST_SHARE
        count = best_count(answer.right, most, replace(price, row=price.row + own))
        answer.idle = 0 if count else answer.idle + 1
        if answer.idle >= _TRY_EVERY:  # it may be better at what is written now
            answer.idle, count = 0, 1
        return count

    def _guess(self, sequence: Sequence, count: int) -> list[int]:
        began = self._clock()
        guesses = self._guesser.guesses(sequence, count)
        if guesses:
            seconds = (self._clock() - began) / len(guesses)
            self._seconds += (seconds - self._seconds) * (_NEWEST if self._seconds else 1)
        return guesses

    def record(self, sequence: Sequence, guessed: int, right: int) -> None:
        """See `Proposer.record`."""
        answer = self._answers.get(sequence.number)
        if answer is not None:
            if answer.looked_up:
                self._lookup.record(sequence, guessed, right)
            else:
                answer.record(guessed, right)

    def forget(self, sequence: Sequence) -> None:
        """See `Proposer.forget`."""
        self._lookup.forget(sequence)
        self._guesser.forget(sequence)
        self._answers.pop(sequence.number, None)
