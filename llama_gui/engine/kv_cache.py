"""Keys and values of past tokens: one contiguous slot for each conversation, reused by longest common prefix.

The design follows llama.cpp's server (slots) rather than vLLM (pages): one person has few conversations, truncating a
slot costs nothing, and attention reads it without a gather.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from llama_gui.engine.attention_blocks import padded
from llama_gui.engine.device import kv_byte_budget, promises_memory
from llama_gui.engine.huge_pages import keep_small_pages
from llama_gui.engine.layer_states import SlotStates, StateShape
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.errors import GenerationError

KEY_BLOCK = 512
"""Slots hold a multiple of this many tokens, which is the block of keys that attention works on."""

_TOGETHER = 64
"""Tokens whose keys, or values, lie together where our kernels multiply them so, see `NativeKernels.keeps_blocks`:
bytes of one are among those of the others, and only these kernels can tell them apart."""

_SPARE = 2
"""On the CPU rows that no token has reached take no memory, so a slot has those of the longest conversation from the
beginning: a full one must be copied, which takes longer than a step. Where that is not known, or the system counts what
it has promised, a slot has this many times the rows that it needs."""
_GROWTH = 1 + 1 / 16
"""On other devices all rows take memory at once: a full slot grows by this factor, and the copy is quick."""
_STRIDE = 256
_MIN_COPY = 16  # a shorter shared prefix is cheaper to compute than to copy
_MOST_IDLE = 256
"""More conversations than that are not kept, whatever memory there is: each request looks through all of them."""


KeptPart = tuple[Tensor, Tensor]
"""Keys and values of layers whose heads are alike."""


class Slot:
    """One conversation's keys and values. `tokens` are the ids whose rows are computed, in order.

    `parts`: pairs of keys and values ``[layers, kv_heads, capacity, kept_width]``, as a rule one, see `CacheLayout`;
    rows from ``len(tokens)`` on have no meaning.
    Rows below `finite` hold finite numbers: attention computes with masked keys, too, and 0 times NaN is NaN. Rows from
    there on were never written; the system has only promised their memory. `taken`: rows that count against the budget.
    `together`: how many rows lie among each other.
    `kept`: `last_used` when all of it was on the disk (`PromptCache`). `asker`: who has said it. `states`: what layers
    without keys hold; None: there are no such layers. `filed`: the names of files with states of it.
    """

    __slots__ = (
        "_row_bytes",
        "asker",
        "busy",
        "filed",
        "finite",
        "kept",
        "key",
        "last_used",
        "parts",
        "set_aside",
        "states",
        "taken",
        "together",
        "tokens",
    )

    def __init__(
        self,
        key: str | None,
        keys: Tensor,
        values: Tensor,
        finite: int | None = None,
        *,
        in_blocks: bool = False,
        others: Sequence[KeptPart] = (),
        states: SlotStates | None = None,
    ) -> None:
        """`finite`: None where all rows are. `in_blocks`: rows lie in blocks of 64, in int8 they always do.

        `others`: further parts.
        """
        self.key = key
        self.states = states
        self.together = _TOGETHER if in_blocks or keys.dtype == torch.int8 else 1
        self.hold([(keys, values), *others], keys.shape[2] if finite is None else finite)
        self.tokens: list[int] = []
        self.busy = False
        self.last_used = 0
        self.set_aside = 0
        self.kept = 0
        self.asker = ""
        self.filed: list[str] = []

    @property
    def capacity(self) -> int:
        """Tokens that fit without growing."""
        return self.keys.shape[2]

    @property
    def keys(self) -> Tensor:
        """Those of the first part."""
        return self.parts[0][0]

    @property
    def values(self) -> Tensor:
        """Those of the first part."""
        return self.parts[0][1]

    @property
    def tensors(self) -> list[Tensor]:
        """Keys and values of all parts."""
        return [tensor for part in self.parts for tensor in part]

    def hold(self, parts: Sequence[KeptPart], finite: int) -> None:
        """Have these rows from now on."""
        self.parts = tuple(parts)
        self._row_bytes = sum(tensor.nbytes for tensor in self.tensors) // self.capacity
        self.finite = self.taken = finite

    @property
    def byte_count(self) -> int:
        """Bytes of the `taken` rows, written or not, and of states."""
        return self._row_bytes * self.taken + self._state_bytes

    @property
    def touched(self) -> int:
        """Bytes that were written, which the system therefore no longer counts as free."""
        return self._row_bytes * self.finite + self._state_bytes

    @property
    def _state_bytes(self) -> int:
        return 0 if self.states is None else self.states.byte_count

    @property
    def claimed(self) -> int:
        """Bytes that no other slot may have: while it is busy, also those that are set aside for its growth."""
        return max(self.byte_count, self.set_aside) if self.busy else self.byte_count

    def extend(self, tokens: Iterable[int]) -> None:
        """The next `tokens` were run, all of the last pass, and count from now on."""
        held = len(self.tokens)
        self.tokens.extend(tokens)
        if self.states is not None:
            self.states.advance(held, len(self.tokens) - held)

    def reach(self, length: int) -> int:
        """How many of its first `length` tokens it can keep, if it forgets those behind."""
        return length if self.states is None else self.states.reach(length, len(self.tokens))

    def truncate(self, length: int) -> None:
        """Forget the tokens from `length` on, and their rows: those of a prompt that was cancelled may be NaN.

        `length`: as `reach` has said.
        """
        if self.states is not None and length < len(self.tokens):
            self.states.go_back(length)
        self.zero(length, len(self.tokens))
        del self.tokens[length:]

    def zero(self, start: int, end: int) -> None:
        """Make the rows from `start` to `end`, behind which nothing counts, finite, whatever was written there.

        But for those of a block that lie among others: nobody reads them before they are written.
        """
        start, end = padded(start, self.together), padded(end, self.together)
        for tensor in self.tensors:
            tensor[:, :, start:end] = 0

    def make_finite(self, tokens: int) -> None:
        """Zero what attention would read beyond the written rows, for the blocks of this many tokens, which fit."""
        end = padded(tokens, KEY_BLOCK)
        if end > self.finite:
            self.zero(self.finite, end)
            self.finite = end

    def block_bytes(self, rows: int) -> int:
        """How many bytes `block` has."""
        return self._row_bytes * rows

    def block(self, start: int, end: int) -> bytes:
        """The bits of these rows, as they lie: for `put_block`. Both are multiples of 64."""
        parts = torch.cat([tensor[:, :, start:end].flatten() for tensor in self.tensors])
        return parts.cpu().view(torch.uint8).numpy().tobytes()

    def put_block(self, start: int, end: int, content: bytearray | memoryview) -> None:
        """Have the rows that `block` returned, in a slot with room for them."""
        places = [tensor[:, :, start:end] for tensor in self.tensors]
        numbers = torch.frombuffer(content, dtype=self.keys.dtype).split([rows.numel() for rows in places])
        for rows, part in zip(places, numbers, strict=True):
            rows.copy_(part.view(rows.shape))

    def copy(self, donor: "Slot", length: int) -> None:
        """Begin as `donor` does: with its first `length` tokens, which fit, and as far as it can `reach`."""
        rows = padded(length, self.together)
        for tensor, other in zip(self.tensors, donor.tensors, strict=True):
            tensor[:, :, :rows] = other[:, :, :rows]
        self.finite = max(self.finite, rows)
        if self.states is not None and donor.states is not None:
            self.states.take(donor.states, length, len(donor.tokens))
        self.tokens = donor.tokens[:length]


def kept_width(head_dim: int, dtype: torch.dtype) -> int:
    """Numbers of `dtype` that a head of a token takes: in int8 each has a scale of its own behind it, in float32."""
    return head_dim + (torch.float32.itemsize if dtype == torch.int8 else 0)


def token_bytes(config: NetworkConfig, dtype: torch.dtype) -> int:
    """Bytes of one token's keys and values."""
    parts = config.cache_layout.parts
    numbers = sum(part.layers * part.kv_heads * kept_width(part.head_dim, dtype) for part in parts)
    return 2 * numbers * dtype.itemsize


