"""Tiny random Llamas in Hugging Face layout: real files, real shapes in small, no meaning."""

import json
import re
from pathlib import Path
from typing import Any, Literal

import gguf
import tokenizers
import torch
from safetensors.torch import load_file, save_file

from llama_gui.engine.checkpoint import with_parts
from llama_gui.engine.config import load_config
from llama_gui.engine.weight_shapes import weight_shapes
from tests.fakes.tiny_tokenizers import (
    GEMMA2_TEMPLATE,
    GEMMA4_TEMPLATE,
    GEMMA_TEMPLATE,
    HARMONY_TEMPLATE,
    LFM2_TEMPLATE,
    LLAMA3_TEMPLATE,
    MAGISTRAL_TEMPLATE,
    ZEPHYR_TEMPLATE,
    byte_level_tokenizer,
    gemma4_tokenizer,
    gemma_tokenizer,
    harmony_tokenizer,
    lfm2_tokenizer,
    magistral_tokenizer,
    sentencepiece_tokenizer,
    write_tokenizer,
)

Shape = Literal[
    "llama-3.2", "llama-3.1", "tinyllama", "llama-2", "smollm2", "mistral", "qwen2", "qwen3", "smollm3", "granite",
    "phi3", "phi4-mini", "gemma3", "mixtral", "qwen3-moe", "granite-moe", "gpt-oss", "ministral3", "granite4",
    "glm", "glm4", "hunyuan", "minicpm", "olmo2", "olmo3", "olmoe", "seed-oss", "exaone4", "ernie", "gemma2",
    "qwen2-moe", "ernie-moe", "arcee", "magistral", "gemma4", "gemma4-31b", "gemma4-26b", "qwen3.5",
    "qwen3.5-moe", "qwen3-next", "lfm2", "lfm2-moe", "granite4-h", "granite4-h-moe",
    "nemotron-h", "nemotron-h-moe",
]  # fmt: skip
SHAPES: tuple[Shape, ...] = ("llama-3.2", "llama-3.1", "tinyllama")
FAMILY_SHAPES: tuple[Shape, ...] = (
    "llama-2", "smollm2", "mistral", "qwen2", "qwen3", "smollm3", "granite", "phi3", "phi4-mini", "gemma3",
    "mixtral", "qwen3-moe", "granite-moe", "gpt-oss", "ministral3", "olmo2", "olmo3", "olmoe",
    "seed-oss", "exaone4", "ernie", "gemma2", "granite4", "glm", "glm4", "hunyuan",
    "qwen2-moe", "ernie-moe", "arcee",
)  # fmt: skip
"""Relatives: the same numbers, but for what makes the family."""
CPU_SHAPES: tuple[Shape, ...] = (
    "gemma4", "gemma4-31b", "gemma4-26b", "qwen3.5", "qwen3.5-moe", "qwen3-next", "lfm2", "lfm2-moe",
    "granite4-h", "granite4-h-moe", "nemotron-h", "nemotron-h-moe",
)  # fmt: skip
"""Relatives that run on the CPU only."""
STRANGE_SHAPES: tuple[Shape, ...] = ("minicpm",)
"""Relatives that transformers does not have."""

_COMMON: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 2048,
    "attention_bias": False,
    "mlp_bias": False,
    "dtype": "float32",
}


def _llama3_rope(factor: float) -> dict[str, Any]:
    # The trained context is small, so that tests with a few hundred tokens reach the scaled part.
    return {
        "rope_type": "llama3",
        "rope_theta": 500000.0,
        "factor": factor,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    }


