"""config.json and generation_config.json, read into values. What we do not run is refused by name, never guessed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from llama_gui.engine.cache_layout import CacheLayout
from llama_gui.engine.conv_config import ConvConfig, read_conv, with_lfm2_names
from llama_gui.engine.delta_config import DeltaConfig, read_delta
from llama_gui.engine.expert_config import ERNIE_NAMES, ExpertConfig, read_experts, with_names_of_qwen
from llama_gui.engine.families import FAMILIES, Family
from llama_gui.engine.fields import MOST_INTEGER, Fields, brief_list, read_json, shown
from llama_gui.engine.gating import CLAMPED_AT, CLAMPED_SLOPE, Gate
from llama_gui.engine.gemma4_config import (
    BACKBONE,
    BOTH_WAYS,
    Gemma4Config,
    layout_of,
    read_gemma4,
    read_gemma4_experts,
)
from llama_gui.engine.granite_config import is_dense, knows_positions, with_granite4_names, with_multipliers
from llama_gui.engine.mamba_config import MambaConfig, read_mamba
from llama_gui.engine.nemotron_config import read_split, with_nemotron_names
from llama_gui.engine.quantisation_config import QUANTISATION, Fp8Config, read_fp8, read_mxfp4
from llama_gui.engine.rope_config import RopeConfig, check_rotation, read_rope, read_ropes, rotary_dim, with_alpha
from llama_gui.engine.split_layers import SplitLayers
from llama_gui.engine.window_config import sliding_layers, unrotated_layers, window_of
from llama_gui.errors import BrokenModelError, InvalidRequestError, ModelNotFoundError, UnsupportedModelError
from llama_gui.vocabulary import SamplingParams

Recurrence = DeltaConfig | ConvConfig | MambaConfig
"""What some layers have in the place of attention, and what keeps a state."""

FILE_DTYPES = ("float32", "float16", "bfloat16")

CAPS = ("attn_logit_softcapping", "final_logit_softcapping")
"""Of scores and of logits. In GGUF files they are called the same."""
_HIGHEST_CAP = 60.0
"""Of scores: up to it torch's attention needs no largest score, see `attend_capped`."""

_REFUSED_ELSEWHERE = ("clip_qkv", "use_bias", "sparse_config")
"""What the first OLMo had, and OLMoE's config.json has a place for; what no released ERNIE 4.5 has; and what people add
to MiniCPM's, so that it does not see all of long texts."""

