"""How the families differ from plain Llama: one row of a table each. What is not in the table is refused by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from llama_gui.engine.expert_config import (
    ERNIE_NAMES,
    GPT_OSS_NAMES,
    GRANITE4_NAMES,
    GRANITE_NAMES,
    LFM2_NAMES,
    MIXTRAL_NAMES,
    NEMOTRON_NAMES,
    QWEN2_NAMES,
    QWEN35_NAMES,
    QWEN_NAMES,
    ExpertNames,
)


@dataclass(frozen=True, slots=True)
class Family:
    """One architecture of config.json. A bias of None: the configuration decides.

    `attention_bias` and `mlp_bias` do; where there is `attention_out_bias`, it decides about that of the output.
    """

    model_type: str
    qkv_bias: bool | None = None
    out_bias: bool | None = None
    mlp_bias: bool | None = None
    qk_norm: bool = False
    """Each head of queries and keys is normed before it is rotated."""
    whole_qk_norm: bool = False
    """With `qk_norm`: all heads of the queries are normed as one, and all of the keys."""
    norms_turned: bool = False
    """With `qk_norm`: each head is normed after it was rotated, and not before (Hunyuan)."""
    norms_inputs: bool = True
    """What goes into attention and MLP is normed (all but OLMo, EXAONE)."""
    norms_outputs: bool = False
    """What attention and MLP have made is normed."""
    window: Literal["never", "always", "when used", "by pattern"] = "never"
    """Which layers see only the last `sliding_window` tokens.

    "when used": those that `layer_types` names, or `use_sliding_window` and `max_window_layers`. "by pattern": those of
    `layer_types`, or all but the last of each `sliding_window_pattern`.
    """
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What transformers takes where config.json does not say."""
    rope_interval: int | None = None
    """Every so-many-th layer is not rotated, unless `no_rope_layers` says otherwise. None: all are rotated."""
    rotates_windows: bool = False
    """Where some layers have a window, only those are rotated."""
    multiplies: bool = False
    """config.json has Granite's four multipliers."""
    fuses_heads: bool = False
    """Checkpoints hold queries, keys and values in one weight."""
    fuses_mlp: bool = False
    """Checkpoints hold gate and up in one weight."""
    part_names: Mapping[str, str] = field(default_factory=dict[str, str])
    """What checkpoints call parts of a layer -> what we call them, as Llama does, where the two differ."""
    is_hybrid: bool = False
    """Granite 4.0: see `granite_config.with_granite4_names`, `MambaConfig`."""
    squares: bool = False
    """The MLP has no gate, and its activation is "squared"."""
    has_scales: bool = False
    """See `granite_config.with_multipliers`."""
    paired: bool = False
    """In checkpoints, too, the two numbers of a head that are turned against each other lie side by side."""
    rotates_partly: bool = False
    """`partial_rotary_factor` says which part of each head is rotated."""
    has_alpha: bool = False
    """See `rope_config.with_alpha`."""
    has_local_rope: bool = False
    """Layers with a window have a rotation of their own, that of the trained context."""
    is_gemma: bool = False
    """See `family_config.of_family`."""
    is_gemma4: bool = False
    """With `is_gemma`: see `Gemma4Config`."""
    is_assistant: bool = False
    """It only guesses for another network, whose keys and values it borrows; see `Assistant`."""
    has_caps: bool = False
    """`attn_logit_softcapping` and `final_logit_softcapping` say how large scores and logits can be (Gemma 2)."""
    experts: ExpertNames | None = None
    """It is a mixture of experts, and their weights have these names in a checkpoint."""
    has_sinks: bool = False
    """See `config._as_gpt_oss`."""
    has_deltas: bool = False
    """Most layers have a gated delta net in the place of attention, see `DeltaConfig`. Norms count from 1."""
    has_convs: bool = False
    """Most layers have a short convolution in the place of attention, see `ConvConfig`."""
    groups_deltas: bool = False
    """With `has_deltas`: checkpoints have what each key head needs together."""
    splits_layers: bool = False
    """Its files call halves of layers layers: see `SplitLayers`, `nemotron_config`."""
    reads_pictures: bool = False
    """The network is what `text_config` describes; the vision network of the same checkpoint is left aside.

    `text_config` may name another `model_type`, which then is the family.
    """

    @property
    def may_have_mambas(self) -> bool:
        """Some of its models have state spaces in the place of attention, and some have no experts, see `is_dense`."""
        return self.is_hybrid or self.splits_layers


_CHOSEN_ADD_UP = {"norm_topk_prob": True}
"""The weights of the experts of a token do; config.json does not say so."""

