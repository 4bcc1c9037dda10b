"""What Qwen3.5 has beside a `ModelShape`: gated delta nets in most layers, which keep nothing of a single token."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

QWEN35 = {
    "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 248320, "hidden_size": 4096,
    "intermediate_size": 12288, "num_hidden_layers": 32,
}  # fmt: skip
QWEN35_MOE = {
    **QWEN35, "num_key_value_heads": 2, "hidden_size": 2048, "moe_intermediate_size": 512, "num_hidden_layers": 40,
    "shared_expert_intermediate_size": 512, "num_experts": 256, "num_experts_per_tok": 8,
}  # fmt: skip
QWEN3_NEXT = {
    **QWEN35_MOE, "num_hidden_layers": 48, "num_experts": 512, "num_experts_per_tok": 10, "vocab_size": 151936,
}  # fmt: skip
"""What their config.json need not say."""
_INTERVAL = 4
_MOST_LAYERS = 10_000
_FLOAT32 = 4


@dataclass(frozen=True, slots=True)
class DeltaShape:
    """`layers` have a gated delta net; the others attend, as `ModelShape` says, with a gate for each query.

    `key_width`, `value_width`: numbers of all keys, and of all values, of a token; `taps`: tokens of the convolution.
    """

    layers: int
    value_heads: int
    key_width: int
    value_width: int
    key_dim: int
    taps: int

    @classmethod
    def from_config(cls, config: Mapping[str, Any], integer: Callable[..., int]) -> Self:
        """From the fields of the part for text. `integer` reads one, and raises where it cannot be."""
        layers = min(integer(config, "num_hidden_layers"), _MOST_LAYERS)
        kinds, interval = config.get("layer_types"), integer(config, "full_attention_interval", _INTERVAL)
        if not isinstance(kinds, list) or len(kinds) != layers:
            kinds = ["linear_attention" if (layer + 1) % interval else "" for layer in range(layers)]
        heads, dim = integer(config, "linear_num_value_heads", 32), integer(config, "linear_key_head_dim", 128)
        return cls(
            layers=sum(kind == "linear_attention" for kind in kinds),
            value_heads=heads,
            key_width=integer(config, "linear_num_key_heads", 16) * dim,
            value_width=heads * integer(config, "linear_value_head_dim", 128),
            key_dim=dim,
            taps=integer(config, "linear_conv_kernel_dim", 4),
        )

    @property
    def mixed_width(self) -> int:
        """Numbers of queries, keys and values of a token."""
        return 2 * self.key_width + self.value_width

    def linears(self, layers: int, hidden: int, heads: tuple[int, int, int]) -> Counter[tuple[int, int]]:
        """Rows and columns of the weights in the place of attention. `heads`: of queries and keys, and their width."""
        queries, kv_heads, width = heads
        attending = layers - self.layers
        found = Counter[tuple[int, int]]()
        found[self.mixed_width + self.value_width, hidden] += self.layers
        found[hidden, self.value_width] += self.layers
        found[2 * (queries + kv_heads) * width, hidden] += attending
        found[hidden, queries * width] += attending
        return +found

    def small_numbers(self, layers: int, head_dim: int) -> int:
        """Of norms of heads, of the convolution, and of how much is forgotten."""
        in_net = self.value_width // self.value_heads + self.mixed_width * self.taps + 2 * self.value_heads
        return self.layers * in_net + (layers - self.layers) * 2 * head_dim

    def rate_numbers(self, hidden: int) -> int:
        """Of what makes how much is corrected and forgotten, which is float32 whatever the rest is."""
        return self.layers * 2 * self.value_heads * hidden

    @property
    def state_bytes(self) -> int:
        """What all its layers hold of a chat, however long it is."""
        in_layer = (self.taps - 1) * self.mixed_width + self.value_width * self.key_dim
        return self.layers * in_layer * _FLOAT32