_MOST_LAYERS = 10_000  # a table with a row per layer is made before the weights are checked


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """Everything that shapes the network, under the field names of config.json where it has them.

    What has a default below is that of Gemma, Granite, OLMo, EXAONE or gpt-oss alone.
    """

    architecture: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float
    max_position_embeddings: int
    rope: RopeConfig
    tie_word_embeddings: bool
    qkv_bias: bool
    out_bias: bool
    mlp_bias: bool
    qk_norm: bool
    """Each head of queries and keys is normed before it is rotated; see `whole_qk_norm`."""
    fuses_heads: bool
    """The files hold queries, keys and values in one weight."""
    fuses_mlp: bool
    """The files hold gate and up in one weight."""
    paired: bool
    """The files hold the rows of queries and keys in pairs; see `PairedRows`."""
    sliding_window: int | None
    """How many of the last tokens, themselves included, the `sliding_layers` see; None: there are no such layers."""
    sliding_layers: frozenset[int]
    unrotated_layers: frozenset[int]
    """Layers whose heads do not know positions (NoPE)."""
    local_rope: RopeConfig | None
    """The rotation of `sliding_layers`, where it differs from `rope` (Gemma, OLMo 3)."""
    reads_pictures: bool
    """The files hold a vision network as well, which is left aside."""
    dtype: str
    """In which the weights were saved: one of `FILE_DTYPES`."""
    eos_token_ids: frozenset[int]
    embedding_scale: float = 1.0
    """Multiplies the embeddings that are looked up (Gemma, Granite)."""
    logits_scale: float = 1.0
    """Multiplies the logits (Granite, whose other multipliers are in `rms_norm_eps` and `rope`, see `_multiplied`)."""
    post_norms: bool = False
    """The outputs of attention and MLP are normed before they are added."""
    pre_norms: bool = True
    """What goes into attention and MLP is normed (all but OLMo, EXAONE)."""
    norms_turned: bool = False
    """Heads are normed after they were rotated (Hunyuan)."""
    whole_qk_norm: bool = False
    """All heads of the queries are normed as one, and all of the keys, in the place of each (OLMo)."""
    norm_shift: float = 0.0
    """Is added to the weights of norms."""
    rounds_scale: bool = False
    """`embedding_scale` is rounded to the dtype of the weights."""
    gate: Gate = "silu"
    """The activation in the MLP."""
    experts: ExpertConfig | None = None
    """In the place of MLPs, see `experts_of`; None: there are none."""
    has_sinks: bool = False
    """Each head has a logit that takes part in the softmax of its scores, and stands for no value (gpt-oss)."""
    part_names: Mapping[str, str] = field(default_factory=dict[str, str])
    """See `Family.part_names`."""
    stored_kind: str = ""
    """The type that the files hold the experts in, by GGUF's names; "": they are plain (gpt-oss)."""
    fp8: Fp8Config | None = None
    """How the files hold matrices in FP8; None: they hold plain numbers."""
    score_cap: float | None = None
    """Scores come softly near it, at most: they are ``cap * tanh(score / cap)`` (Gemma 2)."""
    logits_cap: float | None = None
    """The same of logits."""
    gemma4: Gemma4Config | None = None
    """What layers without a window have otherwise, and more; None: it is no Gemma 4."""
    delta: DeltaConfig | None = None
    """Which layers have a gated delta net in the place of attention, whose output is gated then; None: none has."""
    conv: ConvConfig | None = None
    """Which layers have a short convolution there; None: none has."""
    mamba: MambaConfig | None = None
    """Which layers have a state space there; None: none has."""
    split: SplitLayers | None = None
    """Where the halves of layers are in the files, and which layers have only the first; None: layers are whole."""
    mtp_layers: int = 0
    """So many more layers have keys and values beside those of these: they guess further tokens, see `MtpLayer`."""
    lent: CacheLayout | None = None
    """It is such a layer alone, and this is what is kept of the whole network; None: it is a network."""

    @property
    def rotary_dim(self) -> int:
        """How many dimensions of each head are rotated: the first ones."""
        return rotary_dim(self.head_dim, self.rope)

    def head_dim_of(self, layer: int) -> int:
        """How wide the heads of `layer` are."""
        other = self._full(layer)
        return self.head_dim if other is None else other.full_head_dim

    def kv_heads_of(self, layer: int) -> int:
        """How many key heads `layer` has, or attends to."""
        other = self._full(layer)
        return self.num_key_value_heads if other is None else other.full_kv_heads

    def intermediate_of(self, layer: int) -> int:
        """How wide the MLP of `layer` is."""
        if self.gemma4 is None or not self.borrows(layer):
            return self.intermediate_size
        return self.gemma4.borrowing_intermediate

    def borrows(self, layer: int) -> bool:
        """Whether `layer` attends to the keys and values of another, and has none of its own."""
        return layer >= self.keeping_layers

    @property
    def is_assistant(self) -> bool:
        """Whether it only guesses for another network, see `Assistant`."""
        return self.gemma4 is not None and self.gemma4.backbone > 0

    @property
    def keeping_layers(self) -> int:
        """So many layers, the first ones, have keys and values of their own."""
        return self.num_hidden_layers - (0 if self.gemma4 is None else self.gemma4.borrowing_layers)

    def values_are_keys(self, layer: int) -> bool:
        """Whether `layer` has no projection for values, which are its keys before norm and rotation."""
        other = self._full(layer)
        return other is not None and other.values_are_keys

    def _full(self, layer: int) -> Gemma4Config | None:
        """What `layer` has otherwise than those with a window; None: nothing."""
        return None if layer in self.sliding_layers else self.gemma4

    @property
    def cache_layout(self) -> CacheLayout:
        """Which keys and values are kept."""
        if self.lent is not None:
            return self.lent
        layers = self.num_hidden_layers + self.mtp_layers
        if self.recurrent is not None:
            return CacheLayout.of_some(layers, self.recurrent.layers, self.num_key_value_heads, self.head_dim)
        if self.gemma4 is None:
            return CacheLayout.even(layers, self.num_key_value_heads, self.head_dim)
        return layout_of(self.gemma4, (self.num_key_value_heads, self.head_dim), self.sliding_layers, layers)

    @property
    def whole_parts(self) -> frozenset[int]:
        """The parts of `cache_layout` in whose layers rows of an image see each other, with `ImageSpan.is_whole`."""
        layout = self.cache_layout
        if self.gemma4 is None:
            return frozenset(range(len(layout.parts)))
        return frozenset(layout.places[layer][0] for layer in self.sliding_layers)

    @property
    def rope_widths(self) -> tuple[int, ...]:
        """How wide the heads are that each of the `ropes` rotates."""
        full = self.head_dim if self.gemma4 is None else self.gemma4.full_head_dim
        return (full,) if self.local_rope is None else (full, self.head_dim)

    @property
    def ropes(self) -> tuple[RopeConfig, ...]:
        """All rotations; see `rope_of`."""
        return (self.rope,) if self.local_rope is None else (self.rope, self.local_rope)

    def rope_of(self, layer: int) -> int:
        """Which of `ropes` that of `layer` is."""
        return int(self.local_rope is not None and layer in self.sliding_layers)

    @property
    def recurrent(self) -> Recurrence | None:
        """What some layers have in the place of attention, which keeps a state; None: all attend."""
        found = self.delta or self.conv or self.mamba
        return found if found is not None and found.layers else None

    def recurrent_of(self, layer: int) -> Recurrence | None:
        """The same of `layer`; None: it attends."""
        found = self.recurrent
        return found if found is not None and layer in found.layers else None

    def experts_of(self, layer: int) -> ExpertConfig | None:
        """Those of `layer`; None: it has an MLP, or neither."""
        if self.experts is None or layer < self.experts.plain_layers or self.is_bare(layer):
            return None
        return self.experts

    def is_bare(self, layer: int) -> bool:
        """Whether `layer` has no feed-forward part."""
        return self.split is not None and self.split.seconds[layer] is None

    def within(self, context: int) -> Self:
        """The same for conversations of at most `context` tokens."""
        local = None if self.local_rope is None else self.local_rope.within(context)
        return replace(self, rope=self.rope.within(context), local_rope=local)


