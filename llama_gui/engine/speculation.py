"""Guesses at the next tokens, which the network checks in one step: several tokens for one reading of the weights.

Speculative decoding by drawing and comparing: each position is drawn from the network's own logits with the number
that belongs to it, and as long as that is the token that was guessed, the next position's logits are right as well.
So the text is the one without guesses, whoever guessed. Guesses come from the text itself (prompt lookup, Saxena
2023) or from a smaller network (Leviathan et al. 2023), which draws with the same numbers and so agrees more often.
"""

import logging
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Unpack

import torch

from llama_gui.engine.assistant import Assistant, lent_by
from llama_gui.engine.assistant_files import assistant_beside
from llama_gui.engine.device import kv_byte_budget
from llama_gui.engine.guess_guard import GuessGuard
from llama_gui.engine.kv_cache import KVCache, Slot, common_prefix
from llama_gui.engine.llama import Llama, Segment
from llama_gui.engine.loading import LoadedModel, Told, load_beside, load_model
from llama_gui.engine.model_files import ModelFiles, open_model
from llama_gui.engine.mtp import MtpLayer
from llama_gui.engine.native_attention import serves
from llama_gui.engine.network_guesses import NetworkGuesses
from llama_gui.engine.prompt_lookup import Price, PromptLookup
from llama_gui.engine.row_cost import PRIOR, RowCost
from llama_gui.engine.sequence import Sequence
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import GenerationError, InvalidRequestError, ModelError, UnsupportedModelError

_log = logging.getLogger(__name__)

FROM_TEXT = ("ngram", "auto")
"""What `Engine.load` calls guesses that need no other model."""
_MOST_ANSWERS = 4  # for which a draft network guesses: each guess is a step of it
# Steps that all have the same number of guesses do not tell what one costs. Then now and then none are made, or some as
# if they were cheap.
_TRY_EVERY, _TRIED, _TRIED_AT = 16, 2, 0.01
_FIRST_LENGTH = 4
_PAUSE = 16  # tokens without guesses, after guesses that were all wrong
_CATCH_UP = 256  # prompt tokens that a draft network reads in a step: nobody may wait long for it


class Proposer(Protocol):
    """Where guesses come from."""

    @property
    def most_guesses(self) -> int:
        """How many are worth the while in one step, for all answers together."""
        ...

    @property
    def weight_bytes(self) -> int:
        """Bytes of its weights."""
        ...

    @property
    def kv_bytes(self) -> int:
        """Bytes of its keys and values."""
        ...

    @property
    def reads_rows(self) -> bool:
        """Whether it needs `Sequence.made`."""
        ...

    @property
    def read(self) -> Callable[[Sequence], None] | None:
        """Is called behind each piece of a prompt, whose rows are kept for it, see `Runner`; None: it reads none."""
        ...

    def propose(self, sequence: Sequence, most: int, price: Price) -> list[int]:
        """At most `most` (at least 1) tokens that may come next; [] when it has no idea that is worth its price."""
        ...

    def record(self, sequence: Sequence, guessed: int, right: int) -> None:
        """The first `right` of the `guessed` tokens that it proposed last were right."""
        ...

    def forget(self, sequence: Sequence) -> None:
        """The sequence has ended."""
        ...


