"""Weights in FP8 with scales beside them -> plain numbers, piece by piece, as everybody else's weights come.

A weight in FP8 (e4m3) has a scale for the whole matrix, for each channel, or for each block of it, by which its numbers
are multiplied in float32. So the one rounding that follows is that of the dtype which is asked for: bfloat16 has the
same bits as in transformers, where that dequantises. The names and layouts are those of DeepSeek's and Qwen's folders
(``weight_scale_inv``, which in spite of its name multiplies), and of compressed-tensors, fbgemm and ModelOpt
(``weight_scale``).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Self

import torch
from torch import Tensor

from llama_gui.engine.checkpoint import Checkpoint, Shape
from llama_gui.engine.fields import AGAIN, brief, shown
from llama_gui.engine.file_rows import FileRows
from llama_gui.engine.packed_weights import PANEL_CHANNELS
from llama_gui.engine.quantisation_config import Block, Fp8Config
from llama_gui.engine.weight_rows import RowOrder, WeightRows
from llama_gui.errors import BrokenModelError, UnsupportedModelError

_STORED = "F8_E4M3"
_SCALES = ("_scale_inv", "_scale")
"""What the name of a scale has behind that of its weight."""

_OTHER_SCALES = (
    *(".input_scale", ".activation_scale", ".input_scale_ub"),
    *(".k_scale", ".v_scale", ".q_scale", ".kv_scale", ".output_scale", ".prob_output_scale"),
)
"""For rounding rows, and keys and values, to FP8. We do not, so they are not needed; vLLM leaves those of keys and
values aside, too, unless it is told to keep them so."""

_PIECE = 2**18
"""Numbers that are made at once: few enough for the processor's cache."""

_LARGEST, _FACTOR = 448.0, 256.0
_SIGN_AND_SEVEN_BITS = -(2**15) | 0x7F << 7


