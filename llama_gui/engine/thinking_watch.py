"""Where the thoughts of an answer are, token by token: between tags in its text, or between control tokens."""

import copy
from collections.abc import Sequence
from typing import Protocol, Self

import torch
from torch import Tensor

from llama_gui.engine.harmony import Marks
from llama_gui.engine.thinking_marks import ThinkingMarks
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.tool_calls import Thoughts


class Watch(Protocol):
    """Tells whether an answer is thinking."""

    @property
    def is_thinking(self) -> bool:
        """Whether its next token is thought, unless it ends the thoughts."""
        ...

    def push(self, token_id: int) -> object:
        """The answer goes on with this token."""
        ...

    def closing(self) -> list[Tensor]:
        """What ends the thoughts: for each token that must come, bool ``[vocab]``: which ones it may be."""
        ...


class SaidWatch(Protocol):
    """Tells what of an answer is no thought."""

    def push(self, token_id: int) -> str:
        """The answer goes on with this token; what is certainly said now, one letter for each byte."""
        ...

    def copy(self) -> Self:
        """One that goes on by itself."""
        ...


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

    def push(self, token_id: int) -> str:
        """See `SaidWatch.push`. Tags have no letters of several bytes."""
        return self._thoughts.push(_letters(self._tokenizer, token_id))[1]

    def copy(self) -> Self:
        """See `SaidWatch.copy`."""
        twin = copy.copy(self)
        twin._thoughts = copy.copy(self._thoughts)
        return twin

    def closing(self) -> list[Tensor]:
        """The tag on a line of its own, as the templates have it."""
        tag, encode = self._thoughts.close_tag or "", self._tokenizer.encode_behind
        token_id = self._tokenizer.id_of(tag)
        ids = encode(f"\n{tag}\n\n") if token_id is None else [*encode("\n"), token_id, *encode("\n\n")]
        return [_only(one, self._size) for one in ids]


class MarkWatch:
    """Thoughts between control tokens of their own. `size`: tokens that may be drawn. `prompt`: it may end within them.

    They are at the beginning of an answer, once: what is between such marks later is told as words.
    """

    def __init__(self, tokenizer: Tokenizer, marks: ThinkingMarks, size: int, prompt: Sequence[int]) -> None:
        self._tokenizer = tokenizer
        self._marks = marks
        self._size = size
        self._are_over = False
        self.is_thinking = marks.are_open(prompt)

    def push(self, token_id: int) -> str:
        """See `SaidWatch.push`."""
        if token_id == self._marks.opening:
            self.is_thinking = not self._are_over
            return ""
        if token_id == self._marks.closing:
            self._are_over = self._are_over or self.is_thinking
            self.is_thinking = False
            return ""
        if self.is_thinking:
            return ""
        said = _letters(self._tokenizer, token_id)
        self._are_over = self._are_over or bool(said.strip())
        return said

    def copy(self) -> Self:
        """See `SaidWatch.copy`."""
        return copy.copy(self)

    def closing(self) -> list[Tensor]:
        """The mark, and then anything but a new beginning."""
        last = _only(self._marks.closing, self._size)
        return [last, ~_only(self._marks.opening, self._size)]


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


def _letters(tokenizer: Tokenizer, token_id: int) -> str:
    """The text of a token, one letter for each byte where these are known."""
    spelled = tokenizer.token_bytes(token_id)
    return tokenizer.token_text(token_id) if spelled is None else spelled.decode("latin-1")
