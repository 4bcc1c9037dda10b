"""Thoughts that end after so many tokens: then the tokens that close them are the only ones that may come.

Where thoughts are is followed token by token, so an answer that is resumed goes on as it would have. They end behind a
whole letter: of a letter in several tokens the rest may still come.
"""

import codecs
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from llama_gui.engine.penalties import apply_allowed
from llama_gui.engine.thinking_watch import Watch
from llama_gui.vocabulary import SamplingParams

_LONGEST_LETTER = 3
"""So many more bytes a letter can have, each perhaps a token of its own."""


class ThinkingBudget:
    """What one answer may still think; used by one thread. `sampling`: of the request, which may forbid the end."""

    def __init__(
        self, budget: int, watch: Watch, bytes_of: Callable[[int], bytes | None], sampling: SamplingParams
    ) -> None:
        self._left = budget
        self._watch = watch
        self._bytes_of = bytes_of
        self._sampling = sampling
        self._letters = codecs.getincrementaldecoder("utf-8")("ignore")
        self._waits = _LONGEST_LETTER
        self._forced: list[Tensor] = []
        self._is_given_up = False

    def allowed(self) -> Tensor | None:
        """Bool ``[vocab]``: the tokens that may come next; None: all."""
        return self._forced[0] if self._forced else None

    def give_up(self) -> bool:
        """Let the answer think on, because the request leaves none of the tokens that end it; False where it may."""
        was_bound, self._forced, self._is_given_up = bool(self._forced), [], True
        return was_bound

    def accept(self, token_id: int) -> None:
        """The answer goes on with this token, forced or not."""
        if self._forced and bool(self._forced[0][token_id]):
            self._forced = self._forced[1:]
            self._watch.push(token_id)
            return
        self._forced = []  # the known beginning of an answer thought longer
        was_thinking = self._watch.is_thinking
        self._watch.push(token_id)
        if not self._watch.is_thinking:
            return
        if was_thinking:
            self._left -= 1
            self._letters.decode(self._bytes_of(token_id) or b"")
        self._end_if_spent()

    def _end_if_spent(self) -> None:
        if self._left > 0 or self._is_given_up:
            return
        if self._letters.getstate()[0] and self._waits:
            self._waits -= 1
            return
        closing = self._watch.closing()
        # Half an end would stand in the text, and be the end of the budget when the answer is resumed behind it.
        if all(bool((one & self._may_come(len(one))).any()) for one in closing):
            self._forced = closing
        else:
            self._is_given_up = True

    def _may_come(self, size: int) -> Tensor:
        """Bool ``[size]``: the tokens that the request does not forbid."""
        scores = torch.zeros(size)
        apply_allowed(scores, self._sampling)
        return scores.isfinite()

    def begin(self, answer: Sequence[int]) -> "ThinkingBudget":
        """Itself, behind the known beginning of the answer."""
        if self._watch.is_thinking:
            self._end_if_spent()
        for token_id in answer:
            self.accept(token_id)
        return self
