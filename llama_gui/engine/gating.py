"""What is between the two products of the feed-forward part, row by row: the same bits beside any rows."""

from collections.abc import Sequence

import torch
from torch import Tensor

_SPLIT_SIZE = 32768  # at::internal::GRAIN_SIZE: an element-wise operation of this size runs in several threads

BLOCK_SIZE = 2**19
"""Numbers that a chain of element-wise operations takes at a time, so that they stay in the cache on the way."""


def blocks_of_rows(shape: Sequence[int]) -> list[slice]:
    """As many rows of `shape` ``[rows, numbers]`` at a time as stay in the cache."""
    rows = max(1, BLOCK_SIZE // shape[1])
    return [slice(start, start + rows) for start in range(0, shape[0], rows)]


def silu_rows(x: Tensor, y: Tensor) -> None:
    """SiLU of ``[rows, width]``, a strided half of a wider tensor, into `y`: the same bits beside any rows.

    torch splits a large element-wise operation evenly between threads, if need be in the middle of a row, and computes
    what is left of a stretch behind its last whole vector by scalar code, whose exponential differs in the last bit.
    So the number of rows in a large call is a multiple of the threads; the rest go in calls too small to be split.
    """
    rows, width = x.shape
    few, threads = max(1, (_SPLIT_SIZE - 1) // width), torch.get_num_threads()
    whole = rows // threads * threads
    if x.device.type != "cpu" or rows <= few:
        whole = rows
    elif whole * width < threads * _SPLIT_SIZE:  # fewer threads would share it
        whole = 0
    torch.ops.aten.silu.out(x[:whole], out=y[:whole])
    for start in range(whole, rows, few):
        torch.ops.aten.silu.out(x[start : start + few], out=y[start : start + few])


def gated_rows(x: Tensor) -> Tensor:
    """``silu(gate) * up`` of gate and up side by side: ``[rows, 2 * width] -> [rows, width]``, some rows at a time."""
    width = x.shape[1] // 2
    y = x.new_empty(len(x), width)
    for rows in blocks_of_rows(y.shape):
        gate, up = x[rows].chunk(2, 1)
        silu_rows(gate, y[rows])
        y[rows].mul_(up)
    return y
