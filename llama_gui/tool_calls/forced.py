"""A call that had to be made, while it is written: the answer is its arguments, or follows a `call_schema`. Pure."""

import json
import re

_HEAD = re.compile(r'\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:')


class ForcedCall:
    """Takes name and arguments out of it. `name`: of the one function that may be called, where it is only arguments.

    `name` is "" until it is known. `arguments`: what of them was written, which is no JSON where the answer was cut.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.arguments = ""
        self._is_bare = bool(name)
        self._head = ""
        self._depth = 0
        self._in_string = False
        self._is_escaped = False
        self._is_over = False

    @property
    def has_begun(self) -> bool:
        """Whether something is there that can be told."""
        return bool(self.name and self.arguments)

    def push(self, text: str) -> str:
        """More of the answer; what of it is arguments."""
        if not self.name:
            self._head += text
            head = _HEAD.match(self._head)
            if head is None:
                return ""
            self.name, text = json.loads(head[1]), self._head[head.end() :]
        written = text if self._is_bare else self._before_the_end(text)
        written = written if self.arguments else written.lstrip()
        self.arguments += written
        return written

    def _before_the_end(self, text: str) -> str:
        """As much of it as stands before the brace that closes the call."""
        if self._is_over:
            return ""
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
                    self._is_over = True
                    return text[:at]
        return text
