"""The tensors of GGUF files -> weights, piece by piece: dequantised into the dtype that is asked for, or in blocks.

They are read, not mapped: a file that somebody cuts off meanwhile is an error, and not the end of the process.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, Self

import torch
from torch import Tensor

from llama_gui.engine.checkpoint import Shape
from llama_gui.engine.fields import AGAIN, brief, brief_list, not_finite
from llama_gui.engine.file_rows import FileRows, fill
from llama_gui.engine.gguf_blocks import FACTORS, KINDS, MXFP4_EXPONENTS, block_shape, numbers_of
from llama_gui.engine.gguf_file import GgufFile, StoredTensor
from llama_gui.engine.gguf_grids import GRID_KINDS, points_of
from llama_gui.engine.gguf_names import (
    CONVOLVES,
    LONGROPE_DIVISORS,
    POST_NORM,
    ROPE_DIVISORS,
    SKIPS,
    block_of,
    engine_mtp_name,
    engine_name,
    stored_name,
)
from llama_gui.engine.native_kernels import DEQUANTISED_KINDS, NativeKernels
from llama_gui.engine.nemotron_config import ARCHITECTURES as NEMOTRON
from llama_gui.engine.nemotron_config import gguf_split
from llama_gui.engine.packed_weights import CHANNELS_TOGETHER
from llama_gui.engine.weight_rows import RowOrder, WeightRows
from llama_gui.errors import BrokenModelError, UnsupportedModelError

_WITHOUT_GATE = ("arcee", *NEMOTRON)
"""Of others that have no weight for it by itself, it is in one with that for up."""

GUESSING_BLOCKS = "nextn_predict_layers"
"""How many of the last blocks guess further tokens; they are left aside."""

_LAST_NORM, _LAST_NORM_STORED = "model.norm.weight", "output_norm.weight"
"""Some files have no norm of its own for the layer that guesses."""

_PIECE = 2**20
"""Numbers that are dequantised at once: whole blocks, and few enough for the processor's cache."""