_GEMMA3 = Family(
    "gemma3_text", mlp_bias=False, qk_norm=True, window="by pattern", has_local_rope=True, is_gemma=True,
    defaults={
        "head_dim": 256, "max_position_embeddings": 131072, "num_attention_heads": 8, "num_key_value_heads": 4,
        "rope_theta": 1e6, "sliding_window": 4096, "tie_word_embeddings": True, "vocab_size": 262208,
    },
)  # fmt: skip

_GEMMA4_ROPES = {
    "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6},
    "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
}

_GEMMA4 = Family(
    "gemma4_text", mlp_bias=False, qk_norm=True, window="by pattern", has_local_rope=True, is_gemma=True,
    is_gemma4=True, has_caps=True,
    defaults={
        "head_dim": 256, "hidden_size": 2304, "intermediate_size": 9216, "max_position_embeddings": 131072,
        "num_attention_heads": 8, "num_hidden_layers": 30, "num_key_value_heads": 4, "sliding_window": 512,
        "rope_parameters": _GEMMA4_ROPES, "tie_word_embeddings": True, "vocab_size": 262144,
    },
)  # fmt: skip

_GEMMA4_UNIFIED = replace(
    _GEMMA4,
    model_type="gemma4_unified_text",
    defaults={
        **_GEMMA4.defaults, "hidden_size_per_layer_input": 0, "max_position_embeddings": 262144,
        "sliding_window": 1024, "use_bidirectional_attention": "vision",
    },
)  # fmt: skip

_GEMMA4_ASSISTANT = replace(
    _GEMMA4,
    model_type="gemma4_assistant",
    is_assistant=True,
    defaults={**_GEMMA4.defaults, "hidden_size_per_layer_input": 0},
)

_MINISTRAL3 = Family(
    "ministral3", qkv_bias=False, out_bias=False, mlp_bias=False, window="always",
    defaults={
        "head_dim": 128, "max_position_embeddings": 262144, "num_key_value_heads": 8, "rms_norm_eps": 1e-5,
        "vocab_size": 131072,
    },
)  # fmt: skip

_GEMMA2 = Family(
    "gemma2", mlp_bias=False, window="by pattern", is_gemma=True, has_caps=True,
    defaults={
        "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0, "head_dim": 256,
        "max_position_embeddings": 8192, "num_attention_heads": 8, "num_key_value_heads": 4, "sliding_window": 4096,
        "sliding_window_pattern": 2, "tie_word_embeddings": True, "vocab_size": 256000,
    },
)  # fmt: skip

_OLMO2 = Family(
    "olmo2", mlp_bias=False, qk_norm=True, whole_qk_norm=True, norms_inputs=False, norms_outputs=True,
    defaults={"rms_norm_eps": 1e-5},
)  # fmt: skip

_GLM = Family(
    "glm", out_bias=False, mlp_bias=False, fuses_mlp=True, paired=True, rotates_partly=True,
    defaults={
        "attention_bias": True, "head_dim": 128, "max_position_embeddings": 131072, "num_key_value_heads": 2,
        "partial_rotary_factor": 0.5, "rms_norm_eps": 1.5625e-7, "vocab_size": 151552,
    },
)  # fmt: skip

_GPT_OSS_ROPE = {
    "rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
    "original_max_position_embeddings": 4096,
}  # fmt: skip

_GPT_OSS = Family(
    "gpt_oss", window="by pattern", experts=GPT_OSS_NAMES, has_sinks=True,
    defaults={
        "attention_bias": True, "head_dim": 64, "max_position_embeddings": 131072, "num_attention_heads": 64,
        "num_experts_per_tok": 4, "num_key_value_heads": 8, "rms_norm_eps": 1e-5, "rope_scaling": _GPT_OSS_ROPE,
        "rope_theta": 150000.0, "sliding_window": 128, "sliding_window_pattern": 2, "vocab_size": 201088,
        **_CHOSEN_ADD_UP,
    },
)  # fmt: skip

_QWEN2 = Family(
    "qwen2", qkv_bias=True, out_bias=False, mlp_bias=False, window="when used", defaults={"sliding_window": 4096}
)

_QWEN3 = Family(
    "qwen3", mlp_bias=False, qk_norm=True, window="when used", defaults={"head_dim": 128, "sliding_window": 4096}
)

_QWEN35 = Family(
    "qwen3_5_text", mlp_bias=False, qk_norm=True, rotates_partly=True, has_deltas=True,
    defaults={
        "head_dim": 256, "hidden_size": 4096, "intermediate_size": 12288, "max_position_embeddings": 32768,
        "num_attention_heads": 16, "num_hidden_layers": 32, "num_key_value_heads": 4, "partial_rotary_factor": 0.25,
        "vocab_size": 248320,
    },
)  # fmt: skip

