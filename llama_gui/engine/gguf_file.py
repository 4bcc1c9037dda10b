"""One GGUF file: its header, read by us and believed in nothing. The `gguf` package trusts what it reads.

Everything is little-endian: magic, version, counts, then key-value pairs, then a row for each tensor, then, aligned,
the tensors' bytes. See https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

import math
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

from llama_gui.engine.fields import AGAIN, brief, check_regular, shortest, shown
from llama_gui.errors import BrokenModelError, ModelNotFoundError, UnsupportedModelError

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_ALIGNMENT = 32

# Llama 3 has 8 MB of header with 400,000 texts, Gemma 3 some 15 MB. A text costs 60 bytes of memory and more.
_MOST_HEADER_BYTES = 128 * 2**20
_MOST_TEXTS = 2**21
_MOST_PAIRS = 2**16
_MOST_TENSORS = 100_000
_MOST_DIMENSIONS = 4
_MOST_NAME = 2**16 - 1

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<B", 10: "<Q", 11: "<q", 12: "<d"}
_FLOAT, _BOOL, _TEXT, _ARRAY = 6, 7, 8, 9


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """Where a tensor lies. `shape` is in torch's order, `offset` and `size` are bytes in the file."""

    file: Path
    name: str
    shape: tuple[int, ...]
    kind: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class GgufFile:
    """What the header of a file says: texts, numbers and flags by key (numpy arrays and lists of texts too)."""

    path: Path
    metadata: Mapping[str, Any]
    tensors: Mapping[str, StoredTensor]

    def shape_of(self, name: str, dimensions: int) -> tuple[int, ...]:
        """That of a tensor that must be there. Raises BrokenModelError where it is not, or has other `dimensions`."""
        tensor = self.tensors.get(name)
        if tensor is None or len(tensor.shape) != dimensions:
            raise BrokenModelError(f"{self.path}: {name} is missing. {AGAIN}")
        return tensor.shape


def read_header(path: Path) -> GgufFile:
    """Read and check the header of the file at `path`, in time and memory that do not depend on what it claims.

    Raises:
        ModelNotFoundError: there is no such file.
        BrokenModelError: it is damaged or cut off.
        UnsupportedModelError: it has another version or byte order, or tensors of a type that nobody knows.
    """
    try:
        check_regular(path)
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            return _Header(path, stream, size).read()
    except FileNotFoundError:
        raise ModelNotFoundError(f"{path} does not exist. Check the path, or download the file again.") from None
    except (OSError, ValueError) as error:
        raise BrokenModelError(f"{path} is damaged or cut off: {brief(str(error))}. {AGAIN}") from error


