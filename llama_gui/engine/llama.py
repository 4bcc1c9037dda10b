"""The network of Llama and its relatives, top to bottom, over the rows of many conversations at once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from llama_gui.engine.attention_blocks import causal_mask, soften_logits
from llama_gui.engine.card_kernels import CardKernels, Places
from llama_gui.engine.experts import Experts
from llama_gui.engine.gemma4_mixture import Gemma4Mixture
from llama_gui.engine.int8_mlp import Int8MLP
from llama_gui.engine.kv_cache import KVCache, Slot
from llama_gui.engine.layer_inputs import LayerInput, LayerInputs
from llama_gui.engine.layer_states import StateShape, StateSpan, StateSpans
from llama_gui.engine.layers import MLP, Attention, CardSpans, RMSNorm, Span, Spans
from llama_gui.engine.linear import Linear, RowPlan
from llama_gui.engine.native_attention import NativeSpans
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_layer import NativeLayer, NativeLayers
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.recurrent import Recurrent
from llama_gui.engine.rotary import Rotary, Turns
from llama_gui.engine.token_table import TokenTable
from llama_gui.engine.vision.placing import is_key


@dataclass(frozen=True, slots=True)
class Segment:
    """Successive tokens of one conversation in a step: a piece of a prompt, or one drawn token.

    They are the positions from ``len(slot.tokens)`` on. `logits`: of how many of the last rows. `is_prompt`: they are
    read and not drawn; such segments come last in a step. `images`: ``[rows, hidden]``, what is read in the place of
    those `token_ids` that are keys of images, in order; None: there are none. Where these have more numbers, the next
    `hidden` are added to them behind the first layer, and so on (DeepStack, https://arxiv.org/abs/2406.04334).
    `is_whole`: they are all of an image, or what is left of it, and see each other. `positions`: see `grid_positions`.
    `cuts`: behind so many of them states are kept, see `SlotStates.pieces`. `guesses`: so many of the last rows are
    some.
    """

    slot: Slot
    token_ids: Sequence[int]
    logits: int = 1
    is_prompt: bool = False
    images: Tensor | None = None
    is_whole: bool = False
    positions: Tensor | None = None
    cuts: Sequence[int] = ()
    guesses: int = 0

    @property
    def rotated_by(self) -> int:
        """The position by which its first token is rotated, where that is drawn."""
        return len(self.slot.tokens) if self.positions is None else int(self.positions[0, 0])

    @property
    def places(self) -> list[tuple[int, int, int, int]]:
        """Where its tokens belong, see `Places`."""
        slot, start = self.slot, len(self.slot.tokens)
        there = slot.keys.data_ptr(), slot.values.data_ptr(), slot.capacity
        return [(position, *there) for position in range(start, start + len(self.token_ids))]


FeedForward = MLP | Int8MLP | Experts | Gemma4Mixture


@dataclass(frozen=True, slots=True)
class Block:
    """One layer. `native`: all of it in one call, where our own kernels can do that. `mlp`: None where it has none.

    `rope`: which of the network's `rotaries` rotates its heads. `post_norms`: of what attention and MLP have made, in
    families that norm it before it is added. `attention_norm`, `mlp_norm`: None in families that norm nothing before.
    `input`: what it does with an input of its own, behind all that; `scalar`: by which everything is multiplied then.
    """

    attention_norm: RMSNorm | None
    attention: Attention | Recurrent
    mlp_norm: RMSNorm | None
    mlp: FeedForward | None
    native: NativeLayer | None = None
    rope: int = 0
    post_norms: tuple[RMSNorm, RMSNorm] | None = None
    input: LayerInput | None = None
    scalar: float = 1.0

    @property
    def linears(self) -> list[Linear]:
        """All of them, in the order in which rows go through."""
        besides = [] if self.input is None else self.input.linears
        return [*self.attention.linears, *([] if self.mlp is None else self.mlp.linears), *besides]

    def __call__(
        self,
        x: Tensor,
        layer: int,
        turns: Turns,
        spans: Spans,
        given: Tensor | None = None,
        states: StateSpans | None = None,
    ) -> Tensor:
        """``[rows, hidden] -> [rows that attend, hidden]``; `x` may be changed.

        `given`: the inputs of all layers ``[rows that attend, layers * width]``, where layers have some. `states`: for
        layers without keys.
        """
        if self.native is not None and isinstance(spans, NativeSpans):
            return self.native(x, layer, turns, spans, given, states)
        return self.finish(x, self.attend(x, layer, turns, spans, states), layer, given)

    def attend(self, x: Tensor, layer: int, turns: Turns, spans: Spans, states: StateSpans | None = None) -> Tensor:
        """The first part of it, see `Attention.attend` and `Recurrent.attend`."""
        normed = _normed(x, self.attention_norm)
        if isinstance(self.attention, Recurrent):
            assert states is not None
            return self.attention.attend(normed, states)
        return self.attention.attend(normed, layer, turns, spans)

    def finish(self, x: Tensor, seen: Tensor, layer: int = 0, given: Tensor | None = None) -> Tensor:
        """The rest, of any rows: ``[rows, hidden]``, and what `attend` made of them."""
        x = self._fed(x, seen)
        if self.input is not None and given is not None:
            x = self.input(x, given[:, layer * self.input.width :][:, : self.input.width])
        return x if self.scalar == 1 else x * self.scalar

    def _fed(self, x: Tensor, seen: Tensor) -> Tensor:
        if self.mlp is None:
            return x + self.attention.out(seen)
        if self.post_norms is None and self.mlp_norm is not None:
            x, normed = self.mlp_norm.of_sum(x, self.attention.out(seen))
            return x + self._made(normed, x)
        if self.post_norms is None:
            x = x + self.attention.out(seen)
            return x + self._made(x, x)
        x = x + self.post_norms[0](self.attention.out(seen))
        return x + self.post_norms[1](self._made(_normed(x, self.mlp_norm), x))

    def _made(self, normed: Tensor, x: Tensor) -> Tensor:
        """By the feed-forward part, of rows as they are and as its norm has made them."""
        assert self.mlp is not None
        return self.mlp(normed, x) if isinstance(self.mlp, Gemma4Mixture) else self.mlp(normed)


@dataclass(frozen=True, slots=True)
class Projections:
    """What leads into a network that guesses for another, and out of it; see `Assistant` and `MtpLayer`.

    `norms`: of an embedding and of a row, before they are joined.
    """

    before: Linear
    behind: Linear | None = None
    norms: tuple[RMSNorm, RMSNorm] | None = None

    @property
    def linears(self) -> list[Linear]:
        """Those that there are."""
        return [self.before] if self.behind is None else [self.before, self.behind]


_FEW_ROWS = 16
"""Up to this many rows a pass goes through all layers in one call: it is too short to be worth cancelling."""


class PassCancelled(Exception):  # noqa: N818 - nothing went wrong
    """Nobody waits for the result of this pass any more."""


class Llama:
    """Embedding, blocks, norm and vocabulary projection. All rows share the linears, each segment attends alone."""

    def __init__(
        self,
        config: NetworkConfig,
        embedding: TokenTable,
        blocks: Sequence[Block],
        norm: RMSNorm,
        head: Linear,
        plan: RowPlan | None = None,
        kernels: NativeKernels | None = None,
        cache_dtype: torch.dtype | None = None,
        card: CardKernels | None = None,
        layer_inputs: LayerInputs | None = None,
        projections: Projections | None = None,
    ) -> None:
        """`kernels`: for attention, in place of torch's. `cache_dtype`: of keys and values; None: that of the rest.

        `card`: our kernels for cards, where they are. `layer_inputs`: makes what each layer gets besides.
        `projections`: those of one that guesses for another.
        """
        self.projections = projections
        self.layer_inputs = layer_inputs
        layout = config.cache_layout
        self._places = None if layout.is_even else layout.places
        self.card = card
        self._plan = plan
        self._kernels = kernels
        self._cache_dtype = cache_dtype
        self.config = config
        self.embedding = embedding
        self.blocks = tuple(blocks)
        self.norm = norm
        self.head = head
        attending = (block.attention for block in self.blocks)
        self.attention_blocks = next(one.blocks for one in attending if isinstance(one, Attention))
        ropes = zip(config.ropes, config.rope_widths, strict=True)
        self.rotaries = [Rotary(width, rope, self.dtype, self.device) for rope, width in ropes]
        """Those of the config, followed by one for layers that know no positions, if there are any."""
        if config.unrotated_layers:
            self.rotaries.append(Rotary.still(config.head_dim, config.rope, self.dtype, self.device))
        self._layers = self._in_one_call()
        self.like = norm.weight.new_empty(0, dtype=self.dtype)
        """Empty, of the dtype and on the device of the activations."""

    @property
    def dtype(self) -> torch.dtype:
        """Of the activations."""
        return self.norm.dtype

    @property
    def cache_dtype(self) -> torch.dtype:
        """Of keys and values."""
        return self._cache_dtype or self.dtype

    @property
    def cache_in_blocks(self) -> bool:
        """Whether keys and values lie in blocks of 64 tokens, of which a slot copies whole ones."""
        return self._kernels is not None and self._kernels.keeps_blocks(self.cache_dtype, self.config.head_dim)

    def new_cache(self, byte_budget: int, longest: int | None = None) -> KVCache:
        """A cache as this network reads it. `longest`: the most tokens of a conversation; None: nobody knows."""
        in_blocks = self.cache_in_blocks
        recurrent = self.config.recurrent
        states = None if recurrent is None else StateShape.of(recurrent)
        room = byte_budget, longest
        return KVCache(self.config, self.cache_dtype, self.device, *room, in_blocks=in_blocks, states=states)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.embedding.rows.device

    @property
    def linears(self) -> list[Linear]:
        """Every linear, the vocabulary projection last."""
        inner = [linear for block in self.blocks for linear in block.linears]
        besides = [] if self.layer_inputs is None else [self.layer_inputs.projection]
        if self.projections is not None:
            besides += self.projections.linears
        return [*besides, *inner, self.head]

    @property
    def weight_bytes(self) -> int:
        """Bytes of all weights in memory."""
        linears = sum(linear.weight_bytes for linear in self.linears)
        table = self.embedding.rows.data_ptr()
        is_shared = any(weight.data_ptr() == table for weight in _plain(self.head.packed))
        return linears + (0 if is_shared else self.embedding.weight_bytes)

    def forward(self, segments: Sequence[Segment], is_unwanted: Callable[[], bool] | None = None) -> Tensor:
        """Run `segments`, see `hidden`: float32 logits ``[rows that want them, vocab]``, in their order."""
        return self.logits(self.hidden(segments, is_unwanted))

    def hidden(self, segments: Sequence[Segment], is_unwanted: Callable[[], bool] | None = None) -> Tensor:
        """Run `segments` (of different slots) and write their keys and values; the slots need room for them.

        `is_unwanted` is asked before each layer, of more than a few rows; once it is true, the pass ends with
        `PassCancelled`.

        Returns:
            ``[rows that want logits, hidden]`` behind the last norm. `Slot.tokens` are not changed: the caller adds the
            ids when it accepts the step.
        """
        spans, states = self._spans(segments), self._states(segments)
        ids = [token_id for segment in segments for token_id in segment.token_ids]
        turns = self._turns(segments)
        x, deeper = self._embedded(ids, segments)
        self._plan_rows(sum(len(segment.token_ids) for segment in segments if not segment.is_prompt))
        given = self._given(ids, x)
        wanted = [segment.logits for segment in segments]
        if self._layers is not None and isinstance(spans, NativeSpans) and len(x) <= _FEW_ROWS and not deeper:
            x = self._last_rows(self._layers(x, turns, spans, given, states), segments, wanted)
        else:
            last = self.config.keeping_layers - 1
            for layer, block in enumerate(self.blocks[: last + 1]):
                if is_unwanted is not None and is_unwanted():
                    raise PassCancelled
                if layer < last:
                    x = block(x, layer, turns[block.rope], spans, given, states)
                else:
                    x = self._last_block(x, turns[block.rope], spans, segments, wanted, given, states)
                if layer < len(deeper):
                    places, rows = deeper[layer]
                    x[places] += rows
            if any(wanted) and last < len(self.blocks) - 1:
                x = self._borrowing(x, turns, spans, segments, wanted, given)
        if not any(wanted):
            return x[:0]
        self._plan_rows(len(x))
        return self._last_norm(x)

    def beside(self, x: Tensor, slot: Slot) -> Tensor:
        """Run a row of a network that guesses, ``[1, hidden]``, behind the tokens in `slot`, and behind the last norm.

        The slot is that of the network it guesses for: all layers attend to its keys and values, and none writes any.
        """
        position = len(slot.tokens)
        turns = [rotary.rows(torch.tensor([position], device=self.device), position) for rotary in self.rotaries]
        self._plan_rows(1)
        if self._kernels is None:
            spans: Spans = self._masked_spans([(slot, position - 1, 1, False)])
        else:
            spans = NativeSpans(self._kernels, [(slot, 1)], places=self._places, back=1)
        if self._layers is not None and isinstance(spans, NativeSpans):
            return self._last_norm(self._layers(x, turns, spans))
        for layer, block in enumerate(self.blocks):
            x = block(x, layer, turns[block.rope], spans)
        return self._last_norm(x)

    def run_rows(self, x: Tensor, slot: Slot, start: int) -> Tensor:
        """Run rows of a layer that guesses, ``[rows, hidden]``, as those of the tokens from `start` on in `slot`.

        The slot is that of the network it guesses for, and has room for them.

        Returns:
            ``[1, hidden]``, of the last one behind the last norm.
        """
        places = torch.arange(start, start + len(x), device=self.device)
        turns = [rotary.rows(places, start + len(x) - 1) for rotary in self.rotaries]
        self._plan_rows(0)
        if self._kernels is None:
            spans: Spans = self._masked_spans([(slot, start, len(x), False)])
        else:
            spans = NativeSpans(self._kernels, [(slot, len(x))], places=self._places, back=len(slot.tokens) - start)
        rows = [Segment(slot, range(len(x)))]
        return self._last_norm(self._last_block(x, turns[self.blocks[0].rope], spans, rows, [1]))

    def read_whole(self, segment: Segment) -> Iterator[None]:
        """Run an image alone (`Segment.is_whole`), a layer at a time; see `hidden`. Nobody wants its logits.

        Other steps may be run between layers, of other slots.
        """
        spans, turns = self._spans([segment]), self._turns([segment])
        x, _ = self._embedded(segment.token_ids, [segment])
        given = self._given(segment.token_ids, x)
        last = self.config.keeping_layers - 1
        for layer, block in enumerate(self.blocks[: last + 1]):
            self._plan_rows(0)
            if layer < last:
                x = block(x, layer, turns[block.rope], spans, given)
            else:
                self._last_block(x, turns[block.rope], spans, [segment], [0], given)
            yield None

    def _given(self, ids: Sequence[int], x: Tensor) -> Tensor | None:
        """What each layer gets of tokens and images besides, whose embeddings are `x`; None: nothing."""
        gemma4 = self.config.gemma4
        if self.layer_inputs is None or gemma4 is None:
            return None
        return self.layer_inputs([gemma4.padding_id if is_key(token_id) else token_id for token_id in ids], x)

    def _turns(self, segments: Sequence[Segment]) -> list[Turns]:
        """How all rows of a step are rotated, by each of the `rotaries`."""
        starts = [(len(segment.slot.tokens), len(segment.token_ids)) for segment in segments]
        if all(segment.positions is None for segment in segments):
            positions = [n for start, length in starts for n in range(start, start + length)]
            places = torch.tensor(positions, device=self.device)
            return [rotary.rows(places, max(positions)) for rotary in self.rotaries]
        parts = [
            torch.arange(start, start + length).expand(3, -1) if segment.positions is None else segment.positions
            for segment, (start, length) in zip(segments, starts, strict=True)
        ]
        grid = torch.cat(parts, 1)
        on_device = grid.to(self.device)
        return [rotary.rows_in_grid(on_device, int(grid.max())) for rotary in self.rotaries]

    def _embedded(self, ids: Sequence[int], segments: Sequence[Segment]) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """``[rows, hidden]`` of all tokens and images of a step, and what is added behind each of the first layers.

        That is where those rows are, and what is added to them.
        """
        images = [segment.images for segment in segments if segment.images is not None]
        if not images:
            return self.look_up(torch.tensor(ids, device=self.device)), []
        are_images = [is_key(token_id) for token_id in ids]
        known = [0 if is_image else token_id for token_id, is_image in zip(ids, are_images, strict=True)]
        x = self.look_up(torch.tensor(known, device=self.device))
        places = torch.tensor(are_images, device=self.device).nonzero()[:, 0]
        seen, *deeper = torch.cat(images).to(x.dtype).split(x.shape[1], 1)
        x[places] = seen
        return x, [(places, rows) for rows in deeper]

    def _last_block(
        self,
        x: Tensor,
        turns: Turns,
        spans: Spans,
        segments: Sequence[Segment],
        wanted: Sequence[int],
        given: Tensor | None = None,
        states: StateSpans | None = None,
    ) -> Tensor:
        """``[rows, hidden] -> [rows that want logits, hidden]``; of the others only keys and values are needed.

        That is through the last layer that keeps some. So a prompt is read without most of a layer; torch's attention
        is still of all rows. llama.cpp leaves out such rows, too (`inp_out_ids`).
        """
        if not any(wanted):
            wanted = [*wanted[:-1], 1]  # no kernel has to know what no rows are
        layer = self.config.keeping_layers - 1
        block = self.blocks[layer]
        if given is not None:
            given = self._last_rows(given, segments, wanted)
        if isinstance(spans, NativeSpans):
            spans = spans.of_last(wanted)
            if block.native is not None:
                return block.native(x, layer, turns, spans, given, states)
        seen = self._last_rows(block.attend(x, layer, turns, spans, states), segments, wanted)
        self._plan_rows(len(seen))
        return block.finish(self._last_rows(x, segments, wanted), seen, layer, given)

    def _borrowing(
        self,
        x: Tensor,
        turns: Sequence[Turns],
        spans: Spans,
        segments: Sequence[Segment],
        wanted: Sequence[int],
        given: Tensor | None,
    ) -> Tensor:
        """Rows that want logits, through the layers that have no keys and values of their own.

        Nobody needs what other rows would be there, so that of E2B's 35 layers a prompt goes through 15.
        """
        if isinstance(spans, NativeSpans):
            spans = spans.of_last(wanted).alone()
        else:
            rows = zip(segments, wanted, strict=True)
            spans = self._masked_spans([(s.slot, _end_of(s) - count, count, False) for s, count in rows if count])
        parts = [[None if p is None else self._last_rows(p, segments, wanted) for p in one] for one in turns]
        turned = [Turns(cos, sin, scales) for cos, sin, scales in parts if cos is not None and sin is not None]
        if given is not None:
            given = self._last_rows(given, segments, wanted)
        for layer in range(self.config.keeping_layers, len(self.blocks)):
            block = self.blocks[layer]
            x = block(x, layer, turned[block.rope], spans, given)
        return x

    def last_rows(self, x: Tensor, segments: Sequence[Segment]) -> Tensor:
        """Of all rows of `segments`, ``[rows, hidden]``, those that want logits."""
        return self._last_rows(x, segments, [segment.logits for segment in segments])

    def _last_rows(self, x: Tensor, segments: Sequence[Segment], counts: Sequence[int]) -> Tensor:
        """So many of the last rows of each segment."""
        if sum(counts) == len(x):
            return x
        rows: list[int] = []
        end = 0
        for segment, count in zip(segments, counts, strict=True):
            end += len(segment.token_ids)
            rows.extend(range(end - count, end))
        return x[torch.tensor(rows, dtype=torch.int64, device=self.device)]

    def _in_one_call(self) -> NativeLayers | None:
        layers = [block.native for block in self.blocks if block.native is not None]
        if self._kernels is None or len(layers) < len(self.blocks):
            return None
        rotaries = [block.rope for block in self.blocks]
        return NativeLayers(self._kernels, layers, rotaries, places=self._places)

    def _last_norm(self, x: Tensor) -> Tensor:
        if self._layers is None or self._kernels is None:
            return self.norm(x)
        return self._kernels.norm(x, self.norm.weight, self.norm.eps)

    def logits(self, x: Tensor, head: Linear | None = None) -> Tensor:
        """Float32 ``[rows, vocab]`` of rows ``[rows, hidden]`` behind the last norm. `head`: a part of the own one."""
        if not len(x):
            return torch.empty(0, self.config.vocab_size, device=self.device)
        logits, cap = (head or self.head)(x).float(), self.config.logits_cap
        return logits if cap is None else soften_logits(logits, cap)

    def look_up(self, ids: Tensor) -> Tensor:
        """The embedding of `ids` ``[rows]``: ``[rows, hidden]``."""
        rows, scale = self.embedding.look_up(ids, self.dtype), self.config.embedding_scale
        return rows if scale == 1 else rows * scale

    @property
    def is_batch_invariant(self) -> bool:
        """Whether a row has the same bits whatever rows are computed beside it."""
        return all(linear.is_batch_invariant for linear in self.linears)

    @property
    def is_exact(self) -> bool:
        """Whether a row has the same bits as a drawn token and as one of a prompt."""
        return self._plan is None and self.is_batch_invariant and self.attention_blocks.is_exact

    def _plan_rows(self, writers: int) -> None:
        if self._plan is not None:
            self._plan.writers = writers

    def _spans(self, segments: Sequence[Segment]) -> Spans:
        if self._kernels is not None:
            whole = [number for number, segment in enumerate(segments) if segment.is_whole]
            lengths = [(segment.slot, len(segment.token_ids)) for segment in segments]
            whole_parts = self.config.whole_parts if whole else frozenset()
            return NativeSpans(self._kernels, lengths, whole, self._places, whole_parts)
        rows = [(one.slot, len(one.slot.tokens), len(one.token_ids), one.is_whole) for one in segments]
        if self.card is not None:
            singles = next((i for i, one in enumerate(segments) if len(one.token_ids) > 1), len(segments))
            longer = self._masked_spans(rows[singles:], singles)
            places = [row for segment in segments for row in segment.places]
            return CardSpans(self.card, Places.of(places, self.device), singles, longer)
        return self._masked_spans(rows)

    def _states(self, segments: Sequence[Segment]) -> StateSpans | None:
        """Through which states the rows of each segment go; None: no layer has those in the place of keys."""
        if self.config.recurrent is None:
            return None
        spans: list[StateSpan] = []
        row = 0
        for segment in segments:
            states, rows = segment.slot.states, len(segment.token_ids)
            if states is not None:
                spans.append(StateSpan(row, states.pieces(rows - segment.guesses, segment.cuts, segment.guesses)))
            row += rows
        return StateSpans(spans)

    def _masked_spans(self, rows: Sequence[tuple[Slot, int, int, bool]], row: int = 0) -> list[Span]:
        """Of successive tokens in slots: the first of them, how many, and whether they are `Segment.is_whole`.

        `row`: of the step, that of the first.
        """
        config, blocks, window = self.config, self.attention_blocks, self.config.sliding_window
        full = config.num_key_value_heads if config.gemma4 is None else config.gemma4.full_kv_heads
        group, window_group = (config.num_attention_heads // kept for kept in (full, config.num_key_value_heads))
        sees_all = len(config.whole_parts) == len(config.cache_layout.parts)
        spans: list[Span] = []
        for slot, start, length, whole in rows:
            mask = causal_mask(start, length, group, blocks, self.like, is_whole=whole and sees_all)
            window_mask = None
            differs = window_group != group or (whole and not sees_all)
            if window is not None and (start + length > window or differs):
                window_mask = causal_mask(start, length, window_group, blocks, self.like, window, is_whole=whole)
            spans.append(Span.of(row, (start, length), slot.parts, mask, window_mask, self._places))
            row += length
        return spans


def _end_of(segment: Segment) -> int:
    """Tokens in its slot when it is read."""
    return len(segment.slot.tokens) + len(segment.token_ids)


def _normed(x: Tensor, norm: RMSNorm | None) -> Tensor:
    return x if norm is None else norm(x)


def _plain(weights: Sequence[Tensor]) -> list[Tensor]:
    return [weight for weight in weights if not weight.is_mkldnn]
