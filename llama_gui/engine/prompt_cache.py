"""What was read once is not read again after a restart: keys and values of long conversations, kept on the disk.

Sound because of our exactness: a token's keys and values depend on the tokens before it, to the bit, and on nothing
else that changes while the machine, the model and the kernels stay the same. Whether these are the same is tried: the
bits of some given tokens are part of every name.
"""

import hashlib
import time
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from llama_gui.engine.block_files import BlockFiles
from llama_gui.engine.kv_cache import KVCache, Slot
from llama_gui.errors import GenerationError, InvalidRequestError
from llama_gui.vocabulary.checks import check_number

BLOCK = 64
"""Tokens in a file: those whose keys and values lie together in every dtype."""
LEAST_TOKENS = 256
"""Shorter prompts are not looked for."""
LEAST_SECONDS = 1.0
"""What is read in less is not kept."""
_PROBED = 16
"""Tokens that are read to learn which keys and values these are: enough for products of many rows, and soon done."""


@dataclass(slots=True)
class Recall:
    """The blocks of a prompt that lie on the disk, from its beginning: 64 tokens each."""

    names: list[str]
    is_over: bool = False


class PromptCache:
    """Blocks of a cache's slots, to the disk and back. Only the engine's thread uses it.

    Args:
        files: where they lie.
        cache: whose slots are kept.
        identity: what tells this model, loaded as it is on this machine, from others: asked once, when it is needed.
    """

    def __init__(self, files: BlockFiles, cache: KVCache, identity: Callable[[], bytes]) -> None:
        self._files = files
        self._cache = cache
        self._identity = identity
        self._root: bytes | None = None
        self._listed = (0, 0)  # `last_used` and length of the slot whose blocks these are
        self._listed_at = 0.0
        self._missing: deque[tuple[int, str]] = deque()

    def tell(self, wake: Callable[[], None]) -> None:
        """Call `wake`, in the thread that writes, when `keep_next` may go on."""
        self._files.on_written = wake

    # --- back from the disk

    def find(self, tokens: Sequence[int], held: int, asker: str = "") -> Recall | None:
        """What can be had of `tokens` beyond the first `held`, which are in memory. `asker`: who has said them."""
        self._notice_emptied()
        if len(tokens) < LEAST_TOKENS or self._files.is_empty:
            return None
        names = self._names(tokens, asker)
        count = next((i for i, name in enumerate(names) if not self._files.has(name)), len(names))
        if count * BLOCK <= held:
            return None
        self._files.use(names[:count], time.time())
        return Recall(names[:count])

    def recall(self, recall: Recall, slot: Slot) -> int:
        """Put the next block into `slot`; how many of its tokens are new there, 0: there are no more.

        The caller appends these to `slot.tokens`.

        Raises:
            GenerationError: there is no memory for it.
        """
        index = len(slot.tokens) // BLOCK
        end = (index + 1) * BLOCK
        content = None
        if not recall.is_over and index < len(recall.names):
            content = self._files.read(recall.names[index], slot.block_bytes(BLOCK))
        if content is None:
            recall.is_over = True
            return 0
        self._cache.ensure_capacity(slot, end)
        slot.put_block(end - BLOCK, end, content)
        return end - len(slot.tokens)

    # --- to the disk

    def keep_next(self, seconds: Callable[[int], float | None], reading: Sequence[Slot] = ()) -> bool:
        """Give the next block of a conversation to the thread that writes; False: there is none, or no room.

        `seconds`: what reading so many tokens takes; None: nobody knows. `reading`: slots of prompts that are being
        read, of which what is read so far is kept; behind them come the idle ones.
        """
        if not self._files.is_usable or not self._files.has_room:
            return False
        self._notice_emptied()
        for slot in [*reading, *self._cache.unkept()]:
            if self._listed != (slot.last_used, len(slot.tokens)):
                self._list(slot, seconds(len(slot.tokens)))
            if self._missing:
                index, name = self._missing.popleft()
                self._files.write(name, slot.block(index * BLOCK, (index + 1) * BLOCK), self._listed_at)
                return True
            if not slot.busy:
                slot.kept = slot.last_used
        return False

    def _list(self, slot: Slot, seconds: float | None) -> None:
        """Find out which blocks of `slot` are worth keeping, and are not kept."""
        self._listed, self._listed_at = (slot.last_used, len(slot.tokens)), time.time()
        self._missing.clear()
        if len(slot.tokens) >= LEAST_TOKENS and (seconds is None or seconds >= LEAST_SECONDS):
            names = self._names(slot.tokens, slot.asker)
            self._missing.extend((index, name) for index, name in enumerate(names) if not self._files.has(name))
            self._files.use((name for name in names if self._files.has(name)), self._listed_at)

    def flush(self, seconds: Callable[[int], float | None]) -> None:
        """Wait until all idle conversations are kept."""
        while self._files.is_usable and self._cache.unkept():
            if not self.keep_next(seconds):
                self._files.flush()
        self._files.flush()

    def close(self) -> None:
        """No more is kept."""
        self._files.close()

    def _notice_emptied(self) -> None:
        """What was said before somebody emptied the folder is not written again, but for chats that go on."""
        if self._files.notice_emptied():
            self._missing.clear()
            self._listed = (0, 0)
            for slot in self._cache.unkept():
                slot.kept = slot.last_used

    def _names(self, tokens: Sequence[int], asker: str) -> list[str]:
        """The names of all whole blocks of `tokens`. Each depends on all tokens before, and on who has said them."""
        if self._root is None:
            try:
                self._root = self._identity()
            except GenerationError:  # no memory for a block: the next time, perhaps
                return []
        ids = array("q", tokens)
        digest, names = hashlib.blake2b(asker.encode(), key=self._root, digest_size=16).digest(), list[str]()
        for index in range(len(ids) // BLOCK):
            block = ids[index * BLOCK : (index + 1) * BLOCK].tobytes()
            digest = hashlib.blake2b(block, key=digest, digest_size=16).digest()
            names.append(f"{index:06}-{digest.hex()}")
        return names


def open_prompt_cache(
    folder: str | Path | None, byte_limit: int, cache: KVCache, identity: Callable[[], bytes]
) -> PromptCache | None:
    """The prompt cache in `folder`; None: there shall be none."""
    if folder is None or byte_limit == 0:
        return None
    return PromptCache(BlockFiles(Path(folder), byte_limit), cache, identity)


def check_place(folder: object, byte_limit: object) -> None:
    """Raise InvalidRequestError where `open_prompt_cache` cannot use these."""
    if not isinstance(folder, str | Path | None):
        raise InvalidRequestError("prompt_cache", folder, "the path of a folder")
    check_number("prompt_cache_bytes", byte_limit, 0, integer=True)


def files_stamp(path: object) -> bytes:
    """What tells the files of a model from others, wherever they lie: their names, sizes and times.

    It is for weights that the bits of a few tokens do not depend on, such as those of experts that it did not need. Of
    what is not on the disk: nothing.
    """
    if not isinstance(path, str | Path):
        return b""
    place = Path(path).expanduser()
    try:
        files = place.iterdir() if place.is_dir() else [place]
        facts = sorted((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files if file.is_file())
    except OSError:  # deleted a moment after it was loaded
        return b""
    return repr(facts).encode()


def probe_tokens(vocab_size: int) -> list[int]:
    """Tokens whose keys and values tell one network and its kernels from another."""
    return [(7919 * i + 1) % vocab_size for i in range(_PROBED)]


def bits_of(slot: Slot, stamp: bytes) -> bytes:
    """A digest of the first block in `slot`, and of `stamp`."""
    return hashlib.blake2b(slot.block(0, BLOCK) + stamp, digest_size=16).digest()