class Pace:
    """How many guesses one answer is worth: more after right ones, none for a while after wrong ones."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._length = _FIRST_LENGTH
        self._pause = 0

    def next_length(self) -> int:
        """Guesses for the next step."""
        if self._pause:
            self._pause -= 1
            return 0
        return self._length

    def record(self, guessed: int, right: int) -> None:
        """The first `right` of `guessed` tokens were right."""
        if right == guessed:
            self._length = min(2 * self._length, self._most)
        elif right:
            self._length = max(right + 1, 2)
        else:
            self._length //= 2
            if not self._length:
                self._length, self._pause = 1, _PAUSE


class Speculator:
    """Guesses for the answers of an engine, as many as pay."""

    def __init__(self, proposer: Proposer) -> None:
        self.proposer = proposer
        self._costs: defaultdict[int, RowCost] = defaultdict(RowCost)  # by answers in a step
        self._steps = 0

    def propose(self, sequence: Sequence, decodes: int) -> list[int]:
        """Tokens to run behind the last one of `sequence`, beside so many decodes in a step, itself included."""
        row, most = self._row(decodes), self.proposer.most_guesses
        if decodes > 1:  # the guesses of all do not make the others wait for longer than another step
            most = min(most, int(1 / row)) // decodes
        if not self._costs[decodes].is_known and self._steps % _TRY_EVERY == 0:
            turn = self._steps // _TRY_EVERY % 2
            row, most = _TRIED_AT, min(turn * _TRIED, self.proposer.most_guesses // decodes)
        most = min(most, sequence.tokens_left - 1)
        if most <= 0:
            return []
        return self.proposer.propose(sequence, most, Price(decodes, row, self._costs[decodes].step_seconds))

    def record(self, sequence: Sequence, guessed: int, right: int) -> None:
        """What came of guesses."""
        self.proposer.record(sequence, guessed, right)

    def record_step(self, decodes: int, guessed: int, seconds: float) -> None:
        """A step of so many decodes took `seconds`, with so many guesses for all of them and nothing of a prompt."""
        self._costs[decodes].record(guessed, seconds)
        self._steps += 1

    def _row(self, decodes: int) -> float:
        """What a row costs in a step of so many decodes; as long as that is not known, in one of about as many."""
        known = [number for number, cost in self._costs.items() if cost.is_known]
        return self._costs[min(known, key=lambda number: abs(number - decodes))].of_step if known else PRIOR

    def forget(self, sequence: Sequence) -> None:
        """The sequence has ended."""
        self.proposer.forget(sequence)


class DraftNetwork:
    """Guesses of a smaller network with the same tokens. It has a cache of its own."""

    most_guesses = 8  # each costs a step of it
    reads_rows = False
    read = None

    def __init__(self, network: Llama, cache: KVCache) -> None:
        self._network = network
        self._cache = cache
        self._slots: dict[int, Slot] = {}
        self._paces: dict[int, Pace] = {}
        self._guard = GuessGuard("draft network")

    @property
    def weight_bytes(self) -> int:
        """See `Proposer.weight_bytes`."""
        return self._network.weight_bytes

    @property
    def kv_bytes(self) -> int:
        """See `Proposer.kv_bytes`."""
        return self._cache.byte_count

    @torch.inference_mode()
    def propose(self, sequence: Sequence, most: int, price: Price) -> list[int]:
        """See `Proposer.propose`. [] also while it is still reading the text, or has no memory for it."""
        if price.answers > _MOST_ANSWERS:
            return []
        count = min(self._paces.setdefault(sequence.number, Pace(self.most_guesses)).next_length(), most)
        if self._guard.has_failed or not count:
            return []
        return self._guard.run(lambda: self._guess(sequence, count))

    def _guess(self, sequence: Sequence, count: int) -> list[int]:
        tokens = sequence.tokens
        slot = self._slot_of(sequence, tokens)
        pending = tokens[len(slot.tokens) :]
        if len(pending) > _CATCH_UP:
            self._run(slot, pending[:_CATCH_UP], wants_logits=False)
            return []
        guesses: list[int] = []
        while len(guesses) < count:
            guesses.append(sequence.guess(self._run(slot, pending)[0], guesses))
            pending = guesses[-1:]
        return guesses

    def _slot_of(self, sequence: Sequence, tokens: list[int]) -> Slot:
        """Its slot, without what was guessed wrongly the last time."""
        slot = self._slots.get(sequence.number)
        if slot is None:
            slot = self._slots[sequence.number] = self._cache.acquire(sequence.cache_key, tokens)
        del slot.tokens[min(common_prefix(slot.tokens, tokens), len(tokens) - 1) :]
        return slot

    def _run(self, slot: Slot, tokens: list[int], *, wants_logits: bool = True) -> torch.Tensor:
        self._cache.ensure_capacity(slot, len(slot.tokens) + len(tokens))
        logits = self._network.forward([Segment(slot, tokens, int(wants_logits))])
        slot.extend(tokens)
        return logits.cpu()

    def record(self, sequence: Sequence, guessed: int, right: int) -> None:
        """See `Proposer.record`."""
        pace = self._paces.get(sequence.number)
        if pace is not None:
            pace.record(guessed, right)

    def forget(self, sequence: Sequence) -> None:
        """See `Proposer.forget`; what it has read stays for the next turn."""
        self._paces.pop(sequence.number, None)
        slot = self._slots.pop(sequence.number, None)
        if slot is not None:
            self._cache.release(slot)


def open_draft(draft: str | Path | ModelFiles | None) -> ModelFiles | None:
    """The smaller model that guesses, if `draft` is one: nothing of its weights is read yet; for errors see
    `Engine.load`. One that is open already stays what it is.
    """
    if draft is None or draft in FROM_TEXT:
        return None
    if not isinstance(draft, str | Path) and not hasattr(draft, "weights"):
        raise InvalidRequestError("draft", draft, '"ngram", "auto", or where a smaller model lies')
    return open_model(draft)


def speculator_for(
    path: str | Path | ModelFiles, model: LoadedModel, draft: str | Path | None, **told: Unpack[Told]
) -> Speculator | None:
    """Guesses from the text itself, and by what lies beside `model`, as far as `draft` wants any; see `Engine.load`."""
    if draft == "auto" and model.network.is_batch_invariant:
        beside = model.mtp or assistant_beside(path, model.network.config)
        if beside is not None:
            try:
                return load_draft(beside, model, **told)
            except (ModelError, GenerationError, MemoryError) as error:
                _log.warning("No guesses by %s: %s", beside.name, error)
        return Speculator(PromptLookup())
    return Speculator(PromptLookup()) if draft == "ngram" else None


def check_draft(draft: ModelFiles, model: ModelFiles, tokenizer: Tokenizer) -> None:
    """See that `draft` can guess for `model`, and writes its tokens; `tokenizer` is the latter's.

    Raises:
        UnsupportedModelError: it does not.
    """
    if draft.config.is_assistant:
        lent_by(model.config, draft.config, draft.name)  # has the same tokens, and as a rule no files of them
        return
    if draft.config.recurrent is not None:
        raise UnsupportedModelError(
            f"The draft model {draft.name} sums up what it reads, so it cannot take back guesses, and guesses for no "
            'other. Choose a draft model of another family, or draft="auto".'
        )
    if not draft.tokenizer().has_same_tokens_as(tokenizer):
        raise UnsupportedModelError(f"The tokens of the draft model {draft.name} are not those of {model.name}.")
    written, drawable = draft.config.vocab_size, min(tokenizer.vocab_size, model.config.vocab_size)
    if written < drawable:
        raise UnsupportedModelError(
            f"The draft model {draft.name} writes {written} different tokens, and {model.name} {drawable}."
        )


def load_draft(draft: ModelFiles, model: LoadedModel, **told: Unpack[Told]) -> Speculator:
    """The smaller model `draft`, loaded as `model` was, to guess for it; for errors see `Engine.load`."""
    if draft.config.lent is not None:
        layer = MtpLayer(load_beside(draft, draft.config, model, **told), model.network)
        return Speculator(NetworkGuesses(layer))
    if draft.config.is_assistant:
        config = lent_by(model.network.config, draft.config, draft.name)
        network = load_beside(draft, config, model, **told)
        return Speculator(NetworkGuesses(Assistant(network, model.network)))
    network = load_model(
        draft,
        dtype=model.info.dtype,
        device=model.info.device,
        threads=model.threads,
        cache_dtype=_cache_dtype(draft, model),
        **told,
    ).network
    cache = network.new_cache(kv_byte_budget(network.device) // 4, model.info.max_context)
    return Speculator(DraftNetwork(network, cache))


def _cache_dtype(draft: ModelFiles, model: LoadedModel) -> str:
    """As the model has it, where our own kernels attend to heads as wide as those of `draft`."""
    is_small = model.info.cache_dtype == "int8" and serves(torch.float32, draft.config.head_dim)
    return "int8" if is_small else "auto"
