"""A checkpoint -> the network, one layer at a time."""

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from llama_gui.engine import card_kernels
from llama_gui.engine.attention_blocks import LARGEST, AttentionBlocks, find_blocks
from llama_gui.engine.cache_precision import resolve_cache_dtype
from llama_gui.engine.card_experts import on_card
from llama_gui.engine.card_kernels import CardKernels
from llama_gui.engine.checkpoint import WeightSource
from llama_gui.engine.conv_config import ConvConfig
from llama_gui.engine.delta_config import DeltaConfig
from llama_gui.engine.device import Precision, give_memory_back
from llama_gui.engine.expert_config import ExpertConfig, ExpertNames, bias_of
from llama_gui.engine.experts import Experts, Router, SharedExpert
from llama_gui.engine.gated_delta import DeltaWeights, GatedDeltaNet
from llama_gui.engine.gating import Gate
from llama_gui.engine.gemma4_mixture import Gemma4Mixture
from llama_gui.engine.int8_mlp import Int8MLP
from llama_gui.engine.kernel_notes import KernelNotes
from llama_gui.engine.layer_inputs import LayerInput, LayerInputs
from llama_gui.engine.layers import MLP, Attention, Heads, RMSNorm
from llama_gui.engine.linear import Linear, LinearFactory
from llama_gui.engine.llama import Block, FeedForward, Llama, Projections
from llama_gui.engine.mamba import Mamba, MambaWeights
from llama_gui.engine.mamba_config import MambaConfig
from llama_gui.engine.native_attention import NATIVE_BLOCKS, serves
from llama_gui.engine.native_delta import NativeDeltaNet
from llama_gui.engine.native_delta import serves as serves_delta
from llama_gui.engine.native_kernels import LANES, NativeKernels
from llama_gui.engine.native_layer import NativeExperts, NativeInput, NativeLayer, operands_of
from llama_gui.engine.native_linear import NativeBlocksLinear, NativeHalfLinear, NativeInt8Linear, NativeRouterLinear
from llama_gui.engine.native_mamba import NativeMamba
from llama_gui.engine.native_mamba import serves as serves_mamba
from llama_gui.engine.network_config import NetworkConfig, Recurrence
from llama_gui.engine.packed_weights import CodedPanels, Panels
from llama_gui.engine.quantised_linear import MOST_WIDTH, QuantisedLinear
from llama_gui.engine.recurrent import Recurrent
from llama_gui.engine.short_conv import ShortConv
from llama_gui.engine.token_table import BlocksTable, CodedTable, Int8Table, PanelsTable, PlainTable, TokenTable
from llama_gui.engine.weight_shapes import (
    BEFORE,
    BEHIND,
    EMBEDDING_NORM,
    GATE_UP,
    GATE_UP_FUSED,
    HEAD,
    IGNORED_WEIGHTS,
    LAYER_SCALAR,
    LAYER_TABLE,
    QKV,
    QKV_FUSED,
    ROW_NORM,
    TABLE,
    UP_ALONE,
    layer_parameters,
    needless_weights,
    shared_parts,
    weight_shapes,
)
from llama_gui.errors import UnsupportedModelError


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
        cache_dtype: torch.dtype | None = None,
        shared: Llama | None = None,
    ) -> None:
        """`cache_dtype`: of keys and values, as `resolve_cache_dtype` finds it; None: what "auto" is.

        `shared`: whose vocabulary it has; None: its own.
        """
        self._shared = shared
        self._config = config
        self._checkpoint = checkpoint
        self._shapes = weight_shapes(config)
        self._dtype = precision.dtype
        self._table_dtype, self._kept_dtype = precision.table_dtype, precision.kept_dtype
        if config.rounds_scale:
            self._config = replace(config, embedding_scale=self._rounded(config.embedding_scale))
        self._device = device
        self._kernels = kernels if device.type == "cpu" else None
        self._card = (
            None
            if config.gemma4 is not None or config.recurrent is not None
            else card_kernels.find(device, config.head_dim)
        )
        self._cache_dtype = cache_dtype or resolve_cache_dtype("auto", precision, config.head_dim, device, kernels)
        self._is_quantised = precision.quantised is not None
        exact = exact or self._is_quantised
        self._linear = LinearFactory(precision, device, exact=exact, notes=notes, kernels=kernels, card=self._card)
        self._router_linear = LinearFactory(device=device)
        self._blocks = LARGEST  # until the weights are checked: a config alone may claim any size

    def load(self) -> Llama:
        """Check every name and shape, then read.

        Raises:
            BrokenModelError, UnsupportedModelError: see `Checkpoint`.
            UnsupportedModelError: it is too wide for the precision.
        """
        config = self._config
        self._check_width(max(shape[-1] for shape in self._shapes.values()))
        if self._shared is not None:
            self._shapes = {name: shape for name, shape in self._shapes.items() if name not in (TABLE, HEAD)}
        elif HEAD in self._checkpoint.names:
            self._shapes[HEAD] = self._shapes[TABLE]
        self._checkpoint.check(self._shapes, (*IGNORED_WEIGHTS, *needless_weights(config)))
        if self._kernels is not None and self._attends_by(self._kernels):
            self._blocks = NATIVE_BLOCKS
        else:
            self._kernels = None
            self._blocks = self._torch_blocks()
        embedding, head = self._vocabulary()
        blocks = [self._block(layer) for layer in range(config.num_hidden_layers)]
        norm = self._norm("model.norm.weight")
        norm.weight = norm.weight * config.logits_scale
        plan, kept = self._linear.plan, self._cache_dtype
        besides = (self._layer_inputs(), self._projections())
        return Llama(config, embedding, blocks, norm, head, plan, self._kernels, kept, self._card, *besides)

    def _projections(self) -> Projections | None:
        if self._config.lent is not None:
            norms = self._norm(EMBEDDING_NORM), self._norm(ROW_NORM)
            return Projections(self._joined([BEFORE], None), norms=norms)
        if not self._config.is_assistant:
            return None
        return Projections(self._joined([BEFORE], None), self._joined([BEHIND], None))

    def _attends_by(self, kernels: NativeKernels) -> bool:
        """Whether our own kernels attend, and lay out all parts of the caches alike."""
        widths = [part.head_dim for part in self._config.cache_layout.parts]
        layouts = {kernels.keeps_blocks(self._cache_dtype, width) for width in widths}
        return len(layouts) == 1 and all(serves(self._dtype, width) for width in widths)

    def _torch_blocks(self) -> AttentionBlocks:
        """The largest that heads of any of its layers need."""
        config = self._config
        found = [
            find_blocks(
                config.num_attention_heads // part.kv_heads, part.head_dim, self._dtype, self._device, config.score_cap
            )
            for part in config.cache_layout.parts
        ]
        return AttentionBlocks(
            max(blocks.queries for blocks in found),
            max(blocks.keys for blocks in found),
            all(blocks.is_exact for blocks in found),
        )

    def _rounded(self, scale: float) -> float:
        """As the dtype of the weights holds it."""
        return torch.tensor(scale, dtype=self._kept_dtype).item()

    def _check_width(self, widest: int) -> None:
        if self._is_quantised and widest > MOST_WIDTH:
            raise UnsupportedModelError(
                f"Rows of this model have {widest} numbers, and int8 and int4 add up {MOST_WIDTH} at most. "
                "Use bfloat16."
            )

    def _vocabulary(self) -> tuple[TokenTable, Linear]:
        """The embedding and the vocabulary projection. They come first: loading them needs the most scratch memory."""
        if self._shared is not None:
            return self._shared.embedding, self._shared.head
        is_tied = self._is_tied()
        if self._linear.takes_head_rows(self._config.hidden_size):
            table = self._linear.head_of_rows(self._checkpoint.rows(TABLE))
            head = table if is_tied else self._linear.head_of_rows(self._checkpoint.rows(HEAD))
            return _table_of(table), head
        weight = self._table(TABLE, self._kept_dtype)
        table = Int8Table.of(weight) if self._is_quantised else PlainTable(weight)
        return table, self._linear.head(weight if is_tied else self._table(HEAD, self._kept_dtype))

    def _is_tied(self) -> bool:
        if HEAD not in self._checkpoint.names:
            return True
        # A fine-tune whose config was copied from its tied parent: like transformers 5, believe the weights.
        if not self._config.tie_word_embeddings:
            return False
        head, table = (self._checkpoint.borrowed(name, self._kept_dtype, self._device) for name in (HEAD, TABLE))
        return torch.equal(head, table)

    def _block(self, layer: int) -> Block:
        config, prefix = self._config, f"model.layers.{layer}."
        give_memory_back(layer_parameters(config))  # the scratch memory of the layer before
        recurrent = config.recurrent_of(layer)
        attention = self._attention(prefix, layer) if recurrent is None else self._recurrent(prefix, recurrent, layer)
        experts = config.experts_of(layer)
        mlp = None if config.is_bare(layer) else self._feed_forward(prefix, experts)
        norm, mlp_norm = self._pre_norms(prefix, attention, mlp) if config.pre_norms else (None, None)
        post_norms = self._post_norms(prefix) if config.post_norms else None
        rope = len(config.ropes) if layer in config.unrotated_layers else config.rope_of(layer)
        own = self._layer_input(prefix) if config.gemma4 is not None and config.gemma4.layer_input else None
        scalar = 1.0 if config.gemma4 is None else float(self._wide(LAYER_SCALAR.format(layer)))
        native = self._native(attention, mlp, (norm, mlp_norm), post_norms, own, scalar)
        return Block(norm, attention, mlp_norm, mlp, native, rope, post_norms, own, scalar)

    def _attention(self, prefix: str, layer: int) -> Attention:
        config = self._config
        borrows, width = config.borrows(layer), config.head_dim_of(layer)
        rotated = config.rotary_dim if config.gemma4 is None else width
        return Attention(
            self._fused(prefix + "self_attn.", self._heads_in(layer), config.qkv_bias),
            self._fused(prefix + "self_attn.", ("o_proj",), config.out_bias),
            Heads(config.num_attention_heads, config.kv_heads_of(layer), width, rotated),
            self._blocks,
            self._head_norms(prefix, layer) if config.qk_norm else None,
            config.sliding_window if layer in config.sliding_layers else None,
            self._sinks(prefix) if config.has_sinks else None,
            config.score_cap,
            norms_turned=config.norms_turned,
            value_norm=None if config.gemma4 is None or borrows else self._plain_norm(width),
            borrows=borrows,
            gates=config.delta is not None,
        )

    def _recurrent(self, prefix: str, config: Recurrence, layer: int) -> Recurrent:
        match config:
            case ConvConfig():
                return self._short_conv(prefix + "conv.", config, layer)
            case MambaConfig():
                return self._mamba(prefix + "mamba.", config, layer)
            case DeltaConfig():
                return self._delta_net(prefix + "linear_attn.", config, layer)

    def _mamba(self, prefix: str, config: MambaConfig, layer: int) -> Mamba:
        weights = MambaWeights(
            taps=self._taps(prefix + "conv1d.weight"),
            bias=self._wide(prefix + "conv1d.bias") if config.has_bias else None,
            slopes=self._slopes(prefix, is_gguf=config.is_gguf),
            offsets=self._wide(prefix + "dt_bias"),
            skips=self._wide(prefix + "D").flatten(),
            norm=self._wide(prefix + "norm.weight").flatten(),
        )
        qkv, out = (self._fused(prefix, (name,), has_bias=False) for name in ("in_proj", "out_proj"))
        rates = self._float_linear(self._last_rows(prefix + "in_proj.weight", config.heads))
        parts = (qkv, rates, out, config, weights, config.number_of(layer))
        if self._kernels is not None and serves_mamba(config):
            return NativeMamba(*parts, self._kernels)
        return Mamba(*parts)

    def _last_rows(self, name: str, count: int) -> Tensor:
        """The last rows of a matrix, float32."""
        if self._config.fp8 is not None:  # whose rows have scales elsewhere
            return self._wide(name)[-count:].clone()
        rows = self._shapes[name][0]
        return self._checkpoint.file_rows(name).look_up(range(rows - count, rows)).to(self._device)

    def _taps(self, name: str) -> Tensor:
        """Of a convolution, the newest last: float32 ``[taps, channels]``."""
        return self._wide(name).flatten(1).t().contiguous()

    def _slopes(self, prefix: str, *, is_gguf: bool) -> Tensor:
        """How fast heads forget."""
        return self._wide(prefix + "slopes").flatten() if is_gguf else -self._wide(prefix + "A_log").exp()

    def _short_conv(self, prefix: str, config: ConvConfig, layer: int) -> ShortConv:
        qkv, out = (self._fused(prefix, (name,), has_bias=False) for name in ("in_proj", "out_proj"))
        return ShortConv(qkv, out, self._taps(prefix + "conv.weight"), config.number_of(layer))

    def _delta_net(self, prefix: str, config: DeltaConfig, layer: int) -> GatedDeltaNet:
        names = ("ba",) if config.groups_rates else ("b", "a")
        rates = torch.cat([self._wide(f"{prefix}in_proj_{name}.weight") for name in names])
        weights = DeltaWeights(
            taps=self._taps(prefix + "conv1d.weight"),
            slopes=self._slopes(prefix, is_gguf=config.is_gguf),
            offsets=self._wide(prefix + "dt_bias"),
            norm=self._wide(prefix + "norm.weight"),
            eps=self._config.rms_norm_eps,
        )
        inputs = ("in_proj_qkvz",) if config.groups_inputs else ("in_proj_qkv", "in_proj_z")
        qkv = self._fused(prefix, inputs, has_bias=False)
        out = self._fused(prefix, ("out_proj",), has_bias=False)
        parts = (qkv, self._float_linear(rates), out, config, weights, config.number_of(layer))
        if self._kernels is not None and serves_delta(config):
            return NativeDeltaNet(*parts, self._kernels)
        return GatedDeltaNet(*parts)

    def _heads_in(self, layer: int) -> Sequence[str]:
        """The weights that make queries, keys and values of a layer."""
        config = self._config
        if config.borrows(layer):
            return QKV[:1]
        if config.values_are_keys(layer):
            return QKV[0], QKV[1], QKV[1]
        return QKV_FUSED if config.fuses_heads else QKV

    def _layer_input(self, prefix: str) -> LayerInput:
        names = "per_layer_input_gate", "per_layer_projection"
        gate, out = (self._fused(prefix, (name,), has_bias=False) for name in names)
        norm = self._norm(f"{prefix}post_per_layer_input_norm.weight")
        return LayerInput(gate, out, norm, self._shapes[f"{prefix}{names[0]}.weight"][0])

    def _layer_inputs(self) -> LayerInputs | None:
        config, gemma4 = self._config, self._config.gemma4
        if gemma4 is None or not gemma4.layer_input:
            return None
        weight = self._wide("model.per_layer_projection_norm.weight")
        # What is normed would be divided by the root of this before.
        norm = RMSNorm(weight, config.rms_norm_eps * config.hidden_size, dtype=self._dtype)
        scale = self._rounded(math.sqrt(gemma4.layer_input))
        projection = self._fused("model.", ("per_layer_model_projection",), has_bias=False)
        return LayerInputs(self._checkpoint.file_rows(LAYER_TABLE), scale, projection, norm)

    def _native(
        self,
        attention: Attention | Recurrent,
        mlp: FeedForward | None,
        norms: tuple[RMSNorm | None, RMSNorm | None],
        post_norms: tuple[RMSNorm, RMSNorm] | None,
        own: LayerInput | None,
        scalar: float,
    ) -> NativeLayer | None:
        """All of the layer in one call, where our own kernels can do that."""
        if self._kernels is None:
            return None
        if not isinstance(attention, Attention | NativeDeltaNet | NativeMamba | ShortConv):
            return None
        if isinstance(attention, NativeDeltaNet | NativeMamba) and attention.address is None:
            return None
        experts = None
        if isinstance(mlp, Experts):
            experts = NativeExperts.of(mlp)
        elif isinstance(mlp, Gemma4Mixture):
            experts = NativeExperts.beside(mlp)
        behind = () if mlp is None else mlp.linears[-2:]
        operands = [operands_of(linear) for linear in (attention.qkv, attention.out, *behind)]
        if not all(operands) or (isinstance(mlp, Experts | Gemma4Mixture) and experts is None):
            return None
        if isinstance(mlp, Experts) and post_norms is not None:
            return None
        native = None
        if own is not None:
            native = NativeInput(operands_of(own.gate), operands_of(own.out), own.norm.weight)
            if not native.gate or not native.out:
                return None
        gate = self._config.gate
        return NativeLayer(self._kernels, attention, operands, norms, post_norms, gate, experts, native, scalar)

    def _feed_forward(self, prefix: str, config: ExpertConfig | None) -> FeedForward:
        if config is None:
            return self._mlp(prefix)
        experts = self._experts(prefix, config)
        if self._config.gemma4 is None:
            return experts
        norm = prefix + "{}_feedforward_layernorm_{}.weight"
        norms = (
            self._plain_norm(self._config.hidden_size),
            self._norm(norm.format("pre", 2), experts.linears[-2]),
            self._norm(norm.format("post", 1)),
            self._norm(norm.format("post", 2)),
        )
        return Gemma4Mixture(self._mlp(prefix), experts, norms)

    def _mlp(self, prefix: str) -> MLP | Int8MLP:
        config = self._config
        names = UP_ALONE if config.gate == "squared" else GATE_UP_FUSED if config.fuses_mlp else GATE_UP
        gate_up = self._fused(prefix + "mlp.", names, config.mlp_bias)
        return _mlp(gate_up, self._fused(prefix + "mlp.", ("down_proj",), config.mlp_bias), config.gate, self._card)

    def _experts(self, prefix: str, config: ExpertConfig) -> Experts:
        names = config.names

        def linear(number: int, of: Sequence[str]) -> Linear:
            stored = [prefix + name.format(number) for name in of]
            part = number if names.is_stacked else None
            biases = [self._weight(bias_of(name), part) for name in stored if names.has_biases]
            return self._joined(stored, torch.cat(biases) if biases else None, part)

        def expert(number: int) -> MLP | Int8MLP:
            return _mlp(linear(number, names.gate_up), linear(number, (names.down,)), self._config.gate, self._card)

        bias = self._wide(prefix + bias_of(names.router)) if names.has_biases else None
        weight = self._wide(prefix + names.router)
        if names.router_scale:
            weight = weight * self._wide(prefix + names.router_scale) / math.sqrt(self._config.hidden_size)
        router = self._float_linear(weight, bias)
        scales = self._wide(prefix + names.scales) if names.scales else None
        if config.scale != 1:
            scales = torch.full((config.count,), config.scale, device=self._device)
        correction = self._wide(prefix + names.correction).flatten() if names.correction else None
        experts = Experts(
            Router(
                router,
                config.chosen,
                normalises=config.normalises,
                correction=correction,
                by_sigmoid=config.by_sigmoid,
                scales=scales,
            ),
            [expert(number) for number in range(config.count)],
            self._shared_expert(prefix, names) if names.shared else None,
        )
        return experts if self._card is None else on_card(experts, self._card)

    def _shared_expert(self, prefix: str, names: ExpertNames) -> SharedExpert:
        gate_up, down = (
            self._joined([prefix + names.shared.format(part) for part in parts], None)
            for parts in (shared_parts(names), ("down_proj",))
        )
        gate = self._float_linear(self._wide(prefix + names.shared_gate).view(1, -1)) if names.shared_gate else None
        return SharedExpert(_mlp(gate_up, down, self._config.gate, self._card), gate)

    def _float_linear(self, weight: Tensor, bias: Tensor | None = None) -> Linear:
        if self._kernels is not None and weight.shape[1] % LANES == 0:
            return NativeRouterLinear(weight, self._kernels, bias)
        return self._router_linear(weight, bias)

    def _pre_norms(
        self, prefix: str, attention: Attention | Recurrent, mlp: FeedForward | None
    ) -> tuple[RMSNorm, RMSNorm | None]:
        first = self._norm(prefix + "input_layernorm.weight", attention.qkv)
        if mlp is None:
            return first, None
        before_mlp = "pre_feedforward" if self._config.post_norms else "post_attention"
        return first, self._norm(f"{prefix}{before_mlp}_layernorm.weight", mlp.linears[-2])

    def _post_norms(self, prefix: str) -> tuple[RMSNorm, RMSNorm]:
        names = "post_attention_layernorm", "post_feedforward_layernorm"
        attention, mlp = (self._norm(f"{prefix}{name}.weight") for name in names)
        return attention, mlp

    def _head_norms(self, prefix: str, layer: int) -> tuple[RMSNorm, RMSNorm]:
        queries = self._norm(prefix + "self_attn.q_norm.weight")
        if self._config.gemma4 is not None:  # whose scores are not divided by this, as attention does
            queries.weight *= math.sqrt(self._config.head_dim_of(layer))
        return queries, queries if self._config.borrows(layer) else self._norm(prefix + "self_attn.k_norm.weight")

    def _plain_norm(self, width: int) -> RMSNorm:
        """One whose weights are all 1."""
        return RMSNorm(torch.ones(width, device=self._device), self._config.rms_norm_eps, dtype=self._dtype)

    def _fused(self, prefix: str, names: Sequence[str], has_bias: bool) -> Linear:
        weights = [f"{prefix}{name}.weight" for name in names]
        biases = [f"{prefix}{name}.bias" for name in names] if has_bias else []
        return self._joined(weights, torch.cat([self._weight(name) for name in biases]) if biases else None)

    def _joined(self, names: Sequence[str], bias: Tensor | None, part: int | None = None) -> Linear:
        """The weights `names` behind one another; `part`: of each only this one of a stack."""
        if self._linear.takes_rows(self._shapes[names[0]][-1]):
            return self._linear.of_rows([self._checkpoint.rows(name, part) for name in names], bias)
        if len(names) == 1:
            return self._linear(self._checkpoint.weight(names[0], self._table_dtype, self._device, part), bias)
        borrowed = [self._checkpoint.borrowed(name, self._table_dtype, self._device, part) for name in names]
        return self._linear(torch.cat(borrowed), bias)

    def _norm(self, name: str, behind: Linear | None = None) -> RMSNorm:
        """`behind`: the linear that takes the result."""
        config, stays_wide = self._config, isinstance(behind, QuantisedLinear)
        if not config.post_norms and config.delta is None:
            return RMSNorm(self._weight(name), config.rms_norm_eps, stays_wide=stays_wide, kernels=self._card)
        # Weights of Gemma and Qwen3.5 count from 1, where half precision has few steps.
        weight = self._checkpoint.weight(name, torch.float32, self._device) + config.norm_shift
        eps = config.rms_norm_eps
        return RMSNorm(weight, eps, stays_wide=stays_wide, dtype=self._dtype, kernels=self._card)

    def _sinks(self, prefix: str) -> Tensor:
        return self._wide(prefix + "self_attn.sinks.weight")

    def _wide(self, name: str) -> Tensor:
        return self._checkpoint.weight(name, torch.float32, self._device)

    def _weight(self, name: str, part: int | None = None) -> Tensor:
        return self._checkpoint.weight(name, self._dtype, self._device, part)

    def _table(self, name: str, dtype: torch.dtype | None = None) -> Tensor:
        """A matrix."""
        return self._checkpoint.weight(name, dtype or self._table_dtype, self._device)


def _mlp(gate_up: Linear, down: Linear, gate: Gate, card: CardKernels | None) -> MLP | Int8MLP:
    if (
        isinstance(gate_up, QuantisedLinear)
        and isinstance(down, QuantisedLinear)
        and not gate_up.has_bias | down.has_bias
        and gate not in ("clamped", "squared")
    ):
        return Int8MLP(gate_up, down, gate)
    return MLP(gate_up, down, gate, card)


def _table_of(linear: NativeInt8Linear | NativeBlocksLinear | NativeHalfLinear) -> TokenTable:
    """An embedding table that shares the memory of `linear`."""
    if isinstance(linear, NativeBlocksLinear):
        return BlocksTable(linear.blocks, linear.kernels)
    if isinstance(linear, NativeHalfLinear):
        half = linear.weight
        return CodedTable(half, linear.kernels) if isinstance(half, CodedPanels) else PlainTable(half)
    whole = linear.weight
    return PanelsTable(whole, linear.scales) if isinstance(whole, Panels) else Int8Table(whole, linear.scales)