class ScaledCheckpoint:
    """A `WeightSource` over a `Checkpoint` some of whose weights are in FP8; it raises what that does.

    `orders`: as `Checkpoint` has it.
    """

    def __init__(self, files: Checkpoint, fp8: Fp8Config, orders: Mapping[str, RowOrder] | None = None) -> None:
        self._files = files
        self._blocks = fp8.blocks
        self._orders = orders or {}
        self._scales: dict[str, str] = {}
        """Weight in FP8 -> what its scale is called. Filled by `check`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.__exit__()

    @property
    def names(self) -> frozenset[str]:
        """The names of all weights in the files, and of their scales."""
        return self._files.names

    def check(self, expected: Mapping[str, Shape], ignored_suffixes: Sequence[str] = ()) -> None:
        """See `Checkpoint.check`. Each weight in FP8 has a scale whose shape goes with it.

        Raises:
            BrokenModelError: one has none, or one of another shape.
            UnsupportedModelError: something else than a matrix is in FP8.
        """
        scaled = [name for name in expected if name in self.names and self._files.stored(name).dtype == _STORED]
        self._scales = {name: self._scale_of(name) for name in scaled}
        scales = {scale: self._scale_shape(name, scale, expected[name]) for name, scale in self._scales.items()}
        self._files.check(
            {**expected, **scales}, (*ignored_suffixes, *_OTHER_SCALES), others=dict.fromkeys(scaled, _STORED)
        )

    def _scale_of(self, name: str) -> str:
        file, shape, _ = self._files.stored(name)
        if len(shape) != 2:
            raise UnsupportedModelError(
                f"{file}: {brief(name)}, of the shape {shown(list(shape))}, is stored as {_STORED}, and only matrices "
                "are supported in it. Choose another model."
            )
        names = [name + end for end in _SCALES]
        found = next((scale for scale in names if scale in self.names), None)
        if found is None:
            raise BrokenModelError(
                f"{file}: {brief(name)} is stored as {_STORED}, and its scale ({' or '.join(map(brief, names))}) is "
                f"missing from the weight files. {AGAIN}"
            )
        return found

    def _scale_shape(self, name: str, scale: str, expected: Shape) -> Shape:
        file, shape, _ = self._files.stored(scale)
        if self._files.stored(name).shape != expected:
            return shape  # the weight itself is what is wrong
        out, width = expected
        blocks = [(-(-out // rows), -(-width // columns)) for rows, columns in self._blocks]
        allowed: list[Shape] = [(), (1,), (1, 1), (out,), (out, 1), *blocks]
        if shape not in allowed:
            listed = brief(", ".join(str(list(one)) for one in dict.fromkeys(allowed)))
            raise BrokenModelError(
                f"{file}: {brief(scale)} has the shape {shown(list(shape))}, but for {brief(name)}, of the shape "
                f"{list(expected)}, it must be one of {listed}. "
                "The files belong to different models, or one of them is damaged."
            )
        return shape

    def weight(self, name: str, dtype: torch.dtype, device: torch.device, part: int | None = None) -> Tensor:
        """See `Checkpoint.weight`. Besides it, only a piece of a few megabytes is in memory."""
        if name not in self._scales:
            return self._files.weight(name, dtype, device, part)
        rows = self.rows(name)
        weight = torch.empty(rows.out, rows.width, dtype=dtype, device=device)
        for first, piece in rows.placed():
            weight[first : first + len(piece)] = piece
        return weight

    def borrowed(self, name: str, dtype: torch.dtype, device: torch.device, part: int | None = None) -> Tensor:
        """See `Checkpoint.borrowed`."""
        read = self.weight if name in self._scales else self._files.borrowed
        return read(name, dtype, device, part)

    def rows(self, name: str, part: int | None = None) -> WeightRows:
        """See `Checkpoint.rows`; those in FP8 in float32."""
        if name not in self._scales:
            return self._files.rows(name, part)
        out, width = self._files.stored(name).shape
        return WeightRows(out, width, self._pieces(name, out, width))

    def file_rows(self, name: str) -> FileRows:
        """See `Checkpoint.file_rows`.

        Raises:
            UnsupportedModelError: it is in FP8.
        """
        if name in self._scales:
            raise UnsupportedModelError(
                f"{self._files.stored(name).file}: {brief(name)} is stored as {_STORED}, which is not supported of it. "
                "Choose another model."
            )
        return self._files.file_rows(name)

    def _pieces(self, name: str, out: int, width: int) -> Iterator[Tensor]:
        """Some rows at a time; each piece is overwritten by the next."""
        scales, columns = self._scales_of_rows(name, out, width)
        codes = self._files.raw(name).view(torch.int8)
        if order := self._orders.get(name):
            codes, scales = order.in_order(codes), order.in_order(scales)
        at_once = min(max(1, _PIECE // width // PANEL_CHANNELS) * PANEL_CHANNELS, out)
        halves, numbers = torch.empty(at_once, width, dtype=torch.int16), torch.empty(at_once, width)
        for first in range(0, out, at_once):
            some = codes[first : first + at_once]
            piece = _decoded(some, halves[: len(some)], numbers[: len(some)])
            if torch.stack(torch.aminmax(piece)).abs().max() > _LARGEST / _FACTOR:
                raise self._files.not_finite(name)
            yield _multiplied(piece, scales[first : first + at_once] * _FACTOR, columns)

    def _scales_of_rows(self, name: str, out: int, width: int) -> tuple[Tensor, int]:
        """Float32 ``[out, scales of a row]``, and how many numbers of a row share one."""
        scale = self._scales[name]
        stored = self._files.tensor(scale).float()
        self._files.check_finite(scale, stored * _LARGEST)
        if stored.numel() == 1:
            return stored.view(1, 1).expand(out, 1), width
        if stored.shape in ((out,), (out, 1)):
            return stored.view(out, 1), width
        rows, columns = self._block_of(tuple(stored.shape), out, width)
        return stored.repeat_interleave(min(rows, out), 0)[:out], columns

    def _block_of(self, grid: Shape, out: int, width: int) -> Block:
        return next(
            (rows, columns) for rows, columns in self._blocks if grid == (-(-out // rows), -(-width // columns))
        )


def _decoded(codes: Tensor, halves: Tensor, into: Tensor) -> Tensor:
    """Numbers of e4m3 from their bits (int8), each by `_FACTOR` too small; NaN, of which there are two, is 480.

    Seven bits further up they are the bits of a float16 whose exponent counts from another number. That takes a tenth
    of the time of torch's own conversion.
    """
    halves.copy_(codes).bitwise_left_shift_(7).bitwise_and_(_SIGN_AND_SEVEN_BITS)
    return into.copy_(halves.view(torch.float16))


def _multiplied(rows: Tensor, scales: Tensor, columns: int) -> Tensor:
    """`rows` ``[rows, in]``, each `columns` numbers of them times one of `scales`; the last may be for fewer."""
    width = rows.shape[1]
    whole = width // columns
    if whole:
        rows[:, : whole * columns].unflatten(1, (whole, columns)).mul_(scales[:, :whole, None])
    if whole * columns < width:
        rows[:, whole * columns :].mul_(scales[:, whole:])
    return rows