_QWEN35_MOE = replace(
    _QWEN35, model_type="qwen3_5_moe_text", experts=QWEN35_NAMES,
    defaults={
        **_QWEN35.defaults, "hidden_size": 2048, "intermediate_size": 512, "moe_intermediate_size": 512,
        "num_experts": 256, "num_experts_per_tok": 8, "num_hidden_layers": 40, "num_key_value_heads": 2,
        "shared_expert_intermediate_size": 512, **_CHOSEN_ADD_UP,
    },
)  # fmt: skip

_LFM2 = Family(
    "lfm2", qkv_bias=False, out_bias=False, mlp_bias=False, qk_norm=True, has_convs=True,
    part_names={
        "operator_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
        "self_attn.q_layernorm": "self_attn.q_norm", "self_attn.k_layernorm": "self_attn.k_norm",
        "self_attn.out_proj": "self_attn.o_proj", "feed_forward.w1": "mlp.gate_proj", "feed_forward.w3": "mlp.up_proj",
        "feed_forward.w2": "mlp.down_proj", "model.embedding_norm": "model.norm",
    },
    defaults={
        "hidden_size": 2560, "intermediate_size": 12288, "max_position_embeddings": 128000, "num_attention_heads": 32,
        "num_hidden_layers": 32, "num_key_value_heads": 8, "rope_theta": 1e6, "vocab_size": 65536,
    },
)  # fmt: skip

_LFM2_MOE = replace(
    _LFM2, model_type="lfm2_moe", experts=LFM2_NAMES,
    defaults={
        **_LFM2.defaults, "hidden_size": 2048, "intermediate_size": 7168, "moe_intermediate_size": 1792,
        "num_dense_layers": 2, "num_experts": 32, "num_experts_per_tok": 4, "scoring_func": "sigmoid",
        "use_expert_bias": True, **_CHOSEN_ADD_UP,
    },
)  # fmt: skip

_QWEN3_NEXT = replace(
    _QWEN35_MOE, model_type="qwen3_next", experts=QWEN2_NAMES, groups_deltas=True,
    defaults={
        **_QWEN35_MOE.defaults, "num_experts": 512, "num_experts_per_tok": 10, "num_hidden_layers": 48,
        "vocab_size": 151936,
    },
)  # fmt: skip

