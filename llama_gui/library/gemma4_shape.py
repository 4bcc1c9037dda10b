"""What Gemma 4 has beside a `ModelShape`: layers of two kinds, some that borrow keys, an input for each."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

_DEFAULTS = {
    "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262144, "hidden_size": 2304,
    "intermediate_size": 9216, "num_hidden_layers": 30,
}  # fmt: skip
_UNIFIED = "gemma4_unified"
"""Its models, of 12B, have no inputs of layers."""
_INTERVAL = 6
_MOST_LAYERS = 10_000
_Integer = Callable[..., int]


@dataclass(frozen=True, slots=True)
class Gemma4Shape:
    """`full` layers see all, and their heads are others; the rest are as `ModelShape` says.

    `borrowing` layers, the last ones, have neither keys nor values, and `full_borrowing` of them see all; their MLPs
    are `borrowing_inner` wide. `layer_input`: how many numbers each layer gets of each token, besides, from a table of
    `layer_vocabulary` rows, which stays in its file. `experts`: so many, of which a token goes through `chosen`, are
    `expert_inner` wide, and beside the MLP of each layer.
    """

    full: int
    full_head_dim: int
    full_kv_heads: int
    values_are_keys: bool
    borrowing: int = 0
    full_borrowing: int = 0
    borrowing_inner: int = 0
    layer_input: int = 0
    layer_vocabulary: int = 0
    experts: int = 0
    chosen: int = 0
    expert_inner: int = 0

    @classmethod
    def from_config(cls, config: Mapping[str, Any], integer: _Integer) -> Self:
        """From the fields of the part for text, `with_defaults`. `integer` reads one, and raises where it cannot be."""
        layers, inner = integer(config, "num_hidden_layers"), integer(config, "intermediate_size")
        kinds = _full_layers(config, min(layers, _MOST_LAYERS))
        borrowing = integer(config, "num_kv_shared_layers") if config.get("num_kv_shared_layers") else 0
        borrowing = min(borrowing, layers)
        full = _of_full_layers(config, kinds)
        width = config.get("hidden_size_per_layer_input", 256)
        experts: dict[str, int] = {}
        if config.get("enable_moe_block") is True:
            names = {"experts": "num_experts", "chosen": "top_k_experts", "expert_inner": "moe_intermediate_size"}
            experts = {field: integer(config, name) for field, name in names.items()}
        return cls(
            full=sum(kinds),
            full_head_dim=integer(full, "head_dim", 512),
            full_kv_heads=integer(full, "num_key_value_heads", integer(config, "num_key_value_heads")),
            values_are_keys=config.get("attention_k_eq_v") is True,
            borrowing=borrowing,
            full_borrowing=sum(kinds[layers - borrowing :]) if borrowing else 0,
            borrowing_inner=2 * inner if config.get("use_double_wide_mlp") is True else inner,
            layer_input=integer(config, "hidden_size_per_layer_input", 256) if width else 0,
            layer_vocabulary=integer(config, "vocab_size_per_layer_input", 262144),
            **experts,
        )

    def linears(
        self, layers: int, hidden: int, inner: int, heads: int, window: tuple[int, int], experts: int
    ) -> Counter[tuple[int, int]]:
        """Rows and columns of all weights of `layers`, with how many there are of each. `window`: see `_kinds`.

        `experts`: of so many in each layer.
        """
        found = Counter[tuple[int, int]]()
        for kv_heads, head_dim, has_values, kept, borrowing in self._kinds(layers, window):
            queries, keys = heads * head_dim, kv_heads * head_dim
            found[queries + keys * (2 if has_values else 1), hidden] += kept
            found[queries, hidden] += borrowing
            found[hidden, queries] += kept + borrowing
        mlps = ((inner, layers - self.borrowing), (self.borrowing_inner, self.borrowing))
        for wide, count in (*mlps, (self.expert_inner, layers * experts)):
            found[2 * wide, hidden] += count
            found[hidden, wide] += count
        if self.layer_input:
            found[self.layer_input, hidden] += layers
            found[hidden, self.layer_input] += layers
            found[layers * self.layer_input, hidden] += 1
        return +found

    def norms(self, layers: int, hidden: int, window: tuple[int, int]) -> int:
        """Numbers in norms of all `layers` and of the inputs, and the layers' scalars."""
        of_heads = sum(
            head_dim * (2 * kept + borrowing) for _, head_dim, _, kept, borrowing in self._kinds(layers, window)
        )
        in_layer = 4 * hidden + 1 + (3 * hidden if self.experts else 0)
        return layers * in_layer + of_heads + (layers * hidden + self.layer_input if self.layer_input else 0)

    def router_numbers(self, layers: int, hidden: int) -> int:
        """Of what decides where a token goes, and how much of it is taken."""
        return layers * (self.experts * (hidden + 1) + hidden) if self.experts else 0

    def kv_numbers(self, layers: int, window: tuple[int, int]) -> int:
        """Of one token."""
        return 2 * sum(kept * kv_heads * head_dim for kv_heads, head_dim, _, kept, _ in self._kinds(layers, window))

    def table_numbers(self, layers: int) -> int:
        """Of the inputs of all layers, in the file."""
        return self.layer_vocabulary * layers * self.layer_input

    def _kinds(self, layers: int, window: tuple[int, int]) -> Iterator[tuple[int, int, bool, int, int]]:
        """Key heads, their width, whether values have a weight, and layers that keep keys and that borrow them.

        `window`: the first two of layers with one.
        """
        others = self.borrowing - self.full_borrowing
        yield *window, True, layers - self.full - others, others
        kept = self.full - self.full_borrowing
        yield self.full_kv_heads, self.full_head_dim, not self.values_are_keys, kept, self.full_borrowing


def with_defaults(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of the part for text, and what it need not say."""
    inner = config.get("text_config")
    said = inner if isinstance(inner, dict) else config
    if str(config.get("model_type")).startswith(_UNIFIED):
        said = {"hidden_size_per_layer_input": 0, **said}
    tied = config.get("tie_word_embeddings", True)
    return {**_DEFAULTS, "tie_word_embeddings": tied, **{name: v for name, v in said.items() if v is not None}}


def _full_layers(config: Mapping[str, Any], layers: int) -> list[bool]:
    """Whether each layer sees all: the last one does."""
    kinds = config.get("layer_types")
    if not isinstance(kinds, list) or len(kinds) != layers:
        kinds = ["full_attention" if (layer + 1) % _INTERVAL == 0 else "" for layer in range(layers)]
    return [kind == "full_attention" or layer == layers - 1 for layer, kind in enumerate(kinds)]


def _of_full_layers(config: Mapping[str, Any], kinds: list[bool]) -> Mapping[str, Any]:
    """What differs there; see `engine.gemma4_config`."""
    each = config.get("per_layer_config")
    if isinstance(each, dict):
        first = next((str(layer) for layer, is_full in enumerate(kinds) if is_full), "")
        said = each.get(first)
        return {"head_dim": config.get("head_dim"), **(said if isinstance(said, dict) else {})}
    found: dict[str, Any] = {"head_dim": config.get("global_head_dim")}
    if config.get("attention_k_eq_v"):
        found["num_key_value_heads"] = config.get("num_global_key_value_heads")
    return found
