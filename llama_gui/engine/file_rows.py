"""Rows of a matrix that stays in its file, of which a step needs few: those of the tokens it reads.

Gemma 4's table of inputs for all layers is half of its weights, and the system keeps in memory what of it is used.
"""

import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

import torch
from torch import Tensor

from llama_gui.engine.fields import AGAIN, not_finite
from llama_gui.errors import BrokenModelError


class RowSource(Protocol):
    """A matrix ``[count, width]``."""

    def look_up(self, ids: Sequence[int]) -> Tensor:
        """The rows of `ids`: float32 ``[ids, width]``. One that it does not have is the first one."""
        ...


class FileRows:
    """`count` rows of the weight `name` in `file`, from the byte `offset` on; `row_bytes`: of each.

    `numbers_of`: makes numbers of uint8 ``[bytes]``. The file stays open as long as this lives, so that the model goes
    on where somebody deletes it.

    Raises:
        BrokenModelError: it cannot be opened.
    """

    def __init__(
        self,
        file: Path,
        name: str,
        *,
        offset: int,
        row_bytes: int,
        count: int,
        numbers_of: Callable[[Tensor], Tensor],
    ) -> None:
        self._file, self._name = file, name
        self._offset, self._row_bytes, self._count = offset, row_bytes, count
        self._numbers_of = numbers_of
        try:
            self._stream = file.open("rb", buffering=0)
        except OSError as error:
            raise BrokenModelError(f"{file} cannot be opened: {error}. {AGAIN}") from error
        weakref.finalize(self, self._stream.close)

    def look_up(self, ids: Sequence[int]) -> Tensor:
        """See `RowSource`.

        Raises:
            BrokenModelError: the file was cut off meanwhile, or holds NaN or infinity there.
        """
        known = [token_id if token_id < self._count else 0 for token_id in ids]
        different = sorted(set(known))  # in the order of the file
        data = bytearray(len(different) * self._row_bytes)
        try:
            for at, row in enumerate(different):
                part = memoryview(data)[at * self._row_bytes :][: self._row_bytes]
                fill(self._stream, self._offset + row * self._row_bytes, part)
        except OSError as error:
            raise BrokenModelError(f"{self._file}: {self._name} cannot be read: {error}. {AGAIN}") from error
        rows = self._numbers_of(torch.frombuffer(data, dtype=torch.uint8)).float().view(len(different), -1)
        if not torch.stack(torch.aminmax(rows)).isfinite().all():
            raise not_finite(self._file, self._name)
        places = {row: at for at, row in enumerate(different)}
        return rows[torch.tensor([places[row] for row in known])]


def fill(stream: BinaryIO, start: int, part: memoryview) -> None:
    """Read all of `part` from the byte `start` on, of a file that is open without a buffer. OSError: it cannot be."""
    stream.seek(start)
    done = 0
    while done < len(part):
        count = stream.readinto(part[done:])  # type: ignore[attr-defined] # a FileIO has it
        if not count:
            raise OSError("it ended while it was read")
        done += count
