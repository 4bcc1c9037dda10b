"""What most layers of Qwen3.5 have in the place of attention: gated delta nets, which sum up what was read."""

from dataclasses import dataclass

from torch import Tensor

from llama_gui.engine.fields import Fields
from llama_gui.engine.recurrent_config import ATTENDS, RecurrentConfig, recurrent_layers

LINEAR = "linear_attention"


@dataclass(frozen=True, slots=True)
class DeltaConfig(RecurrentConfig):
    """Gated delta nets (Yang et al. 2024, https://arxiv.org/abs/2412.06464).

    Queries, keys and values go through the convolution. Each key head serves ``value_heads / key_heads`` value heads,
    those behind one another, unless they are `in_turn`.
    """

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    is_gguf: bool = False
    """In the files the convolution is a matrix, and `linear_attn.slopes` are what A_log would be the logarithm of."""
    in_turn: bool = False
    """Heads of values lie so that each key serves every so-many-th."""
    groups_inputs: bool = False
    """One weight makes queries, keys, values and output gates, those of each key head together (Qwen3-Next)."""
    groups_rates: bool = False
    """The same of how much is corrected and forgotten."""

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
        if self.in_turn:
            return value_heads % self.key_heads
        return value_heads // (self.value_heads // self.key_heads)


def read_delta(fields: Fields, layers: int, *, grouped: bool = False) -> DeltaConfig:
    """What the fields say of gated delta nets. `grouped`: see `Family.groups_deltas`.

    Raises:
        BrokenModelError, UnsupportedModelError: they do not describe what we run.
    """
    if not fields.flag("attn_output_gate", True):
        raise fields.unsupported("attn_output_gate")
    key_heads, value_heads = fields.integer("linear_num_key_heads", 16), fields.integer("linear_num_value_heads", 32)
    if value_heads % key_heads:
        raise fields.wrong("linear_num_value_heads", f"a multiple of linear_num_key_heads ({key_heads})")
    interval = fields.integer("full_attention_interval", 4)
    kinds = [LINEAR if (layer + 1) % interval else ATTENDS for layer in range(layers)]
    return DeltaConfig(
        recurrent_layers(fields, LINEAR, layers, kinds),
        fields.integer("linear_conv_kernel_dim", 4),
        key_heads,
        value_heads,
        fields.integer("linear_key_head_dim", 128),
        fields.integer("linear_value_head_dim", 128),
        groups_inputs=grouped,
        groups_rates=grouped,
    )
