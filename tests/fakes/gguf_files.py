"""GGUF files from model folders, as llama.cpp's converter writes them: by the `gguf` package, not by our tables."""

import functools
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFValueType
from safetensors.torch import load_file, save_file

ARCHITECTURES = {
    "Qwen2VLForConditionalGeneration": "qwen2vl",
    "Qwen2_5_VLForConditionalGeneration": "qwen2vl",
    "Qwen3VLForConditionalGeneration": "qwen3vl",
    "Qwen3VLMoeForConditionalGeneration": "qwen3vlmoe",
    "LlamaForCausalLM": "llama",
    "MistralForCausalLM": "llama",
    "Ministral3ForCausalLM": "mistral3",
    "Qwen2ForCausalLM": "qwen2",
    "Qwen3ForCausalLM": "qwen3",
    "SmolLM3ForCausalLM": "smollm3",
    "GraniteForCausalLM": "granite",
    "Phi3ForCausalLM": "phi3",
    "Gemma2ForCausalLM": "gemma2",
    "Gemma3ForCausalLM": "gemma3",
    "Gemma4ForCausalLM": "gemma4",
    "Gemma4AssistantForCausalLM": "gemma4-assistant",
    "Gemma4UnifiedAssistantForCausalLM": "gemma4-assistant",
    "MixtralForCausalLM": "llama",
    "Qwen2MoeForCausalLM": "qwen2moe",
    "Qwen3MoeForCausalLM": "qwen3moe",
    "Ernie4_5_MoeForCausalLM": "ernie4_5-moe",
    "GraniteMoeForCausalLM": "granitemoe",
    "GraniteMoeHybridForCausalLM": "granite",
    "GptOssForCausalLM": "gpt-oss",
    "Olmo2ForCausalLM": "olmo2",
    "Olmo3ForCausalLM": "olmo2",
    "OlmoeForCausalLM": "olmoe",
    "GlmForCausalLM": "chatglm",
    "Glm4ForCausalLM": "glm4",
    "HunYuanDenseV1ForCausalLM": "hunyuan-dense",
    "MiniCPMForCausalLM": "minicpm",
    "ArceeForCausalLM": "arcee",
    "SeedOssForCausalLM": "seed_oss",
    "Exaone4ForCausalLM": "exaone4",
    "Ernie4_5ForCausalLM": "ernie4_5",
    "Qwen3_5ForCausalLM": "qwen35",
    "Qwen3_5ForConditionalGeneration": "qwen35",
    "Qwen3_5MoeForCausalLM": "qwen35moe",
    "Qwen3_5MoeForConditionalGeneration": "qwen35moe",
    "Qwen3NextForCausalLM": "qwen3next",
    "Lfm2ForCausalLM": "lfm2",
    "Lfm2MoeForCausalLM": "lfm2moe",
}
_ASSISTANT, _OF_ASSISTANT = "gemma4-assistant", ("pre_projection.weight", "post_projection.weight")
HYBRID = ("qwen35", "qwen35moe", "qwen3next")
PAIRED = ("llama", "mistral3", "smollm3", "granite", "granitemoe", "granitehybrid", "minicpm", "arcee")
_SPREADS = {
    "Q2_K": 1.9 * 7.5,
    "Q3_K": 2.3 * 18.5,
    "Q4_K": 4.6 * 32,
    "Q5_K": 9.2 * 32,
    "Q6_K": 18.5 * 64,
    "IQ4_XS": 68 * 18.5,
}
"""Kinds of which the package makes no blocks: the spread of a quantised number, times that of a scale."""
_GEMMA4_WORDS = (
    "<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", "<|tool_response>", "<tool_response|>", '<|"|>',
)  # fmt: skip
"""Control tokens that llama.cpp shall write."""
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")
_IN_TURN = re.compile(r"(model\.layers\.[0-9]+\.mlp\.experts)\.(gate_up|down)_proj(_bias)?")
_LFM2_STACK = re.compile(r"model\.layers(?=\.[0-9]+\.feed_forward)")
_OF_MIXERS = tuple(f".mixer.{part}" for part in ("conv1d.weight", "norm.weight", "A_log", "D", "dt_bias"))
"""Nemotron-H's, in layers with state spaces."""
_EXPERT = re.compile(r"((?:model|backbone)\.layers\.[0-9]+\..*\.experts)\.([0-9]+)\.(.*)")