@dataclass(frozen=True, slots=True)
class GenerationDefaults:
    """What generation_config.json recommends: how to sample, and which tokens end an answer."""

    sampling: SamplingParams
    eos_token_ids: frozenset[int]


def load_config(folder: Path, *, is_headless: bool = False) -> NetworkConfig:
    """Read `folder`/config.json. `is_headless`: of a network without its projection to the vocabulary.

    Raises:
        ModelNotFoundError: the folder or the file does not exist.
        BrokenModelError: the file is damaged.
        UnsupportedModelError: it asks for an architecture or an option that we do not run.
    """
    if not folder.is_dir():
        raise ModelNotFoundError(f"There is no model folder at {folder}. Check the path, or pick another model.")
    file = folder / "config.json"
    values = read_json(file)
    return network_config(Fields(_with_head(values) if is_headless else values, file))


def _with_head(values: dict[str, Any]) -> dict[str, Any]:
    """As of the whole architecture, if it names its inner part ("Qwen3Model"); the embedding is head enough."""
    values = {**values, "tie_word_embeddings": True}
    match values.get("architectures"):
        case [str(name)] if name.endswith("Model"):
            return {**values, "architectures": [name.removesuffix("Model") + "ForCausalLM"]}
        case _:
            return values


def network_config(fields: Fields) -> NetworkConfig:
    """The network that the fields of a config.json describe. Raises what `load_config` raises."""
    architecture = _architecture(fields)
    family = FAMILIES[architecture]
    if family.reads_pictures or family.is_assistant:
        fields = _text_part(fields)
    if family.reads_pictures:
        family = _text_family(fields, family)
    fields = _with_defaults(fields, family)
    if family.is_hybrid:
        fields = with_granite4_names(fields)
    split = read_split(fields) if family.splits_layers else None
    if split is not None:
        fields = with_nemotron_names(fields, split)
    if family.experts is ERNIE_NAMES:
        fields = with_names_of_qwen(fields, fields.integer("num_hidden_layers", most=_MOST_LAYERS))
    if family.has_convs:
        fields = with_lfm2_names(fields)
    if family.has_scales:
        fields = with_multipliers(fields)
    _refuse_options(fields, family)
    heads = fields.integer("num_attention_heads")
    hidden = fields.integer("hidden_size")
    layers = fields.integer("num_hidden_layers", most=_MOST_LAYERS)
    qkv_bias, out_bias, mlp_bias = _biases(fields, family)
    window = window_of(fields, family)
    sliding = sliding_layers(fields, family, layers) if window else frozenset[int]()
    unrotated = unrotated_layers(fields, family, layers)
    if window and family.rotates_windows:
        unrotated = frozenset(range(layers)) - sliding
    head_dim = fields.integer("head_dim", max(hidden // heads, 1))
    rope, local_rope = _ropes(with_alpha(fields, head_dim) if family.has_alpha else fields, family)
    config = NetworkConfig(
        architecture=architecture,
        vocab_size=fields.integer("vocab_size"),
        hidden_size=hidden,
        intermediate_size=fields.integer("intermediate_size"),
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=fields.integer("num_key_value_heads", heads),
        head_dim=head_dim,
        rms_norm_eps=fields.number("rms_norm_eps", 1e-6),
        max_position_embeddings=fields.integer("max_position_embeddings", 2048),
        rope=rope,
        tie_word_embeddings=fields.flag("tie_word_embeddings", False),
        qkv_bias=qkv_bias,
        out_bias=out_bias,
        mlp_bias=mlp_bias,
        qk_norm=family.qk_norm,
        fuses_heads=family.fuses_heads,
        fuses_mlp=family.fuses_mlp,
        paired=family.paired,
        sliding_window=window,
        sliding_layers=sliding,
        unrotated_layers=unrotated,
        local_rope=local_rope if window else None,
        reads_pictures=family.reads_pictures,
        dtype=_dtype(fields),
        eos_token_ids=fields.token_ids("eos_token_id"),
        post_norms=family.norms_outputs,
        pre_norms=family.norms_inputs,
        part_names=family.part_names,
        gate="squared" if family.squares else "silu",
        norms_turned=family.norms_turned,
        whole_qk_norm=family.whole_qk_norm,
        experts=_experts(fields, family, layers),
        fp8=None if family.has_sinks else read_fp8(fields),
    )
    if family.is_gemma4:
        return _as_gemma4(config, fields)
    _check_heads(config, fields)
    if family.is_gemma:
        return _as_gemma(config, fields)
    if family.has_sinks:
        return _as_gpt_oss(config, fields)
    if family.has_deltas:
        return replace(config, norm_shift=1.0, delta=read_delta(fields, layers, grouped=family.groups_deltas))
    if family.has_convs:
        return replace(config, conv=read_conv(fields, layers, hidden))
    if family.may_have_mambas:
        config = replace(config, mamba=read_mamba(fields, layers, hidden), split=split)
    return _multiplied(config, fields) if family.multiplies else config


def _experts(fields: Fields, family: Family, layers: int) -> ExpertConfig | None:
    if family.experts is None or (family.may_have_mambas and is_dense(fields)):
        return None
    experts = read_experts(fields, family.experts, layers=layers)
    if not family.splits_layers:
        return experts
    return replace(experts, scale=fields.number("routed_scaling_factor", 1.0))


def _biases(fields: Fields, family: Family) -> tuple[bool, bool, bool]:
    """Whether the projections have some: of queries, keys and values; of attention's output; of the MLP."""
    attention, mlp = fields.flag("attention_bias", False), fields.flag("mlp_bias", False)
    return (
        attention if family.qkv_bias is None else family.qkv_bias,
        fields.flag("attention_out_bias", attention) if family.out_bias is None else family.out_bias,
        mlp if family.mlp_bias is None else family.mlp_bias,
    )


def _ropes(fields: Fields, family: Family) -> tuple[RopeConfig, RopeConfig | None]:
    """The rotation, and that of layers with a window where the family has another one there."""
    if family.has_local_rope:
        return read_ropes(fields, None if family.is_gemma else "rope_theta")
    rope = read_rope(fields, rotates_partly=family.rotates_partly)
    is_still = family.splits_layers or (family.is_hybrid and not knows_positions(fields))
    return replace(rope, is_still=is_still), None


def _check_heads(config: NetworkConfig, fields: Fields) -> None:
    if config.num_attention_heads % config.num_key_value_heads:
        raise fields.wrong("num_key_value_heads", f"a divisor of num_attention_heads ({config.num_attention_heads})")
    if config.head_dim % 2:
        # Not `fields.wrong`: where the file does not have the field, the number was computed.
        raise BrokenModelError(f"{fields.file}: head_dim is {config.head_dim}, but it must be an even number.")
    for rope, width in zip(config.ropes, config.rope_widths, strict=True):
        check_rotation(fields, width, rope)


def _text_part(fields: Fields) -> Fields:
    """The fields of `text_config`, and those outside of it that hold for all parts."""
    inner = fields.values.get("text_config")
    if inner is None and "hidden_size" in fields.values:  # Qwen2-VL and Qwen2.5-VL do not part them
        return Fields({**fields.values, "model_type": None}, fields.file)
    if not isinstance(inner, dict):
        raise fields.wrong("text_config", "an object")
    shared = ("dtype", "torch_dtype", "eos_token_id", "tie_word_embeddings", BACKBONE, *QUANTISATION)
    outer = {name: fields.values[name] for name in shared if fields.values.get(name) is not None}
    return Fields({**inner, **outer}, fields.file)


def _text_family(fields: Fields, otherwise: Family) -> Family:
    """That of the part for text; `otherwise`: where it does not say."""
    kind = fields.values.get("model_type")
    if kind is None:
        return otherwise
    names = (kind, str(kind).removesuffix("_text"))  # as Qwen's parts for text are called
    found = next((family for family in FAMILIES.values() if family.model_type in names), None)
    if found is None:
        raise UnsupportedModelError(
            f"{fields.file}: its part for text is of the type {shown(kind)}, which is not supported. "
            "Choose another model."
        )
    return replace(found, reads_pictures=True)


def _with_defaults(fields: Fields, family: Family) -> Fields:
    """null counts as missing, except where it means that there is none."""
    or_none = ("sliding_window", BOTH_WAYS, *CAPS)
    said = {name: value for name, value in fields.values.items() if value is not None or name in or_none}
    return Fields({**family.defaults, **said}, fields.file)


def _as_gemma(config: NetworkConfig, fields: Fields) -> NetworkConfig:
    """Gemma scales its embeddings, and its scores by `query_pre_attn_scalar`, which usually is the head dimension."""
    scalar = fields.number("query_pre_attn_scalar", 256.0)
    scores, logits = (_cap(fields, name) for name in CAPS)
    if scores is not None and scores > _HIGHEST_CAP:
        raise UnsupportedModelError(
            f"{fields.file}: {CAPS[0]} is {scores:g}, and at most {_HIGHEST_CAP:g} is supported. Choose another model."
        )
    made = _attending(_of_all_gemmas(config, logits), scalar**-0.5)
    return replace(made, norm_shift=1.0, score_cap=scores)


def _of_all_gemmas(config: NetworkConfig, logits_cap: float | None) -> NetworkConfig:
    return replace(
        config,
        embedding_scale=math.sqrt(config.hidden_size),
        post_norms=True,
        rounds_scale=True,
        gate="gelu",
        logits_cap=logits_cap,
    )


def _cap(fields: Fields, name: str) -> float | None:
    return None if fields.values.get(name) is None else fields.number(name)


def _as_gemma4(config: NetworkConfig, fields: Fields) -> NetworkConfig:
    """Gemma 4 has no shift of its norms and no scale of its scores, and its last layer always sees all."""
    if config.sliding_window is None:
        raise fields.wrong("sliding_window", f"a whole number from 1 to {MOST_INTEGER}")
    sliding = config.sliding_layers - {config.num_hidden_layers - 1}
    gemma4 = read_gemma4(fields, sliding, config.num_hidden_layers)
    full = replace(config, head_dim=gemma4.full_head_dim, num_key_value_heads=gemma4.full_kv_heads, local_rope=None)
    _check_heads(full, fields)
    config = replace(
        _of_all_gemmas(config, None if gemma4.backbone else _cap(fields, CAPS[1])),
        sliding_layers=sliding,
        gemma4=gemma4,
        experts=read_gemma4_experts(fields, config.num_hidden_layers),
    )
    _check_heads(config, fields)
    return config


def _as_gpt_oss(config: NetworkConfig, fields: Fields) -> NetworkConfig:
    """gpt-oss has sinks (Xiao et al. 2023), and keeps gate and up within limits, which all of its models share."""
    for name, known in (("swiglu_alpha", CLAMPED_SLOPE), ("swiglu_limit", CLAMPED_AT)):
        if fields.values.get(name, known) != known:
            raise UnsupportedModelError(
                f"{fields.file}: {name} is {shown(fields.values[name])}, and only {known:g} is supported. "
                "Choose another model."
            )
    return replace(config, gate="clamped", has_sinks=True, stored_kind=read_mxfp4(fields))


def _attending(config: NetworkConfig, scale: float) -> NetworkConfig:
    """With `scale` in place of ``head_dim ** -0.5``: scores are products of rotated queries and keys."""

    def scaled(rope: RopeConfig) -> RopeConfig:
        return replace(rope, attention_factor=rope.attention_factor * math.sqrt(scale * math.sqrt(config.head_dim)))

    local = None if config.local_rope is None else scaled(config.local_rope)
    return replace(config, rope=scaled(config.rope), local_rope=local)


def _multiplied(config: NetworkConfig, fields: Fields) -> NetworkConfig:
    """With Granite's multipliers folded into other values, so that they cost nothing in the layers.

    Each layer adds `residual_multiplier` times its output to the residual stream. If the stream is divided by that
    factor, layers add without one, and the norms, which remove any factor, only need another epsilon.
    `attention_multiplier`, which takes the place of ``head_dim ** -0.5``, goes into the rotation.
    """
    embedding, residual, attention, logits = (
        fields.number(name, 1.0)
        for name in ("embedding_multiplier", "residual_multiplier", "attention_multiplier", "logits_scaling")
    )
    return replace(
        _attending(config, attention),
        embedding_scale=embedding / residual,
        logits_scale=1 / logits,
        rms_norm_eps=config.rms_norm_eps / residual**2,
    )


def _architecture(fields: Fields) -> str:
    names = fields.values.get("architectures")
    if names is None:  # an old file; the other name says the same
        kind = fields.values.get("model_type")
        names = [name for name, family in FAMILIES.items() if family.model_type == kind]
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise fields.wrong("architectures", "a list with the name of the network's architecture")
    if names[0] not in FAMILIES:
        raise UnsupportedModelError(
            f"{fields.file}: the architecture {shown(names[0])} is not supported. "
            f"Supported: {brief_list([*FAMILIES])}. Choose another model."
        )
    return names[0]


def _refuse_options(fields: Fields, family: Family) -> None:
    values = fields.values
    name, known = ("hidden_activation", "gelu_pytorch_tanh") if family.is_gemma else ("hidden_act", "silu")
    known = "relu2" if family.squares else known
    if values.get(name, known) != known:
        raise UnsupportedModelError(f"{fields.file}: the activation {shown(values[name])} is not supported.")
    of_gemma = (BOTH_WAYS, *(() if family.has_caps else CAPS))
    if family.is_gemma4:
        of_gemma = CAPS[:1]
    asked = [name for name in (of_gemma if family.is_gemma else _REFUSED_ELSEWHERE) if values.get(name)]
    if values.get("is_causal") is False:  # it attends in both directions, as some models for embeddings do
        asked.append("is_causal: false")
    if asked:
        raise UnsupportedModelError(f"{fields.file}: {asked[0]} is not supported. Choose another model.")


def _dtype(fields: Fields) -> str:
    """The dtype that the weights were saved in; `torch_dtype` is the older name."""
    name = fields.values.get("dtype", fields.values.get("torch_dtype")) or "float32"
    return name if name in FILE_DTYPES else "float32"


def load_generation_defaults(folder: Path) -> GenerationDefaults:
    """Read `folder`/generation_config.json; a model without one recommends nothing.

    Raises:
        BrokenModelError: the file is damaged, or recommends a value that is out of range.
    """
    file = folder / "generation_config.json"
    if not file.exists():
        return GenerationDefaults(SamplingParams(), frozenset())
    return generation_defaults(Fields(read_json(file), file))


def generation_defaults(fields: Fields) -> GenerationDefaults:
    """What the fields of a generation_config.json recommend. Raises what `load_generation_defaults` raises."""
    names = ("temperature", "top_k", "top_p", "min_p", "typical_p", "repetition_penalty")
    values = {name: fields.values.get(name) for name in names}
    if fields.values.get("do_sample") is False:
        values["temperature"] = 0.0
    values["banned_token_ids"] = sorted(fields.token_ids("suppress_tokens")) or None
    try:
        sampling = SamplingParams(**values)
    except InvalidRequestError as error:
        raise fields.wrong(error.field, error.allowed) from error
    if (sampling.top_k or 0) > MOST_INTEGER:
        raise fields.wrong("top_k", f"a whole number from 0 to {MOST_INTEGER}")
    return GenerationDefaults(sampling, fields.token_ids("eos_token_id"))