_SHAPES: dict[Shape, dict[str, Any]] = {
    "llama-3.2": {"tie_word_embeddings": True, "head_dim": 32, "rope_parameters": _llama3_rope(32.0)},
    "llama-3.1": {"tie_word_embeddings": False, "head_dim": 16, "rope_parameters": _llama3_rope(8.0)},
    "tinyllama": {
        "tie_word_embeddings": False,
        "num_attention_heads": 8,
        "num_key_value_heads": 1,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    },
    "llama-2": {"num_key_value_heads": 4, "rope_theta": 10000.0},  # as transformers 4 wrote it
    "smollm2": {"tie_word_embeddings": True, "num_attention_heads": 9, "num_key_value_heads": 3, "hidden_size": 72,
                "rope_theta": 100000.0, "rope_scaling": None},
    # Windows smaller than the tests' prompts, so that they are seen to slide.
    "mistral": {"architectures": ["MistralForCausalLM"], "model_type": "mistral", "sliding_window": 40,
                "rope_theta": 10000.0},
    "qwen2": {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "tie_word_embeddings": True,
              "rope_theta": 1e6, "use_sliding_window": True, "sliding_window": 30, "max_window_layers": 1},
    "qwen3": {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "head_dim": 24, "rope_theta": 1e6,
              "attention_bias": False, "use_sliding_window": False, "sliding_window": None},
    # Of four layers one does not know positions; that it is tied, only the family says.
    "smollm3": {"architectures": ["SmolLM3ForCausalLM"], "model_type": "smollm3", "num_hidden_layers": 5,
                "no_rope_layers": [1, 1, 1, 0, 1], "no_rope_layer_interval": 4, "layer_types": 5 * ["full_attention"],
                "rope_theta": 5e6, "rope_scaling": None, "use_sliding_window": False, "sliding_window": None,
                "pad_token_id": None},
    # The multipliers of Granite 3.3 2B.
    "granite": {"architectures": ["GraniteForCausalLM"], "model_type": "granite", "tie_word_embeddings": True,
                "rope_theta": 1e7, "rope_scaling": None, "embedding_multiplier": 12.0, "residual_multiplier": 0.22,
                "attention_multiplier": 0.015625, "logits_scaling": 8.0},
    "phi3": {"architectures": ["Phi3ForCausalLM"], "model_type": "phi3", "sliding_window": 47, "rope_theta": 10000.0,
             "rope_scaling": None, "pad_token_id": None},
    # Of each head three quarters are rotated. Both contexts are alike: transformers stays with one rotation, too.
    "phi4-mini": {"architectures": ["Phi3ForCausalLM"], "model_type": "phi3", "tie_word_embeddings": True,
                  "partial_rotary_factor": 0.75, "sliding_window": 4096, "pad_token_id": None, "rope_theta": 10000.0,
                  "original_max_position_embeddings": 2048,
                  "rope_scaling": {"type": "longrope", "long_factor": [1.0, 1.2, 2.0, 4.5, 9.0, 30.0],
                                   "short_factor": [1.0, 1.0, 1.1, 1.2, 1.5, 2.0]}},
    # The sixth layer sees all, and is stretched as from 4B on.
    "gemma3": {"architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text", "num_hidden_layers": 7,
               "num_key_value_heads": 1, "head_dim": 32, "query_pre_attn_scalar": 32, "rms_norm_eps": 1e-6,
               "hidden_act": None, "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 36,
               "rope_theta": 1e6, "rope_local_base_freq": 1e4,
               "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
    # As E2B: the last three layers borrow keys and values, each kind from its own, and are twice as wide.
    "gemma4": {"architectures": ["Gemma4ForCausalLM"], "model_type": "gemma4_text", "num_hidden_layers": 7,
               "num_key_value_heads": 1, "head_dim": 16, "global_head_dim": 32, "rms_norm_eps": 1e-6,
               "hidden_act": None, "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 36,
               "layer_types": [*2 * ["sliding_attention"], "full_attention", *3 * ["sliding_attention"],
                               "full_attention"],
               "num_kv_shared_layers": 3, "use_double_wide_mlp": True, "hidden_size_per_layer_input": 16,
               "vocab_size_per_layer_input": 400, "final_logit_softcapping": 2.0, "enable_moe_block": False},
    # As 31B: layers that see all have keys for values, and fewer heads of them.
    "gemma4-31b": {"architectures": ["Gemma4ForCausalLM"], "model_type": "gemma4_text", "num_hidden_layers": 6,
                   "num_key_value_heads": 2, "num_global_key_value_heads": 1, "head_dim": 16, "global_head_dim": 32,
                   "rms_norm_eps": 1e-6, "hidden_act": None, "hidden_activation": "gelu_pytorch_tanh",
                   "sliding_window": 36, "attention_k_eq_v": True, "hidden_size_per_layer_input": 0,
                   "use_bidirectional_attention": "vision", "final_logit_softcapping": 2.0},
    # Experts beside each MLP.
    "gemma4-26b": {"architectures": ["Gemma4ForCausalLM"], "model_type": "gemma4_text", "num_hidden_layers": 6,
                   "num_key_value_heads": 2, "num_global_key_value_heads": 1, "head_dim": 16, "global_head_dim": 32,
                   "rms_norm_eps": 1e-6, "hidden_act": None, "hidden_activation": "gelu_pytorch_tanh",
                   "sliding_window": 36, "attention_k_eq_v": True, "hidden_size_per_layer_input": 0,
                   "use_bidirectional_attention": "vision", "final_logit_softcapping": 2.0, "enable_moe_block": True,
                   "num_experts": 8, "top_k_experts": 3, "moe_intermediate_size": 48},
    # The fourth layer attends. Of its heads a quarter is rotated; a key serves two values.
    "qwen3.5": {"architectures": ["Qwen3_5ForCausalLM"], "model_type": "qwen3_5_text", "num_hidden_layers": 5,
                "head_dim": 32, "rms_norm_eps": 1e-6, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
                "linear_key_head_dim": 16, "linear_value_head_dim": 24, "linear_conv_kernel_dim": 4,
                "full_attention_interval": 4, "pad_token_id": None,
                "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25,
                                    "mrope_section": [2, 1, 1], "mrope_interleaved": True}},
    "qwen3.5-moe": {"architectures": ["Qwen3_5MoeForCausalLM"], "model_type": "qwen3_5_moe_text",
                    "num_hidden_layers": 5, "head_dim": 32, "rms_norm_eps": 1e-6, "linear_num_key_heads": 2,
                    "linear_num_value_heads": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
                    "linear_conv_kernel_dim": 4, "full_attention_interval": 4, "pad_token_id": None,
                    "intermediate_size": ..., "moe_intermediate_size": 48, "shared_expert_intermediate_size": 96,
                    "num_experts": 8, "num_experts_per_tok": 3,
                    "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25,
                                        "mrope_section": [2, 1, 1], "mrope_interleaved": True}},
    "qwen3-next": {"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "num_hidden_layers": 5,
                   "head_dim": 32, "rms_norm_eps": 1e-6, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
                   "linear_key_head_dim": 16, "linear_value_head_dim": 16, "linear_conv_kernel_dim": 4,
                   "full_attention_interval": 4, "intermediate_size": 160, "moe_intermediate_size": 48,
                   "shared_expert_intermediate_size": 96, "num_experts": 8, "num_experts_per_tok": 3,
                   "decoder_sparse_step": 1, "mlp_only_layers": [], "norm_topk_prob": True, "rope_theta": 1e7,
                   "rope_scaling": None, "partial_rotary_factor": 0.25},
    # The third and the fifth layer attend; the width of the MLP comes from a formula.
    "lfm2": {"architectures": ["Lfm2ForCausalLM"], "model_type": "lfm2", "num_hidden_layers": 6,
             "layer_types": ["conv", "conv", "full_attention", "conv", "full_attention", "conv"], "norm_eps": 1e-5,
             "rms_norm_eps": ..., "conv_L_cache": 3, "conv_bias": False, "block_auto_adjust_ff_dim": True,
             "block_ffn_dim_multiplier": 1.0, "block_multiple_of": 16, "intermediate_size": 200, "rope_theta": 1e6},
    "lfm2-moe": {"architectures": ["Lfm2MoeForCausalLM"], "model_type": "lfm2_moe", "num_hidden_layers": 5,
                 "layer_types": ["conv", "full_attention", "conv", "full_attention", "conv"], "norm_eps": 1e-5,
                 "rms_norm_eps": ..., "conv_L_cache": 3, "conv_bias": False, "num_dense_layers": 1, "num_experts": 8,
                 "num_experts_per_tok": 3, "moe_intermediate_size": 48, "use_expert_bias": True,
                 "norm_topk_prob": True, "routed_scaling_factor": 1.0, "rope_theta": 1e6},
    # Every other layer sees all. Caps are so small that scores and logits come near them.
    "gemma2": {"architectures": ["Gemma2ForCausalLM"], "model_type": "gemma2", "num_hidden_layers": 4,
               "head_dim": 32, "query_pre_attn_scalar": 32, "rms_norm_eps": 1e-6, "hidden_act": "gelu_pytorch_tanh",
               "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 36, "rope_theta": 1e4,
               "attn_logit_softcapping": 0.7, "final_logit_softcapping": 2.0},
    # Mixtures: as older and newer files name their numbers, one with a weight for each expert, one with stacks.
    "mixtral": {"architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "sliding_window": None,
                "num_local_experts": 4, "num_experts_per_tok": 2, "rope_theta": 1e6, "pad_token_id": None},
    "qwen3-moe": {"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "head_dim": 24,
                  "rope_theta": 1e6, "moe_intermediate_size": 48, "num_experts": 16, "num_experts_per_tok": 4,
                  "norm_topk_prob": True, "decoder_sparse_step": 1, "mlp_only_layers": [],
                  "use_sliding_window": False, "sliding_window": None},
    "granite-moe": {"architectures": ["GraniteMoeForCausalLM"], "model_type": "granitemoe", "num_local_experts": 8,
                    "num_experts_per_tok": 3, "intermediate_size": 64, "tie_word_embeddings": True, "rope_theta": 1e4,
                    "rope_scaling": None, "embedding_multiplier": 12.0, "residual_multiplier": 0.22,
                    "attention_multiplier": 0.015625, "logits_scaling": 6.0},
    # That of Granite 4.0 350M, without any mixture.
    "granite4": {"architectures": ["GraniteMoeHybridForCausalLM"], "model_type": "granitemoehybrid",
                 "layer_types": 3 * ["attention"], "num_local_experts": 0, "num_experts_per_tok": 0,
                 "intermediate_size": 96, "shared_intermediate_size": 160, "position_embedding_type": "rope",
                 "tie_word_embeddings": True, "rope_theta": 1e7, "rope_scaling": None, "embedding_multiplier": 12.0,
                 "residual_multiplier": 0.246, "attention_multiplier": 0.015625, "logits_scaling": 4.0,
                 "pad_token_id": None},
    # As Granite 4.0 H 350M and H Tiny: one layer attends, and knows no positions.
    "granite4-h": {"architectures": ["GraniteMoeHybridForCausalLM"], "model_type": "granitemoehybrid",
                   "num_hidden_layers": 4, "layer_types": ["mamba", "mamba", "attention", "mamba"],
                   "num_local_experts": 0, "num_experts_per_tok": 0, "intermediate_size": 160,
                   "shared_intermediate_size": 160, "position_embedding_type": "nope", "tie_word_embeddings": True,
                   "rope_theta": 1e4, "rope_scaling": None, "embedding_multiplier": 12.0, "residual_multiplier": 0.246,
                   "attention_multiplier": 0.03125, "logits_scaling": 4.0, "mamba_n_heads": 4, "mamba_d_head": 32,
                   "mamba_n_groups": 1, "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2,
                   "mamba_conv_bias": True, "mamba_proj_bias": False, "mamba_chunk_size": 16, "pad_token_id": None},
    "granite4-h-moe": {"architectures": ["GraniteMoeHybridForCausalLM"], "model_type": "granitemoehybrid",
                       "num_hidden_layers": 4, "layer_types": ["mamba", "attention", "mamba", "mamba"],
                       "num_local_experts": 8, "num_experts_per_tok": 3, "intermediate_size": 48,
                       "shared_intermediate_size": 96, "position_embedding_type": "nope", "tie_word_embeddings": True,
                       "rope_theta": 1e4, "rope_scaling": None, "embedding_multiplier": 12.0,
                       "residual_multiplier": 0.22, "attention_multiplier": 0.03125, "logits_scaling": 6.0,
                       "mamba_n_heads": 8, "mamba_d_head": "auto", "mamba_n_groups": 2, "mamba_d_state": 24,
                       "mamba_d_conv": 4, "mamba_expand": 2, "mamba_conv_bias": True, "mamba_proj_bias": False,
                       "mamba_chunk_size": 16, "pad_token_id": None},
    # Each half of a layer is a layer in the files, and some have no second one.
    "nemotron-h": {"architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h", "num_hidden_layers": 8,
                   "hybrid_override_pattern": "M-M*-MM-", "hidden_act": ..., "mlp_hidden_act": "relu2",
                   "mamba_hidden_act": "silu", "head_dim": 16, "mamba_num_heads": 8, "mamba_head_dim": 24,
                   "n_groups": 2, "ssm_state_size": 16, "conv_kernel": 4, "expand": 2, "chunk_size": 16,
                   "use_conv_bias": True, "use_bias": False, "mamba_proj_bias": False, "rms_norm_eps": ...,
                   "layer_norm_epsilon": 1e-5, "tie_word_embeddings": False, "pad_token_id": None},
    "nemotron-h-moe": {"architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h", "num_hidden_layers": 7,
                       "hybrid_override_pattern": "MEM*EME", "hidden_act": ..., "mlp_hidden_act": "relu2",
                       "mamba_hidden_act": "silu", "head_dim": 16, "mamba_num_heads": 8, "mamba_head_dim": 16,
                       "n_groups": 2, "ssm_state_size": 16, "conv_kernel": 4, "expand": 2, "chunk_size": 16,
                       "use_conv_bias": True, "use_bias": False, "mamba_proj_bias": False, "rms_norm_eps": ...,
                       "layer_norm_epsilon": 1e-5, "n_routed_experts": 8, "num_experts_per_tok": 3,
                       "moe_intermediate_size": 48, "moe_shared_expert_intermediate_size": 96, "n_shared_experts": 1,
                       "routed_scaling_factor": 2.5, "n_group": 1, "topk_group": 1, "norm_topk_prob": True,
                       "tie_word_embeddings": False, "pad_token_id": None},
    # As OpenAI wrote it: every other layer has a window, from the first on.
    "gpt-oss": {"architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", "head_dim": 16,
                "num_local_experts": 8, "num_experts_per_tok": 3, "intermediate_size": 96, "attention_bias": True,
                "sliding_window": 33, "rope_theta": 150000, "swiglu_limit": 7.0, "experts_per_token": 3,
                "pad_token_id": None,
                "rope_scaling": {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0,
                                 "truncate": False, "original_max_position_embeddings": 64}},
    # Beyond 64 tokens queries grow.
    "ministral3": {"architectures": ["Ministral3ForCausalLM"], "model_type": "ministral3", "head_dim": 32,
                   "sliding_window": None, "pad_token_id": None,
                   "rope_parameters": {"rope_type": "yarn", "rope_theta": 1e6, "factor": 16.0, "beta_fast": 32.0,
                                       "beta_slow": 1.0, "original_max_position_embeddings": 64, "mscale": 1.0,
                                       "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}},
    "magistral": {"architectures": ["MistralForCausalLM"], "model_type": "mistral", "head_dim": 32,
                  "sliding_window": None, "rope_theta": 1e6, "pad_token_id": None},
    "olmo2": {"architectures": ["Olmo2ForCausalLM"], "model_type": "olmo2", "rope_theta": 500000, "rope_scaling": None,
              "rms_norm_eps": 1e-6, "pad_token_id": None},
    "olmoe": {"architectures": ["OlmoeForCausalLM"], "model_type": "olmoe", "num_experts": 8, "num_experts_per_tok": 3,
              "num_key_value_heads": 4, "intermediate_size": 48, "clip_qkv": None, "norm_topk_prob": False,
              "rope_theta": 10000.0, "rope_scaling": None, "pad_token_id": None},
    # That there are biases, but for that of the output, only the family says.
    "seed-oss": {"architectures": ["SeedOssForCausalLM"], "model_type": "seed_oss", "attention_bias": ...,
                 "head_dim": 32, "rope_theta": 1e7, "rope_scaling": {"rope_type": "default"}, "pad_token_id": None},
    # Each row goes through an expert besides: in one family as far as a gate says, in the other behind a layer that has
    # an MLP, where what chooses the others is corrected.
    "qwen2-moe": {"architectures": ["Qwen2MoeForCausalLM"], "model_type": "qwen2_moe", "rope_theta": 1e6,
                  "moe_intermediate_size": 48, "shared_expert_intermediate_size": 96, "num_experts": 8,
                  "num_experts_per_tok": 3, "norm_topk_prob": False, "decoder_sparse_step": 1, "mlp_only_layers": [],
                  "use_sliding_window": False, "sliding_window": None},
    "ernie-moe": {"architectures": ["Ernie4_5_MoeForCausalLM"], "model_type": "ernie4_5_moe", "use_bias": False,
                  "moe_intermediate_size": 48, "moe_num_experts": 8, "moe_k": 3, "moe_num_shared_experts": 2,
                  "moe_layer_start_index": 1, "moe_layer_end_index": -1, "moe_layer_interval": 1, "rope_theta": 5e5,
                  "rope_scaling": None, "pad_token_id": None, "head_dim": 16},
    "arcee": {"architectures": ["ArceeForCausalLM"], "model_type": "arcee", "hidden_act": "relu2", "head_dim": 16,
              "rope_theta": 1e4, "pad_token_id": None,
              "rope_scaling": {"rope_type": "yarn", "factor": 20.0, "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0,
                               "original_max_position_embeddings": 64}},
    # As MiniCPM 4 0.5B.
    "minicpm": {"architectures": ["MiniCPMForCausalLM"], "model_type": "minicpm", "scale_emb": 12,
                "scale_depth": 1.4, "dim_model_base": 16, "tie_word_embeddings": True, "rope_theta": 1e4,
                "rope_scaling": {"rope_type": "longrope", "original_max_position_embeddings": 2048,
                                 "long_factor": [1.0, 1.2, 2.0, 4.5, 9.0, 30.0, 31.0, 33.0],
                                 "short_factor": [1.0, 1.0, 1.1, 1.2, 1.5, 2.0, 2.5, 3.0]}},
    # Its own alpha is 1000 or 100000.
    "hunyuan": {"architectures": ["HunYuanDenseV1ForCausalLM"], "model_type": "hunyuan_v1_dense", "head_dim": 24,
                "tie_word_embeddings": True, "rope_theta": 1e4, "pad_token_id": None,
                "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0, "beta_fast": 32, "beta_slow": 1,
                                 "mscale": 1.0, "mscale_all_dim": 1.0}},
    # Of each head half is rotated.
    "glm": {"architectures": ["GlmForCausalLM"], "model_type": "glm", "head_dim": 16, "partial_rotary_factor": 0.5,
            "attention_bias": True, "rope_theta": 1e4, "rms_norm_eps": 1.5625e-7, "pad_token_id": None},
    "glm4": {"architectures": ["Glm4ForCausalLM"], "model_type": "glm4", "head_dim": 24, "partial_rotary_factor": 0.5,
             "attention_bias": True, "rope_theta": 1e4, "pad_token_id": None},
    "ernie": {"architectures": ["Ernie4_5ForCausalLM"], "model_type": "ernie4_5", "head_dim": 24, "use_bias": False,
              "rope_theta": 5e5, "rope_scaling": None, "pad_token_id": None},
    # The fourth layer, which sees all, does not know positions.
    "exaone4": {"architectures": ["Exaone4ForCausalLM"], "model_type": "exaone4", "num_hidden_layers": 5,
                "head_dim": 16, "sliding_window": 35, "sliding_window_pattern": "LLLG", "rope_theta": 1e6,
                "layer_types": [*3 * ["sliding_attention"], "full_attention", "sliding_attention"],
                "rope_scaling": {"rope_type": "llama3", "factor": 16.0, "low_freq_factor": 1.0,
                                 "high_freq_factor": 4.0, "original_max_position_embeddings": 64}},
    # Only the fourth layer, which sees all, is stretched.
    "olmo3": {"architectures": ["Olmo3ForCausalLM"], "model_type": "olmo3", "num_hidden_layers": 5,
              "sliding_window": 34, "rope_theta": 500000, "rms_norm_eps": 1e-6, "pad_token_id": None,
              "layer_types": [*3 * ["sliding_attention"], "full_attention", "sliding_attention"],
              "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "beta_fast": 32.0, "beta_slow": 1.0,
                               "attention_factor": 1.2079441541679836, "original_max_position_embeddings": 64}},
}  # fmt: skip


