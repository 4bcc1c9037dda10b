"""Guesses of a network that was trained for it: it reads what another makes of its last token, and its keys and values.

Those of Gemma 4 (``Gemma4AssistantForCausalLM`` of transformers). Such a network has a few narrow layers and reads no
prompt: what the other one keeps of a conversation is what it attends to. A guess is made of the embedding of the token
before it and of a row: what the other network has made of its last token, behind the last norm, and then what this one
has made of its last guess.
"""

from collections.abc import Sequence as Many
from dataclasses import replace

import torch
from torch import Tensor

from llama_gui.engine.cache_layout import CacheLayout
from llama_gui.engine.kv_cache import Slot
from llama_gui.engine.llama import Llama
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.sequence import Sequence
from llama_gui.errors import UnsupportedModelError


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

    @property
    def reaches(self) -> Many[int]:
        """See `Guesser.reaches`."""
        return (self._network.config.vocab_size,)

    def guesses(self, sequence: Sequence, count: int, reach: int = 0) -> list[int]:
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
