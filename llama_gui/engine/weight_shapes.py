"""The weights of a network: their names in a checkpoint (those of Hugging Face), their shapes, and how many numbers."""

import math
from collections.abc import Iterator, Sequence

from llama_gui.engine.checkpoint import Shape
from llama_gui.engine.conv_config import ConvConfig
from llama_gui.engine.delta_config import DeltaConfig
from llama_gui.engine.expert_config import ExpertConfig, ExpertNames, bias_of
from llama_gui.engine.gemma4_config import Gemma4Config
from llama_gui.engine.mamba_config import MambaConfig
from llama_gui.engine.network_config import NetworkConfig, Recurrence
from llama_gui.engine.weight_rows import GroupedRows, PairedRows

BEFORE, BEHIND = "pre_projection.weight", "post_projection.weight"
"""Of what guesses: what it makes of an embedding and a row of the network, and what an assistant makes of its own."""
EMBEDDING_NORM, ROW_NORM = "embedding_norm.weight", "row_norm.weight"
"""Of a layer that guesses: of both, before it joins them."""
TABLE, HEAD = "model.embed_tokens.weight", "lm_head.weight"
LAYER_TABLE, LAYER_SCALAR = "model.embed_tokens_per_layer.weight", "model.layers.{}.layer_scalar"
QKV, QKV_FUSED = ("q_proj", "k_proj", "v_proj"), ("qkv_proj",)
GATE_UP, GATE_UP_FUSED, UP_ALONE = ("gate_proj", "up_proj"), ("gate_up_proj",), ("up_proj",)

IGNORED_WEIGHTS = ("rotary_emb.inv_freq",)
"""Buffers that old checkpoints carry; we compute them."""


def weight_shapes(config: NetworkConfig) -> dict[str, Shape]:
    """The name and shape of every weight that a checkpoint of this network holds."""
    hidden = config.hidden_size
    vocabulary = (config.vocab_size, hidden)
    shapes: dict[str, Shape] = {TABLE: vocabulary, "model.norm.weight": (hidden,)}
    if not config.tie_word_embeddings:
        shapes[HEAD] = vocabulary
    names = ["post_attention", *(["input"] if config.pre_norms else [])]
    if config.post_norms:
        names += ["post_feedforward", *(["pre_feedforward"] if config.pre_norms else [])]
    norms: dict[str, Shape] = {f"{name}_layernorm": (hidden,) for name in names}
    second = "post_attention_layernorm"  # which a layer without a feed-forward part does not have
    if config.has_sinks:
        norms["self_attn.sinks"] = (config.num_attention_heads,)
    for layer in range(config.num_hidden_layers):
        prefix = f"model.layers.{layer}."
        recurrent = config.recurrent_of(layer)
        if recurrent is not None:
            shapes |= {f"{prefix}{name}": shape for name, shape in _recurrent_shapes(recurrent, hidden)}
        here = norms | _head_norms(config, layer)
        if config.is_bare(layer):
            del here[second]
        shapes |= {f"{prefix}{name}.weight": shape for name, shape in here.items()}
        experts = config.experts_of(layer)
        attention = _attention(config, layer) if recurrent is None else {}
        has_mlp = (experts is None or config.gemma4 is not None) and not config.is_bare(layer)
        parts = attention | (_mlp(config, layer) if has_mlp else {})
        shapes |= {f"{prefix}{name}.weight": shape for name, (shape, _) in parts.items()}
        shapes |= {f"{prefix}{name}.bias": shape[:1] for name, (shape, has_bias) in parts.items() if has_bias}
        if experts is not None:
            shapes |= {f"{prefix}{name}": shape for name, shape in _expert_shapes(experts, hidden)}
    if config.lent is not None:
        shapes |= {BEFORE: (hidden, 2 * hidden), EMBEDDING_NORM: (hidden,), ROW_NORM: (hidden,)}
    return shapes if config.gemma4 is None else shapes | _gemma4_shapes(config, config.gemma4)


