"""Thoughts that end after so many tokens: then the tokens that close them are the only ones that may come.

Where thoughts are is followed token by token, so an answer that is resumed goes on as it would have. They end behind a
whole letter: of a letter in several tokens the rest may still come.
"""

import codecs
from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from llama_gui.engine.harmony import Marks
from llama_gui.engine.penalties import apply_allowed
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.tool_calls import Thoughts
from llama_gui.vocabulary import SamplingParams

_LONGEST_LETTER = 3
"""So many more bytes a letter can have, each perhaps a token of its own."""


class Watch(Protocol):
    """Tells whether an answer is thinking."""

    @property
    def is_thinking(self) -> bool:
        """Whether its next token is thought, unless it ends the thoughts."""
        ...

    def push(self, token_id: int) -> None:
        """The answer goes on with this token."""
        ...

    def closing(self) -> list[Tensor]:
        """What ends the thoughts: for each token that must come, bool ``[vocab]``: which ones it may be."""
        ...


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


class TagWatch:
    """Thoughts between tags. `size`: tokens that may be drawn. `opening`: the tag with which the prompt ends; "": the
    answer may begin with one.
    """

    def __init__(self, tokenizer: Tokenizer, size: int, opening: str) -> None:
        self._tokenizer = tokenizer
        self._size = size
        self._thoughts = Thoughts(opening)

    @property
    def is_thinking(self) -> bool:
        """See `Watch.is_thinking`."""
        return self._thoughts.close_tag is not None and not self._thoughts.are_over

    def push(self, token_id: int) -> None:
        """See `Watch.push`. One letter stands for each byte: tags have no others."""
        if self._thoughts.are_over:
            return
        spelled = self._tokenizer.token_bytes(token_id)
        self._thoughts.push(self._tokenizer.token_text(token_id) if spelled is None else spelled.decode("latin-1"))

    def closing(self) -> list[Tensor]:
        """The tag on a line of its own, as the templates have it."""
        tag, encode = self._thoughts.close_tag or "", self._tokenizer.encode_behind
        token_id = self._tokenizer.id_of(tag)
        ids = encode(f"\n{tag}\n\n") if token_id is None else [*encode("\n"), token_id, *encode("\n\n")]
        return [_only(one, self._size) for one in ids]


class ChannelWatch:
    """Thoughts in the channel "analysis" of gpt-oss. `prompt`: it may end within them. `may_call`: whether a call may
    follow, or only the last message.
    """

    def __init__(self, tokenizer: Tokenizer, marks: Marks, size: int, prompt: Sequence[int], *, may_call: bool) -> None:
        self._tokenizer = tokenizer
        self._marks = marks
        self._size = size
        self._may_call = may_call
        self._header: list[int] | None = None
        self.is_thinking = False
        begins = next((n for n in range(len(prompt), 0, -1) if prompt[n - 1] == marks.start), 0)
        for token_id in prompt[begins:]:
            self.push(token_id)

    def push(self, token_id: int) -> None:
        """See `Watch.push`."""
        marks = self._marks
        if token_id == marks.channel:
            self._header = []
        elif token_id == marks.message:
            header = self._tokenizer.decode(self._header or [], skip_special_tokens=True)
            self.is_thinking = header.strip().startswith("analysis") and "to=" not in header
            self._header = None
        elif token_id in (marks.start, marks.end, marks.call, marks.finish):
            self.is_thinking, self._header = False, None
        elif self._header is not None:
            self._header.append(token_id)

    def closing(self) -> list[Tensor]:
        """The end of the message and the beginning of another: the last, or what is no thought."""
        encode, marks = self._tokenizer.encode_literally, self._marks
        ids = [marks.end, marks.start, *encode("assistant")]
        if not self._may_call:
            return [_only(one, self._size) for one in (*ids, *marks.opening(self._tokenizer, "final"))]
        others = torch.ones(self._size, dtype=torch.bool)
        others[[encode(text)[0] for text in ("analysis", " analysis")]] = False
        return [*(_only(one, self._size) for one in (*ids, marks.channel)), others]


def _only(token_id: int, size: int) -> Tensor:
    mask = torch.zeros(size, dtype=torch.bool)
    mask[token_id] = True
    return mask
