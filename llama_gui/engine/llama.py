"""The network of Llama and its relatives, top to bottom, over the rows of many conversations at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from llama_gui.engine.attention_blocks import LARGEST, causal_mask, find_blocks
from llama_gui.engine.checkpoint import Shape, WeightSource
from llama_gui.engine.config import NetworkConfig
from llama_gui.engine.device import Precision, give_memory_back
from llama_gui.engine.gating import Gate
from llama_gui.engine.int8_mlp import Int8MLP
from llama_gui.engine.kernel_notes import KernelNotes
from llama_gui.engine.kv_cache import Slot
from llama_gui.engine.layers import MLP, Attention, Heads, RMSNorm, Span, Spans
from llama_gui.engine.linear import Linear, LinearFactory, RowPlan
from llama_gui.engine.native_attention import NATIVE_BLOCKS, NativeSpans, serves
from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.native_layer import NativeLayer, NativeLayers, operands_of
from llama_gui.engine.native_linear import NativeBlocksLinear, NativeHalfLinear, NativeInt8Linear
from llama_gui.engine.packed_weights import CodedPanels, Panels
from llama_gui.engine.quantised_linear import QuantisedLinear
from llama_gui.engine.rotary import Rotary
from llama_gui.engine.token_table import BlocksTable, CodedTable, Int8Table, PanelsTable, PlainTable, TokenTable

IGNORED_WEIGHTS = ("rotary_emb.inv_freq",)
"""Buffers that old checkpoints carry; we compute them."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Successive tokens of one conversation in a step: a piece of a prompt, or one drawn token.

    They are the positions from ``len(slot.tokens)`` on. `logits`: of how many of the last rows. `is_prompt`: they are
    read and not drawn; such segments come last in a step.
    """

    slot: Slot
    token_ids: Sequence[int]
    logits: int = 1
    is_prompt: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """One layer. `native`: all of it in one call, where our own kernels can do that.

    `rope`: which of the network's `rotaries` rotates its heads. `post_norms`: of what attention and MLP have made, in
    families that norm it before it is added.
    """

    attention_norm: RMSNorm
    attention: Attention
    mlp_norm: RMSNorm
    mlp: MLP | Int8MLP
    native: NativeLayer | None = None
    rope: int = 0
    post_norms: tuple[RMSNorm, RMSNorm] | None = None

    def __call__(self, x: Tensor, layer: int, cos: Tensor, sin: Tensor, spans: Spans) -> Tensor:
        """``[rows, hidden] -> [rows, hidden]``; `x` may be changed."""
        if self.native is not None and isinstance(spans, NativeSpans):
            return self.native(x, layer, cos, sin, spans)
        if self.post_norms is None:
            x = x + self.attention(self.attention_norm(x), layer, cos, sin, spans)
            return x + self.mlp(self.mlp_norm(x))
        x = x + self.post_norms[0](self.attention(self.attention_norm(x), layer, cos, sin, spans))
        return x + self.post_norms[1](self.mlp(self.mlp_norm(x)))


_FEW_ROWS = 16
"""Up to which a pass goes through all layers in one call: it is over before anybody could wait for its end."""


class PassCancelled(Exception):  # noqa: N818 - nothing went wrong
    """Nobody waits for what a pass computes."""


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
    ) -> None:
        """`kernels`: what attends, instead of torch's. `cache_dtype`: of keys and values, if not that of the rest."""
        self._plan = plan
        self._kernels = kernels
        self._cache_dtype = cache_dtype
        self.config = config
        self.embedding = embedding
        self.blocks = tuple(blocks)
        self.norm = norm
        self.head = head
        self.attention_blocks = self.blocks[0].attention.blocks
        self.rotaries = [Rotary(config.head_dim, rope, self.dtype, self.device) for rope in config.ropes]
        """Behind those of the config one for layers that know no positions, where there are some."""
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
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.embedding.rows.device

    @property
    def linears(self) -> list[Linear]:
        """Every linear, the vocabulary projection last."""
        inner = [(b.attention.qkv, b.attention.out, b.mlp.gate_up, b.mlp.down) for b in self.blocks]
        return [linear for block in inner for linear in block] + [self.head]

    @property
    def weight_bytes(self) -> int:
        """Bytes of all weights in memory."""
        linears = sum(linear.weight_bytes for linear in self.linears)
        table = self.embedding.rows.data_ptr()
        is_shared = any(weight.data_ptr() == table for weight in _plain(self.head.packed))
        return linears + (0 if is_shared else self.embedding.weight_bytes)

    def forward(self, segments: Sequence[Segment], is_unwanted: Callable[[], bool] | None = None) -> Tensor:
        """Run `segments` (of different slots) and write their keys and values; the slots need room for them.

        `is_unwanted` is asked before each layer, of more than a few rows; once it is true, the pass ends with
        `PassCancelled`.

        Returns:
            Float32 logits ``[rows that want them, vocab]``, in the order of the segments. `Slot.tokens` are not
            changed: the caller adds the ids when it accepts the step.
        """
        spans = self._spans(segments)
        ids = [token_id for segment in segments for token_id in segment.token_ids]
        positions = [n for s in segments for n in range(len(s.slot.tokens), len(s.slot.tokens) + len(s.token_ids))]
        places = torch.tensor(positions, device=self.device)
        turns = [rotary.rows(places, max(positions)) for rotary in self.rotaries]
        x = self.look_up(torch.tensor(ids, device=self.device))
        self._plan_rows(sum(len(segment.token_ids) for segment in segments if not segment.is_prompt))
        if self._layers is not None and isinstance(spans, NativeSpans) and len(x) <= _FEW_ROWS:
            x = self._layers(x, turns, spans)
        else:
            for layer, block in enumerate(self.blocks):
                if is_unwanted is not None and is_unwanted():
                    raise PassCancelled
                x = block(x, layer, *turns[block.rope], spans)
        rows = _logits_rows(segments)
        if not rows:
            return torch.empty(0, self.config.vocab_size, device=self.device)
        self._plan_rows(len(rows))
        if len(rows) < len(x):
            x = x[torch.tensor(rows, device=self.device)]
        return self.head(self._last_norm(x)).float()

    def _in_one_call(self) -> NativeLayers | None:
        layers = [block.native for block in self.blocks if block.native is not None]
        if self._kernels is None or len(layers) < len(self.blocks):
            return None
        return NativeLayers(self._kernels, layers, [block.rope for block in self.blocks])

    def _last_norm(self, x: Tensor) -> Tensor:
        if self._layers is None or self._kernels is None:
            return self.norm(x)
        return self._kernels.norm(x, self.norm.weight, self.norm.eps)

    def look_up(self, ids: Tensor) -> Tensor:
        """The embedding of `ids` ``[rows]``: ``[rows, hidden]``."""
        rows, scale = self.embedding.look_up(ids, self.dtype), self.config.embedding_scale
        return rows if scale == 1 else rows * scale

    @property
    def is_exact(self) -> bool:
        """Whether a row has the same bits as a drawn token and as one of a prompt."""
        invariant = all(linear.is_batch_invariant for linear in self.linears) and self.attention_blocks.is_exact
        return self._plan is None and invariant

    def _plan_rows(self, writers: int) -> None:
        if self._plan is not None:
            self._plan.writers = writers

    def _spans(self, segments: Sequence[Segment]) -> Spans:
        if self._kernels is not None:
            return NativeSpans(self._kernels, [(segment.slot, len(segment.token_ids)) for segment in segments])
        group = self.config.num_attention_heads // self.config.num_key_value_heads
        spans: list[Span] = []
        row = 0
        for segment in segments:
            slot, start, length = segment.slot, len(segment.slot.tokens), len(segment.token_ids)
            mask = causal_mask(start, length, group, self.attention_blocks, self.like)
            window = self.config.sliding_window
            window_mask = None
            if window is not None and start + length > window:
                window_mask = causal_mask(start, length, group, self.attention_blocks, self.like, window)
            spans.append(Span.of(row, (start, length), (slot.keys, slot.values), mask, window_mask))
            row += length
        return spans


