"""What was read once is not read again after a restart: keys and values of long conversations, kept on the disk.

Where layers sum up what was read, a state of theirs is kept behind the last of the keys and values: see `layer_states`.

Sound because of our exactness: a token's keys and values depend on the tokens before it, to the bit, and on nothing
else that changes while the machine, the model and the kernels stay the same. Whether these are the same is tried: the
bits of some given tokens are part of every name.
"""

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path

import torch

from llama_gui import __version__
from llama_gui.engine.block_files import AT_ONCE, BlockFiles
from llama_gui.engine.kv_cache import KVCache, Slot
from llama_gui.engine.layer_states import SlotStates
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.prompt_names import BLOCK, PromptNames, block_start, is_state, last_block, state_place
from llama_gui.engine.recall import Recall
from llama_gui.vocabulary.checks import check_number, check_path

LEAST_TOKENS = 256
"""Shorter prompts are not looked for."""
LEAST_SECONDS = 1.0
"""What is read in less is not kept."""
STATES_EVERY = 4096
"""Tokens of a long prompt between states that are kept while it is read. One takes as much as a thousand tokens do."""
_PROBED = 16
"""Tokens that are read to learn which keys and values these are: enough for products of many rows, and soon done."""


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
        self._names = PromptNames(identity)
        self._listed = 0  # `last_used` of the slot whose blocks these are
        self._listed_at = 0.0
        self._names_listed: list[str] = []
        self._used: Future[None] | None = None  # until it is known which of these are missing
        self._missing: deque[str] = deque()

    def tell(self, wake: Callable[[], None]) -> None:
        """Call `wake`, in the threads that read and write, when `recall` or `keep_next` may go on."""
        self._files.on_done = wake

    # --- back from the disk

    def find(self, tokens: Sequence[int], slot: Slot) -> Recall | None:
        """What is kept of `tokens` beyond those in `slot`, which they begin with; None: nothing is.

        Its next block is always the one that the last token of `slot` is not yet in, or does not fill.
        """
        self._notice_emptied()
        if len(tokens) < LEAST_TOKENS or self._files.is_empty:
            return None
        names = self._names.blocks(tokens, slot.asker)
        count = next((i for i, name in enumerate(names) if not self._files.has(name)), len(names))
        names, held, end = names[:count], len(slot.tokens), count * BLOCK
        if slot.states is not None:
            found = self._names.deepest_state(tokens, held + BLOCK, names, self._files.ones_like(is_state))
            state, end = found or ("", 0)
            names = [*names[: last_block(end)], state]
        if end <= held:
            return None
        self._files.use(names, time.time())
        start = held // BLOCK
        return Recall(names[start:], lambda name: self._files.fetch(name, self._file_bytes(name, slot)), start * BLOCK)

    def recall(self, recall: Recall, slot: Slot) -> int | None:
        """Put the next block of `recall` into `slot`; how many of its tokens are new, None: no more are.

        The caller appends these to `slot.tokens`. Waits for the block, unless `recall.is_ready`. Where there are
        states, all are new with the last block.

        Raises:
            GenerationError: there is no memory for it.
        """
        taken = recall.take()
        if taken is None:
            return None
        name, content = taken
        start, size = recall.place, slot.block_bytes(BLOCK)
        recall.place += BLOCK
        self._cache.ensure_capacity(slot, recall.place)
        slot.put_block(start, recall.place, memoryview(content)[:size])
        if slot.states is None:
            return recall.place - len(slot.tokens)
        if not is_state(name):
            return 0
        new = state_place(name) - len(slot.tokens)
        slot.states.put(new, memoryview(content)[size:], is_mark=self._cache.has_room_for_mark())
        slot.filed.append(name)
        return new

    # --- to the disk

    def keep_next(self, seconds: Callable[[int], float | None]) -> bool:
        """Give the next block of an idle conversation to the thread that writes; False: there is none, or it is busy.

        `seconds`: what reading so many tokens takes; None: nobody knows.
        """
        if not self._files.is_usable or not self._files.has_room:
            return False
        self._notice_emptied()
        for slot in self._cache.unkept():
            if self._listed != slot.last_used:
                self._listed, self._listed_at = slot.last_used, time.time()
                self._names_listed = self._worth_keeping(slot, seconds)
                self._used = self._files.use(list(filter(self._files.has, self._names_listed)), self._listed_at)
            if self._used is not None:
                if not self._used.done():
                    return False
                self._used, self._missing = None, deque(self._missing_of(self._names_listed))
            if self._missing:
                self._write(slot, self._missing.popleft())
                return True
            slot.kept = slot.last_used
            self._forget_states(slot, self._names_listed)
        return False

    def keep_read(self, slots: Sequence[Slot], seconds: Callable[[int], float | None]) -> None:
        """The same with what is read so far of prompts, but no more than a few blocks: others want their turn."""
        self._notice_emptied()
        for slot in slots if self._files.is_usable else []:
            for name in self._missing_of(self._worth_keeping(slot, seconds))[:AT_ONCE]:
                if not self._files.has_room:
                    return
                self._listed_at = time.time()
                self._write(slot, name)

    def is_behind(self, seconds: Callable[[int], float | None]) -> bool:
        """Keep a few blocks; whether there is more to keep, or to be written."""
        for _ in range(AT_ONCE):
            if not self.keep_next(seconds):
                break
        return (self._files.is_usable and bool(self._cache.unkept())) or not self._files.is_idle

    def _write(self, slot: Slot, name: str) -> None:
        start = block_start(name)
        content = slot.block(start, start + BLOCK)
        if slot.states is not None and is_state(name):
            content += slot.states.block(state_place(name), len(slot.tokens))
            slot.filed.append(name)
        self._files.write(name, content, self._listed_at)

    def _file_bytes(self, name: str, slot: Slot) -> int:
        states = slot.states.block_bytes if slot.states is not None and is_state(name) else 0
        return slot.block_bytes(BLOCK) + states

    def _worth_keeping(self, slot: Slot, seconds: Callable[[int], float | None]) -> list[str]:
        """The names of the blocks of `slot`, and of its states; none, where it is read again soon enough."""
        taken = seconds(len(slot.tokens))
        if len(slot.tokens) < LEAST_TOKENS or (taken is not None and taken < LEAST_SECONDS):
            return []
        blocks = self._names.blocks(slot.tokens, slot.asker)
        if slot.states is None or not blocks:
            return blocks
        places = _places_of(slot, slot.states)
        return [*blocks, *(self._names.state(slot.tokens, place, blocks) for place in places if place >= LEAST_TOKENS)]

    def _missing_of(self, names: Sequence[str]) -> list[str]:
        """Those that are not kept."""
        return [name for name in names if not self._files.has(name)]

    def _forget_states(self, slot: Slot, names: Sequence[str]) -> None:
        """Of states, which are large, the last ones stay that a conversation has come to."""
        if names:
            self._files.forget([name for name in slot.filed if name not in names])
            slot.filed = [name for name in names if is_state(name)]

    def close(self) -> None:
        """No more is kept."""
        self._files.close()

    def _notice_emptied(self) -> None:
        """What was said before somebody emptied the folder is not written again, but for chats that go on."""
        if self._files.notice_emptied():
            self._missing.clear()
            self._listed, self._used = 0, None
            for slot in self._cache.unkept():
                slot.kept = slot.last_used


