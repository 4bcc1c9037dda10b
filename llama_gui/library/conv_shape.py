"""What LFM2 has beside a `ModelShape`: short convolutions in most layers, which keep nothing of a single token."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

LFM2 = {
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 65536, "hidden_size": 2560,
    "intermediate_size": 12288, "num_hidden_layers": 32,
}  # fmt: skip
LFM2_MOE = {
    **LFM2, "hidden_size": 2048, "intermediate_size": 7168, "moe_intermediate_size": 1792, "num_experts": 32,
    "num_experts_per_tok": 4, "num_dense_layers": 2,
}  # fmt: skip
"""What their config.json need not say."""
_MOST_LAYERS = 10_000
_FLOAT32 = 4


@dataclass(frozen=True, slots=True)
class ConvShape:
    """`layers` have a convolution over `taps` tokens, `width` channels wide; the others attend: see `ModelShape`."""

    layers: int
    taps: int
    width: int

    @classmethod
    def from_config(cls, config: Mapping[str, Any], integer: Callable[..., int]) -> Self:
        """From the fields of config.json. `integer` reads one, and raises where it cannot be."""
        layers = min(integer(config, "num_hidden_layers"), _MOST_LAYERS)
        kinds, attending = config.get("layer_types"), config.get("full_attn_idxs")
        if isinstance(kinds, list):
            count = sum(kind == "conv" for kind in kinds[:layers])
        else:
            count = layers - len({*attending} & {*range(layers)}) if isinstance(attending, list) else 0
        return cls(count, integer(config, "conv_L_cache", 3), integer(config, "hidden_size"))

    def linears(self, layers: int, hidden: int, heads: tuple[int, int, int]) -> Counter[tuple[int, int]]:
        """Rows and columns of the weights in the place of attention. `heads`: of queries and keys, and their width."""
        queries, kv_heads, width = heads
        found = Counter[tuple[int, int]]()
        found[3 * self.width, hidden] += self.layers
        found[hidden, self.width] += self.layers
        found[(queries + 2 * kv_heads) * width, hidden] += layers - self.layers
        found[hidden, queries * width] += layers - self.layers
        return +found

    def small_numbers(self, layers: int, head_dim: int) -> int:
        """Of norms of heads, and of the convolutions."""
        return self.layers * self.taps * self.width + (layers - self.layers) * 2 * head_dim

    @property
    def state_bytes(self) -> int:
        """What all its layers hold of a chat, however long it is."""
        return self.layers * (self.taps - 1) * self.width * _FLOAT32


def with_inner(config: Mapping[str, Any], integer: Callable[..., int]) -> dict[str, Any]:
    """With how wide the MLPs are, where a formula says so, and how many layers have no experts."""
    inner = integer(config, "block_ff_dim" if config.get("block_ff_dim") else "intermediate_size")
    if "num_experts" not in config and config.get("block_auto_adjust_ff_dim", True):
        together, factor = integer(config, "block_multiple_of", 256), config.get("block_ffn_dim_multiplier", 1.0)
        inner = int((factor if isinstance(factor, int | float) else 1.0) * int(2 * inner / 3))
        inner = -(-inner // together) * together
    plain = config.get("num_dense_layers", 0)
    tied = config.get("tie_embedding", config.get("tie_word_embeddings", True))
    return {**config, "intermediate_size": inner, "first_k_dense_replace": plain, "tie_word_embeddings": tied}