def _logits_rows(segments: Sequence[Segment]) -> list[int]:
    rows: list[int] = []
    end = 0
    for segment in segments:
        end += len(segment.token_ids)
        rows.extend(range(end - segment.logits, end))
    return rows


def _plain(weights: Sequence[Tensor]) -> list[Tensor]:
    return [weight for weight in weights if not weight.is_mkldnn]


def _mlp(gate_up: Linear, down: Linear, gate: Gate) -> MLP | Int8MLP:
    if (
        isinstance(gate_up, QuantisedLinear)
        and isinstance(down, QuantisedLinear)
        and not gate_up.has_bias | down.has_bias
    ):
        return Int8MLP(gate_up, down, gate)
    return MLP(gate_up, down, gate)


def _table_of(linear: NativeInt8Linear | NativeBlocksLinear | NativeHalfLinear) -> TokenTable:
    """The same numbers, to look tokens up in."""
    if isinstance(linear, NativeBlocksLinear):
        return BlocksTable(linear.blocks, linear.kernels)
    if isinstance(linear, NativeHalfLinear):
        half = linear.weight
        return CodedTable(half, linear.kernels) if isinstance(half, CodedPanels) else PlainTable(half)
    whole = linear.weight
    return PanelsTable(whole, linear.scales) if isinstance(whole, Panels) else Int8Table(whole, linear.scales)


