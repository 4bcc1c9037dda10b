"""The weights of a network: their names in a checkpoint (those of Hugging Face), their shapes, and how many numbers."""

import math
from collections.abc import Iterator

from llama_gui.engine.checkpoint import Shape
from llama_gui.engine.config import NetworkConfig
from llama_gui.engine.expert_config import ExpertConfig, ExpertNames, bias_of
from llama_gui.engine.weight_rows import PairedRows

TABLE, HEAD = "model.embed_tokens.weight", "lm_head.weight"
QKV, QKV_FUSED = ("q_proj", "k_proj", "v_proj"), ("qkv_proj",)
GATE_UP, GATE_UP_FUSED, UP_ALONE = ("gate_proj", "up_proj"), ("gate_up_proj",), ("up_proj",)

IGNORED_WEIGHTS = ("rotary_emb.inv_freq",)
"""Buffers that old checkpoints carry; we compute them."""


def weight_shapes(config: NetworkConfig) -> dict[str, Shape]:
    """The name and shape of every weight that a checkpoint of this network holds."""
    hidden, inner = config.hidden_size, config.intermediate_size
    q, kv = config.num_attention_heads * config.head_dim, config.num_key_value_heads * config.head_dim
    vocabulary = (config.vocab_size, hidden)
    shapes: dict[str, Shape] = {TABLE: vocabulary, "model.norm.weight": (hidden,)}
    if not config.tie_word_embeddings:
        shapes[HEAD] = vocabulary
    attention = {"qkv_proj": q + 2 * kv} if config.fuses_heads else {"q_proj": q, "k_proj": kv, "v_proj": kv}
    mlp = {"gate_up_proj": 2 * inner} if config.fuses_mlp else dict.fromkeys(GATE_UP, inner)
    if config.gate == "squared":
        mlp = dict.fromkeys(UP_ALONE, inner)
    parts: dict[str, tuple[Shape, bool]] = {
        **{f"self_attn.{name}": ((out, hidden), config.qkv_bias) for name, out in attention.items()},
        "self_attn.o_proj": ((hidden, q), config.out_bias),
    }
    plain = {f"mlp.{name}": ((out, hidden), config.mlp_bias) for name, out in mlp.items()}
    plain["mlp.down_proj"] = ((hidden, inner), config.mlp_bias)
    names = ["post_attention", *(["input"] if config.pre_norms else [])]
    if config.post_norms:
        names += ["post_feedforward", *(["pre_feedforward"] if config.pre_norms else [])]
    norms: dict[str, Shape] = {f"{name}_layernorm": (hidden,) for name in names}
    if config.has_sinks:
        norms["self_attn.sinks"] = (config.num_attention_heads,)
    if config.qk_norm:
        of_q, of_k = (q, kv) if config.whole_qk_norm else (config.head_dim, config.head_dim)
        norms |= {"self_attn.q_norm": (of_q,), "self_attn.k_norm": (of_k,)}
    for layer in range(config.num_hidden_layers):
        prefix = f"model.layers.{layer}."
        shapes |= {f"{prefix}{name}.weight": shape for name, shape in norms.items()}
        experts = config.experts_of(layer)
        here = parts | plain if experts is None else parts
        shapes |= {f"{prefix}{name}.weight": shape for name, (shape, _) in here.items()}
        shapes |= {f"{prefix}{name}.bias": shape[:1] for name, (shape, has_bias) in here.items() if has_bias}
        if experts is not None:
            shapes |= {f"{prefix}{name}": shape for name, shape in _expert_shapes(experts, hidden)}
    return shapes


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


def _expert_shapes(experts: ExpertConfig, hidden: int) -> Iterator[tuple[str, Shape]]:
    """Of one layer."""
    names = experts.names
    if names.has_biases:
        yield from _expert_biases(experts, hidden)
    if names.shared:
        yield from _shared_shapes(experts, hidden)
    if names.correction:
        yield names.correction, _row(experts.count, names)
    yield names.router, (experts.count, hidden)
    matrices = {name: (2 * experts.inner // len(names.gate_up), hidden) for name in names.gate_up}
    for name, shape in {**matrices, names.down: (hidden, experts.inner)}.items():
        if names.is_stacked:
            yield name, (experts.count, *shape)
        else:
            yield from ((name.format(number), shape) for number in range(experts.count))


def _shared_shapes(experts: ExpertConfig, hidden: int) -> Iterator[tuple[str, Shape]]:
    names = experts.names
    for part in GATE_UP:
        yield names.shared.format(part), (experts.shared, hidden)
    yield names.shared.format("down_proj"), (hidden, experts.shared)
    if names.shared_gate:
        yield names.shared_gate, _row(hidden, names)


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


def layer_parameters(config: NetworkConfig) -> int:
    """Those of all layers but of the routers."""
    vocabulary = config.vocab_size * config.hidden_size * (1 if config.tie_word_embeddings else 2)
    return parameter_count(config) - vocabulary - router_parameters(config)


def router_parameters(config: NetworkConfig) -> int:
    """Those of the routers, and of what else decides where a token goes, which are held in float32."""
    if config.experts is None:
        return 0
    count, names = config.experts.count, config.experts.names
    in_layer = count * (config.hidden_size + names.has_biases + bool(names.correction))
    return _mixtures(config) * (in_layer + (config.hidden_size if names.shared_gate else 0))


def _mixtures(config: NetworkConfig) -> int:
    """So many layers have experts."""
    return 0 if config.experts is None else config.num_hidden_layers - config.experts.plain_layers


def expert_parameters(config: NetworkConfig) -> int:
    """Those of the matrices of all experts that are chosen."""
    if config.experts is None:
        return 0
    return 3 * _mixtures(config) * config.experts.count * config.experts.inner * config.hidden_size


def idle_parameters(config: NetworkConfig) -> int:
    """Those of the experts that a token does not go through."""
    if config.experts is None:
        return 0
    return expert_parameters(config) * (config.experts.count - config.experts.chosen) // config.experts.count
