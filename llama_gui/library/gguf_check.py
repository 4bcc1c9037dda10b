"""Is a GGUF file all there? Its header says where the last weight ends; a copy that was cut off ends before."""

import struct
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from llama_gui.errors import BrokenModelError
from llama_gui.library.sizes import in_words

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_ALIGNMENT = 32
_MOST_ENTRIES = 1_000_000
_FIRST_BYTES, _MOST_BYTES = 16 * 2**20, 128 * 2**20
"""Of a header: Llama 3 has 8 MB. The engine takes no more, either."""
_HEAD_BYTES = 2**14
_SETTLED_S = 3600.0
_STRING, _ARRAY, _UINT32 = 8, 9, 4
_NOT_THERE = (struct.error, ValueError, IndexError, KeyError, OverflowError)
"""What reading raises where the bytes are no header, or end within it."""
_VALUE_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 10: (256, 84),
    11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292), 24: (1, 1), 25: (1, 2), 26: (1, 4),
    27: (1, 8), 28: (1, 8), 30: (1, 2),
}  # fmt: skip
"""Kind of number -> how many share a block, and its bytes."""


def check_gguf(file: Path) -> None:
    """Compare the file's length with what its header promises. The weights are not read.

    Raises:
        BrokenModelError: it is shorter, or no GGUF file.
    """
    size = file.stat().st_size
    if size < 24:
        raise BrokenModelError(f"The file {file} is called GGUF, but it is none.")
    with file.open("rb") as stream:
        if stream.read(4) != _MAGIC:
            raise BrokenModelError(f"The file {file} is called GGUF, but it is none.")
        try:
            promised = _promised_end(stream, size)
        except _NOT_THERE as error:
            raise BrokenModelError(
                f"The file {file} is damaged or cut off: its header cannot be read ({error}). Download it again."
            ) from error
    if size < promised:
        raise BrokenModelError(
            f"The file {file} is not complete: it has {in_words(size)} of {in_words(promised)}. Download it again."
        )


class GgufChecks:
    """What was found of GGUF files as they are now, for everybody who looks at the same shelf; from any thread.

    To step over the vocabulary of Llama 3 takes 45 ms, and a shelf is looked at whenever its menu opens.
    """

    def __init__(self) -> None:
        self._faults: dict[tuple[str, int, int], str] = {}

    def check(self, file: Path) -> None:
        """As `check_gguf`, but each file is read through once, until it changes. Raises what that raises."""
        status = file.stat()
        key = str(file), status.st_size, status.st_mtime_ns
        if key not in self._faults:
            try:
                check_gguf(file)
                self._faults[key] = ""
            except BrokenModelError as error:
                self._faults[key] = str(error)
        if fault := self._faults[key]:
            raise BrokenModelError(fault)

    def check_quickly(self, file: Path) -> None:
        """The same, but one that nobody has read through is believed, unless it may still be on its way."""
        status = file.stat()
        is_known = (str(file), status.st_size, status.st_mtime_ns) in self._faults
        if is_known or time.time() - status.st_mtime < _SETTLED_S:
            self.check(file)


def gguf_architecture(file: Path) -> str:
    """What kind of network a GGUF file holds, as its first fields tell; "" where they do not. A moment's work.

    Raises:
        BrokenModelError: it is no GGUF file.
    """
    return _text_in(_head(file), "general.architecture")


def gguf_pooling(file: Path) -> int:
    """How a GGUF file makes vectors of texts, as its first fields tell; 0: it writes. Raises what is above."""
    head = _head(file)
    return _number_in(head, f"{_text_in(head, 'general.architecture')}.pooling_type")


def gguf_fields(file: Path, texts: Sequence[str] = (), numbers: Sequence[str] = ()) -> dict[str, str | int]:
    """What the first bytes of a GGUF file say under these names; "" and 0: nothing. Raises what is above."""
    head = _head(file)
    return {name: _text_in(head, name) for name in texts} | {name: _number_in(head, name) for name in numbers}


def _head(file: Path) -> bytes:
    with file.open("rb") as stream:
        content = stream.read(_HEAD_BYTES)
    if content[:4] != _MAGIC:
        raise BrokenModelError(f"The file {file} is called GGUF, but it is none.")
    return content