def _attention(config: NetworkConfig, layer: int) -> dict[str, tuple[Shape, bool]]:
    """The linears of a layer's attention, and whether each has a bias."""
    hidden, width = config.hidden_size, config.head_dim_of(layer)
    q, kv = config.num_attention_heads * width, config.kv_heads_of(layer) * width
    made = {"qkv_proj": q + 2 * kv} if config.fuses_heads else {"q_proj": q, "k_proj": kv, "v_proj": kv}
    if config.delta is not None:
        made["q_proj"] = 2 * q  # and gates
    if config.values_are_keys(layer):
        del made["v_proj"]
    if config.borrows(layer):
        made = {"q_proj": q}
    return {
        **{f"self_attn.{name}": ((out, hidden), config.qkv_bias) for name, out in made.items()},
        "self_attn.o_proj": ((hidden, q), config.out_bias),
    }


def _recurrent_shapes(recurrent: Recurrence, hidden: int) -> Iterator[tuple[str, Shape]]:
    """Of a layer with something in the place of attention, without its norms and MLP."""
    match recurrent:
        case ConvConfig():
            return _conv_shapes(recurrent, hidden)
        case MambaConfig():
            return _mamba_shapes(recurrent, hidden)
        case DeltaConfig():
            return _delta_shapes(recurrent, hidden)


