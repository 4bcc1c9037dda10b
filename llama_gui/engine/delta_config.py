"""What most layers of Qwen3.5 have in the place of attention: gated delta nets, which sum up what was read."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from llama_gui.engine.fields import Fields, shown
from llama_gui.errors import UnsupportedModelError

FULL, LINEAR = "full_attention", "linear_attention"


@dataclass(frozen=True, slots=True)
class DeltaConfig:
    """Gated delta nets (Yang et al. 2024, https://arxiv.org/abs/2412.06464) in `layers`; the others attend.

    Queries, keys and values go through a convolution over the last `taps` tokens. Each key head serves
    ``value_heads / key_heads`` value heads, those behind one another, unless it `is_gguf`.
    """

    layers: frozenset[int]
    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    taps: int
    is_gguf: bool = False
    """In the files heads of values lie so that each key serves every so-many-th, and `linear_attn.slopes` are what
    A_log would be the logarithm of."""

    @property
    def key_width(self) -> int:
        """Numbers of all keys, or queries, of a token."""
        return self.key_heads * self.key_dim

    @property
    def value_width(self) -> int:
        """Numbers of all values of a token."""
        return self.value_heads * self.value_dim

    @property
    def mixed_width(self) -> int:
        """Numbers that are convolved: queries, keys and values."""
        return 2 * self.key_width + self.value_width

    def key_of(self, value_heads: Tensor) -> Tensor:
        """Which key heads serve these value heads."""
        if self.is_gguf:
            return value_heads % self.key_heads
        return value_heads // (self.value_heads // self.key_heads)

    def number_of(self, layer: int) -> int:
        """How many such layers are before `layer`."""
        return sum(other < layer for other in self.layers)


def read_delta(fields: Fields, layers: int) -> DeltaConfig:
    """Raise BrokenModelError or UnsupportedModelError where the fields do not describe what we run."""
    if not fields.flag("attn_output_gate", True):
        raise UnsupportedModelError(
            f"{fields.file}: attn_output_gate is {shown(fields.values['attn_output_gate'])}, which is not supported. "
            "Choose another model."
        )
    key_heads, value_heads = fields.integer("linear_num_key_heads", 16), fields.integer("linear_num_value_heads", 32)
    if value_heads % key_heads:
        raise fields.wrong("linear_num_value_heads", f"a multiple of linear_num_key_heads ({key_heads})")
    return DeltaConfig(
        frozenset(layer for layer, kind in enumerate(_kinds(fields, layers)) if kind == LINEAR),
        key_heads,
        value_heads,
        fields.integer("linear_key_head_dim", 128),
        fields.integer("linear_value_head_dim", 128),
        fields.integer("linear_conv_kernel_dim", 4),
    )


def _kinds(fields: Fields, layers: int) -> list[Any]:
    kinds = fields.values.get("layer_types")
    if kinds is None:
        interval = fields.integer("full_attention_interval", 4)
        return [LINEAR if (layer + 1) % interval else FULL for layer in range(layers)]
    if not isinstance(kinds, list) or len(kinds) != layers or not all(kind in (FULL, LINEAR) for kind in kinds):
        raise fields.wrong("layer_types", f"a list of {layers} names, each {FULL} or {LINEAR}")
    if FULL not in kinds:  # the cache of keys and values would have no layers
        raise fields.wrong("layer_types", f"such that one of them is {FULL}")
    return kinds
