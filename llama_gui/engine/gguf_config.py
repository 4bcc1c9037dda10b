"""The fields of a GGUF file -> the same values as from config.json and generation_config.json."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from llama_gui.engine.config import network_config
from llama_gui.engine.conv_config import CONV
from llama_gui.engine.delta_config import LINEAR, DeltaConfig
from llama_gui.engine.expert_config import GGUF_FUSED, GGUF_NAMES, GGUF_SHARED, ExpertConfig, ExpertNames
from llama_gui.engine.families import FAMILIES
from llama_gui.engine.family_config import CAPS
from llama_gui.engine.fields import AGAIN, Fields, brief_list, shown
from llama_gui.engine.generation_defaults import GenerationDefaults, generation_defaults
from llama_gui.engine.gguf_file import StoredTensor
from llama_gui.engine.gguf_gemma4 import ARCHITECTURES as GEMMA4
from llama_gui.engine.gguf_gemma4 import read_gemma4_fields
from llama_gui.engine.gguf_mamba import KV_HEADS, RMS_EPS, MambaFields
from llama_gui.engine.gguf_names import LONGROPE_DIVISORS, ROPE_DIVISORS
from llama_gui.engine.gguf_weights import GUESSING_BLOCKS, read_numbers
from llama_gui.engine.network_config import NetworkConfig
from llama_gui.engine.pooling import gguf_embeds
from llama_gui.engine.recurrent_config import ATTENDS
from llama_gui.engine.rope_config import RopeConfig
from llama_gui.engine.rotary import inverse_frequencies
from llama_gui.engine.weight_rows import RowOrder
from llama_gui.engine.weight_shapes import grouped_rows, paired_rows
from llama_gui.errors import BrokenModelError, UnsupportedModelError

ARCHITECTURES = {
    "llama": "LlamaForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "qwen2vl": "Qwen2ForCausalLM",  # Qwen2.5-VL, too; what reads images is another file
    "qwen3vl": "Qwen3ForCausalLM",
    "qwen3vlmoe": "Qwen3MoeForCausalLM",
    "smollm3": "SmolLM3ForCausalLM",
    "granite": "GraniteForCausalLM",
    "qwen2moe": "Qwen2MoeForCausalLM",
    "qwen3moe": "Qwen3MoeForCausalLM",
    "ernie4_5-moe": "Ernie4_5_MoeForCausalLM",
    "granitemoe": "GraniteMoeForCausalLM",
    "granitehybrid": "GraniteMoeHybridForCausalLM",
    "phi3": "Phi3ForCausalLM",
    "gemma2": "Gemma2ForCausalLM",
    "gemma3": "Gemma3ForCausalLM",
    "gemma4": "Gemma4ForCausalLM",
    "gemma4-assistant": "Gemma4AssistantForCausalLM",
    "mistral3": "Ministral3ForCausalLM",
    "olmo2": "Olmo2ForCausalLM",
    "olmoe": "OlmoeForCausalLM",
    "seed_oss": "SeedOssForCausalLM",
    "exaone4": "Exaone4ForCausalLM",
    "ernie4_5": "Ernie4_5ForCausalLM",
    "glm4": "Glm4ForCausalLM",
    "chatglm": "GlmForCausalLM",
    "hunyuan-dense": "HunYuanDenseV1ForCausalLM",
    "minicpm": "MiniCPMForCausalLM",
    "arcee": "ArceeForCausalLM",
    "gpt-oss": "GptOssForCausalLM",
    "qwen35": "Qwen3_5ForCausalLM",
    "qwen35moe": "Qwen3_5MoeForCausalLM",
    "qwen3next": "Qwen3NextForCausalLM",
    "nemotron_h": "NemotronHForCausalLM",
    "nemotron_h_moe": "NemotronHForCausalLM",
    "lfm2": "Lfm2ForCausalLM",
    "lfm2moe": "Lfm2MoeForCausalLM",
}
_PAIRED = (
    "llama", "mistral3", "smollm3", "granite", "granitemoe", "granitehybrid", "ernie4_5", "ernie4_5-moe", "glm4",
    "chatglm", "minicpm", "arcee",
)  # fmt: skip
"""Whose queries and keys are stored with the halves of a head in turn."""

_MULTIPLIERS = {
    "embedding_multiplier": "embedding_scale",
    "residual_multiplier": "residual_scale",
    "attention_multiplier": "attention.scale",
    "logits_scaling": "logit_scale",
}

_BY_SOFTMAX, _BY_SIGMOID = 1, 2
"""What `expert_gating_func` may be."""

# What a relative of these architectures may ask for, and the value that asks for nothing.
_REFUSED: dict[str, Any] = {
    "expert_count": 0,
    "attention.causal": True,
    "attention.clamp_kqv": 0.0,
    "attention.scale": 0.0,
    "attn_logit_softcapping": 0.0,
    "final_logit_softcapping": 0.0,
    "logit_scale": 1.0,
    "embedding_scale": 1.0,
    "residual_scale": 1.0,
    "rope.scaling.yarn_ext_factor": 1.0,
    "expert_shared_count": 0,
    "expert_gating_func": _BY_SOFTMAX,
    "expert_weights_scale": 1.0,
    "leading_dense_block_count": 0,
    "interleave_moe_layer_step": 1,
}
_GEMMA_27B = {"gemma2.": 46, "gemma3.": 62}
"""Layers of those whose scores are not scaled by the width of a head; no field says so."""

_SAMPLING = {
    "temperature": "general.sampling.temp",
    "top_k": "general.sampling.top_k",
    "top_p": "general.sampling.top_p",
    "min_p": "general.sampling.min_p",
    "repetition_penalty": "general.sampling.penalty_repeat",
}
_ENDERS = ("eos", "eot", "eom")


class GgufConfig:
    """Reads one file's fields; `tensors` go by the engine's names. The methods raise what `load_config` raises."""

    def __init__(self, path: Path, metadata: Mapping[str, Any], tensors: Mapping[str, StoredTensor]) -> None:
        self._path = path
        self._tensors = tensors
        name = metadata.get("general.architecture")
        if not isinstance(name, str) or name not in ARCHITECTURES:
            raise UnsupportedModelError(
                f"{path}: the architecture {shown(name)} is not supported. Supported: {brief_list([*ARCHITECTURES])}. "
                "Choose another model."
            )
        self._prefix = f"{name}."
        self._fields = Fields(metadata, path)
        self._besides: Mapping[str, Any] = {}
        if name in GEMMA4 and tensors:
            found = read_gemma4_fields(self._fields, self._prefix, tensors)
            self._fields, self._besides = Fields(found.windowed, path), found.besides
        self._architecture = self._relative(name) or ARCHITECTURES[name]
        self._family = FAMILIES[self._architecture]

    def network(self) -> NetworkConfig:
        """What shapes the network."""
        self._refuse_options()
        config = network_config(Fields({"architectures": [self._architecture], **self._sizes()}, self._path))
        config = replace(
            config,
            # The file does not say which linears have a bias: they have one where there is one.
            qkv_bias=self._has("self_attn.q_proj.bias") or self._has("self_attn.qkv_proj.bias"),
            out_bias=self._has("self_attn.o_proj.bias"),
            mlp_bias=self._has("mlp.gate_proj.bias") or self._has("mlp.up_proj.bias"),
            fuses_heads=self._has("self_attn.qkv_proj.weight"),
            fuses_mlp=self._has("mlp.gate_up_proj.weight"),
            experts=config.experts and replace(config.experts, names=self._expert_names(config.experts)),
            norm_shift=0.0,  # what Gemma adds to the weights of norms is in the file
        )
        if config.delta is not None:
            config = replace(config, delta=self._stored_delta(config.delta))
        if config.conv is not None:
            config = replace(config, conv=replace(config.conv, is_gguf=True))
        if config.mamba is not None:
            config = replace(config, mamba=replace(config.mamba, is_gguf=True))
        divisors = None if self._family.is_gemma4 else self._tensors.get(ROPE_DIVISORS)
        return config if divisors is None else replace(config, rope=self._divided(divisors, config))

    def _stored_delta(self, delta: DeltaConfig) -> DeltaConfig:
        """Heads are in turn, but in Qwen3-Next's files, in which more lies in groups."""
        first = next(iter(sorted(delta.layers)), 0)
        has = (
            f"model.layers.{first}.linear_attn.{name}.weight" in self._tensors
            for name in ("in_proj_qkvz", "in_proj_ba")
        )
        inputs, rates = has
        return replace(delta, is_gguf=True, in_turn=not delta.groups_rates, groups_inputs=inputs, groups_rates=rates)

    def _expert_names(self, experts: ExpertConfig) -> ExpertNames:
        """Some converters leave the gate of a shared expert a matrix of one row, as folders have it."""
        besides: dict[str, Any] = {field: name for field, name in GGUF_SHARED.items() if getattr(experts.names, field)}
        prefix = f"model.layers.{experts.plain_layers}."
        rows = [besides[field] for field in ("shared_gate", "correction") if field in besides]
        found = [self._tensors.get(prefix + name) for name in rows]
        if not experts.names.has_gate:
            besides |= {"gate_up": GGUF_NAMES.gate_up[1:], "has_gate": False}
        if prefix + GGUF_FUSED in self._tensors:
            besides["gate_up"] = (GGUF_FUSED,)
        return replace(
            GGUF_NAMES,
            has_biases=experts.names.has_biases,
            router_scale=experts.names.router_scale,
            scales=experts.names.scales,
            are_flat=not any(tensor is not None and len(tensor.shape) > 1 for tensor in found),
            **besides,
        )

    def embeds(self) -> bool:
        """See `gguf_embeds`."""
        return gguf_embeds(self._fields.values.get(self._prefix + "pooling_type"), self._path)

    def _sizes(self) -> dict[str, Any]:
        """As config.json has them."""
        layers = self._layers()
        if not self._tensors:
            raise BrokenModelError(
                f"{self._path}: the file has a vocabulary, but no weights. Take a GGUF file that has the whole model."
            )
        if layers > len(self._tensors):  # before a table with a row for each is made
            raise self._fields.wrong(
                self._prefix + "block_count", f"at most {len(self._tensors)}, as there are tensors"
            )
        hidden = self._integer("embedding_length")
        heads = self._heads(hidden)
        return {
            "vocab_size": self._vocabulary(),
            "hidden_size": hidden,
            "intermediate_size": None if self._family.splits_layers else self._integer("feed_forward_length"),
            "num_hidden_layers": layers,
            **heads,
            "rms_norm_eps": None if self._family.splits_layers else self._fields.number(self._prefix + RMS_EPS),
            "max_position_embeddings": self._integer("context_length"),
            "rope_parameters": self._rope(),
            "tie_word_embeddings": "lm_head.weight" not in self._tensors,
            "eos_token_id": self._enders(),
            **self._window(),
            **self._multipliers(heads["head_dim"]),
            **(self._gemma(layers, hidden) if self._family.is_gemma else self._olmo3() if self._slides else {}),
            **(self._experts() if self._mixes and not self._family.splits_layers else {}),
            **(self._deltas(layers) if self._family.has_deltas else {}),
            **(self._convs(layers) if self._family.has_convs else {}),
            **self._mambas(layers),
            **self._besides,
        }

    def _layers(self) -> int:
        """Those that are run."""
        blocks = self._integer("block_count")
        if not self._get(GUESSING_BLOCKS) or self._family.is_assistant:
            return blocks
        guessing = self._integer(GUESSING_BLOCKS)
        if guessing >= blocks:
            raise self._fields.wrong(self._prefix + GUESSING_BLOCKS, f"below {blocks}, how many blocks there are")
        return blocks - guessing

    def _deltas(self, layers: int) -> dict[str, Any]:
        """What llama.cpp calls by the names of Mamba's state space models."""
        heads, inner = self._integer("ssm.time_step_rank"), self._integer("ssm.inner_size")
        if inner % heads:
            raise self._fields.wrong(self._prefix + "ssm.inner_size", f"a multiple of the {heads} heads")
        recurrent = self._get("attention.recurrent_layers")
        kinds: dict[str, Any] = {"full_attention_interval": self._integer("full_attention_interval", 4)}
        if isinstance(recurrent, np.ndarray):
            kinds = {"layer_types": [LINEAR if one else ATTENDS for one in recurrent[:layers]]}
        return {
            **kinds,
            "linear_num_key_heads": self._integer("ssm.group_count"),
            "linear_num_value_heads": heads,
            "linear_key_head_dim": self._integer("ssm.state_size"),
            "linear_value_head_dim": inner // heads,
            "linear_conv_kernel_dim": self._integer("ssm.conv_kernel"),
        }

    def _convs(self, layers: int) -> dict[str, Any]:
        """Which layers of LFM2 have one; the others have key heads."""
        heads = self._states.numbers_of_layers(KV_HEADS, layers)
        return {
            "layer_types": [ATTENDS if count else CONV for count in heads],
            "conv_L_cache": self._integer("shortconv.l_cache"),
            "block_auto_adjust_ff_dim": False,
            "num_dense_layers": self._get("leading_dense_block_count") or 0,
            "scoring_func": "softmax" if self._get("expert_gating_func") == _BY_SOFTMAX else "sigmoid",
        }

    def _mambas(self, layers: int) -> dict[str, Any]:
        """What files with state spaces have besides."""
        if self._family.is_hybrid:
            return self._states.granite4(layers, has_experts=self._mixes)
        return self._states.nemotron(layers, has_experts=self._mixes) if self._family.splits_layers else {}

    @property
    def _states(self) -> MambaFields:
        return MambaFields(self._fields, self._prefix, self._tensors)

    def _kv_heads_of_layers(self) -> list[int] | None:
        """How many key heads each layer has, where the file has a list."""
        value = self._get("attention.head_count_kv")
        return value.tolist() if isinstance(value, np.ndarray) and value.dtype.kind in "iu" else None

    def _gemma(self, layers: int, hidden: int) -> dict[str, Any]:
        """What files of Gemma leave to who reads them."""
        if self._family.is_gemma4:
            return {name: self._get(name) for name in CAPS if self._get(name) is not None}
        width, heads = self._integer("attention.key_length"), self._integer("attention.head_count")
        scalar = hidden // heads if layers == _GEMMA_27B[self._prefix] else width
        if self._family.has_caps:
            caps = {name: self._get(name) for name in CAPS if self._get(name) is not None}
            return {"query_pre_attn_scalar": scalar, **caps}
        local = self._fields.number(self._prefix + "rope.freq_base_swa", 10000.0, least=2.0)
        return {
            "rope_parameters": {"full_attention": self._rope(), "sliding_attention": {"rope_theta": local}},
            "query_pre_attn_scalar": scalar,
        }

    def _olmo3(self) -> dict[str, Any]:
        """Its layers with a window are rotated as trained: no field says so, and llama.cpp does it."""
        if not self._family.has_local_rope:
            return {}
        rope = self._rope()
        local = {"rope_theta": rope["rope_theta"]}
        return {"rope_parameters": {"full_attention": rope, "sliding_attention": local}}

    def _relative(self, name: str) -> str | None:
        """Mistral, Mixtral and OLMo 3 have the name of their parent."""
        if name == "llama":
            return "MixtralForCausalLM" if self._has_experts else "MistralForCausalLM" if self._slides else None
        return "Olmo3ForCausalLM" if name == "olmo2" and self._slides else None

    @property
    def _mixes(self) -> bool:
        """Whether the family has experts, and this one of it."""
        return self._family.experts is not None and (self._has_experts or not self._family.may_have_mambas)

    @property
    def _has_experts(self) -> bool:
        """Whether it is a mixture; some files write 0 for none."""
        value = self._get("expert_count")
        return value is not None and not (isinstance(value, int) and value == 0)

    def _experts(self) -> dict[str, Any]:
        """As llama.cpp has them: the weights of the chosen ones always add up to 1, but for OLMoE's and Qwen2's."""
        plain = self._get("leading_dense_block_count") or 0
        shared = self._tensors.get(f"model.layers.{plain}.mlp.shared_expert.down_proj.weight")
        return {
            "first_k_dense_replace": plain,
            "shared_expert_intermediate_size": 0 if shared is None else shared.shape[-1],
            "num_experts": self._integer("expert_count"),
            "num_experts_per_tok": self._integer("expert_used_count"),
            "moe_intermediate_size": self._integer("expert_feed_forward_length", self._integer("feed_forward_length")),
            "norm_topk_prob": self._prefix not in ("olmoe.", "qwen2moe."),
        }

    def _multipliers(self, head_dim: float) -> dict[str, float]:
        """Those of Granite, whose files have all four, and of MiniCPM, whose scores are scaled as usual."""
        if not self._family.multiplies:
            return {}
        usual = {"attention_multiplier": head_dim**-0.5} if self._family.has_scales else {}
        read = {
            name: self._fields.number(self._prefix + key) for name, key in _MULTIPLIERS.items() if name not in usual
        }
        return {**read, **usual}

    def _heads(self, hidden: int) -> Mapping[str, int | float]:
        heads = self._integer("attention.head_count")
        head_dim = self._integer("attention.key_length", max(hidden // heads, 1))
        turns_all = not (self._family.rotates_partly or self._family.splits_layers)
        must_be_whole = ("attention.value_length", *(("rope.dimension_count",) if turns_all else ()))
        for key in must_be_whole:
            if self._integer(key, head_dim) != head_dim:
                raise UnsupportedModelError(
                    f"{self._path}: {self._prefix}{key} is {self._get(key)} beside heads of {head_dim}, "
                    "which is not supported. Choose another model."
                )
        kv_heads = self._kv_heads(heads)
        if heads % kv_heads:
            raise self._fields.wrong(self._prefix + "attention.head_count_kv", f"a divisor of the {heads} heads")
        sizes = {"num_attention_heads": heads, "num_key_value_heads": kv_heads, "head_dim": head_dim}
        if not self._family.rotates_partly:
            return sizes
        rotated = self._integer("rope.dimension_count", head_dim)
        if rotated > head_dim:
            raise self._fields.wrong(self._prefix + "rope.dimension_count", f"at most {head_dim}, the width of a head")
        share = math.nextafter(rotated / head_dim, 1)  # so that it is cut off to the same number again
        return {**sizes, "partial_rotary_factor": share}

    def _kv_heads(self, heads: int) -> int:
        """Of each layer that attends."""
        may_differ = self._family.has_convs or self._family.may_have_mambas
        listed = self._kv_heads_of_layers() if may_differ else None
        if listed is None:
            return self._integer("attention.head_count_kv", heads)
        found = {count for count in listed if count}
        if len(found) != 1 or min(found) < 1:
            raise self._fields.wrong(self._prefix + "attention.head_count_kv", "a list of one number and of zeros")
        return found.pop()

    def row_orders(self, config: NetworkConfig) -> dict[str, RowOrder]:
        """For the weights whose rows are in pairs or groups."""
        paired = paired_rows(config) if self._prefix.removesuffix(".") in _PAIRED else {}
        return {**paired, **grouped_rows(config)}

    def defaults(self) -> GenerationDefaults:
        """How to sample, where the file recommends it, and which tokens end an answer."""
        values = {name: self._fields.values.get(key) for name, key in _SAMPLING.items()}
        suppressed = self._fields.values.get("tokenizer.ggml.suppress_tokens")
        tokens = {
            "eos_token_id": self._enders(),
            "suppress_tokens": suppressed.tolist() if isinstance(suppressed, np.ndarray) else None,
        }
        return generation_defaults(Fields({**values, **tokens}, self._path))

    def _refuse_options(self) -> None:
        known = [*(_MULTIPLIERS.values() if self._family.multiplies else ())]
        known += CAPS if self._family.has_caps else ()
        known += ["expert_count"] if self._family.experts is not None or self._family.is_gemma4 else []
        shares = self._family.experts is not None and self._family.experts.shared
        known += ["expert_shared_count", "leading_dense_block_count"] if shares else []
        known += ["expert_gating_func"] if self._family.has_sinks else []  # llama.cpp knows it of gpt-oss, too
        if self._family.splits_layers:
            known += ["expert_shared_count", "expert_weights_scale"]
            known += ["expert_gating_func"] if self._get("expert_gating_func") == _BY_SIGMOID else []
        if self._family.has_convs:
            known += ["leading_dense_block_count"]
            known += ["expert_gating_func"] if self._get("expert_gating_func") == _BY_SIGMOID else []
        for key, harmless in _REFUSED.items():
            value = None if key in known else self._get(key)
            if value is not None and (isinstance(value, np.ndarray | list) or value != harmless):
                raise self._fields.unsupported(self._prefix + key)

    def _get(self, key: str) -> Any:
        return self._fields.values.get(self._prefix + key)

    def _integer(self, key: str, default: int | None = None) -> int:
        """A whole number; a list has one for each layer, and all must be the same."""
        value = self._get(key)
        if isinstance(value, np.ndarray) and len(value) and value.dtype.kind in "iu":
            if (value != value[0]).any():
                raise UnsupportedModelError(
                    f"{self._path}: {self._prefix}{key} is not the same for all layers, which is not supported. "
                    "Choose another model."
                )
            fields = Fields({self._prefix + key: int(value[0])}, self._path)
            return fields.integer(self._prefix + key)
        return self._fields.integer(self._prefix + key, default)

    def _vocabulary(self) -> int:
        embedding = self._tensors.get("model.embed_tokens.weight")
        if embedding is None or len(embedding.shape) != 2:
            raise BrokenModelError(f"{self._path}: token_embd.weight is missing or damaged. Download the file again.")
        return embedding.shape[0]

    def _has(self, part: str) -> bool:
        return f"model.layers.0.{part}" in self._tensors

    def _enders(self) -> list[int]:
        keys = [f"tokenizer.ggml.{name}_token_id" for name in _ENDERS]
        ids = [self._fields.values.get(key) for key in keys]
        # A role that nobody has is written as an id behind the vocabulary.
        return [i for i in ids if isinstance(i, int) and 0 <= i < self._vocabulary()]

    @property
    def _slides(self) -> bool:
        """Whether there is a window; some files write 0 for none."""
        value = self._get("attention.sliding_window")
        return value is not None and not (isinstance(value, int) and value == 0)

    def _window(self) -> dict[str, Any]:
        if not self._slides:
            # The first files of Gemma 2 did not say; all of its models have the same.
            is_left_out = self._family.has_caps and self._get("attention.sliding_window") is None
            return {"sliding_window": None} if self._family.window == "by pattern" and not is_left_out else {}
        window: dict[str, Any] = {"sliding_window": self._integer("attention.sliding_window")}
        if self._family.window == "always":
            return window
        pattern = self._get("attention.sliding_window_pattern")
        if self._family.window == "by pattern" and isinstance(pattern, int | None):
            return {**window, "sliding_window_pattern": pattern}
        if pattern is None:
            return {**window, "use_sliding_window": True, "max_window_layers": 0}
        if not isinstance(pattern, np.ndarray) or len(pattern) != self._integer("block_count"):
            raise self._fields.wrong(
                self._prefix + "attention.sliding_window_pattern", "a list of one flag for each layer"
            )
        kinds = ["sliding_attention" if slides else "full_attention" for slides in pattern]
        return {**window, "use_sliding_window": True, "layer_types": kinds}

    # --- rotary embedding

    def _rope(self) -> dict[str, Any]:
        """As `rope_parameters` of a config.json."""
        sections = self._get("rope.dimension_sections")
        if sections is None:
            return self._plain_rope()
        parts = sections.tolist() if hasattr(sections, "tolist") else sections
        if not isinstance(parts, list) or len(parts) != 4 or parts[3]:
            raise self._fields.wrong(self._prefix + "rope.dimension_sections", "three whole numbers and 0")
        named = {"mrope_section": parts[:3], "mrope_interleaved": self._prefix.startswith("qwen3")}
        return {**self._plain_rope(), **named}

    def _plain_rope(self) -> dict[str, Any]:
        theta = self._fields.number(self._prefix + "rope.freq_base", 10000.0, least=2.0)
        factor = self._rope_factor()
        kind = self._get("rope.scaling.type")
        if kind is None:
            kind = "none" if factor == 1.0 else "linear"
        if not isinstance(kind, str):
            raise self._fields.wrong(self._prefix + "rope.scaling.type", "a text")
        if kind == "longrope" or LONGROPE_DIVISORS[0] in self._tensors:  # few files say so
            return {"rope_theta": theta, **self._longrope()}
        if kind == "none":
            return {"rope_theta": theta}
        values = {"rope_theta": theta, "rope_type": kind, "factor": factor}
        return {**values, **self._yarn(factor)} if kind == "yarn" else values

    def _longrope(self) -> dict[str, Any]:
        long, short = (self._tensors.get(name) for name in LONGROPE_DIVISORS)
        if long is None or short is None:
            raise BrokenModelError(f"{self._path}: {' or '.join(LONGROPE_DIVISORS)} is missing. {AGAIN}")
        return {
            "rope_type": "longrope",
            "long_factor": read_numbers(long),
            "short_factor": read_numbers(short),
            "original_max_position_embeddings": self._integer(
                "rope.scaling.original_context_length", self._integer("context_length")
            ),
            "attention_factor": self._fields.number(self._prefix + "rope.scaling.attn_factor", 1.0),
        }

    def _rope_factor(self) -> float:
        """By how much the context is stretched; 0 stands for not at all, as 1 does."""
        for key in ("rope.scaling.factor", "rope.scale_linear"):
            value = self._get(key)
            if value is not None and not (isinstance(value, int | float) and value == 0):
                return self._fields.number(self._prefix + key)
        return 1.0

    def _yarn(self, factor: float) -> dict[str, Any]:
        prefix = self._prefix + "rope.scaling."
        fields, number = self._fields, self._fields.number
        key = next((k for k in ("yarn_attn_factor", "attn_factor") if prefix + k in fields.values), None)
        values: dict[str, Any] = {
            "truncate": not self._family.has_sinks,  # no field says so of gpt-oss
            "original_max_position_embeddings": self._integer("rope.scaling.original_context_length"),
            "beta_fast": number(prefix + "yarn_beta_fast", 32.0),
            "beta_slow": number(prefix + "yarn_beta_slow", 1.0),
            "llama_4_scaling_beta": self._get("attention.temperature_scale"),
        }
        if self._get("rope.scaling.yarn_log_multiplier"):  # llama.cpp, too, takes the other one for 1
            multiplier = number(prefix + "yarn_log_multiplier")
            return {**values, "mscale": 1.0, "mscale_all_dim": multiplier}
        if key is not None:
            said, usual = number(prefix + key), 0.1 * math.log(factor) + 1 if factor > 1 else 1.0
            # A multiple of the usual one, but the converter of OLMo 3 writes down that of config.json. llama.cpp
            # multiplies it again; we follow the model as it was trained.
            is_whole = self._family.norms_outputs and math.isclose(said, usual, rel_tol=1e-4)
            values["attention_factor"] = usual if is_whole else said * usual
        return values

    def _divided(self, tensor: StoredTensor, config: NetworkConfig) -> RopeConfig:
        """The rotary embedding with the divisors of the file.

        They are the quotients of Llama 3's formula. Where we find the formula they came from, it is used: its numbers
        have the same bits as with safetensors.
        """
        rope = config.rope
        if tensor.shape != (config.head_dim // 2,) or rope.kind != "default":
            raise BrokenModelError(
                f"{self._path}: {ROPE_DIVISORS} has the shape {list(tensor.shape)} beside heads of {config.head_dim} "
                f"and the rope type {rope.kind}. Download the file again."
            )
        divisors = read_numbers(tensor)
        if not all(1e-6 <= number <= 1e6 for number in divisors):
            raise BrokenModelError(f"{self._path}: {ROPE_DIVISORS} holds impossible numbers. Download the file again.")
        plain = inverse_frequencies(config.head_dim, rope)
        for exponent in range(6, 20):
            formula = RopeConfig(rope.theta, "llama3", max(divisors), 1.0, 4.0, 2**exponent)
            quotients = plain / inverse_frequencies(config.head_dim, formula)
            if torch.allclose(quotients, torch.tensor(divisors), rtol=1e-5, atol=0):
                return formula
        return replace(rope, divisors=tuple(divisors))
