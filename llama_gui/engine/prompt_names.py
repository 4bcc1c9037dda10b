"""Under which names the disk keeps what was read: each depends on all tokens before its end, and on who said them."""

import hashlib
from array import array
from collections.abc import Callable, Iterable, Sequence

from llama_gui.errors import GenerationError

BLOCK = 64
"""Tokens in a file: those whose keys and values lie together in every dtype."""
STATE_MARK = "+"
"""In the names of files that hold a state, too; behind it is how many tokens that has summed up."""


class PromptNames:
    """Of one model, loaded as it is on this machine.

    `identity`: what tells it from others: asked once, when it is needed.
    """

    def __init__(self, identity: Callable[[], bytes]) -> None:
        self._identity = identity
        self._root: bytes | None = None

    def blocks(self, tokens: Sequence[int], asker: str) -> list[str]:
        """Of all whole blocks of `tokens`."""
        if self._root is None:
            try:
                self._root = self._identity()
            except GenerationError:  # no memory for a block: the next time, perhaps
                return []
        digest = hashlib.blake2b(asker.encode(), key=self._root, digest_size=16).digest()
        names: list[str] = []
        for index in range(len(tokens) // BLOCK):
            digest = _digest(digest, tokens[index * BLOCK : (index + 1) * BLOCK])
            names.append(f"{index:06}-{digest.hex()}")
        return names

    def state(self, tokens: Sequence[int], place: int, blocks: Sequence[str]) -> str:
        """Of the state behind the first `place` of `tokens`, more than a block has; `blocks`: their names."""
        index = last_block(place)
        before = bytes.fromhex(blocks[index - 1].partition("-")[2])
        return f"{index:06}-{_digest(before, tokens[index * BLOCK : place]).hex()}{STATE_MARK}{place}"

    def deepest_state(
        self, tokens: Sequence[int], least: int, blocks: Sequence[str], kept: Iterable[str]
    ) -> tuple[str, int] | None:
        """Of those `kept`, the one behind most of `tokens`, at least so many, and how many; `blocks` are there."""
        places = {name: state_place(name) for name in kept}
        most = min(len(tokens), (len(blocks) + 1) * BLOCK)
        for name in sorted(places, key=lambda name: -places[name]):
            if least <= places[name] <= most and name == self.state(tokens, places[name], blocks):
                return name, places[name]
        return None


def is_state(name: str) -> bool:
    """Whether a file of this name holds a state."""
    return STATE_MARK in name


def state_place(name: str) -> int:
    """How many tokens a state has summed up, by the name of its file; 0 where that is none of ours."""
    digits = name.partition(STATE_MARK)[2]
    return int(digits) if digits.isdecimal() else 0


def last_block(place: int) -> int:
    """The number of the block that lies in the same file as the state behind so many tokens: their last."""
    return (place - 1) // BLOCK


def block_start(name: str) -> int:
    """The first token of the block in a file."""
    return int(name.partition("-")[0]) * BLOCK


def _digest(before: bytes, tokens: Sequence[int]) -> bytes:
    return hashlib.blake2b(array("q", tokens).tobytes(), key=before, digest_size=16).digest()
