"""A step in which every conversation writes one token, as a CUDA graph of torch's kernels.

Only where there is no Triton for our own (on Windows): `card_graph.py` records steps that do not depend on slots.

A card reads the weights of a small model in a millisecond, and Python needs several to launch the few hundred kernels
of a step one by one. So, as nano-vllm and vLLM do, the launches are recorded. They have a graph for each batch size,
over pages. Ours is for specific slots, whose addresses stay the same while no conversation joins, leaves or outgrows
its slot: it is recorded once a few steps had the same slots, and dropped when a step has others.

The inputs of a replay (ids, positions) lie in tensors with fixed addresses. Nothing in the graph depends on a length:
keys and values are written at an index from a tensor, and the mask is computed from the positions.
"""

import logging
import math
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from llama_gui.engine.attention_blocks import padded
from llama_gui.engine.kv_cache import Slot
from llama_gui.engine.layers import Span
from llama_gui.engine.llama import Llama, Segment

_STEPS_BEFORE = 4
"""Recording costs about three steps, and somebody often joins soon after somebody else."""

Key = tuple[tuple[int, ...], ...]
"""For each slot of a step: the addresses of its keys and values, its capacity, and how many keys attention sees."""

_log = logging.getLogger(__name__)


class Recorder(Protocol):
    """Records a function without arguments or result, and returns one that replays it on the device."""

    def __call__(self, run: Callable[[], None]) -> Callable[[], None]:
        """`run` reads and writes tensors of fixed place only; it is run once, too."""
        ...


class CudaRecorder:
    """Records what `run` launches. Recordings share their memory with the first that is still there."""

    def __init__(self) -> None:
        self._graphs: weakref.WeakSet[torch.cuda.CUDAGraph] = weakref.WeakSet()

    def __call__(self, run: Callable[[], None]) -> Callable[[], None]:
        """Raises RuntimeError when something in `run` cannot be recorded."""
        run()  # libraries set themselves up at first use, which cannot be recorded
        graph = torch.cuda.CUDAGraph()
        pool = next((other.pool() for other in self._graphs), None)  # torch forgets one whose last graph is gone
        # Another thread may be loading a model: only what this one does is recorded.
        with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
            run()
        self._graphs.add(graph)
        return graph.replay


@dataclass(frozen=True, slots=True)
class FixedSpan(Span):
    """One row whose place in the cache is in a tensor: `position` int64 ``[1]``."""

    position: Tensor

    def write(self, layer: int, keys: Tensor, values: Tensor) -> None:
        """See `Span.write`."""
        self.keys[layer][0].index_copy_(1, self.position, keys.transpose(0, 1))
        self.values[layer][0].index_copy_(1, self.position, values.transpose(0, 1))


class FixedStep:
    """A step of one row for each of some slots, repeatable: its inputs, caches and logits keep their addresses."""

    def __init__(self, network: Llama, segments: Sequence[Segment]) -> None:
        self._network = network
        self._slots = [(s.slot.keys, s.slot.values) for s in segments]
        self._shown = [_shown(segment, network) for segment in segments]
        self._ids = torch.zeros(len(segments), dtype=torch.int64, device=network.device)
        self._positions = torch.zeros_like(self._ids)
        # kept here, because `rotary` replaces its table when it needs a longer one
        self._tables = [rotary.table(max(self._shown)) for rotary in network.rotaries]
        self._keys = torch.arange(max(self._shown), device=network.device)
        self.logits = torch.empty(len(segments), network.config.vocab_size, device=network.device)

    def set(self, segments: Sequence[Segment]) -> None:
        """What is to be run next; slots and shown keys are those it was made for."""
        tokens = [(segment.token_ids[0], len(segment.slot.tokens)) for segment in segments]
        both = torch.tensor(tokens, dtype=torch.int64).t()
        self._ids.copy_(both[0])
        self._positions.copy_(both[1])

    def let_go(self) -> None:
        """Release the slots: `run` is recorded, and replayed only while their addresses are the same."""
        self._slots.clear()

    def run(self) -> None:
        """Write keys and values, and `logits`: float32 ``[slots, vocab]``."""
        turns = [table.of_rows(self._positions) for table in self._tables]
        x = self._network.look_up(self._ids)
        spans = self._spans()
        for layer, block in enumerate(self._network.blocks):
            x = block(x, layer, turns[block.rope], spans)
        self.logits.copy_(self._network.logits(self._network.norm(x)))

    def _spans(self) -> list[Span]:
        window = self._network.config.sliding_window
        spans: list[Span] = []
        for row, ((keys, values), shown) in enumerate(zip(self._slots, self._shown, strict=True)):
            position = self._positions[row : row + 1]
            mask = self._mask(position, shown, None)
            window_mask = mask if window is None else self._mask(position, shown, window)
            seen = [part[:, None, :, :shown].unbind() for part in (keys, values)]
            spans.append(FixedSpan(row, 1, seen[0], seen[1], (), (), mask, window_mask, position))
        return spans

    def _mask(self, position: Tensor, shown: int, window: int | None) -> Tensor:
        keys = self._keys[:shown]
        hidden = keys > position
        if window is not None:
            hidden |= keys <= position - window
        return torch.zeros_like(keys, dtype=self._network.dtype).masked_fill_(hidden, -math.inf).unsqueeze(0)


class DecodeGraphs:
    """Replays a step of drawn tokens from a recording, where there is one for it."""

    def __init__(self, network: Llama, recorder: Recorder) -> None:
        self._network = network
        self._recorder = recorder
        self._key: Key | None = None
        self._times = 0
        self._step: FixedStep | None = None
        self._replay: Callable[[], None] | None = None
        self._can_record = True

    def run(self, segments: Sequence[Segment]) -> Tensor | None:
        """Float32 logits ``[segments, vocab]``, valid until the next call; None: the step must run without a graph.

        The slots have room for the token.
        """
        are_usual = all(is_drawn(segment) and segment.positions is None for segment in segments)
        if not self._can_record or not are_usual:
            return None
        key = tuple((*_place(segment.slot), _shown(segment, self._network)) for segment in segments)
        if key != self._key:
            self.forget()
            self._key = key
        self._times += 1
        if self._times <= _STEPS_BEFORE:
            return None
        if self._step is None or self._replay is None:
            return self._record(segments)
        self._step.set(segments)
        self._replay()
        return self._step.logits

    def forget(self) -> None:
        """Let go of the recording and of what it holds."""
        self._key, self._times, self._step, self._replay = None, 0, None, None

    def _record(self, segments: Sequence[Segment]) -> Tensor | None:
        step = FixedStep(self._network, segments)
        step.set(segments)
        try:
            replay = self._recorder(step.run)
        except RuntimeError as error:
            _log.warning("Steps cannot be recorded on this device (%s); each is launched anew.", error)
            self._can_record = False
            self.forget()
            return None
        step.let_go()  # a conversation may be evicted, and its memory given to others
        self._step, self._replay = step, replay
        return step.logits


def is_drawn(segment: Segment) -> bool:
    """Whether it is one token of an answer."""
    return not segment.is_prompt and len(segment.token_ids) == 1 and segment.logits == 1


def _place(slot: Slot) -> tuple[int, int, int]:
    return slot.keys.data_ptr(), slot.values.data_ptr(), slot.capacity


def _shown(segment: Segment, network: Llama) -> int:
    return padded(len(segment.slot.tokens) + 1, network.attention_blocks.keys)
