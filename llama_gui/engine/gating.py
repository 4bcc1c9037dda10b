"""The gate between the two products of the feed-forward part; a row's bits do not depend on other rows."""

import math
from collections.abc import Sequence
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

Gate = Literal["silu", "gelu", "clamped", "squared"]
"""The activation of the gate: SiLU, GELU as the hyperbolic tangent approximates it, or gpt-oss's, which is of gate and
up: ``gate * sigmoid(CLAMPED_SLOPE * gate) * (up + 1)``, both of them kept within `CLAMPED_AT`. "squared": there is no
gate, and what is above 0 of up is squared (Arcee).
"""

CLAMPED_SLOPE, CLAMPED_AT = 1.702, 7.0
"""They stand again in layer.h."""

SPLIT_SIZE = 32768
"""`at::internal::GRAIN_SIZE`: an element-wise operation of this size runs in several threads."""

BLOCK_SIZE = 2**19
"""How many numbers go through a chain of element-wise operations at a time, so that they stay in the cache."""

GELU_SLOPE, _STEEPEST = 2 * math.sqrt(2 / math.pi), 1e2
"""`c` of `gelu_rows` at zero, and a bound far beyond the point from which on GELU is x itself, or 0."""


def blocks_of_rows(shape: Sequence[int]) -> list[slice]:
    """As many rows of `shape` ``[rows, numbers]`` at a time as stay in the cache."""
    rows = max(1, BLOCK_SIZE // shape[1])
    return [slice(start, start + rows) for start in range(0, shape[0], rows)]


def silu_rows(x: Tensor, y: Tensor) -> None:
    """SiLU of ``[rows, width]``, a strided half of a wider tensor, into `y`: the same bits beside any rows.

    torch splits a large element-wise operation evenly between threads, even in the middle of a row, and computes what
    is left behind the last whole vector of each part by scalar code, whose exponential differs in the last bit. So the
    number of rows in a large call is a multiple of the threads; the remaining rows go in calls too small to be split.
    """
    for some in unsplit_rows(x):
        torch.ops.aten.silu.out(x[some], out=y[some])


def sigmoid_rows(x: Tensor) -> Tensor:
    """As `silu_rows` of the logistic function, ``[rows, width]``, made strided as that wants rows."""
    y = x.new_empty(len(x), x.shape[1] + 1)[:, :-1].copy_(x)
    for some in unsplit_rows(y):
        y[some].sigmoid_()
    return y


def unsplit_rows(x: Tensor) -> list[slice]:
    """All rows of ``[rows, width]``, as many at a time that no thread gets a part of one; see `silu_rows`."""
    rows, width = x.shape
    few, threads = max(1, (SPLIT_SIZE - 1) // width), torch.get_num_threads()
    whole = rows // threads * threads
    if x.device.type != "cpu" or rows <= few:
        whole = rows
    elif whole * width < threads * SPLIT_SIZE:  # torch would use fewer threads
        whole = 0
    return [slice(whole), *(slice(start, start + few) for start in range(whole, rows, few))]


def gelu_rows(x: Tensor, y: Tensor) -> None:
    """As `silu_rows`, of GELU. ``x * sigmoid(c * x)`` is SiLU of ``c * x``, divided by c, which depends on x only.

    The other operations on a number do not depend on where it lies, so its bits depend on others as little as those of
    SiLU do; for that the rows are strided, as `silu_rows` wants them. `x` may be of any dtype, the arithmetic is
    float32; `y` may be `x`.
    """
    if x.device.type != "cpu":
        y.copy_(F.gelu(x, approximate="tanh"))
        return
    wide = torch.empty(len(x), x.shape[1] + 1)[:, :-1].copy_(x)
    slopes = (wide * wide).mul_(0.044715 * GELU_SLOPE).add_(GELU_SLOPE).clamp_(max=_STEEPEST)
    silu_rows(wide.mul_(slopes), wide)
    y.copy_(wide.div_(slopes))


def clamped_rows(x: Tensor, y: Tensor) -> None:
    """The part of "clamped" that is of the gate alone, as `silu_rows` and as little dependent on other rows."""
    wide = torch.empty(len(x), x.shape[1] + 1, device=x.device)[:, :-1].copy_(x)
    silu_rows(wide.clamp_(max=CLAMPED_AT).mul_(CLAMPED_SLOPE), wide)
    y.copy_(wide.div_(CLAMPED_SLOPE))


ACTIVATIONS = {"silu": silu_rows, "gelu": gelu_rows, "clamped": clamped_rows}


def times_up(y: Tensor, up: Tensor, gate: Gate) -> None:
    """Multiply `y`, what `ACTIVATIONS` have made of a gate, by `up`, in place."""
    y.mul_(up.clamp(-CLAMPED_AT, CLAMPED_AT).add_(1) if gate == "clamped" else up)


def gated_rows(x: Tensor, gate: Gate = "silu") -> Tensor:
    """``act(gate) * up`` of gate and up side by side: ``[rows, 2 * width] -> [rows, width]``, some rows at a time.

    Of "squared": ``[rows, width] -> [rows, width]``.
    """
    if gate == "squared":
        return F.relu(x).square_()
    width = x.shape[1] // 2
    y = x.new_empty(len(x), width)
    for rows in blocks_of_rows(y.shape):
        first, up = x[rows].chunk(2, 1)
        ACTIVATIONS[gate](first, y[rows])
        times_up(y[rows], up, gate)
    return y