class GgufWeights:
    """The open files of one model, as `Checkpoint` is for safetensors. A context manager.

    `orders`: how the rows of a weight lie, see `RowOrder`. `kernels`: our own, where there are some; they
    dequantise several times as fast.

    Raises:
        BrokenModelError: two files hold the same tensor.
    """

    def __init__(
        self,
        files: Sequence[GgufFile],
        orders: Mapping[str, RowOrder],
        on_read: Callable[[int], None] | None = None,
        kernels: NativeKernels | None = None,
        *,
        tensors: Mapping[str, StoredTensor] | None = None,
    ) -> None:
        """`tensors`: those of the files by other names than `tensors_of` gives them; None: by those."""
        self.path = files[0].path
        self._orders = orders
        self._split = gguf_split(files[0].metadata)
        self._on_read = on_read
        self._numbers_of = numbers_of if kernels is None else partial(_numbers_of, kernels)
        self._stack = ExitStack()
        self._streams: dict[Path, BinaryIO] = {}
        self._tensors = tensors_of(files) if tensors is None else dict(tensors)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._streams.clear()
        self._stack.close()

    @property
    def names(self) -> frozenset[str]:
        """The engine's names of all weights in the files."""
        return frozenset(self._tensors)

    def check(self, expected: Mapping[str, Shape], ignored_suffixes: Sequence[str] = ()) -> None:
        """Compare the files with what the network needs: every name once, in its shape, and nothing besides.

        Raises:
            BrokenModelError: weights are missing or have another shape.
            UnsupportedModelError: there are weights that the network has no place for, or of a type we do not read.
        """
        post_normed = engine_name(f"blk.0.{POST_NORM}", post_normed=True) in expected
        absent = [name for name in expected if name not in self._tensors]
        if self._split is not None:
            absent = [self._split.theirs(name) for name in absent]
        missing = [stored_name(name, post_normed=post_normed) for name in absent]
        if missing:
            raise BrokenModelError(f"{self.path}: {brief_list(missing)} missing. {AGAIN}")
        for name, shape in expected.items():
            self.check_one(name, shape)
        ignored = (*ignored_suffixes, ROPE_DIVISORS, *LONGROPE_DIVISORS)
        surplus = sorted(name for name in self._tensors.keys() - expected.keys() if not name.endswith(ignored))
        if surplus:
            stored = brief_list([self._tensors[name].name for name in surplus])
            raise UnsupportedModelError(
                f"{self.path} holds {stored} that a network of this architecture has no place for, so its "
                "answers would be wrong. Choose another model."
            )

    def check_one(self, name: str, shape: Shape) -> None:
        """See `check`: of one weight."""
        tensor = self._tensors[name]
        if tensor.shape != shape:
            raise BrokenModelError(
                f"{tensor.file}: {tensor.name} has the shape {list(tensor.shape)}, but the file's own fields ask for "
                f"{list(shape)}. {AGAIN}"
            )
        check_kind(tensor)

    # `part`: only this one of a stack of matrices.

    def weight(self, name: str, dtype: torch.dtype, device: torch.device, part: int | None = None) -> Tensor:
        """The weight `name`; besides it, only a piece of a few megabytes is in memory.

        Raises:
            BrokenModelError: the file cannot be read, or holds NaN or infinity there.
        """
        tensor = self._tensor(name, part)
        weight = torch.empty(tensor.shape, dtype=dtype, device=device)
        flat, done = weight.view(-1), 0
        for numbers in self._pieces(tensor, _PIECE):
            flat[done : done + len(numbers)] = numbers.to(device)
            done += len(numbers)
        order = self._orders.get(name)
        return weight if order is None else order.in_order(weight)

    def borrowed(self, name: str, dtype: torch.dtype, device: torch.device, part: int | None = None) -> Tensor:
        """As `weight`."""
        return self.weight(name, dtype, device, part)

    def rows(self, name: str, part: int | None = None) -> WeightRows:
        """The matrix `name`, a few megabytes at a time, and in float32 if need be; raises what `weight` raises."""
        tensor = self._tensor(name, part)
        out, width = tensor.shape
        return WeightRows(out, width, self._parts(name, tensor), tensor.kind, self._blocks(name, tensor))

    def file_rows(self, name: str) -> FileRows:
        """The matrix `name`, which stays in its file; raises what `FileRows` raises."""
        tensor = self._tensors[name]
        read_numbers_of, kind, count = self._numbers_of, tensor.kind, tensor.shape[0]
        return FileRows(
            tensor.file,
            tensor.name,
            offset=tensor.offset,
            row_bytes=tensor.size // count,
            count=count,
            numbers_of=lambda data: read_numbers_of(data, kind),
        )

    def _tensor(self, name: str, part: int | None) -> StoredTensor:
        whole = self._tensors[name]
        if part is None:
            return whole
        size = whole.size // whole.shape[0]
        return replace(whole, shape=whole.shape[1:], offset=whole.offset + part * size, size=size)

    def _parts(self, name: str, tensor: StoredTensor) -> Iterator[Tensor]:
        width = tensor.shape[1]
        if name in self._orders:
            yield self.weight(name, torch.float32, torch.device("cpu"))
        else:
            for numbers in self._pieces(tensor, _rows_at_once(width) * width):
                yield numbers.view(-1, width)

    def _blocks(self, name: str, tensor: StoredTensor) -> Iterator[Tensor]:
        order = self._orders.get(name)
        out, width = tensor.shape
        at_once = _rows_at_once(width) if order is None else out
        for data in _bytes(self._stream(tensor), tensor, at_once * width):
            if not _is_finite(data, tensor.kind):
                raise not_finite(tensor.file, tensor.name)
            rows = data.view(-1, tensor.size // out)
            yield rows if order is None else order.in_order(rows)

    def _pieces(self, tensor: StoredTensor, size: int) -> Iterator[Tensor]:
        yield from _pieces(self._stream(tensor), tensor, size, self._numbers_of)

    def _stream(self, tensor: StoredTensor) -> BinaryIO:
        """The file that all of `tensor` is about to be read from."""
        if self._on_read is not None:
            self._on_read(math.prod(tensor.shape))
        if tensor.file not in self._streams:
            self._streams[tensor.file] = self._stack.enter_context(_open(tensor))
        return self._streams[tensor.file]


def _rows_at_once(width: int) -> int:
    return max(1, _PIECE // width // CHANNELS_TOGETHER) * CHANNELS_TOGETHER


def tensors_of(files: Sequence[GgufFile]) -> dict[str, StoredTensor]:
    """The engine's name -> tensor, for all files of a model.

    Raises:
        BrokenModelError: two files hold the same tensor.
    """
    tensors: dict[str, StoredTensor] = {}
    ends = {stored.partition(".")[2].partition(".")[2] for file in files for stored in file.tensors}
    architecture = files[0].metadata.get("general.architecture")
    has_gate = not (isinstance(architecture, str) and architecture in _WITHOUT_GATE)
    fused = has_gate and "ffn_up.weight" in ends and "ffn_gate.weight" not in ends
    post_normed, mambas = POST_NORM in ends, SKIPS in ends
    deltas = CONVOLVES in ends and not mambas
    layers, split = _layers_of(files[0]), gguf_split(files[0].metadata)
    for file in files:
        for stored, tensor in file.tensors.items():
            if layers is not None and (block_of(stored) or 0) >= layers:
                continue
            name = engine_name(stored, fused=fused, post_normed=post_normed, deltas=deltas, mambas=mambas)
            name = name if split is None else split.ours(name)
            other = tensors.setdefault(name, tensor)
            if other is not tensor:
                raise BrokenModelError(f"{file.path} and {other.file.name} both hold {brief(other.name)}. {AGAIN}")
    return tensors


def mtp_tensors_of(files: Sequence[GgufFile], layers: int) -> dict[str, StoredTensor]:
    """The same of the layer that guesses further tokens, for a network of so many.

    {}: there is none, or several, of which each guesses one.
    """
    blocks = {block_of(stored) or 0 for file in files for stored in file.tensors}
    if _layers_of(files[0]) != layers or max(blocks, default=0) != layers:
        return {}
    tensors = {stored: tensor for file in files for stored, tensor in file.tensors.items()}
    of_layer = {engine_mtp_name(stored): one for stored, one in tensors.items() if block_of(stored) == layers}
    if _LAST_NORM not in of_layer and _LAST_NORM_STORED in tensors:
        of_layer[_LAST_NORM] = tensors[_LAST_NORM_STORED]
    return of_layer


def _layers_of(file: GgufFile) -> int | None:
    """How many layers are run, where the last ones only guess further tokens (MTP); None: all are."""
    architecture = file.metadata.get("general.architecture")
    blocks, guessing = (file.metadata.get(f"{architecture}.{key}") for key in ("block_count", GUESSING_BLOCKS))
    if not isinstance(blocks, int) or not isinstance(guessing, int):
        return None
    return blocks - guessing if guessing != blocks and guessing else None  # an assistant's all guess


def read_numbers(tensor: StoredTensor) -> list[float]:
    """All numbers of a small tensor.

    Raises:
        BrokenModelError, UnsupportedModelError: see `GgufWeights`.
    """
    check_kind(tensor)
    with _open(tensor) as stream:
        return [number for piece in _pieces(stream, tensor, _PIECE, numbers_of) for number in piece.tolist()]


def check_kind(tensor: StoredTensor) -> None:
    """UnsupportedModelError for a tensor of a type that we do not read."""
    if tensor.kind not in KINDS:
        raise UnsupportedModelError(
            f"{tensor.file}: {tensor.name} is stored as {tensor.kind}. Supported: {', '.join(KINDS)}. "
            "Choose another file of the model, such as one of Q4_K_M."
        )


def _open(tensor: StoredTensor) -> BinaryIO:
    try:
        return tensor.file.open("rb", buffering=0)
    except OSError as error:
        raise BrokenModelError(f"{tensor.file} cannot be opened: {error}. {AGAIN}") from error


def _numbers_of(kernels: NativeKernels, data: Tensor, kind: str) -> Tensor:
    if kind in GRID_KINDS:
        return kernels.dequantise_grid(data, kind, points_of(kind))
    return kernels.dequantise(data, kind) if kind in DEQUANTISED_KINDS else numbers_of(data, kind)


def _pieces(
    stream: BinaryIO, tensor: StoredTensor, size: int, read_numbers_of: Callable[[Tensor, str], Tensor]
) -> Iterator[Tensor]:
    """So many numbers at a time, whole blocks of them; those of a plain type are overwritten by the next."""
    for data in _bytes(stream, tensor, size):
        numbers = read_numbers_of(data, tensor.kind)
        if not torch.stack(torch.aminmax(numbers)).isfinite().all():
            raise not_finite(tensor.file, tensor.name)
        yield numbers


def _bytes(stream: BinaryIO, tensor: StoredTensor, size: int) -> Iterator[Tensor]:
    """The bytes of so many numbers at a time, uint8; they are overwritten by the next."""
    piece_bytes = tensor.size * size // math.prod(tensor.shape)  # exact
    buffer = bytearray(min(piece_bytes, tensor.size))
    for start in range(0, tensor.size, piece_bytes):
        part = memoryview(buffer)[: min(piece_bytes, tensor.size - start)]
        _fill(stream, tensor, start, part)
        yield torch.frombuffer(part, dtype=torch.uint8)


def _is_finite(data: Tensor, kind: str) -> bool:
    """Whether the factors of whole blocks are, and with them all of their numbers."""
    if kind == "MXFP4":
        return int(data[:: block_shape(kind)[0]].max()) in MXFP4_EXPONENTS
    factors = data.view(-1, block_shape(kind)[0])[:, FACTORS[kind]].contiguous().view(torch.float16)
    return bool(factors.isfinite().all())


def _fill(stream: BinaryIO, tensor: StoredTensor, start: int, part: memoryview) -> None:
    try:
        fill(stream, tensor.offset + start, part)
    except OSError as error:
        raise BrokenModelError(f"{tensor.file}: {tensor.name} cannot be read: {error}. {AGAIN}") from error