def _text_in(head: bytes, name: str) -> str:
    try:
        return _Fields(head, len(head)).text(name.encode())
    except _NOT_THERE:
        return ""


def _number_in(head: bytes, name: str) -> int:
    try:
        return _Fields(head, len(head)).number(name.encode())
    except _NOT_THERE:
        return 0


def _promised_end(stream: BinaryIO, size: int) -> int:
    """Read, not mapped: a file that another program cuts off meanwhile must not end this one."""
    most = _FIRST_BYTES
    while True:
        stream.seek(0)
        content = stream.read(most)
        try:
            return _Header(content, size).end
        except struct.error:  # it goes on behind what was read
            if len(content) < most or most >= _MOST_BYTES:
                raise
        most *= 2


class _Fields:
    """Steps over the fields.

    `content` is the beginning of a file of `size` bytes; struct.error where the header goes on behind it.
    """

    def __init__(self, content: bytes, size: int) -> None:
        self._content = content
        self._size = size
        self._place = 4
        version, self._weights, self._fields = self._read("<IQQ")
        if version not in _VERSIONS or max(self._weights, self._fields) > _MOST_ENTRIES:
            raise ValueError(f"version {version} with {self._weights} weights")

    def text(self, name: bytes) -> str:
        """The text that a field holds; "" where there is none of this name."""
        return self._string().decode(errors="replace") if self._go_to(name) == _STRING else ""

    def number(self, name: bytes) -> int:
        """The whole number that a field holds; 0 where there is none of this name."""
        return self._read("<I")[0] if self._go_to(name) == _UINT32 else 0

    def _go_to(self, name: bytes) -> int | None:
        """The kind of the field of this name, whose value is next; None: there is none."""
        for _ in range(self._fields):
            key = self._string()
            (kind,) = self._read("<I")
            if key == name:
                return kind
            self._skip_value(kind)
        return None

    def _read(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from(form, self._content, self._place)
        self._place += struct.calcsize(form)
        return values

    def _string(self) -> bytes:
        (length,) = self._read("<Q")
        if length > self._size:
            raise ValueError("a text longer than the file")
        self._place += length
        return self._content[self._place - length : self._place]

    def _skip_value(self, kind: int) -> None:
        if kind == _STRING:
            self._string()
        elif kind == _ARRAY:
            inner, count = self._read("<IQ")
            if inner == _STRING:
                self._skip_strings(count)
            elif inner == _ARRAY:
                raise ValueError("a list of lists")
            else:
                self._place += _VALUE_BYTES[inner] * count
        else:
            self._place += _VALUE_BYTES[kind]

    def _skip_strings(self, count: int) -> None:
        # A vocabulary has hundreds of thousands: as little as possible for each.
        content, place, read = self._content, self._place, struct.Struct("<Q").unpack_from
        for _ in range(count):
            place += 8 + read(content, place)[0]
        self._place = place


class _Header(_Fields):
    """Steps over the fields to the table of weights; `end` is where the last of those ends."""

    def __init__(self, content: bytes, size: int) -> None:
        super().__init__(content, size)
        self._alignment = _ALIGNMENT
        for _ in range(self._fields):
            self._skip_field()
        ends = [self._weight_end() for _ in range(self._weights)]
        data = -(-self._place // self._alignment) * self._alignment
        self.end = data + max(ends, default=0)

    def _skip_field(self) -> None:
        key = self._string()
        (kind,) = self._read("<I")
        if key == b"general.alignment" and kind == 4:
            (self._alignment,) = self._read("<I")
            if not 1 <= self._alignment <= 1 << 20:
                raise ValueError("an alignment that cannot be")
            return
        self._skip_value(kind)

    def _weight_end(self) -> int:
        self._string()
        (dimensions,) = self._read("<I")
        if dimensions > 8:
            raise ValueError("a weight of too many dimensions")
        numbers = 1
        for size in self._read(f"<{dimensions}Q"):
            numbers *= size
        kind, offset = self._read("<IQ")
        # Of a kind that we do not know only the beginning is looked for.
        per_block, block = _BLOCKS.get(kind, (1, 0))
        return offset + -(-numbers // per_block) * block
