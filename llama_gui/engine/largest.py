"""The largest of very many numbers: torch's own `topk` and `argmax` take ten times as long as reading them does.

Most tokens of a vocabulary are unlikely. So blocks are compared first, by their maxima, and only the best are searched:
the `count` largest numbers lie in the `count` blocks with the largest maxima. NaN counts as more than any number, as in
torch.
"""

import torch
from torch import Tensor

_BLOCK = 64
_WORTH = 4
"""Blocks pay if there are at least this many times the numbers that would be searched; below, torch's own is faster."""


def topk(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest of ``values [size]``, in order, and their places (int64): both ``[count]``."""
    size = len(values)
    if count * _BLOCK * _WORTH > size:
        found, places = torch.topk(values, count)
        return found, places
    whole = size // _BLOCK * _BLOCK
    blocks = values[:whole].view(-1, _BLOCK)
    chosen = blocks.amax(1).topk(count, sorted=False).indices
    # The rest behind the last whole block is always searched.
    found, places = torch.cat((blocks[chosen].view(-1), values[whole:])).topk(count)
    starts = torch.cat((chosen * _BLOCK, chosen.new_tensor([whole])))
    block = places.div(_BLOCK, rounding_mode="floor")
    return found, starts[block] + places - block * _BLOCK


def argmax(values: Tensor) -> int:
    """The first place of the largest of ``values [size]``."""
    whole = len(values) // _BLOCK * _BLOCK
    largest = values[:whole].view(-1, _BLOCK).amax(1)
    if whole < len(values):
        largest = torch.cat((largest, values[whole:].amax(0, keepdim=True)))
    start = int(largest.argmax()) * _BLOCK
    return start + int(values[start : start + _BLOCK].argmax())