def write_tiny_llama(
    folder: Path, shape: Shape = "llama-3.2", *, seed: int = 0, shards: int = 1, **changes: Any
) -> Path:
    """Write a random model of `shape` into `folder`; `changes` replace fields of config.json, or take them out (...).

    The head's rows of control tokens are zero, so that a greedy answer does not end by chance.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if shape in ("gemma4", "gemma4-31b", "gemma4-26b"):
        tokenizer, bos, eos, template = gemma4_tokenizer(), "<bos>", "<turn|>", GEMMA4_TEMPLATE
    elif shape in ("gemma2", "gemma3"):
        template = GEMMA2_TEMPLATE if shape == "gemma2" else GEMMA_TEMPLATE
        tokenizer, bos, eos = gemma_tokenizer(), "<bos>", "<eos>"
    elif shape == "gpt-oss":
        tokenizer, bos, eos, template = harmony_tokenizer(), "<|startoftext|>", "<|return|>", HARMONY_TEMPLATE
    elif shape in ("lfm2", "lfm2-moe"):
        tokenizer, bos, eos, template = lfm2_tokenizer(), "<|startoftext|>", "<|im_end|>", LFM2_TEMPLATE
    elif shape == "magistral":
        tokenizer, bos, eos, template = magistral_tokenizer(), "<s>", "</s>", MAGISTRAL_TEMPLATE
    elif shape in ("tinyllama", "llama-2", "mistral", "mixtral", "ernie", "ernie-moe", "minicpm"):
        tokenizer, bos, eos, template = sentencepiece_tokenizer(), "<s>", "</s>", ZEPHYR_TEMPLATE
    else:
        tokenizer, bos, eos = byte_level_tokenizer(), "<|begin_of_text|>", "<|eot_id|>"
        template = LLAMA3_TEMPLATE
    write_tokenizer(folder, tokenizer, bos=bos, eos=eos, chat_template=template)
    values = {
        **_COMMON,
        **_SHAPES[shape],
        "vocab_size": tokenizer.get_vocab_size(),
        "bos_token_id": tokenizer.token_to_id(bos),
        "eos_token_id": tokenizer.token_to_id(eos),
        **changes,
    }
    values = {name: value for name, value in values.items() if value is not ...}
    (folder / "config.json").write_text(json.dumps(values))
    control = [token_id for token_id, token in tokenizer.get_added_tokens_decoder().items() if token.special]
    write_random_weights(folder, seed=seed, shards=shards, zero_rows=control)
    return folder


def write_random_weights(folder: Path, *, seed: int = 0, shards: int = 1, zero_rows: list[int] | None = None) -> None:
    """Weights for `folder`'s config.json: normal, scaled so that activations keep their size."""
    config = load_config(folder)
    generator = torch.Generator().manual_seed(seed)
    weights: dict[str, torch.Tensor] = {}
    for name, shape in weight_shapes(config).items():
        noise = torch.randn(shape, generator=generator)
        if len(shape) == 1:
            shift = 0 if "linear_attn" in name else config.norm_shift
            weights[name] = 0.1 * noise if name.endswith("bias") else 1 - shift + 0.1 * noise
            if name.endswith("A_log"):
                weights[name] -= 4  # it forgets little with each token
            if name.endswith(".dt_bias") and "mamba" in name:
                weights[name] -= 2  # as those of trained models, whose tokens count little
        else:
            weights[name] = noise / shape[-1] ** 0.5
    head = "model.embed_tokens.weight" if config.tie_word_embeddings else "lm_head.weight"
    weights[head] *= 2  # logits spread out, as those of a trained model do
    if config.post_norms:  # what is looked up, and scaled, would be the answer, too
        weights["model.embed_tokens.weight"] /= config.embedding_scale**0.5
    weights[head][zero_rows or []] = 0
    if config.has_sinks:
        weights = as_gpt_oss(weights, "MXFP4" if config.stored_kind else "")
    theirs = {ours: stored for stored, ours in config.part_names.items()}

    def stored(name: str) -> str:
        return with_parts(name, theirs) if config.split is None else config.split.in_folder(name)

    _save(folder, {stored(name): weight for name, weight in weights.items()}, shards)


