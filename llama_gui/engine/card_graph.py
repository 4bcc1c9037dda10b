"""A step in which every conversation writes one token, recorded as a CUDA graph for each of some numbers of them.

A card reads the weights of a small model in less than a millisecond, and Python needs several to launch the kernels of
a step one by one. So, as in vLLM and nano-vllm, the launches are recorded. Where a row's keys and values lie is an
input of our kernels (`Places`), so a recording serves any conversations, of any length: it is made once, and a step of
fewer conversations is filled with rows that nobody reads.
"""

import logging
from collections.abc import Callable, Sequence

import numpy as np
import torch

from llama_gui.engine.card_experts import CardExperts
from llama_gui.engine.card_kernels import CardKernels, Places
from llama_gui.engine.decode_graph import CudaRecorder, DecodeGraphs, Recorder, is_drawn
from llama_gui.engine.experts import Experts
from llama_gui.engine.layers import CardSpans
from llama_gui.engine.llama import Llama, Segment
from llama_gui.engine.ranking import RankedRow, Ranker

_FEW = (1, 2, 4, 8)
_STRIDE = 16
_MOST_ROWS = 256
"""More conversations than that run without recordings: then launching takes less of the time."""

_log = logging.getLogger(__name__)


def rows_for(count: int) -> int:
    """The rows of the recording in which `count` conversations run."""
    return next((few for few in _FEW if count <= few), -(-count // _STRIDE) * _STRIDE)


class CardStep:
    """A step of a fixed number of rows, whose inputs and results keep their addresses."""

    def __init__(self, network: Llama, kernels: CardKernels, ranker: Ranker, rows: int) -> None:
        self._network = network
        self._ranker = ranker
        config, device = network.config, network.device
        shape = (config.num_hidden_layers, config.num_key_value_heads, 1, config.head_dim)
        self._scratch = torch.zeros(2, *shape, dtype=network.cache_dtype, device=device)  # for rows that nobody reads
        self._nobody = (0, 0, *(half.data_ptr() for half in self._scratch), 1)
        # What a step is given, in one piece of memory that the card fetches by itself: ids, places, temperatures and
        # the positions by which rows are rotated.
        self._given = torch.zeros(7, rows, dtype=torch.int64, pin_memory=device.type == "cuda")
        self._numbers = self._given.to(device)
        places = Places(*self._numbers[1:5])
        self._spans = CardSpans(kernels, places, rows)
        # kept here, because `rotary` replaces its table when it needs a longer one
        self._tables = [rotary.table(config.max_position_embeddings) for rotary in network.rotaries]
        self.logits = torch.empty(rows, config.vocab_size, device=device)
        self.ranks = torch.empty(rows, ranker.width(config.vocab_size), device=device)

    def set(self, segments: Sequence[Segment], temperatures: Sequence[float]) -> None:
        """What is to be run next: at most as many segments as there are rows."""
        spare = self._given.shape[1] - len(segments)
        numbers = [(segment.token_ids[0], *segment.places[0]) for segment in segments] + [self._nobody] * spare
        given = self._given.numpy()
        given[:5] = np.array(numbers, np.int64).T
        given[5].view(np.float64)[:] = [*temperatures, *[1.0] * spare]
        given[6] = [*(segment.rotated_by for segment in segments), *[0] * spare]
        self._numbers.copy_(self._given, non_blocking=True)  # whoever called last waited for the results

    def run(self) -> None:
        """Write keys and values, `logits` (float32 ``[rows, vocab]``) and `ranks`."""
        network, ids, positions = self._network, self._numbers[0], self._numbers[6]
        turns = [table.of_rows(positions) for table in self._tables]
        x = network.look_up(ids)
        for layer, block in enumerate(network.blocks):
            x = block(x, layer, turns[block.rope], self._spans)
        self.logits.copy_(network.logits(network.norm(x)))
        temperatures = self._numbers[5].view(torch.float64).float().unsqueeze(1)
        self.ranks.copy_(self._ranker.rank(self.logits, temperatures))


class CardGraphs:
    """Runs steps of drawn tokens from recordings, which are made when they are first needed."""

    def __init__(self, network: Llama, kernels: CardKernels, ranker: Ranker, recorder: Recorder) -> None:
        self._network = network
        self._kernels = kernels
        self._ranker = ranker
        self._recorder = recorder
        self._steps: dict[int, tuple[CardStep, Callable[[], None]]] = {}
        self._can_record = True

    def run(self, segments: Sequence[Segment], temperatures: Sequence[float]) -> list[RankedRow] | None:
        """The logits behind each segment, valid until the next call; None: the step must run without a recording.

        The slots have room for the token.
        """
        if not self._can_record or len(segments) > _MOST_ROWS or not all(map(is_drawn, segments)):
            return None
        rows = rows_for(len(segments))
        found = self._steps.get(rows)
        if found is None:
            step = CardStep(self._network, self._kernels, self._ranker, rows)
            step.set(segments, temperatures)
            try:
                self._steps[rows] = step, self._recorder(step.run)  # which has run it, too
            except RuntimeError as error:
                _log.warning("Steps cannot be recorded on this device (%s); each is launched anew.", error)
                self._can_record = False
                self._steps.clear()
                return None
        else:
            step, replay = found
            step.set(segments, temperatures)
            replay()
        count = len(segments)
        return self._ranker.rows(step.logits[:count], step.ranks[:count])


def graphs_of(network: Llama, ranker: Ranker) -> CardGraphs | DecodeGraphs | None:
    """The recordings for the device of `network`; None: launches are too cheap there to be worth it.

    None for mixtures of experts, too, unless they are `CardExperts`: else what is launched depends on where rows go;
    and for Gemma 4, of whose tokens a part is read from the disk.
    """
    mixed = [block.mlp for block in network.blocks if isinstance(block.mlp, Experts)]
    if network.config.gemma4 is not None or network.config.recurrent is not None:
        return None
    if network.device.type != "cuda" or not all(isinstance(experts, CardExperts) for experts in mixed):
        return None
    if network.card is None:
        return DecodeGraphs(network, CudaRecorder())
    return CardGraphs(network, network.card, ranker, CudaRecorder())
