"""Folders of gpt-oss, whose experts lie otherwise than everybody's: shown as the engine names and orders weights.

Of each expert, gate and up lie in turn, and their biases too. Stacks are ``[experts, in, out]``, or in MXFP4: blocks of
16 bytes, each of two numbers of four bits that follow one another, and beside them the exponents of all blocks.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import torch
from torch import Tensor

from llama_gui.engine.checkpoint import Checkpoint, Shape
from llama_gui.engine.fields import not_finite
from llama_gui.engine.file_rows import FileRows
from llama_gui.engine.gguf_blocks import MXFP4_EXPONENTS, block_shape, numbers_of
from llama_gui.engine.weight_rows import WeightRows

_KIND = "MXFP4"
_EXPERTS = re.compile(
    r"(?P<before>model\.layers\.[0-9]+\.mlp\.experts\.)(?P<part>gate|up|down)_proj\.(?P<end>weight|bias)"
)
_OTHERS = (
    ("self_attn.sinks.weight", "self_attn.sinks"),
    ("mlp.gate.weight", "mlp.router.weight"),
    ("mlp.gate.bias", "mlp.router.bias"),
)


class GptOssCheckpoint:
    """A `WeightSource` over a `Checkpoint`, and raises what that does. `is_packed`: the experts are in MXFP4."""

    def __init__(self, folder: Path, on_read: Callable[[int], None] | None = None, *, is_packed: bool) -> None:
        self._on_read = on_read
        self._is_packed = is_packed
        self._files = Checkpoint(folder)
        self._folder = folder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.__exit__()

    @property
    def names(self) -> frozenset[str]:
        """Of the weights that no expert has. Whether all others are there says `check`."""
        return self._files.names

    def check(self, expected: Mapping[str, Shape], ignored_suffixes: Sequence[str] = ()) -> None:
        """See `Checkpoint.check`."""
        stored: dict[str, Shape] = {}
        for name, shape in expected.items():
            stored |= self._stored_shapes(name, shape)
        self._files.check(stored, ignored_suffixes, others={name: "U8" for name in stored if name.endswith(_PACKED)})

    def _stored_shapes(self, name: str, shape: Shape) -> dict[str, Shape]:
        match = _EXPERTS.fullmatch(name)
        if match is None:
            return {_stored_name(name): shape}
        stored, count, out = _stored_name(name), shape[0], shape[1] if match["part"] == "down" else 2 * shape[1]
        if match["end"] == "bias":
            return {stored: (count, out)}
        if not self._is_packed:
            return {stored: (count, shape[2], out)}
        blocks = (count, out, shape[2] // _NUMBERS)
        return {stored + _PACKED[0]: (*blocks, _NUMBERS // 2), stored + _PACKED[1]: blocks}

    def weight(self, name: str, dtype: torch.dtype, device: torch.device, part: int | None = None) -> Tensor:
        """See `Checkpoint.weight`."""
        return self._numbers(name, part).to(device=device, dtype=dtype, copy=True)

    def borrowed(self, name: str, dtype: torch.dtype, device: torch.device, part: int | None = None) -> Tensor:
        """See `Checkpoint.borrowed`."""
        return self._numbers(name, part).to(device=device, dtype=dtype)

    def rows(self, name: str, part: int | None = None) -> WeightRows:
        """See `Checkpoint.rows`; experts in MXFP4 also in the blocks that GGUF files have of it."""
        if not self._is_packed or not _EXPERTS.fullmatch(name):
            return WeightRows.of(self._numbers(name, part))
        blocks = self._blocks(name, part)
        out, width = blocks.shape[0], blocks.shape[1] // _BYTES * _NUMBERS
        return WeightRows(out, width, (_rows_of(one) for one in (blocks,)), _KIND, (blocks,))

    def file_rows(self, name: str) -> FileRows:
        """See `Checkpoint.file_rows`."""
        return self._files.file_rows(name)

    def _numbers(self, name: str, part: int | None) -> Tensor:
        match = _EXPERTS.fullmatch(name)
        if match and match["end"] == "weight" and self._is_packed:
            return _rows_of(self._blocks(name, part))
        stored = self._files.tensor(_stored_name(name), part)
        if match and match["end"] == "weight":
            stored = stored.transpose(-1, -2)
        mine = stored if match is None else stored[_share(match["part"], stored.dim() - (match["end"] == "weight"))]
        self._hear(mine.numel())
        return mine

    def _blocks(self, name: str, part: int | None) -> Tensor:
        """Of one expert, as a GGUF file has them: uint8 ``[out, bytes]``, each block an exponent and 16 bytes."""
        stored = _stored_name(name)
        match = _EXPERTS.fullmatch(name)
        rows = _share(match["part"] if match else "", 1)
        codes, exponents = (self._files.raw(stored + end, part)[rows] for end in _PACKED)
        if int(exponents.max()) not in MXFP4_EXPONENTS:
            raise not_finite(self._folder, stored + _PACKED[1])
        self._hear(2 * codes.numel())
        return torch.cat((exponents.unsqueeze(-1), _in_halves(codes)), -1).flatten(1)

    def _hear(self, numbers: int) -> None:
        if self._on_read is not None:
            self._on_read(numbers)


_PACKED = ("_blocks", "_scales")
_BYTES, _NUMBERS = block_shape(_KIND)


def _stored_name(name: str) -> str:
    match = _EXPERTS.fullmatch(name)
    if match:
        part = "down" if match["part"] == "down" else "gate_up"
        return f"{match['before']}{part}_proj{'_bias' if match['end'] == 'bias' else ''}"
    ours, theirs = next((pair for pair in _OTHERS if name.endswith(pair[0])), ("", ""))
    return name.removesuffix(ours) + theirs


def _share(part: str, dimension: int) -> tuple[slice, ...]:
    """Of gate and up in turn along the last of so many dimensions, those of `part`."""
    whole = slice(None)
    last = {"gate": slice(0, None, 2), "up": slice(1, None, 2)}.get(part, whole)
    return (*(dimension - 1) * (whole,), last)


def _in_halves(codes: Tensor) -> Tensor:
    """Bytes of two numbers that follow one another -> of one and that sixteen behind it, as GGUF files have them."""
    numbers = torch.stack((codes & 15, codes >> 4), -1).flatten(-2)
    first, second = numbers.chunk(2, -1)
    return first | second << 4


def _rows_of(blocks: Tensor) -> Tensor:
    """Float32 ``[out, in]``."""
    return numbers_of(blocks.flatten(), _KIND).view(len(blocks), -1)