class _Header:
    """Reads from the start of a file on. Its methods raise ValueError, with the cause, for what cannot be."""

    def __init__(self, path: Path, stream: BinaryIO, size: int) -> None:
        self._path = path
        self._stream = stream
        self._size = size
        self._position = 0
        self._texts = 0

    def read(self) -> GgufFile:
        """The whole header."""
        tensor_count, pair_count = self._start()
        metadata: dict[str, Any] = {}
        for _ in range(pair_count):
            key = self._text(_MOST_NAME)
            if key in metadata:
                raise ValueError(f"it gives {shown(key)} twice")
            metadata[key] = self._value(key, self._number("<I"))
        rows = [self._tensor_row() for _ in range(tensor_count)]
        start = _aligned(self._position, _alignment(metadata))
        tensors = [self._tensor(start, *row) for row in rows]
        self._check_places(tensors, _alignment(metadata))
        named = {tensor.name: tensor for tensor in tensors}
        if len(named) < len(tensors):
            raise ValueError("two of its tensors have the same name")
        return GgufFile(self._path, metadata, named)

    def _start(self) -> tuple[int, int]:
        """Magic, version and counts -> how many tensors and pairs there are."""
        if self._take(4) != _MAGIC:
            raise ValueError("it does not begin as GGUF files do")
        version = self._number("<I")
        if version & 0xFFFF == 0 and version:
            raise UnsupportedModelError(
                f"{self._path} is written for big-endian machines. Choose the little-endian file of the model."
            )
        if version not in _VERSIONS:
            raise UnsupportedModelError(
                f"{self._path} is a GGUF file of version {version}. Supported: {', '.join(map(str, _VERSIONS))}. "
                "Choose a newer file of the model."
            )
        tensor_count, pair_count = self._number("<Q"), self._number("<Q")
        if tensor_count > _MOST_TENSORS or pair_count > _MOST_PAIRS:
            raise ValueError(f"it would hold {tensor_count} tensors and {pair_count} fields")
        return tensor_count, pair_count

    def _take(self, count: int) -> bytes:
        if self._position + count > min(self._size, _MOST_HEADER_BYTES):
            what = "ends inside its header" if self._position + count > self._size else "has an endless header"
            raise ValueError(f"it {what}")
        data = self._stream.read(count)
        if len(data) < count:
            raise ValueError("it ends inside its header")
        self._position += count
        return data

    def _number(self, kind: str) -> Any:
        return struct.unpack(kind, self._take(struct.calcsize(kind)))[0]

    def _text(self, most: int = _MOST_HEADER_BYTES) -> str:
        length = int.from_bytes(self._take(8), "little")
        if length > most:
            raise ValueError(f"a text in its header would be {length} bytes long")
        return self._take(length).decode("utf-8")  # UnicodeDecodeError is a ValueError

    def _value(self, key: str, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind == _ARRAY:
            return self._array(key, self._number("<I"), self._number("<Q"))
        if kind not in _SCALARS:
            raise ValueError(f"{shown(key)} has the unknown type {kind}")
        value = self._number(_SCALARS[kind])
        if kind == _BOOL:
            return _flag(key, value)
        return shortest(value) if kind == _FLOAT else value  # 1e-05, not 9.999999747378752e-06

    def _array(self, key: str, kind: int, count: int) -> Any:
        if kind == _TEXT:
            self._texts += count
            if self._texts > _MOST_TEXTS:
                raise ValueError(f"{shown(key)} would be a list of {count} texts")
            return self._list_of_texts(count)
        if kind not in _SCALARS:
            raise ValueError(f"{shown(key)} is a list of the unknown type {kind}")
        numbers = np.dtype(_SCALARS[kind])
        return np.frombuffer(self._take(count * numbers.itemsize), dtype=numbers)

    def _list_of_texts(self, count: int) -> list[str]:
        """As so many of `_text`, which Llama 3 would call 400,000 times."""
        read, most, position = self._stream.read, min(self._size, _MOST_HEADER_BYTES), self._position
        texts: list[str] = []
        for _ in range(count):
            length = int.from_bytes(read(8), "little")
            position += 8 + length
            data = read(length) if position <= most else b""
            if len(data) < length or position > most:
                self._position = min(position - length, most)
                self._take(length)  # says what is wrong
                raise ValueError("it ends inside its header")
            texts.append(data.decode("utf-8"))
        self._position = position
        return texts

    def _tensor_row(self) -> tuple[str, list[int], int, int]:
        """Name, dimensions (the innermost first), type and offset."""
        name = self._text(_MOST_NAME)
        dimensions = self._number("<I")
        if not 1 <= dimensions <= _MOST_DIMENSIONS:
            raise ValueError(f"{shown(name)} has {dimensions} dimensions")
        return name, [self._number("<Q") for _ in range(dimensions)], self._number("<I"), self._number("<Q")

    def _tensor(self, start: int, name: str, dimensions: list[int], number: int, offset: int) -> StoredTensor:
        try:
            kind = GGMLQuantizationType(number)
        except ValueError:
            raise UnsupportedModelError(
                f"{self._path}: {brief(name)} is stored in the unknown type {number}. Choose another file of the model."
            ) from None
        block, block_bytes = GGML_QUANT_SIZES[kind]
        numbers = math.prod(dimensions)
        if numbers == 0 or dimensions[0] % block:
            raise ValueError(f"{shown(name)} has the shape {shown(dimensions[::-1])}, which {kind.name} cannot have")
        size = numbers // block * block_bytes
        if start + offset + size > self._size:
            raise ValueError(f"{shown(name)} would end at byte {start + offset + size}, behind the end of the file")
        return StoredTensor(self._path, name, tuple(dimensions[::-1]), kind.name, start + offset, size)

    def _check_places(self, tensors: list[StoredTensor], alignment: int) -> None:
        """ValueError where two tensors share bytes, or one begins between two places."""
        end = 0
        for tensor in sorted(tensors, key=lambda tensor: tensor.offset):
            if tensor.offset % alignment:
                raise ValueError(f"{shown(tensor.name)} begins at byte {tensor.offset}, which is not aligned")
            if tensor.offset < end:
                raise ValueError(f"{shown(tensor.name)} overlaps another tensor")
            end = tensor.offset + tensor.size


def _flag(key: str, value: int) -> bool:
    if value > 1:
        raise ValueError(f"{shown(key)} is {value} instead of true or false")
    return bool(value)


def _alignment(metadata: Mapping[str, Any]) -> int:
    value = metadata.get("general.alignment", _ALIGNMENT)
    if not isinstance(value, int) or not 8 <= value <= 2**20 or value & (value - 1):
        raise ValueError(f"it aligns its tensors at {shown(value)} bytes")
    return value


def _aligned(position: int, alignment: int) -> int:
    return -(-position // alignment) * alignment