_TABLE, _HEAD = "model.embed_tokens.weight", "lm_head.weight"
_QKV, _QKV_FUSED = ("q_proj", "k_proj", "v_proj"), ("qkv_proj",)
_GATE_UP, _GATE_UP_FUSED = ("gate_proj", "up_proj"), ("gate_up_proj",)


def weight_shapes(config: NetworkConfig) -> dict[str, Shape]:
    """The name and shape of every weight that a checkpoint of this network holds."""
    hidden, inner = config.hidden_size, config.intermediate_size
    q, kv = config.num_attention_heads * config.head_dim, config.num_key_value_heads * config.head_dim
    vocabulary = (config.vocab_size, hidden)
    shapes: dict[str, Shape] = {_TABLE: vocabulary, "model.norm.weight": (hidden,)}
    if not config.tie_word_embeddings:
        shapes[_HEAD] = vocabulary
    attention = {"qkv_proj": q + 2 * kv} if config.fused else {"q_proj": q, "k_proj": kv, "v_proj": kv}
    mlp = {"gate_up_proj": 2 * inner} if config.fused else {"gate_proj": inner, "up_proj": inner}
    parts: dict[str, tuple[Shape, bool]] = {
        **{f"self_attn.{name}": ((out, hidden), config.qkv_bias) for name, out in attention.items()},
        "self_attn.o_proj": ((hidden, q), config.out_bias),
        **{f"mlp.{name}": ((out, hidden), config.mlp_bias) for name, out in mlp.items()},
        "mlp.down_proj": ((hidden, inner), config.mlp_bias),
    }
    norms: dict[str, Shape] = {"input_layernorm": (hidden,), "post_attention_layernorm": (hidden,)}
    if config.post_norms:
        norms |= {"pre_feedforward_layernorm": (hidden,), "post_feedforward_layernorm": (hidden,)}
    if config.qk_norm:
        norms |= {"self_attn.q_norm": (config.head_dim,), "self_attn.k_norm": (config.head_dim,)}
    for layer in range(config.num_hidden_layers):
        prefix = f"model.layers.{layer}."
        shapes |= {f"{prefix}{name}.weight": shape for name, shape in norms.items()}
        shapes |= {f"{prefix}{name}.weight": shape for name, (shape, _) in parts.items()}
        shapes |= {f"{prefix}{name}.bias": shape[:1] for name, (shape, has_bias) in parts.items() if has_bias}
    return shapes