FAMILIES: dict[str, Family] = {
    # Llama 2, 3, 3.1, 3.2, TinyLlama, SmolLM, SmolLM2
    "LlamaForCausalLM": Family("llama"),
    "MistralForCausalLM": Family(
        "mistral", qkv_bias=False, out_bias=False, mlp_bias=False, window="always", defaults={"sliding_window": 4096}
    ),
    # Ministral 3 3B, 8B, 14B
    "Ministral3ForCausalLM": _MINISTRAL3,
    # Mistral Small 3.1 and 3.2, whose part for text is a Mistral, and Ministral 3
    "Mistral3ForConditionalGeneration": replace(_MINISTRAL3, model_type="mistral3", reads_pictures=True),
    # Qwen2, Qwen2.5
    "Qwen2ForCausalLM": _QWEN2,
    # the dense ones
    "Qwen3ForCausalLM": _QWEN3,
    "SmolLM3ForCausalLM": Family(
        "smollm3", window="when used", defaults={"tie_word_embeddings": True}, rope_interval=4
    ),
    # Granite 3.0 to 3.3, the dense ones
    "GraniteForCausalLM": Family("granite", multiplies=True),
    # Granite 4.0: most layers of those with an h in their name have a state space in the place of attention
    "GraniteMoeHybridForCausalLM": Family(
        "granitemoehybrid",
        mlp_bias=False,
        multiplies=True,
        fuses_mlp=True,
        is_hybrid=True,
        experts=GRANITE4_NAMES,
        part_names={"shared_mlp.input_linear": "mlp.gate_up_proj", "shared_mlp.output_linear": "mlp.down_proj"},
        defaults={
            "num_local_experts": 8,
            "num_experts_per_tok": 2,
            "shared_intermediate_size": 1024,
            **_CHOSEN_ADD_UP,
        },
    ),
    # Nemotron-H, Nemotron Nano 2, Nemotron 3 Nano
    "NemotronHForCausalLM": Family(
        "nemotron_h",
        squares=True,
        splits_layers=True,
        experts=NEMOTRON_NAMES,
        defaults={
            "head_dim": 128,
            "hidden_size": 4096,
            "intermediate_size": 21504,
            "max_position_embeddings": 4096,
            "moe_intermediate_size": 7688,
            "n_routed_experts": 8,
            "num_attention_heads": 32,
            "num_experts_per_tok": 2,
            "num_key_value_heads": 8,
            "vocab_size": 131072,
            **_CHOSEN_ADD_UP,
        },
    ),
    # MiniCPM 4 and 4.1, 0.5B and 8B, also the first ones
    "MiniCPMForCausalLM": Family(
        "minicpm",
        out_bias=False,
        mlp_bias=False,
        multiplies=True,
        has_scales=True,
        defaults={"tie_word_embeddings": True},
    ),
    # Mixtral 8x7B, 8x22B
    "MixtralForCausalLM": Family(
        "mixtral",
        qkv_bias=False,
        out_bias=False,
        mlp_bias=False,
        window="always",
        experts=MIXTRAL_NAMES,
        defaults={"rms_norm_eps": 1e-5, "rope_theta": 1e6, **_CHOSEN_ADD_UP},
    ),
    # Qwen1.5 A2.7B, Qwen2 57B-A14B
    "Qwen2MoeForCausalLM": Family(
        "qwen2_moe",
        qkv_bias=True,
        out_bias=False,
        mlp_bias=False,
        window="when used",
        experts=QWEN2_NAMES,
        defaults={
            "num_experts": 60,
            "num_experts_per_tok": 4,
            "num_key_value_heads": 16,
            "moe_intermediate_size": 1408,
            "shared_expert_intermediate_size": 5632,
            "sliding_window": 4096,
        },
    ),
    # Qwen3 30B-A3B, 235B-A22B
    "Qwen3MoeForCausalLM": Family(
        "qwen3_moe",
        mlp_bias=False,
        qk_norm=True,
        window="when used",
        experts=QWEN_NAMES,
        defaults={"num_key_value_heads": 4, "sliding_window": 4096, "max_window_layers": 0},
    ),
    # Granite 3.0 and 3.1 1B-A400M, 3B-A800M
    "GraniteMoeForCausalLM": Family(
        "granitemoe", mlp_bias=False, multiplies=True, experts=GRANITE_NAMES, defaults=_CHOSEN_ADD_UP
    ),
    # EXAONE 4.0 1.2B, which has no window, and 32B
    "Exaone4ForCausalLM": Family(
        "exaone4",
        qkv_bias=False,
        out_bias=False,
        mlp_bias=False,
        qk_norm=True,
        norms_inputs=False,
        norms_outputs=True,
        window="by pattern",
        rotates_windows=True,
        defaults={"rms_norm_eps": 1e-5, "sliding_window": 4096, "sliding_window_pattern": 4},
    ),
    # ERNIE 4.5 21B-A3B, 300B-A47B
    "Ernie4_5_MoeForCausalLM": Family(
        "ernie4_5_moe",
        qkv_bias=False,
        out_bias=False,
        mlp_bias=False,
        paired=True,
        experts=ERNIE_NAMES,
        defaults={
            "max_position_embeddings": 131072,
            "moe_intermediate_size": 1536,
            "moe_k": 6,
            "moe_layer_start_index": 1,
            "moe_num_experts": 64,
            "moe_num_shared_experts": 2,
            "num_key_value_heads": 4,
            "rms_norm_eps": 1e-5,
            "rope_theta": 5e5,
            "tie_word_embeddings": True,
            **_CHOSEN_ADD_UP,
        },
    ),
    # ERNIE 4.5 0.3B
    "Ernie4_5ForCausalLM": Family(
        "ernie4_5",
        qkv_bias=False,
        out_bias=False,
        mlp_bias=False,
        paired=True,
        defaults={
            "head_dim": 128,
            "max_position_embeddings": 131072,
            "num_key_value_heads": 2,
            "rms_norm_eps": 1e-5,
            "rope_theta": 5e5,
            "tie_word_embeddings": True,
        },
    ),
    # GLM-4 9B chat, as transformers has it
    "GlmForCausalLM": _GLM,
    # GLM-4-0414 and GLM-Z1, 9B and 32B
    "Glm4ForCausalLM": replace(
        _GLM,
        model_type="glm4",
        norms_outputs=True,
        part_names={
            "post_self_attn_layernorm": "post_attention_layernorm",
            "post_attention_layernorm": "pre_feedforward_layernorm",
            "post_mlp_layernorm": "post_feedforward_layernorm",
        },
    ),
    # Hunyuan 0.5B, 1.8B, 4B, 7B, and the translators of the same make
    "HunYuanDenseV1ForCausalLM": Family(
        "hunyuan_v1_dense",
        mlp_bias=False,
        qk_norm=True,
        norms_turned=True,
        has_alpha=True,
        part_names={"self_attn.query_layernorm": "self_attn.q_norm", "self_attn.key_layernorm": "self_attn.k_norm"},
        defaults={"rms_norm_eps": 1e-5},
    ),
    # Arcee's AFM 4.5B
    "ArceeForCausalLM": Family("arcee", squares=True, defaults={"rms_norm_eps": 1e-5}),
    # Seed-OSS 36B
    "SeedOssForCausalLM": Family(
        "seed_oss", defaults={"attention_bias": True, "attention_out_bias": False, "head_dim": 128}
    ),
    # OLMoE 1B-7B
    "OlmoeForCausalLM": Family(
        "olmoe",
        mlp_bias=False,
        qk_norm=True,
        whole_qk_norm=True,
        experts=QWEN_NAMES,
        defaults={"rms_norm_eps": 1e-5, "num_experts": 64, "num_experts_per_tok": 8},
    ),
    # Phi-3, Phi-3.5 mini, Phi-4, Phi-4-mini
    "Phi3ForCausalLM": Family(
        "phi3",
        qkv_bias=False,
        out_bias=False,
        mlp_bias=False,
        window="always",
        fuses_heads=True,
        fuses_mlp=True,
        rotates_partly=True,
    ),
    # 2B, 9B, 27B
    "Gemma2ForCausalLM": _GEMMA2,
    "Gemma3ForCausalLM": _GEMMA3,
    "Olmo2ForCausalLM": _OLMO2,
    "Olmo3ForCausalLM": replace(
        _OLMO2,
        model_type="olmo3",
        window="by pattern",
        has_local_rope=True,
        defaults={**_OLMO2.defaults, "rope_theta": 5e5, "sliding_window": 4096, "sliding_window_pattern": 4},
    ),
    # gpt-oss 20B, 120B
    "GptOssForCausalLM": _GPT_OSS,
    # from 4B on
    "Gemma3ForConditionalGeneration": replace(_GEMMA3, model_type="gemma3", reads_pictures=True),
    # E2B, E4B, 31B; without a head for text they are the second one
    "Gemma4ForCausalLM": _GEMMA4,
    "Gemma4ForConditionalGeneration": replace(_GEMMA4, model_type="gemma4", reads_pictures=True),
    # 12B
    "Gemma4AssistantForCausalLM": _GEMMA4_ASSISTANT,
    "Gemma4UnifiedForCausalLM": _GEMMA4_UNIFIED,
    "Gemma4UnifiedAssistantForCausalLM": replace(_GEMMA4_ASSISTANT, model_type="gemma4_unified_assistant"),
    "Gemma4UnifiedForConditionalGeneration": replace(_GEMMA4_UNIFIED, model_type="gemma4_unified", reads_pictures=True),
    # Qwen2-VL and Qwen2.5-VL
    "Qwen2VLForConditionalGeneration": replace(_QWEN2, model_type="qwen2_vl", reads_pictures=True),
    "Qwen2_5_VLForConditionalGeneration": replace(_QWEN2, model_type="qwen2_5_vl", reads_pictures=True),
    # 2B, 4B, 8B, 32B; the mixtures of experts have another name
    "Qwen3VLForConditionalGeneration": replace(_QWEN3, model_type="qwen3_vl", reads_pictures=True),
    # 0.8B, 2B, 4B, 9B, 27B; without a network for images they are the first
    "Qwen3_5ForCausalLM": _QWEN35,
    "Qwen3_5ForConditionalGeneration": replace(_QWEN35, model_type="qwen3_5", reads_pictures=True),
    # 35B-A3B, 122B-A10B, 397B-A17B
    "Qwen3_5MoeForCausalLM": _QWEN35_MOE,
    "Qwen3_5MoeForConditionalGeneration": replace(_QWEN35_MOE, model_type="qwen3_5_moe", reads_pictures=True),
    # Qwen3-Next, Qwen3-Coder-Next: 80B-A3B
    "Qwen3NextForCausalLM": _QWEN3_NEXT,
    # LFM2 and LFM2.5: 350M, 700M, 1.2B, 2.6B
    "Lfm2ForCausalLM": _LFM2,
    # 8B-A1B, 24B-A2B
    "Lfm2MoeForCausalLM": _LFM2_MOE,
    # SmolVLM and Granite Docling, SmolVLM2
    "Idefics3ForConditionalGeneration": Family("idefics3", reads_pictures=True),
    "SmolVLMForConditionalGeneration": Family("smolvlm", reads_pictures=True),
}