def write_answering_model(folder: Path, shape: Shape, answer: str, *, behind: str) -> Path:
    """A model that answers every question with `answer`, marks and all: what comes depends on the last token only.

    `behind`: the token with which a prompt ends. Each word becomes a token, so none may be in the answer twice.
    """
    write_tiny_llama(folder, shape)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_tokens(
        [tokenizers.AddedToken(word, normalized=False) for word in re.findall(r"[^\s\[\]<>]+\s*", answer)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    ids = tokenizer.encode(behind + answer, add_special_tokens=False).ids
    assert len({*ids}) == len(ids), [tokenizer.id_to_token(i) for i in ids if ids.count(i) > 1]
    config = json.loads((folder / "config.json").read_text())
    config |= {"vocab_size": tokenizer.get_vocab_size(), "num_hidden_layers": 1, "tie_word_embeddings": False}
    (folder / "config.json").write_text(json.dumps(config))
    write_random_weights(folder)
    weights = load_file(folder / "model.safetensors")
    for name, weight in weights.items():
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            weight.zero_()  # what is behind has no say
    rows = weights["model.embed_tokens.weight"]
    rows /= rows.norm(dim=1, keepdim=True) / 8
    weights["model.norm.weight"].fill_(1)
    weights["lm_head.weight"].zero_()[ids[1:]] = rows[ids[:-1]]
    _save(folder, weights, 1)
    return folder


def as_gpt_oss(weights: dict[str, torch.Tensor], kind: str = "") -> dict[str, torch.Tensor]:
    """As OpenAI's folders have them: gate and up in turn, and stacks ``[experts, in, out]``, or packed as `kind`."""
    stored: dict[str, torch.Tensor] = {}
    for name, weight in weights.items():
        if ".up_proj." in name:
            continue
        if ".gate_proj." in name:
            up = weights[name.replace("gate_proj", "up_proj")]
            name, weight = name.replace("gate_proj", "gate_up_proj"), torch.stack((weight, up), 2).flatten(1, 2)
        if name.endswith("sinks.weight"):
            stored[name.removesuffix(".weight")] = 2 * (weight - 1) / 0.1  # around zero, as scores are
        elif ".mlp.gate." in name:
            stored[name.replace(".gate.", ".router.")] = weight
        elif not (".experts." in name and name.endswith("weight")):
            stored[name.replace("proj.bias", "proj_bias") if ".experts." in name else name] = weight
        elif kind:
            packed = gguf.quantize(weight.numpy(), gguf.GGMLQuantizationType.MXFP4)
            blocks = torch.from_numpy(packed).unflatten(-1, (-1, 17))
            numbers = torch.cat((blocks[..., 1:] & 15, blocks[..., 1:] >> 4), -1)
            stored[name.replace(".weight", "_blocks")] = numbers[..., ::2] | numbers[..., 1::2] << 4
            stored[name.replace(".weight", "_scales")] = blocks[..., 0].contiguous()
        else:
            stored[name.removesuffix(".weight")] = 3 * weight.transpose(1, 2).contiguous()  # some are beyond the limits
    return stored


def _save(folder: Path, weights: dict[str, torch.Tensor], shards: int) -> None:
    if shards == 1:
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        return
    weight_map: dict[str, str] = {}
    for number in range(shards):
        file = f"model-{number + 1:05}-of-{shards:05}.safetensors"
        part = {name: weights[name] for name in list(weights)[number::shards]}
        weight_map |= dict.fromkeys(part, file)
        save_file(part, folder / file, metadata={"format": "pt"})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