class NetworkLoader:
    """Builds a `Llama` from an open checkpoint, one layer at a time, so that no second copy of the weights exists."""

    def __init__(
        self,
        config: NetworkConfig,
        checkpoint: WeightSource,
        precision: Precision,
        device: torch.device,
        *,
        exact: bool = True,
        notes: KernelNotes | None = None,
        kernels: NativeKernels | None = None,
    ) -> None:
        self._config = config
        self._checkpoint = checkpoint
        self._shapes = weight_shapes(config)
        self._dtype = precision.dtype
        self._table_dtype, self._kept_dtype = precision.table_dtype, precision.kept_dtype
        if config.rounds_scale:
            rounded = torch.tensor(config.embedding_scale, dtype=self._kept_dtype).item()
            self._config = replace(config, embedding_scale=rounded)
        self._device = device
        self._kernels = kernels if device.type == "cpu" else None
        self._is_quantised = precision.quantised is not None
        exact = exact or self._is_quantised
        self._linear = LinearFactory(precision, device, exact=exact, notes=notes, kernels=kernels)
        self._blocks = LARGEST  # until the weights are known to be there: a config alone may hold any number

    def load(self) -> Llama:
        """Check every name and shape, then read.

        Raises:
            BrokenModelError, UnsupportedModelError: see `Checkpoint`.
        """
        config = self._config
        if _HEAD in self._checkpoint.names:
            self._shapes[_HEAD] = self._shapes[_TABLE]
        self._checkpoint.check(self._shapes, IGNORED_WEIGHTS)
        group = config.num_attention_heads // config.num_key_value_heads
        if self._kernels is not None and serves(self._dtype, config.head_dim):
            self._blocks = NATIVE_BLOCKS
        else:
            self._kernels, self._blocks = None, find_blocks(group, config.head_dim, self._dtype, self._device)
        embedding, head = self._vocabulary()
        blocks = [self._block(layer) for layer in range(config.num_hidden_layers)]
        norm = self._norm("model.norm.weight")
        norm.weight = norm.weight * config.logits_scale
        cache_dtype = self._kept_dtype if self._kernels is not None else None
        return Llama(config, embedding, blocks, norm, head, self._linear.plan, self._kernels, cache_dtype)

    def _vocabulary(self) -> tuple[TokenTable, Linear]:
        """The embedding, and the projection back. First of all: what they need meanwhile is the most of any weight."""
        is_tied = self._is_tied()
        if self._linear.rounds_head(self._config.hidden_size):
            table = self._linear.rounded_head(self._checkpoint.rows(_TABLE))
            head = table if is_tied else self._linear.rounded_head(self._checkpoint.rows(_HEAD))
            return _table_of(table), head
        weight = self._table(_TABLE, self._kept_dtype)
        table = Int8Table.of(weight) if self._is_quantised else PlainTable(weight)
        return table, self._linear.head(weight if is_tied else self._table(_HEAD, self._kept_dtype))

    def _is_tied(self) -> bool:
        if _HEAD not in self._checkpoint.names:
            return True
        # A fine-tune whose config was copied from its tied parent: like transformers 5, believe the weights.
        if not self._config.tie_word_embeddings:
            return False
        head, table = (self._checkpoint.borrowed(name, self._kept_dtype, self._device) for name in (_HEAD, _TABLE))
        return torch.equal(head, table)

    def _block(self, layer: int) -> Block:
        config, prefix = self._config, f"model.layers.{layer}."
        give_memory_back()  # what the layer before needed while it was converted
        attention = Attention(
            self._fused(prefix + "self_attn.", _QKV_FUSED if config.fused else _QKV, config.qkv_bias),
            self._fused(prefix + "self_attn.", ("o_proj",), config.out_bias),
            Heads(config.num_attention_heads, config.num_key_value_heads, config.head_dim, config.rotary_dim),
            self._blocks,
            self._head_norms(prefix) if config.qk_norm else None,
            config.sliding_window if layer in config.sliding_layers else None,
        )
        gate_up = self._fused(prefix + "mlp.", _GATE_UP_FUSED if config.fused else _GATE_UP, config.mlp_bias)
        down = self._fused(prefix + "mlp.", ("down_proj",), config.mlp_bias)
        norm = self._norm(prefix + "input_layernorm.weight", attention.qkv)
        before_mlp = "pre_feedforward" if config.post_norms else "post_attention"
        mlp_norm = self._norm(prefix + before_mlp + "_layernorm.weight", gate_up)
        post_norms = self._post_norms(prefix) if config.post_norms else None
        operands = [operands_of(linear) for linear in (attention.qkv, attention.out, gate_up, down)]
        native = None
        if self._kernels is not None and all(operands):
            native = NativeLayer(self._kernels, attention, operands, (norm, mlp_norm), post_norms, config.gate)
        mlp = _mlp(gate_up, down, config.gate)
        rope = len(config.ropes) if layer in config.unrotated_layers else config.rope_of(layer)
        return Block(norm, attention, mlp_norm, mlp, native, rope, post_norms)

    def _post_norms(self, prefix: str) -> tuple[RMSNorm, RMSNorm]:
        names = "post_attention_layernorm", "post_feedforward_layernorm"
        attention, mlp = (self._norm(f"{prefix}{name}.weight") for name in names)
        return attention, mlp

    def _head_norms(self, prefix: str) -> tuple[RMSNorm, RMSNorm]:
        return self._norm(prefix + "self_attn.q_norm.weight"), self._norm(prefix + "self_attn.k_norm.weight")

    def _fused(self, prefix: str, names: Sequence[str], has_bias: bool) -> Linear:
        weights = [f"{prefix}{name}.weight" for name in names]
        biases = [f"{prefix}{name}.bias" for name in names] if has_bias else []
        bias = torch.cat([self._weight(name) for name in biases]) if biases else None
        if self._linear.rounds(self._shapes[weights[0]][1]):
            return self._linear.rounded([self._checkpoint.rows(name) for name in weights], bias)
        if len(weights) == 1:
            return self._linear(self._table(weights[0]), bias)
        borrowed = [self._checkpoint.borrowed(name, self._table_dtype, self._device) for name in weights]
        return self._linear(torch.cat(borrowed), bias)

    def _norm(self, name: str, behind: Linear | None = None) -> RMSNorm:
        """`behind`: the linear that takes what comes out."""
        config, stays_wide = self._config, isinstance(behind, QuantisedLinear)
        if not config.post_norms:
            return RMSNorm(self._weight(name), config.rms_norm_eps, stays_wide=stays_wide)
        # Gemma's weights count from 1, where half precision has few steps.
        weight = self._checkpoint.weight(name, torch.float32, self._device) + config.norm_shift
        return RMSNorm(weight, config.rms_norm_eps, stays_wide=stays_wide, dtype=self._dtype)

    def _weight(self, name: str) -> Tensor:
        return self._checkpoint.weight(name, self._dtype, self._device)

    def _table(self, name: str, dtype: torch.dtype | None = None) -> Tensor:
        """A matrix."""
        return self._checkpoint.weight(name, dtype or self._table_dtype, self._device)
