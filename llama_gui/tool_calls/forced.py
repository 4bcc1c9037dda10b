"""Calls that had to be made, while they are written: the answer is the arguments of one, or follows a `call_schema`.

A list of such calls is read as well. Pure.
"""

import json
import re
from dataclasses import dataclass

from llama_gui.tool_calls.reading import ToolCall

_HEAD = re.compile(r'[\s\[\]},]*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:')


@dataclass(frozen=True, slots=True)
class CallPiece:
    """More of the call with this number. `begins`: nothing of it was told before."""

    index: int
    name: str
    arguments: str
    begins: bool


class ForcedCalls:
    """Takes names and arguments out of an answer. `name`: of the one function that may be called, where it is only
    the arguments of that.
    """

    def __init__(self, name: str = "") -> None:
        self._is_bare = bool(name)
        self._name = name  # of the call that is being written; "": its head is not whole yet
        self._head = ""
        self._told: list[ToolCall] = []
        self._is_told = False  # whether the call that is being written is the last of these
        self._arguments = _Arguments()

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """What was told of them; the arguments of the last are no JSON where the answer was cut."""
        return tuple(self._told)

    def push(self, text: str) -> list[CallPiece]:
        """More of the answer; what of it is arguments."""
        if self._is_bare:
            return self._tell(text)
        pieces: list[CallPiece] = []
        while text:
            if not self._name:
                text = self._read_head(text)
                continue
            written, text = self._arguments.split(text)
            pieces += self._tell(written)
            if self._arguments.are_over:
                self._name, self._is_told = "", False
        return pieces

    def _read_head(self, text: str) -> str:
        """What stands behind the head of the next call, once it is whole."""
        self._head += text
        head = _HEAD.match(self._head)
        if head is None:
            return ""
        rest, self._head = self._head[head.end() :], ""
        self._name, self._arguments = json.loads(head[1]), _Arguments()
        return rest

    def _tell(self, written: str) -> list[CallPiece]:
        begins = not self._is_told
        written = written.lstrip() if begins else written
        if not written:
            return []
        former = "" if begins else self._told.pop().arguments
        self._told.append(ToolCall(self._name, former + written))
        self._is_told = True
        return [CallPiece(len(self._told) - 1, self._name, written, begins)]


class _Arguments:
    """Knows where an object ends that is written piece by piece."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._is_escaped = False
        self.are_over = False

    def split(self, text: str) -> tuple[str, str]:
        """What of the text stands before the brace that closes the call, and the rest."""
        for at, letter in enumerate(text):
            if self._is_escaped:
                self._is_escaped = False
            elif self._in_string:
                self._is_escaped, self._in_string = letter == "\\", letter != '"'
            elif letter == '"':
                self._in_string = True
            elif letter in "{}[]":
                self._depth += 1 if letter in "{[" else -1
                if self._depth < 0:
                    self.are_over = True
                    return text[:at], text[at:]
        return text, ""