def common_prefix(a: list[int], b: list[int]) -> int:
    """How many leading ids two lists share."""
    shorter = min(len(a), len(b))
    start, stride = 0, _MIN_COPY  # most prompts share no more than a common opening
    while start < shorter:  # Python compares lists far faster than we can their ids
        pieces = a[start : start + stride], b[start : start + stride]
        if pieces[0] != pieces[1]:
            return start + next((i for i, (x, y) in enumerate(zip(*pieces, strict=False)) if x != y), shorter - start)
        start, stride = start + stride, _STRIDE
    return shorter


def _usable(slot: Slot, tokens: list[int], most: int) -> int:
    """How many of `tokens` are the first of `slot`; where it cannot reach every place, `most` at most."""
    shared = common_prefix(slot.tokens, tokens)
    return shared if slot.states is None else slot.reach(min(shared, most))


class KVCache:
    """All slots, under one budget of bytes, and less when memory is short. Only the engine's thread touches it.

    Idle slots stay until their memory is needed, or they are too many; the least recently used goes first.
    """

    def __init__(
        self,
        config: NetworkConfig,
        dtype: torch.dtype,
        device: torch.device,
        byte_budget: int,
        longest: int | None = None,
        *,
        in_blocks: bool = False,
        states: StateShape | None = None,
    ) -> None:
        """`longest`: the most tokens of a conversation; None: nobody knows. `in_blocks`: of 64 tokens, see `Llama`.

        `states`: what layers without keys hold of each conversation; None: there are no such layers.
        """
        self._in_blocks = in_blocks
        self._states = states
        self._shapes = [
            (part.layers, part.kv_heads, kept_width(part.head_dim, dtype)) for part in config.cache_layout.parts
        ]
        self._token_bytes = token_bytes(config, dtype)
        self._dtype = dtype
        self._device = device
        self._is_lazy = device.type == "cpu"
        self.byte_budget = byte_budget
        self._reserved = 0  # rows that each slot has at least
        if longest is not None and self._is_lazy and promises_memory():
            self._reserved = padded(min(longest, byte_budget // self._token_bytes), KEY_BLOCK)
        self._slots: list[Slot] = []
        self._clock = itertools.count(1)

    @property
    def byte_count(self) -> int:
        """Bytes of all slots, without rows that no token has reached and that are not taken."""
        return sum(slot.byte_count for slot in self._slots)

    def bytes_for(self, tokens: int) -> int:
        """Bytes of a slot with room for `tokens`."""
        states = 0 if self._states is None else self._states.least_bytes
        return self._token_bytes * padded(tokens, KEY_BLOCK) + states

    def has_room_for_mark(self) -> bool:
        """Whether one more state may be kept, of a conversation as it was, without another having to go."""
        return self._states is not None and self.byte_count + self._states.byte_count <= self._limit()

    def has_room(self, tokens: int) -> bool:
        """Whether `tokens` more fit once every idle slot is gone."""
        busy = sum(slot.claimed for slot in self._slots if slot.busy)
        return busy + self.bytes_for(tokens) <= self._limit()

    def acquire(self, key: str | None, tokens: list[int], room: int = 0, asker: str = "") -> Slot:
        """A busy slot that holds the longest prefix of `tokens` that any slot has, but never all of them.

        `key` names the conversation. Its own slot is truncated to the common prefix; a new one starts with a copy of
        the longest prefix that another holds (a shared system prompt, or the conversation it was forked from). `room`:
        tokens that it may come to hold; their memory is set aside until it is released. `asker`: nothing that another
        has said is taken, because one could find it out by what need not be read (vLLM's `cache_salt`).

        Raises:
            GenerationError: there is no memory for it.
        """
        limit = len(tokens) - 1  # the last token is always run, because its logits are needed
        prefixes = {slot: _usable(slot, tokens, limit) for slot in self._slots if slot.asker == asker}
        slot = self._own_slot(key, prefixes)
        donor, shared = self._best_donor(prefixes, limit)
        own = min(prefixes[slot], limit) if slot else 0
        slot = slot or self._new_slot(key, len(tokens), keep=donor)
        slot.asker = asker
        if donor is not None and donor is not slot and shared >= own + _MIN_COPY:
            self._take(slot, len(tokens))
            slot.truncate(slot.reach(shared))
            slot.copy(donor, shared)
        else:
            slot.truncate(own)
        slot.set_aside = self.bytes_for(room)
        slot.busy = True  # last: if preparing it failed, nobody would release it
        slot.last_used = next(self._clock)
        return slot

    def unkept(self) -> list[Slot]:
        """The idle slots that were used since they were `kept`, the last used first."""
        slots = [slot for slot in self._slots if not slot.busy and slot.kept != slot.last_used]
        return sorted(slots, key=lambda slot: -slot.last_used)

    def blank(self, tokens: int) -> Slot:
        """A busy slot with room for `tokens`, for nobody's conversation: `drop` it afterwards.

        Raises:
            GenerationError: there is no memory for it.
        """
        slot = self._new_slot(None, tokens, keep=None)
        slot.make_finite(tokens)
        slot.busy = True
        return slot

    def release(self, slot: Slot) -> None:
        """The slot is not written any more; its contents can be reused."""
        slot.busy = False
        slot.taken = slot.finite  # fewer, if the prompt was cancelled
        slot.last_used = next(self._clock)
        idle = [other for other in self._slots if not other.busy]
        if len(idle) > _MOST_IDLE:
            self.drop(min(idle, key=lambda other: other.last_used))

    def fork(self, key: str, new_key: str) -> int:
        """Copy the conversation `key` to `new_key`; how many tokens were copied, 0 when the cache does not hold it.

        Raises:
            GenerationError: there is no memory for it.
        """
        donor = max((s for s in self._slots if s.key == key), key=lambda s: s.last_used, default=None)
        if donor is None or not donor.tokens:
            return 0
        for slot in [s for s in self._slots if s.key == new_key and not s.busy]:
            self.drop(slot)
        slot = self._new_slot(new_key, len(donor.tokens), keep=donor)
        slot.asker = donor.asker
        slot.copy(donor, len(donor.tokens))
        slot.last_used = next(self._clock)
        return len(slot.tokens)

    def drop(self, slot: Slot) -> None:
        """Free a slot at once, for example because its rows may hold NaN."""
        if slot in self._slots:
            self._slots.remove(slot)

    def ensure_capacity(self, slot: Slot, tokens: int) -> None:
        """Let `slot` hold `tokens`, before a step that writes the last of them; it grows geometrically.

        Raises:
            GenerationError: there is no memory for it.
        """
        self._take(slot, tokens)
        slot.make_finite(tokens)

    def clear(self) -> None:
        """Free every slot."""
        self._slots.clear()

    def _take(self, slot: Slot, tokens: int) -> None:
        """Get memory and rows for `tokens` in `slot`."""
        exact = padded(tokens, KEY_BLOCK)
        if exact <= slot.taken:
            return
        grows = tokens > slot.capacity
        roomy = padded(int(slot.capacity * _GROWTH), KEY_BLOCK) if grows and not self._is_lazy else exact
        sizes = sorted({max(roomy, exact), exact}, reverse=True)
        rows = next((n for n in sizes if self._make_room(self._token_bytes * (n - slot.taken), keep=slot)), None)
        if rows is None:
            raise self._no_memory(tokens)
        if grows:
            grown = self._slot_of(None, rows, states=None)
            grown.copy(slot, len(slot.tokens))
            slot.hold(grown.parts, grown.finite)
        slot.taken = rows

    @staticmethod
    def _own_slot(key: str | None, prefixes: dict[Slot, int]) -> Slot | None:
        """The idle slot of this conversation; for a nameless one the idle nameless slot it continues."""
        idle = [slot for slot in prefixes if not slot.busy and slot.key == key]
        if key is None:
            idle = [slot for slot in idle if slot.tokens and prefixes[slot] * 2 > len(slot.tokens)]
        return max(idle, key=prefixes.__getitem__, default=None)

    @staticmethod
    def _best_donor(prefixes: dict[Slot, int], limit: int) -> tuple[Slot | None, int]:
        shared = [(min(prefix, limit), slot.last_used, slot) for slot, prefix in prefixes.items()]
        best = max(shared, key=lambda item: item[:2], default=None)
        return (best[2], best[0]) if best and best[0] >= _MIN_COPY else (None, 0)

    def _new_slot(self, key: str | None, tokens: int, keep: Slot | None) -> Slot:
        if not self._make_room(self.bytes_for(tokens), keep) and not self._make_room(self.bytes_for(tokens), None):
            raise self._no_memory(tokens)
        rows = padded(tokens, KEY_BLOCK)
        states = None if self._states is None else SlotStates(self._states, self._device)
        slot = self._slot_of(key, rows, states)
        slot.taken = rows
        self._slots.append(slot)
        return slot

    def _slot_of(self, key: str | None, rows: int, states: SlotStates | None) -> Slot:
        ((keys, values), *others), finite = self._allocate(rows)
        return Slot(key, keys, values, finite, in_blocks=self._in_blocks, others=others, states=states)

    def _make_room(self, byte_count: int, keep: Slot | None) -> bool:
        """Free idle slots, least recently used first, until `byte_count` more fit; none if they never would."""
        staying = [s for s in self._slots if s.busy or s is keep]
        promised = sum(s.byte_count if s is keep else s.claimed for s in staying)
        held, limit = sum(s.byte_count for s in staying), self._limit()
        if promised + byte_count > self.byte_budget or held + byte_count > limit:
            return False
        idle = sorted((s for s in self._slots if not s.busy and s is not keep), key=lambda s: s.last_used)
        while self.byte_count + byte_count > limit and idle:
            self.drop(idle.pop(0))
        return True

    def _limit(self) -> int:
        """Bytes that all slots together may take now: other models and programs may have taken some since loading."""
        return min(self.byte_budget, kv_byte_budget(self._device, sum(slot.touched for slot in self._slots)))

    def _allocate(self, rows: int) -> tuple[list[KeptPart], int]:
        """Keys and values of all parts, and up to which row they are finite.

        Raises:
            GenerationError: the system has no memory for them.
        """
        if not self._is_lazy:
            return self._make(torch.zeros, rows), rows
        made = self._make_lazy(rows)
        for part in made:
            for tensor in part:
                keep_small_pages(tensor)
        return made, 0

    def _make_lazy(self, rows: int) -> list[KeptPart]:
        """As many rows as the system has addresses for, up to the longest conversation."""
        for roomy in (max(rows, self._reserved or rows * _SPARE), rows * _SPARE):
            with contextlib.suppress(GenerationError):
                return self._make(torch.empty, roomy)
        return self._make(torch.empty, rows)

    def _make(self, make: Callable[..., Tensor], rows: int) -> list[KeptPart]:
        def tensor(layers: int, kv_heads: int, width: int) -> Tensor:
            return make((layers, kv_heads, rows, width), dtype=self._dtype, device=self._device)

        try:
            return [(tensor(*shape), tensor(*shape)) for shape in self._shapes]
        except (RuntimeError, MemoryError) as error:
            raise self._no_memory(rows) from error

    def _no_memory(self, tokens: int) -> GenerationError:
        need, have = self.bytes_for(tokens) / 2**20, self._limit() / 2**20
        return GenerationError(
            f"There is not enough memory for a conversation of {tokens} tokens: it needs {need:.0f} MB, and all "
            f"conversations together may use {have:.0f} MB. Stop another answer, or start a new chat."
        )
