"""What Granite 4.0 H and Nemotron-H have beside a `ModelShape`: state spaces, which keep nothing of a single token."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

NEMOTRON = {
    "head_dim": 128, "hidden_size": 4096, "intermediate_size": 21504, "moe_intermediate_size": 7688,
    "n_routed_experts": 8, "num_attention_heads": 32, "num_experts_per_tok": 2, "num_key_value_heads": 8,
    "vocab_size": 131072, "moe_shared_expert_intermediate_size": 7688, "mamba_num_heads": 128, "mamba_head_dim": 64,
    "n_groups": 8, "ssm_state_size": 128, "conv_kernel": 4,
}  # fmt: skip
"""What its config.json need not say."""
_KINDS = ("mamba", "linear_attention")
_HALVES = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe", "linear_attention": "mamba",
           "full_attention": "attention"}  # fmt: skip
_MOST_LAYERS = 10_000
_FLOAT32 = 4


@dataclass(frozen=True, slots=True)
class MambaShape:
    """`layers` have `heads` that hold ``state_dim * head_dim`` numbers each; the others attend: see `ModelShape`.

    `taps`: tokens of the convolution in front of them.
    """

    layers: int
    heads: int
    head_dim: int
    groups: int
    state_dim: int
    taps: int

    @classmethod
    def from_config(cls, config: Mapping[str, Any], integer: Callable[..., int]) -> Self | None:
        """From the fields of config.json; None: all layers attend. `integer` reads one, and raises where it cannot."""
        layers = min(integer(config, "num_hidden_layers"), _MOST_LAYERS)
        kinds = config.get("layer_types")
        count = sum(kind in _KINDS for kind in kinds[:layers]) if isinstance(kinds, list) else layers
        heads, width = integer(config, "mamba_n_heads", 128), config.get("mamba_d_head", "auto")
        if width == "auto":
            width = integer(config, "mamba_expand", 2) * integer(config, "hidden_size") // heads
        else:
            width = integer(config, "mamba_d_head")
        sizes = (("mamba_n_groups", 1), ("mamba_d_state", 256), ("mamba_d_conv", 4))
        return cls(count, heads, width, *(integer(config, *size) for size in sizes)) if count else None

    @classmethod
    def from_nemotron(cls, config: Mapping[str, Any], integer: Callable[..., int]) -> Self:
        """As `from_config`, where all that Nemotron's config.json may leave out is there."""
        names = ("mamba_num_heads", "mamba_head_dim", "n_groups", "ssm_state_size", "conv_kernel")
        return cls(halves_of(config).count("mamba"), *(integer(config, name) for name in names))

    @property
    def inner(self) -> int:
        """Numbers of all values of a token, and of its gates."""
        return self.heads * self.head_dim

    @property
    def mixed_width(self) -> int:
        """Numbers that are convolved."""
        return self.inner + 2 * self.groups * self.state_dim

    def linears(self, layers: int, hidden: int, heads: tuple[int, int, int]) -> Counter[tuple[int, int]]:
        """Rows and columns of the weights in the place of attention. `heads`: of queries and keys, and their width."""
        queries, kv_heads, width = heads
        found = Counter[tuple[int, int]]()
        found[self.inner + self.mixed_width + self.heads, hidden] += self.layers
        found[hidden, self.inner] += self.layers
        found[(queries + 2 * kv_heads) * width, hidden] += layers - self.layers
        found[hidden, queries * width] += layers - self.layers
        return +found

    def small_numbers(self, layers: int, head_dim: int) -> int:
        """Of the convolutions, of how much is forgotten and skipped, and of the norms behind."""
        return self.layers * (self.mixed_width * (self.taps + 1) + 3 * self.heads + self.inner)

    @property
    def state_bytes(self) -> int:
        """What all its layers hold of a chat, however long it is."""
        in_layer = (self.taps - 1) * self.mixed_width + self.inner * self.state_dim
        return self.layers * in_layer * _FLOAT32


def halves_of(config: Mapping[str, Any]) -> list[str]:
    """What each layer of Nemotron's config.json is, which is half of one: mamba, attention, mlp or moe."""
    listed = config.get("layers_block_type") or config.get("layer_types") or config.get("hybrid_override_pattern")
    halves = listed[:_MOST_LAYERS] if isinstance(listed, str | list) else ()
    return [_HALVES.get(half, half) for half in halves if isinstance(half, str)]


def with_whole_layers(config: Mapping[str, Any]) -> dict[str, Any]:
    """Nemotron's config.json in the words of others. Layers are the first halves; for the others see `bare_layers`."""
    config = {**NEMOTRON, **config}
    halves = halves_of(config)
    has_experts = "moe" in halves
    return {
        **config,
        "num_hidden_layers": halves.count("mamba") + halves.count("attention"),
        "num_experts": config["n_routed_experts"],
        "intermediate_size": config["moe_intermediate_size" if has_experts else "intermediate_size"],
        "shared_expert_intermediate_size": config["moe_shared_expert_intermediate_size"] if has_experts else 0,
    }


def bare_layers(config: Mapping[str, Any]) -> int:
    """How many of them have no feed-forward part."""
    halves = halves_of(config)
    return max(len(halves) - 2 * (halves.count("mlp") + halves.count("moe")), 0)