def _places_of(slot: Slot, states: SlotStates) -> list[int]:
    """Behind how many tokens of `slot` a state is to be kept: where it ends, and where its last answer begins anew."""
    held = len(slot.tokens)
    marks = [tokens for tokens, _ in states.marks]
    if slot.busy:  # what is read so far of a long prompt
        filed = max(map(state_place, slot.filed), default=0)
        return [place for place in marks[-1:] if place >= filed + STATES_EVERY]
    return sorted({*marks[-1:], states.place(held)})


def open_prompt_cache(
    folder: str | Path | None, byte_limit: int, cache: KVCache, identity: Callable[[], bytes]
) -> PromptCache | None:
    """The prompt cache in `folder`; None: there shall be none."""
    if folder is None or byte_limit == 0:
        return None
    files = BlockFiles(Path(folder), byte_limit)
    files.tidy()
    return PromptCache(files, cache, identity)


def check_place(folder: object, byte_limit: object) -> None:
    """Raise InvalidRequestError where `open_prompt_cache` cannot use these."""
    check_path("prompt_cache", folder, "the path of a folder")
    check_number("prompt_cache_bytes", byte_limit, 0, integer=True)


def stamp_of(path: object, config: NetworkConfig) -> bytes:
    """What tells a model and the code that runs it from others, where the bits of a few tokens would not.

    Such as experts that these did not need, the window of attention, and what was mended in a later version.
    """
    code = Path(__file__).parent
    parts = (__version__, torch.__version__, config, _facts([*code.glob("*.py"), *code.glob("native/*")]))
    if not isinstance(path, str | Path):
        return repr(parts).encode()
    place = Path(path).expanduser()
    return repr((*parts, _facts(place.iterdir() if place.is_dir() else [place]))).encode()


def _facts(files: Iterable[Path]) -> list[tuple[str, int, int]]:
    """The names, sizes and times of files, wherever they lie."""
    try:
        stats = [(file.name, file.stat()) for file in files if file.is_file()]
    except OSError:  # deleted a moment after it was loaded
        return []
    return sorted((name, facts.st_size, facts.st_mtime_ns) for name, facts in stats)


def probe_tokens(vocab_size: int) -> list[int]:
    """Tokens whose keys and values tell one network and its kernels from another."""
    return [(7919 * i + 1) % vocab_size for i in range(_PROBED)]


def bits_of(slot: Slot, stamp: bytes) -> bytes:
    """A digest of the first block in `slot`, and of `stamp`."""
    return hashlib.blake2b(slot.block(0, BLOCK) + stamp, digest_size=16).digest()
