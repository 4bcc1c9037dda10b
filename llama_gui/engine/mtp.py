"""Guesses of a layer that was trained along with a network for it (multi-token prediction, MTP): Qwen3.5's.

The first such layers are those of DeepSeek-V3 (https://arxiv.org/abs/2412.19437, section 2.2). One joins the embedding
of a token with what the network has made of the token before it, behind the last norm, and is a layer like the
others; the network's own head makes logits of it, of the token after. So for a second guess it takes what it has made
of the first. Its keys and values are kept with those of the network, in a layer behind the last one: they are copied,
evicted and kept on the disk as those are.
"""

from collections.abc import Sequence as Many

import torch
from torch import Tensor

from llama_gui.engine.kv_cache import Slot
from llama_gui.engine.llama import Llama
from llama_gui.engine.sequence import Sequence
from llama_gui.engine.short_heads import short_head

SHORT = 65_536
"""The first so many tokens of a vocabulary are the likeliest of the languages that its makers had most texts of: the
more frequent, the earlier they were made. To look for a guess only there takes a fraction of the time. (FR-Spec does
so among counted tokens: https://arxiv.org/abs/2502.14856.)"""
_AT_ONCE = 512  # rows


class MtpLayer:
    """A `network` of one layer, which guesses for `target`."""

    def __init__(self, network: Llama, target: Llama) -> None:
        assert network.projections is not None
        assert network.projections.norms is not None
        self._network, self._target = network, target
        self._before = network.projections.before
        self._token_norm, self._row_norm = network.projections.norms
        short = short_head(target.head, SHORT) if target.config.vocab_size >= 2 * SHORT else None
        self._heads = [target.head] if short is None else [short, target.head]

    @property
    def weight_bytes(self) -> int:
        """Bytes of its weights in memory, without the vocabulary, which is the network's."""
        return sum(linear.weight_bytes for linear in self._network.linears[:-1])

    @torch.inference_mode()
    def read(self, sequence: Sequence) -> None:
        """Read what the network has just read of a prompt."""
        if sequence.slot is not None and not sequence.sees_images:
            self._catch_up(sequence, sequence.slot, len(sequence.slot.tokens))

    @property
    def reaches(self) -> Many[int]:
        """See `Guesser.reaches`."""
        return [SHORT, self._target.config.vocab_size][-len(self._heads) :]

    def guesses(self, sequence: Sequence, count: int, reach: int = 0) -> list[int]:
        """See `Guesser.guesses`."""
        slot = sequence.slot
        if slot is None or sequence.sees_images:
            return []
        held = len(slot.tokens)
        count = min(count, slot.capacity - held)
        if count < 1:
            return []
        slot.make_finite(held + count)
        row = self._catch_up(sequence, slot, held + 1)
        found: list[int] = []
        while row is not None:
            logits = self._target.logits(row, self._heads[reach])
            found.append(sequence.guess(logits[0].cpu(), found))
            if len(found) == count:
                break
            row = self.run(found[-1:], row, slot, held - 1 + len(found))
        return found

    def _catch_up(self, sequence: Sequence, slot: Slot, end: int) -> Tensor | None:
        """Read the tokens up to `end`; what it makes of the last one, or None where it has read that.

        What is behind a beginning that was not run now keeps the row that it had there, with another token perhaps.
        """
        made = sequence.made
        if made is None:
            return None
        begin, row = made.start + 1, None  # rows are let go as soon as the tokens behind them are read
        tokens = sequence.tokens[begin:end]
        for first in range(0, len(tokens), _AT_ONCE):
            part = tokens[first : first + _AT_ONCE]
            row = self.run(part, made.rows[first : first + len(part)], slot, made.start + first)
        sequence.made = made.since(end - 1)
        return row

    def run(self, token_ids: Many[int], rows: Tensor, slot: Slot, start: int) -> Tensor:
        """``[1, hidden]``, behind its norm, of the last of `token_ids`.

        `rows`: ``[tokens, hidden]``, what was made of the token before each of them. `start`: where the first of
        these is in the slot; there lie keys and values of what is made of both.
        """
        embedded = self._target.look_up(torch.tensor(token_ids, device=self._target.device))
        joined = torch.cat((self._token_norm(embedded), self._row_norm(rows)), 1)
        return self._network.run_rows(self._before(joined), slot, start)
