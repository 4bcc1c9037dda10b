"""The largest of very many numbers: torch's own `topk` and `argmax` take ten times as long as reading them does.

Most of a vocabulary is far from likely. So blocks are compared first, by their largest numbers, and only the best are
looked into: the `count` largest numbers lie in the `count` blocks whose largest are the largest. NaN counts as more
than any number, as in torch.
"""

import torch
from torch import Tensor

_BLOCK = 64
_WORTH = 4
"""So many times as many numbers as would be looked into; for fewer, torch's way is shorter."""


def topk(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest of ``values [size]``, in order, and their places (int64): both ``[count]``."""
    size = len(values)
    if count * _BLOCK * _WORTH > size:
        found, places = torch.topk(values, count)
        return found, places
    whole = size // _BLOCK * _BLOCK
    blocks = values[:whole].view(-1, _BLOCK)
    chosen = blocks.amax(1).topk(count, sorted=False).indices
    # What is behind the last whole block is looked into in any case.
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