def _mamba_shapes(mamba: MambaConfig, hidden: int) -> Iterator[tuple[str, Shape]]:
    is_gguf, inner, heads = mamba.is_gguf, mamba.inner, mamba.heads
    for name in ("slopes" if is_gguf else "A_log", "D"):
        yield f"mamba.{name}", (heads, 1) if is_gguf else (heads,)
    yield "mamba.dt_bias", (heads,)
    yield "mamba.norm.weight", (mamba.groups, inner // mamba.groups) if is_gguf else (inner,)
    yield "mamba.conv1d.weight", (mamba.mixed_width, *(() if is_gguf else (1,)), mamba.taps)
    if mamba.has_bias:
        yield "mamba.conv1d.bias", (mamba.mixed_width,)
    yield "mamba.in_proj.weight", (mamba.made_width, hidden)
    yield "mamba.out_proj.weight", (hidden, inner)


def _conv_shapes(conv: ConvConfig, hidden: int) -> Iterator[tuple[str, Shape]]:
    between = () if conv.is_gguf else (1,)
    yield "conv.conv.weight", (conv.width, *between, conv.taps)
    yield "conv.in_proj.weight", (3 * conv.width, hidden)
    yield "conv.out_proj.weight", (hidden, conv.width)


def _delta_shapes(delta: DeltaConfig, hidden: int) -> Iterator[tuple[str, Shape]]:
    made = {"in_proj_qkv": delta.mixed_width, "in_proj_z": delta.value_width}
    if delta.groups_inputs:
        made = {"in_proj_qkvz": delta.mixed_width + delta.value_width}
    rates = dict.fromkeys(("in_proj_b", "in_proj_a"), delta.value_heads)
    if delta.groups_rates:
        rates = {"in_proj_ba": 2 * delta.value_heads}
    for name, out in (made | rates).items():
        yield f"linear_attn.{name}.weight", (out, hidden)
    yield "linear_attn.out_proj.weight", (hidden, delta.value_width)
    between = () if delta.is_gguf else (1,)
    yield "linear_attn.conv1d.weight", (delta.mixed_width, *between, delta.taps)
    yield "linear_attn.norm.weight", (delta.value_dim,)
    for name in ("slopes" if delta.is_gguf else "A_log", "dt_bias"):
        yield f"linear_attn.{name}", (delta.value_heads,)


def _mlp(config: NetworkConfig, layer: int) -> dict[str, tuple[Shape, bool]]:
    """The same of its MLP."""
    hidden, inner = config.hidden_size, config.intermediate_of(layer)
    made = {"gate_up_proj": 2 * inner} if config.fuses_mlp else dict.fromkeys(GATE_UP, inner)
    if config.gate == "squared":
        made = dict.fromkeys(UP_ALONE, inner)
    linears = {f"mlp.{name}": ((out, hidden), config.mlp_bias) for name, out in made.items()}
    return {**linears, "mlp.down_proj": ((hidden, inner), config.mlp_bias)}


def _head_norms(config: NetworkConfig, layer: int) -> dict[str, Shape]:
    if not config.qk_norm or config.recurrent_of(layer) is not None:
        return {}
    width = config.head_dim_of(layer)
    of_q, of_k = width, width
    if config.whole_qk_norm:
        of_q, of_k = config.num_attention_heads * width, config.num_key_value_heads * width
    of_heads: dict[str, Shape] = {"self_attn.q_norm": (of_q,), "self_attn.k_norm": (of_k,)}
    return {"self_attn.q_norm": (of_q,)} if config.borrows(layer) else of_heads


def _gemma4_shapes(config: NetworkConfig, gemma4: Gemma4Config) -> dict[str, Shape]:
    """Its scalars, and what makes an input for each layer."""
    hidden, width, layers = config.hidden_size, gemma4.layer_input, config.num_hidden_layers
    shapes: dict[str, Shape] = {LAYER_SCALAR.format(layer): (1,) for layer in range(layers)}
    if config.experts is not None:
        names = ("post_feedforward_layernorm_1", "post_feedforward_layernorm_2", "pre_feedforward_layernorm_2")
        shapes |= {f"model.layers.{layer}.{name}.weight": (hidden,) for layer in range(layers) for name in names}
    if gemma4.backbone:
        shapes |= {BEFORE: (hidden, 2 * gemma4.backbone), BEHIND: (gemma4.backbone, hidden)}
    if not width:
        return shapes
    for layer in range(layers):
        prefix = f"model.layers.{layer}."
        shapes[f"{prefix}per_layer_input_gate.weight"] = (width, hidden)
        shapes[f"{prefix}per_layer_projection.weight"] = (hidden, width)
        shapes[f"{prefix}post_per_layer_input_norm.weight"] = (hidden,)
    return shapes | {
        LAYER_TABLE: (gemma4.layer_vocabulary, layers * width),
        "model.per_layer_model_projection.weight": (layers * width, hidden),
        "model.per_layer_projection_norm.weight": (width,),
    }


def needless_weights(config: NetworkConfig) -> tuple[str, ...]:
    """Weights that some files have and nobody needs: keys and values of layers that borrow them, short cuts.

    These last are a choice among a few thousand tokens, in the place of all, by groups of them.
    """
    cuts = ("masked_embedding.centroids.weight", "masked_embedding.token_ordering") if config.is_assistant else ()
    return cuts + tuple(
        f"model.layers.{layer}.self_attn.{name}.weight"
        for layer in range(config.keeping_layers, config.num_hidden_layers)
        for name in ("k_proj", "v_proj", "k_norm", "v_norm")
    )


def paired_rows(config: NetworkConfig) -> dict[str, PairedRows]:
    """For the weights whose rows are in pairs in some files."""
    queries, keys = config.num_attention_heads, config.num_key_value_heads
    heads = {"qkv_proj": queries + keys} if config.fuses_heads else {"q_proj": queries, "k_proj": keys}
    return {
        f"model.layers.{layer}.self_attn.{name}.{part}": PairedRows(count, config.head_dim, config.rotary_dim)
        for layer in range(config.num_hidden_layers)
        for name, count in heads.items()
        for part in ("weight", "bias")
    }


def grouped_rows(config: NetworkConfig) -> dict[str, GroupedRows]:
    """For the weights whose rows are in groups."""
    delta = config.delta
    if delta is None:
        return {}
    served = delta.value_heads // delta.key_heads
    values = served * delta.value_dim
    orders: dict[str, GroupedRows] = {}
    if delta.groups_inputs:
        orders["in_proj_qkvz"] = GroupedRows(delta.key_heads, (delta.key_dim, delta.key_dim, values, values))
    if delta.groups_rates:
        orders["in_proj_ba"] = GroupedRows(delta.key_heads, (served, served))
    return {
        f"model.layers.{layer}.linear_attn.{name}.weight": order
        for layer in delta.layers
        for name, order in orders.items()
    }


def _expert_shapes(experts: ExpertConfig, hidden: int) -> Iterator[tuple[str, Shape]]:
    """Of one layer."""
    names = experts.names
    if names.has_biases:
        yield from _expert_biases(experts, hidden)
    if names.shared:
        yield from _shared_shapes(experts, hidden)
    if names.correction:
        yield names.correction, _row(experts.count, names)
    if names.router_scale:
        yield names.router_scale, (hidden,)
    if names.scales:
        yield names.scales, (experts.count,)
    yield names.router, (experts.count, hidden)
    rows = (experts.matrices - 1) * experts.inner // len(names.gate_up)
    matrices: dict[str, Shape] = dict.fromkeys(names.gate_up, (rows, hidden))
    for name, shape in {**matrices, names.down: (hidden, experts.inner)}.items():
        if names.is_stacked:
            yield name, (experts.count, *shape)
        else:
            yield from ((name.format(number), shape) for number in range(experts.count))


def _shared_shapes(experts: ExpertConfig, hidden: int) -> Iterator[tuple[str, Shape]]:
    names = experts.names
    for part in shared_parts(names):
        yield names.shared.format(part), (experts.shared * (1 + names.fuses_shared), hidden)
    yield names.shared.format("down_proj"), (hidden, experts.shared)
    if names.shared_gate:
        yield names.shared_gate, _row(hidden, names)


def shared_parts(names: ExpertNames) -> Sequence[str]:
    """What makes the inner numbers of a shared expert."""
    if not names.has_gate:
        return UP_ALONE
    return GATE_UP_FUSED if names.fuses_shared else GATE_UP


def _row(width: int, names: ExpertNames) -> Shape:
    return (width,) if names.are_flat else (1, width)


def _expert_biases(experts: ExpertConfig, hidden: int) -> Iterator[tuple[str, Shape]]:
    """Of stacks."""
    names = experts.names
    yield bias_of(names.router), (experts.count,)
    for name in names.gate_up:
        yield bias_of(name), (experts.count, 2 * experts.inner // len(names.gate_up))
    yield bias_of(names.down), (experts.count, hidden)


def parameter_count(config: NetworkConfig) -> int:
    """The numbers of all weights."""
    return sum(math.prod(shape) for shape in weight_shapes(config).values())


def held_parameters(config: NetworkConfig) -> int:
    """Those that are read into memory."""
    gemma4 = config.gemma4
    left = 0 if gemma4 is None else gemma4.layer_vocabulary * gemma4.layer_input * config.num_hidden_layers
    return parameter_count(config) - left


def layer_parameters(config: NetworkConfig) -> int:
    """Those of all layers but of the routers."""
    vocabulary = config.vocab_size * config.hidden_size * (1 if config.tie_word_embeddings else 2)
    return held_parameters(config) - vocabulary - router_parameters(config)


def router_parameters(config: NetworkConfig) -> int:
    """Those of the routers, and of what else decides where a token goes, which are held in float32."""
    delta = config.delta
    rates = 0 if delta is None else len(delta.layers) * 2 * delta.value_heads * config.hidden_size
    if config.experts is None:
        return rates
    count, names = config.experts.count, config.experts.names
    in_layer = count * (config.hidden_size + names.has_biases + bool(names.correction) + bool(names.scales))
    return rates + _mixtures(config) * (in_layer + (config.hidden_size if names.shared_gate else 0))


def _mixtures(config: NetworkConfig) -> int:
    """So many layers have experts."""
    if config.experts is None:
        return 0
    bare = 0 if config.split is None else len(config.split.bare)
    return config.num_hidden_layers - config.experts.plain_layers - bare


def expert_parameters(config: NetworkConfig) -> int:
    """Those of the matrices of all experts that are chosen."""
    if config.experts is None:
        return 0
    experts = config.experts
    return experts.matrices * _mixtures(config) * experts.count * experts.inner * config.hidden_size


def idle_parameters(config: NetworkConfig) -> int:
    """Those of the experts that a token does not go through."""
    if config.experts is None:
        return 0
    return expert_parameters(config) * (config.experts.count - config.experts.chosen) // config.experts.count