def write_gguf(
    folder: Path,
    path: Path,
    kind: str = "F32",
    *,
    pre: str = "gpt-2",
    fields: Mapping[str, Any] | None = None,
    parts: int = 1,
    seed: int = 0,
    others: Mapping[str, str] | None = None,
    tokenizer: Path | None = None,
    only: str = "",
) -> Path:
    """The model in `folder` as a GGUF file at `path`, its matrices of `kind`; the path of the first part.

    `others`: another kind for those whose names in the file hold such a word. `tokenizer`: the folder of another model
    that has it, where this one has none. `only`: tensors with such names.

    The package cannot make blocks of Q4_K and its kin: those get random bytes with sane scales. `fields` are set last,
    None leaves one out.
    """
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    arch = arch_of(config)
    if arch == _ASSISTANT:
        config |= config["text_config"]
    metadata = network_fields(config, arch) | tokenizer_fields(tokenizer or folder, pre)
    metadata["general.file_type"] = int(gguf.LlamaFileType[f"{'ALL' if kind == 'F32' else 'MOSTLY'}_{_ftype(kind)}"])
    metadata = {key: value for key, value in (metadata | dict(fields or {})).items() if value is not None}
    generator = np.random.default_rng(seed)

    def kind_of(name: str) -> str:
        if any(part in name for part in ("ffn_gate_inp", "ssm_conv1d", "shortconv.conv.")) or name.endswith(
            ".bias"
        ):  # stays as it is in files of all kinds
            return "F32"
        return next((other for word, other in (others or {}).items() if word in name), kind)

    weights = stored_tensors(folder, config, arch)
    if any(".nextn.eh_proj." in name for name in weights):
        metadata[f"{arch}.block_count"] += 1
        metadata[f"{arch}.nextn_predict_layers"] = 1
    tensors = {
        name: _stored(weight, kind_of(name), generator) for name, weight in weights.items() if name.startswith(only)
    }
    return write_parts(path, arch, metadata, tensors, parts)


def arch_of(config: Mapping[str, Any]) -> str:
    """What GGUF calls the architecture of a config.json."""
    if "mamba" in config.get("layer_types", ()):
        return "granitehybrid"
    if "hybrid_override_pattern" in config:
        return "nemotron_h_moe" if "E" in config["hybrid_override_pattern"] else "nemotron_h"
    return ARCHITECTURES[config["architectures"][0]]


def write_parts(
    path: Path, arch: str, metadata: Mapping[str, Any], tensors: Mapping[str, tuple[np.ndarray, str]], parts: int = 1
) -> Path:
    """`tensors` are bytes or numbers and their type; the metadata is in the first part."""
    if parts == 1:
        _write(path, arch, metadata, tensors)
        return path
    names = [path.with_name(f"{path.stem}-{part + 1:05}-of-{parts:05}.gguf") for part in range(parts)]
    for part, name in enumerate(names):
        split = {"split.no": part, "split.count": parts, "split.tensors.count": len(tensors)}
        mine = {key: tensors[key] for key in list(tensors)[part::parts]}
        _write(name, arch, {**(metadata if part == 0 else {}), **split}, mine)
    return names[0]


def _write(path: Path, arch: str, metadata: Mapping[str, Any], tensors: Mapping[str, tuple[np.ndarray, str]]) -> None:
    writer = gguf.GGUFWriter(path, arch)
    for key, value in metadata.items():
        _add(writer, key, value)
    for name, (data, kind) in tensors.items():
        writer.add_tensor(name, data, raw_dtype=GGMLQuantizationType[kind])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    if isinstance(value, list):
        writer.add_array(key, value)
    else:
        kinds = {bool: GGUFValueType.BOOL, int: GGUFValueType.UINT32, float: GGUFValueType.FLOAT32}
        writer.add_key_value(key, value, kinds.get(type(value), GGUFValueType.STRING))


def _ftype(kind: str) -> str:
    return f"{kind}_M" if kind in ("Q3_K", "Q4_K", "Q5_K") else kind


# --- fields


