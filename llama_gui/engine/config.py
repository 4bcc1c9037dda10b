"""config.json, read into a `NetworkConfig`. What we do not run is refused by name, never guessed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from llama_gui.engine.conv_config import with_lfm2_names
from llama_gui.engine.expert_config import ERNIE_NAMES, ExpertConfig, read_experts, with_names_of_qwen
from llama_gui.engine.families import FAMILIES, Family
from llama_gui.engine.family_config import CAPS, of_family
from llama_gui.engine.fields import Fields, brief_list, read_json, shown
from llama_gui.engine.gemma4_config import BACKBONE, BOTH_WAYS
from llama_gui.engine.granite_config import is_dense, knows_positions, with_granite4_names, with_multipliers
from llama_gui.engine.nemotron_config import read_split, with_nemotron_names
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.quantisation_config import QUANTISATION, read_fp8
from llama_gui.engine.rope_config import RopeConfig, read_rope, read_ropes, with_alpha
from llama_gui.engine.split_layers import SplitLayers
from llama_gui.engine.window_config import sliding_layers, unrotated_layers, window_of
from llama_gui.errors import ModelNotFoundError, UnsupportedModelError

FILE_DTYPES = ("float32", "float16", "bfloat16")

_REFUSED_ELSEWHERE = ("clip_qkv", "use_bias", "sparse_config")
"""What the first OLMo had, and OLMoE's config.json has a place for; what no released ERNIE 4.5 has; and what people add
to MiniCPM's, so that it does not see all of long texts."""

_MOST_LAYERS = 10_000  # a table with a row per layer is made before the weights are checked


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
    split = read_split(fields) if family.splits_layers else None
    fields = _with_our_names(fields, family, split)
    _refuse_options(fields, family)
    heads, hidden = fields.integer("num_attention_heads"), fields.integer("hidden_size")
    layers = fields.integer("num_hidden_layers", most=_MOST_LAYERS)
    head_dim = fields.integer("head_dim", max(hidden // heads, 1))
    qkv_bias, out_bias, mlp_bias = _biases(fields, family)
    window, sliding, unrotated = _windows(fields, family, layers)
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
        split=split,
    )
    return of_family(config, fields, family)


def _with_our_names(fields: Fields, family: Family, split: SplitLayers | None) -> Fields:
    """As Llama calls what the family calls otherwise."""
    if family.is_hybrid:
        fields = with_granite4_names(fields)
    if split is not None:
        fields = with_nemotron_names(fields, split)
    if family.experts is ERNIE_NAMES:
        fields = with_names_of_qwen(fields, fields.integer("num_hidden_layers", most=_MOST_LAYERS))
    if family.has_convs:
        fields = with_lfm2_names(fields)
    return with_multipliers(fields) if family.has_scales else fields


def _windows(fields: Fields, family: Family, layers: int) -> tuple[int | None, frozenset[int], frozenset[int]]:
    """How many tokens layers with a window see, which those are, and which layers do not know positions."""
    window = window_of(fields, family)
    sliding = sliding_layers(fields, family, layers) if window else frozenset[int]()
    if window and family.rotates_windows:
        return window, sliding, frozenset(range(layers)) - sliding
    return window, sliding, unrotated_layers(fields, family, layers)


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
