"""The fields of GGUF files whose layers have state spaces, Granite 4.0 H's and Nemotron-H's -> those of config.json."""

from collections.abc import Collection
from typing import Any

import numpy as np

from llama_gui.engine.fields import Fields
from llama_gui.engine.mamba_config import MAMBA
from llama_gui.engine.nemotron_config import gguf_halves
from llama_gui.engine.recurrent_config import ATTENDS

RMS_EPS = "attention.layer_norm_rms_epsilon"
KV_HEADS, INNER = "attention.head_count_kv", "feed_forward_length"
_BIAS = "mamba.conv1d.bias"


class MambaFields:
    """Reads what goes by `prefix`, also what other networks with states have so; `names`: of all weights.

    The methods raise BrokenModelError.
    """

    def __init__(self, fields: Fields, prefix: str, names: Collection[str]) -> None:
        self._fields = fields
        self._prefix = prefix
        self._names = names

    def granite4(self, layers: int, *, has_experts: bool) -> dict[str, Any]:
        """Those of Granite 4.0: layers without key heads have state spaces."""
        count, width = self._heads()
        shared = self._integer("expert_shared_feed_forward_length" if has_experts else INNER)
        return {
            "layer_types": [ATTENDS if one else MAMBA for one in self.numbers_of_layers(KV_HEADS, layers)],
            "mamba_n_heads": count,
            "mamba_d_head": width,
            "mamba_expand": count * width // self._integer("embedding_length"),
            "mamba_n_groups": self._integer("ssm.group_count"),
            "mamba_d_state": self._integer("ssm.state_size"),
            "mamba_d_conv": self._integer("ssm.conv_kernel"),
            "mamba_conv_bias": self._has_bias,
            "position_embedding_type": "nope" if self._get("rope.scaling.finetuned") is False else "rope",
            "shared_intermediate_size": shared,
            "num_local_experts": self._integer("expert_count") if has_experts else 0,
        }

    def nemotron(self, layers: int, *, has_experts: bool) -> dict[str, Any]:
        """Those of Nemotron-H, whose layers are halves."""
        kv_heads, inner = (self.numbers_of_layers(key, layers) for key in (KV_HEADS, INNER))
        count, width = self._heads()
        experts = {
            "n_routed_experts": "expert_count",
            "num_experts_per_tok": "expert_used_count",
            "moe_intermediate_size": "expert_feed_forward_length",
            "moe_shared_expert_intermediate_size": "expert_shared_feed_forward_length",
            "norm_topk_prob": "expert_weights_norm",
            "routed_scaling_factor": "expert_weights_scale",
            "n_group": "expert_group_count",
            "moe_latent_size": "moe_latent_size",
        }
        read = {name: self._get(key) for name, key in experts.items()}
        return {
            "layers_block_type": gguf_halves(kv_heads, inner, has_experts=has_experts),
            "intermediate_size": max(inner, default=0),
            "layer_norm_epsilon": self._eps(),
            "mamba_num_heads": count,
            "mamba_head_dim": width,
            "n_groups": self._integer("ssm.group_count"),
            "ssm_state_size": self._integer("ssm.state_size"),
            "conv_kernel": self._integer("ssm.conv_kernel"),
            "use_conv_bias": self._has_bias,
            **{name: value for name, value in read.items() if value is not None},
        }

    def numbers_of_layers(self, key: str, layers: int) -> list[int]:
        """One for each layer."""
        value = self._get(key)
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "iu" or len(value) < layers:
            raise self._fields.wrong(self._prefix + key, f"a list of {layers} numbers")
        return value[:layers].tolist()

    def _heads(self) -> tuple[int, int]:
        """How many heads there are, and how wide they are."""
        count, inner = self._integer("ssm.time_step_rank"), self._integer("ssm.inner_size")
        if inner % count:
            raise self._fields.wrong(self._prefix + "ssm.inner_size", f"a multiple of the {count} heads")
        return count, inner // count

    def _eps(self) -> float:
        """Of the norms, by either of its names."""
        other = RMS_EPS.replace("rms_", "")
        return self._fields.number(self._prefix + (other if self._get(RMS_EPS) is None else RMS_EPS))

    @property
    def _has_bias(self) -> bool:
        return any(name.endswith(_BIAS) for name in self._names)

    def _integer(self, key: str) -> int:
        return self._fields.integer(self._prefix + key)

    def _get(self, key: str) -> Any:
        return self._fields.values.get(self._prefix + key)