def network_fields(config: Mapping[str, Any], arch: str) -> dict[str, Any]:
    """What the converter writes about the network."""
    heads = config["num_attention_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    values = {
        "context_length": config["max_position_embeddings"],
        "embedding_length": config["hidden_size"],
        "block_count": config["num_hidden_layers"],
        "feed_forward_length": config.get("shared_intermediate_size", config.get("intermediate_size", 512)),
        "attention.head_count": heads,
        "attention.head_count_kv": config.get("num_key_value_heads", heads),
        "attention.layer_norm_rms_epsilon": float(config.get("rms_norm_eps") or config.get("norm_eps") or 1e-5),
        "attention.key_length": head_dim,
        "attention.value_length": head_dim,
        "rope.dimension_count": int(head_dim * config.get("partial_rotary_factor", 1.0)),
        "rope.freq_base": float(rope.get("rope_theta", config.get("rope_theta", 10000.0))),
        "vocab_size": config["vocab_size"],
    }
    if arch == "gemma2":
        values |= {name: config[name] for name in ("attn_logit_softcapping", "final_logit_softcapping")}
    if arch in ("gemma2", "gemma3"):
        del values["rope.dimension_count"]
    if arch in ("gemma4", _ASSISTANT):
        values |= _gemma4_fields(config)
    if rope.get("rope_type") in ("linear", "yarn"):
        values |= {"rope.scaling.type": rope["rope_type"], "rope.scaling.factor": float(rope["factor"])}
    if rope.get("rope_type") == "yarn":
        values["rope.scaling.original_context_length"] = rope["original_max_position_embeddings"]
    if "alpha" in rope:
        values["rope.freq_base"] *= rope["alpha"] ** (head_dim / (head_dim - 2))
        values |= {"rope.scaling.type": "none", "rope.scaling.factor": 1.0}
    if arch == "mistral3":
        values["attention.temperature_scale"] = rope["llama_4_scaling_beta"]
        values["rope.scaling.yarn_log_multiplier"] = rope["mscale_all_dim"]
    if arch == "olmo2" and "attention_factor" in rope:
        values["rope.scaling.attn_factor"] = rope["attention_factor"]
    if arch in ("olmo2", "exaone4") and config.get("sliding_window") and "layer_types" in config:
        values["attention.sliding_window_pattern"] = [kind == "sliding_attention" for kind in config["layer_types"]]
    if config.get("sliding_window") and config.get("use_sliding_window", True):
        values["attention.sliding_window"] = config["sliding_window"]
    if config.get("use_sliding_window"):
        layers = range(config["num_hidden_layers"])
        values["attention.sliding_window_pattern"] = [layer >= config["max_window_layers"] for layer in layers]
    if arch == "minicpm":
        values |= {
            "embedding_scale": float(config["scale_emb"]),
            "residual_scale": config["scale_depth"] / config["num_hidden_layers"] ** 0.5,
            "logit_scale": config["hidden_size"] / config["dim_model_base"],
            "rope.scaling.type": "longrope",
        }
    elif "long_factor" in rope:
        values["rope.scaling.original_context_length"] = config["original_max_position_embeddings"]
        factor = config["max_position_embeddings"] / config["original_max_position_embeddings"]
        original = config["original_max_position_embeddings"]
        values["rope.scaling.attn_factor"] = float(np.sqrt(1 + np.log(factor) / np.log(original)))
    if experts := config.get("num_local_experts", config.get("num_experts")):
        values |= {
            "expert_count": experts,
            "expert_used_count": config.get("num_experts_per_tok") or config["top_k_experts"],
        }
    if "moe_intermediate_size" in config:
        values["expert_feed_forward_length"] = config["moe_intermediate_size"]
    if arch in ("qwen2moe", "qwen35moe", "qwen3next"):
        values["expert_shared_feed_forward_length"] = config["shared_expert_intermediate_size"]
    if arch == "ernie4_5-moe":
        values |= {
            "expert_count": config["moe_num_experts"],
            "expert_used_count": config["moe_k"],
            "interleave_moe_layer_step": config["moe_layer_interval"],
            "leading_dense_block_count": config["moe_layer_start_index"],
            "expert_shared_count": config["moe_num_shared_experts"],
            "expert_shared_feed_forward_length": config["moe_intermediate_size"] * config["moe_num_shared_experts"],
        }
    if arch in HYBRID:
        values |= {
            "ssm.conv_kernel": config["linear_conv_kernel_dim"],
            "ssm.state_size": config["linear_key_head_dim"],
            "ssm.group_count": config["linear_num_key_heads"],
            "ssm.time_step_rank": config["linear_num_value_heads"],
            "ssm.inner_size": config["linear_value_head_dim"] * config["linear_num_value_heads"],
            "full_attention_interval": config["full_attention_interval"],
            "rope.dimension_count": int(head_dim * rope.get("partial_rotary_factor", 0.25)),
            **({"rope.dimension_sections": [*rope["mrope_section"], 0]} if "mrope_section" in rope else {}),
        }
    if arch in ("lfm2", "lfm2moe"):
        heads_of = {"full_attention": config["num_key_value_heads"], "conv": 0}
        values["attention.head_count_kv"] = [heads_of[kind] for kind in config["layer_types"]]
        values["shortconv.l_cache"] = config["conv_L_cache"]
    if arch == "lfm2":
        together = config["block_multiple_of"]
        values["feed_forward_length"] = -(-int(2 * config["intermediate_size"] / 3) // together) * together
    if arch == "lfm2moe":
        values |= {"leading_dense_block_count": config["num_dense_layers"], "expert_gating_func": 2}
    if arch == "gpt-oss":
        values["expert_feed_forward_length"] = config["intermediate_size"]
    if arch.startswith("nemotron_h"):
        pattern, wide = config["hybrid_override_pattern"], config.get("moe_intermediate_size")
        del values["attention.layer_norm_rms_epsilon"]
        values |= {
            "attention.layer_norm_epsilon": config["layer_norm_epsilon"],
            "attention.head_count_kv": [config["num_key_value_heads"] if one == "*" else 0 for one in pattern],
            "feed_forward_length": [(wide or config["intermediate_size"]) if one in "-E" else 0 for one in pattern],
            "rope.scaling.finetuned": False,
            "ssm.conv_kernel": config["conv_kernel"],
            "ssm.state_size": config["ssm_state_size"],
            "ssm.group_count": config["n_groups"],
            "ssm.inner_size": config["mamba_num_heads"] * config["mamba_head_dim"],
            "ssm.time_step_rank": config["mamba_num_heads"],
        }
    if arch == "nemotron_h_moe":
        values |= {
            "expert_count": config["n_routed_experts"],
            "expert_used_count": config["num_experts_per_tok"],
            "expert_feed_forward_length": config["moe_intermediate_size"],
            "expert_shared_feed_forward_length": config["moe_shared_expert_intermediate_size"],
            "expert_shared_count": config["n_shared_experts"],
            "expert_weights_norm": config["norm_topk_prob"],
            "expert_weights_scale": config["routed_scaling_factor"],
            "expert_group_count": config["n_group"],
        }
    if arch == "granitehybrid":
        heads_of = {"attention": config["num_key_value_heads"], "mamba": 0}
        width = config["mamba_expand"] * config["hidden_size"]
        values |= {
            "attention.head_count_kv": [heads_of[kind] for kind in config["layer_types"]],
            "feed_forward_length": config["intermediate_size"],
            "expert_shared_feed_forward_length": config["shared_intermediate_size"],
            "rope.scaling.finetuned": config["position_embedding_type"] == "rope",
            "ssm.conv_kernel": config["mamba_d_conv"],
            "ssm.state_size": config["mamba_d_state"],
            "ssm.group_count": config["mamba_n_groups"],
            "ssm.inner_size": width,
            "ssm.time_step_rank": config["mamba_n_heads"],
        }
    if arch in ("granite", "granitemoe", "granitehybrid"):
        values |= {
            "embedding_scale": config["embedding_multiplier"],
            "residual_scale": config["residual_multiplier"],
            "attention.scale": config["attention_multiplier"],
            "logit_scale": config["logits_scaling"],
        }
    return {f"{arch}.{key}": value for key, value in values.items()}


def _gemma4_fields(config: Mapping[str, Any]) -> dict[str, Any]:
    layers, full, width = range(config["num_hidden_layers"]), config["global_head_dim"], config["head_dim"]
    kinds = config.get("layer_types") or [f"{'sliding' if (n + 1) % 6 else 'full'}_attention" for n in layers]
    slides, borrowing = [kind == "sliding_attention" for kind in kinds], config.get("num_kv_shared_layers", 0)
    values = {
        "attention.shared_kv_layers": borrowing,
        "embedding_length_per_layer_input": config["hidden_size_per_layer_input"],
        "attention.sliding_window_pattern": slides,
        **{f"attention.{name}_length": full for name in ("key", "value")},
        **{f"attention.{name}_length_swa": width for name in ("key", "value")},
        "rope.dimension_count": full,
        "rope.dimension_count_swa": width,
        "rope.freq_base": 1e6,
        "rope.freq_base_swa": 1e4,
        **{name: config[name] for name in ("final_logit_softcapping",) if name in config},
    }
    if "backbone_hidden_size" in config:
        values |= {"embedding_length_out": config["backbone_hidden_size"], "nextn_predict_layers": len(layers)}
    if config.get("use_double_wide_mlp"):
        inner = config["intermediate_size"]
        values["feed_forward_length"] = [inner if n < len(layers) - borrowing else 2 * inner for n in layers]
    if of_full := config.get("num_global_key_value_heads"):
        values["attention.head_count_kv"] = [config["num_key_value_heads"] if one else of_full for one in slides]
    return values


def tokenizer_fields(folder: Path, pre: str) -> dict[str, Any]:
    """What the converter writes about the vocabulary."""
    state = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    vocab: dict[str, int] = dict(state["model"]["vocab"])
    added = {token["content"]: token for token in state["added_tokens"]}
    vocab |= {text: token["id"] for text, token in added.items()}
    tokens = sorted(vocab, key=vocab.__getitem__)
    byte_level = not state["model"].get("byte_fallback")
    kinds = [_kind(token, added, state["model"].get("unk_token"), byte_level) for token in tokens]
    template = folder / "chat_template.jinja"
    fields: dict[str, Any] = {
        "model": "gpt2" if byte_level else "llama",
        "tokens": tokens,
        "token_type": kinds,
        "bos_token_id": vocab[settings["bos_token"]],
        "eos_token_id": vocab[settings["eos_token"]],
        "add_bos_token": state["post_processor"] is not None,
    }
    if byte_level:
        fields |= {"pre": pre, "merges": [" ".join(merge) for merge in state["model"]["merges"]]}
    else:
        fields["scores"] = [-float(number) if kind == 1 else 0.0 for number, kind in enumerate(kinds)]
    if "<|turn>" in added:  # Gemma 4
        merges = [" ".join(merge) for merge in state["model"]["merges"]]
        fields |= {"model": "gemma4", "add_space_prefix": False, "merges": merges}
        fields["token_type"] = [
            1 if kind == 4 else 4 if token in _GEMMA4_WORDS else kind for token, kind in zip(tokens, kinds, strict=True)
        ]
    if "<start_of_turn>" in added:  # Gemma 3: blanks beside one another are tokens in plain writing
        fields["add_space_prefix"] = False
        fields["tokens"] = [
            token.replace("▁", " ") if kind == 4 else token for token, kind in zip(tokens, kinds, strict=True)
        ]
        fields["scores"] = [
            -1000.0 if token in added else score for token, score in zip(tokens, fields["scores"], strict=True)
        ]
    fields = {f"tokenizer.ggml.{key}": value for key, value in fields.items()}
    text = template.read_text(encoding="utf-8") if template.exists() else settings.get("chat_template")
    return fields | ({"tokenizer.chat_template": text} if text else {})


def _kind(token: str, added: Mapping[str, Any], unknown: str | None, byte_level: bool) -> int:
    if token == unknown:
        return 2
    if token in added:
        return 3 if added[token]["special"] else 4
    return 6 if not byte_level and _BYTE.fullmatch(token) else 1


# --- tensors


@functools.cache
def _names(arch: str) -> gguf.TensorNameMap:
    """What the converter knows about the names of an architecture; it takes an eighth of a second to make."""
    return gguf.get_tensor_name_map(_arch(arch), 100)


def stored_tensors(folder: Path, config: Mapping[str, Any], arch: str) -> dict[str, torch.Tensor]:
    """The folder's weights under the names and in the order of GGUF, with Llama 3's divisors."""
    names = _names(arch)
    heads, kv_heads = config["num_attention_heads"], config.get("num_key_value_heads", config["num_attention_heads"])
    layers = config["num_hidden_layers"]
    stored: dict[str, torch.Tensor] = {}
    for file in sorted(folder.glob("*.safetensors")):
        named = {name.replace("mtp.layers.0.", f"model.layers.{layers}."): w for name, w in load_file(file).items()}
        for name, weight in _stacked(named, arch).items():
            if arch in PAIRED and ".q_proj." in name:
                weight = _paired(weight, heads)
            if arch in PAIRED and ".k_proj." in name:
                weight = _paired(weight, kv_heads)
            if arch in ("gemma2", "gemma3") and name.endswith("norm.weight"):
                weight = weight + 1
            if name in _OF_ASSISTANT:
                stored[f"nextn.{name}"] = weight
                continue
            if name.startswith("masked_embedding."):
                continue
            if name.endswith((".router.scale", ".router.per_expert_scale")):
                part = "gate_inp" if name.endswith(".scale") else "down_exps"
                stored[f"blk.{name.split('.')[2]}.ffn_{part}.scale"] = weight
                continue
            if arch == "qwen3next" and ".in_proj_qkvz." in name:
                stored |= _apart_by_kind(name, weight, config)
                continue
            if ".mamba." in name or name.endswith(_OF_MIXERS):
                name, weight = _of_mamba(name, weight, config)
            if name in _OF_MTP:
                stored[f"blk.{layers}.nextn.{_OF_MTP[name]}.weight"] = weight + (weight.ndim == 1)
                continue
            if arch in HYBRID:
                name, weight = _of_qwen35(name, weight, config, in_turn=arch != "qwen3next")
            target = names.get_name(_full(name), try_suffixes=(".weight", ".bias"))
            assert target is not None, name
            stored[target] = weight
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    if rope.get("rope_type") == "llama3":
        rope = {"rope_theta": config.get("rope_theta"), **rope}
        dim = config.get("head_dim") or config["hidden_size"] // heads
        stored["rope_freqs.weight"] = _divisors(rope, dim)
    if arch in ("gemma4", _ASSISTANT):
        pairs = config["global_head_dim"] // 2
        stored["rope_freqs.weight"] = torch.tensor([1.0] * (pairs // 4) + [1e30] * (pairs - pairs // 4))
    scaling = config.get("rope_scaling") or {}
    for length in ("long", "short"):
        if f"{length}_factor" in scaling:
            stored[f"rope_factors_{length}.weight"] = torch.tensor(scaling[f"{length}_factor"])
    return stored


_OF_MTP = {
    "mtp.fc.weight": "eh_proj",
    "mtp.pre_fc_norm_embedding.weight": "enorm",
    "mtp.pre_fc_norm_hidden.weight": "hnorm",
    "mtp.norm.weight": "shared_head_norm",
}
"""Of a layer that guesses further tokens, which is one behind the last one."""


def _apart_by_kind(name: str, weight: torch.Tensor, config: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """What Qwen3-Next has together for each key head, as its converter writes it."""
    width, keys, values = (config[f"linear_{part}"] for part in ("value_head_dim", "num_key_heads", "num_value_heads"))
    sizes = (*2 * (config["linear_key_head_dim"],), *2 * (values // keys * width,))
    *qkv, z = (part.flatten(0, 1) for part in weight.view(keys, sum(sizes), -1).split(sizes, 1))
    block = f"blk.{name.split('.')[2]}."
    return {f"{block}attn_qkv.weight": torch.cat(qkv), f"{block}attn_gate.weight": z.contiguous()}


def _of_mamba(name: str, weight: torch.Tensor, config: Mapping[str, Any]) -> tuple[str, torch.Tensor]:
    """Its converter keeps no logarithm, has numbers of heads in columns, and the norm in groups."""
    if name.endswith("conv1d.weight"):
        return name, weight.squeeze(1)
    if name.endswith("norm.weight"):
        return name, weight.view(config.get("mamba_n_groups", config.get("n_groups")), -1)
    if name.endswith((".A_log", ".D")):
        return name, (-weight.exp() if name.endswith("A_log") else weight).view(-1, 1)
    return name.replace("dt_bias", "dt_proj.bias"), weight


def _of_qwen35(
    name: str, weight: torch.Tensor, config: Mapping[str, Any], *, in_turn: bool = True
) -> tuple[str, torch.Tensor]:
    """Its converter has the values that a key serves in turn, counts norms from 0, and keeps no logarithm."""
    if name.endswith("norm.weight") and "linear_attn" not in name:
        return name, weight + 1
    if name.endswith("A_log"):
        weight = -weight.exp()
    if not in_turn:
        return name.replace("dt_bias", "dt_proj.bias"), weight.squeeze(1) if ".conv1d." in name else weight
    width, keys, values = (config[f"linear_{part}"] for part in ("value_head_dim", "num_key_heads", "num_value_heads"))
    rows = torch.arange(values * width).view(keys, values // keys, width).transpose(0, 1).flatten()
    heads = torch.arange(values).view(keys, values // keys).t().flatten()
    if ".out_proj." in name:
        return name, weight[:, rows].contiguous()
    if ".conv1d." in name or ".in_proj_qkv." in name:
        weight = weight.squeeze(1) if ".conv1d." in name else weight
        before = len(weight) - len(rows)
        return name, torch.cat((weight[:before], weight[before:][rows]))
    if ".in_proj_z." in name:
        return name, weight[rows]
    if any(part in name for part in ("in_proj_a", "in_proj_b", "A_log", "dt_bias")):
        return name.replace("dt_bias", "dt_proj.bias"), weight[heads]
    return name, weight


def _stacked(weights: dict[str, torch.Tensor], arch: str) -> dict[str, torch.Tensor]:
    """With the experts of a layer in one tensor, and Granite's gate apart from up, by names that the package knows."""
    whole: dict[str, torch.Tensor] = {}
    stacks: dict[str, dict[int, torch.Tensor]] = {}
    shared = "mlp.shared_expert" if any("block_sparse_moe" in name for name in weights) else "mlp"
    for name, weight in weights.items():
        if match := _EXPERT.fullmatch(name):
            stacks.setdefault(f"{match[1]}.{match[3]}", {})[int(match[2])] = weight
        elif name.endswith(".shared_mlp.input_linear.weight"):
            for part, half in zip(("gate", "up"), weight.chunk(2), strict=True):
                whole[name.replace("shared_mlp.input_linear", f"{shared}.{part}_proj")] = half.contiguous()
        elif name.endswith(".shared_mlp.output_linear.weight"):
            whole[name.replace("shared_mlp.output_linear", f"{shared}.down_proj")] = weight
        elif name.endswith(".input_linear.weight"):
            before = name.removesuffix("block_sparse_moe.input_linear.weight")
            for part, half in zip(("gate", "up"), weight.chunk(2, 1), strict=True):
                whole[f"{before}mlp.experts.{part}_proj.weight"] = half.contiguous()
        elif arch == "qwen35moe" and name.endswith(".mlp.experts.gate_up_proj"):
            for part, half in zip(("gate", "up"), weight.chunk(2, 1), strict=True):
                whole[name.replace("gate_up_proj", f"{part}_proj.weight")] = half.contiguous()
        elif arch == "qwen35moe" and name.endswith(".mlp.experts.down_proj"):
            whole[f"{name}.weight"] = weight
        elif match := _IN_TURN.fullmatch(name):
            whole |= _apart(match[1], match[2], match[3], weight)
        elif name.endswith("e_score_correction_bias"):
            whole[name.replace("_correction_bias", "_correction.bias")] = weight.squeeze()
        elif arch == "gemma4" and name.endswith((".experts.gate_up_proj", ".experts.down_proj")):
            whole[f"{name}.weight"] = weight
        elif name.endswith(".expert_bias"):
            whole[f"{name}.bias"] = weight
        elif name.endswith(".conv.conv.weight"):
            whole[name] = weight.squeeze(1)
        elif name.endswith(".shared_expert_gate.weight"):
            whole[name] = weight.squeeze()
        elif name.endswith(".sinks"):
            whole[f"{name}.weight"] = weight
        else:
            whole[name] = weight
    joined = {name: torch.stack([stack[n] for n in sorted(stack)]) for name, stack in stacks.items()}
    renamed = {name.replace("backbone", "model").replace(".mixer.", ".mlp."): stack for name, stack in joined.items()}
    return whole | {_LFM2_STACK.sub("layers", name): stack for name, stack in renamed.items()}


def _apart(before: str, part: str, bias: str, weight: torch.Tensor) -> dict[str, torch.Tensor]:
    """gpt-oss's stacks, one weight or bias each."""
    names = ("gate_proj", "up_proj") if part == "gate_up" else (f"{part}_proj",)
    last = weight if bias else weight.transpose(1, 2)
    end = "bias" if bias else "weight"
    return {f"{before}.{name}.{end}": last[:, i :: len(names)].contiguous() for i, name in enumerate(names)}


def _arch(name: str) -> gguf.MODEL_ARCH:
    known = "gemma4" if name == _ASSISTANT else name  # newer than the package, and of its names
    return next(arch for arch, text in gguf.MODEL_ARCH_NAMES.items() if text == known)


def _paired(weight: torch.Tensor, heads: int) -> torch.Tensor:
    return weight.view(heads, 2, -1, *weight.shape[1:]).transpose(1, 2).reshape(weight.shape)


def _divisors(rope: Mapping[str, Any], dim: int) -> torch.Tensor:
    """As the converter works them out, number by number."""
    low, high, factor = rope["low_freq_factor"], rope["high_freq_factor"], rope["factor"]
    context = rope["original_max_position_embeddings"]
    divisors = []
    for frequency in 1.0 / (rope["rope_theta"] ** (torch.arange(0, dim, 2, dtype=torch.float32) / dim)):
        wavelength = 2 * np.pi / frequency.item()
        smooth = (context / wavelength - low) / (high - low)
        blended = 1 / ((1 - smooth) / factor + smooth)
        divisors.append(1.0 if wavelength < context / high else factor if wavelength > context / low else blended)
    return torch.tensor(divisors)


def _stored(weight: torch.Tensor, kind: str, generator: np.random.Generator) -> tuple[np.ndarray, str]:
    if weight.dim() == 1:
        kind = "F32"
    if kind == "BF16":
        return weight.to(torch.bfloat16).view(torch.uint8).numpy(), kind
    if kind in ("F64", "F32", "F16"):
        return weight.to({"F64": torch.float64, "F32": torch.float32, "F16": torch.float16}[kind]).numpy(), kind
    if kind in _SPREADS:
        return random_blocks(tuple(weight.shape), kind, generator), kind
    return gguf.quantize(weight.float().numpy(), GGMLQuantizationType[kind]), kind


def random_blocks(shape: tuple[int, ...], kind: str, generator: np.random.Generator) -> np.ndarray:
    """Random bytes of `kind` that stand for numbers around 0, as large as those of `tiny_llama`."""
    numbers, size = gguf.GGML_QUANT_SIZES[GGMLQuantizationType[kind]]
    blocks = generator.integers(0, 256, (*shape[:-1], shape[-1] // numbers, size), dtype=np.uint8)
    spread = _SPREADS[kind] * shape[-1] ** 0.5
    scale = np.array([1 / spread], np.float16).view(np.uint8)
    if kind in ("Q6_K", "Q3_K"):
        blocks[..., -2:] = scale
    elif kind == "IQ4_XS":
        blocks[..., :2] = scale
    else:
        middle = {"Q2_K": 1.5, "Q4_K": 7.5, "Q5_K": 15.5}[kind]
        at, offset = 80 if kind == "Q2_K" else 0, np.array([middle / spread], np.float16).view(np.uint8)
        blocks[..., at : at + 2], blocks[..., at + 2 : at + 4] = scale, offset
    return blocks.reshape(*shape[:-1], -1)


def write_twin(path: Path, folder: Path, twin: Path) -> Path:
    """A copy of `folder` whose weights are those of the file at `path`, read and dequantised by the package."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    arch = arch_of(config)
    heads, kv_heads = config["num_attention_heads"], config.get("num_key_value_heads", config["num_attention_heads"])
    names = _names(arch)
    ours = {names.get_name(_full(name), try_suffixes=(".weight", ".bias")): name for name in _weight_names(folder)}
    weights: dict[str, torch.Tensor] = {}
    for tensor in gguf.GGUFReader(path).tensors:
        if tensor.name not in ours:
            continue
        weight = torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).copy())
        weight = weight.view(*tensor.shape[::-1].tolist())
        for part, count in ((".q_proj.", heads), (".k_proj.", kv_heads)):
            if arch in PAIRED and part in ours[tensor.name]:
                pairs = weight.view(count, -1, 2, *weight.shape[1:])
                weight = pairs.transpose(1, 2).reshape(weight.shape)
        weights[ours[tensor.name]] = weight.contiguous()
    shutil.copytree(folder, twin, ignore=shutil.ignore_patterns("*.safetensors*"))
    save_file(weights, twin / "model.safetensors")
    return twin


def _full(name: str) -> str:
    return f"{name}.weight" if name.endswith(".layer_scalar") else name


def _weight_names(folder: Path) -> list[str]:
    return [name for file in sorted(folder.glob("*.safetensors")) for name in load_file(file)]
