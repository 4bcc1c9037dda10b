"""Which keys and values a network keeps: as a rule one of each for every layer, all of one shape."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CachePart:
    """Keys and values of so many layers, whose heads are alike."""

    layers: int
    kv_heads: int
    head_dim: int


@dataclass(frozen=True, slots=True)
class CacheLayout:
    """All that is kept of a token. `places`: of each layer, which of the `parts` has its keys, and where in that.

    Layers that borrow the keys and values of another have its place.
    """

    parts: tuple[CachePart, ...]
    places: tuple[tuple[int, int], ...]

    @classmethod
    def even(cls, layers: int, kv_heads: int, head_dim: int) -> "CacheLayout":
        """Of a network whose layers are alike."""
        return cls((CachePart(layers, kv_heads, head_dim),), tuple((0, layer) for layer in range(layers)))

    @classmethod
    def of_some(cls, layers: int, without: frozenset[int], kv_heads: int, head_dim: int) -> "CacheLayout":
        """Of a network some of whose layers keep none, whose places say nothing."""
        kept = [layer for layer in range(layers) if layer not in without]
        places = {layer: (0, number) for number, layer in enumerate(kept)}
        return cls((CachePart(len(kept), kv_heads, head_dim),), tuple(places.get(n, (0, 0)) for n in range(layers)))

    @property
    def is_even(self) -> bool:
        """Whether each layer keeps its own, in the order of layers."""
        return self.places == tuple((0, layer) for layer in range(self.parts[0].layers))
