"""What was found out about this machine's kernels, kept for the next start, because trying them takes seconds.

A wrong note can cost speed, not correctness: every weight is still compared with a plain product when it is packed. A
note does not count on another CPU, with another torch or another number of threads, or when it is old: a machine that
was busy during the trial gets another chance.
"""

import hashlib
import json
import logging
import math
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from llama_gui.engine.device import Precision
from llama_gui.engine.row_tiles import TILE
from llama_gui.files import write_whole

_DAYS = 30
_STEERED_BY = ("ATEN_", "DNNL_", "ONEDNN_", "MKL_")  # variables that choose other kernels

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KernelNote:
    """What `PackedLinear` found out about weights of one shape; see `Probed` and `RowTiles`.

    `seconds`: of calls, by their rows. `tried`: when, as seconds since 1970.
    """

    min_rows: int
    seconds: Mapping[int, float]
    is_wide: bool
    wide_rows: Mapping[int, int]
    tried: float


class KernelNotes:
    """The notes of one dtype and number of threads, by the shape of the weight, and the file that keeps them.

    `file` None: nothing is kept. One that is missing, damaged, of another machine or not writable costs time only.
    """

    def __init__(self, file: Path | None, precision: Precision, threads: int) -> None:
        self._file = file
        self._kind = f"{precision.name}, {threads} threads"
        self._machine = _machine()
        self._notes = self._read().get(self._kind, {})
        self._is_new = False

    def find(self, shape: tuple[int, ...]) -> KernelNote | None:
        """What is known of weights of `shape`."""
        try:
            note = _note(self._notes[_key(shape)])
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
        return note if 0 <= time.time() - note.tried <= _DAYS * 86400 else None

    def add(self, shape: tuple[int, ...], note: KernelNote) -> None:
        """For `save`."""
        self._notes[_key(shape)] = asdict(note)
        self._is_new = True

    def save(self) -> None:
        """Write what was added."""
        if self._file is None or not self._is_new:
            return
        kinds = self._read() | {self._kind: self._notes}  # another program may have written others
        try:
            write_whole(self._file, json.dumps({"machine": self._machine, "kinds": kinds}).encode())
        except OSError as error:
            _log.warning("What was found out about kernels cannot be kept in %s: %s", self._file, error)
        self._is_new = False

    def _read(self) -> dict[str, Any]:
        if self._file is None:
            return {}
        try:
            values = json.loads(self._file.read_bytes())
            kinds = values["kinds"] if values["machine"] == self._machine else {}
            return {kind: notes for kind, notes in kinds.items() if isinstance(notes, dict)}
        except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
            return {}


def _machine() -> str:
    steered = {name: value for name, value in os.environ.items() if name.startswith(_STEERED_BY)}
    facts = (torch.__version__, torch.backends.cpu.get_cpu_capability(), torch.cpu.get_capabilities(), steered)
    return hashlib.sha256(repr([sorted(f.items()) if isinstance(f, dict) else f for f in facts]).encode()).hexdigest()


def _key(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def _note(values: Mapping[str, Any]) -> KernelNote:
    """Raises KeyError, TypeError, ValueError or AttributeError when it is none."""
    seconds = {int(rows): float(taken) for rows, taken in values["seconds"].items()}
    wide_rows = {int(rows): int(most) for rows, most in values["wide_rows"].items()}
    note = KernelNote(int(values["min_rows"]), seconds, bool(values["is_wide"]), wide_rows, float(values["tried"]))
    if min(note.min_rows, *seconds, *wide_rows, *wide_rows.values()) < 1 or any(rows % TILE for rows in seconds):
        raise ValueError("numbers of rows are positive, and large calls whole tiles")
    if not seconds or not all(0 <= taken < math.inf for taken in seconds.values()):
        raise ValueError("a call takes some time")
    return note
